"""The points at which a generalised decomposition is fitted: they say where the function counts.

``"data"``: the rows themselves, with their weights. ``"uniform"``: a scrambled Sobol sample, uniform over the ranges of
the features and over their levels, whatever is correlated in the data. ``"support"``: that sample without the regions
that hold no data. There a point is kept when the row nearest to it is no farther than 95% of rows are from theirs, with
numbers divided by their ranges and different levels at distance one.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.data import Data
from pellucid.errors import InputError
from pellucid.methods.decomposition.estimation.measure import uniform_codes
from pellucid.runner import Run

Density = Literal["data", "uniform", "support"]

MOST_ROWS = 20_000
_POWER = 13
_POINTS = 2**_POWER
_ASKED = 15  # power of two, in a round
_ROUNDS = 12
_FEWEST = 200
_NEIGHBOURS = 5_000  # rows that stand for the data
_USUAL = 0.95


def points_of(data: Data, density: Density, run: Run, *, most: int = MOST_ROWS) -> Data:
    """The points as a table with weights, for data whose rows all count."""
    if density == "data":
        return data if len(data) <= most else data.take(data.spread(most))
    if density == "uniform":
        return data.of_codes(uniform_codes(data, _POWER, run.generator("decompose.uniform"), seen=True))
    if density == "support":
        return data.of_codes(_near(data, run))
    raise InputError(f"density={density!r} is not known; use 'data', 'uniform' or 'support'.")


def different(points: Data, columns: tuple[int, ...]) -> int:
    """How many of the points differ in the given columns: copies of a row tell nothing new about a function."""
    if not columns:
        return 1
    codes = np.column_stack([points.codes(j) for j in columns])
    return len(np.unique(np.where(np.isnan(codes), np.inf, codes), axis=0))


def _near(data: Data, run: Run) -> FloatArray:
    """Uniform points near the data; at most so many, and an error when hardly any is."""
    kept: list[FloatArray] = []
    nearby = _Nearby(data)
    for round_ in range(_ROUNDS):
        codes = uniform_codes(data, _ASKED, run.generator("decompose.support", round_), seen=True)
        kept.append(codes[nearby.holds(codes)])
        if sum(map(len, kept)) >= _POINTS:
            break
    points = np.concatenate(kept)[:_POINTS]
    if len(points) < _FEWEST:
        raise InputError(
            f"density='support': only {len(points)} of {_ROUNDS * 2**_ASKED:,} uniform points lie near the data,"
            f" because {len(data.schema.features)} features leave most of the space empty; use density='data', or"
            " explain a model of fewer features."
        )
    return points


class _Nearby:
    """Which points have a row about as near as rows have each other."""

    def __init__(self, data: Data) -> None:
        from scipy.spatial import cKDTree  # on use: scipy.spatial is slow to import

        self._data = data
        rows = data.take(data.spread(_NEIGHBOURS))
        codes = np.column_stack([rows.codes(j) for j in range(len(data.schema.features))])
        real = np.unique(self._scaled(codes), axis=0)  # a copy is no neighbour
        self._tree = cKDTree(real)
        own = np.asarray(self._tree.query(real, k=2)[0])[:, 1] if len(real) > 1 else np.zeros(1)
        self._reach = float(np.quantile(own, _USUAL)) + 1e-12

    def holds(self, codes: FloatArray) -> BoolArray:
        """Whether each point is kept."""
        distance, _ = self._tree.query(self._scaled(codes), k=1, distance_upper_bound=self._reach * (1 + 1e-9))
        return np.isfinite(distance)

    def _scaled(self, codes: FloatArray) -> FloatArray:
        columns: list[FloatArray] = []
        for j, feature in enumerate(self._data.schema.features):
            if feature.empty:
                continue
            if feature.nominal and feature.kind != "ordered":
                levels = np.arange(feature.high + 1)
                columns.append((codes[:, j, None] == levels) * np.sqrt(0.5))
            else:
                width = feature.high - feature.low
                scaled = (codes[:, j, None] - feature.low) / (width if width > 0 else 1.0)
                columns.append(np.where(np.isnan(scaled), 2.0, scaled))  # missing is far from every value
        return np.hstack(columns) if columns else np.zeros((len(codes), 1))
