"""The uniform measure over the ranges of the features: every number between the least and the greatest, every whole
number of those for integers, and every level, equally likely and independent of the other features.

Missing values have no share in it, unless a feature is always missing; components have a value there all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data, Feature
from pellucid.data.grid import snap
from pellucid.explanations.component import Check, Component
from pellucid.methods.decomposition.estimation.axes import Grid, Subset, entries, levels, make_axis, spread_points
from pellucid.methods.decomposition.estimation.components import Variances, axiom_checks
from pellucid.runner import Run


@dataclass(frozen=True, eq=False)
class Measured:
    """A grid with the integrals of the products of its entries' functions: ``mass`` (entries, entries).

    The function of an entry is 1 there and 0 at the other entries; together they are 1 everywhere, so that the sums of
    the rows of ``mass`` are the integrals of the functions themselves.
    """

    grid: Grid
    mass: FloatArray

    @property
    def weights(self) -> FloatArray:
        return np.asarray(self.mass.sum(axis=1))


Measures = Mapping[Subset, tuple[Measured, ...]]


def point_measure(grid: Grid, weights: FloatArray) -> Measured:
    """Each entry counts by itself."""
    full = np.zeros(grid.size)
    if grid.axis.present:
        full[: grid.axis.present] = weights / weights.sum()
    else:
        full[-1] = 1.0
    return Measured(grid, np.diag(full))


def nodes(data: Data, j: int, size: int) -> Measured:
    """The points of Gauss and Legendre between least and greatest, and these two, which do not count."""
    feature = data.schema.features[j]
    if feature.nominal or feature.empty:
        grid = levels(feature, data.codes(j))
        return point_measure(grid, np.ones(grid.axis.present))
    if feature.kind == "integer" and feature.high - feature.low < size + 2:
        points = np.arange(feature.low, feature.high + 1, dtype=np.float64)
        return point_measure(entries(make_axis(feature, "knots", points), points), np.ones(len(points)))
    at, weight = np.polynomial.legendre.leggauss(size)
    inner = snap(feature, feature.low + (feature.high - feature.low) * (at + 1) / 2)
    points, place = np.unique(np.concatenate([[feature.low], inner, [feature.high]]), return_inverse=True)
    weights = np.asarray(np.bincount(place, weights=np.concatenate([[0.0], weight, [0.0]])), dtype=np.float64)
    return point_measure(entries(make_axis(feature, "knots", points), points), weights)


def given_nodes(data: Data, j: int, points: FloatArray) -> Measured:
    """Points of one's own, each as likely."""
    feature = data.schema.features[j]
    if feature.nominal:
        known = levels(feature, data.codes(j))
        return point_measure(known, np.isin(known.axis.points, points).astype(np.float64))
    feature = replace(feature, low=float(points[0]), high=float(points[-1]))
    return point_measure(entries(make_axis(feature, "knots", points), points), np.ones(len(points)))


def range_knots(data: Data, j: int, size: int) -> Grid:
    """Knots all over the range, however few values occur, or levels."""
    feature = data.schema.features[j]
    if feature.nominal or feature.empty:
        return levels(feature, data.codes(j))
    points = spread_points(data, j, size)
    return entries(make_axis(feature, "knots", points), points)


def between_knots(feature: Feature, grid: Grid) -> Measured:
    """Straight lines between knots: the integrals of products of neighbouring hat functions."""
    points = grid.axis.points
    every = feature.kind == "integer" and len(points) == feature.high - feature.low + 1
    if grid.axis.kind == "levels" or every or len(points) < 2:
        return point_measure(grid, np.ones(grid.axis.present))
    width = np.diff(points) / (points[-1] - points[0])
    mass, at = np.zeros((grid.size, grid.size)), np.arange(len(width))
    np.add.at(mass, (at, at), width / 3)
    np.add.at(mass, (at + 1, at + 1), width / 3)
    mass[at, at + 1] = mass[at + 1, at] = width / 6
    return Measured(grid, mass)


def in_cells(feature: Feature, grid: Grid) -> Measured:
    """Cells count by their width, those of integers by the whole numbers in them."""
    if grid.axis.kind == "levels":
        return point_measure(grid, np.ones(grid.axis.present))
    cuts = grid.axis.points
    start, end = np.append(feature.low, cuts), np.append(cuts, feature.high)
    if feature.kind == "integer":
        start[0] -= 1.0
    widths = end - start
    return point_measure(grid, widths if widths.any() else np.ones(len(widths)))


def draw(data: Data, power: int, run: Run, key: int) -> Data:
    """2^power rows of the uniform measure."""
    return data.of_codes(uniform_codes(data, power, run.generator("anova.points", key)))


def uniform_codes(data: Data, power: int, generator: np.random.Generator, *, seen: bool = False) -> FloatArray:
    """Codes ``(2^power, features)`` of the uniform measure, with all levels or only those ``seen`` in the data: a
    scrambled Sobol sequence, whose dimensions follow the names of the features.
    """
    from scipy.stats import qmc  # on use: scipy.stats is slow to import

    points = qmc.Sobol(len(data.schema.features), scramble=True, seed=generator).random_base2(power)
    codes = np.empty(points.shape)
    for dimension, j in enumerate(np.argsort(np.array(data.schema.columns, dtype=object))):
        codes[:, j] = _mapped(data.schema.features[j], data.codes(j), points[:, dimension], seen)
    return codes


def _mapped(feature: Feature, codes: FloatArray, share: FloatArray, seen: bool) -> FloatArray:
    """Numbers between 0 and 1 as values of a feature."""
    if feature.empty:
        return np.full(len(share), np.nan)
    if feature.nominal:
        points = np.unique(codes[~np.isnan(codes)]) if seen else levels(feature, codes).axis.points
        return points[np.minimum((share * len(points)).astype(np.intp), len(points) - 1)]
    if feature.kind == "integer":
        return np.minimum(feature.low + np.floor(share * (feature.high - feature.low + 1)), feature.high)
    return snap(feature, feature.low + share * (feature.high - feature.low))


# -- integrals of tables -------------------------------------------------------------------------------


def mean_along(table: FloatArray, axis: int, measured: Measured) -> FloatArray:
    """The integral of a table along one axis, which is kept with a single entry."""
    return np.expand_dims(np.tensordot(measured.weights, table, axes=(0, axis)), axis)


def product_mean(a: FloatArray, b: FloatArray, measured: Sequence[Measured]) -> FloatArray:
    """The integral of the product of two tables over the same axes: ``(outputs,)``."""
    for axis, own in enumerate(measured):
        b = np.moveaxis(np.tensordot(own.mass, b, axes=(1, axis)), 0, axis)
    return np.asarray((a * b).reshape(-1, a.shape[-1]).sum(axis=0))


def function_variance(f: FloatArray, first: FloatArray, second: FloatArray, parts: FloatArray) -> FloatArray:
    """The variance of the function from its values at a sample, with the sums of two estimates of the components there.

    The covariance of these sums at the sample is replaced by what it estimates, the integrals ``parts`` (components,
    outputs): what is left to chance is only what the components leave over.
    """
    sampled = ((first - first.mean(axis=0)) * (second - second.mean(axis=0))).mean(axis=0)
    return np.asarray(f.var(axis=0) - sampled + parts.sum(axis=0))


def axioms(
    components: Sequence[Component], measures: Sequence[tuple[Measured, ...]], variances: Variances, tolerance: float
) -> tuple[Check, ...]:
    """Zero means, orthogonality and the sum of the variances under the uniform measure.

    If every component averages to zero along each of its features then any two are orthogonal: how far they can be from
    it is bounded by what is left of these averages times the size of the largest component.
    """
    total = np.where(variances.total > 0, variances.total, np.inf)
    means, left = np.zeros((2, len(components), len(total)))
    for k, (part, measured) in enumerate(zip(components, measures, strict=True)):
        whole = part.table
        for axis, own in enumerate(measured):
            along = mean_along(part.table, axis, own)
            rest = [m for place, m in enumerate(measured) if place != axis]
            flat = along.squeeze(axis)
            left[k] = np.maximum(left[k], np.sqrt(np.maximum(product_mean(flat, flat, rest), 0.0)))
            whole = mean_along(whole, axis, own)
        means[k] = np.abs(whole.reshape(-1))
    mean = float((means / np.sqrt(total)).max())
    product = float((left.max(axis=0) * np.sqrt(np.maximum(variances.parts.max(axis=0), 0.0)) / total).max())
    added = float((np.abs(variances.parts.sum(axis=0) + variances.residual - variances.total) / total).max())
    return axiom_checks(tolerance, mean, product, added, most="up to ")


def centred(table: FloatArray, measured: Sequence[Measured]) -> FloatArray:
    """The table less its averages along each feature, which are zero but for errors of sampling and of straight
    lines.
    """
    for axis, own in enumerate(measured):
        table = table - mean_along(table, axis, own)
    return table
