"""The game of the loss: how well the model does when it knows only some of the features.

    v(S) = - mean over rows i of loss(y_i, m_i(S)),    m_i(S) = mean over the background z of f(x_i on S, z elsewhere)

both means weighted. Covert, Lundberg and Lee 2020, with the marginal distribution in place of the conditional one. It
is one game for all rows together. `worth` goes through all rows and the whole background. `pairs` asks for a coalition
and its complement with some rows and some donors (background rows) of each row, and says how far off that can be.

*Trees that add up to the prediction* are read, not asked: the mean over the background of f(x_i on S, z elsewhere) is
the partial dependence on S at x_i, which `pellucid.trees.partial_dependence` gives exactly at about the price of one
prediction per row, whatever the background. This holds where a mean of predictions is a mean of what trees add up to:
regression, and the probabilities of forests.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.games.game import Game
from pellucid.games.loss_rows import Draw, RowLosses, donor_losses, draw, mean_and_noise
from pellucid.games.marginal import Players
from pellucid.losses import RowLoss
from pellucid.models import Predictor
from pellucid.reading.trees import Refusal, read_trees
from pellucid.runner import Intervention, Run
from pellucid.stats import weighted_mean
from pellucid.trees.convert import TreeModel
from pellucid.trees.plain.choice import can_compile
from pellucid.trees.predict import predict, predictions

_AT_ONCE = 2**21  # predictions kept until their losses are known
_CELLS = 2**24  # and cells of the tables behind them


@dataclass(frozen=True, eq=False)
class Truth:
    """What predictions are compared with, and what each row counts."""

    y: FloatArray
    loss: RowLoss
    weights: FloatArray

    def mean(self, predictions: FloatArray) -> float:
        """The mean loss of one prediction per row."""
        return float(self.loss(self.y, predictions) @ self.weights / self.weights.sum())


@dataclass(frozen=True)
class SampleSize:
    """How many rows, and how many donors for each, a coalition is asked with."""

    rows: int
    donors: int


@dataclass(frozen=True, eq=False)
class Crossed(Intervention):
    """Rows in which the players of a coalition keep their values and the others take those of a donor.

    ``index`` is ``(variants, 3)``: a coalition, a set of rows and donors, and which of its donors. ``own[set]`` are
    rows,
    ``donors[set, which]`` the donor of each; a pool holds the values of the rows, then those of the background.
    """

    known: BoolArray = field(default_factory=lambda: np.empty((0, 0), dtype=np.bool_))
    own: IntArray = field(default_factory=lambda: np.empty((0, 0), dtype=np.intp))
    donors: IntArray = field(default_factory=lambda: np.empty((0, 0, 0), dtype=np.intp))

    def columns(self, variants: slice, rows: slice) -> dict[int, tuple[Any, IntArray]]:
        coalition, group, which = self.index[variants].T
        own, donors = self.own[group][:, rows], self.donors[group, which][:, rows]
        known = self.known[coalition]
        return {
            j: (pool, np.where(known[:, f, None], own, donors))
            for f, (j, pool) in enumerate(zip(self.features, self.pools, strict=True))
        }


class LossGame(Game):
    """The mean loss of a model that is asked."""

    rows = outputs = 1
    read = False  # whether mean predictions are read off the model, for all donors at once

    def __init__(
        self, predictor: Predictor, background: Data, data: Data, players: Players, truth: Truth, run: Run
    ) -> None:
        self._predictor, self._background, self._data, self._run = predictor, background, data, run
        self.truth = truth
        members = list(players.values())
        self.players = len(members)
        self.price = len(data) * len(background)
        self.share = background.weights / background.weights.sum()
        self._features = tuple(j for player in members for j in player)
        self._owner = np.repeat(np.arange(len(members)), [len(player) for player in members])

    @property
    def size(self) -> tuple[int, int]:
        """Rows, and background rows."""
        return len(self._data), len(self._background)

    @cached_property
    def _ends(self) -> tuple[FloatArray, FloatArray]:
        own = self._run.predict(self._predictor, self._data, full=True)
        others = (
            own if self._background is self._data else self._run.predict(self._predictor, self._background, full=True)
        )
        nobody = np.broadcast_to(weighted_mean(others, self._background.weights), own.shape)
        return np.array([[-self.truth.mean(nobody)]]), np.array([[-self.truth.mean(own)]])

    def ends(self) -> tuple[FloatArray, FloatArray]:
        return self._ends

    # -- all rows and donors ---------------------------------------------------------------------

    def worth(self, coalitions: BoolArray, rows: IntArray | None = None) -> FloatArray:
        del rows  # there is one game
        means = (self.truth.mean(prediction) for prediction in self._means(coalitions))
        return -np.fromiter(means, dtype=np.float64, count=len(coalitions))[None, :, None]

    def _means(self, coalitions: BoolArray) -> Iterator[FloatArray]:
        """The mean prediction of every row, ``(rows, outputs)``, for each coalition in turn."""
        n, donors = self.size
        everyone = Draw(np.arange(n), np.broadcast_to(np.arange(donors)[:, None], (donors, n)))
        for some in self._portions(len(coalitions), n * donors):
            found = self._ask(coalitions[some], [everyone], np.zeros(len(coalitions[some]), dtype=np.intp))
            yield from np.einsum("b,cbnk->cnk", self.share, found)

    # -- some rows and donors --------------------------------------------------------------------

    def pairs(
        self, halves: BoolArray, effort: SampleSize, generators: list[np.random.Generator]
    ) -> tuple[FloatArray, FloatArray]:
        """The worth ``(2, pairs)`` of coalitions and complements, and the variance of the difference between the two.

        Both halves of a pair are asked with the same rows and donors, drawn by the generator of the pair.
        """
        worth, noise = np.empty((2, len(halves))), np.empty(len(halves))
        for some in self._portions(len(halves), 2 * effort.rows * effort.donors):
            draws = [self._draw(effort, generator) for generator in generators[some]]
            both = np.stack([halves[some], ~halves[some]], axis=1).reshape(-1, self.players)
            found = self._ask(both, draws, np.repeat(np.arange(len(draws)), 2))
            for t, drawn in enumerate(draws):
                first, second = (self._losses(found[2 * t + side], drawn) for side in (0, 1))
                worth[:, some.start + t], noise[some.start + t] = mean_and_noise(first, second, drawn)
        return worth, noise

    def _draw(self, effort: SampleSize, generator: np.random.Generator) -> Draw:
        return draw(generator, self.truth.weights, self._background.weights, effort.rows, effort.donors)

    def _losses(self, predictions: FloatArray, drawn: Draw) -> RowLosses:
        probability = self._predictor.raw_scale == "probability"
        y = self.truth.y[drawn.rows]
        return donor_losses(predictions, drawn, y, self.truth.loss, self.share, probability=probability)

    # -- asking ----------------------------------------------------------------------------------

    def _portions(self, count: int, each: int) -> Iterator[slice]:
        """Coalitions (or pairs), as many at once as their predictions can be kept."""
        cells = each * max(self._predictor.width, 1)
        step = max(1, min(_AT_ONCE // cells, _CELLS // (each * max(len(self._features), 1))))
        return (slice(start, min(start + step, count)) for start in range(0, count, step))

    def _ask(self, coalitions: BoolArray, draws: list[Draw], group: IntArray) -> FloatArray:
        """Predictions ``(coalitions, donors, rows, outputs)``, where each coalition has the draw of its group."""
        n, (k, m) = len(self._data), draws[0].donors.shape
        index = np.indices((len(coalitions), k)).reshape(2, -1)
        intervention = Crossed(
            self._features,
            self._pools,
            np.stack([index[0], group[index[0]], index[1]], axis=1),
            known=coalitions[:, self._owner],
            own=np.stack([d.rows for d in draws]),
            donors=n + np.stack([d.donors for d in draws]),
        )
        base = self._data if m == n else self._data.take(np.arange(m))  # every cell of it is replaced
        found = self._run.collect(self._predictor, base, intervention, full=True)
        return found.reshape(len(coalitions), k, m, -1)

    @cached_property
    def _pools(self) -> tuple[object, ...]:
        data, background = self._data, self._background
        return tuple(data.pool(j, np.concatenate([data.codes(j), background.codes(j)])) for j in self._features)


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
