"""Where the parts of a prediction come from: from the trees, from the terms of a linear model, or by asking the model.

With PD_T(x) the mean over background rows b of f(x on T, b elsewhere), the *dividend* of the players S at a row x is

    d_S(x) = sum over T within S of (-1)^(|S| - |T|) PD_T(x)

what S adds that no part of S does. The dividends of all sets add up to the prediction. The dividend of j alone is its
centred partial dependence, that of a pair is its interaction. What j has in interactions altogether is

    t_j(x) = [f(x) - PD_-j(x)] - [PD_j(x) - PD_0].

Trees give both exactly for all rows against all rows. A linear model has none beyond single players. Any other model is
asked, for as many rows as the budget allows; every PD_T is asked once, however many sets need it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import isqrt

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.games.marginal import MarginalGame, background_rows
from pellucid.methods.interactions.request import Request
from pellucid.reading import ExplainedTrees, SumRows, read
from pellucid.trees.dividends import dividends, worth_without

Members = tuple[int, ...]

SPLIT = 200  # rows, up to which the background is gone through tenth by tenth
TREE_SPLIT = 60  # of trees, for which that takes ten times as long
BUDGET = 3_000_000  # model rows, unless the caller says how many rows to take
_FEWEST = 30  # rows, whatever they cost


@dataclass(frozen=True, eq=False)
class Dividends(ABC):
    """The parts of the predictions of some rows.

    ``noise`` is, per output, what rounding alone makes of a part: what is smaller is nothing.
    """

    rows: Data
    prediction: FloatArray
    noise: FloatArray

    @property
    @abstractmethod
    def source(self) -> str:
        """What answers: "trees", "linear" or "model"."""

    @property
    def tenths(self) -> tuple[Dividends, ...]:
        """The same parts against one tenth of the background each, of `Data.tenths`; none where it is not split."""
        return ()

    @abstractmethod
    def dividends(self, sets: Sequence[Members]) -> FloatArray:
        """``(rows, sets, outputs)``"""

    @abstractmethod
    def totals(self, players: Sequence[int]) -> FloatArray:
        """What each player has in interactions with all others, ``(rows, players, outputs)``."""


def find_dividends(request: Request) -> Dividends:
    """The quickest exact source for this model; for trees and linear models all rows, else as many as the budget
    allows.
    """
    predictor, run = request.predictor, request.run
    rows = chosen_rows(request, request.rows)
    background = background_rows(rows, request.background, run)
    found = read(run, predictor, request.data, rows, lambda _: background, predicted=True)
    if isinstance(found, ExplainedTrees) and (found.link == "identity" or predictor.link == "logit"):
        trees = found
        return _split(rows, background, TREE_SPLIT, lambda part: TreeDividends.of(request, trees, rows, part))
    if isinstance(found, SumRows):
        return LinearDividends.of(request, found, rows)
    if request.rows is None:
        rows = chosen_rows(request, affordable_rows(request))
        background = background_rows(rows, request.background, run, most=len(rows))
    run.scales_with("rows", len(rows), least=50, power=2 if len(background) == len(rows) else 1)
    return _split(rows, background, SPLIT, lambda part: AskedDividends.of(request, rows, part))


def _split(rows: Data, background: Data, most: int, make: Callable[[Data], Dividends]) -> Dividends:
    """The parts, those of few rows against each tenth of them."""
    if background is not rows or not 2 <= len(rows) <= most:
        return make(background)
    tenth = rows.tenths
    parts = tuple(make(rows.take(np.flatnonzero(tenth == b))) for b in range(int(tenth.max()) + 1))
    share = np.bincount(tenth, weights=rows.weights) / rows.weights.sum()
    return SplitDividends(rows, parts[0].prediction, parts[0].noise, parts, share)


@dataclass(frozen=True, eq=False)
class SplitDividends(Dividends):
    """Means over a background are those over its tenths, weighted."""

    parts: tuple[Dividends, ...]
    share: FloatArray

    @property
    def source(self) -> str:
        return self.parts[0].source

    @property
    def tenths(self) -> tuple[Dividends, ...]:
        return self.parts

    def dividends(self, sets: Sequence[Members]) -> FloatArray:
        return self._together([part.dividends(sets) for part in self.parts])

    def totals(self, players: Sequence[int]) -> FloatArray:
        return self._together([part.totals(players) for part in self.parts])

    def _together(self, found: list[FloatArray]) -> FloatArray:
        return np.asarray(np.tensordot(self.share, np.stack(found), axes=(0, 0)))


def chosen_rows(request: Request, most: int | None) -> Data:
    """The rows that count, of which at most so many are drawn at random; in their own order."""
    data = request.data
    counting = np.flatnonzero(data.weights > 0)
    if most is not None and most < len(counting):
        counting = np.sort(request.run.generator("interactions.rows").choice(counting, most, replace=False))
    return data if len(counting) == len(data) else data.take(counting)


def affordable_rows(request: Request) -> int:
    """As many as cost the budget, each with every coalition against each other."""
    sets = {part for members in request.sets for part in subsets_of(members)}
    coalitions = 2 * len(request.sets) + 1 if request.against == "all" else len(sets)
    return max(_FEWEST, isqrt(BUDGET // coalitions))


def subsets_of(members: Members) -> list[Members]:
    """All sets within a set but the empty one, the whole last; players in ascending order."""
    ordered = sorted(members)
    return list(chain.from_iterable(combinations(ordered, k) for k in range(1, len(ordered) + 1)))


# -- trees -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TreeDividends(Dividends):
    """Read off the trees, exactly."""

    request: Request
    trees: ExplainedTrees
    against: FloatArray
    weights: FloatArray
    players: IntArray

    @property
    def source(self) -> str:
        return "trees"

    @classmethod
    def of(cls, request: Request, trees: ExplainedTrees, rows: Data, background: Data) -> TreeDividends:
        predictor, model = request.predictor, trees.trees
        own = background is rows
        against = trees.matrix if own else model.encode(predictor.dressed(background.frame))
        owner = np.zeros(len(request.data.schema.names), dtype=np.intp)
        for number, columns in enumerate(request.players.values()):
            owner[list(columns)] = number
        players = owner[np.asarray(predictor.columns, dtype=np.intp)[model.source]]
        ensemble = model.ensemble
        size = np.abs(ensemble.nodes.value).max(axis=0, initial=0.0) * len(ensemble.roots)
        noise = _EPS * (np.abs(ensemble.base) + np.broadcast_to(size, ensemble.base.shape))
        return cls(rows, trees.prediction, noise, request, trees, against, background.weights, players)

    def dividends(self, sets: Sequence[Members]) -> FloatArray:
        return dividends(
            self.trees.trees.ensemble,
            self.trees.matrix,
            sets,
            background=self.against,
            weights=self.weights,
            players=self.players,
            watch=self.request.run,
        )

    def totals(self, players: Sequence[int]) -> FloatArray:
        chosen = list(players)
        without = worth_without(
            self.trees.trees.ensemble,
            self.trees.matrix,
            chosen,
            background=self.against,
            weights=self.weights,
            players=self.players,
            watch=self.request.run,
        )
        own = self.dividends([(j,) for j in chosen])
        return np.asarray(self.prediction[:, None] - without - own)


_EPS = 64 * float(np.finfo(np.float64).eps)


# -- linear models -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LinearDividends(Dividends):
    """A linear model has dividends of single players only."""

    single: FloatArray  # (rows, players, outputs)

    @property
    def source(self) -> str:
        return "linear"

    @classmethod
    def of(cls, request: Request, terms: SumRows, rows: Data) -> LinearDividends:
        away = terms.explained - terms.share @ terms.background
        member = np.array([np.isin(terms.source, columns) for columns in request.players.values()])
        single = np.einsum("ie,re,ek->rik", member, away, terms.slopes, optimize=True)
        return cls(rows, terms.prediction, rounding(terms.prediction), single)

    def dividends(self, sets: Sequence[Members]) -> FloatArray:
        found = np.zeros((len(self.single), len(sets), self.single.shape[2]))
        for s, members in enumerate(sets):
            if len(members) == 1:
                found[:, s] = self.single[:, members[0]]
        return found

    def totals(self, players: Sequence[int]) -> FloatArray:
        return np.zeros((len(self.single), len(players), self.single.shape[2]))


# -- any model ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class AskedDividends(Dividends):
    """The model is asked, for every row, with its other columns from every row of the background."""

    game: MarginalGame
    nobody: FloatArray
    known: dict[Members, FloatArray]

    @property
    def source(self) -> str:
        return "model"

    @classmethod
    def of(cls, request: Request, rows: Data, background: Data) -> AskedDividends:
        game = MarginalGame(request.predictor, background, replace(rows, y=None), request.players, request.run)
        nobody, everybody = game.ends()
        return cls(rows, everybody, rounding(everybody), game, nobody, {})

    def dividends(self, sets: Sequence[Members]) -> FloatArray:
        self._ask({part for members in sets for part in subsets_of(members)})
        found = np.zeros((len(self.rows), len(sets), self.nobody.shape[1]))
        for s, members in enumerate(sets):
            found[:, s] = (-1.0) ** len(members) * self.nobody
            for part in subsets_of(members):
                found[:, s] += (-1.0) ** (len(members) - len(part)) * self.known[part]
        return found

    def totals(self, players: Sequence[int]) -> FloatArray:
        everybody = range(self.game.players)
        without = {j: tuple(i for i in everybody if i != j) for j in players}
        self._ask({*without.values(), *((j,) for j in players)})
        found = [(self.prediction - self.known[without[j]]) - (self.known[j,] - self.nobody) for j in players]
        return np.stack(found, axis=1)

    def _ask(self, coalitions: set[Members]) -> None:
        """The worth of coalitions that were not asked for yet."""
        new = sorted(coalitions - self.known.keys(), key=lambda members: (len(members), members))
        if not new:
            return
        known = np.zeros((len(new), self.game.players), dtype=np.bool_)
        for line, members in zip(known, new, strict=True):
            line[list(members)] = True
        worth = self.game.worth(known)
        self.known.update({members: worth[:, c] for c, members in enumerate(new)})


def rounding(prediction: FloatArray) -> FloatArray:
    """What rounding makes of differences of such predictions; models that compute in single precision round more."""
    single = np.array_equal(prediction, prediction.astype(np.float32), equal_nan=True)
    eps = 16 * float(np.finfo(np.float32).eps) if single and _has_fractions(prediction) else _EPS
    return np.asarray(eps * np.abs(prediction).max(axis=0, initial=0.0))


def _has_fractions(prediction: FloatArray) -> bool:
    """Whether there are numbers that single precision had to round: not whole, nor halves, quarters, ..."""
    return bool((prediction * 1024 % 1 != 0).any())
