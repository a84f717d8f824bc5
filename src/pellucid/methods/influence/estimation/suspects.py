"""What lists of suspicious rows share: folds, outcomes changed on purpose, what a list finds of them, names."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.errors import InputError
from pellucid.losses import Loss, find_loss
from pellucid.models import Predictor
from pellucid.models.outcome import outcome_for
from pellucid.runner import Run
from pellucid.words import number

FIRST = 0.1  # of a list
POINTS = 101  # of its curve


def loss_of_rows(predictor: Predictor, data: Data, folds: int) -> Loss:
    """The loss that rows are listed by; refused where a row has none, or where folds would have too few rows."""
    if len(data) < 10 * folds:
        raise InputError(f"triage with folds={folds} needs at least {10 * folds} rows, but X has {len(data)}.")
    loss = find_loss(None, predictor.task, predictor.raw_scale)
    if loss.rows is None:
        raise InputError("triage needs a loss that is a mean over rows, which scores do not have; give probabilities.")
    return loss


def own_loss(loss: Loss, y: FloatArray, full: FloatArray) -> FloatArray:
    """The loss of each row's own outcome."""
    assert loss.rows is not None
    return np.asarray(loss.rows(y, full), dtype=np.float64)


def dealt(predictor: Predictor, data: Data, folds: int, dealing: int, run: Run) -> IntArray:
    """Folds of equal size, classes evenly."""
    order = run.generator("triage.folds", dealing).permutation(len(data))
    if predictor.classes is not None:
        order = order[np.argsort(outcome_for(predictor, data)[order], kind="stable")]
    fold = np.empty(len(data), dtype=np.intp)
    fold[order] = np.arange(len(data)) % folds
    return fold


def changed_outcomes(predictor: Predictor, data: Data, share: float, run: Run) -> tuple[IntArray, BoolArray]:
    """Whose outcome each row gets, and which rows got another's: of classes one of another class."""
    rng, n = run.generator("triage.changed"), len(data)
    y = outcome_for(predictor, data).reshape(n, -1)[:, 0]
    order, flipped = np.arange(n), np.zeros(n, dtype=bool)
    for i in rng.permutation(n)[: max(round(share * n), 1)]:
        others = np.flatnonzero(y != y[i])
        if len(others):
            order[i] = rng.choice(others)
            flipped[i] = True
    if not flipped.any():
        raise InputError("all outcomes are equal, so no wrong one can be recognised.")
    return order, flipped


def share_found(suspicion: FloatArray, flipped: BoolArray) -> FloatArray:
    """The share of changed rows among the first 0, 1, ..., 100% of the list."""
    hits = np.append(0, np.cumsum(flipped[np.argsort(-suspicion, kind="stable")]))
    return np.asarray(hits[np.round(np.linspace(0, len(flipped), POINTS)).astype(np.intp)] / flipped.sum())


def outcome_names(predictor: Predictor, data: Data, values: FloatArray) -> tuple[str, ...]:
    """Outcomes as they are called: classes, or numbers in words."""
    if predictor.classes is not None:
        return tuple(str(predictor.classes[int(k)]) for k in np.ravel(values))
    return tuple(number(float(v)) for v in values.reshape(len(data), -1)[:, 0])


def belief_in(predictor: Predictor, y: FloatArray, full: FloatArray) -> FloatArray:
    """The out-of-fold probability of each row's own class, or the residual of a number."""
    if predictor.classes is None:
        return np.asarray((y - full)[:, 0])
    return np.asarray(full[np.arange(len(full)), y.astype(np.intp)])
