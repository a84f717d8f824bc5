"""What each leaf asks of each player: its merged conditions, and the share of the player's own distribution that meets
them.

The conditions of a leaf on one numeric column, merged over all splits on the way to it, are a run of the cells between
the thresholds of that column, and a yes or no to missing values. Of a categorical column, or of several columns that
act as one player, they are a set of points.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.trees.ensemble import TreeEnsemble

_CELLS = 1 << 26  # leaves times points that are held at once
_MOST_KINDS = 3000  # of sets of points, whose overlaps are listed


@dataclass(frozen=True, eq=False)
class Distribution:
    """How the columns of one player are distributed: points ``(m, columns)`` with their masses, or uniform on a range.

    ``high`` is the upper end of the range of a uniform column, whose one point is the lower end; None for points.
    """

    columns: tuple[int, ...]
    points: FloatArray
    mass: FloatArray
    high: float | None = None

    @classmethod
    def of_points(cls, columns: tuple[int, ...], points: FloatArray, mass: FloatArray | None = None) -> Distribution:
        """Points with masses that are scaled to one; equal ones unless given."""
        points = np.asarray(points, dtype=np.float64).reshape(len(points), len(columns))
        mass = np.ones(len(points)) if mass is None else np.asarray(mass, dtype=np.float64)
        return cls(tuple(columns), points[mass > 0], mass[mass > 0] / mass.sum())

    @classmethod
    def uniform(cls, column: int, low: float, high: float) -> Distribution:
        """Uniform between two numbers; all at one where they are the same."""
        point = np.array([[low]], dtype=np.float64)
        return cls((column,), point, np.ones(1), high if high > low else None)


@dataclass(frozen=True, eq=False)
class Listed:
    """Conditions as the kernels read them (see `pellucid.trees.kernels.product_measure`)."""

    low: IntArray
    high: IntArray
    missing: BoolArray
    table: FloatArray
    size: int
    missing_mass: float


class Conditions(ABC):
    """The conditions of all leaves on one player."""

    @property
    @abstractmethod
    def share(self) -> FloatArray:
        """``(leaves,)``: how much of the player's distribution meets them."""

    @abstractmethod
    def overlap(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """``(rows, columns)``: how much of it meets the conditions of two leaves."""

    @abstractmethod
    def listed(self) -> Listed | None:
        """The form for the kernels; None where it would be too long."""

    @abstractmethod
    def steps(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Sums ``(cells, outputs)`` of the weights ``(leaves, outputs)`` of the leaves that accept each cell, and the
        cells' masses.
        """


@dataclass(frozen=True, eq=False)
class Runs(Conditions):
    """Runs ``[low, high)`` of the cells of a numeric column, in ascending order, and whether missing is accepted."""

    mass: FloatArray  # of the cells
    missing_mass: float
    low: IntArray
    high: IntArray
    missing: BoolArray

    @property
    def share(self) -> FloatArray:
        cumulated = self.cumulated
        return np.maximum(cumulated[self.high] - cumulated[self.low], 0.0) + self.missing * self.missing_mass

    @property
    def cumulated(self) -> FloatArray:
        """Mass below each cell, and of all."""
        return np.concatenate([[0.0], np.cumsum(self.mass)])

    def overlap(self, rows: IntArray, columns: IntArray) -> FloatArray:
        low = np.maximum(self.low[rows][:, None], self.low[columns])
        high = np.minimum(self.high[rows][:, None], self.high[columns])
        cumulated = self.cumulated
        missing = self.missing[rows][:, None] & self.missing[columns]
        return np.where(high > low, cumulated[high] - cumulated[low], 0.0) + missing * self.missing_mass

    def listed(self) -> Listed:
        return Listed(self.low, self.high, self.missing, self.cumulated, 0, self.missing_mass)

    def steps(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        n = len(self.mass)
        some = self.low < self.high
        sums = np.empty((n + 1, weight.shape[1]))
        for k, column in enumerate(weight.T):
            change = np.bincount(self.low[some], column[some], n + 1) - np.bincount(
                self.high[some], column[some], n + 1
            )
            sums[:, k] = np.cumsum(change)
            sums[n, k] = column[self.missing].sum()
        return sums, np.append(self.mass, self.missing_mass)


@dataclass(frozen=True, eq=False)
class Sets(Conditions):
    """Sets of points; leaves with the same set share a line of ``kinds``, a table ``(kinds, points)``."""

    distribution: Distribution
    kind: IntArray
    kinds: BoolArray

    @property
    def share(self) -> FloatArray:
        return np.asarray((self.kinds @ self.distribution.mass)[self.kind])

    def steps(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        of_kind = np.stack([np.bincount(self.kind, column, len(self.kinds)) for column in weight.T], axis=1)
        return np.asarray(self.kinds.T @ of_kind), self.distribution.mass

    def overlap(self, rows: IntArray, columns: IntArray) -> FloatArray:
        first, second = self.kinds[self.kind[rows]], self.kinds[self.kind[columns]]
        return np.asarray((first * self.distribution.mass) @ second.T.astype(np.float64))

    def listed(self) -> Listed | None:
        n = len(self.kinds)
        if n > _MOST_KINDS:
            return None
        _, one = np.unique(self.kind, return_index=True)  # a leaf of each kind
        nothing = np.zeros(len(self.kind), dtype=np.intp)
        return Listed(self.kind, nothing, nothing > 0, self.overlap(one, one).ravel(), n, 0.0)


def leaf_conditions(
    ensemble: TreeEnsemble, distributions: tuple[Distribution, ...]
) -> tuple[IntArray, list[Conditions]]:
    """The leaves in ascending order, and their conditions on each player."""
    nodes = ensemble.nodes
    with_sets = np.unique(nodes.feature[nodes.set_words > 0])
    plain = [len(d.columns) == 1 and d.columns[0] not in with_sets for d in distributions]
    columns = np.array([d.columns[0] for d, is_plain in zip(distributions, plain, strict=True) if is_plain])
    leaf, low, high, missing = _runs(ensemble, columns.astype(np.intp))
    found: list[Conditions] = []
    place = np.cumsum(plain) - 1
    for distribution, is_plain, c in zip(distributions, plain, place.tolist(), strict=True):
        if is_plain:
            thresholds = _thresholds(ensemble, distribution.columns[0])
            mass, missing_mass = _cell_masses(thresholds, distribution)
            found.append(Runs(mass, missing_mass, low[:, c], high[:, c], missing[:, c]))
        else:
            if distribution.high is not None:
                raise ValueError("a column with categorical splits has points, not a range")
            points = _alike(ensemble, distribution)
            kind, kinds = _accepted(ensemble, points.columns, points.points, len(leaf))
            found.append(Sets(points, kind, kinds))
    return leaf, found


def _thresholds(ensemble: TreeEnsemble, column: int) -> FloatArray:
    """The numbers that a column is compared with, ascending."""
    nodes = ensemble.nodes
    here = nodes.threshold[(nodes.feature == column) & (nodes.set_words == 0)]
    return np.unique(here[~np.isnan(here)])


def _cell_masses(thresholds: FloatArray, distribution: Distribution) -> tuple[FloatArray, float]:
    """Masses of the cells between the thresholds, and of missing values."""
    x = distribution.points[:, 0]
    if distribution.high is not None:
        edges = np.clip(thresholds, x[0], distribution.high)
        edges = np.concatenate([[x[0]], edges, [distribution.high]])
        return np.asarray(np.diff(edges) / (distribution.high - x[0])), 0.0
    missing = np.isnan(x)
    cell = np.searchsorted(thresholds, x[~missing], side="left")
    mass = np.bincount(cell, distribution.mass[~missing], len(thresholds) + 1)
    return mass.astype(np.float64), float(distribution.mass[missing].sum())


def _alike(ensemble: TreeEnsemble, distribution: Distribution) -> Distribution:
    """The same mass on fewer points: those that no split tells apart are one."""
    nodes = ensemble.nodes
    numbers = np.empty(distribution.points.shape)
    for c, column in enumerate(distribution.columns):
        x = distribution.points[:, c]
        with_sets = bool((nodes.set_words[nodes.feature == column] > 0).any())
        cell = x if with_sets else np.searchsorted(_thresholds(ensemble, column), x, side="left")
        numbers[:, c] = np.where(np.isnan(x), np.nan, cell)
    _, first, place = np.unique(numbers, axis=0, return_index=True, return_inverse=True)
    mass = np.bincount(place.reshape(-1), distribution.mass).astype(np.float64)
    return Distribution(distribution.columns, distribution.points[first], mass)


# -- walks -------------------------------------------------------------------------------------------


def _runs(ensemble: TreeEnsemble, columns: IntArray) -> tuple[IntArray, IntArray, IntArray, BoolArray]:
    """All leaves, ascending, with their run of cells ``(leaves, columns)`` in each numeric column."""
    nodes = ensemble.nodes
    place = np.full(ensemble.n_features + 1, -1)
    place[columns] = np.arange(len(columns))
    cells = np.zeros(len(nodes.feature), dtype=np.intp)  # that go left
    counts = np.zeros(len(columns), dtype=np.intp)
    for c, column in enumerate(columns):
        thresholds, here = _thresholds(ensemble, int(column)), nodes.feature == column
        counts[c] = len(thresholds) + 1
        cells[here] = np.searchsorted(thresholds, nodes.threshold[here], side="left") + 1
        cells[here & np.isnan(nodes.threshold)] = 0
    node = ensemble.roots
    low = np.zeros((len(node), len(columns)), dtype=np.intp)
    high = np.tile(counts, (len(node), 1))
    missing = np.ones(low.shape, dtype=np.bool_)
    done = []
    while len(node):
        inner = nodes.feature[node] >= 0
        done.append((node[~inner], low[~inner], high[~inner], missing[~inner]))
        node, low, high, missing = node[inner], low[inner], high[inner], missing[inner]
        at = np.flatnonzero(place[nodes.feature[node]] >= 0)
        its, cut = place[nodes.feature[node]][at], cells[node[at]]
        left_high, right_low = high.copy(), low.copy()
        left_high[at, its] = np.minimum(high[at, its], cut)
        right_low[at, its] = np.maximum(low[at, its], cut)
        left_missing, right_missing = missing.copy(), missing.copy()
        left_missing[at, its] &= nodes.missing_left[node[at]]
        right_missing[at, its] &= ~nodes.missing_left[node[at]]
        node = np.concatenate([nodes.left[node], nodes.right[node]])
        low, high = np.concatenate([low, right_low]), np.concatenate([left_high, high])
        missing = np.concatenate([left_missing, right_missing])
    leaf, low, high, missing = (np.concatenate(part) for part in zip(*done, strict=True))
    order = np.argsort(leaf)
    return leaf[order], low[order], np.maximum(high, low)[order], missing[order]


def _accepted(
    ensemble: TreeEnsemble, columns: tuple[int, ...], points: FloatArray, n_leaves: int, cells: int = _CELLS
) -> tuple[IntArray, BoolArray]:
    """For each leaf, ascending, the number of its line in a table ``(lines, points)`` of what the leaves accept."""
    step = max(1, cells // max(len(points), 1) * len(ensemble.roots) // max(n_leaves, 1))
    leaves, lines = [], []
    for start in range(0, len(ensemble.roots), step):
        leaf, accepted = _walk(ensemble, ensemble.roots[start : start + step], columns, points)
        leaves.append(leaf)
        lines.append(np.packbits(accepted, axis=1))
    order = np.argsort(np.concatenate(leaves))
    packed, kind = np.unique(np.concatenate(lines)[order], axis=0, return_inverse=True)
    kinds = np.unpackbits(packed, axis=1, count=len(points)).astype(np.bool_)
    return kind.reshape(-1).astype(np.intp), kinds


def _walk(
    ensemble: TreeEnsemble, roots: IntArray, columns: tuple[int, ...], points: FloatArray
) -> tuple[IntArray, BoolArray]:
    """The leaves of some trees, and which points meet their conditions on the columns."""
    nodes = ensemble.nodes
    place = np.full(ensemble.n_features + 1, -1)
    place[list(columns)] = np.arange(len(columns))
    node, accepted = roots, np.ones((len(roots), len(points)), dtype=np.bool_)
    done = []
    while len(node):
        inner = nodes.feature[node] >= 0
        done.append((node[~inner], accepted[~inner]))
        node, accepted = node[inner], accepted[inner]
        at = np.flatnonzero(place[nodes.feature[node]] >= 0)
        x = points[:, place[nodes.feature[node[at]]]].T
        goes = ensemble.goes_left(np.repeat(node[at], len(points)), x.ravel()).reshape(x.shape)
        left, right = accepted.copy(), accepted
        left[at] &= goes
        right[at] &= ~goes
        node = np.concatenate([nodes.left[node], nodes.right[node]])
        accepted = np.concatenate([left, right])
    leaf, accepted = (np.concatenate(part) for part in zip(*done, strict=True))
    return leaf, accepted
