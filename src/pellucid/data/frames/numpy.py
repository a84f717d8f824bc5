"""numpy: one matrix of one dtype; and how a numpy column of any dtype is read and restored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, ClassVar, Literal, Self

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, IntArray
from pellucid.data.cells import object_type, objects_to_values, values_to_objects
from pellucid.data.frames.frame import (
    ColumnType,
    Frame,
    Kind,
    Overlay,
    Scratch,
    cannot_take,
    cannot_vary,
    is_missing,
    stamps,
    unique_names,
    whole,
)
from pellucid.errors import InputError

_KINDS: dict[str, Kind] = {
    "f": "numeric",
    "i": "integer",
    "u": "integer",
    "b": "boolean",
    "M": "date",
    "U": "categorical",
    "S": "categorical",
}


def array_type(array: AnyArray, name: str) -> ColumnType:
    """Kind of a numpy column."""
    code = array.dtype.kind
    if array.ndim != 1 or code not in {*_KINDS, "O"}:
        raise cannot_vary(name, array.dtype if array.ndim == 1 else f"{array.ndim}-dimensional cells")
    return object_type(array, name) if code == "O" else ColumnType(_KINDS[code])


def array_values(array: AnyArray, name: str) -> AnyArray:
    """A numpy column in plain form."""
    kind = array_type(array, name).kind
    if array.dtype.kind == "O":
        return objects_to_values(array, kind)
    if array.dtype.kind in "US":
        return array.astype(object)
    return array.astype("datetime64[us]" if kind == "date" else np.float64)


def array_column(array: AnyArray, name: str, values: AnyArray) -> AnyArray:
    """Plain values with the dtype of a numpy column."""
    dtype = array.dtype
    if dtype.kind == "O":
        return values_to_objects(values, array, name)
    if dtype.kind in "iub":
        return whole(values, name, dtype).astype(dtype)
    if dtype.kind == "M":
        return stamps(values, name, np.datetime_data(dtype)[0]).astype(dtype)
    if dtype.kind in "US" and any(map(is_missing, values)):
        raise cannot_take(name, dtype, None, "leave the missing value out")
    return np.asarray(values).astype(dtype)


def feature_labels(names: Sequence[str] | None, width: int) -> tuple[str, ...]:
    """The names of a bare matrix's columns: those given, or x0, x1, ..."""
    labels = names if names is not None else [f"x{j}" for j in range(width)]
    if len(labels) != width:
        raise InputError(f"feature_names has {len(labels)} names but X has {width} columns.")
    return unique_names(labels)


class NumpyFrame(Frame):
    """A two-dimensional array."""

    kind: ClassVar[str] = "numpy"

    def __init__(self, array: AnyArray, names: Sequence[str] | None = None) -> None:
        if array.ndim != 2:
            raise InputError(
                f"X must have two dimensions (rows and features), not {array.ndim}; use X.reshape(-1, 1) for one"
                " feature."
            )
        self.array = array
        self.names = feature_labels(names, array.shape[1])

    @property
    def native(self) -> AnyArray:
        return self.array

    def __len__(self) -> int:
        return len(self.array)

    def column_type(self, j: int) -> ColumnType:
        return array_type(self.array[:, j], self.names[j])

    def values(self, j: int) -> AnyArray:
        return array_values(self.array[:, j], self.names[j])

    def column(self, j: int, values: AnyArray) -> AnyArray:
        return array_column(self.array[:, j], self.names[j], values)

    def native_column(self, j: int) -> AnyArray:
        return self.array[:, j]

    def gather(self, column: AnyArray, index: IntArray) -> AnyArray:
        return column[index]

    def take(self, rows: IntArray) -> Self:
        return self._holding(self.array[rows])

    def head(self, n: int) -> Self:
        return self._holding(self.array[:n])

    def replace(self, columns: Mapping[int, AnyArray]) -> Self:
        array = self.array.copy()
        for j, column in columns.items():
            array[:, j] = column
        return self._holding(array)

    def from_columns(self, columns: Sequence[AnyArray]) -> Self:
        return self._holding(np.stack(columns, axis=1).astype(self.array.dtype, copy=False))

    def holding(self, matrix: AnyArray) -> Self:
        """Rows of numbers as a table of this dtype, made for one question."""
        other = self._holding(matrix.astype(self.array.dtype, order="C", copy=False))
        other.made = True
        return other

    def lent(self, rows: slice) -> Self:
        return self._holding(self.array[rows]) if self.made else super().lent(rows)

    def adopt(self, other: NumpyFrame) -> Self:
        """The rows of another matrix of the same columns and dtype."""
        return self._holding(other.array.copy())

    def alike(self, other: Frame) -> bool:
        same = isinstance(other, NumpyFrame) and other.names == self.names and other.array.dtype == self.array.dtype
        return same and self.array.dtype.kind != "O"

    def _holding(self, array: AnyArray) -> Self:
        """The same columns with other rows; their names have been checked."""
        other = copy(self)
        other.array, other.made = array, False
        return other

    def select(self, positions: Sequence[int]) -> Self:
        return type(self)(self.array[:, list(positions)], [self.names[j] for j in positions])

    def scratch(self, repeats: int) -> Scratch:
        return MatrixScratch(self.array, repeats)

    def bytes_per_row(self) -> int:
        return self.array.itemsize * self.array.shape[1]


class MatrixScratch(Scratch):
    """Columns are written into one private matrix, so that untouched features are never copied again."""

    def __init__(self, array: AnyArray, repeats: int, order: Literal["C", "F"] = "C") -> None:
        self._array = array
        self._repeats = repeats
        self._stack = np.tile(array.T, (1, repeats)).T if order == "F" else np.tile(array, (repeats, 1))
        self._dirty: set[int] = set()
        self._laid: dict[int, BoolArray] = {}  # where columns are laid over the stack

    def overlay(self, columns: Mapping[int, Overlay], n: int) -> Any:
        """Only what is known is written; what was known before and no longer is becomes the table's own again."""
        for j in self._dirty - columns.keys():
            self._clean(j)
        for j, over in columns.items():
            target = self._stack[:n, j].reshape(len(over.known), -1)
            before = self._laid.get(j)
            if j in self._dirty and (before is None or len(before) != len(over.known)):
                self._clean(j)
            elif before is not None and (gone := np.flatnonzero(before & ~over.known)).size:
                target[gone] = self._array[:, j]
            rows = np.flatnonzero(over.known)
            target[rows] = over.column[over.which[rows]][:, None]
        self._dirty, self._laid = set(columns), {j: over.known for j, over in columns.items()}
        return self._stack[:n]

    def _clean(self, j: int) -> None:
        self._stack[:, j].reshape(self._repeats, -1)[:] = self._array[:, j]

    def fill(self, columns: Mapping[int, tuple[Any, IntArray]], n: int) -> Any:
        for j in self._dirty - columns.keys():
            self._clean(j)
        for j, (column, index) in columns.items():
            target = self._stack[:n, j]
            target = target if index.ndim == 1 else target.reshape(len(index), -1)  # a view: writes go through
            target[:] = column[index]
        self._dirty, self._laid = set(columns), {}
        return self._stack[:n]
