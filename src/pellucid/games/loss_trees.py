"""The game of the loss for trees that add up to the prediction: mean predictions are read, not asked.

The mean over the background of f(x_i on S, z elsewhere) is the partial dependence on S at x_i, which
`pellucid.trees.partial_dependence` gives exactly at about the price of one prediction per row, whatever the background.
This holds where a mean of predictions is a mean of what trees add up to: regression, and the probabilities of forests.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.games.loss import LossGame, SampleSize, Truth
from pellucid.games.loss_rows import RowLosses, mean_and_noise
from pellucid.games.marginal import Players
from pellucid.models import Predictor
from pellucid.reading.trees import Refusal, read_trees
from pellucid.runner import Run
from pellucid.trees.convert import TreeModel
from pellucid.trees.links import predictions
from pellucid.trees.plain.choice import can_compile
from pellucid.trees.predict import predict


def additive_trees(predictor: Predictor, data: Data, run: Run) -> TreeModel | None:
    """The model's trees, if they add up to its predictions; else None."""
    if data.frame.kind == "sparse" or not can_compile():
        return None
    found = read_trees(run, predictor, data)
    return None if isinstance(found, Refusal) or found.link != "identity" else found.model


class TreeLossGame(LossGame):
    """The mean loss of a model whose trees are read."""

    read = True

    def __init__(
        self,
        predictor: Predictor,
        background: Data,
        data: Data,
        players: Players,
        truth: Truth,
        run: Run,
        *,
        trees: TreeModel,
    ) -> None:
        super().__init__(predictor, background, data, players, truth, run)
        self._trees = trees
        self.price = len(data) + len(background)
        self._matrix = trees.encode(predictor.dressed(data.frame))
        self._absent = trees.encode(predictor.dressed(background.frame))
        owner = np.full(1 + max((j for member in players.values() for j in member), default=-1), -1)
        for number, member in enumerate(players.values()):
            owner[list(member)] = number
        source = np.asarray(predictor.columns, dtype=np.intp)[trees.source]
        # A column that belongs to no player is the same in all rows: whether it is known makes no difference.
        self._player = np.where(source < len(owner), owner[source.clip(max=len(owner) - 1)], -1)

    def _means(self, coalitions: BoolArray) -> Iterator[FloatArray]:
        everyone = np.arange(len(self._matrix))
        return (self._mean(coalition, everyone) for coalition in coalitions)

    def pairs(
        self, halves: BoolArray, effort: SampleSize, generators: list[np.random.Generator]
    ) -> tuple[FloatArray, FloatArray]:
        worth, noise = np.empty((2, len(halves))), np.empty(len(halves))
        for t, (half, generator) in enumerate(zip(halves, generators, strict=True)):
            drawn = self._draw(SampleSize(effort.rows, 1), generator)
            y = self.truth.y[drawn.rows]
            first, second = (self.truth.loss(y, self._mean(side, drawn.rows)) for side in (half, ~half))
            worth[:, t], noise[t] = mean_and_noise(
                RowLosses(first, first[None]), RowLosses(second, second[None]), drawn
            )
        return worth, noise

    def _mean(self, coalition: BoolArray, rows: IntArray) -> FloatArray:
        """Full predictions ``(rows, outputs)``, averaged over the background where nothing is known."""
        from pellucid.trees.partial_dependence import partial_dependence  # on use: it loads a compiler

        known = np.flatnonzero(np.append(coalition, True)[self._player])
        weights = self._background.weights
        if len(known):
            points = self._matrix[np.ix_(rows, known)]
            raw = partial_dependence(self._trees.ensemble, known, points, self._absent, weights, watch=self._run)
        else:
            raw = np.broadcast_to(self._nothing, (len(rows), len(self._nothing)))
        full = predictions(raw, "identity", self._predictor.width, str(self._predictor.raw_scale))
        assert full is not None, "only additive trees are read"
        return full

    @property
    def _nothing(self) -> FloatArray:
        weights = self._background.weights
        return np.asarray(weights @ predict(self._trees.ensemble, self._absent) / weights.sum())
