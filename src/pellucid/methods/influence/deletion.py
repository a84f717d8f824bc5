"""Deletion influence by refitting: the model is fitted again without each row, or without sets of rows.

Cook 1977 for linear models; for any model the "deletion diagnostics" of the textbooks.

Definition. influence_i = m(f) - m(f(-i)): m is a prediction, a loss or any number of predictions, f the model fitted to
all rows, f(-i) the one fitted without row i (or without a set of rows together). Of all predictions it is
(1/n) sum_j |f(x_j) - f(-i)(x_j)|.

Estimator. Up to ``budget`` refits every unit is left out. Beyond, half of the budget goes to units drawn at random; a
forest learns from them how strong influence is by the row's features, outcome and loss, and the units for which it
expects most are left out next, in batches, each of which it learns from, until none of a batch is among the ten
strongest or the budget is spent. The share of random units that reach the tenth place says how many may be missed.

When it misleads: (1) where the fit is random or grown greedily (forests, boosted trees, networks), leaving out *any*
row moves predictions; the result measures how much (the jolt of random rows) and a row below it is not to blame. (2)
Equal rows mask each other: leave them out together. (3) Units that were not tried are unknown, not harmless.

Cost. One fit for each unit that is tried, and one to all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.data.forest import Forest
from pellucid.losses import find_loss
from pellucid.methods.importance.folds import with_refits
from pellucid.methods.influence.estimation.left_out import LeftOut, Request, spread_apart
from pellucid.methods.influence.estimation.measured import SOME, differences
from pellucid.models import Predictor
from pellucid.models.outcome import outcome_for
from pellucid.models.refit import Refit, Refitted, refitter

_BATCHES, _STRONGEST = 4, 10


def deletion(request: Request) -> LeftOut:
    """Models fitted without the units that are tried."""
    q, data = request, request.data
    refit = refitter(q.predictor, data, q.refit, seed=q.run.seed)
    everything = refit(np.flatnonzero(data.weights > 0)).predictor
    rows = data.take(data.spread(SOME)) if q.target is None else q.target
    some = data.take(data.spread(1000))
    full = q.run.predict(everything, some, full=True)
    known = _Known(q, refit, rows, everything)
    if q.n_units <= q.budget:
        known.try_out(np.arange(q.n_units))
        at_random = np.arange(q.n_units)
    else:
        at_random = _sampled(known)
    return LeftOut(
        how="refits",
        tried=np.array(sorted(known.predictions), dtype=np.intp),
        present=known.present,
        without=known,
        residual=residual_of(q.predictor, data, q.run.predict(everything, data, full=True)),
        apart=spread_apart(q.run.predict(q.predictor, some, full=True), full),
        at_random=at_random,
    )


@dataclass(frozen=True, eq=False)
class _Known:
    """Predictions of the models that were fitted, by unit, for the rows that are asked about."""

    request: Request
    refit: Refit
    rows: Data
    everything: Predictor
    predictions: dict[int, FloatArray] = field(default_factory=dict)

    def try_out(self, units: IntArray) -> None:
        """Leaves some more units out."""
        left, q = iter(units.tolist()), self.request

        def keep(refitted: Refitted) -> None:
            self.predictions[next(left)] = q.run.predict(refitted.predictor, self.rows, full=True)

        with_refits(q.run, [partial(self.refit, q.without(u)) for u in units.tolist()], len(q.data), keep)

    def strength(self) -> tuple[IntArray, FloatArray]:
        """The units tried so far, and how much each changes what is asked."""
        tried = np.array(sorted(self.predictions), dtype=np.intp)
        found = differences(self.request, self.present(self.rows), self(tried, self.rows), self.rows)
        return tried, np.abs(found).reshape(len(tried), -1).sum(axis=1)

    def present(self, rows: Data) -> FloatArray:
        """Predictions of the model fitted to all rows."""
        return self.request.run.predict(self.everything, rows, full=True)

    def __call__(self, units: IntArray, rows: Data) -> FloatArray:
        assert len(rows) == len(self.rows)
        return np.stack([self.predictions[int(u)] for u in units])


def _sampled(known: _Known) -> IntArray:
    """Units at random, then those for which a forest that learned from all so far expects most, until of a batch none
    is among the ten strongest; the random ones.
    """
    q = known.request
    first = q.run.generator("influence.units").permutation(q.n_units)[: max(q.budget // 2, 2)]
    known.try_out(np.sort(first))
    looks = _looks(q, known.everything)
    batch, tried = max((q.budget - len(first)) // _BATCHES, _STRONGEST), known.strength()[0]
    while len(known.predictions) < q.budget:
        tried, strength = known.strength()
        forest = Forest.grown(
            looks[tried], np.log(strength + 1e-300)[:, None], trees=200, leaf=3, tried=1.0, seed=q.run.seed
        )
        others = np.setdiff1d(np.arange(q.n_units), tried)
        expected = forest.predict(looks[others])[:, 0]
        likely = others[np.argsort(-expected, kind="stable")[: min(batch, q.budget - len(tried))]]
        known.try_out(np.sort(likely))
        tried, strength = known.strength()
        if not np.isin(tried[np.argsort(-strength, kind="stable")[:_STRONGEST]], likely).any():
            break
    return np.intersect1d(first, tried)


def _looks(request: Request, everything: Predictor) -> FloatArray:
    """What the strength of a unit is expected from: its features, its loss and its prediction (means over its rows)."""
    data, predictor = request.data, request.predictor
    full, y = request.run.predict(everything, data, full=True), outcome_for(predictor, data)
    loss = find_loss(None, predictor.task, predictor.raw_scale)
    each = loss.rows(y, full) if loss.rows is not None else np.abs(y.reshape(len(y), -1)[:, 0] - full[:, -1])
    codes = [np.nan_to_num(data.codes(j), nan=-1.0) for j in range(len(data.schema.features))]
    looks = np.column_stack([*codes, each, full])
    if request.units is None:
        return looks
    return np.stack([np.append(looks[rows].mean(axis=0), len(rows)) for rows in request.units])


@dataclass(frozen=True, eq=False)
class RefittedUnits:
    """Models that are really fitted again without a few units, and before them the one fitted to all rows, which may be
    the ``given`` one.
    """

    request: Request
    given: bool = False

    def __call__(self, units: IntArray, rows: Data) -> tuple[FloatArray, FloatArray]:
        q = self.request
        refit = refitter(q.predictor, q.data, q.refit, seed=q.run.seed)
        everything = q.predictor if self.given else refit(np.flatnonzero(q.data.weights > 0)).predictor
        without = [q.run.predict(refit(q.without(int(u))).predictor, rows, full=True) for u in units]
        return q.run.predict(everything, rows, full=True), np.stack(without)


def residual_of(predictor: Predictor, data: Data, full: FloatArray) -> FloatArray:
    """Outcome minus prediction; of classes one minus the probability of the true one."""
    y = outcome_for(predictor, data)
    if predictor.classes is None:
        return np.asarray((y - full).mean(axis=1))
    truth = full[np.arange(len(full)), y.astype(np.intp)]
    if len(predictor.classes) == 2:
        return np.asarray((y == 1) - full[:, 1])
    return np.asarray(1 - truth)
