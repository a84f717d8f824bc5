"""pandas: every dtype stays what it is, including nullable, string, category and time zones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from pellucid.arrays import AnyArray, IntArray
from pellucid.data.frame import (
    ColumnType,
    Frame,
    Scratch,
    is_missing,
    object_type,
    objects_to_values,
    unique_names,
    values_to_objects,
    whole,
)
from pellucid.errors import InputError


class PandasFrame(Frame):
    """A pandas DataFrame."""

    kind: ClassVar[str] = "pandas"

    def __init__(self, table: Any) -> None:
        self.table = table
        self.names = unique_names(list(table.columns))

    @property
    def native(self) -> Any:
        return self.table

    def __len__(self) -> int:
        return len(self.table)

    def column_type(self, j: int) -> ColumnType:
        dtype = self.table.dtypes.iloc[j]
        types = pd.api.types
        if isinstance(dtype, pd.CategoricalDtype):
            return ColumnType("ordered" if dtype.ordered else "categorical", tuple(dtype.categories))
        if types.is_object_dtype(dtype):
            return object_type(self.table.iloc[:, j].to_numpy())
        if types.is_bool_dtype(dtype):
            return ColumnType("boolean")
        if types.is_integer_dtype(dtype):
            return ColumnType("integer")
        if types.is_float_dtype(dtype):
            return ColumnType("numeric")
        if types.is_datetime64_any_dtype(dtype):
            return ColumnType("date")
        if types.is_string_dtype(dtype):
            return ColumnType("categorical")
        raise InputError(
            f"column {self.names[j]!r} has dtype {dtype}, which pellucid cannot vary; convert it to a number, a date or a category."
        )

    def values(self, j: int) -> AnyArray:
        column = self.table.iloc[:, j]
        kind = self.column_type(j).kind
        if kind == "date" and column.dtype != object:
            if column.dt.tz is not None:
                column = column.dt.tz_convert("UTC").dt.tz_localize(None)
            return np.asarray(column.to_numpy(dtype="datetime64[us]"))
        if column.dtype == object or kind in ("categorical", "ordered"):
            return objects_to_values(column.to_numpy(dtype=object), kind)
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))

    def column(self, j: int, values: AnyArray) -> Any:
        series = self.table.iloc[:, j]
        dtype, name = series.dtype, self.names[j]
        if dtype == object:
            return values_to_objects(values, series.to_numpy())
        if isinstance(dtype, pd.CategoricalDtype):
            _check_levels(values, dtype, name)
            return pd.Categorical([None if is_missing(value) else value for value in values], dtype=dtype)
        if pd.api.types.is_datetime64_any_dtype(dtype):
            stamps = pd.DatetimeIndex(np.asarray(values, dtype="datetime64[us]"))
            tz = getattr(dtype, "tz", None)
            return (
                (stamps.tz_localize("UTC").tz_convert(tz) if tz is not None else stamps).astype(dtype).array
            )
        if pd.api.types.is_integer_dtype(dtype) or pd.api.types.is_bool_dtype(dtype):
            return self._whole_column(dtype, name, values)
        if pd.api.types.is_float_dtype(dtype):
            numbers = np.asarray(values, dtype=np.float64)
            return numbers.astype(dtype) if isinstance(dtype, np.dtype) else pd.array(numbers, dtype=dtype)
        return pd.array([None if is_missing(value) else value for value in values], dtype=dtype)

    @staticmethod
    def _whole_column(dtype: Any, name: str, values: AnyArray) -> Any:
        if isinstance(dtype, np.dtype):
            return whole(values, name, dtype).astype(dtype)
        missing = np.isnan(np.asarray(values, dtype=np.float64))
        numbers = np.where(missing, 0, values)
        kind = np.bool_ if pd.api.types.is_bool_dtype(dtype) else np.int64
        column = pd.array(whole(numbers, name, dtype).astype(kind), dtype=dtype)
        column[missing] = pd.NA
        return column

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
            table.isetitem(j, column)
        return type(self)(table)

    def from_columns(self, columns: Sequence[Any]) -> Self:
        table = pd.DataFrame(dict(enumerate(columns)), copy=False)
        table.columns = self.table.columns
        return type(self)(table)

    def select(self, positions: Sequence[int]) -> Self:
        return type(self)(self.table.iloc[:, list(positions)])

    def scratch(self, repeats: int) -> Scratch:
        dtypes = set(self.table.dtypes)
        if len(dtypes) == 1 and isinstance(dtype := dtypes.pop(), np.dtype) and dtype.kind in "fiu":
            return BlockScratch(self.table, repeats)
        return super().scratch(repeats)


def _check_levels(values: AnyArray, dtype: Any, name: str) -> None:
    for value in values:
        if not is_missing(value) and value not in dtype.categories:
            raise InputError(
                f"{value!r} is not a category of column {name!r}; its categories are {list(dtype.categories)[:12]}."
            )


class BlockScratch(Scratch):
    """All columns of one numpy dtype: one private block in pandas' own layout, written in place."""

    def __init__(self, table: Any, repeats: int) -> None:
        self._columns = table.columns
        self._block = np.ascontiguousarray(table.to_numpy().T)
        self._stack = np.tile(self._block, (1, repeats))
        self._dirty: set[int] = set()

    def fill(self, columns: Mapping[int, tuple[AnyArray, IntArray]], n: int) -> Any:
        for j in self._dirty - columns.keys():
            self._stack[j].reshape(-1, self._block.shape[1])[:] = self._block[j]
        for j, (column, index) in columns.items():
            self._stack[j, :n] = column[index]
        self._dirty = set(columns)
        return pd.DataFrame(self._stack[:, :n].T, columns=self._columns, copy=False)
