"""Which coalitions to ask: pairs of a coalition and its complement, stratified by size, none twice.

With p players the pairs (S, everybody else) fall into strata by the size s of the smaller half, s = 1 ... p/2. Within a
stratum pairs are drawn at random without replacement. A pair of size s counts for player i with a weight whose mean
square over the players is 1 / (s (p - s)) relative to the stratum, so Neyman's allocation draws from each stratum in
proportion to the square root of that, until there are no more: the few coalitions of the smallest and largest sizes,
which weigh most, are soon taken whole; single players come first. With few players, all coalitions of two come next,
once there are some of every size: they weigh most of what is left. A longer design contains the shorter ones, so that
sampling can go on where it stopped.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.games import Game

_TWO_SOON = 16  # players, up to whom all coalitions of two are asked early
_FEW_EACH = 4  # pairs per player, besides the single ones, before they are
_LISTED = 20_000  # strata up to this size are listed and shuffled; of larger ones members are drawn one by one


class PairDesign:
    """A stream of pairs; the same generator gives the same pairs."""

    def __init__(self, players: int, generator: np.random.Generator, *, listed: int = _LISTED) -> None:
        self.players = players
        self._strata = [_Stratum(players, s, generator, listed) for s in range(1, players // 2 + 1)]

    @property
    def total(self) -> int:
        """All pairs that there are, apart from nobody and everybody."""
        return sum(stratum.total for stratum in self._strata)

    def between(self, m: int, n: int) -> BoolArray:
        """The smaller halves of the pairs that come after the first ``m``, up to the ``n``-th."""
        parts = [
            stratum.first(now)[before:]
            for stratum, before, now in zip(self._strata, self.allocation(m), self.allocation(n), strict=True)
        ]
        return np.concatenate(parts)

    def asked(self, n: int, halves: BoolArray) -> tuple[FloatArray, FloatArray]:
        """For each of some halves, how many pairs of its size are among the first ``n``, and what share of all that
        is.
        """
        counts = self.allocation(n)
        shares = [count / stratum.total for count, stratum in zip(counts, self._strata, strict=True)]
        size = halves.sum(axis=1) - 1
        return np.array(counts, dtype=np.float64)[size], np.array(shares)[size]

    def allocation(self, n: int) -> tuple[int, ...]:
        """How many pairs of each size; never fewer for a larger ``n``."""
        return _allocation(self.players, min(n, self.total))


@lru_cache(maxsize=256)
def _allocation(p: int, n: int) -> tuple[int, ...]:
    totals = np.array([float(min(_total(p, s), 2**62)) for s in range(1, p // 2 + 1)])
    s = np.arange(1, len(totals) + 1)
    pace = np.where(s == 1, 1.0, 1 / np.sqrt(s * (p - s)))

    soon = _FEW_EACH * p / pace[1:].sum() if 4 <= p <= _TWO_SOON else np.inf

    def counts(level: float) -> FloatArray:
        wanted = np.floor(level * pace)
        wanted[1:2] = np.where(level > soon, np.inf, wanted[1:2])
        return np.minimum(totals, wanted)

    low, high = 0.0, (n + 1.0) * p
    while np.nextafter(low, high) < high:  # the last moment at which no more than n are drawn
        middle = (low + high) / 2
        drawn = counts(middle).sum()
        low, high = (middle, high) if drawn <= n else (low, middle)
        if drawn == n:
            break
    found = counts(low)
    for size, next_count in enumerate(counts(high)):
        found[size] += min(next_count - found[size], n - found.sum())
    return tuple(int(count) for count in found)


def _total(players: int, size: int) -> int:
    """How many pairs there are whose smaller half has so many members."""
    return comb(players, size) // (2 if 2 * size == players else 1)


class _Stratum:
    """The pairs whose smaller half has ``size`` members, in a random order that is made as far as needed."""

    def __init__(self, players: int, size: int, generator: np.random.Generator, listed: int) -> None:
        self._players, self._size, self._most_listed = players, size, listed
        self._halved = 2 * size == players  # of equal halves the one with player 0 stands for both
        self.total = _total(players, size)
        self._generator = np.random.default_rng(generator.integers(2**63))
        self._known = np.empty((0, players), dtype=np.bool_)
        self._seen: set[bytes] = set()

    def first(self, n: int) -> BoolArray:
        if len(self._known) < n:
            self._known = self._listed() if self.total <= self._most_listed else self._drawn(n)
        return self._known[:n]

    def _listed(self) -> BoolArray:
        return _subsets(self._players, self._size)[: self.total][self._generator.permutation(self.total)]

    def _drawn(self, n: int) -> BoolArray:
        parts = [self._known]
        while (lacking := n - sum(len(part) for part in parts)) > 0:
            order = self._generator.random((lacking, self._players)).argsort(axis=1)
            halves = order < self._size
            if self._halved:
                halves ^= ~halves[:, :1]
            new = []
            for half, key in zip(halves, np.packbits(halves, axis=1), strict=True):
                if (name := key.tobytes()) not in self._seen:
                    self._seen.add(name)
                    new.append(half)
            parts.append(np.array(new, dtype=np.bool_).reshape(-1, self._players))
        return np.concatenate(parts)


@lru_cache(maxsize=64)
def _subsets(players: int, size: int) -> BoolArray:
    """All coalitions of a size, those with player 0 first."""
    members = np.array(list(combinations(range(players), size)), dtype=np.intp)
    subsets = np.zeros((len(members), players), dtype=np.bool_)
    np.put_along_axis(subsets, members, True, axis=1)
    subsets.setflags(write=False)
    return subsets


class PairSample:
    """The pairs of coalitions that were asked, and what they are worth.

    Grows with every request, for rows of which fewer and fewer are asked further.
    """

    def __init__(self, game: Game, design: PairDesign) -> None:
        self.game, self.design = game, design
        self._n = 0
        self._parts: list[tuple[BoolArray, IntArray, FloatArray]] = []

    def ask(self, n: int, rows: IntArray) -> None:
        """Ask until ``n`` pairs are known in these rows."""
        halves = self.design.between(self._n, n)
        worth = self.game.worth(np.concatenate([halves, ~halves]), rows)
        self._parts.append((halves, rows, worth.reshape(len(rows), 2, len(halves), -1)))
        self._n = n

    def pairs(self, rows: IntArray) -> tuple[BoolArray, FloatArray]:
        """All pairs, everybody and nobody first, and what they are worth ``(2, pairs, games)`` in these rows."""
        nobody, everybody = self.game.ends()
        halves = [np.ones((1, self.game.players), dtype=np.bool_)]
        worth = [np.stack([everybody[rows], nobody[rows]], axis=1)[:, :, None]]
        for some, asked, found in self._parts:
            halves.append(some)
            worth.append(found[np.searchsorted(asked, rows)])
        together = np.concatenate(worth, axis=2)
        return np.concatenate(halves), together.transpose(1, 2, 0, 3).reshape(2, together.shape[2], -1)

    def spread(self, n: int, halves: BoolArray) -> tuple[FloatArray, FloatArray]:
        """For each pair: how many coalitions of its size it stands for, relative to all of them; and the share not
        asked.
        """
        asked, share = self.design.asked(n, halves)
        once = np.where(2 * halves.sum(axis=1) == halves.shape[1], 0.5, 1.0)  # equal halves: a pair stands for both
        return once / asked, 1 - share


def by_row(by_game: FloatArray, rows: IntArray) -> FloatArray:
    """Rows first and outputs last, from games last."""
    shaped = by_game.reshape(*by_game.shape[:-1], len(rows), -1)
    return np.moveaxis(shaped, -2, 0)
