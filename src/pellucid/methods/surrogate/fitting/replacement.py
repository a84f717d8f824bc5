"""What using the surrogate instead of the model would cost, in the loss of the outcome.

With losses L of the model, of the surrogate (each row by the one fitted without it) and of the best constant, the
surrogate keeps (L_constant - L_surrogate) / (L_constant - L_model) of what the model gains. The standard error of the
cost L_surrogate - L_model is that of the mean difference over rows. Where the rows fitted the model, its own loss is
too low.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.explanations.surrogate import Replacement
from pellucid.losses import find_loss
from pellucid.methods.surrogate.fitting.task import Task
from pellucid.models import Predictor
from pellucid.models.outcome import constant_prediction, has_outcome, outcome_for
from pellucid.stats import expit, standard_error


def replacement(predictor: Predictor, task: Task, held: FloatArray) -> Replacement | None:
    """The verdict; None without an outcome, or where not all outputs of the model are imitated."""
    if not has_outcome(predictor, task.data) or (predictor.classes is None and predictor.task == "scores"):
        return None
    full = _completed(predictor, task, held)
    if full is None:
        return None
    y, w = outcome_for(predictor, task.data), task.weights
    kind = "classification" if predictor.classes is not None else "regression"
    loss = find_loss(None, kind, predictor.raw_scale)
    if loss.rows is None:
        return None
    parts = [loss.rows(y, one) for one in (task.full, full)]
    model, surrogate = (float(np.average(part, weights=w)) for part in parts)
    score, turned = _score(kind, y)
    shown = find_loss(score, kind, predictor.raw_scale)
    scores = [shown(y, one, w) for one in (task.full, full)]
    return Replacement(
        loss=loss.name,
        constant=loss(y, constant_prediction(predictor, y, w), w),
        model=model,
        surrogate=surrogate,
        se=float(standard_error(parts[1] - parts[0], w)),
        score={"1-r2": "R²", "1-auc": "AUC", "error": "error rate"}[shown.name],
        scores=np.array([1 - one if turned else one for one in scores]),
    )


def _score(kind: str, y: FloatArray) -> tuple[str, bool]:
    """The measure that people quote, and whether it is one minus a loss."""
    varies = bool((y != y[0]).any())
    if not varies:
        return ("error" if kind == "classification" else "1-r2"), kind != "classification"
    return ("1-auc", True) if kind == "classification" else ("1-r2", True)


def _completed(predictor: Predictor, task: Task, held: FloatArray) -> FloatArray | None:
    """Predictions of the surrogate for all outputs of the model, as a loss wants them."""
    n = task.full.shape[1]
    if predictor.classes is None:
        return held if held.shape == task.full.shape else None
    chosen = list(predictor.explained)
    part = expit(held) if predictor.link == "logit" else held
    if predictor.raw_scale != "probability":
        return part if len(chosen) == n and predictor.link != "logit" else None
    seen = task.full[:, chosen]  # no surrogate is surer than the model ever is
    part = np.clip(part, seen.min(axis=0), seen.max(axis=0))
    full = np.zeros((len(part), n))
    full[:, chosen] = part
    if n == 2 and len(chosen) == 1:
        full[:, 1 - chosen[0]] = 1.0 - part[:, 0]
    elif len(chosen) < n:
        return None
    total = full.sum(axis=1, keepdims=True)
    return np.where(total > 0, full / np.where(total > 0, total, 1.0), 1.0 / n)
