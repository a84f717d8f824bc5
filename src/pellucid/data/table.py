"""Data: the reference table as every method sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.checks import is_position, is_whole
from pellucid.data.cells import missing_mask, object_type, objects_to_values
from pellucid.data.frames.doorway import as_frame, convert, is_series, library_of, wrapped
from pellucid.data.frames.frame import Frame
from pellucid.data.frames.numpy import NumpyFrame
from pellucid.data.frames.sparse import SparseFrame
from pellucid.data.row_labels import RowLabels, is_label, own_labels
from pellucid.data.schema import Categorical, LazyCodes, MatrixCodes, Schema, learn
from pellucid.errors import InputError

EXACT = 2.0**53  # beyond it a float is not every whole number


@dataclass(frozen=True, eq=False)
class Data:
    """A table with its schema, the codes of its columns, the outcome, the row weights and what the rows are called."""

    frame: Frame
    schema: Schema
    columns: Sequence[FloatArray]
    weights: FloatArray
    y: AnyArray | None = None
    caller: str = "pandas"
    row_labels: RowLabels = field(default_factory=RowLabels)

    @classmethod
    def of(
        cls,
        table: Any,
        y: Any = None,
        *,
        feature_names: Sequence[str] | None = None,
        categorical: Categorical | None = None,
        groups: Mapping[str, Sequence[str | int]] | None = None,
        sample_weight: Any = None,
        container: str | None = None,
        row_labels: RowLabels | None = None,
        labels: Mapping[str, str] | None = None,
        units: Mapping[str, str] | None = None,
    ) -> Data:
        """Learn a user's table; ``container`` is the kind of table the model wants, if not this one."""
        own = as_frame(table, feature_names)
        # Kinds are those of the caller's columns: an integer stays one inside a matrix of floats.
        schema, codes = learn(own, categorical=categorical, groups=groups, labels=labels, units=units)
        frame = own if container is None else convert(own, container)
        n = len(frame)
        index = own_labels(own)
        named = row_labels or RowLabels(np.arange(n) if index is None else index, np.arange(n))
        return cls(frame, schema, codes, _weights(sample_weight, n), _outcome(y, n), own.kind, named)

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def weighted(self) -> bool:
        """Whether the rows count unequally."""
        return bool((self.weights != self.weights[0]).any())

    @property
    def lean(self) -> bool:
        """Whether codes are made when they are looked at."""
        return isinstance(self.columns, LazyCodes)

    def codes(self, j: int) -> FloatArray:
        """Column ``j`` as codes (see `pellucid.data.schema`)."""
        return self.columns[j]

    def pool(self, j: int, codes: FloatArray) -> Any:
        """A native column that holds the given codes of feature ``j``, to be gathered from."""
        feature = self.schema.features[j]
        if feature.kind == "integer" and max(-feature.low, feature.high) > EXACT:
            rows = self._holding(j, codes)
            if rows is not None:
                return self.frame.gather(self.frame.native_column(j), rows)
        return self.frame.column(j, feature.plain(codes))

    def _holding(self, j: int, codes: FloatArray) -> IntArray | None:
        """Rows that have these codes; None unless all occur. Whole numbers beyond 2^53 have no code of their own, and a
        code made a number again could be one that never occurred.
        """
        own = self.codes(j)
        order = np.argsort(own, kind="stable")
        place = np.minimum(np.searchsorted(own[order], codes), len(own) - 1)
        rows = order[place]
        return rows if np.array_equal(own[rows], codes, equal_nan=True) else None

    def take(self, rows: IntArray) -> Data:
        """The same schema over some of the rows."""
        frame, columns = self.frame.take(rows), self.columns
        return replace(
            self,
            frame=frame,
            columns=(
                (replace(columns, frame=frame) if columns.frame is self.frame else columns.take(rows))
                if isinstance(columns, LazyCodes)
                else tuple(codes[rows] for codes in columns)
            ),
            weights=self.weights[rows],
            y=None if self.y is None else self.y[rows],
            row_labels=self.row_labels.take(rows),
        )

    def regrouped(self, groups: Mapping[str, tuple[int, ...]]) -> Data:
        """The same table with other groups of columns that act as one."""
        return replace(self, schema=replace(self.schema, groups=dict(groups)))

    @property
    def tenths(self) -> IntArray:
        """The tenth that each row belongs to, in turns; every tenth has rows that count."""
        counting = np.flatnonzero(self.weights > 0)
        part = np.zeros(len(self), dtype=np.intp)
        part[counting] = np.arange(len(counting)) % min(10, len(counting))
        return part

    def spread(self, limit: int) -> IntArray:
        """At most ``limit`` row positions, evenly spaced: the rows that quick checks look at."""
        if len(self) <= limit:
            return np.arange(len(self))
        return np.linspace(0, len(self) - 1, limit).astype(np.intp)

    def rows(self, rows: Any, copied: float = np.inf) -> Data:
        """Rows to explain: a position in X, a label of its index, a list (or Index) of either, or rows of one's own.

        Whole numbers are positions, text and dates are labels. Rows of one's own may be a dict, a Series, a
        one-dimensional array (one row, never positions), or a table of any kind; tables may have their columns in
        another order. They keep the labels that they come with.

        Rows of more than ``copied`` bytes are referred to where they lie, and no codes are held beside them.
        """
        if isinstance(rows, Data):
            return rows
        places = self.places(rows)
        if places is None:
            return self._foreign(rows, copied)
        if 8 * len(places) * len(self.schema.features) <= copied:
            return self.take(places)
        if np.array_equal(places, np.arange(len(self))):
            return self
        return replace(self, columns=LazyCodes(self.frame, self.schema.features)).take(places)

    def held(self) -> Data:
        """The same with its codes held, unless the table is sparse: for what looks at them row by row."""
        if not self.lean or self.frame.kind == "sparse":
            return self
        return replace(self, columns=tuple(self.columns[j] for j in range(len(self.columns))))

    def places(self, rows: Any) -> IntArray | None:
        """Positions in X of rows that are given by position or by label; None for rows of the caller's own."""
        if isinstance(rows, np.ndarray) and rows.ndim == 0 and rows.dtype.kind in "iu":
            rows = rows.item()
        index = "pandas" in library_of(rows) and hasattr(rows, "get_indexer")
        rows = rows.tolist() if index else rows
        if is_whole(rows) or is_label(rows):
            rows = [int(rows) if is_whole(rows) else rows]
        if isinstance(rows, range) or _are_positions(rows):
            # An index holds labels; where those are numbers that are no positions, it is labels that are meant.
            return self.row_labels.places(rows) if index and self._numbered else self._positions(rows)
        if index or (isinstance(rows, list | tuple) and all(is_label(row) for row in rows)):
            return self.row_labels.places(rows)
        return None

    @property
    def _numbered(self) -> bool:
        """Whether rows are labelled with whole numbers other than their positions."""
        labels = self.row_labels.labels
        return labels is not None and labels.dtype.kind == "i" and bool((labels != self.row_labels.positions).any())

    def _positions(self, rows: Sequence[int]) -> IntArray:
        if not len(rows):
            raise InputError("the list of rows to explain is empty; give at least one row.")
        positions = np.asarray(rows, dtype=np.intp)
        outside = positions[(positions < 0) | (positions >= len(self))]
        if outside.size:
            row, label = outside[0], ""
            if self._numbered and row in np.asarray(self.row_labels.labels):
                label = f" (whole numbers are positions; X.loc[[{row}]] is the row with that label)"
            raise InputError(f"row {row} is out of range: X has {len(self)} rows, 0 to {len(self) - 1}{label}.")
        return positions

    def like(self, table: Any, y: Any) -> Data:
        """Another table with its outcome, in the columns and types of this one."""
        other = self._foreign(table)
        return replace(other, y=_outcome(y, len(other)))

    def _foreign(self, rows: Any, copied: float = np.inf) -> Data:
        """Rows from outside, cast column by column to the types of the reference data."""
        incoming = _one_table(rows, self.schema.columns)
        labels = RowLabels(own_labels(incoming, rows, self.row_labels.column), None, self.row_labels.column)
        large = 8 * len(incoming) * len(self.schema.features) > copied
        return replace(self._cast(incoming, large), row_labels=labels)

    def _cast(self, incoming: Frame, large: bool) -> Data:
        if isinstance(incoming, SparseFrame) and isinstance(self.frame, SparseFrame):
            sparse = self.frame.adopt(incoming)
            return self._of_rows(sparse, LazyCodes(sparse, self.schema.features))
        if isinstance(incoming, NumpyFrame) and isinstance(self.frame, NumpyFrame) and self._are_codes(incoming):
            if large:
                return self._of_rows(incoming, LazyCodes(incoming, self.schema.features))
            return self._of_rows(self.frame.adopt(incoming), tuple(incoming.array.T.astype(np.float64, order="C")))
        place = {name: j for j, name in enumerate(incoming.names)}
        missing = [name for name in self.schema.columns if name not in place]
        if missing:
            raise InputError(f"the rows to explain lack the feature {missing[0]!r}; give every feature of X.")
        if large:
            return self._referred(incoming, tuple(place[name] for name in self.schema.columns))
        codes = tuple(feature.encode(incoming.values(place[feature.source])) for feature in self.schema.features)
        frame = self.frame.from_columns([self.pool(j, column) for j, column in enumerate(codes)])
        return self._of_rows(frame, codes)

    def _referred(self, incoming: Frame, places: tuple[int, ...]) -> Data:
        """Many rows from outside: the caller's own table where it is of the right types, and no codes beside it."""
        codes = LazyCodes(incoming, self.schema.features, places)
        if self.frame.alike(incoming):
            for j in range(len(codes)):
                codes[j]  # what a feature cannot be is said now
            return self._of_rows(incoming, codes)
        frame = self.frame.from_columns([self.pool(j, codes[j]) for j in range(len(codes))])
        return self._of_rows(frame, codes)

    def _are_codes(self, matrix: NumpyFrame) -> bool:
        """Whether the cells of a matrix need no look: floats for a table of such, where a number is its own code."""
        return (
            matrix.array.dtype == self.frame.native.dtype
            and self._holds_codes
            and matrix.names == self.schema.columns
            and not np.isinf(matrix.array).any()
        )

    @cached_property
    def _holds_codes(self) -> bool:
        """Whether a matrix holds floats that are all numbers: then each is its own code."""
        dtype = getattr(self.frame.native, "dtype", np.dtype(object))
        floats = dtype.kind == "f" and dtype.itemsize <= 8
        return floats and all(feature.kind == "numeric" for feature in self.schema.features)

    def mixed(self, generator: np.random.Generator) -> Data:
        """As many rows again, in which every column is shuffled by itself."""
        columns = {
            j: self.frame.gather(self.frame.native_column(j), generator.permutation(len(self)))
            for j in range(len(self.frame.names))
        }
        return self.like(self.frame.replace(columns), None)

    def of_codes(self, codes: FloatArray) -> Data:
        """Rows ``(n, features)`` of codes as a table of this type."""
        if isinstance(self.frame, NumpyFrame) and self._holds_codes:
            own = codes.copy()
            return self._of_rows(self.frame.holding(own), MatrixCodes(own))
        columns = tuple(np.ascontiguousarray(column) for column in codes.T)
        frame = self.frame.from_columns([self.pool(j, column) for j, column in enumerate(columns)])
        return self._of_rows(frame, columns)

    def joined(self, other: Data) -> Data:
        """These rows and, after them, others in the same columns and types, each as a row that counts."""
        assert self.y is not None
        assert other.y is not None
        codes = [np.concatenate([self.codes(j), other.codes(j)]) for j in range(len(self.schema.features))]
        both = self.of_codes(np.stack(codes, axis=1))
        weights = np.concatenate([self.weights, other.weights])
        return replace(both, weights=weights, y=np.concatenate([self.y, other.y.astype(self.y.dtype)]))

    def _of_rows(self, frame: Frame, columns: Sequence[FloatArray]) -> Data:
        lean = isinstance(columns, LazyCodes) and frame.kind != "sparse"
        ones = np.broadcast_to(1.0, len(frame)) if lean else np.ones(len(frame))
        return replace(self, frame=frame, columns=columns, weights=ones, y=None, row_labels=RowLabels())


def _are_positions(rows: Any) -> bool:
    return isinstance(rows, list | tuple) and all(is_position(row) for row in rows)


def _one_table(rows: Any, names: tuple[str, ...]) -> Frame:
    """A dict, Series, 1-D array or frame as a table."""
    if isinstance(rows, Mapping) or is_series(rows):
        rows = [rows]
    if isinstance(rows, np.ndarray) and rows.ndim == 0 and rows.dtype.names is None:
        raise InputError(
            f"the rows to explain are a single {rows.dtype} value; give a row position, or one value per feature."
        )
    if isinstance(rows, np.ndarray) and rows.ndim == 1 and rows.dtype.names is None:
        rows = rows.reshape(1, -1)
    width = getattr(rows, "shape", (0, len(names)))[-1] if _is_nameless(rows) else len(names)
    if width != len(names):
        raise InputError(
            f"the rows to explain have {width} values but X has {len(names)} features; give one value per feature (or"
            " row positions as a list)."
        )
    frame = wrapped(rows, names)
    if not len(frame):
        raise InputError("the table of rows to explain is empty; give at least one row.")
    return frame


def _is_nameless(rows: Any) -> bool:
    """Whether a table has no column names, so that its width must be right."""
    return "scipy" in library_of(rows) or (isinstance(rows, np.ndarray) and rows.dtype.names is None)


def plain_array(values: Any) -> AnyArray:
    """A numpy array from a Series, list or array of any library; a single column loses its second axis."""
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.dtype == object and array.ndim == 1 and object_type(array, "y").kind in ("integer", "numeric", "boolean"):
        return objects_to_values(array, "numeric") if missing_mask(array).any() else np.array(array.tolist())
    return array


def _outcome(y: Any, n: int) -> AnyArray | None:
    if y is None:
        return None
    outcome = plain_array(y)
    if outcome.ndim == 0 or len(outcome) != n:
        raise InputError(f"y has {outcome.size} values but X has {n} rows; give one outcome per row of X.")
    missing = missing_mask(outcome.ravel()) if outcome.dtype == object else outcome.ravel() != outcome.ravel()
    if missing.any():
        row = int(np.flatnonzero(missing)[0]) * n // missing.size
        raise InputError(f"y is missing in row {row}; drop the rows without an outcome.")
    return outcome


def _weights(sample_weight: Any, n: int) -> FloatArray:
    if sample_weight is None:
        return np.ones(n)
    try:
        weights = plain_array(sample_weight).astype(np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight must be numbers; give one weight per row.") from None
    if weights.shape != (n,):
        raise InputError(f"sample_weight has shape {weights.shape} but X has {n} rows; give one weight per row.")
    if not np.isfinite(weights).all() or (weights < 0).any():
        row = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
        raise InputError(f"sample_weight is {weights[row]} in row {row}; weights are zero or positive numbers.")
    if not weights.any():
        raise InputError("sample_weight is zero everywhere; at least one row must count.")
    return weights
