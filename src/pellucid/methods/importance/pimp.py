"""Permutation importance with p-values (PIMP): how large is the importance of a feature that has none?

Altmann, Tolosi, Sander and Lengauer 2010.

Definition. The outcome is permuted, so that nothing predicts it; the model is fitted again to it, and its permutation
importances are measured as the given model's were. R repetitions give each feature a null distribution of its own:
``p_j = (1 + #{null importance of j >= importance of j}) / (1 + R)``.

A permuted outcome is all noise, more than the given model had to bear: beside strong features nothing would stand out
(true nulls were below 0.05 in 0 to 0.7% of trials). So where some features stand out (above all R null values) the
others are compared again, with models fitted to rows in which they all, together, come from another row: outcome and
the features that stand out are as they were, and so is the noise. Repeated until no further feature stands out.

A feature with many values lets a model fit noise and looks important on the rows it was fitted to; it does so under the
null too, so its p-value is honest where the importance is not.

When it misleads:
1. rows the given model was not fitted to: the null models are fitted to the rows of X, the given one was not. With
   ``folds=`` both are held out from what they predict;
2. p-values are for one feature at a time: of twenty features without importance one is below 0.05;
3. features of another row are independent of those that stand out: a feature without importance of its own that is
   correlated with one of these may look important;
4. a small p-value says that the feature matters, not how much.

Cost. R fits (R * K with folds), each followed by a permutation importance; as many again for each round in which
further features stand out.
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
    p_values = _p_values(null, importance.values)
    rounds = _beside_those_that_stand_out(q, refit, count, importance.values, p_values) if len(null) else 0
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
            "refits": importance.settings.get("refits", 0)
            + len(null) * (1 + rounds) * importance.settings.get("folds", 1),
            "weighted_fit": refit.weighs,
            "null_mean": null.mean(axis=0).tolist() if len(null) else [],
        },
    )


def _p_values(null: FloatArray, values: FloatArray) -> FloatArray:
    found = (1 + (null >= values).sum(axis=0)) / (1 + len(null))
    return np.where(np.isnan(values) | (len(null) == 0), np.nan, found)


def _beside_those_that_stand_out(
    request: Request, refit: Refit, count: int, values: FloatArray, p_values: FloatArray
) -> int:
    """Compare the other features again, in place, until none or no further one stands out; how often."""
    q, least, rounds = request, 1 / (1 + count), 0
    players = list(q.data.schema.players().values())
    clear = p_values <= least
    while clear.any() and not clear.all() and not q.run.interrupted:
        columns = [j for player, stands_out in zip(players, clear, strict=True) if not stands_out for j in player]
        null = _beside(q, refit, count, columns, rounds)
        if len(null) < count:
            break
        rounds += 1
        p_values[~clear] = _p_values(null, values)[~clear]
        further = (p_values <= least) & ~clear
        if not further.any():
            break
        clear |= further
    return rounds


def _beside(request: Request, refit: Refit, count: int, columns: list[int], rounds: int) -> FloatArray:
    """Importances ``(repetitions, features)`` of models of rows whose ``columns`` come from another row."""
    q = request
    orders = [_order(q.data, q.run.generator("p-values.columns", rounds, r)) for r in range(count)]
    rows, left = np.flatnonzero(q.data.weights > 0), iter(orders)

    def fitted(order: IntArray) -> Refitted:
        return replace(refit, data=_mixed(q.data, columns, order))(rows)

    def measure(refitted: Refitted) -> FloatArray:
        return folds.permuted(q, refitted.predictor, _mixed(q.data, columns, next(left))).values

    if q.folds is None:
        found = folds.with_refits(q.run, [partial(fitted, order) for order in orders], len(q.data), measure)
    else:
        found = []
        for order in orders:
            mixed = _mixed(q.data, columns, order)
            mean = _mean_of_folds(replace(q, data=mixed), replace(refit, data=mixed), None, found)
            if mean is None:
                break
            found.append(mean)
    return np.array(found).reshape(len(found), len(q.data.schema.players()))


def _mixed(data: Data, columns: list[int], order: IntArray) -> Data:
    """The same rows with some columns, together, of other rows."""
    frame = data.frame.replace({j: data.frame.gather(data.frame.native_column(j), order) for j in columns})
    codes = tuple(data.codes(j)[order] if j in columns else data.codes(j) for j in range(len(data.schema.features)))
    return replace(data, frame=frame, columns=codes)


def _of_all_rows(request: Request, refit: Refit, count: int) -> tuple[FloatArray, float]:
    """Importances ``(repetitions, features)`` of models fitted to permuted outcomes of all rows.

    With the share of the loss of a constant that these models take away on their own rows, where all is noise.
    """
    q = request
    orders = [_order(q.data, q.run.generator("p-values.outcomes", r)) for r in range(count)]
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
        order = _order(q.data, q.run.generator("p-values.outcomes", r))
        mean = _mean_of_folds(replace(q, data=_reordered(q.data, order)), refit, order, known)
        if mean is None:
            break
        known.append(mean)
    return np.array(known).reshape(len(known), len(q.data.schema.players())), np.nan


def _mean_of_folds(
    request: Request, refit: Refit, order: IntArray | None, known: list[FloatArray]
) -> FloatArray | None:
    """Cross-validated importances; None where they were interrupted, provided that some are ``known``."""
    fold = folds.fold_numbers(request)
    with request.run.until_interrupted(lambda: bool(known)):
        parts = folds.of_each_fold(request, refit, fold, order)
    if request.run.interrupted:
        return None
    return np.average([part.values for part in parts], axis=0, weights=folds.fold_mass(request.data, fold))


def _order(data: Data, generator: np.random.Generator) -> IntArray:
    """Whose outcome, or columns, each row gets; rows without weight keep theirs."""
    order = np.arange(len(data))
    counted = np.flatnonzero(data.weights > 0)
    order[counted] = generator.permutation(counted)
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
