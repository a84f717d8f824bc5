"""Functions of one feature at the points of a fit: piecewise linear between knots, or one value per level.

A function of the feature is given by its values at *places*: knots, or levels, with a last place for missing values
where there are any. Between knots it runs straight, beyond the outer ones it stays level. So every point has a place on
its left and a share of the way to the next place.

A fit needs fewer unknowns than there are places, and none for a constant. These are *steps*: ``steps[d]`` is a matrix
(places, unknowns) whose columns, with the constant, span the functions allowed in parts of ``d + 1`` features. Between
knots a step is a ramp from 0 to 1 over one interval, so that its coefficient is how much the function rises there; for
levels steps are orthonormal contrasts. Parts of two and three features have longer steps: every second or third knot,
and rare levels taken together. Their functions are all contained in those of parts with fewer features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.stats import weighted_quantiles

_FEWEST_MISSING = 5  # rows from which missing has steps of its own in parts of several features


@dataclass(frozen=True, eq=False)
class Basis:
    """The places of one feature, where each point stands among them, and the steps by number of features in a part."""

    places: FloatArray
    nominal: bool
    left: IntArray
    share: FloatArray
    steps: tuple[FloatArray, ...]

    def columns(self, order: int, rows: slice) -> FloatArray:
        """The steps of parts of so many features at some of the points, ``(points, unknowns)``."""
        return self.at(self.steps[order - 1], rows)

    def at(self, table: FloatArray, rows: slice = slice(None)) -> FloatArray:
        """A function given at the places (first axis), at some of the points."""
        left, share = self.left[rows], self.share[rows]
        right = np.minimum(left + 1, len(self.places) - 1)
        share = share.reshape(-1, *(1,) * (table.ndim - 1))
        return np.asarray(table[left] + share * (table[right] - table[left]))


def make_basis(data: Data, points: Data, j: int, sizes: tuple[int, ...], *, even: bool) -> Basis:
    """The basis of feature ``j`` at the points, with at most ``sizes[d] + 1`` knots or levels in parts of ``d + 1``
    features.

    Levels are those of the data, whether or not a point has them. Knots stand at the quantiles of the points or, if
    ``even``, at equal distances.
    """
    codes, weights = points.codes(j), points.weights
    gone = bool(np.isnan(data.codes(j)).any())
    levels = np.unique(data.codes(j)[~np.isnan(data.codes(j))])
    if data.schema.features[j].nominal:
        return _level_basis(levels, gone, codes, weights, sizes)
    knots = _knots(codes, weights, sizes[0] + 1, even)
    rows_gone = int(np.count_nonzero(np.isnan(codes) & (weights > 0)))
    places = np.append(knots, np.nan) if gone or not len(knots) else knots
    steps = tuple(
        _ramps(places, evenly(len(knots), size), own=rows_gone >= (_FEWEST_MISSING if d else 1))
        for d, size in enumerate(sizes)
    )
    return Basis(places, False, *_between(codes, knots), steps)


def _knots(codes: FloatArray, weights: FloatArray, most: int, even: bool) -> FloatArray:
    known = np.unique(codes[~np.isnan(codes) & (weights > 0)])
    if len(known) <= most:
        return known
    if even:
        return np.linspace(known[0], known[-1], most)
    return np.unique(weighted_quantiles(codes, np.linspace(0.0, 1.0, most), weights))


def _between(codes: FloatArray, knots: FloatArray) -> tuple[IntArray, FloatArray]:
    """The knot on the left of each code and the share of the way to the next; missing is the place behind the knots."""
    gone = np.isnan(codes)
    if len(knots) < 2:
        return np.where(gone, len(knots), 0).astype(np.intp), np.zeros(len(codes))
    left = np.clip(np.searchsorted(knots, codes, side="right") - 1, 0, len(knots) - 2)
    share = np.clip((codes - knots[left]) / (knots[left + 1] - knots[left]), 0.0, 1.0)
    return np.where(gone, len(knots), left).astype(np.intp), np.where(gone, 0.0, share)


def evenly(n: int, size: int) -> IntArray:
    """At most ``size + 1`` of ``n`` positions, evenly spread, the first and last among them."""
    return np.unique(np.round(np.linspace(0, n - 1, min(n, size + 1)))).astype(np.intp)


def _ramps(places: FloatArray, chosen: IntArray, *, own: bool) -> FloatArray:
    """A ramp between each two neighbouring chosen knots, and one step to the missing place if it has its own."""
    gone = np.isnan(places)
    knots = places[chosen]
    rise = np.clip((np.where(gone, -np.inf, places)[:, None] - knots[:-1]) / np.diff(knots), 0.0, 1.0)
    return np.column_stack([rise, gone]) if own and not gone.all() else rise


def _level_basis(
    levels: FloatArray, gone: bool, codes: FloatArray, weights: FloatArray, sizes: tuple[int, ...]
) -> Basis:
    places = np.append(levels, np.nan) if gone else levels
    left = np.where(np.isnan(codes), len(levels), np.searchsorted(levels, codes)).astype(np.intp)
    mass = np.asarray(np.bincount(left, weights=weights, minlength=len(places)), dtype=np.float64)
    # Parts of one feature keep every level apart.
    groups = [np.arange(len(places)), *(_groups(mass, size + 1) for size in sizes[1:])]
    steps = tuple(np.eye(group.max() + 1)[group] @ contrasts(int(group.max()) + 1) for group in groups)
    return Basis(places, True, left, np.zeros(len(codes)), steps)


def _groups(mass: FloatArray, most: int) -> IntArray:
    """The heaviest levels by themselves, all others as one group, so that there are at most so many groups."""
    rank = np.empty(len(mass), dtype=np.intp)
    rank[np.argsort(-mass, kind="stable")] = np.arange(len(mass))
    return np.minimum(rank, max(most, 2) - 1)


def contrasts(n: int) -> FloatArray:
    """An orthonormal basis ``(n, n - 1)`` of the vectors of ``n`` numbers that add up to zero (Helmert)."""
    columns = (np.triu(np.ones((n, n)), 1) - np.diag(np.arange(n, dtype=np.float64)))[:, 1:]
    return np.asarray(columns / np.sqrt(np.square(columns).sum(axis=0)))
