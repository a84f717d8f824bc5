"""What every kind of table can do: the one interface between a user's data and pellucid.

A `Frame` wraps the caller's own table and never modifies it. Methods ask it for values; the model
gets back `native`, in the type, names and dtypes the table came with. A column of a frame is handled
in two forms:

- *values*: a plain numpy array to compute with: float64 with NaN (whole numbers are exact up to 2**53),
  datetime64[us] with NaT (in UTC where there is a time zone), or objects with None for missing;
- *native column*: whatever the table's library stores, to be gathered and put back untouched.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.errors import InputError, nearest

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
    made: bool = False  # for one question: nobody else looks at it

    @property
    @abstractmethod
    def native(self) -> Any:
        """The table in the caller's own type."""

    @abstractmethod
    def __len__(self) -> int: ...

    def row_index(self) -> AnyArray | None:
        """The labels of the rows, where the library keeps any."""
        return None

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
        """The rows at the given positions, in memory of their own; row labels are not kept."""

    def lent(self, rows: slice) -> Self:
        """Some rows to be handed to a model: in memory of their own, unless the table was made for it."""
        return self.take(np.arange(rows.start, rows.stop))

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

    def alike(self, other: Frame) -> bool:
        """Whether another table has the same columns in the same order and of the same types, so that it can stand for
        one of this kind as it is; where a column holds objects, its cells are its types.
        """
        del other
        return False

    def scratch(self, repeats: int) -> Scratch:
        """A private workspace holding this table ``repeats`` times, one below the other."""
        return StackedScratch(self, repeats)

    def bytes_per_row(self) -> int:
        """Rough memory of one row, for the batch size."""
        return 16 * len(self.names)


@dataclass(frozen=True, eq=False)
class Overlay:
    """A native column laid over a column of the table in some variants: where ``known``, with its cell ``which``.

    The same column holds the table's own cells at ``own``, for tables that exchange whole columns.
    """

    column: Any
    known: BoolArray
    which: IntArray
    own: IntArray

    def index(self) -> IntArray:
        """Which cell each row of each variant gets, ``(variants, rows)``."""
        return np.where(self.known[:, None], self.which[:, None], self.own[None, :])


class Scratch(ABC):
    """A stacked copy of a table in which columns are overwritten again and again."""

    @abstractmethod
    def fill(self, columns: Mapping[int, tuple[Any, IntArray]], n: int) -> Any:
        """The first ``n`` rows with ``columns[j] = (native column, index)`` put in place of column j.

        ``index`` has one entry per row, or the shape (variants, rows); one column stands for all rows.
        """

    def overlay(self, columns: Mapping[int, Overlay], n: int) -> Any:
        """The first ``n`` rows with columns laid over those of the table."""
        return self.fill({j: (over.column, over.index()) for j, over in columns.items()}, n)


class StackedScratch(Scratch):
    """Works for every frame: stack once, then exchange whole columns and share the rest."""

    def __init__(self, frame: Frame, repeats: int) -> None:
        self._stack = frame.take(np.tile(np.arange(len(frame)), repeats)) if repeats > 1 else frame

    def fill(self, columns: Mapping[int, tuple[Any, IntArray]], n: int) -> Any:
        stack = self._stack if n == len(self._stack) else self._stack.head(n)
        per_row = {j: (column, _per_row(index, n)) for j, (column, index) in columns.items()}
        return stack.replace({j: stack.gather(column, index) for j, (column, index) in per_row.items()}).native


def _per_row(index: IntArray, n: int) -> IntArray:
    return index if index.ndim == 1 else np.broadcast_to(index, (len(index), n // len(index))).ravel()


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


def is_missing(value: object) -> bool:
    """None, NaN, NaT, pandas' NA, or a key that a dict lacks."""
    if value is None:
        return True
    if isinstance(value, str):
        return False
    try:
        return bool(value != value)  # noqa: PLR0124  only a missing value differs from itself
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def cannot_vary(name: str, dtype: object) -> InputError:
    """The error for a column of a type that is no number, date or category."""
    return InputError(
        f"column {name!r} has type {dtype}, which pellucid cannot vary; convert it to a number, a date or a category,"
        " or drop it."
    )


def cannot_take(name: str, dtype: object, value: object, remedy: str) -> InputError:
    """The error for a value that a column's type cannot hold."""
    shown = value.item() if isinstance(value, np.generic) else value
    return InputError(f"column {name!r} holds {dtype} and cannot take {shown!r}; {remedy}.")


def whole(values: AnyArray, name: str, dtype: np.dtype[Any], *, nullable: bool = False) -> FloatArray:
    """Numbers that an integer or boolean type can hold, safe to cast; NaN passes where ``nullable``."""
    numbers = np.asarray(values, dtype=np.float64)
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    with np.errstate(invalid="ignore"):
        fits = (numbers == np.floor(numbers)) & (numbers >= low) & (numbers <= float(high))
    bad = ~(fits | np.isnan(numbers)) if nullable else ~fits
    if bad.any():
        value = float(numbers[bad][0])
        remedy = "leave the missing value out" if np.isnan(value) else f"give whole numbers from {low} to {high}"
        raise cannot_take(name, dtype, value, remedy)
    # float(2**63 - 1) is 2**63, which no longer fits: the largest float that does is its neighbour.
    largest = float(high) if int(float(high)) <= high else float(np.nextafter(float(high), 0.0))
    return np.minimum(numbers, largest)


def stamps(values: AnyArray, name: str, unit: str) -> AnyArray:
    """datetime64[us], after a check that a column counting in ``unit`` can hold them."""
    dates = np.asarray(values, dtype="datetime64[us]")
    if unit == "ns":
        limit = np.iinfo(np.int64).max // 1000
        far = ~np.isnat(dates) & (np.abs(dates.astype(np.int64)) > limit)
        if far.any():
            raise cannot_take(name, "dates in nanoseconds", str(dates[far][0]), "give dates from 1678 to 2261")
    return dates


def level_positions(levels: Sequence[Any], values: AnyArray, name: str, remedy: str = "") -> IntArray:
    """Position of each value among the levels, -1 where missing; a value that is no level is an error, which ends with
    the ``remedy``.
    """
    position: dict[Any, int] = {level: code for code, level in enumerate(levels) if not is_missing(level)}
    position[None] = -1
    cells = values.tolist()
    try:
        return np.fromiter(map(position.__getitem__, cells), dtype=np.intp, count=len(cells))
    except (KeyError, TypeError):
        pass  # a missing value other than None, or an error to be explained
    return np.array([_level_position(position, cell, name, remedy) for cell in cells], dtype=np.intp)


def _level_position(position: Mapping[Any, int], value: Any, name: str, remedy: str) -> int:
    if is_missing(value):
        return -1
    try:
        return position[value]
    except (KeyError, TypeError):
        levels = [str(level) for level in position if level is not None]
        known = nearest(str(value), levels)
        raise InputError(f"{value!r} is not a category of feature {name!r}{known}{remedy.format(name=name)}") from None
