"""Leaves as boxes of cells, once per model, and what a question makes of them: costs, and the leaves of a ball.

A player is one feature, whatever columns it has in the trees. If it has one column of numbers, its cells are the
intervals between the thresholds, ``(t[i - 1], t[i]]``, and last the missing value; of any other player (categories,
one-hot columns, a column next to the indicator of its missing values) the cells are the distinct points that it can be
at. A leaf accepts a run of cells, or a set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.trees.ensemble import TreeEnsemble

_WORD = 64


@dataclass(frozen=True, eq=False)
class Column:
    """A player with one column of numbers: its cells are between the thresholds; the last is the missing value.

    Cells may be finer than the splits need (where something else tells values apart): ``cuts`` then says how many of
    the ``runs`` cells are at or below each threshold.
    """

    thresholds: FloatArray
    cuts: IntArray
    runs: int

    @classmethod
    def of(cls, thresholds: FloatArray) -> Column:
        """Cells as coarse as the splits allow."""
        return cls(thresholds, np.arange(1, len(thresholds) + 1), len(thresholds) + 1)

    @property
    def cells(self) -> int:
        """How many there are."""
        return self.runs + 1

    def cell(self, values: FloatArray) -> IntArray:
        """The cell of each value of the column; of finer cells the first that the splits treat alike."""
        found = np.concatenate([[0], self.cuts])[np.searchsorted(self.thresholds, values, side="left")]
        return np.where(np.isnan(values), self.runs, found)


@dataclass(frozen=True, eq=False)
class Points:
    """A player that is at one of some points ``(cells, columns)`` of its columns."""

    columns: IntArray
    points: FloatArray

    @property
    def cells(self) -> int:
        """How many there are."""
        return len(self.points)


@dataclass(frozen=True, eq=False)
class Kinds:
    """The different conditions on one player: a table ``(kinds, cells)`` of what they accept, or the runs
    ``[low, high)`` and whether missing is accepted.
    """

    first: int  # number of the first kind among those of all players
    table: BoolArray | None
    low: IntArray
    high: IntArray
    missing: BoolArray

    def accepted(self, cells: int) -> BoolArray:
        """The table."""
        if self.table is not None:
            return self.table
        cell = np.arange(cells - 1)
        runs = (cell >= self.low[:, None]) & (cell < self.high[:, None])
        return np.hstack([runs, self.missing[:, None]])


@dataclass(frozen=True, eq=False)
class Boxes:
    """The leaves that some row can reach, tree by tree, and their conditions: ``who`` of which ``kind``, in
    ``first[leaf]`` to ``first[leaf + 1]``.
    """

    players: tuple[Column | Points, ...]
    leaf_value: FloatArray  # (leaves, width)
    tree_first: IntArray
    output: IntArray
    base: FloatArray
    first: IntArray
    who: IntArray
    kind: IntArray
    kinds: tuple[Kinds, ...]

    def sums(self, matrix: FloatArray) -> tuple[FloatArray, IntArray, FloatArray]:
        """What leaves add to each line of ``matrix @ outputs``; the one line that each tree adds to (-1: several, -2:
        none), and the constants.
        """
        if self.leaf_value.shape[1] > 1:
            tree_sum = np.full(len(self.output), -1 if len(matrix) > 1 else 0)
            return np.ascontiguousarray(self.leaf_value @ matrix.T), tree_sum, matrix @ self.base
        weight = matrix[:, self.output]  # (lines, trees)
        count = (weight != 0).sum(axis=0)
        tree_sum = np.where(count == 0, -2, np.where(count == 1, np.abs(weight).argmax(axis=0), -1))
        per_leaf = np.repeat(weight, np.diff(self.tree_first), axis=1)
        return np.ascontiguousarray(per_leaf.T * self.leaf_value), tree_sum, matrix @ self.base


def find_boxes(ensemble: TreeEnsemble, player: IntArray, players: Sequence[Column | Points | None]) -> Boxes:
    """The boxes of an ensemble whose column c belongs to ``player[c]``; None among the players: one column of
    numbers, or none, with cells as coarse as the splits allow.
    """
    from pellucid.trees.kernels.leaf_boxes import list_conditions

    nodes = ensemble.nodes
    found = tuple(
        Column.of(thresholds_of(ensemble, np.flatnonzero(player == j))) if own is None else own
        for j, own in enumerate(players)
    )
    decides = np.where(nodes.feature >= 0, player[nodes.feature], -1)
    parent, is_left, root = _upwards(ensemble)
    cut, mask, masks, words = _left_cells(ensemble, found, decides)
    leaf, tree, depth = root
    cells = np.array([own.cells - isinstance(own, Column) for own in found])
    size = int(depth.sum()) + 1
    first, who = np.zeros(len(leaf) + 1, np.int64), np.zeros(size, np.int64)
    low, high, missing = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.bool_)
    bits = np.zeros((size, max(1, int(words.max(initial=0)))), np.uint64)
    about = (parent, is_left, decides, cut, mask, nodes.missing_left, masks, cells, words)
    used = list_conditions(about, ensemble.roots[tree], leaf, first, who, low, high, missing, bits)
    parts = (who[:used], low[:used], high[:used], missing[:used], bits[:used])
    kind, kinds, empty = _kinds(found, words, *parts)
    reached = np.bincount(np.repeat(np.arange(len(leaf)), np.diff(first))[empty], minlength=len(leaf)) == 0
    entries = np.repeat(reached, np.diff(first))
    count = np.diff(first)[reached]
    return Boxes(
        found,
        np.ascontiguousarray(nodes.value[leaf[reached]]),
        np.searchsorted(tree[reached], np.arange(len(ensemble.roots) + 1)),
        ensemble.output,
        ensemble.base,
        np.concatenate([[0], np.cumsum(count)]),
        parts[0][entries],
        kind[entries],
        kinds,
    )


def thresholds_of(ensemble: TreeEnsemble, columns: IntArray) -> FloatArray:
    """What some columns are compared with, ascending."""
    nodes = ensemble.nodes
    here = np.unique(nodes.threshold[(nodes.feature >= 0) & np.isin(nodes.feature, columns)])
    return here[~np.isnan(here)]


def _upwards(ensemble: TreeEnsemble) -> tuple[IntArray, BoolArray, tuple[IntArray, IntArray, IntArray]]:
    """The parent of each node and whether it is the left child; leaves with their trees and depths, tree by tree."""
    nodes = ensemble.nodes
    inner = np.flatnonzero(nodes.feature >= 0)
    parent, is_left = np.full(len(nodes.feature), -1), np.zeros(len(nodes.feature), dtype=np.bool_)
    parent[nodes.left[inner]], parent[nodes.right[inner]] = inner, inner
    is_left[nodes.left[inner]] = True
    node, tree = ensemble.roots, np.arange(len(ensemble.roots))
    level, done = 0, []
    while len(node):
        ends = nodes.feature[node] < 0
        done.append((node[ends], tree[ends], np.full(int(ends.sum()), level)))
        node, tree = node[~ends], tree[~ends]
        node, tree = np.concatenate([nodes.left[node], nodes.right[node]]), np.concatenate([tree, tree])
        level += 1
    leaf, tree, depth = (np.concatenate(part) for part in zip(*done, strict=True))
    order = np.lexsort((leaf, tree))
    return np.asarray(parent), is_left, (leaf[order], tree[order], depth[order])


def _left_cells(
    ensemble: TreeEnsemble, players: Sequence[Column | Points], decides: IntArray
) -> tuple[IntArray, IntArray, np.ndarray, IntArray]:
    """Which cells go left at each node: how many, or where its bits begin; the bits, and how many words a player
    has.
    """
    nodes = ensemble.nodes
    cut, mask = np.zeros(len(decides), np.int64), np.zeros(len(decides), np.int64)
    words, parts, used = np.zeros(len(players), np.int64), [np.zeros(1, np.uint64)], 1
    for j, own in enumerate(players):
        here = np.flatnonzero(decides == j)
        if isinstance(own, Column):
            never = np.isnan(nodes.threshold[here])
            place = np.searchsorted(own.thresholds, np.where(never, np.inf, nodes.threshold[here]))
            cut[here] = np.where(never, 0, np.append(own.cuts, 0)[place])
            continue
        place = np.full(ensemble.n_features, -1)
        place[own.columns] = np.arange(len(own.columns))
        x = own.points[:, place[nodes.feature[here]]].T
        goes = ensemble.goes_left(np.repeat(here, own.cells), x.ravel()).reshape(x.shape)
        packed = packed_bits(goes)
        words[j] = packed.shape[1]
        mask[here] = used + np.arange(len(here)) * words[j]
        parts.append(packed.ravel())
        used += packed.size
    return cut, mask, np.concatenate(parts), words


def packed_bits(table: BoolArray) -> np.ndarray:
    """Rows of yes and no as words of 64 bits, the first in the lowest."""
    words = max(1, -(-table.shape[1] // _WORD))
    padded = np.zeros((len(table), words * _WORD), dtype=np.bool_)
    padded[:, : table.shape[1]] = table
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64).reshape(len(table), words)


def _unpacked(bits: np.ndarray, cells: int) -> BoolArray:
    return np.unpackbits(np.ascontiguousarray(bits).view(np.uint8), axis=1, bitorder="little", count=cells).astype(
        np.bool_
    )


def _kinds(
    players: Sequence[Column | Points],
    words: IntArray,
    who: IntArray,
    low: IntArray,
    high: IntArray,
    missing: BoolArray,
    bits: np.ndarray,
) -> tuple[IntArray, tuple[Kinds, ...], BoolArray]:
    """Equal conditions of a player are one kind; the kind of each condition, and whether it accepts nothing."""
    kind, empty, kinds, used = np.zeros(len(who), np.int64), np.zeros(len(who), np.bool_), [], 0
    nothing = np.zeros(0, np.int64)
    for j, own in enumerate(players):
        here = np.flatnonzero(who == j)
        if isinstance(own, Column):
            runs = np.stack([low[here], high[here], missing[here]], axis=1)
            runs[runs[:, 0] >= runs[:, 1], :2] = 0
            distinct, place = np.unique(runs, axis=0, return_inverse=True)
            accepts = np.asarray((distinct[:, 1] > distinct[:, 0]) | (distinct[:, 2] > 0))
            kinds.append(Kinds(used, None, distinct[:, 0], distinct[:, 1], distinct[:, 2] > 0))
        else:
            distinct, place = np.unique(bits[here, : words[j]], axis=0, return_inverse=True)
            table = _unpacked(distinct, own.cells) if len(distinct) else np.zeros((0, own.cells), np.bool_)
            accepts = np.asarray(table.any(axis=1))
            kinds.append(Kinds(used, table, nothing, nothing, nothing > 0))
        kind[here] = used + place.reshape(-1)
        empty[here] = ~accepts[place.reshape(-1)]
        used += len(distinct)
    return kind, tuple(kinds), empty
