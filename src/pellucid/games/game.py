"""A cooperative game: what a coalition of players is worth.

A `Game` holds one game per explained row, all with the same players: columns, groups of columns, words,
superpixels. ``worth(S)`` is what the model predicts when only the players of S are known; a game decides what
stands in for the others. Estimators ask a game for many coalitions at once and never know where the numbers
come from. Coalitions are rows of a boolean matrix.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.errors import InputError
from pellucid.runner import Run


class Game(ABC):
    """The games of several rows, with the same players.

    ``price`` is what one coalition costs in one row, in model rows. Where an absent player is averaged over
    several ``donors`` (background rows), a coalition can also be asked with a single one of them; ``alike`` says
    whether they all count the same.
    """

    rows: int
    players: int
    outputs: int
    price: int = 1
    donors: int = 1
    alike: bool = True

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


def all_coalitions(players: int) -> BoolArray:
    """All ``2^players`` coalitions; bit i of a coalition's number says whether player i is in it."""
    return np.asarray((np.arange(2**players)[:, None] >> np.arange(players) & 1) == 1)


def sizes(coalitions: BoolArray) -> IntArray:
    """Members of each coalition."""
    return np.asarray(coalitions.sum(axis=1), dtype=np.intp)


class RestrictedGame(Game):
    """A game among some of its players, in some of its rows: the others are idle there, present or absent."""

    def __init__(self, game: Game, rows: IntArray, players: IntArray) -> None:
        self._game, self._rows, self._players = game, rows, players
        self.rows, self.players, self.outputs = len(rows), len(players), game.outputs
        self.price, self.donors, self.alike = game.price, game.donors, game.alike

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


class FunctionGame(Game):
    """One game, given by what its coalitions are worth: ``value`` maps ``(m, players)`` to ``(m,)`` or ``(m,
    outputs)``.

    The function is asked with at most ``batch`` coalitions at once; a ``run`` counts them and shows progress.
    """

    rows = 1

    def __init__(
        self, value: Callable[[BoolArray], Any], players: int, *, run: Run | None = None, batch: int = 8192
    ) -> None:
        self.players = players
        self._value, self._run, self._batch = value, run or Run(), batch
        self.outputs = 0  # not known before the first answer
        nobody = self._ask(np.zeros((1, players), dtype=np.bool_))
        self.outputs = nobody.shape[1]
        everybody = self._ask(np.ones((1, players), dtype=np.bool_))
        self._ends = nobody, everybody

    def ends(self) -> tuple[FloatArray, FloatArray]:
        return self._ends

    def worth(self, coalitions: BoolArray, rows: IntArray | None = None) -> FloatArray:
        del rows  # there is one
        starts = range(0, len(coalitions), self._batch)
        self._run.plan(len(coalitions))
        parts = []
        for start in starts:
            some = coalitions[start : start + self._batch]
            parts.append(self._ask(some))
            self._run.advance(len(some))
        self._run.close()
        return np.concatenate(parts)[None] if parts else np.empty((1, 0, self.outputs))

    def _ask(self, coalitions: BoolArray) -> FloatArray:
        """Checked worths ``(m, outputs)``; the function gets a copy, so that it may write into it."""
        with self._run.counting(len(coalitions)):
            given = self._value(coalitions.copy())
        try:
            plain = np.asarray(given)
            worth = plain.real.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(
                "value(coalitions) returned something that is not a number; return one number per coalition."
            ) from None
        if np.iscomplexobj(plain):
            raise InputError("value(coalitions) returned complex numbers; return real ones.")
        worth = worth[:, None] if worth.ndim == 1 else worth
        if worth.ndim != 2 or len(worth) != len(coalitions):
            raise InputError(
                f"value(coalitions) returned shape {np.shape(given)} for {len(coalitions)} coalitions; return one"
                " number per coalition."
            )
        if not worth.shape[1]:
            raise InputError("value(coalitions) returned no outputs; return one number per coalition.")
        if self.outputs and worth.shape[1] != self.outputs:
            raise InputError(
                f"value(coalitions) returned {worth.shape[1]} outputs after {self.outputs}; return as many for all"
                " coalitions."
            )
        if not np.isfinite(worth).all():
            who = np.flatnonzero(coalitions[int(np.flatnonzero(~np.isfinite(worth).all(axis=1))[0])])
            raise InputError(
                f"value(coalitions) is not finite for the coalition of players {who.tolist()}; return a finite number"
                " for every coalition."
            )
        return worth
