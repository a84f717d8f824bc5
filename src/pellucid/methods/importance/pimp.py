"""Permutation importance with p-values (PIMP): how large is the importance of a feature that has none?

Altmann, Tolosi, Sander and Lengauer 2010.

Definition. The outcome is permuted, so that nothing predicts it; the model is fitted again to it, and its permutation
importances are measured as the given model's were. R repetitions give each feature a null distribution of its own:
``p_j = (1 + #{null importance of j >= importance of j}) / (1 + R)``.

A feature with many values lets a model fit noise and looks important on the rows it was fitted to; it does so under the
null too, so its p-value is honest where the importance is not.

When it misleads:
1. rows the given model was not fitted to: the null models are fitted to the rows of X, the given one was not. With
   ``folds=`` both are held out from what they predict;
2. p-values are for one feature at a time: of twenty features without importance one is below 0.05;
3. the null is that no feature matters: a permuted outcome is all noise, more than the given model had to bear, so a
   weak feature beside strong ones may not stand out, least of all from a model that learns its rows by heart.
   ``folds=`` helps;
4. a small p-value says that the feature matters, not how much.

Cost. R fits (R * K with folds), each followed by a permutation importance.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.diagnostics.by_measure import p_value_caveats
from pellucid.explanations import Importance
from pellucid.methods.importance import folds
from pellucid.methods.importance.request import Request
from pellucid.models.outcome import constant_prediction, outcome_for
from pellucid.models.refit import Refit, Refitted, refitter

REFITS = 100


def pimp(request: Request, importance: Importance) -> Importance:
    """The importance with a p-value for each feature; ``p_values=`` True, or the number of permuted outcomes."""
    q, run = request, request.run
    count = _count(q.p_values)
    refit = refitter(q.predictor, q.data, q.refit, seed=run.seed)
    null, noise = np.empty((0, len(importance.values))), np.nan
    if not run.interrupted:
        null, noise = _of_folds(q, refit, count) if q.folds is not None else _of_all_rows(q, refit, count)
    p_values = (1 + (null >= importance.values).sum(axis=0)) / (1 + len(null))
    p_values[np.isnan(importance.values) | (len(null) == 0)] = np.nan
    check = None if q.folds is not None else lambda: (folds.given_loss(q), _refitted_loss(q, refit))
    return run.finish(
        importance,
        p_value_caveats(
            importance.caveats,
            run,
            p_values=p_values,
            refits=len(null),
            measure=folds.loss_of(q).name,
            losses=check,
            noise=noise,
        ),
        p_values=p_values,
        settings={
            **importance.settings,
            "p_values": len(null),
            "refits": importance.settings.get("refits", 0) + len(null) * importance.settings.get("folds", 1),
            "weighted_fit": refit.weighs,
            "null_mean": null.mean(axis=0).tolist() if len(null) else [],
        },
    )


def _of_all_rows(request: Request, refit: Refit, count: int) -> tuple[FloatArray, float]:
    """Importances ``(repetitions, features)`` of models fitted to permuted outcomes of all rows.

    With the share of the loss of a constant that these models take away on their own rows, where all is noise.
    """
    q = request
    orders = [_order(q, r) for r in range(count)]
    rows = np.flatnonzero(q.data.weights > 0)
    left = iter(orders)

    def measure(refitted: Refitted) -> Importance:
        return folds.permuted(q, refitted.predictor, _reordered(q.data, next(left)))

    fits = [partial(refit, rows, order=order) for order in orders]
    found = folds.with_refits(q.run, fits, len(q.data), measure)
    constant = np.nan if q.loss == "variance" else _constant_loss(q)
    noise = 1 - float(np.mean([one.baseline for one in found])) / constant if constant > 0 else np.nan
    return np.stack([one.values for one in found]), noise


def _of_folds(request: Request, refit: Refit, count: int) -> tuple[FloatArray, float]:
    """The same by cross-validation: every repetition fits a model for each fold; what they learn of noise does not
    count.
    """
    q = request
    known: list[FloatArray] = []
    for r in range(count):
        order = _order(q, r)
        again = replace(q, data=_reordered(q.data, order))
        fold = folds.fold_numbers(again)
        with q.run.until_interrupted(lambda: bool(known)):
            parts = folds.of_each_fold(again, refit, fold, order)
        if q.run.interrupted:
            break
        known.append(np.average([part.values for part in parts], axis=0, weights=folds.fold_mass(q.data, fold)))
    return np.array(known).reshape(len(known), len(q.data.schema.players())), np.nan


def _order(request: Request, r: int) -> IntArray:
    """Whose outcome each row gets; rows without weight keep theirs."""
    order = np.arange(len(request.data))
    counted = np.flatnonzero(request.data.weights > 0)
    order[counted] = request.run.generator("p-values.outcomes", r).permutation(counted)
    return order


def _reordered(data: Data, order: IntArray) -> Data:
    return replace(data, y=None if data.y is None else data.y[order])


def _constant_loss(request: Request) -> float:
    """Loss of the best prediction without features, the same for every order of the outcome."""
    q, data = request, request.data
    y = outcome_for(q.predictor, data)
    return folds.loss_of(q)(y, constant_prediction(q.predictor, y, data.weights), data.weights)


def _refitted_loss(request: Request, refit: Refit) -> float:
    """Loss of the model fitted again to the true outcome of all rows."""
    q, data = request, request.data
    again = refit(np.flatnonzero(data.weights > 0))
    prediction = q.run.predict(again.predictor, data, full=True)
    return folds.loss_of(q)(outcome_for(q.predictor, data), prediction, data.weights)


def _count(p_values: Any) -> int:
    return REFITS if p_values is True else int(p_values)
