"""A problem in options: what each value of a feature adds to the sums of a linear or additive model, and what it costs.

All allowed values are options. Of a feature with any number as a value, or with more than 200,000 steps, some 2,000
stand for the others; where it adds up linearly the answer is then moved to the very place where the target begins.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.methods.counterfactual.search.cell_values import Cells, NotInCells, Player, listed_codes, player_at
from pellucid.methods.counterfactual.search.constraints import Choices
from pellucid.methods.counterfactual.search.knapsack import Options
from pellucid.methods.counterfactual.search.problem import Problem
from pellucid.models import Predictor
from pellucid.models.linear import LinearForm
from pellucid.reading.additive import Additive

_POINTS = 2001  # for a feature with any number as a value
_MOST = 200_000  # values of one feature
_PROBES = 9  # places at which a feature is found to be linear
_STRAIGHT = 1e-12


@dataclass(eq=False)
class SumTerms:
    """What is known of the model for every row: the sum, and the slopes of features that it takes as they are."""

    additive: Additive
    predictor: Predictor
    data: Data
    feature: IntArray = field(init=False)  # of each encoded column
    slopes: dict[int, FloatArray] = field(init=False)  # (sums,)

    def __post_init__(self) -> None:
        self.feature = np.asarray(self.predictor.columns, dtype=np.intp)[self.additive.form.source]
        self.slopes = self._slopes()

    @property
    def form(self) -> LinearForm:
        """The sum."""
        return self.additive.form

    def encode(self, rows: FloatArray) -> FloatArray:
        """Rows of codes as the sum takes them."""
        return self.form.encode(self.predictor.dressed(self.data.of_codes(rows).frame))

    def terms(self, matrix: FloatArray, features: tuple[int, ...]) -> FloatArray:
        """What some features add to the sums of encoded rows."""
        own = np.isin(self.feature, features)
        return np.asarray(matrix[:, own] @ self.form.weights[own])

    def _slopes(self) -> dict[int, FloatArray]:
        """The features of numbers whose terms are straight lines, as far as a few places tell."""
        schema = self.data.schema
        ends = {
            j: np.linspace(feature.low, feature.high, _PROBES)
            for j, feature in enumerate(schema.features)
            if feature.kind == "numeric" and not feature.empty and feature.high > feature.low
        }
        codes = [self.data.codes(j) for j in range(len(schema.features))]
        middle = np.array(
            [np.sort(c[~np.isnan(c)])[np.sum(~np.isnan(c)) // 2] if (~np.isnan(c)).any() else np.nan for c in codes]
        )
        rows = np.repeat(middle[None], _PROBES, axis=0)
        for j, places in ends.items():
            rows[:, j] = places
        matrix, found = self.encode(rows), {}
        for j, places in ends.items():
            terms = self.terms(matrix, (j,))
            slope = (terms[-1] - terms[0]) / (places[-1] - places[0])
            line = terms[0] + (places - places[0])[:, None] * slope
            if (np.abs(terms - line) <= _STRAIGHT * (1 + np.abs(terms).max())).all():
                found[j] = slope
        return found


def options_of(known: SumTerms, problem: Problem) -> tuple[Cells, list[Options], FloatArray]:
    """The cells of every player (all its values), as options, and the sums of the row itself."""
    groups = {group.columns: group.combinations for group in problem.groups}
    players = []
    for features in problem.players:
        codes = groups[features] if features in groups else _codes(known, problem, features[0])
        players.append(player_at(problem, features, codes))
    own = known.encode(problem.x[None])
    options = [Options(player.cost, _gains(known, problem, player, own), player.own) for player in players]
    return Cells(problem, tuple(players)), options, known.form.sums(own)[0]


def is_smooth(choices: Choices) -> bool:
    """Whether a feature may be any number, or so many that a few stand for the others."""
    if choices.values is not None or choices.fixed:
        return False
    return choices.step == 0.0 or (choices.high - choices.low) / choices.step > _MOST


def _codes(known: SumTerms, problem: Problem, j: int) -> FloatArray:
    choices = problem.choices[j]
    if problem.nominal[j] or choices.values is not None or not problem.free[j]:
        return listed_codes(problem, j)
    if choices.step > 0 and not is_smooth(choices):
        first, last = np.ceil(choices.low / choices.step - 1e-9), np.floor(choices.high / choices.step + 1e-9)
        values = np.round(np.arange(first, last + 1) * choices.step, choices.decimals)
    elif j in known.slopes:
        values = choices.snap(np.linspace(choices.low, choices.high, _POINTS))
    elif choices.step > 0:
        raise NotInCells(f"{problem.data.schema.features[j].name!r} has too many values to list; narrow ranges=")
    else:
        name = problem.data.schema.features[j].name
        raise NotInCells(f"{name!r} may be any number and does not add up linearly; list values in ranges=")
    return np.unique(np.append(values, choices.own))[:, None]


def _gains(known: SumTerms, problem: Problem, player: Player, own: FloatArray) -> FloatArray:
    """What each option adds to the sums beside the row's own."""
    j = player.features[0]
    if len(player.features) == 1 and j in known.slopes and not np.isnan(problem.x[j]):
        return np.asarray((player.codes - problem.x[j]) * known.slopes[j])
    if not np.isin(known.feature, player.features).any():
        return np.zeros((len(player.codes), known.form.weights.shape[1]))
    rows = np.repeat(problem.x[None], len(player.codes), axis=0)
    rows[:, list(player.features)] = player.codes
    return known.terms(known.encode(rows), player.features) - known.terms(own, player.features)
