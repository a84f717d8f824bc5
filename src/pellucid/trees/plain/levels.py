"""Trees laid out level by level, so that one numpy operation treats a whole level of many trees.

A *place* is a node of a tree as the walk meets it; places are numbered level after level, and the two children of
a level's splits stand side by side in the next level: left, right, left, right, ... A place below a root is also
a turn: the split of its parent, taken to one side. Of each turn it is kept which share of the training weight has
gone the same way at all splits of the path with the same player, and of each split the *earlier* turn: the latest
above it with its player. Tables over places have one row more than there are places, for the earlier turn of a
player's first split: number -1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.trees.ensemble import TreeEnsemble

NOBODY = -1


@dataclass(frozen=True, eq=False)
class Row:
    """Nodes of one level: which, of which tree, and which of them are splits."""

    node: IntArray
    tree: IntArray
    splits: IntArray


@dataclass(frozen=True, eq=False)
class Level:
    """One level of some trees; all but the first three fields have an entry per split.

    first, following
        The first place of this level, and of the next.
    row
        Its nodes.
    player, share
        Whom a split asks about, and the part of the training weight that goes left.
    earlier, before
        The latest turn above with the same player, and that player's share after it.
    coalition, others
        For each coalition of a split's player and others above it: the split (counted within the level), and
        the latest turn of each of the others.
    """

    first: int
    following: int
    row: Row
    player: IntArray
    share: FloatArray
    earlier: IntArray
    before: FloatArray
    coalition: IntArray
    others: IntArray


@dataclass(frozen=True, eq=False)
class Layout:
    """Levels of some trees, the number of places, and the most distinct players on a path."""

    levels: list[Level]
    size: int
    most: int
    asked: IntArray  # of every place: the player of its turn
    shares: FloatArray  # and that player's share


def descend(ensemble: TreeEnsemble, roots: IntArray) -> Iterator[Row]:
    """The levels of the trees, from the roots down."""
    nodes = ensemble.nodes
    node, tree = np.asarray(roots), np.arange(len(roots))
    while len(node):
        splits = np.flatnonzero(nodes.feature[node] >= 0)
        yield Row(node, tree, splits)
        parent = node[splits]
        node = np.stack([nodes.left[parent], nodes.right[parent]], axis=1).reshape(-1)
        tree = np.repeat(tree[splits], 2)


def lay_out(ensemble: TreeEnsemble, roots: IntArray, players: IntArray, order: int = 1) -> Layout:
    """Everything about the paths that does not depend on a row."""
    rows = list(descend(ensemble, roots))
    size = sum(len(row.node) for row in rows)
    asked = np.full(size + 1, NOBODY)
    shares = np.ones(size + 1)
    distinct = np.zeros(size + 1, dtype=np.int64)
    levels: list[Level] = []
    first = 0
    above = np.empty((len(roots), 0), dtype=np.int64)  # the turns on the path to each place
    latest = np.empty((len(roots), 0), dtype=np.bool_)  # those that no later turn of their player replaced
    for row in rows:
        node, splits = row.node[row.splits], row.splits
        player, share = players[ensemble.nodes.feature[node]], left_share(ensemble, node)
        turns = above[splits]
        same = asked[turns] == player[:, None]
        earlier = _last(turns, same)
        standing = latest[splits] & ~same if order > 1 else latest[:0]
        following = first + len(row.node)
        before = shares[earlier]
        level = Level(first, following, row, player, share, earlier, before, *_with_others(turns, standing, order))
        levels.append(level)
        children = np.arange(following, following + 2 * len(splits))
        asked[children] = np.repeat(player, 2)
        shares[children] = np.stack([before * share, before * (1 - share)], axis=1).reshape(-1)
        distinct[children] = np.repeat(distinct[first + splits] + (earlier == NOBODY), 2)
        above = np.column_stack([np.repeat(turns, 2, axis=0), children])
        if order > 1:
            latest = np.column_stack([np.repeat(standing, 2, axis=0), np.ones(len(children), dtype=np.bool_)])
        first = following
    return Layout(levels, size, int(distinct.max()), asked, shares)


def left_share(ensemble: TreeEnsemble, split: IntArray) -> FloatArray:
    """The part of the training weight that went left; a half where none came by."""
    nodes = ensemble.nodes
    left = nodes.cover[nodes.left[split]]
    total = left + nodes.cover[nodes.right[split]]
    return np.where(total > 0, left / np.where(total > 0, total, 1.0), 0.5)


def _last(turns: IntArray, chosen: BoolArray) -> IntArray:
    """The last chosen turn of each path."""
    if turns.shape[1] == 0:
        return np.full(len(turns), NOBODY)
    back = np.argmax(chosen[:, ::-1], axis=1)
    last = np.take_along_axis(turns, (turns.shape[1] - 1 - back)[:, None], axis=1)[:, 0]
    return np.where(chosen.any(axis=1), last, NOBODY)


def _with_others(turns: IntArray, standing: BoolArray, order: int) -> tuple[IntArray, IntArray]:
    """The coalitions of each split's player with those of ``order - 1`` standing turns on its path."""
    if order == 1:
        return np.arange(len(turns)), np.empty((len(turns), 0), dtype=np.int64)
    split, depth = np.nonzero(standing)
    turn = turns[split, depth]
    chosen = [np.arange(len(split))]
    for _ in range(order - 2):
        chosen = _with_one_more(chosen, split)
    return split[chosen[0]], np.stack([turn[each] for each in chosen], axis=1)


def _with_one_more(chosen: list[IntArray], group: IntArray) -> list[IntArray]:
    """Each choice of positions, with every later position of the same group added."""
    more = []
    for step in range(1, int(np.bincount(group).max(initial=0))):
        added = chosen[-1] + step
        same = np.flatnonzero(added < len(group))
        same = same[group[added[same]] == group[chosen[-1][same]]]
        more.append([*(each[same] for each in chosen), added[same]])
    nothing = np.empty(0, dtype=np.int64)
    return [np.concatenate([nothing, *parts]) for parts in zip(*more, strict=True)] or [
        nothing for _ in range(len(chosen) + 1)
    ]


def inside(ensemble: TreeEnsemble, layout: Layout, X: FloatArray) -> BoolArray:
    """``(places + 1, rows)``: whether the row takes this turn and all those above it with the same player."""
    within = np.ones((layout.size + 1, len(X)), dtype=np.bool_)
    columns = np.ascontiguousarray(X.T)
    for level in layout.levels:
        goes = _goes_left(ensemble, level.row.node[level.row.splits], columns)
        before = within[level.earlier]
        children = within[level.following : level.following + 2 * len(goes)]
        np.logical_and(before, goes, out=children[0::2])
        np.greater(before, goes, out=children[1::2])
    return within


def _goes_left(ensemble: TreeEnsemble, split: IntArray, columns: FloatArray) -> BoolArray:
    """``(splits, rows)``"""
    nodes = ensemble.nodes
    x = columns[nodes.feature[split]]
    goes = x <= nodes.threshold[split][:, None]
    missing = np.isnan(x)
    if missing.any():
        goes |= missing & nodes.missing_left[split][:, None]
    sets = np.flatnonzero(nodes.set_words[split] > 0)
    if len(sets):
        node = np.repeat(split[sets], x.shape[1])
        goes[sets] = ensemble.goes_left(node, x[sets].reshape(-1)).reshape(len(sets), -1)
    return goes


def tree_sizes(ensemble: TreeEnsemble) -> tuple[IntArray, IntArray]:
    """Of each tree its nodes and its depth."""
    count, depth = np.zeros((2, len(ensemble.roots)), dtype=np.int64)
    for level, row in enumerate(descend(ensemble, ensemble.roots)):
        here = np.bincount(row.tree, minlength=len(count))
        count += here
        depth[here > 0] = level
    return count, depth


def batches(weight: IntArray, most: int) -> Iterator[IntArray]:
    """Trees in their order, in runs whose weights add up to about the most."""
    part = np.cumsum(weight) // max(most, 1)
    for p in np.unique(part):
        yield np.flatnonzero(part == p)


def coalitions(count: int, order: int) -> IntArray:
    """The players of each column of a result of that order, ascending: ``(columns, order)``."""
    if order == 2:
        high, low = np.tril_indices(count, -1)
        return np.stack([low, high], axis=1)
    sets = sorted(combinations(range(count), order), key=lambda members: members[::-1])
    return np.array(sets, dtype=np.intp).reshape(-1, order)


def column_of(members: list[IntArray]) -> IntArray:
    """The column of each coalition in `coalitions`: members j0 < j1 < j2 are number j0 + C(j1, 2) + C(j2, 3)."""
    first, *rest = np.sort(np.stack(members), axis=0)
    column = first
    for place, member in enumerate(rest, start=2):
        column = column + (member * (member - 1) // 2 if place == 2 else member * (member - 1) * (member - 2) // 6)
    return column
