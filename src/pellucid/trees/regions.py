"""The regions of a player: which rows satisfy the conditions of one player on the way to a place.

Rows are told apart only as far as the splits do. The *atoms* of a player are the classes of rows that all its splits
treat alike, numbered so that the rows between two thresholds have neighbouring numbers; a region is a few runs of
numbers. A player of one numeric column has one run, and another for missing values; columns with categories and groups
of columns have as many as it takes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.trees.ensemble import TreeEnsemble
from pellucid.trees.plain.levels import Layout


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of the region of turn t are number ``first[t]`` to ``first[t + 1]``: from ``start`` to before
    ``end``.
    """

    first: IntArray
    start: IntArray
    end: IntArray

    def take(self, turns: IntArray) -> tuple[IntArray, IntArray]:
        """All runs of some turns: for each which of the turns it belongs to, and its number."""
        counts = self.first[turns + 1] - self.first[turns]
        owner = np.repeat(np.arange(len(turns)), counts)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        return owner, self.first[turns][owner] + within


@dataclass(frozen=True, eq=False)
class Atoms(ABC):
    """The atoms of one player: the number of each row, and how many there are."""

    number: IntArray
    count: int

    @cached_property
    def order(self) -> IntArray:
        """Rows by ascending number."""
        return np.argsort(self.number, kind="stable")

    @abstractmethod
    def runs(self, layout: Layout, turns: IntArray) -> Runs:
        """The regions of some turns, all of this player."""


@dataclass(frozen=True, eq=False)
class IntervalAtoms(Atoms):
    """Of one numeric column: the stretches between thresholds in which there are rows, then the missing values.

    ``cut`` is, of each node, how many stretches go left, and ``present`` the stretches with rows.
    """

    ensemble: TreeEnsemble
    cut: IntArray
    present: IntArray

    def runs(self, layout: Layout, turns: IntArray) -> Runs:
        low, high, missing = self._bounds(layout)
        start, end = (np.searchsorted(self.present, bound[turns]) for bound in (low, high))
        known = len(self.present)
        lone = missing[turns] & (known < self.count)  # the run of missing values, joined where it can be
        joined = lone & (end == known) & (start < end)
        end = np.where(joined, self.count, end)
        pairs = np.stack([start, end, np.full(len(turns), known), np.full(len(turns), self.count)], axis=1)
        real = np.stack([start < end, lone & ~joined], axis=1)
        flat = pairs.reshape(-1, 2)[real.reshape(-1)]
        return _gathered(turns, real.sum(axis=1), flat, layout.size)

    def _bounds(self, layout: Layout) -> tuple[IntArray, IntArray, BoolArray]:
        """Of every place the stretches that its turn and earlier ones of the same player leave, and whether missing
        goes there.
        """
        nodes = self.ensemble.nodes
        low = np.zeros(layout.size + 1, dtype=np.int64)
        high = np.full(layout.size + 1, np.iinfo(np.int64).max)
        missing = np.ones(layout.size + 1, dtype=np.bool_)
        for level in layout.levels:
            split = level.row.node[level.row.splits]
            left = np.arange(level.following, level.following + 2 * len(split), 2)
            before, cut = level.earlier, self.cut[split]
            low[left], high[left] = low[before], np.minimum(high[before], cut)
            low[left + 1], high[left + 1] = np.maximum(low[before], cut), high[before]
            missing[left] = missing[before] & nodes.missing_left[split]
            missing[left + 1] = missing[before] & ~nodes.missing_left[split]
        return low, high, missing


@dataclass(frozen=True, eq=False)
class TestedAtoms(Atoms):
    """Of any player: the distinct rows of its columns; a row of each is put to every split."""

    ensemble: TreeEnsemble
    rows: FloatArray  # (atoms, columns of the ensemble): only the player's own columns count

    def runs(self, layout: Layout, turns: IntArray) -> Runs:
        place = np.full(layout.size + 1, -1)
        place[turns] = np.arange(len(turns))
        member = np.ones((len(turns) + 1, self.count), dtype=np.bool_)
        for level in layout.levels:
            left = np.arange(level.following, level.following + 2 * len(level.earlier), 2)
            mine = np.flatnonzero(place[left] >= 0)
            node, before = level.row.node[level.row.splits][mine], member[place[level.earlier[mine]]]
            x = self.rows[:, self.ensemble.nodes.feature[node]].T
            goes = self.ensemble.goes_left(np.repeat(node, self.count), x.reshape(-1)).reshape(x.shape)
            member[place[left[mine]]] = before & goes
            member[place[left[mine] + 1]] = before & ~goes
        edges = np.diff(np.pad(member[:-1].astype(np.int8), ((0, 0), (1, 1))), axis=1)
        owner, start = np.nonzero(edges > 0)
        pairs = np.stack([start, np.nonzero(edges < 0)[1]], axis=1)
        return _gathered(turns, np.bincount(owner, minlength=len(turns)), pairs, layout.size)


def _gathered(turns: IntArray, counts: IntArray, pairs: IntArray, size: int) -> Runs:
    """Runs of ascending turns among all places."""
    every = np.zeros(size + 1, dtype=np.int64)
    every[turns] = counts
    return Runs(np.concatenate([[0], np.cumsum(every)]), pairs[:, 0], pairs[:, 1])


def all_runs(layout: Layout, atoms: list[Atoms]) -> Runs:
    """The runs of every turn, whoever decides it."""
    asked = layout.asked[:-1]
    parts = [own.runs(layout, np.flatnonzero(asked == player)) for player, own in enumerate(atoms)]
    counts = [np.diff(part.first) for part in parts]
    turn = np.concatenate([np.repeat(np.arange(len(count)), count) for count in counts])
    order = np.argsort(turn, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.sum(counts, axis=0))])
    start, end = (np.concatenate(ends)[order] for ends in ([p.start for p in parts], [p.end for p in parts]))
    return Runs(first, start, end)


def find_atoms(ensemble: TreeEnsemble, players: IntArray, X: FloatArray) -> list[Atoms]:
    """The atoms of every player in the rows of X."""
    nodes = ensemble.nodes
    inner = nodes.feature >= 0
    sets = np.zeros(ensemble.n_features, dtype=np.bool_)
    sets[nodes.feature[inner & (nodes.set_words > 0)]] = True
    used = np.isin(np.arange(ensemble.n_features), nodes.feature[inner])
    found: list[Atoms] = []
    for player in range(int(players.max(initial=-1)) + 1):
        columns = np.flatnonzero((players == player) & used)
        if len(columns) == 1 and not sets[columns[0]]:
            found.append(_intervals(ensemble, int(columns[0]), X))
        else:
            found.append(_tested(ensemble, columns, sets, X))
    return found


def _intervals(ensemble: TreeEnsemble, column: int, X: FloatArray) -> IntervalAtoms:
    thresholds = _thresholds(ensemble, column)
    asked = ensemble.nodes.threshold
    cut = np.where(np.isnan(asked), 0, np.searchsorted(thresholds, asked) + 1)
    missing = np.isnan(X[:, column])
    present, number = np.unique(np.searchsorted(thresholds, X[~missing, column]), return_inverse=True)
    numbers = np.full(len(X), len(present))
    numbers[~missing] = number
    return IntervalAtoms(numbers, len(present) + int(missing.any()), ensemble, cut, present)


def _tested(ensemble: TreeEnsemble, columns: IntArray, sets: BoolArray, X: FloatArray) -> TestedAtoms:
    codes = np.zeros((len(X), len(columns) + 1), dtype=np.int64)
    for c, column in enumerate(columns):
        x = X[:, column] if sets[column] else np.searchsorted(_thresholds(ensemble, column), X[:, column])
        codes[:, c] = np.unique(x, return_inverse=True)[1]
        codes[np.isnan(X[:, column]), c] = -1
    _, rows, number = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    return TestedAtoms(number.reshape(-1), len(rows), ensemble, X[rows])


def _thresholds(ensemble: TreeEnsemble, column: int) -> FloatArray:
    nodes = ensemble.nodes
    values = np.unique(nodes.threshold[nodes.feature == column])
    return values[~np.isnan(values)]
