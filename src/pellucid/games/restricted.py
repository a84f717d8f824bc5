"""A game among some of its players, in some of its rows: the others are idle there, present or absent."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.games.game import Game


class RestrictedGame(Game):
    """The rows and players of a larger game that matter to each other."""

    def __init__(self, game: Game, rows: IntArray, players: IntArray) -> None:
        self._game, self._rows, self._players = game, rows, players
        self.rows, self.players, self.outputs = len(rows), len(players), game.outputs
        self.price, self.donors = game.price, game.donors

    def worth(self, coalitions: BoolArray, rows: IntArray | None = None) -> FloatArray:
        return self._game.worth(self._among_all(coalitions), self._chosen(rows))

    def single(self, coalitions: BoolArray, donors: IntArray, rows: IntArray | None = None) -> FloatArray:
        return self._game.single(self._among_all(coalitions), donors, self._chosen(rows))

    def ends(self) -> tuple[FloatArray, FloatArray]:
        nobody, everybody = self._game.ends()
        return nobody[self._rows], everybody[self._rows]

    def draw_donors(self, n: int, generator: np.random.Generator) -> IntArray:
        return self._game.draw_donors(n, generator)

    def _chosen(self, rows: IntArray | None) -> IntArray:
        return self._rows if rows is None else self._rows[rows]

    def _among_all(self, coalitions: BoolArray) -> BoolArray:
        full = np.zeros((len(coalitions), self._game.players), dtype=np.bool_)
        full[:, self._players] = coalitions
        return full


def alike(game: Game) -> Iterator[tuple[IntArray, IntArray]]:
    """Rows in which the same players matter, and these players; rows in which none does are left out."""
    patterns, which = np.unique(game.active, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        if pattern.any():
            yield np.flatnonzero(which.reshape(-1) == k), np.flatnonzero(pattern)
