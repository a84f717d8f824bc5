"""polars: Enum, Categorical, String, dates and nulls stay what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl

from pellucid.arrays import AnyArray, IntArray
from pellucid.data.cells import objects
from pellucid.data.frames.frame import ColumnType, Frame, Kind, cannot_take, cannot_vary, stamps, unique_names, whole

_KINDS: dict[Any, Kind] = {
    pl.Boolean: "boolean",
    pl.String: "categorical",
    pl.Categorical: "categorical",
    pl.Date: "date",
    pl.Datetime: "date",
    pl.Null: "numeric",
}


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
        if dtype.is_numeric():
            return ColumnType("integer" if dtype.is_integer() else "numeric")
        if dtype.base_type() not in _KINDS:
            raise cannot_vary(self.names[j], dtype)
        return ColumnType(_KINDS[dtype.base_type()])

    def values(self, j: int) -> AnyArray:
        series = self.native_column(j)
        kind = self.column_type(j).kind
        if kind == "date":
            if getattr(series.dtype, "time_zone", None):
                series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
            return np.asarray(series.cast(pl.Datetime("us")).to_numpy(), dtype="datetime64[us]")
        if kind in ("categorical", "ordered"):
            return objects(series.cast(pl.String).to_list())
        return np.asarray(series.cast(pl.Float64).fill_null(float("nan")).to_numpy())

    def column(self, j: int, values: AnyArray) -> Any:
        series, name = self.native_column(j), self.names[j]
        try:
            return _restored(series, self.column_type(j).kind, name, values)
        except (pl.exceptions.InvalidOperationError, TypeError) as error:
            raise cannot_take(name, series.dtype, values[0], f"give other values ({error})") from error

    def native_column(self, j: int) -> Any:
        # Without its name: polars reads one like "^a.*$" as a pattern, even on a column alone.
        return self.table.to_series(j).alias("")

    def gather(self, column: Any, index: IntArray) -> Any:
        return column.gather(index)

    def take(self, rows: IntArray) -> Self:
        return type(self)(self.table[rows])

    def head(self, n: int) -> Self:
        return type(self)(self.table.head(n))

    def replace(self, columns: Mapping[int, Any]) -> Self:
        return type(self)(self.table.with_columns([column.alias(self.names[j]) for j, column in columns.items()]))

    def from_columns(self, columns: Sequence[Any]) -> Self:
        named = [column.alias(name) for name, column in zip(self.names, columns, strict=True)]
        return type(self)(pl.DataFrame(named))

    def alike(self, other: Frame) -> bool:
        same = isinstance(other, PolarsFrame) and list(other.table.schema.items()) == list(self.table.schema.items())
        return same and not any(dtype in (pl.Object, pl.Categorical) for dtype in self.table.dtypes)

    def select(self, positions: Sequence[int]) -> Self:
        return type(self)(pl.DataFrame([self.table.to_series(j) for j in positions]))


def _restored(series: Any, kind: Kind, name: str, values: AnyArray) -> Any:
    """Plain values as a series of the same dtype."""
    dtype = series.dtype
    if kind == "date":
        dates = pl.Series("", stamps(values, name, getattr(dtype, "time_unit", "")))
        zone = getattr(dtype, "time_zone", None)
        return (dates.dt.replace_time_zone("UTC").dt.convert_time_zone(zone) if zone else dates).cast(dtype)
    if kind in ("categorical", "ordered"):
        return pl.Series("", values.tolist(), dtype=dtype)
    if kind == "numeric":
        numbers = np.asarray(values, dtype=np.float64)
    else:
        numbers = whole(values, name, _numpy_dtype(dtype), nullable=True)
    # Missing is NaN only in a column that writes it so.
    as_nan = dtype.is_float() and not series.null_count() and bool(series.is_nan().any())
    return pl.Series("", numbers, nan_to_null=not as_nan).cast(dtype)


def _numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """The numpy type with the same range (128 bits: the widest there is)."""
    return np.dtype("bool" if dtype == pl.Boolean else str(dtype).lower().replace("128", "64"))
