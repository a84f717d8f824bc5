"""The path-dependent game in numpy; kernels/path.py and kernels/path_pairs.py tell what is computed.

All splits of a level are treated alike: a player's first split is one after which nothing came before (share 1,
every row inside). Arrays are ``(splits, points, rows)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.trees.ensemble import TreeEnsemble
from pellucid.trees.plain.levels import (
    Layout,
    Level,
    batches,
    column_of,
    descend,
    inside,
    lay_out,
    left_share,
    tree_sizes,
)
from pellucid.trees.quadrature import Index, Quadrature, quadrature
from pellucid.trees.rows import Alone, Watch, dense

_ROWS = 64  # together: one numpy call then treats enough numbers even for few trees


def path_values(
    ensemble: TreeEnsemble,
    X: AnyArray,
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
    count = int(players.max(initial=-1)) + 1
    n, columns = X.shape[0], comb(count, order)
    phi = np.zeros((ensemble.n_outputs * columns, n))
    size, depth = tree_sizes(ensemble)
    weight = size * (np.minimum(depth, count) // 2 + 1)
    for trees in batches(weight, watch.limits.plain_cells // max(min(n, _ROWS), 1)):
        layout = lay_out(ensemble, ensemble.roots[trees], players, order)
        rule = quadrature(index, order, layout.most)
        walk = _Walk(ensemble, layout, ensemble.output[trees], columns, rule, watch.limits.plain_cells)
        step = min(_ROWS, max(1, watch.limits.plain_cells // int(weight[trees].sum())))
        watch.plan(n)
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            walk.add(dense(X, rows, fill), phi[:, rows])
            watch.advance(rows.stop - rows.start)
    return np.ascontiguousarray(phi.reshape(ensemble.n_outputs, columns, n).transpose(2, 1, 0))


def path_base(ensemble: TreeEnsemble) -> FloatArray:
    """The value of the game without players: every leaf weighted by the training weight that reached it."""
    below = np.empty((0, ensemble.width))
    for row in reversed(list(descend(ensemble, ensemble.roots))):
        share = left_share(ensemble, row.node[row.splits])[:, None]
        mean = ensemble.nodes.value[row.node]
        mean[row.splits] = share * below[0::2] + (1 - share) * below[1::2]
        below = mean
    base = ensemble.base.copy()
    for v in range(ensemble.width):
        np.add.at(base, ensemble.output + v, below[:, v])
    return base


@dataclass(frozen=True, eq=False)
class _Walk:
    """Some trees, ready for rows."""

    ensemble: TreeEnsemble
    layout: Layout
    output: IntArray
    columns: int
    rule: Quadrature
    cells: int  # that are held at once

    def add(self, X: FloatArray, phi: FloatArray) -> None:
        """Adds the indices of the rows to ``phi`` (outputs times columns, rows)."""
        within = inside(self.ensemble, self.layout, X).astype(np.float64)
        way = self._down(within)
        for v in range(self.ensemble.width):
            self._up(way, within, v, phi)

    def _down(self, within: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        """Of each level the ratios r, and P e: the product down to a split times what it gains."""
        shape = (len(self.layout.levels[0].row.node), len(self.rule), within.shape[1])
        product = np.broadcast_to(self.rule.weights[:, None], shape)
        way = []
        for level in self.layout.levels:
            at = level.row.splits
            old = within[level.earlier][:, None, :]
            now = within[level.following : level.following + 2 * len(at) : 2][:, None, :]
            offset, inner, lost, gained = _constants(level, self.rule.points)
            ratio = old * offset
            ratio += level.share[:, None, None]
            ratio += now * inner
            gain = old * lost
            gain += now * gained
            here = product[at]
            gain *= here
            product = np.empty((2 * len(at), *shape[1:]))
            np.multiply(here, ratio, out=product[0::2])
            np.subtract(here, product[0::2], out=product[1::2])
            way.append((ratio, gain))
        return way

    def _up(self, way: list[tuple[FloatArray, FloatArray]], within: FloatArray, v: int, phi: FloatArray) -> None:
        below = np.empty((0, len(self.rule), within.shape[1]))
        found: list[tuple[IntArray, FloatArray]] = []
        for level, (ratio, gain) in zip(reversed(self.layout.levels), reversed(way), strict=True):
            at = level.row.splits
            jump = below[0::2] - below[1::2]
            total = np.empty((len(level.row.node), *below.shape[1:]))
            total[...] = self.ensemble.nodes.value[level.row.node, v][:, None, None]
            total[at] = below[1::2] + ratio * jump
            jump *= gain
            first = (self.output[level.row.tree[at]] + v) * self.columns
            found += self._coalitions(level, jump, within, first)
            below = total
        _add_up(found, phi)

    def _coalitions(
        self, level: Level, change: FloatArray, within: FloatArray, first: IntArray
    ) -> list[tuple[IntArray, FloatArray]]:
        """What the splits of a level add to the coalitions of their players with those above them."""
        t = self.rule.points
        outside = -1 / (1 - t)
        found = []
        step = max(1, self.cells // max(change[:1].size, 1))
        for start in range(0, len(level.coalition), step):
            split, others = level.coalition[start : start + step], level.others[start : start + step].T
            what = change[split]
            for turn in others:
                share = self.layout.shares[turn][:, None]
                jump = (1 - share) / (share + t * (1 - share)) - outside
                factor = jump[:, :, None] * within[turn][:, None, :]
                factor += outside[:, None]
                what *= factor
            members = [level.player[split], *(self.layout.asked[turn] for turn in others)]
            found.append((first[split] + column_of(members), what.sum(axis=1)))
        return found


def _constants(level: Level, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Ratio (less the share) and gain of each split, (splits, points, 1): for all rows, and more for rows inside."""
    z, before = level.share[:, None], level.before[:, None]
    after = before * z
    old = before + t * (1 - before)
    stays = (after + t * (1 - after)) / old
    leaves = after * (1 - t) / old
    gained = ((1 - after) - stays * (1 - before)) / old
    lost = (-after - leaves * (1 - before)) / old
    everywhere, inside = (leaves - z)[:, :, None], (stays - leaves)[:, :, None]
    return everywhere, inside, lost[:, :, None], (gained - lost)[:, :, None]


def _add_up(found: list[tuple[IntArray, FloatArray]], phi: FloatArray) -> None:
    """Adds rows of numbers to the rows of ``phi`` that they belong to."""
    column = np.concatenate([each for each, _ in found]) if found else np.empty(0, dtype=np.int64)
    if len(column):
        order = np.argsort(column, kind="stable")
        column = column[order]
        starts = np.flatnonzero(np.r_[True, column[1:] != column[:-1]])
        phi[column[starts]] += np.add.reduceat(np.concatenate([what for _, what in found])[order], starts, axis=0)
