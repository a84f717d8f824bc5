"""Data: the reference table as every method sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.data.doorway import as_frame, convert, library_of
from pellucid.data.frame import Frame, is_missing
from pellucid.data.schema import Schema, learn
from pellucid.errors import InputError


@dataclass(frozen=True, eq=False)
class Data:
    """A table with its schema, the codes of its columns, the outcome and the row weights."""

    frame: Frame
    schema: Schema
    columns: tuple[FloatArray, ...]
    weights: FloatArray
    y: AnyArray | None = None
    caller: str = "pandas"

    @classmethod
    def of(
        cls,
        table: Any,
        y: Any = None,
        *,
        feature_names: Sequence[str] | None = None,
        categorical: Sequence[str | int] | None = None,
        groups: Mapping[str, Sequence[str | int]] | None = None,
        sample_weight: Any = None,
        container: str | None = None,
    ) -> Data:
        """Learn a user's table; ``container`` is the kind of table the model wants, if not this one."""
        frame = as_frame(table, feature_names)
        caller = frame.kind
        if container is not None:
            frame = convert(frame, container)
        schema, codes = learn(frame, categorical=categorical, groups=groups)
        return cls(
            frame,
            schema,
            tuple(codes),
            _weights(sample_weight, len(frame)),
            _outcome(y, len(frame)),
            caller,
        )

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def weighted(self) -> bool:
        """Whether the rows count unequally."""
        return bool((self.weights != self.weights[0]).any())

    def codes(self, j: int) -> FloatArray:
        """Column ``j`` as codes (see `pellucid.data.schema`)."""
        return self.columns[j]

    def pool(self, j: int, codes: FloatArray) -> Any:
        """A native column that holds the given codes of feature ``j``, to be gathered from."""
        return self.frame.column(j, self.schema.features[j].plain(codes))

    def take(self, rows: IntArray) -> Data:
        """The same schema over some of the rows."""
        return replace(
            self,
            frame=self.frame.take(rows),
            columns=tuple(codes[rows] for codes in self.columns),
            weights=self.weights[rows],
            y=None if self.y is None else self.y[rows],
        )

    def spread(self, limit: int) -> IntArray:
        """At most ``limit`` row positions, evenly spaced: the rows that quick checks look at."""
        if len(self) <= limit:
            return np.arange(len(self))
        return np.linspace(0, len(self) - 1, limit).astype(np.intp)

    def rows(self, rows: Any) -> Data:
        """Rows to explain: positions in X, or rows of the caller's own (frame, Series, dict, array)."""
        if isinstance(rows, int | np.integer) and not isinstance(rows, bool):
            return self.take(self._positions([int(rows)]))
        if _is_position_list(rows):
            return self.take(self._positions(rows))
        return self._foreign(rows)

    def _positions(self, rows: Sequence[int]) -> IntArray:
        for row in rows:
            if not 0 <= row < len(self):
                raise InputError(
                    f"row {row} is out of range: X has {len(self)} rows, 0 to {len(self) - 1}."
                )
        return np.asarray(rows, dtype=np.intp)

    def _foreign(self, rows: Any) -> Data:
        """Rows from outside, cast column by column to the types of the reference data."""
        incoming = _one_table(rows, self.schema.names)
        missing = [name for name in self.schema.names if name not in incoming.names]
        if missing:
            raise InputError(
                f"the rows to explain lack the feature {missing[0]!r}; give every feature of X."
            )
        positions = [incoming.names.index(name) for name in self.schema.names]
        plain = [incoming.values(j) for j in positions]
        frame = self.frame.from_columns([self.frame.column(j, values) for j, values in enumerate(plain)])
        codes = tuple(
            feature.encode(values) for feature, values in zip(self.schema.features, plain, strict=True)
        )
        return replace(self, frame=frame, columns=codes, weights=np.ones(len(frame)), y=None)


def _is_position_list(rows: Any) -> bool:
    if isinstance(rows, range):
        return True
    if isinstance(rows, np.ndarray):
        return rows.ndim == 1 and rows.dtype.kind in "iu"
    return (
        isinstance(rows, Sequence)
        and bool(len(rows))
        and all(isinstance(row, int | np.integer) for row in rows)
    )


def _one_table(rows: Any, names: tuple[str, ...]) -> Frame:
    """A dict, Series, 1-D array or frame as a table."""
    if isinstance(rows, Mapping):
        return as_frame([rows])
    if "pandas" in library_of(rows) and rows.ndim == 1:
        return as_frame([{str(key): value for key, value in rows.items()}])
    if isinstance(rows, np.ndarray) and rows.ndim == 1 and rows.dtype.names is None:
        rows = rows.reshape(1, -1)
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.shape[1] != len(names):
        raise InputError(
            f"the rows to explain have {rows.shape[1]} values but X has {len(names)} features."
        )
    return as_frame(rows, names)


def plain_array(values: Any) -> AnyArray:
    """A one-dimensional numpy array from a Series, list or array of any library."""
    array = np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    return array


def _outcome(y: Any, n: int) -> AnyArray | None:
    if y is None:
        return None
    outcome = plain_array(y)
    if len(outcome) != n:
        raise InputError(f"y has {len(outcome)} values but X has {n} rows; give one outcome per row of X.")
    flat = outcome.ravel().tolist()
    for position, value in enumerate(flat):
        if is_missing(value):
            raise InputError(
                f"y is missing in row {position * n // len(flat)}; drop the rows without an outcome."
            )
    return outcome


def _weights(sample_weight: Any, n: int) -> FloatArray:
    if sample_weight is None:
        return np.ones(n)
    weights = plain_array(sample_weight).astype(np.float64)
    if weights.shape != (n,):
        raise InputError(
            f"sample_weight has shape {weights.shape} but X has {n} rows; give one weight per row."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        row = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
        raise InputError(
            f"sample_weight is {weights[row]} in row {row}; weights are zero or positive numbers."
        )
    if not weights.any():
        raise InputError("sample_weight is zero everywhere; at least one row must count.")
    return weights
