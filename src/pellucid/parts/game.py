"""The game of one thing with parts that can be taken away: a text without some words, an image without some segments.

    v(S) = f(the thing with only the parts of S)

What takes the place of an absent part is decided once, by the kind of thing, so that every coalition is one model row
and the worth of nobody is what the model says when everything is absent.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator
from contextlib import closing
from functools import partial
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.games.game import Game
from pellucid.parts.model import ItemModel, ItemPredictor
from pellucid.runner import Run
from pellucid.runner.threads import in_threads


class MaskedGame(Game):
    """One thing, its parts, and a model; no masked thing is asked twice in one call.

    ``predictor`` knows what the model returns after the first call, which asks for nobody and everybody.
    """

    rows = 1

    def __init__(self, model: ItemModel, players: int, run: Run, batch: int) -> None:
        self.players = players
        self._run, self._batch = run, batch
        ends = np.repeat([[False], [True]], players, axis=1)
        with run.counting(2):
            first = model.raw(self.masked(ends), 2)
        again = first
        if run.checks:  # in the other order: does the model answer the same?
            with run.checking(), run.counting(2):
                again = model.raw(self.masked(ends[::-1]), 2)[::-1]
        self.predictor: ItemPredictor
        self.predictor, found = model.learn(first, again)
        self._ends = found[:1], found[1:]
        self.outputs = found.shape[1]

    @abstractmethod
    def masked(self, coalitions: BoolArray) -> Any:
        """The things that the model sees for these coalitions, in a container of its own that the model may change."""

    @abstractmethod
    def distinct(self, coalitions: BoolArray) -> tuple[IntArray, IntArray]:
        """Positions of coalitions whose masked things differ, and for every coalition its place among them."""

    def ends(self) -> tuple[FloatArray, FloatArray]:
        return self._ends

    def worth(self, coalitions: BoolArray, rows: IntArray | None = None) -> FloatArray:
        del rows  # there is one
        if not len(coalitions):
            return np.empty((1, 0, self.outputs))
        asked, place = self.distinct(coalitions)
        blocks = [asked[start : start + self._batch] for start in range(0, len(asked), self._batch)]
        self._run.plan(len(asked))
        found = []
        with closing(self._answers([coalitions[block] for block in blocks])) as answers:
            for block in blocks:
                with self._run.counting(len(block)):
                    found.append(next(answers))
                self._run.advance(len(block))
        self._run.close()
        return np.concatenate(found)[place][None]

    def _answers(self, blocks: list[BoolArray]) -> Generator[FloatArray, None, None]:
        """The answers block by block, in order, whatever the number of threads."""
        return in_threads([partial(self._answer, block) for block in blocks], self._run.threads)

    def _answer(self, coalitions: BoolArray) -> FloatArray:
        return self.predictor(self.masked(coalitions), len(coalitions))


class ActiveGame(Game):
    """The game among those players of one thing that change something; for the others present and absent are the
    same.
    """

    rows = 1

    def __init__(self, game: MaskedGame) -> None:
        self.kept = np.flatnonzero(game.active[0])
        self.players, self.outputs = len(self.kept), game.outputs
        self._game = game

    def ends(self) -> tuple[FloatArray, FloatArray]:
        return self._game.ends()

    def worth(self, coalitions: BoolArray, rows: IntArray | None = None) -> FloatArray:
        del rows  # there is one
        whole = np.zeros((len(coalitions), self._game.players), dtype=np.bool_)
        whole[:, self.kept] = coalitions
        return self._game.worth(whole)
