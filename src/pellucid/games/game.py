"""A cooperative game: what a coalition of players is worth.

A `Game` holds one game per explained row, all with the same players: columns, groups of columns, words,
superpixels. ``worth(S)`` is what the model predicts when only the players of S are known; a game decides what
stands in for the others. Estimators ask a game for many coalitions at once and never know where the numbers
come from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray


class Game(ABC):
    """The games of several rows, with the same players.

    ``price`` is what one coalition costs in one row, in model rows. Where an absent player is averaged over
    several ``donors`` (background rows), a coalition can also be asked with a single one of them.
    """

    rows: int
    players: int
    outputs: int
    price: int = 1
    donors: int = 1

    @abstractmethod
    def worth(self, coalitions: BoolArray, rows: IntArray | None = None) -> FloatArray:
        """The worth ``(rows, coalitions, outputs)`` of each coalition in each (or each chosen) row."""

    def ends(self) -> tuple[FloatArray, FloatArray]:
        """The worth of nobody and of everybody, each ``(rows, outputs)``."""
        both = self.worth(np.array([[False], [True]]).repeat(self.players, axis=1))
        return both[:, 0], both[:, 1]

    def settings(self) -> Mapping[str, Any]:
        """How absent players are played, for the record of the result."""
        return {}

    @property
    def active(self) -> BoolArray:
        """``(rows, players)``: False where a player changes nothing, because absent and present are the same."""
        return np.ones((self.rows, self.players), dtype=np.bool_)

    def single(self, coalitions: BoolArray, donors: IntArray, rows: IntArray | None = None) -> FloatArray:
        """As `worth`, but the absent players of each coalition are played by one donor alone."""
        del donors
        return self.worth(coalitions, rows)

    def draw_donors(self, n: int, generator: np.random.Generator) -> IntArray:
        """Donors drawn at random, each as often as it counts."""
        del generator
        return np.zeros(n, dtype=np.intp)
