"""polars: Enum, Categorical, String, dates and nulls stay what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl

from pellucid.arrays import AnyArray, IntArray
from pellucid.data.frame import ColumnType, Frame, is_missing, objects_to_values, unique_names, whole
from pellucid.errors import InputError


class PolarsFrame(Frame):
    """A polars DataFrame."""

    kind: ClassVar[str] = "polars"

    def __init__(self, table: Any) -> None:
        self.table = table
        self.names = unique_names(table.columns)

    @property
    def native(self) -> Any:
        return self.table

    def __len__(self) -> int:
        return int(self.table.height)

    def column_type(self, j: int) -> ColumnType:
        dtype = self.table.dtypes[j]
        if isinstance(dtype, pl.Enum):
            return ColumnType("ordered", tuple(dtype.categories.to_list()))
        if dtype.is_integer():
            return ColumnType("integer")
        if dtype.is_numeric():
            return ColumnType("numeric")
        simple: dict[Any, ColumnType] = {
            pl.Boolean: ColumnType("boolean"),
            pl.String: ColumnType("categorical"),
            pl.Categorical: ColumnType("categorical"),
            pl.Date: ColumnType("date"),
            pl.Datetime: ColumnType("date"),
            pl.Null: ColumnType("numeric"),
        }
        if dtype.base_type() not in simple:
            raise InputError(
                f"column {self.names[j]!r} has dtype {dtype}, which pellucid cannot vary; convert it to a number, a date or a category."
            )
        return simple[dtype.base_type()]

    def values(self, j: int) -> AnyArray:
        series = self.table.to_series(j)
        kind = self.column_type(j).kind
        if kind == "date":
            if getattr(series.dtype, "time_zone", None):
                series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
            return np.asarray(series.cast(pl.Datetime("us")).to_numpy(), dtype="datetime64[us]")
        if kind in ("categorical", "ordered"):
            return objects_to_values(np.array(series.cast(pl.String).to_list() or [], dtype=object), kind)
        return np.asarray(series.cast(pl.Float64).fill_null(float("nan")).to_numpy())

    def column(self, j: int, values: AnyArray) -> Any:
        dtype, name = self.table.dtypes[j], self.names[j]
        kind = self.column_type(j).kind
        if kind == "date":
            stamps = pl.Series(name, np.asarray(values, dtype="datetime64[us]"))
            zone = getattr(dtype, "time_zone", None)
            if zone:
                stamps = stamps.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
            return stamps.cast(dtype)
        present: list[Any] = [None if is_missing(value) else value for value in values]
        if kind in ("integer", "boolean"):
            numbers = np.array([0 if value is None else value for value in present])
            cast = bool if kind == "boolean" else int
            checked = whole(numbers, name, dtype)
            present = [
                None if old is None else cast(new) for old, new in zip(present, checked, strict=True)
            ]
        elif kind == "numeric":
            present = [None if value is None else float(value) for value in present]
        try:
            return pl.Series(name, present, dtype=dtype)
        except (pl.exceptions.InvalidOperationError, TypeError) as error:
            raise InputError(
                f"column {name!r} ({dtype}) cannot take one of the values {present[:12]}."
            ) from error

    def native_column(self, j: int) -> Any:
        return self.table.to_series(j)

    def gather(self, column: Any, index: IntArray) -> Any:
        return column.gather(index)

    def take(self, rows: IntArray) -> Self:
        return type(self)(self.table[rows])

    def head(self, n: int) -> Self:
        return type(self)(self.table.head(n))

    def replace(self, columns: Mapping[int, Any]) -> Self:
        return type(self)(
            self.table.with_columns([column.alias(self.names[j]) for j, column in columns.items()])
        )

    def from_columns(self, columns: Sequence[Any]) -> Self:
        named = [column.alias(name) for name, column in zip(self.names, columns, strict=True)]
        return type(self)(pl.DataFrame(named))

    def select(self, positions: Sequence[int]) -> Self:
        return type(self)(self.table.select([self.names[j] for j in positions]))
