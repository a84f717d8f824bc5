"""pyarrow: dictionaries stay dictionaries, nulls stay nulls; also pandas' Arrow-backed columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pellucid.arrays import AnyArray, IntArray
from pellucid.data.cells import objects
from pellucid.data.frames import frame

_KINDS: tuple[tuple[Callable[[Any], bool], frame.Kind], ...] = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_integer, "integer"),
    (pa.types.is_floating, "numeric"),
    (pa.types.is_decimal, "numeric"),
    (pa.types.is_null, "numeric"),
    (pa.types.is_timestamp, "date"),
    (pa.types.is_date, "date"),
    (pa.types.is_string, "categorical"),
    (pa.types.is_large_string, "categorical"),
)


def arrow_type(column: Any, name: str) -> frame.ColumnType:
    """Kind of an Arrow array."""
    dtype = column.type
    if pa.types.is_dictionary(dtype):
        levels = tuple(_one_chunk(column).dictionary.to_pylist()) if dtype.ordered else None
        return frame.ColumnType("ordered" if dtype.ordered else "categorical", levels)
    for test, kind in _KINDS:
        if test(dtype):
            return frame.ColumnType(kind)
    raise frame.cannot_vary(name, dtype)


def arrow_values(column: Any, name: str) -> AnyArray:
    """An Arrow array in plain form."""
    kind = arrow_type(column, name).kind
    column = _one_chunk(column)
    if pa.types.is_dictionary(column.type):
        levels = objects([*column.dictionary.to_pylist(), None])
        return levels[pc.fill_null(column.indices.cast(pa.int64()), len(levels) - 1).to_numpy()]
    if kind == "categorical":
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=object)
    plain = pa.timestamp("us") if kind == "date" else pa.float64()
    # Not "safe": nanoseconds and whole numbers beyond 2**53 are rounded.
    return np.asarray(column.cast(plain, safe=False).to_numpy(zero_copy_only=False))


def arrow_column(column: Any, name: str, values: AnyArray) -> Any:
    """Plain values as an array of the type of an Arrow array."""
    dtype, kind = column.type, arrow_type(column, name).kind
    if pa.types.is_dictionary(dtype):
        return _dictionary_column(_one_chunk(column), name, values)
    if pa.types.is_null(dtype):
        return pa.nulls(len(values))
    try:
        if kind == "categorical":
            return pa.array(objects(values), type=dtype)
        if kind == "date":
            return pa.array(frame.stamps(values, name, getattr(dtype, "unit", ""))).cast(dtype, safe=False)
        return _numeric_column(column, name, values)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise frame.cannot_take(name, dtype, values[0], f"give other values ({error})") from error


def _numeric_column(column: Any, name: str, values: AnyArray) -> Any:
    dtype = column.type
    if pa.types.is_integer(dtype) or pa.types.is_boolean(dtype):
        numbers = frame.whole(values, name, np.dtype(dtype.to_pandas_dtype()), nullable=True)
    else:
        numbers = np.asarray(values, dtype=np.float64)
    # Missing is NaN only in a column that writes it so. (Half floats: earlier versions of pyarrow cannot tell.)
    wide = column.cast(pa.float32()) if pa.types.is_float16(dtype) else column
    as_nan = pa.types.is_floating(dtype) and not column.null_count and pc.any(pc.is_nan(wide)).as_py()
    return pa.array(numbers, mask=None if as_nan else np.isnan(numbers)).cast(dtype)


def _dictionary_column(column: Any, name: str, values: AnyArray) -> Any:
    """The same dictionary as the column's own, so that codes keep their meaning."""
    codes = frame.level_positions(column.dictionary.to_pylist(), values, name)
    indices = pa.array(codes, mask=codes < 0).cast(column.type.index_type)
    return pa.DictionaryArray.from_arrays(indices, column.dictionary, ordered=column.type.ordered)


def _one_chunk(column: Any) -> Any:
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.unify_dictionaries().combine_chunks()


class ArrowFrame(frame.Frame):
    """A pyarrow Table."""

    kind: ClassVar[str] = "arrow"

    def __init__(self, table: Any) -> None:
        self.table = table.unify_dictionaries()
        self.names = frame.unique_names(table.column_names)

    @property
    def native(self) -> Any:
        return self.table

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def column_type(self, j: int) -> frame.ColumnType:
        return arrow_type(self.table.column(j), self.names[j])

    def values(self, j: int) -> AnyArray:
        return arrow_values(self.table.column(j), self.names[j])

    def column(self, j: int, values: AnyArray) -> Any:
        return arrow_column(self.table.column(j), self.names[j], values)

    def native_column(self, j: int) -> Any:
        return _one_chunk(self.table.column(j))

    def gather(self, column: Any, index: IntArray) -> Any:
        return column.take(pa.array(index))

    def take(self, rows: IntArray) -> Self:
        return type(self)(self.table.take(pa.array(rows)))

    def head(self, n: int) -> Self:
        return type(self)(self.table.slice(0, n))

    def replace(self, columns: Mapping[int, Any]) -> Self:
        table = self.table
        for j, column in columns.items():
            table = table.set_column(j, table.schema.field(j), column)
        return type(self)(table)

    def from_columns(self, columns: Sequence[Any]) -> Self:
        return type(self)(pa.Table.from_arrays(list(columns), schema=self.table.schema))

    def alike(self, other: frame.Frame) -> bool:
        same = isinstance(other, ArrowFrame) and other.table.schema.equals(self.table.schema)
        return same and not any(pa.types.is_dictionary(kind) for kind in self.table.schema.types)

    def select(self, positions: Sequence[int]) -> Self:
        return type(self)(self.table.select(list(positions)))
