"""Columns of Python objects: what they hold is judged by their cells, and put back cell by cell.

Such columns come from pandas' and numpy's ``object`` dtype and from lists of dicts.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, BoolArray
from pellucid.data.frames.frame import ColumnType, Kind, cannot_take, cannot_vary, is_missing

_KINDS: tuple[tuple[type | tuple[type, ...], Kind], ...] = (
    ((bool, np.bool_), "boolean"),
    ((int, np.integer), "integer"),
    ((float, np.floating, Decimal), "numeric"),
    ((datetime.date, np.datetime64), "date"),
)
_REFUSED = (list, dict, set, np.ndarray, complex, datetime.timedelta, np.timedelta64, datetime.time)


def missing_mask(cells: AnyArray) -> BoolArray:
    """Which objects are missing."""
    try:
        mask: BoolArray = (cells != cells) | (cells == None)  # noqa: E711, PLR0124  cell by cell
    except (TypeError, ValueError):  # pandas' NA, or cells that are arrays
        return np.fromiter(map(is_missing, cells), dtype=bool, count=len(cells))
    return mask


def objects(cells: Any) -> AnyArray:
    """A one-dimensional array of objects, whatever they are."""
    return np.fromiter(cells, dtype=object, count=len(cells))


def object_type(cells: AnyArray, name: str) -> ColumnType:
    """Kind of a column of objects, judged by the cells that are present."""
    kinds = {_kind_of(cell_type, name) for cell_type in _present_types(cells)}
    if kinds == {"integer", "numeric"}:
        return ColumnType("numeric")
    if len(kinds) == 1:
        return ColumnType(kinds.pop())
    return ColumnType("categorical") if kinds else ColumnType("numeric")


def _present_types(cells: AnyArray) -> set[type]:
    return set(map(type, cells[~missing_mask(cells)]))


def _kind_of(cell_type: type, name: str) -> Kind:
    if issubclass(cell_type, _REFUSED):
        raise cannot_vary(name, cell_type.__name__)
    return next((kind for types, kind in _KINDS if issubclass(cell_type, types)), "categorical")


def objects_to_values(cells: AnyArray, kind: Kind) -> AnyArray:
    """Objects in the plain form of their kind."""
    missing = missing_mask(cells)
    if kind in ("numeric", "integer", "boolean"):
        numbers = np.full(len(cells), np.nan)
        numbers[~missing] = cells[~missing].astype(np.float64)
        return numbers
    if kind == "date":
        dates = np.full(len(cells), np.datetime64("NaT", "us"), dtype="datetime64[us]")
        dates[~missing] = [as_stamp(cell) for cell in cells[~missing]]
        return dates
    out = objects(cells)
    out[missing] = None
    return out


def as_stamp(value: Any) -> Any:
    """A date, time or ISO string as datetime64[us]; in UTC where it has a time zone."""
    if isinstance(value, str):
        value = _parse(value)
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    if not isinstance(value, datetime.date | np.datetime64):
        raise TypeError(f"{value!r} is not a date")
    stamp: Any = np.datetime64  # too many overloads for a date that is one of three types
    return stamp(value, "us")


def _parse(text: str) -> datetime.datetime | np.datetime64:
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        return np.datetime64(text, "us")  # years and months, as in "2024-05"


def specimen(cells: AnyArray) -> AnyArray:
    """A few cells of a column of objects that say as much about it: the first of each type, and the first missing."""
    missing = missing_mask(cells)
    present, absent = cells[~missing], cells[missing]
    first: dict[type, object] = {}
    for cell_type, cell in zip(map(type, present), present, strict=True):
        first.setdefault(cell_type, cell)
    return objects([*first.values(), *absent[:1]])


def values_to_objects(values: AnyArray, like: AnyArray, name: str) -> AnyArray:
    """Plain values as objects of the sort that the column ``like`` holds, missing ones as it writes them."""
    gaps = missing_mask(like)
    present, absent = like[~gaps], like[gaps]
    restore = _restorer(object_type(like, name).kind, present)

    def cell(value: Any) -> object:
        try:
            return restore(value)
        except (TypeError, ValueError, OverflowError):
            raise cannot_take(name, type(present[0]).__name__, value, "give values of that type") from None

    out, missing = objects(values), missing_mask(values)
    out[~missing] = objects([cell(value) for value in values[~missing]])
    out[missing] = absent[0] if len(absent) else None
    return out


def _restorer(kind: Kind, present: AnyArray) -> Callable[[Any], object]:
    """How a plain value becomes an object like those that are present in a column."""
    if kind == "categorical" or not len(present):
        return lambda value: value
    example = present[0]
    if kind == "date":
        return _date_restorer(example)
    if len(set(map(type, present))) == 1:
        return _number_restorer(type(example))
    return lambda value: int(value) if float(value).is_integer() else float(value)


def _number_restorer(number: Callable[[Any], Any]) -> Callable[[Any], object]:
    """Cast to one numeric type, refusing what it cannot hold (half an integer, a boolean of two)."""

    def restore(value: Any) -> object:
        out = number(value)
        if float(out) != float(value) and not isinstance(out, float | np.floating | Decimal):
            raise ValueError(value)
        return out

    return restore


def _date_restorer(example: Any) -> Callable[[Any], object]:
    if isinstance(example, np.datetime64):
        return lambda value: as_stamp(value).astype(example.dtype)
    if not isinstance(example, datetime.datetime):
        return lambda value: as_stamp(value).astype("datetime64[D]").item()
    zone: datetime.tzinfo | None = example.tzinfo
    cast: Any = type(example)

    def restore(value: Any) -> object:
        moment: datetime.datetime = as_stamp(value).item()
        if zone is not None:
            moment = moment.replace(tzinfo=datetime.UTC).astimezone(zone)
        # A subclass (pandas' Timestamp) reads a datetime; datetime itself is already there.
        return moment if cast is datetime.datetime else cast(moment)

    return restore
