"""numpy: one matrix of one dtype, structured arrays, lists of dicts, and scipy's sparse matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from pellucid.arrays import AnyArray, IntArray
from pellucid.data.frame import (
    ColumnType,
    Frame,
    Scratch,
    object_type,
    objects_to_values,
    unique_names,
    values_to_objects,
    whole,
)
from pellucid.errors import InputError


def array_type(array: AnyArray, name: str) -> ColumnType:
    """Kind of a numpy column."""
    code = array.dtype.kind
    if code == "O":
        return object_type(array)
    kinds: dict[str, ColumnType] = {
        "f": ColumnType("numeric"),
        "i": ColumnType("integer"),
        "u": ColumnType("integer"),
        "b": ColumnType("boolean"),
        "M": ColumnType("date"),
        "U": ColumnType("categorical"),
        "S": ColumnType("categorical"),
    }
    if code not in kinds:
        raise InputError(
            f"column {name!r} has dtype {array.dtype}, which has no order and no categories; convert it first."
        )
    return kinds[code]


def array_values(array: AnyArray, name: str) -> AnyArray:
    """A numpy column in plain form."""
    kind = array_type(array, name).kind
    if array.dtype.kind in "OUS":
        return objects_to_values(array.astype(object), kind)
    if array.dtype.kind == "M":
        return array.astype("datetime64[us]")
    return array.astype(np.float64)


def array_column(array: AnyArray, name: str, values: AnyArray) -> AnyArray:
    """Plain values with the dtype of a numpy column."""
    if array.dtype.kind == "O":
        return values_to_objects(values, array)
    if array.dtype.kind in "iub":
        return whole(values, name, array.dtype).astype(array.dtype)
    return np.asarray(values).astype(array.dtype)


class NumpyFrame(Frame):
    """A two-dimensional array."""

    kind: ClassVar[str] = "numpy"

    def __init__(self, array: AnyArray, names: Sequence[str] | None = None) -> None:
        if array.ndim != 2:
            raise InputError(
                f"X must have two dimensions (rows and features), not {array.ndim}; use X.reshape(-1, 1) for one feature."
            )
        self.array = array
        labels = names if names is not None else [f"x{j}" for j in range(array.shape[1])]
        if len(labels) != array.shape[1]:
            raise InputError(f"feature_names has {len(labels)} names but X has {array.shape[1]} columns.")
        self.names = unique_names(labels)

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
        return type(self)(self.array[rows], self.names)

    def head(self, n: int) -> Self:
        return type(self)(self.array[:n], self.names)

    def replace(self, columns: Mapping[int, AnyArray]) -> Self:
        array = self.array.copy()
        for j, column in columns.items():
            array[:, j] = column
        return type(self)(array, self.names)

    def from_columns(self, columns: Sequence[AnyArray]) -> Self:
        return type(self)(np.column_stack(columns).astype(self.array.dtype, copy=False), self.names)

    def select(self, positions: Sequence[int]) -> Self:
        return type(self)(self.array[:, list(positions)], [self.names[j] for j in positions])

    def scratch(self, repeats: int) -> Scratch:
        return MatrixScratch(self.array, repeats)

    def bytes_per_row(self) -> int:
        return self.array.itemsize * self.array.shape[1]


class MatrixScratch(Scratch):
    """Columns are written into one private matrix, so that untouched features are never copied again."""

    def __init__(self, array: AnyArray, repeats: int) -> None:
        self._array = array
        self._stack = np.tile(array, (repeats, 1))
        self._dirty: set[int] = set()

    def fill(self, columns: Mapping[int, tuple[AnyArray, IntArray]], n: int) -> AnyArray:
        for j in self._dirty - columns.keys():
            self._stack.reshape(-1, *self._array.shape)[:, :, j] = self._array[:, j]
        for j, (column, index) in columns.items():
            self._stack[:n, j] = column[index]
        self._dirty = set(columns)
        return self._stack[:n]


class RecordsFrame(Frame):
    """A list of dicts, or a structured array: named columns without a dataframe library."""

    kind: ClassVar[str] = "records"

    def __init__(self, columns: Mapping[str, AnyArray], *, structured: np.dtype[Any] | None = None) -> None:
        self._columns = dict(columns)
        self._structured = structured
        self.names = unique_names(list(columns))

    @classmethod
    def from_dicts(cls, rows: Sequence[Mapping[str, object]]) -> Self:
        """Columns in order of first appearance; a key that a row lacks is missing there."""
        names = list(dict.fromkeys(name for row in rows for name in row))
        columns = {}
        for name in names:
            columns[name] = np.empty(len(rows), dtype=object)
            columns[name][:] = [row.get(name) for row in rows]
        return cls(columns)

    @classmethod
    def from_structured(cls, array: AnyArray) -> Self:
        """One column per field."""
        return cls({name: array[name] for name in array.dtype.names or ()}, structured=array.dtype)

    @property
    def native(self) -> Any:
        if self._structured is not None:
            out = np.empty(len(self), dtype=self._structured)
            for name, column in self._columns.items():
                out[name] = column
            return out
        lists = [column.tolist() for column in self._columns.values()]
        # A key that was absent stays absent: that is what "missing" is in a dict.
        return [
            {name: value for name, value in zip(self.names, row, strict=True) if value is not None}
            for row in zip(*lists, strict=True)
        ]

    def _like(self, columns: Mapping[str, AnyArray]) -> Self:
        dtype = self._structured
        if dtype is not None:
            dtype = np.dtype([(name, dtype[name]) for name in columns])
        return type(self)(columns, structured=dtype)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()))) if self._columns else 0

    def column_type(self, j: int) -> ColumnType:
        return array_type(self.native_column(j), self.names[j])

    def values(self, j: int) -> AnyArray:
        return array_values(self.native_column(j), self.names[j])

    def column(self, j: int, values: AnyArray) -> AnyArray:
        return array_column(self.native_column(j), self.names[j], values)

    def native_column(self, j: int) -> AnyArray:
        return self._columns[self.names[j]]

    def gather(self, column: AnyArray, index: IntArray) -> AnyArray:
        return column[index]

    def take(self, rows: IntArray) -> Self:
        return self._like({name: column[rows] for name, column in self._columns.items()})

    def head(self, n: int) -> Self:
        return self._like({name: column[:n] for name, column in self._columns.items()})

    def replace(self, columns: Mapping[int, AnyArray]) -> Self:
        return self._like(self._columns | {self.names[j]: column for j, column in columns.items()})

    def from_columns(self, columns: Sequence[AnyArray]) -> Self:
        return self._like(dict(zip(self.names, columns, strict=True)))

    def select(self, positions: Sequence[int]) -> Self:
        return self._like({self.names[j]: self._columns[self.names[j]] for j in positions})


class SparseFrame(Frame):
    """A scipy sparse matrix; rows stay compressed all the way to the model."""

    kind: ClassVar[str] = "sparse"

    def __init__(self, matrix: Any, names: Sequence[str] | None = None) -> None:
        self._rows = matrix.tocsr()
        self._columns = None
        labels = names if names is not None else [f"x{j}" for j in range(matrix.shape[1])]
        if len(labels) != matrix.shape[1]:
            raise InputError(f"feature_names has {len(labels)} names but X has {matrix.shape[1]} columns.")
        self.names = unique_names(labels)

    @property
    def native(self) -> Any:
        return self._rows

    def __len__(self) -> int:
        return int(self._rows.shape[0])

    def column_type(self, j: int) -> ColumnType:
        return array_type(np.empty(0, dtype=self._rows.dtype), self.names[j])

    def values(self, j: int) -> AnyArray:
        return self.native_column(j).astype(np.float64)

    def column(self, j: int, values: AnyArray) -> AnyArray:
        return array_column(np.empty(0, dtype=self._rows.dtype), self.names[j], values)

    def native_column(self, j: int) -> AnyArray:
        if self._columns is None:
            self._columns = self._rows.tocsc()
        column: AnyArray = self._columns[:, [j]].toarray().ravel()
        return column

    def gather(self, column: AnyArray, index: IntArray) -> AnyArray:
        return column[index]

    def take(self, rows: IntArray) -> Self:
        return type(self)(self._rows[rows], self.names)

    def head(self, n: int) -> Self:
        return type(self)(self._rows[:n], self.names)

    def replace(self, columns: Mapping[int, AnyArray]) -> Self:
        from scipy import sparse

        touched = sorted(columns)
        keep = np.ones(len(self.names))
        keep[touched] = 0.0
        place = sparse.csr_array(
            (np.ones(len(touched)), (np.arange(len(touched)), touched)),
            shape=(len(touched), len(self.names)),
        )
        new = sparse.csr_array(np.column_stack([columns[j] for j in touched])) @ place
        mixed = self._rows @ sparse.diags_array(keep) + new
        return type(self)(type(self._rows)(mixed, dtype=self._rows.dtype), self.names)

    def from_columns(self, columns: Sequence[AnyArray]) -> Self:
        return type(self)(type(self._rows)(np.column_stack(columns)), self.names)

    def select(self, positions: Sequence[int]) -> Self:
        return type(self)(self._rows[:, list(positions)], [self.names[j] for j in positions])
