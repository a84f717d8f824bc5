"""pandas: every dtype stays what it is, including nullable, string, category and time zones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from pellucid.arrays import AnyArray, IntArray
from pellucid.data.cells import specimen
from pellucid.data.frames import frame
from pellucid.data.frames.numpy import MatrixScratch, array_column, array_type, array_values


def series_type(series: Any, name: str) -> frame.ColumnType:
    """Kind of a pandas column."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return array_type(series.to_numpy(), name)
    if isinstance(dtype, pd.ArrowDtype):
        from pellucid.data.frames.arrow import arrow_type

        return arrow_type(series.array.__arrow_array__(), name)
    if isinstance(dtype, pd.CategoricalDtype):
        return frame.ColumnType("ordered" if dtype.ordered else "categorical", tuple(dtype.categories))
    if isinstance(dtype, pd.DatetimeTZDtype):
        return frame.ColumnType("date")
    if isinstance(dtype, pd.StringDtype):
        return frame.ColumnType("categorical")
    if isinstance(dtype, pd.BooleanDtype):
        return frame.ColumnType("boolean")
    if isinstance(dtype, pd.SparseDtype) or pd.api.types.is_numeric_dtype(dtype):
        return array_type(np.empty(0, dtype=_numpy_dtype(dtype)), name)
    raise frame.cannot_vary(name, dtype)


def series_values(series: Any, name: str) -> AnyArray:
    """A pandas column in plain form."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return array_values(series.to_numpy(), name)
    if isinstance(dtype, pd.ArrowDtype):
        from pellucid.data.frames.arrow import arrow_values

        return arrow_values(series.array.__arrow_array__(), name)
    kind = series_type(series, name).kind
    if kind == "date":
        return np.asarray(series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy(dtype="datetime64[us]"))
    if kind in ("categorical", "ordered"):
        return np.asarray(series.to_numpy(dtype=object, na_value=None))
    return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))


def series_column(series: Any, name: str, values: AnyArray) -> Any:
    """Plain values as a pandas (or numpy) array with the dtype of a pandas column."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return array_column(series.to_numpy(), name, values)
    if isinstance(dtype, pd.ArrowDtype):
        from pellucid.data.frames.arrow import arrow_column

        return pd.array(arrow_column(series.array.__arrow_array__(), name, values), dtype=dtype)
    if isinstance(dtype, pd.CategoricalDtype):
        return pd.Categorical.from_codes(frame.level_positions(dtype.categories, values, name), dtype=dtype)
    if isinstance(dtype, pd.DatetimeTZDtype):
        dates = pd.DatetimeIndex(frame.stamps(values, name, dtype.unit))
        return dates.tz_localize("UTC").tz_convert(dtype.tz).astype(dtype).array
    if isinstance(dtype, pd.StringDtype):
        return pd.array(values, dtype=dtype)
    if isinstance(dtype, pd.SparseDtype):
        plain = array_column(np.empty(0, dtype=dtype.subtype), name, values)
        return pd.arrays.SparseArray(plain, dtype=dtype)
    return _masked_column(dtype, name, values)


def _masked_column(dtype: Any, name: str, values: AnyArray) -> Any:
    """pandas' nullable numbers and booleans."""
    plain = _numpy_dtype(dtype)
    if plain.kind == "f":
        return pd.array(np.asarray(values, dtype=np.float64), dtype=dtype)
    numbers = frame.whole(values, name, plain, nullable=True)
    missing = np.isnan(numbers)
    column = pd.array(np.where(missing, 0, numbers).astype(plain), dtype=dtype)
    column[missing] = pd.NA
    return column


def _numpy_dtype(dtype: Any) -> np.dtype[Any]:
    return np.dtype(dtype.subtype if isinstance(dtype, pd.SparseDtype) else dtype.numpy_dtype)


class PandasFrame(frame.Frame):
    """A pandas DataFrame."""

    kind: ClassVar[str] = "pandas"

    def __init__(self, table: Any) -> None:
        self.table = table
        self.names = frame.unique_names(list(table.columns))
        self._specimens: dict[int, AnyArray] = {}

    @property
    def native(self) -> Any:
        return self.table

    def __len__(self) -> int:
        return len(self.table)

    def row_index(self) -> AnyArray | None:
        return np.asarray(self.table.index)

    def column_type(self, j: int) -> frame.ColumnType:
        return series_type(self.table.iloc[:, j], self.names[j])

    def values(self, j: int) -> AnyArray:
        return series_values(self.table.iloc[:, j], self.names[j])

    def column(self, j: int, values: AnyArray) -> Any:
        series = self.table.iloc[:, j]
        if series.dtype != object:
            return series_column(series, self.names[j], values)
        if j not in self._specimens:  # objects are looked through once, not for every few rows that are made
            self._specimens[j] = specimen(series.to_numpy())
        return array_column(self._specimens[j], self.names[j], values)

    def native_column(self, j: int) -> Any:
        column = self.table.iloc[:, j]
        return column.to_numpy() if isinstance(column.dtype, np.dtype) else column.array

    def gather(self, column: Any, index: IntArray) -> Any:
        return column.take(index)

    def take(self, rows: IntArray) -> Self:
        return type(self)(self.table.take(rows).reset_index(drop=True))

    def head(self, n: int) -> Self:
        return type(self)(self.table.iloc[:n])

    def replace(self, columns: Mapping[int, Any]) -> Self:
        table = self.table.copy(deep=False)
        for j, column in columns.items():
            table.isetitem(j, _series(column, table.index))
        return type(self)(table)

    def from_columns(self, columns: Sequence[Any]) -> Self:
        rows = pd.RangeIndex(len(columns[0]))
        table = pd.DataFrame({j: _series(column, rows) for j, column in enumerate(columns)}, copy=False)
        table.columns = self.table.columns
        return type(self)(table)

    def select(self, positions: Sequence[int]) -> Self:
        return type(self)(self.table.iloc[:, list(positions)])

    def alike(self, other: frame.Frame) -> bool:
        if not isinstance(other, PandasFrame) or list(other.table.columns) != list(self.table.columns):
            return False
        own, theirs = list(self.table.dtypes), list(other.table.dtypes)
        return own == theirs and not any(dtype.kind == "O" for dtype in own if isinstance(dtype, np.dtype))

    def scratch(self, repeats: int) -> frame.Scratch:
        dtypes = set(self.table.dtypes)
        if len(dtypes) == 1 and isinstance(dtype := dtypes.pop(), np.dtype) and dtype.kind in "fiu":
            return BlockScratch(self.table, repeats)
        return super().scratch(repeats)


def _series(column: Any, index: Any) -> Any:
    """A column that pandas takes as it is: left to itself, it turns objects into strings or dates."""
    return pd.Series(column, index=index, dtype=column.dtype, copy=False)


class BlockScratch(MatrixScratch):
    """All columns of one numpy dtype: one private block in pandas' own layout, written in place."""

    def __init__(self, table: Any, repeats: int) -> None:
        super().__init__(table.to_numpy(), repeats, order="F")
        self._columns = table.columns

    def fill(self, columns: Mapping[int, tuple[Any, IntArray]], n: int) -> Any:
        return self._table(super().fill(columns, n))

    def overlay(self, columns: Mapping[int, frame.Overlay], n: int) -> Any:
        return self._table(super().overlay(columns, n))

    def _table(self, block: AnyArray) -> Any:
        return pd.DataFrame(block, columns=self._columns, copy=False)
