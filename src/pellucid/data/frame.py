"""What every kind of table can do: the one interface between a user's data and pellucid.

A `Frame` wraps the caller's own table and never modifies it. Methods ask it for values; the model
gets back `native`, in the type, names and dtypes the table came with. A column of a frame is handled
in two forms:

- *values*: a plain numpy array to compute with (float64 with NaN, datetime64[us] with NaT, or objects
  with None for missing);
- *native column*: whatever the table's library stores, to be gathered and put back untouched.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from pellucid.arrays import AnyArray, IntArray
from pellucid.errors import InputError

Kind = Literal["numeric", "integer", "ordered", "categorical", "boolean", "date"]


@dataclass(frozen=True)
class ColumnType:
    """Kind of a column and, for category dtypes, its levels in their own order."""

    kind: Kind
    levels: tuple[Any, ...] | None = None


class Frame(ABC):
    """A table of named columns."""

    kind: ClassVar[str]
    names: tuple[str, ...]

    @property
    @abstractmethod
    def native(self) -> Any:
        """The table in the caller's own type."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def column_type(self, j: int) -> ColumnType:
        """The kind of column ``j``."""

    @abstractmethod
    def values(self, j: int) -> AnyArray:
        """Column ``j`` as a plain numpy array (see the module's docstring)."""

    @abstractmethod
    def column(self, j: int, values: AnyArray) -> Any:
        """The inverse of `values`: a native column with the dtype of column ``j``."""

    @abstractmethod
    def native_column(self, j: int) -> Any:
        """Column ``j`` as its library stores it."""

    @abstractmethod
    def gather(self, column: Any, index: IntArray) -> Any:
        """``column[index]`` for a native column."""

    @abstractmethod
    def take(self, rows: IntArray) -> Self:
        """The rows at the given positions."""

    @abstractmethod
    def head(self, n: int) -> Self:
        """The first ``n`` rows, without copying where the library allows."""

    @abstractmethod
    def replace(self, columns: Mapping[int, Any]) -> Self:
        """The same table with some native columns exchanged; the others are shared, not copied."""

    @abstractmethod
    def from_columns(self, columns: Sequence[Any]) -> Self:
        """A table of the same type from one native column per name."""

    @abstractmethod
    def select(self, positions: Sequence[int]) -> Self:
        """The columns at the given positions, in that order."""

    def scratch(self, repeats: int) -> Scratch:
        """A private workspace holding this table ``repeats`` times below itself."""
        return StackedScratch(self, repeats)

    def bytes_per_row(self) -> int:
        """Rough memory of one row, for the batch size."""
        return 16 * len(self.names)


class Scratch(ABC):
    """A stacked copy of a table in which columns are overwritten again and again."""

    @abstractmethod
    def fill(self, columns: Mapping[int, tuple[Any, IntArray]], n: int) -> Any:
        """The first ``n`` rows with ``columns[j] = (native column, index)`` put in place of column j."""


class StackedScratch(Scratch):
    """Works for every frame: stack once, then exchange whole columns and share the rest."""

    def __init__(self, frame: Frame, repeats: int) -> None:
        self._stack = frame.take(np.tile(np.arange(len(frame)), repeats)) if repeats > 1 else frame

    def fill(self, columns: Mapping[int, tuple[Any, IntArray]], n: int) -> Any:
        stack = self._stack if n == len(self._stack) else self._stack.head(n)
        return stack.replace(
            {j: stack.gather(column, index) for j, (column, index) in columns.items()}
        ).native


def unique_names(labels: Sequence[object]) -> tuple[str, ...]:
    """Column labels as strings; two that read the same are refused."""
    names = tuple(str(label) for label in labels)
    seen: dict[str, int] = {}
    for position, name in enumerate(names):
        if name in seen:
            raise InputError(
                f"columns {seen[name]} and {position} are both called {name!r}; rename one of them so that "
                "every column has a name of its own."
            )
        seen[name] = position
    return names


def object_type(values: AnyArray) -> ColumnType:
    """Kind of a column of Python objects, judged by the values that are present."""
    kinds = {_object_kind(value) for value in values if not is_missing(value)}
    if kinds == {"integer", "numeric"}:
        return ColumnType("numeric")
    if len(kinds) == 1:
        return ColumnType(kinds.pop())
    return ColumnType("categorical") if kinds else ColumnType("numeric")


def _object_kind(value: object) -> Kind:
    import datetime

    if isinstance(value, bool | np.bool_):
        return "boolean"
    if isinstance(value, int | np.integer):
        return "integer"
    if isinstance(value, float | np.floating):
        return "numeric"
    if isinstance(value, datetime.date | np.datetime64):
        return "date"
    return "categorical"


def is_missing(value: object) -> bool:
    """None, NaN, NaT or pandas' NA."""
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124  only a missing value differs from itself
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def objects_to_values(values: AnyArray, kind: Kind) -> AnyArray:
    """Python objects in the plain form of their kind."""
    missing = np.fromiter((is_missing(value) for value in values), dtype=bool, count=len(values))
    if kind in ("numeric", "integer", "boolean"):
        out = np.full(len(values), np.nan)
        out[~missing] = [float(value) for value in values[~missing]]
        return out
    if kind == "date":
        dates = np.full(len(values), np.datetime64("NaT"), dtype="datetime64[us]")
        dates[~missing] = [np.datetime64(value, "us") for value in values[~missing]]
        return dates
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    objects[missing] = None
    return objects


def values_to_objects(values: AnyArray, like: AnyArray) -> AnyArray:
    """Plain values as Python objects of the sort that the column ``like`` holds."""
    present = next((value for value in like if not is_missing(value)), None)
    missing_mark = next((value for value in like if is_missing(value)), None)
    kind = _object_kind(present) if present is not None else "categorical"
    out = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        out[i] = missing_mark if is_missing(value) else _as_object(value, kind)
    return out


def _as_object(value: Any, kind: Kind) -> object:
    if kind == "boolean":
        return bool(value)
    if kind == "integer" and float(value).is_integer():
        return int(value)
    if kind in ("integer", "numeric"):
        return float(value)
    if kind == "date":
        return value.astype(object) if isinstance(value, np.datetime64) else value
    return value


def whole(values: AnyArray, name: str, dtype: object) -> AnyArray:
    """Check that values fit an integer column before they are cast."""
    numbers = np.asarray(values, dtype=np.float64)
    bad = ~(np.isfinite(numbers) & (numbers == np.floor(numbers)))
    if bad.any():
        value = numbers[bad][0]
        remedy = "give whole numbers" if np.isfinite(value) else "leave the missing value out"
        raise InputError(f"column {name!r} holds {dtype} and cannot take {value:g}; {remedy}.")
    return numbers
