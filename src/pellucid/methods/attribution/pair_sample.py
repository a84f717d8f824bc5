"""The pairs of coalitions that were asked, and what they are worth."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.games import Game
from pellucid.methods.attribution.pair_design import PairDesign


class PairSample:
    """Grows with every question, for rows of which fewer and fewer are asked further."""

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
