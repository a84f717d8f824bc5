"""Named columns without a dataframe library: lists of dicts, and numpy's structured arrays."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar, Self

import numpy as np

from pellucid.arrays import AnyArray, IntArray
from pellucid.data.cells import objects
from pellucid.data.frames.frame import ColumnType, Frame, unique_names
from pellucid.data.frames.numpy import array_column, array_type, array_values
from pellucid.errors import InputError
from pellucid.words import kind_of


class _Absent(Enum):
    """Stands in a column of objects where a dict lacks the key."""

    ABSENT = "absent"

    def __ne__(self, other: object) -> bool:
        return True  # like every missing value, it differs from itself

    __hash__ = Enum.__hash__


class RecordsFrame(Frame):
    """Columns that are numpy arrays, under labels of their own."""

    kind: ClassVar[str] = "records"

    def __init__(
        self,
        labels: Sequence[Hashable],
        columns: Sequence[AnyArray],
        structured: tuple[type[AnyArray], np.dtype[Any]] | None = None,
    ) -> None:
        self._labels = tuple(labels)
        self._columns = tuple(columns)
        self._structured = structured
        self.names = unique_names(self._labels)

    @classmethod
    def from_dicts(cls, rows: Sequence[Mapping[Any, object]]) -> Self:
        """Columns in order of first appearance; a key that a row lacks is missing there."""
        for position, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise InputError(f"row {position} of X is {kind_of(row)}; give one dict per row.")
        labels = list(dict.fromkeys(label for row in rows for label in row))
        return cls(labels, [objects([row.get(label, _Absent.ABSENT) for row in rows]) for label in labels])

    @classmethod
    def from_structured(cls, array: AnyArray) -> Self:
        """One column per field."""
        if array.ndim != 1:
            raise InputError(f"X is a structured array with {array.ndim} dimensions; give one dimension.")
        labels = array.dtype.names or ()
        return cls(labels, [array[label] for label in labels], (type(array), array.dtype))

    @property
    def native(self) -> Any:
        return self._dicts() if self._structured is None else self._array(*self._structured)

    def _array(self, array_class: type[AnyArray], dtype: np.dtype[Any]) -> AnyArray:
        out = np.empty(len(self), dtype=dtype)
        for name, column in zip(self.names, self._columns, strict=True):
            out[name] = column
        return out.view(array_class)

    def _dicts(self) -> list[dict[Hashable, object]]:
        cells = [column.tolist() for column in self._columns]
        return [
            {label: cell for label, cell in zip(self._labels, row, strict=True) if cell is not _Absent.ABSENT}
            for row in zip(*cells, strict=True)
        ]

    def _like(self, columns: Sequence[AnyArray]) -> Self:
        return type(self)(self._labels, columns, self._structured)

    def __len__(self) -> int:
        return len(self._columns[0]) if self._columns else 0

    def column_type(self, j: int) -> ColumnType:
        return array_type(self._columns[j], self.names[j])

    def values(self, j: int) -> AnyArray:
        return array_values(self._columns[j], self.names[j])

    def column(self, j: int, values: AnyArray) -> AnyArray:
        return array_column(self._columns[j], self.names[j], values)

    def native_column(self, j: int) -> AnyArray:
        return self._columns[j]

    def gather(self, column: AnyArray, index: IntArray) -> AnyArray:
        return column[index]

    def take(self, rows: IntArray) -> Self:
        return self._like([column[rows] for column in self._columns])

    def head(self, n: int) -> Self:
        return self._like([column[:n] for column in self._columns])

    def replace(self, columns: Mapping[int, AnyArray]) -> Self:
        return self._like([columns.get(j, column) for j, column in enumerate(self._columns)])

    def from_columns(self, columns: Sequence[AnyArray]) -> Self:
        return self._like(columns)

    def select(self, positions: Sequence[int]) -> Self:
        labels = [self._labels[j] for j in positions]
        structured = self._structured
        if structured is not None:
            array_class, dtype = structured
            fields = [(self.names[j], dtype[self.names[j]]) for j in positions]
            structured = (array_class, np.dtype((dtype.type, np.dtype(fields))))
        return type(self)(labels, [self._columns[j] for j in positions], structured)
