"""Where along each feature a component has its entries, and a value that stands for each of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data, Feature
from pellucid.data.grid import snap, weighted_quantiles
from pellucid.explanations.component import Axis


@dataclass(frozen=True, eq=False)
class Grid:
    """An axis with a code that stands for each of its entries, NaN for missing."""

    axis: Axis
    codes: FloatArray

    @property
    def size(self) -> int:
        return self.axis.size


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
