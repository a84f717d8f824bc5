"""scipy's sparse matrices: never made dense, neither to learn from nor on the way to the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.data.frames.frame import ColumnType, Frame
from pellucid.data.frames.numpy import array_column, array_type, feature_labels
from pellucid.errors import InputError


def _narrow(rows: Any, dtype: np.dtype[Any]) -> None:
    """Give a matrix of one's own indices of the dtype, if they fit: scikit-learn's trees refuse those of 64 bits."""
    if rows.indices.dtype != dtype and max(rows.nnz, *rows.shape) <= np.iinfo(dtype).max:
        rows.indices, rows.indptr = rows.indices.astype(dtype), rows.indptr.astype(dtype)


@dataclass(frozen=True, eq=False)
class SparseSummary:
    """One number per column: least and greatest value, values missing, different values present."""

    low: FloatArray
    high: FloatArray
    missing: IntArray
    distinct: IntArray


class SparseFrame(Frame):
    """A sparse matrix or array; worked on by rows (csr), handed out in the format it came in."""

    kind: ClassVar[str] = "sparse"

    def __init__(self, matrix: Any, names: Sequence[str] | None = None, format: str | None = None) -> None:
        if matrix.ndim != 2:
            raise InputError(f"X must have two dimensions (rows and features), not {matrix.ndim}.")
        self._format = format or matrix.format
        self._rows = matrix.tocsr()
        self._by_column: Any = None
        self.names = feature_labels(names, matrix.shape[1])

    @property
    def native(self) -> Any:
        return self._rows.asformat(self._format)

    def _like(self, rows: Any, names: Sequence[str] | None = None) -> Self:
        _narrow(rows, self._rows.indices.dtype)
        return type(self)(rows, self.names if names is None else names, self._format)

    @property
    def _columns(self) -> Any:
        """A private copy by columns, without stored zeros and with duplicate entries added up."""
        if self._by_column is None:
            by_column = self._rows.tocsc()
            by_column.sum_duplicates()
            by_column.eliminate_zeros()
            self._by_column = by_column
        return self._by_column

    def __len__(self) -> int:
        return int(self._rows.shape[0])

    def column_type(self, j: int) -> ColumnType:
        return array_type(np.empty(0, dtype=self._rows.dtype), self.names[j])

    def values(self, j: int) -> AnyArray:
        return self.native_column(j).astype(np.float64)

    def column(self, j: int, values: AnyArray) -> AnyArray:
        return array_column(np.empty(0, dtype=self._rows.dtype), self.names[j], values)

    def native_column(self, j: int) -> AnyArray:
        columns = self._columns
        stored = slice(columns.indptr[j], columns.indptr[j + 1])
        dense = np.zeros(len(self), dtype=columns.dtype)
        dense[columns.indices[stored]] = columns.data[stored]
        return dense

    def gather(self, column: AnyArray, index: IntArray) -> AnyArray:
        return column[index]

    def take(self, rows: IntArray) -> Self:
        return self._like(self._rows[rows])

    def head(self, n: int) -> Self:
        return self._like(self._rows[:n])

    def replace(self, columns: Mapping[int, AnyArray]) -> Self:
        if not columns:
            return self._like(self._rows.copy())
        rows = self._rows
        touched = np.zeros(len(self.names), dtype=bool)
        touched[list(columns)] = True
        kept = ~touched[rows.indices]
        stored = {j: np.flatnonzero(column) for j, column in columns.items()}
        at_row = [np.repeat(np.arange(len(self)), np.diff(rows.indptr))[kept], *stored.values()]
        at_column = [rows.indices[kept], *(np.full(len(found), j) for j, found in stored.items())]
        entries = [rows.data[kept], *(columns[j][found] for j, found in stored.items())]
        places = (np.concatenate(at_row), np.concatenate(at_column))
        return self._like(type(rows)((np.concatenate(entries), places), shape=rows.shape, dtype=rows.dtype))

    def from_columns(self, columns: Sequence[AnyArray]) -> Self:
        return self._like(type(self._rows)(np.stack(columns, axis=1), dtype=self._rows.dtype))

    def select(self, positions: Sequence[int]) -> Self:
        return self._like(self._rows[:, list(positions)], [self.names[j] for j in positions])

    def adopt(self, other: SparseFrame) -> Self:
        """Rows of another sparse table, in this one's dtype, class and format."""
        return self._like(type(self._rows)(other._rows, dtype=self._rows.dtype))

    def bytes_per_row(self) -> int:
        return 8 + (self._rows.dtype.itemsize + 8) * -(-self._rows.nnz // len(self))

    def summary(self) -> SparseSummary:
        """What `learn` needs to know of every column, from the stored entries alone."""
        columns = self._columns
        width = len(self.names)
        place = np.repeat(np.arange(width), np.diff(columns.indptr))
        data = columns.data.astype(np.float64)
        gap = np.isnan(data)
        missing = np.bincount(place[gap], minlength=width)
        place, data = place[~gap], data[~gap]
        zeros = len(self) - missing - np.bincount(place, minlength=width)
        low, high = np.where(zeros > 0, 0.0, np.inf), np.where(zeros > 0, 0.0, -np.inf)
        np.minimum.at(low, place, data)
        np.maximum.at(high, place, data)
        order = np.lexsort((data, place))
        place, data = place[order], data[order]
        first = np.append(True, (np.diff(place) != 0) | (np.diff(data) != 0))[: len(data)]
        distinct = np.bincount(place[first], minlength=width) + (zeros > 0)
        empty = distinct == 0
        low[empty] = high[empty] = np.nan
        return SparseSummary(low, high, missing, distinct)
