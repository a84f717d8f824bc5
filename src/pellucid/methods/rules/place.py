"""What the searches of all explained rows share: the rows that values come from, and what their predictions are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray, weighted_mean
from pellucid.data import Data
from pellucid.errors import InputError
from pellucid.methods.rules.certify import Goal
from pellucid.methods.rules.perturbation import Sources, balanced
from pellucid.methods.rules.sameness import Sameness, sameness
from pellucid.models import Predictor
from pellucid.runner import Run

_MOST, _CELLS = 20_000, 40_000_000  # rows of the data (and their cells) that perturbed rows are made of
_SPREAD = 1000  # rows that show how much predictions differ
_KEY = 62  # of the random generator


@dataclass(frozen=True, eq=False)
class Place:
    """What the searches of all rows share: where values come from, how predictions compare, and weights of the rows
    drawn.

    ``rows`` are the positions of the source rows in the data; ``full`` their predictions, where they were asked for.
    """

    sources: Sources
    rows: IntArray
    same: Sameness
    full: FloatArray | None
    even: bool
    own: bool

    def common(self, i: int) -> float:
        """The share of the data with the prediction of explained row ``i``; NaN where it is not known."""
        if self.full is None:
            return float("nan")
        same = self.same.same(self.same.answers(self.full), i)
        return _share(same, self.sources.data.weights)

    def weights(self, i: int) -> FloatArray:
        """How often each source row is drawn for the perturbations of explained row ``i``."""
        weights = self.sources.data.weights
        if not self.even or self.full is None:
            return weights
        answers = self.same.answers(self.full)
        classes = not len(self.same.interval(i))
        return balanced(weights, answers[:, 0] if classes else self.same.same(answers, i))

    def base(self, i: int) -> float | None:
        """The exact precision of the empty rule, where all rows were asked for."""
        if self.full is None or self.own:
            return None
        same = self.same.same(self.same.answers(self.full), i)
        return _share(same, self.weights(i))


def _share(same: BoolArray, weights: FloatArray) -> float:
    """The weight of some rows as a share of all; exactly 1 if they are all."""
    return float(weights[same].sum() / weights.sum())


def find_place(
    predictor: Predictor,
    data: Data,
    explained: Data,
    perturb: Any,
    within: Any,
    goal: Goal,
    budget: int | None,
    run: Run,
) -> Place:
    """Ask the model for the explained rows and, where that is cheap or needed, for the rows that values come from."""
    rows = np.arange(len(data))
    most = min(_MOST, max(500, _CELLS // len(data.schema.features)))
    if len(data) > most:
        rows = np.sort(run.generator(_KEY).choice(len(data), most, replace=False))
    some = data if len(rows) == len(data) else data.take(rows)
    players = dict(sorted(data.schema.players().items()))
    _check_budget(len(some) + len(explained), perturb, budget)
    full = None
    cheap = len(some) <= goal.empty and (budget is None or 4 * len(some) <= budget)
    if perturb == "balanced" or (cheap and not callable(perturb)):
        full = run.predict(predictor, some, full=True)
    own = run.predict(predictor, explained, full=True)
    same = sameness(predictor, within, own, lambda: _spread(predictor, some, full, budget, run))
    return Place(Sources(some, explained, players), rows, same, full, perturb == "balanced", callable(perturb))


def _check_budget(rows: int, perturb: Any, budget: int | None) -> None:
    if perturb == "balanced" and budget is not None and budget < rows:
        raise InputError(
            f"budget={budget} model rows; perturb='balanced' needs the predictions of {rows:,} rows before it starts:"
            " give more, or None."
        )


def _spread(predictor: Predictor, some: Data, full: FloatArray | None, budget: int | None, run: Run) -> FloatArray:
    """The standard deviation of each explained output over the data, or over as many rows as a quarter of the budget
    allows.
    """
    most = _SPREAD if budget is None else min(_SPREAD, max(2, budget // 4))
    few = some if full is not None else some.take(some.spread(most))
    outputs = predictor.restrict(run.predict(predictor, few, full=True) if full is None else full)
    centre = weighted_mean(outputs, few.weights)
    return np.sqrt(weighted_mean(np.square(outputs - centre), few.weights))
