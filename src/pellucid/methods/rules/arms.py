"""What is known of some rules from the samples drawn for them.

A *predicate* is a number; a *rule* is a set of predicates, a row of bits. A search is a generator: it yields the draws
that it `Wants` and is sent what they gave, so that it knows nothing of tables, texts or images, and many searches can
be answered together. What is sent is one array per rule: for each draw whether the model predicted the same as for the
explained row. Draw number k is the same for all rules of an episode where the perturbation allows it (the same row, in
which each rule fixes its own part), so two rules can be compared draw by draw.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Wants:
    """Draws asked for: of rule ``bits[i]`` those numbered ``start[i]`` to ``stop[i]`` in an episode.

    Episodes do not share draws. ``whole``: not draws, but once every row that a draw could give (see
    `Space.enumerable`).
    """

    episode: int
    bits: BoolArray
    start: IntArray
    stop: IntArray
    whole: bool = False


T = TypeVar("T")
Asking = Generator[Wants, list[BoolArray], T]


class Arms:
    """Rules of one episode with the draws made for each so far; ``exact`` holds what is known without chance, else
    NaN.
    """

    def __init__(self, bits: BoolArray, coverage: FloatArray, episode: int, *, paired: bool = True) -> None:
        self.bits, self.coverage, self.episode, self.paired = bits, coverage, episode, paired
        self.n = np.zeros(len(bits), dtype=np.intp)
        self.hits = np.zeros(len(bits), dtype=np.intp)
        self.ended = np.zeros(len(bits), dtype=np.bool_)
        self.exact = np.full(len(bits), np.nan)
        self._same = np.zeros((len(bits), 64), dtype=np.bool_)

    def __len__(self) -> int:
        return len(self.bits)

    @property
    def mean(self) -> FloatArray:
        """Share of draws with the same prediction; 0 without draws."""
        return np.where(np.isnan(self.exact), self.hits / np.maximum(self.n, 1), self.exact)

    def same(self, arm: int) -> BoolArray:
        """Draw by draw, whether the prediction was the same."""
        return self._same[arm, : self.n[arm]]

    def draw(self, which: IntArray, upto: IntArray) -> Asking[bool]:
        """Draw for some arms until they have so many; False if there was nothing more to draw."""
        more = (upto > self.n[which]) & ~self.ended[which]
        which, upto = which[more], upto[more]
        if not len(which):
            return False
        found = yield Wants(self.episode, self.bits[which], self.n[which], upto)
        self._make_room(int(upto.max()))
        for arm, goal, same in zip(which.tolist(), upto.tolist(), found, strict=True):
            start = int(self.n[arm])
            self._same[arm, start : start + len(same)] = same
            self.n[arm] += len(same)
            self.hits[arm] += int(same.sum())
            self.ended[arm] = self.n[arm] < goal  # fewer than wanted: there are no others
        return True

    def enumerate(self, which: IntArray, shares: FloatArray) -> Asking[None]:
        """The exact precision of some arms: each row counts with its share."""
        if len(which):
            none = np.zeros(len(which), dtype=np.intp)
            found = yield Wants(self.episode, self.bits[which], none, none, whole=True)
            self.exact[which] = [float(shares[same].sum() / shares.sum()) for same in found]
            self.ended[which] = True

    def _make_room(self, size: int) -> None:
        room = self._same.shape[1]
        if size > room:
            wider = np.zeros((len(self), max(size, 2 * room)), dtype=np.bool_)
            wider[:, :room] = self._same
            self._same = wider

    def differences(self, a: IntArray, b: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """For every arm of ``a`` (rows) and of ``b``: draws that both have, those only b gets right, those only a
        does.
        """
        made = np.arange(self._same.shape[1]) < self.n[:, None]
        right, wrong = (self._same & made).astype(np.float64), (~self._same & made).astype(np.float64)
        common = np.minimum(self.n[a][:, None], self.n[b][None, :]).astype(np.float64)
        return common, wrong[a] @ right[b].T, right[a] @ wrong[b].T
