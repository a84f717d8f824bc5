"""The game of a function: any ``value(coalitions)`` of the caller's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.errors import InputError
from pellucid.games.game import Game
from pellucid.runner import Run


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
                "value(coalitions) returned something that is no number; return one number per coalition."
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
