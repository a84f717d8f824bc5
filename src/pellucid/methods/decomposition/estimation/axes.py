"""Which components a decomposition has, where along each feature they have their entries, and a value that stands for
each of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import Any, Literal

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data, Feature
from pellucid.data.grid import snap
from pellucid.errors import InputError
from pellucid.explanations.component import Axis
from pellucid.stats import weighted_quantiles

MOST = 3  # features in one component: more can neither be drawn nor estimated
_MANY = 5_000
BUDGET = 2_000_000  # model rows that are asked for without being told to
_ABSURD = 50_000_000
FEWEST = 200  # rows to average over
_KNOTS = ((32, 10, 5), (32, 9, 4), (24, 8, 4), (24, 7, 4), (20, 6, 3), (16, 5, 3))  # in parts of 1, 2, 3 features

Subset = tuple[int, ...]


# -- which components a decomposition has ----------------------------------------------------------


def subsets(data: Data, features: Any, order: int) -> list[Subset]:
    """Positions of the features of every component, single features first."""
    chosen = chosen_features(data, features)
    _check(order, len(chosen))
    counts = sum(comb(len(chosen), k) for k in range(1, order + 1))
    if counts > _MANY:
        raise InputError(
            f"order={order} of {len(chosen)} features has {counts:,} components; give fewer features (features=[...])"
            " or a lower order."
        )
    return [subset for k in range(1, min(order, len(chosen)) + 1) for subset in combinations(chosen, k)]


def chosen_features(data: Data, features: Any) -> Subset:
    """Positions, in the order of the columns, of all features or of those named; a group names its members."""
    if features is None:
        return tuple(range(len(data.schema.features)))
    single = isinstance(features, str | int | np.integer) or not isinstance(features, Iterable)
    named: list[int] = []
    for feature in [features] if single else list(features):
        group = data.schema.groups.get(feature) if isinstance(feature, str) else None
        named.extend((data.schema.index(feature),) if group is None else group)
    if not named:
        raise InputError("features=[] names no feature; give at least one, or leave it out for all.")
    twice = [j for k, j in enumerate(named) if j in named[:k]]
    if twice:
        raise InputError(f"feature {data.schema.names[twice[0]]!r} is given twice in features=; name each once.")
    return tuple(sorted(named))


def _check(order: int, p: int) -> None:
    if order > MOST:
        raise InputError(
            f"order={order} is not offered: {p} features have 2^{p} = {2**p:,} components in all, of which those of"
            f" more than {MOST} features can be neither drawn nor estimated; use order={MOST} and read the residual."
        )


# -- along one feature --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Grid:
    """An axis with a code that stands for each of its entries, NaN for missing."""

    axis: Axis
    codes: FloatArray

    @property
    def size(self) -> int:
        return self.axis.size


Grids = Mapping[Subset, tuple[Grid, ...]]


def make_axis(
    feature: Feature, kind: Literal["knots", "cells", "levels"], points: FloatArray, *, missing: bool | None = None
) -> Axis:
    """An axis of a feature; the place for missing values is there where the feature is ever missing."""
    return Axis(
        name=feature.name,
        kind=kind,
        points=points,
        low=feature.low,
        high=feature.high,
        missing=feature.missing > 0 if missing is None else missing,
        feature_kind=feature.kind,
        categories=feature.categories,
    )


def entries(axis: Axis, codes: FloatArray) -> Grid:
    """A grid from the codes that stand for the values that are present."""
    return Grid(axis, np.append(codes, np.nan) if axis.missing else codes)


def levels(feature: Feature, codes: FloatArray) -> Grid:
    """Every category, or every value of a feature without distances; none if it is always missing."""
    if feature.categories is not None:
        points = np.arange(float(len(feature.categories)))
    else:
        points = np.unique(codes[~np.isnan(codes)])
    return entries(make_axis(feature, "levels", points), points)


def knots(data: Data, j: int, size: int) -> Grid:
    """Every value if there are at most ``size``; else half at quantiles, half evenly from least to greatest; or
    levels.
    """
    feature, codes = data.schema.features[j], data.codes(j)
    if feature.nominal or feature.empty:
        return levels(feature, codes)
    points = np.unique(codes[~np.isnan(codes)]) if feature.distinct <= size else spread_points(data, j, size)
    return entries(make_axis(feature, "knots", points), points)


def spread_points(data: Data, j: int, size: int) -> FloatArray:
    """Values of which half lie at equal distances from least to greatest, for the tails, and half where the data
    are.
    """
    feature = data.schema.features[j]
    even = snap(feature, np.linspace(feature.low, feature.high, max(size - size // 2, 2)))
    inner = weighted_quantiles(data.codes(j), np.linspace(0.0, 1.0, size // 2 + 2)[1:-1], data.weights)
    return np.unique(np.concatenate([even, inner]))


def coarser(grid: Grid, size: int) -> Grid:
    """At most ``size`` of the knots, the ends among them; levels and cells stay."""
    points = grid.axis.points
    if grid.axis.kind != "knots" or len(points) <= size:
        return grid
    kept = points[np.unique(np.linspace(0, len(points) - 1, max(size, 2)).round().astype(np.intp))]
    return entries(replace(grid.axis, points=kept), kept)


def cells(feature: Feature, cuts: FloatArray) -> Grid:
    """Constant between cuts, all of which lie in the range of the data; the middle stands for each cell.

    Of a feature with whole numbers the cuts are whole too, and the cut stands for the cell that it ends.
    """
    if feature.kind == "integer":
        cuts = np.unique(np.floor(cuts))
    axis = make_axis(feature, "cells", cuts)
    start, end = np.append(feature.low, cuts), np.append(cuts, feature.high)
    middle = end if feature.kind == "integer" else start + (end - start) / 2
    return entries(axis, np.where((middle > start) | (start == feature.low), middle, end))


def fewer_cuts(data: Data, j: int, grid: Grid, most: int) -> Grid:
    """At most ``most`` of the cuts, spread evenly over the rows; the median row stands for each cell."""
    cuts = grid.axis.points
    if grid.axis.kind != "cells" or len(cuts) <= most:
        return grid
    codes, weights = data.codes(j), data.weights
    counted = ~np.isnan(codes) & (weights > 0)
    codes, weights = codes[counted], weights[counted]
    order = np.argsort(codes, kind="stable")
    mass = np.append(0.0, np.cumsum(weights[order]))
    below = mass[np.searchsorted(codes[order], cuts, side="right")] / mass[-1]
    wanted = np.arange(1, most + 1) / (most + 1)
    kept = cuts[np.unique(np.abs(below[None, :] - wanted[:, None]).argmin(axis=1))]
    axis = replace(grid.axis, points=kept)
    return entries(axis, _medians(codes, weights, np.searchsorted(kept, codes), cells(data.schema.features[j], kept)))


def _medians(codes: FloatArray, weights: FloatArray, cell: IntArray, plain: Grid) -> FloatArray:
    """The weighted median of the rows in each cell; the middle of the cell where there are none."""
    middle = plain.codes[: plain.axis.present].copy()
    for k in np.unique(cell):
        middle[k] = weighted_quantiles(codes[cell == k], np.array([0.5]), weights[cell == k])[0]
    return middle


# -- the grids of all components ---------------------------------------------------------------------


def entries_of(grids: Grids) -> int:
    """How many entries all components have together."""
    return sum(int(np.prod([grid.size for grid in own], dtype=np.int64)) for own in grids.values())


def knot_grids(
    data: Data, wanted: Sequence[Subset], grid: int | None, make: Callable[[Data, int, int], Grid] = knots
) -> Grids:
    """Knots of every component, fewer for several features than for one, and those among the knots of fewer.

    ``grid`` gives their number; without it there are as many as `BUDGET` allows, each asked for in `FEWEST` rows.
    """
    choices = _KNOTS if grid is None else ((int(grid),) * 3,)
    made: Grids = {}
    for sizes in choices:
        made = _knots(data, wanted, sizes, make)
        if entries_of(made) * FEWEST <= BUDGET:
            break
    if entries_of(made) * FEWEST > _ABSURD:
        raise InputError(
            f"{len(wanted):,} components would need predictions for {entries_of(made) * FEWEST:,} rows; give fewer"
            " features (features=[...]), a lower order or a smaller grid."
        )
    return made


def _knots(data: Data, wanted: Sequence[Subset], sizes: Sequence[int], make: Callable[[Data, int, int], Grid]) -> Grids:
    by_order: dict[tuple[int, int], Grid] = {}
    for j in sorted({j for subset in wanted for j in subset}):
        grid = make(data, j, sizes[0])
        for order, size in enumerate(sizes, start=1):
            grid = by_order[j, order] = coarser(grid, size)
    return {subset: tuple(by_order[j, len(subset)] for j in subset) for subset in wanted}
