"""What a local model is made of: one readable column per feature, zero where a sample is like the row.

- a number, raw: how far the sample is from the row; its weight is the change of the prediction per unit (per day for
  dates);
- a number in bins: whether the sample is in the row's bin. Bins are quartiles or deciles of the data, the leaves of a
  small tree of the predictions on this feature (``"entropy"``), or edges of the caller's own;
- a category, or a number that the row lacks: whether the sample has the same;
- columns of the caller's own, computed from the samples (``space=function``, or one function for each name): principal
  components, sums, numbers or, as yes or no, statements about a row.

Inside, every column is the difference to the row in units of its spread: -1 for "not the same", z-scores for numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.data.frames.doorway import as_frame, is_series
from pellucid.data.grid import given_codes
from pellucid.data.schema import DAY, Feature
from pellucid.errors import InputError, nearest
from pellucid.methods.local.surrogate.neighbourhood import Distributions
from pellucid.stats import weighted_quantiles
from pellucid.words import value_name

Columns = Callable[[Any], Any]
Space = str | Mapping[str, Any] | Columns | tuple[Columns, Columns]
SPACES = ("raw", "quartile", "decile", "entropy")
_QUANTILES = {"quartile": 4, "decile": 10}
_LEAVES = 4


@dataclass(frozen=True, eq=False)
class Representation:
    """Columns of samples. ``edges[j]`` are the inner edges of a binned column, None for a raw one; ``levels`` are
    compared for equality; ``scale`` is the spread that one unit of a column stands for, ``unit`` what one unit of a
    weight does.
    """

    names: tuple[str, ...]
    features: tuple[Feature, ...] | None
    edges: tuple[FloatArray | None, ...]
    levels: BoolArray
    scale: FloatArray
    mean: FloatArray
    range: FloatArray
    unit: FloatArray
    own: Columns | None = None

    def values(self, data: Data) -> FloatArray:
        """The columns ``(rows, columns)`` as they stand, before they are compared with a row."""
        if self.own is not None:
            return _own_columns(self.own, data)[1]
        return np.stack([data.codes(j) for j in range(len(self.names))], axis=1)

    def apart(self, values: FloatArray, row: FloatArray) -> FloatArray:
        """Differences to the row, ``(samples, columns)``."""
        binary = self.binary(row)
        out = (values - row) / self.scale
        for j in np.flatnonzero(binary).tolist():
            cells, cell = self._bins(j, values[:, j]), self._bins(j, row[j : j + 1])[0]
            out[:, j] = np.where(cells == cell, 0.0, -1.0)
        return out

    def binary(self, row: FloatArray) -> BoolArray:
        """Which columns only say whether a sample is like the row."""
        binned = np.array([edges is not None for edges in self.edges])
        return np.asarray(self.levels | binned | np.isnan(row))

    def _bins(self, j: int, values: FloatArray) -> IntArray:
        """The bin or level of each value; missing is one of its own."""
        edges = self.edges[j]
        missing = np.isnan(values)
        if edges is not None:
            return np.where(missing, -1, np.searchsorted(edges, values, side="left")).astype(np.intp)
        if self.levels[j]:
            return np.where(missing, -1, np.where(missing, 0.0, values)).astype(np.intp)
        return missing.astype(np.intp)

    def per_unit(self, row: FloatArray) -> FloatArray:
        """What turns a coefficient into a weight: per unit of a number, as it is for a yes or no."""
        return np.where(self.binary(row), 1.0, self.unit / self.scale)

    def encoded(self, row: FloatArray) -> FloatArray:
        """The row in the units of the weights: its number, or one for what it is."""
        return np.where(self.binary(row), 1.0, np.nan_to_num(row) / self.unit)

    def place(self, row: FloatArray) -> FloatArray:
        """Where the row lies, numbers in z-scores."""
        return np.where(self.binary(row), 1.0, (np.nan_to_num(row) - self.mean) / self.scale)

    def span(self, row: FloatArray) -> FloatArray:
        """The range of the data in units of the columns."""
        return np.where(self.binary(row) | ~(self.range > 0), 1.0, self.range / self.scale)

    def cells(self, values: FloatArray) -> tuple[AnyArray, ...]:
        """The columns of the caller's own as they are shown: numbers, and yes or no."""
        return tuple(
            column.astype(np.bool_) if statement else column
            for column, statement in zip(values.T, self.levels, strict=True)
        )

    def conditions(self, row: FloatArray) -> tuple[str, ...]:
        """For each column the bin that the row is in, in words; empty for others."""
        return tuple(self._condition(j, float(row[j])) for j in range(len(self.names)))

    def _condition(self, j: int, value: float) -> str:
        edges, name = self.edges[j], self.names[j]
        if edges is None or np.isnan(value) or not len(edges):
            return ""
        feature = None if self.features is None else self.features[j]
        ends = edges if feature is None else feature.decode(edges)
        at = int(np.searchsorted(edges, value, side="left"))
        if at == 0:
            return f"{name} \u2264 {value_name(ends[0])}"
        if at == len(edges):
            return f"{name} > {value_name(ends[-1])}"
        return f"{value_name(ends[at - 1])} < {name} \u2264 {value_name(ends[at])}"


def representation(data: Data, known: Distributions, space: Space) -> Representation:
    """The columns of a space that needs no predictions; "entropy" is filled in by `entropy_edges`."""
    features = data.schema.features
    levels = np.array([feature.nominal for feature in features])
    plain = Representation(
        names=data.schema.names,
        features=features,
        edges=(None,) * len(features),
        levels=levels,
        scale=known.scale,
        mean=known.mean,
        range=np.array([f.high - f.low if not f.nominal else 1.0 for f in features]),
        unit=np.array([DAY if feature.kind == "date" else 1.0 for feature in features]),
    )
    own = own_space(space)
    if own is not None:
        names, values, statements = _own_columns(own, data)
        share = data.weights / data.weights.sum()
        mean = share @ values
        sd = np.sqrt(share @ np.square(values - mean))
        return Representation(
            names=names,
            features=None,
            edges=(None,) * len(names),
            levels=statements,
            scale=np.where(sd > 0, sd, 1.0),
            mean=mean,
            range=np.ptp(values, axis=0),
            unit=np.ones(len(names)),
            own=own,
        )
    return replace(plain, edges=tuple(_edges(data, j, how) for j, how in enumerate(by_feature(data, space))))


def own_space(space: Any) -> Columns | None:
    """The function that makes the caller's own columns, None for a space that is made of the features."""
    if not isinstance(space, Mapping):
        return space if callable(space) else None
    functions = {str(name): how for name, how in space.items() if callable(how)}
    if not functions:
        return None
    if len(functions) < len(space):
        other = next(name for name, how in space.items() if not callable(how))
        raise InputError(
            f"space= has functions and, for {other!r}, something else; give functions for all names (columns of your"
            " own), or bins for features."
        )
    return lambda table: {name: np.ravel(np.asarray(make(table))) for name, make in functions.items()}


def by_feature(data: Data, space: Any) -> list[Any]:
    """How each feature is shown: "raw", the name of a rule, or edges."""
    features = data.schema.features
    if not isinstance(space, Mapping):
        if space not in SPACES:
            raise InputError(
                f"space={space!r} is not known{nearest(str(space), SPACES)} A dict gives one for each feature, a"
                " function columns of your own."
            )
        return ["raw" if feature.nominal else space for feature in features]
    ways: list[Any] = ["raw"] * len(features)
    for name, how in space.items():
        j = data.schema.index(name)
        if features[j].nominal:
            raise InputError(f"space= has bins for {features[j].name!r}, which is {features[j].kind}; leave it out.")
        if isinstance(how, str) and how not in SPACES:
            raise InputError(f"space= has {how!r} for {features[j].name!r}{nearest(how, SPACES)}")
        ways[j] = how
    return ways


def _edges(data: Data, j: int, how: Any) -> FloatArray | None:
    """The inner edges of a feature's bins."""
    feature = data.schema.features[j]
    if isinstance(how, str) and (how in ("raw", "entropy") or feature.empty):
        return None
    if isinstance(how, str):
        count = _QUANTILES[how]
        levels = np.linspace(0.0, 1.0, count + 1)[1:-1]
        edges = np.unique(weighted_quantiles(data.codes(j), levels, data.weights))
        return edges[edges < feature.high]
    try:
        edges = given_codes(feature, how)
    except InputError as error:  # which speaks of a grid
        raise InputError(
            f"space= has edges for {feature.name!r} that are no values of it: {how!r}; give at least one, ascending, or"
            " 'quartile', 'decile', 'entropy'."
        ) from error
    if (np.diff(edges) <= 0).any():
        raise InputError(f"space= has edges for {feature.name!r} that do not ascend; give them in order.")
    return edges


def entropy_edges(
    found: Representation, ways: Sequence[Any], values: FloatArray, answers: FloatArray
) -> Representation:
    """Bins from small trees of the predictions, one feature at a time."""
    from sklearn.tree import DecisionTreeRegressor  # on use: slow to import

    spread = answers.std(axis=0)
    scaled = answers / np.where(spread > 0, spread, 1.0)
    edges = list(found.edges)
    for j, how in enumerate(ways):
        known = ~np.isnan(values[:, j])
        if isinstance(how, str) and how == "entropy" and known.any():
            tree = DecisionTreeRegressor(max_leaf_nodes=_LEAVES, min_samples_leaf=0.05, random_state=0)
            tree.fit(values[known, j : j + 1], scaled[known])
            splits = tree.tree_.threshold[tree.tree_.feature >= 0]
            edges[j] = np.sort(splits)
    return replace(found, edges=tuple(edges))


def _own_columns(space: Columns, data: Data) -> tuple[tuple[str, ...], FloatArray, BoolArray]:
    """The caller's columns of a table: names, numbers, and which of them are statements that hold or not."""
    names, columns = _named(space(data.frame.native))
    n = len(columns[0])
    if any(len(column) != len(data) for column in columns) or not all(_numbers(column) for column in columns):
        raise InputError(
            f"space= gave {n} rows for {len(data)}, or columns that are no finite numbers; return a table with one row"
            " per row, of numbers or of yes and no (bool)."
        )
    statements = np.array([column.dtype.kind == "b" for column in columns])
    return names, np.stack([column.astype(np.float64) for column in columns], axis=1), statements


def _named(found: Any) -> tuple[tuple[str, ...], list[AnyArray]]:
    """Names and columns of what a function returned: a table, one column, or columns by their names."""
    if isinstance(found, Mapping):
        return tuple(found), [np.asarray(column) for column in found.values()]
    if is_series(found) or (isinstance(found, np.ndarray) and found.ndim == 1):
        return (str(getattr(found, "name", None) or "x0"),), [np.asarray(found)]
    frame = as_frame(found)
    return frame.names, [np.asarray(frame.values(j)) for j in range(len(frame.names))]


def _numbers(column: AnyArray) -> bool:
    return column.dtype.kind in "fiub" and bool(np.isfinite(column.astype(np.float64)).all())
