"""What one question makes of the boxes of a model: cells that are allowed, with costs, and the leaves of a ball.

A player whose costs rise on either side of its own cell keeps its cells in their order (a *run* is then described by
its ends); of any other player, and where a missing value is among the choices, they are put in the order of their
costs, the own one first, and sets of them are bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.trees.cells import Boxes, Column, Kinds, packed_bits

Problem = tuple[tuple[AnyArray, ...], tuple[AnyArray, ...], tuple[AnyArray, ...], tuple[AnyArray, ...]]


@dataclass(frozen=True, eq=False)
class _Player:
    """The allowed cells of one player in their new order, and what its kinds of conditions accept of them."""

    cells: IntArray
    cost: FloatArray
    own: int
    words: int  # 0: a run
    low: IntArray  # per kind: the ends of the run
    high: IntArray
    masks: AnyArray  # per kind: the bits
    kind_cost: FloatArray
    absent: IntArray  # per kind: the first cell that it does not accept


@dataclass(frozen=True, eq=False)
class Arrangement:
    """All players, one after another; `within` makes the problem of a ball."""

    boxes: Boxes
    players: tuple[_Player, ...]
    largest: bool
    leaf_cost: FloatArray

    @classmethod
    def of(cls, boxes: Boxes, costs: Sequence[FloatArray], own: IntArray, *, largest: bool) -> Arrangement:
        """Costs of each player's cells (infinite: not allowed; the own one costs nothing)."""
        from pellucid.trees.kernels.leaf_boxes import leaf_costs

        players = tuple(
            _player(kinds, isinstance(player, Column), cost, int(cell))
            for kinds, player, cost, cell in zip(boxes.kinds, boxes.players, costs, own, strict=True)
        )
        leaf_cost = np.empty(len(boxes.first) - 1)
        kind_cost = np.concatenate([player.kind_cost for player in players])
        leaf_costs(boxes.first, boxes.kind, kind_cost, largest, leaf_cost)
        return cls(boxes, players, largest, leaf_cost)

    @property
    def dearest(self) -> float:
        """More than this no row costs."""
        most = [float(player.cost.max()) for player in self.players]
        return max(most) if self.largest else sum(most)

    @property
    def smallest(self) -> float:
        """The least that any change costs."""
        some = [player.cost[player.cost > 0].min(initial=np.inf) for player in self.players]
        least = float(min(some))
        return least if np.isfinite(least) else 0.0

    def original(self, cells: IntArray) -> IntArray:
        """A row of cells by their numbers in the model."""
        return np.array([player.cells[c] for player, c in zip(self.players, cells, strict=True)], dtype=np.int64)

    def place(self, player: int, cell: int) -> int:
        """The new number of a cell of the model; -1 where there is none."""
        if player < 0 or cell < 0 or self.players[player].words:
            return -1
        return int(np.searchsorted(self.players[player].cells, cell))

    def left(self, low: IntArray, high: IntArray, bits: AnyArray) -> list[IntArray]:
        """The cells that a node leaves to each player, by their numbers in the model."""
        found, word = [], 0
        for j, player in enumerate(self.players):
            if player.words == 0:
                found.append(player.cells[int(low[j]) : int(high[j]) + 1])
            else:
                own = np.ascontiguousarray(bits[word : word + player.words]).view(np.uint8)
                kept = np.unpackbits(own, bitorder="little", count=len(player.cells)).astype(np.bool_)
                found.append(player.cells[kept])
            word += player.words
        return found

    def within(self, ball: float, sums: tuple[FloatArray, IntArray, FloatArray]) -> Problem | None:
        """Trees, conditions, players and domain of the rows that cost less than ``ball``; None where a tree has no leaf
        there.
        """
        from pellucid.trees.kernels.leaf_boxes import leaves_within

        boxes, (value, tree_sum, base) = self.boxes, sums
        ends = [_reach(player, ball) for player in self.players]
        whole = np.concatenate([_whole(player, *end) for player, end in zip(self.players, ends, strict=True)])
        starts = np.cumsum([0, *[player.masks.size for player in self.players]])
        low = np.concatenate([_lows(player, int(at)) for player, at in zip(self.players, starts[:-1], strict=True)])
        high = np.concatenate([player.high for player in self.players])
        n, e = len(boxes.first), len(boxes.who) + 1
        trees, kept, leaf, first = (np.empty(size, np.int64) for size in (n, len(tree_sum) + 1, n, n + 1))
        who, from_cell, to_cell = np.empty(e, np.int64), np.empty(e, np.int64), np.empty(e, np.int64)
        lists = (trees, kept, leaf, first, who, from_cell, to_cell)
        listed = (boxes.first, boxes.who, boxes.kind)
        t, m, c = leaves_within(ball, self.leaf_cost, boxes.tree_first, tree_sum, listed, (low, high), whole, lists)
        if (np.diff(kept[: t + 1]) == 0).any():
            return None
        masks = np.concatenate([np.zeros(1, np.uint64), *[player.masks.ravel() for player in self.players]])
        return (
            (np.ascontiguousarray(value[leaf[:m]]), kept[: t + 1], tree_sum[trees[:t]], base),
            (first[: m + 1], who[:c], from_cell[:c], to_cell[:c], masks),
            self._arrays(),
            self._domain(ends),
        )

    def _arrays(self) -> tuple[AnyArray, ...]:
        words = np.array([player.words for player in self.players])
        return (
            np.array([player.own for player in self.players]),
            np.cumsum([0, *[len(player.cells) for player in self.players]]),
            np.concatenate([player.cost for player in self.players]),
            words,
            np.cumsum(words) - words,
        )

    def _domain(self, ends: list[tuple[int, int]]) -> tuple[AnyArray, ...]:
        low, high = (np.array(side, dtype=np.int64) for side in zip(*ends, strict=True))
        words = []
        for player, (_, last) in zip(self.players, ends, strict=True):
            if player.words:
                words.append(packed_bits((np.arange(len(player.cells)) <= last)[None])[0])
        return low, high, np.concatenate([*words, np.zeros(1, np.uint64)])


def _player(kinds: Kinds, numbers: bool, cost: FloatArray, own: int) -> _Player:
    allowed = np.flatnonzero(np.isfinite(cost))
    place = int(np.searchsorted(allowed, own))
    if numbers and own < len(cost) - 1 and not np.isfinite(cost[-1]):
        price = cost[allowed]
        if (np.diff(price[: place + 1]) <= 0).all() and (np.diff(price[place:]) >= 0).all():
            return _run(kinds, allowed, price, place, len(cost))
    others = allowed[allowed != own]
    order = np.concatenate([[own], others[np.argsort(cost[others], kind="stable")]]).astype(np.int64)
    table = kinds.accepted(len(cost))[:, order]
    padded = np.hstack([table, np.ones((len(table), 1), np.bool_)])
    kind_cost = np.append(cost[order], np.inf)[padded.argmax(axis=1)]
    absent = np.hstack([table, np.zeros((len(table), 1), np.bool_)]).argmin(axis=1)
    masks = packed_bits(table)
    nothing = np.zeros(len(table), np.int64)
    return _Player(order, cost[order], 0, packed_bits(table[:0]).shape[1], nothing, nothing, masks, kind_cost, absent)


def _run(kinds: Kinds, allowed: IntArray, price: FloatArray, own: int, cells: int) -> _Player:
    before = np.concatenate([[0], np.cumsum(np.bincount(allowed, minlength=cells))])
    low, high = before[kinds.low], before[kinds.high] - 1
    nearest = np.clip(own, low, np.maximum(high, low)).clip(0, len(price) - 1)
    kind_cost = np.where(low <= high, price[nearest], np.inf)
    none = np.zeros((0, 1), np.uint64)
    return _Player(allowed, price, own, 0, low, high, none, kind_cost, np.zeros(len(low), np.int64))


def _reach(player: _Player, ball: float) -> tuple[int, int]:
    """The first and last cell that cost less than a ball."""
    inside = np.flatnonzero(player.cost < ball)
    return (int(inside[0]), int(inside[-1])) if len(inside) else (player.own, player.own)


def _whole(player: _Player, low: int, high: int) -> BoolArray:
    """Whether each kind of condition accepts all cells in reach."""
    if player.words:
        return np.asarray(player.absent > high)
    return np.asarray((player.low <= low) & (player.high >= high))


def _lows(player: _Player, start: int) -> IntArray:
    if player.words == 0:
        return player.low
    return 1 + start + np.arange(len(player.masks)) * player.words
