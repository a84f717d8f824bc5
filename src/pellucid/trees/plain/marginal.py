"""The marginal game in numpy: every row walks down the trees together with every background row.

Where the two part, at a split on a player that has not parted them before, the walk goes both ways: on one side the
player is taken from the row (A), on the other from the background row (B). At a leaf reached with a players in A
and b in B, f(t) = t^a (1-t)^b times its value, with derivatives

    (-1)^j t^(a-i) (1-t)^(b-j)        for a coalition with i players in A and j in B

integrated by quadrature. The sums over the leaves below each parting are all that its player needs, alone and
together with players that parted the two rows further up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import TypeVar

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.trees.ensemble import TreeEnsemble
from pellucid.trees.plain.levels import Layout, Level, batches, column_of, inside, lay_out, tree_sizes
from pellucid.trees.quadrature import Index, quadrature
from pellucid.trees.rows import Alone, Watch, dense, shares_of

_PAIRS = 1 << 12  # pairs of rows that walk together


def marginal_values(
    ensemble: TreeEnsemble,
    X: AnyArray,
    background: AnyArray,
    weights: FloatArray | None,
    players: IntArray,
    *,
    index: Index = "shapley",
    order: int = 1,
    fill: float = 0.0,
    watch: Watch | None = None,
) -> FloatArray:
    """``(rows, players, outputs)``; with ``order=2`` or 3 one column per pair or triple of players instead."""
    watch = Alone() if watch is None else watch
    players = np.asarray(players, dtype=np.int64)
    n, m = X.shape[0], background.shape[0]
    weights = shares_of(m, weights)
    columns = comb(int(players.max(initial=-1)) + 1, order)
    phi = np.zeros((ensemble.n_outputs * columns, n))
    leaves = (tree_sizes(ensemble)[0] + 1) // 2
    for trees in batches(leaves, watch.limits.plain_cells // max(min(n * m, _PAIRS), 1)):
        layout = lay_out(ensemble, ensemble.roots[trees], players)
        pairs = min(_PAIRS, max(1, watch.limits.plain_cells // int(leaves[trees].sum())))
        rows_at_once = min(n, max(1, pairs // m))
        against_at_once = max(1, pairs // max(rows_at_once, 1))
        watch.plan(n)
        for start in range(0, n, max(rows_at_once, 1)):
            rows = slice(start, min(start + rows_at_once, n))
            row_inside = inside(ensemble, layout, dense(X, rows, fill))
            for other in range(0, m, against_at_once):
                some = slice(other, min(other + against_at_once, m))
                against_inside = inside(ensemble, layout, dense(background, some, fill))
                walk = _Walk(layout, row_inside, against_inside)
                found = walk.to_the_leaves()
                solved = _Solved(ensemble, ensemble.output[trees], columns, index, order)
                solved.add(found, weights[some], phi[:, rows])
            watch.advance(rows.stop - rows.start)
    return np.ascontiguousarray(phi.reshape(ensemble.n_outputs, columns, n).transpose(2, 1, 0))


def marginal_base(
    ensemble: TreeEnsemble, background: AnyArray, weights: FloatArray | None, *, fill: float = 0.0
) -> FloatArray:
    """The value of the game without players: the mean prediction over the background."""
    m = background.shape[0]
    weights = np.ones(m) if weights is None else np.asarray(weights, dtype=np.float64)
    total = np.zeros(ensemble.n_outputs)
    for start in range(0, m, _PAIRS):
        some = slice(start, min(start + _PAIRS, m))
        total += weights[some] @ ensemble.predict(dense(background, some, fill))
    return np.asarray(total / weights.sum())


@dataclass(frozen=True, eq=False)
class _Partings:
    """Turns at which a player came to one side; ``before`` is the parting above on the same walk, -1 if none."""

    before: IntArray
    player: IntArray
    in_row: BoolArray
    row: IntArray
    tree: IntArray
    rank: IntArray


@dataclass(frozen=True, eq=False)
class _Arrivals:
    """Walks that parted and ended: the last parting, the leaf, and how many players are on each side."""

    last: IntArray
    node: IntArray
    against: IntArray
    from_row: IntArray
    from_background: IntArray


_Record = TypeVar("_Record", _Partings, _Arrivals)


@dataclass(frozen=True, eq=False)
class _Walks:
    """Pairs of rows under way on one level."""

    at: IntArray
    row: IntArray
    against: IntArray
    from_row: IntArray
    from_background: IntArray
    last: IntArray

    def chosen(self, which: IntArray | BoolArray) -> _Walks:
        return _Walks(*(each[which] for each in vars(self).values()))


@dataclass(frozen=True, eq=False)
class _Walk:
    """Rows and background rows walking down some trees."""

    layout: Layout
    row_inside: BoolArray
    against_inside: BoolArray

    def to_the_leaves(self) -> tuple[_Partings, _Arrivals]:
        n, m = self.row_inside.shape[1], self.against_inside.shape[1]
        at, row, against = (each.reshape(-1) for each in np.indices((len(self.layout.levels[0].row.node), n, m)))
        nothing = np.zeros(len(at), dtype=np.int64)
        walks = _Walks(at, row, against, nothing, nothing, nothing - 1)
        partings: list[_Partings] = []
        arrivals: list[_Arrivals] = []
        known = 0
        for level in self.layout.levels:
            split = np.full(len(level.row.node), -1)
            split[level.row.splits] = np.arange(len(level.row.splits))
            number = split[walks.at]
            there = walks.chosen((number < 0) & (walks.last >= 0))
            arrivals.append(
                _Arrivals(there.last, level.row.node[there.at], there.against, there.from_row, there.from_background)
            )
            on = number >= 0
            walks, parted = self._turn(level, number[on], walks.chosen(on), known)
            partings.append(parted)
            known += len(parted.player)
        return _joined(partings), _joined(arrivals)

    def _turn(self, level: Level, split: IntArray, walks: _Walks, known: int) -> tuple[_Walks, _Partings]:
        """The walks one level further down, and those of their turns that part the two rows."""
        earlier = level.earlier[split]
        together = _of(self.row_inside, earlier, walks.row) & _of(self.against_inside, earlier, walks.against)
        child = np.concatenate([2 * split, 2 * split + 1])
        row, against = np.tile(walks.row, 2), np.tile(walks.against, 2)
        by_row = _of(self.row_inside, level.following + child, row)
        by_background = _of(self.against_inside, level.following + child, against)
        alive = np.flatnonzero(by_row | by_background)
        origin = alive % max(len(split), 1)
        by_row, by_background = by_row[alive], by_background[alive]
        parts = (by_row != by_background) & together[origin]
        before = walks.last[origin]
        last = before.copy()
        last[parts] = known + np.arange(np.count_nonzero(parts))
        moved = _Walks(
            child[alive],
            row[alive],
            against[alive],
            walks.from_row[origin] + (parts & by_row),
            walks.from_background[origin] + (parts & by_background),
            last,
        )
        number = split[origin][parts]
        rank = moved.from_row[parts] + moved.from_background[parts]
        tree = level.row.tree[level.row.splits][number]
        parted = _Partings(before[parts], level.player[number], by_row[parts], moved.row[parts], tree, rank)
        return moved, parted


@dataclass(frozen=True, eq=False)
class _Solved:
    """From the leaves that were reached to the indices."""

    ensemble: TreeEnsemble
    output: IntArray
    columns: int
    index: Index
    order: int

    def add(self, found: tuple[_Partings, _Arrivals], weights: FloatArray, phi: FloatArray) -> None:
        """Adds the indices of the rows to ``phi`` (outputs times columns, rows)."""
        partings, arrivals = found
        if len(arrivals.last) == 0:
            return
        by_sides = self._integrals(arrivals.from_row, arrivals.from_background)
        for v in range(self.ensemble.width):
            value = self.ensemble.nodes.value[arrivals.node, v] * weights[arrivals.against]
            sums = [_below(partings, arrivals.last, value * each) for each in by_sides]
            first = (self.output[partings.tree] + v) * self.columns
            for members in _on_one_walk(partings.before, [np.arange(len(first))], self.order - 1):
                lowest = members[0]
                from_b = np.sum([~partings.in_row[each] for each in members], axis=0)
                what = np.choose(from_b, [each[lowest] for each in sums])
                column = first[lowest] + column_of([partings.player[each] for each in members])
                np.add.at(phi, (column, partings.row[lowest]), what)

    def _integrals(self, a: IntArray, b: IntArray) -> list[FloatArray]:
        """Of each leaf's derivative for a coalition with none, one, two, ... of its players in B."""
        most = int((a + b).max())
        rule = quadrature(self.index, self.order, most)
        power = np.arange(most + 1)
        t, w = rule.points[:, None], rule.weights[:, None]
        table = (w * t**power).T @ (1 - t) ** power

        return [
            (-1.0) ** j * table[np.maximum(a - (self.order - j), 0), np.maximum(b - j, 0)]
            for j in range(self.order + 1)
        ]


def _on_one_walk(before: IntArray, members: list[IntArray], more: int) -> Iterator[list[IntArray]]:
    """Every coalition of the members with so many more partings above the last of them."""
    if more == 0:
        yield members
        return
    above = before[members[-1]]
    while (above >= 0).any():
        on = above >= 0
        members, above = [each[on] for each in members], above[on]
        yield from _on_one_walk(before, [*members, above], more - 1)
        above = before[above]


def _below(partings: _Partings, last: IntArray, what: FloatArray) -> FloatArray:
    """Of each parting the sum over the arrivals below it."""
    total = np.bincount(last, what, minlength=len(partings.player)).astype(np.float64, copy=False)
    by_rank = np.argsort(-partings.rank, kind="stable")
    ends = np.searchsorted(-partings.rank[by_rank], np.arange(-int(partings.rank.max()), -1), side="right")
    start = 0
    for end in ends:  # the deepest first, those without a parting above them never
        some = by_rank[start:end]
        np.add.at(total, partings.before[some], total[some])
        start = end
    return total


def _of(table: BoolArray, place: IntArray, row: IntArray) -> BoolArray:
    """``table[place, row]``"""
    found: BoolArray = table.reshape(-1).take(place * table.shape[1] + row)
    return found


def _joined(parts: list[_Record]) -> _Record:
    first = type(parts[0])
    return first(*(np.concatenate([getattr(part, name) for part in parts]) for name in vars(parts[0])))
