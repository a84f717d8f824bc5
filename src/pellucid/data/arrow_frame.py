"""pyarrow: dictionaries stay dictionaries, nulls stay nulls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pellucid.arrays import AnyArray, IntArray
from pellucid.data.frame import ColumnType, Frame, is_missing, objects_to_values, unique_names, whole
from pellucid.errors import InputError


class ArrowFrame(Frame):
    """A pyarrow Table."""

    kind: ClassVar[str] = "arrow"

    def __init__(self, table: Any) -> None:
        self.table = table
        self.names = unique_names(table.column_names)

    @property
    def native(self) -> Any:
        return self.table

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def column_type(self, j: int) -> ColumnType:
        dtype = self.table.schema.types[j]
        if pa.types.is_dictionary(dtype):
            dictionary = self.table.column(j).combine_chunks()
            levels = (
                dictionary.dictionary.to_pylist() if not isinstance(dictionary, pa.ChunkedArray) else []
            )
            return ColumnType(
                "ordered" if dtype.ordered else "categorical", tuple(levels) if dtype.ordered else None
            )
        tests: list[tuple[Any, ColumnType]] = [
            (pa.types.is_boolean, ColumnType("boolean")),
            (pa.types.is_integer, ColumnType("integer")),
            (pa.types.is_floating, ColumnType("numeric")),
            (pa.types.is_null, ColumnType("numeric")),
            (pa.types.is_timestamp, ColumnType("date")),
            (pa.types.is_date, ColumnType("date")),
            (pa.types.is_string, ColumnType("categorical")),
            (pa.types.is_large_string, ColumnType("categorical")),
            (pa.types.is_string_view, ColumnType("categorical")),
        ]
        for test, kind in tests:
            if test(dtype):
                return kind
        raise InputError(
            f"column {self.names[j]!r} has type {dtype}, which pellucid cannot vary; convert it to a number, a date or a category."
        )

    def values(self, j: int) -> AnyArray:
        column = self.table.column(j)
        kind = self.column_type(j).kind
        if kind == "date":
            return np.asarray(pc.cast(column, pa.timestamp("us")).to_numpy(), dtype="datetime64[us]")
        if kind in ("categorical", "ordered"):
            objects = np.empty(len(column), dtype=object)
            objects[:] = column.to_pylist()
            return objects_to_values(objects, kind)
        numbers = pc.cast(column, pa.float64())
        return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)

    def column(self, j: int, values: AnyArray) -> Any:
        dtype, name = self.table.schema.types[j], self.names[j]
        kind = self.column_type(j).kind
        if kind == "date":
            return pc.cast(pa.array(np.asarray(values, dtype="datetime64[us]")), dtype, safe=False)
        present: list[Any] = [None if is_missing(value) else value for value in values]
        if kind in ("integer", "boolean"):
            numbers = whole(np.array([0 if value is None else value for value in present]), name, dtype)
            cast = bool if kind == "boolean" else int
            present = [
                None if old is None else cast(new) for old, new in zip(present, numbers, strict=True)
            ]
        if pa.types.is_dictionary(dtype):
            return self._dictionary(j, present)
        return pa.array(present, type=dtype)

    def _dictionary(self, j: int, present: list[Any]) -> Any:
        """The same dictionary as the data's own, so that codes keep their meaning."""
        dtype = self.table.schema.types[j]
        dictionary = self.native_column(j).dictionary
        position = {level: code for code, level in enumerate(dictionary.to_pylist())}
        for value in present:
            if value is not None and value not in position:
                raise InputError(f"{value!r} is not a category of column {self.names[j]!r}.")
        codes = pa.array(
            [None if value is None else position[value] for value in present], type=dtype.index_type
        )
        return pa.DictionaryArray.from_arrays(codes, dictionary, ordered=dtype.ordered)

    def native_column(self, j: int) -> Any:
        column = self.table.column(j).unify_dictionaries().combine_chunks()
        return column.chunk(0) if isinstance(column, pa.ChunkedArray) and column.num_chunks else column

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

    def select(self, positions: Sequence[int]) -> Self:
        return type(self)(self.table.select(list(positions)))
