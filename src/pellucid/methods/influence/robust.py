"""Robust fits for comparison: the model fitted again without its most influential rows, and with outliers weighed down.

Huber 1964 for the weights; Cook and Weisberg 1982, chapter 5, for comparing fits instead of choosing one.

Definition. Two models stand beside the one fitted to all rows: without the k rows of most influence, and with row i
weighed by

    w_i = min(1, sqrt(L_0 / L_i)),

L_i the loss of its outcome under a model fitted without its fold, L_0 = (1.345 / 0.6745)^2 times the median of L. For
the squared loss that is one step of Huber's estimator: residuals beyond 1.345 robust standard deviations count by their
size, not by its square. For classes L_0 is at least log 2, the loss of a class that gets half: right rows keep their
weight. What is told of each is how far its predictions are from the model's, and its loss on rows held out.

Estimator. Influence where it is known in closed form (see `influence`); else the k rows of the largest L_i. Each model
is fitted to all rows for its predictions, and in K folds, always the same, for its held-out loss; that is compared row
by row, over the rows that are not in question. As many random rows are left out for comparison.

When it misleads: (1) rows in question are chosen with knowledge of all outcomes, so the held-out loss of the fit
without them is a little too good. (2) Leaving out rows that are right makes the model worse where they are, and no
other rows tell: look at them first. (3) Where any rows move the model as much, these are not to blame (measured).

Cost. 3 K + 6 fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.checks import is_whole, whole
from pellucid.data import Data
from pellucid.diagnostics.robust import robust_caveats
from pellucid.errors import InputError
from pellucid.explanations import Header, RobustFit
from pellucid.losses import Loss, find_loss
from pellucid.methods.importance.folds import with_refits
from pellucid.methods.influence.dispatch import closed
from pellucid.methods.influence.estimation.left_out import Request, spread_apart
from pellucid.methods.influence.estimation.measured import measured
from pellucid.methods.influence.estimation.suspects import dealt, own_loss
from pellucid.models import Predictor
from pellucid.models.outcome import outcome_for
from pellucid.models.refit import Refit, Refitted, refitter
from pellucid.runner import Run

WITHOUT, DOWN, RANDOM = "without the rows", "outliers weighed down", "without random rows"
_HUBER = (1.345 / 0.6745) ** 2
_SHARE = 0.01  # of the rows are left out, unless said otherwise
_DRAWS = 3  # of random rows
_SHOWN = 500  # rows whose predictions are kept


@dataclass(frozen=True, eq=False)
class _Variant:
    """A way to fit again: with which weights (by the refitter), without which rows."""

    name: str
    refit: Refit
    out: IntArray


def robust(
    predictor: Predictor, data: Data, without: Any = None, *, folds: int = 5, refit: Any = None, run: Run
) -> RobustFit:
    """The model beside fits on which its strongest rows have less say."""
    folds = whole("folds", folds, least=2)
    plain = refitter(predictor, data, refit, seed=run.seed)
    if len(data) < 10 * folds:
        raise InputError(f"robust with folds={folds} needs at least {10 * folds} rows, but X has {len(data)}.")
    loss = find_loss(None, predictor.task, predictor.raw_scale)
    if loss.rows is None:
        raise InputError("robust needs a loss that is a mean over rows, which scores do not have; give probabilities.")
    fold = dealt(predictor, data, folds, 0, run)
    held = _held_out(predictor, data, [_Variant("", plain, np.empty(0, dtype=np.intp))], fold, loss, run)[0]
    rows, by = _in_question(predictor, data, without, held, run)
    factor = _weights(held, several=predictor.classes is not None)
    variants = [_Variant(WITHOUT, plain, rows)]
    weighed = refitter(predictor, replace(data, weights=data.weights * factor), refit, seed=run.seed)
    if weighed.weighs:
        variants.append(_Variant(DOWN, weighed, np.empty(0, dtype=np.intp)))
    losses = _held_out(predictor, data, variants, fold, loss, run)
    ordinary = factor == 1.0
    ordinary[rows] = False
    draws = [_drawn(data, rows, k, run) for k in range(_DRAWS)]
    every = [_Variant("", plain, np.empty(0, dtype=np.intp)), *variants, *(_Variant(RANDOM, plain, d) for d in draws)]
    full = _fitted(data, every, run)
    moved = np.stack([np.abs(predictor.restrict(each) - predictor.restrict(full[0])).mean(axis=1) for each in full[1:]])
    kept = len(variants)
    random = np.median(moved[kept:].mean(axis=1))
    better, error = _compared(held, losses, ordinary, data.weights)
    shown = data.spread(_SHOWN)
    first = [predictor.restrict(each)[shown, 0] for each in full[: kept + 1]]
    result = RobustFit(
        variants=(*(each.name for each in variants), RANDOM),
        values=np.append(moved[:kept].mean(axis=1), random),
        se=np.zeros(kept + 1),
        largest=moved[:kept].max(axis=1),
        largest_at=moved[:kept].argmax(axis=1),
        loss=np.array([np.average(each, weights=data.weights) for each in (held, *losses)]),
        better=better,
        error=error,
        rows=rows,
        weights=factor if weighed.weighs else np.empty(0),
        shown=shown,
        predictions=np.stack(first),
        header=Header.of(
            predictor,
            data,
            run,
            {
                "method": "robust",
                "by": by,
                "folds": folds,
                "random_state": run.seed,
                "loss": loss.name,
                "apart": spread_apart(run.predict(predictor, data, full=True), full[0]),
                "spread": float(predictor.restrict(full[0]).std(axis=0).mean()),
            },
            row_labels=data.row_labels,
        ),
    )
    return run.finish(result, robust_caveats(predictor, data, run, result))


def _in_question(predictor: Predictor, data: Data, without: Any, held: FloatArray, run: Run) -> tuple[IntArray, str]:
    """The rows that are left out, and what they were chosen by."""
    n = len(data)
    if without is None or is_whole(without):
        least = max(round(_SHARE * n), 1)
        k = least if without is None else whole("without", without, most=n // 2, also="rows of X")
        request = Request(predictor, data, None, "predictions", None, None, 0, run)
        left = closed(request)
        found = None if left is None else measured(request, left)
        size = held if found is None else found.strength
        return np.argsort(-size, kind="stable")[:k], "held-out loss" if found is None else "influence"
    rows = data.places(without)
    if rows is None:
        raise InputError("without must be a number of rows, or rows of X by position or label.")
    rows = np.unique(rows)
    if len(rows) > n // 2:
        raise InputError(f"without names {len(rows):,} of {n:,} rows; leave at most half of them out.")
    return rows, "name"


def _weights(held: FloatArray, *, several: bool) -> FloatArray:
    """What each row counts in the fit in which outliers are weighed down."""
    limit = max(_HUBER * float(np.median(held)), np.log(2.0) if several else 0.0)
    return np.minimum(1.0, np.sqrt(limit / np.maximum(held, 1e-300)))


def _drawn(data: Data, rows: IntArray, draw: int, run: Run) -> IntArray:
    """As many random rows that are not in question."""
    others = np.setdiff1d(np.flatnonzero(data.weights > 0), rows)
    return run.generator("robust.random", draw).permutation(others)[: len(rows)]


def _fitted(data: Data, variants: Sequence[_Variant], run: Run) -> list[FloatArray]:
    """Full predictions of X by each model, fitted to all rows but those that it leaves out."""
    everyone = np.flatnonzero(data.weights > 0)
    fits = [partial(each.refit, np.setdiff1d(everyone, each.out)) for each in variants]
    found = with_refits(run, fits, len(data), lambda model: run.predict(model.predictor, data, full=True))
    if len(found) < len(fits):
        run.raise_if_interrupted()
    return found


def _held_out(
    predictor: Predictor, data: Data, variants: Sequence[_Variant], fold: IntArray, loss: Loss, run: Run
) -> list[FloatArray]:
    """The loss of every row by each model fitted without the row's fold."""
    parts = [np.flatnonzero(fold == k) for k in range(int(fold.max()) + 1)]
    everyone = np.flatnonzero(data.weights > 0)
    jobs = [(v, part) for v in range(len(variants)) for part in parts]
    full = np.zeros((len(variants), len(data), predictor.width))
    left = iter(jobs)

    def ask(refitted: Refitted) -> None:
        v, part = next(left)
        full[v, part] = run.predict(refitted.predictor, data.take(part), full=True)

    fits = [partial(variants[v].refit, np.setdiff1d(everyone, np.append(part, variants[v].out))) for v, part in jobs]
    if len(with_refits(run, fits, len(data), ask)) < len(fits):
        run.raise_if_interrupted()
    y = outcome_for(predictor, data)
    return [own_loss(loss, y, each) for each in full]


def _compared(
    held: FloatArray, losses: Sequence[FloatArray], ordinary: BoolArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """By how much the held-out loss of ordinary rows is lower on average, and its standard error over rows."""
    w = weights[ordinary] / weights[ordinary].sum()
    gains = [(held - each)[ordinary] for each in losses]
    means = np.array([float(w @ gain) for gain in gains])
    errors = [float(np.sqrt(np.square(w) @ np.square(gain - mean))) for gain, mean in zip(gains, means, strict=True)]
    return means, np.array(errors)
