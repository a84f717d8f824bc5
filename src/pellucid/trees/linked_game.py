"""Shapley values of what a model makes of the sum of its trees: probabilities of boosted classifiers, rates, softmax.

The marginal game of link(sum of trees): absent players take their values from the background. A link mixes all trees,
so the values are no longer a sum over trees; they are worked out for each pair of an explained and a background row,
from the leaves that the two can reach together. Rows whose pairs differ in few players go through all coalitions and
are exact (`kernels.lattice`), the others through some of them, and have a standard error (`kernels.drawn_coalitions`).
Which it is depends on the row and the background alone, and every row is given the same coalitions: its numbers do not
depend on the rows it is explained with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.trees.convert.tree_model import Link
from pellucid.trees.ensemble import TreeEnsemble
from pellucid.trees.predict import columns_of
from pellucid.trees.rows import Alone, Watch, dense, share_out

LATTICE = 100 << 16  # coalitions, over all background rows, that a row may be worth: 20 ms
_MOST_PLAYERS = 20  # of one lattice
KEPT_BYTES = 160 * 2**20  # of what the background fails, kept for the next rows
_LANE_PLAYERS = 3
_SIZED = 8  # background rows by which the players that matter most are found


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves of all trees: the players on the way to each, ``who[first[l]:first[l + 1]]``, and what it adds."""

    node: IntArray
    first: IntArray
    who: IntArray
    value: FloatArray
    output: IntArray
    bit: AnyArray  # of every split, that of its player

    @classmethod
    def of(cls, ensemble: TreeEnsemble, players: IntArray) -> Leaves | None:
        """None where a leaf asks for more players than fit."""
        from pellucid.trees.kernels.live_leaves import MOST_BITS, number_players

        nodes = ensemble.nodes
        n = int((nodes.feature < 0).sum())
        count = int(players.max(initial=-1)) + 1
        bit = np.zeros(len(nodes.feature), dtype=np.uint64)
        leaf, tree, first = (np.zeros(n + 1, dtype=np.int64) for _ in range(3))
        asked = np.zeros(n * min(MOST_BITS, count) + count, dtype=np.int64)
        room = np.empty((3, max(len(nodes.feature), count) + 1), dtype=np.int64), np.full(count, -1)
        found, most = number_players(
            nodes.feature, nodes.left, nodes.right, players, ensemble.roots, *room, bit, leaf, tree, first, asked
        )
        if most > MOST_BITS:
            return None
        leaf, tree, first = leaf[:found], tree[:found], first[: found + 1]
        return cls(
            leaf,
            first,
            asked[: first[-1]].copy(),
            np.ascontiguousarray(nodes.value[leaf]),
            ensemble.output[tree],
            bit.astype(np.uint8 if most <= 8 else np.uint32),
        )

    @property
    def arrays(self) -> tuple[AnyArray, ...]:
        """As the kernels unpack them."""
        return self.first, self.who, self.value, self.output


@dataclass(frozen=True, eq=False)
class Draws:
    """Coalitions for every background row: players are in where ``uniform`` is below ``times``.

    ``uniform`` is ``(background, draws, players)``, ``times`` ``(background, draws)``: between 0 and 1/2, evenly over
    the draws of a background row and over the background; each coalition is followed by its complement. There are at
    least two draws for each background row, whose differences say how far an estimate can be trusted.
    """

    uniform: FloatArray
    times: FloatArray

    @classmethod
    def of(cls, background: int, draws: int, players: int, generator: np.random.Generator) -> Draws:
        places = np.stack([generator.permutation(background) for _ in range(draws)], axis=1)
        within = (places + generator.random((background, draws))) / background
        uniform = generator.random((background, draws, players))
        return cls(uniform, (np.arange(draws) + within) / draws / 2)


class LinkedGame:
    """The marginal game of a link of some trees; what does not depend on the rows is made once."""

    def __init__(
        self,
        ensemble: TreeEnsemble,
        leaves: Leaves,
        link: Link,
        background: AnyArray,
        weights: FloatArray | None = None,
        players: IntArray | None = None,
        *,
        fill: float = 0.0,
        kept_bytes: int = KEPT_BYTES,
    ) -> None:
        from pellucid.trees.kernels.links import CODES

        columns = np.arange(ensemble.n_features) if players is None else np.asarray(players, dtype=np.int64)
        counting = np.arange(background.shape[0]) if weights is None else np.flatnonzero(weights)
        share = np.ones(len(counting)) if weights is None else np.asarray(weights, dtype=np.float64)[counting]
        self._ensemble, self._leaves, self._link, self._fill = ensemble, leaves, CODES[link], fill
        self._step = max(1, kept_bytes // (len(leaves.node) * leaves.bit.itemsize))  # background rows at once
        self._columns, self._count = columns, int(columns.max(initial=-1)) + 1
        self._background, self.share = dense(background[counting], slice(0, None), fill), share / share.sum()

    @property
    def count(self) -> int:
        """Number of players."""
        return self._count

    @property
    def outputs(self) -> int:
        """Numbers per prediction."""
        return self._ensemble.n_outputs

    def differing(self, X: AnyArray) -> IntArray:
        """``(rows, background)``: in how many players a row differs from a background row."""
        X = dense(X, slice(0, None), self._fill)
        found = np.zeros((len(X), len(self._background)), dtype=np.intp)
        for player in range(self._count):
            differs = np.zeros(found.shape, dtype=np.bool_)
            for j in np.flatnonzero(self._columns == player):
                own, other = X[:, j, None], self._background[:, j]
                differs |= (own != other) & ~(np.isnan(own) & np.isnan(other))
            found += differs
        return found

    def few(self, X: AnyArray) -> BoolArray:
        """Which rows have so few coalitions that all of them are gone through."""
        differing = self.differing(X)
        total = np.exp2(differing).sum(axis=1)
        return np.asarray((differing.max(axis=1, initial=0) <= _MOST_PLAYERS) & (total * self.outputs <= LATTICE))

    # -- exactly -------------------------------------------------------------------------------------

    def exact(self, X: AnyArray, watch: Watch | None = None) -> FloatArray:
        """``(rows, players, outputs)`` from all coalitions."""
        from pellucid.trees.kernels.lattice import exact_values

        watch = watch or Alone()
        most = int(self.differing(X).max(initial=0))
        size, weights = max(1 << most, 8), _lattice_weights(most)
        values = np.zeros((X.shape[0], self._count, self.outputs))

        def explain(row: AnyArray, i: int, failed: AnyArray, share: FloatArray, sums: FloatArray) -> None:
            live = np.empty(failed.shape[1] + 1, dtype=np.int64)
            base = self._ensemble.base
            exact_values(self._link, self._leaves.arrays, row, failed, share, base, weights, sums, live, values[i])

        self._each_row(X, explain, lambda: np.zeros(size * self.outputs), watch)
        return values

    def worths(self, X: AnyArray, watch: Watch | None = None) -> FloatArray:
        """``(rows, coalitions, outputs)``: the worths of all coalitions of all players, numbered by their bits."""
        from pellucid.trees.kernels.lattice import lattice_worths

        size = max(1 << self._count, 8)
        found = np.zeros((X.shape[0], self.outputs, size))

        def explain(row: AnyArray, i: int, failed: AnyArray, share: FloatArray, sums: FloatArray) -> None:
            live = np.empty(failed.shape[1] + 1, dtype=np.int64)
            base = self._ensemble.base
            lattice_worths(self._link, self._leaves.arrays, row, failed, share, base, sums, live, found[i])

        self._each_row(X, explain, lambda: np.zeros(size * self.outputs), watch or Alone())
        return np.ascontiguousarray(found[..., : 1 << self._count].transpose(0, 2, 1))

    # -- from some coalitions ------------------------------------------------------------------------

    def drawn(self, X: AnyArray, draws: Draws, watch: Watch | None = None) -> tuple[FloatArray, FloatArray]:
        """``(rows, players, outputs)`` from drawn coalitions, and the variances of these estimates."""
        from pellucid.trees.kernels.drawn_coalitions import drawn_values

        watch = watch or Alone()
        n, times = X.shape[0], draws.times.shape[1]
        values, variance = (np.zeros((n, self._count, self.outputs)) for _ in range(2))
        lanes = self._lanes(X, watch)
        sets = _lane_sets()
        done = np.zeros(n, dtype=np.intp)  # background rows

        def explain(row: AnyArray, i: int, failed: AnyArray, share: FloatArray, room: Any) -> None:
            found = np.zeros((len(failed), times, self._count, self.outputs))
            here = slice(done[i], done[i] + len(failed))
            base, arrays = self._ensemble.base, self._leaves.arrays
            drawn_values(
                self._link,
                arrays,
                row,
                failed,
                base,
                lanes[i],
                sets,
                draws.uniform[here],
                draws.times[here],
                room,
                found,
            )
            means = found.mean(axis=1)
            values[i] += np.einsum("b,bpk->pk", share, means)
            spread = found.var(axis=1, ddof=1) / times
            variance[i] += np.einsum("b,bpk->pk", share**2, spread)
            done[i] += len(failed)

        self._each_row(X, explain, self._room, watch)
        return values, variance

    def _lanes(self, X: AnyArray, watch: Watch) -> IntArray:
        """``(rows, players)``: 0, 1, 2 for the three players that matter most in a row, -1 for the others."""
        from pellucid.trees.kernels.drawn_coalitions import sizes_of_effects

        n = X.shape[0]
        sizes = np.zeros((n, self._count))
        some = np.unique(np.linspace(0, len(self.share) - 1, min(_SIZED, len(self.share))).astype(np.intp))
        failed = self._failed(self._background[some])

        def measure(first: int, end: int) -> None:
            room = self._room()
            for i, row in enumerate(self._failed(dense(X, slice(first, end), self._fill)), first):
                sizes_of_effects(self._leaves.arrays, row, failed, _shares(), room, sizes[i])

        share_out(measure, n, watch)
        lanes = np.full((n, self._count), -1)
        largest = np.argsort(-sizes, axis=1, kind="stable")[:, :_LANE_PLAYERS]
        np.put_along_axis(lanes, largest, np.arange(largest.shape[1]), axis=1)
        return lanes

    def _room(self) -> tuple[IntArray, ...]:
        """Live leaves, what they need and ask for, in words of 64 players, and their lanes."""
        n, words = len(self._leaves.node) + 1, -(-self._count // 64)
        return tuple(np.empty(shape, dtype=np.int64) for shape in (n, (n, words), (n, words), n))

    # -- rows and background -------------------------------------------------------------------------

    def _each_row(self, X: AnyArray, explain: Callable[..., None], room: Callable[[], Any], watch: Watch) -> None:
        """Every row with what it fails, and the background some rows at a time."""
        with closing(watch):
            for share, failed in self._blocks():

                def work(first: int, end: int, share: FloatArray = share, failed: AnyArray = failed) -> None:
                    memory = room()
                    for i, row in enumerate(self._failed(dense(X, slice(first, end), self._fill)), first):
                        explain(row, i, failed, share, memory)

                share_out(work, X.shape[0], watch)

    def _blocks(self) -> Iterator[tuple[FloatArray, AnyArray]]:
        """Shares of the background rows and what they fail; all at once, and kept, where it fits."""
        if self._step >= len(self.share):
            yield self.share, self._all_failed
            return
        for start in range(0, len(self.share), self._step):
            part = slice(start, start + self._step)
            yield self.share[part], self._failed(self._background[part])

    @cached_property
    def _all_failed(self) -> AnyArray:
        return self._failed(self._background)

    def _failed(self, X: FloatArray) -> AnyArray:
        """``(rows, leaves)``: the players that fail on the way to a leaf."""
        from pellucid.trees.kernels.live_leaves import failed_players

        leaves, nodes = self._leaves, self._ensemble.nodes
        out = np.empty((len(X), len(leaves.node)), dtype=leaves.bit.dtype)
        room = np.zeros(len(leaves.bit), dtype=leaves.bit.dtype)
        X = np.ascontiguousarray(X, dtype=np.float64)
        failed_players(columns_of(nodes), nodes.sets, leaves.bit, leaves.node, X, room, out)
        return out


def _lattice_weights(most: int) -> FloatArray:
    """For d = 0 ... most players: w(s - 1) + w(s) and w(s), of a vector of eight coalitions whose other members are h,
    at ``[d, kind, 8 h + lane]``.
    """
    out = np.zeros((most + 1, 2, 8 * (most + 1)))
    lanes = np.array([lane.bit_count() for lane in range(8)])
    for d in range(most + 1):
        w = np.zeros(d + 2 + 8)
        w[1 : d + 1] = [1 / (d * comb(d - 1, s)) for s in range(d)]  # w[s + 1]
        for h in range(max(d - _LANE_PLAYERS, 0) + 1):
            here = np.arange(8) < 1 << d
            s = h + lanes
            out[d, 0, 8 * h : 8 * h + 8] = np.where(here, w[s] + w[s + 1], 0.0)
            out[d, 1, 8 * h : 8 * h + 8] = np.where(here, w[s + 1], 0.0)
    return out


def _lane_sets() -> FloatArray:
    """For each of 3^3 ways to ask for three players (either, out, in) the lanes that meet it."""
    code, lane, player = np.ogrid[: 3**_LANE_PLAYERS, :8, :_LANE_PLAYERS]
    asked = code // 3**player % 3
    return ((asked == 0) | ((lane >> player & 1) == asked - 1)).all(axis=2).astype(np.float64)


def _shares() -> FloatArray:
    """``[a, b]`` = a! b! / (a + b + 1)!: what each of a + 1 players gets of a leaf that also lacks b others."""
    return np.array([[1 / ((a + b + 1) * comb(a + b, a)) for b in range(33)] for a in range(33)])
