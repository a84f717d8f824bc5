"""Leaves as products: which players ask about a row on the way to a leaf, and which background rows miss it, by whom.

A leaf is reached by the rows that satisfy the conditions of every player on its path. A row *misses a leaf by the
players V* when it violates the conditions of exactly these. Of each leaf and each V of at most three players we keep
the mass, the share of the background's weight that misses the leaf by V; the masses of V within T add up to the share
that satisfies all conditions but those of T.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.runner.limits import Limits
from pellucid.trees.ensemble import TreeEnsemble
from pellucid.trees.plain.choice import can_compile
from pellucid.trees.plain.levels import Layout, coalitions, column_of, inside, lay_out
from pellucid.trees.rows import Watch, share_out

_SECONDS = 1.2e-8  # per cell, measured
_CHUNK = 8192  # background rows per call of the kernel: Ctrl-C is heard between two


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves of some trees.

    node, tree
        Of each leaf its node, and its tree (counted among these trees).
    first, turn
        The players of leaf l are in its slots ``first[l]`` to ``first[l + 1]``; the turn of a slot is the last one on
        the path that the player decides, a place of the layout.
    slot
        Of each node (of the whole ensemble) the slot, counted within its leaf, of the player who decides the turn to
        it.
    """

    layout: Layout
    node: IntArray
    tree: IntArray
    first: IntArray
    turn: IntArray
    slot: IntArray

    @cached_property
    def players(self) -> IntArray:
        """The number of players of each leaf."""
        return np.diff(self.first)

    def starts(self, order: int) -> IntArray:
        """Where each leaf's coalitions of that order begin; they are in the order of `coalitions`."""
        counts = np.array([comb(d, order) for d in range(int(self.players.max(initial=0)) + 1)])
        return np.concatenate([[0], np.cumsum(counts[self.players])])

    def coalitions(self, order: int) -> tuple[IntArray, IntArray]:
        """Of every coalition of slots of a leaf, the leaf and the slots (counted within the leaf)."""
        starts = self.starts(order)
        leaf = np.repeat(np.arange(len(self.node)), np.diff(starts))
        slots = np.empty((len(leaf), order), dtype=np.int64)
        for d in np.unique(self.players):
            mine = np.flatnonzero(self.players == d)
            sets = coalitions(int(d), order)
            slots[(starts[mine][:, None] + np.arange(len(sets))).reshape(-1)] = np.tile(sets, (len(mine), 1))
        return leaf, slots


def find_leaves(ensemble: TreeEnsemble, roots: IntArray, players: IntArray) -> Leaves:
    """The leaves of the trees with these roots; ``players`` gives the player of each column."""
    layout = lay_out(ensemble, roots, players)
    slot = np.zeros(len(ensemble.nodes.feature), dtype=np.int64)
    latest = np.empty((len(roots), 0), dtype=np.int64)  # of each place of a level the turn in every slot
    known = np.zeros(len(roots), dtype=np.int64)  # and the number of its slots
    node, tree, turns, counts = [], [], [], []
    for level in layout.levels:
        ends = np.ones(len(level.row.node), dtype=np.bool_)
        ends[level.row.splits] = False
        node.append(level.row.node[ends])
        tree.append(level.row.tree[ends])
        turns.append(latest[ends][np.arange(latest.shape[1]) < known[ends][:, None]])
        counts.append(known[ends])
        above, held = latest[level.row.splits], known[level.row.splits]
        own = np.full(len(held), -1)
        again = np.flatnonzero(level.earlier >= 0)
        if len(again):
            own[again] = np.argmax(above[again] == level.earlier[again][:, None], axis=1)
        own = np.where(own >= 0, own, held)
        known = np.repeat(np.maximum(held, own + 1), 2)
        width = max(above.shape[1], int(known.max(initial=0)))
        latest = np.full((2 * len(above), width), -1)
        latest[:, : above.shape[1]] = np.repeat(above, 2, axis=0)
        children = np.arange(level.following, level.following + 2 * len(above))
        latest[np.arange(len(latest)), np.repeat(own, 2)] = children
        split = level.row.node[level.row.splits]
        slot[ensemble.nodes.left[split]] = slot[ensemble.nodes.right[split]] = own
    first = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    return Leaves(layout, np.concatenate(node), np.concatenate(tree), first, np.concatenate(turns), slot)


def masses(
    ensemble: TreeEnsemble,
    roots: IntArray,
    leaves: Leaves,
    X: FloatArray,
    weights: FloatArray,
    order: int,
    watch: Watch,
) -> list[FloatArray]:
    """For each order up to the given, the mass of every coalition of `Leaves.coalitions` (order 0: of every leaf)."""
    starts = [leaves.starts(k) for k in range(order + 1)]
    found = [np.zeros(int(start[-1])) for start in starts]
    if _SECONDS * len(leaves.turn) * len(X) > watch.limits.patience and can_compile():
        _walked(ensemble, roots, leaves, X, weights, starts, found, watch)
    else:
        _counted(ensemble, leaves, X, weights, starts, found, watch.limits)
    return found


def _walked(
    ensemble: TreeEnsemble,
    roots: IntArray,
    leaves: Leaves,
    X: FloatArray,
    weights: FloatArray,
    starts: list[IntArray],
    found: list[FloatArray],
    watch: Watch,
) -> None:
    """Every background row walks down every tree, and both ways where it can afford to be wrong."""
    from pellucid.trees.kernels.dividends import add_masses  # on use: it loads a compiler
    from pellucid.trees.predict import columns_of

    leaf = np.full(len(ensemble.nodes.feature), -1)
    leaf[leaves.node] = np.arange(len(leaves.node))
    depth = len(leaves.layout.levels)
    nothing = np.zeros(1)
    tables = [*found, *[nothing] * (4 - len(found))]
    places = [*starts, *[np.zeros(1, dtype=np.int64)] * (4 - len(starts))]

    def work(begin: int, end: int) -> None:
        for row in range(0, len(X), _CHUNK):
            some = slice(row, row + _CHUNK)
            add_masses(
                columns_of(ensemble.nodes),
                ensemble.nodes.sets,
                roots[begin:end],
                leaves.slot,
                leaf,
                depth,
                np.ascontiguousarray(X[some]),  # compiled for one order in memory
                weights[some],
                len(found) - 1,
                tuple(places),
                tuple(tables),
            )

    share_out(work, len(roots), watch)


def _counted(
    ensemble: TreeEnsemble,
    leaves: Leaves,
    X: FloatArray,
    weights: FloatArray,
    starts: list[IntArray],
    found: list[FloatArray],
    limits: Limits,
) -> None:
    """The same in numpy, leaves with equally many players together."""
    step = max(1, limits.compared // max(leaves.layout.size, 1))
    for row in range(0, len(X), step):
        some = slice(row, row + step)
        missed = ~inside(ensemble, leaves.layout, X[some])
        for d in np.unique(leaves.players):
            mine = np.flatnonzero(leaves.players == d)
            turns = leaves.turn[leaves.first[mine][:, None] + np.arange(d)]
            add = _add_patterns if d <= limits.patterns else _add_few
            add(missed, turns, weights[some], [start[mine] for start in starts], found)


def _add_patterns(
    missed: BoolArray, turns: IntArray, weights: FloatArray, starts: list[IntArray], found: list[FloatArray]
) -> None:
    """The weight of every pattern of players by whom a row misses a leaf; then that of the patterns of few."""
    leaves, d = turns.shape
    marks = missed.view(np.uint8)
    pattern = np.zeros((leaves, missed.shape[1]), dtype=np.uint8)
    for s in range(d):
        pattern |= marks[turns[:, s]] << np.uint8(s)
    cell = ((np.arange(leaves) << d)[:, None] + pattern).reshape(-1)
    every = np.broadcast_to(weights, pattern.shape).reshape(-1)
    table = np.bincount(cell, weights=every, minlength=leaves << d).reshape(leaves, 1 << d)
    for k, (start, mass) in enumerate(zip(starts, found, strict=True)):
        which = (1 << coalitions(int(d), k)).sum(axis=1) if k else np.zeros(1, dtype=np.int64)
        mass[start[:, None] + np.arange(len(which))] += table[:, which]


def _add_few(
    missed: BoolArray, turns: IntArray, weights: FloatArray, starts: list[IntArray], found: list[FloatArray]
) -> None:
    """For leaves with so many players that most patterns never occur."""
    wrong = missed[turns]  # (leaves, slots, rows)
    count = wrong.sum(axis=1)
    for k, (start, mass) in enumerate(zip(starts, found, strict=True)):
        leaf, at = np.nonzero(count == k)
        slots = np.nonzero(wrong[leaf, :, at])[1].reshape(-1, max(k, 1))
        place = start[leaf] + (column_of(list(slots.T)) if k and len(leaf) else 0)
        np.add(mass, np.bincount(place, weights=weights[at], minlength=len(mass)), out=mass)
