"""Loss functions by name, with row weights: what "the model is wrong" means.

A loss compares the outcome with the model's full output. *Pointwise* losses are means over rows and know
every row's share; the others (AUC, RMSE) only make sense for all rows together. Smaller is better.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.errors import InputError, nearest
from pellucid.words import kind_of

RowLoss = Callable[[FloatArray, FloatArray], FloatArray]
TotalLoss = Callable[[FloatArray, FloatArray, FloatArray], float]
RowInfluence = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]

_TINY = 1e-15


@dataclass(frozen=True, eq=False)
class Loss:
    """A named loss: ``rows`` gives one number per row where the loss is a mean over rows.

    ``influence`` gives numbers whose weighted mean is the loss, and which say how much each row moves it (von Mises):
    the variance of the loss is that of their mean. For a mean over rows they are the rows' own losses.
    """

    name: str
    total: TotalLoss
    rows: RowLoss | None = None
    influence: RowInfluence | None = None

    def __call__(self, y: FloatArray, prediction: FloatArray, weights: FloatArray) -> float:
        return self.total(y, prediction, weights)


def _mean_of(name: str, rows: RowLoss) -> Loss:
    return Loss(name, lambda y, p, w: float(np.average(rows(y, p), weights=w)), rows, lambda y, p, _: rows(y, p))


def _per_row(errors: FloatArray) -> FloatArray:
    """Average over outputs of a multi-output regression."""
    return errors[:, 0] if errors.shape[1:] == (1,) else errors.mean(axis=1)


def _squared(y: FloatArray, p: FloatArray) -> FloatArray:
    return _per_row(np.square(y - p))


def _absolute(y: FloatArray, p: FloatArray) -> FloatArray:
    return _per_row(np.abs(y - p))


def _log_loss(y: FloatArray, p: FloatArray) -> FloatArray:
    """Minus the log of the probability given to the true class (y holds class positions)."""
    chosen = p[np.arange(len(y)), y.astype(np.intp)]
    return np.asarray(-np.log(np.clip(chosen, _TINY, 1.0)))


def _brier(y: FloatArray, p: FloatArray) -> FloatArray:
    truth = np.eye(p.shape[1])[y.astype(np.intp)]
    return np.asarray(np.square(p - truth).sum(axis=1) / (2.0 if p.shape[1] == 2 else 1.0))


def _wrong(y: FloatArray, p: FloatArray) -> FloatArray:
    return (p.argmax(axis=1) != y).astype(np.float64)


def _rmse(y: FloatArray, p: FloatArray, w: FloatArray) -> float:
    return float(np.sqrt(np.average(_squared(y, p), weights=w)))


def _of_rmse(y: FloatArray, p: FloatArray, w: FloatArray) -> FloatArray:
    squares = _squared(y, p)
    mean = float(np.average(squares, weights=w))
    root = float(np.sqrt(mean))
    return root + (squares - mean) / (2 * root) if root > 0 else np.zeros(len(squares))


def _one_minus_r2(y: FloatArray, p: FloatArray, w: FloatArray) -> float:
    spread = np.average(_squared(y, np.broadcast_to(np.average(y, axis=0, weights=w), y.shape)), weights=w)
    return float(np.average(_squared(y, p), weights=w) / spread) if spread > 0 else np.nan


def _of_r2(y: FloatArray, p: FloatArray, w: FloatArray) -> FloatArray:
    around = _squared(y, np.broadcast_to(np.average(y, axis=0, weights=w), y.shape))
    spread = float(np.average(around, weights=w))
    if spread <= 0:
        return np.full(len(around), np.nan)
    squares = _squared(y, p)
    return np.asarray(squares / spread - float(np.average(squares, weights=w)) / spread * (around / spread - 1.0))


def _one_minus_auc(y: FloatArray, p: FloatArray, w: FloatArray) -> float:
    """Two classes: 1 - AUC. More: the mean over classes of one against the rest."""
    if p.shape[1] == 2:
        return 1.0 - weighted_auc(y == 1, p[:, 1], w)
    present = [k for k in range(p.shape[1]) if 0 < (y == k).sum() < len(y)]
    return 1.0 - float(np.mean([weighted_auc(y == k, p[:, k], w) for k in present]))


def _of_auc(y: FloatArray, p: FloatArray, w: FloatArray) -> FloatArray:
    if p.shape[1] == 2:
        return 1.0 - _auc_influence(y == 1, p[:, 1], w)
    present = [k for k in range(p.shape[1]) if 0 < (y == k).sum() < len(y)]
    return np.asarray(1.0 - np.mean([_auc_influence(y == k, p[:, k], w) for k in present], axis=0))


def _auc_influence(positive: AnyArray, score: FloatArray, weights: FloatArray) -> FloatArray:
    """Placement values: the share of the other class that a row is on the right side of, over the share of its own."""
    values, index = np.unique(score, return_inverse=True)
    mass = np.stack(
        [np.bincount(index, weights=weights * side, minlength=len(values)) for side in (positive, ~positive)]
    )
    total = mass.sum(axis=1)
    if (total == 0).any():
        raise InputError("the loss '1-auc' needs rows of both classes in y; this table has only one.")
    below = (np.cumsum(mass, axis=1) - mass / 2) / total[:, None]
    placement = np.where(positive, below[1][index], 1.0 - below[0][index])
    area = float(np.average(placement[positive], weights=weights[positive])) if weights[positive].any() else np.nan
    share = total / total.sum()
    return np.asarray(area + (placement - area) / np.where(positive, share[0], share[1]))


def weighted_auc(positive: AnyArray, score: FloatArray, weights: FloatArray) -> float:
    """Probability that a random positive scores above a random negative, ties counted half."""
    values, index = np.unique(score, return_inverse=True)
    above = np.bincount(index, weights=weights * positive, minlength=len(values))
    below = np.bincount(index, weights=weights * ~np.asarray(positive, dtype=bool), minlength=len(values))
    if above.sum() == 0 or below.sum() == 0:
        raise InputError("the loss '1-auc' needs rows of both classes in y; this table has only one.")
    smaller = np.cumsum(below) - below
    return float((above @ (smaller + below / 2)) / (above.sum() * below.sum()))


_REGRESSION = {
    "mse": _mean_of("mse", _squared),
    "mae": _mean_of("mae", _absolute),
    "rmse": Loss("rmse", _rmse, influence=_of_rmse),
    "1-r2": Loss("1-r2", _one_minus_r2, influence=_of_r2),
}
_CLASSIFICATION = {
    "log_loss": _mean_of("log_loss", _log_loss),
    "brier": _mean_of("brier", _brier),
    "error": _mean_of("error", _wrong),
    "1-auc": Loss("1-auc", _one_minus_auc, influence=_of_auc),
}
_NEED_PROBABILITIES = {"log_loss", "brier"}
_ALIASES = {
    "auc": "1-auc",
    "r2": "1-r2",
    "accuracy": "error",
    "ce": "error",
    "logloss": "log_loss",
    "cross_entropy": "log_loss",
}


def find_loss(
    loss: Any, task: str, scale: str = "probability", tried: tuple[FloatArray, FloatArray] | None = None
) -> Loss:
    """The loss of a name, or a function ``loss(y, prediction)`` wrapped as one.

    None: mse, or log loss; the error rate for a classifier that gives scores instead of probabilities. A function of
    one's own that gives one number per row, of the outcomes and predictions on which it is ``tried``, is a mean over
    rows.
    """
    if isinstance(loss, Loss):
        return loss
    known = _CLASSIFICATION if task == "classification" else _REGRESSION
    scores = task == "classification" and scale != "probability"
    if loss is None:
        return known["mse" if task != "classification" else "error" if scores else "log_loss"]
    if isinstance(loss, str):
        name = _ALIASES.get(loss.lower(), loss.lower())
        if scores and name in _NEED_PROBABILITIES:
            raise InputError(f"loss={loss!r} needs probabilities, but the model gives scores; use 'error' or '1-auc'.")
        if name in known:
            return known[name]
        other = "classification" if task != "classification" else "regression"
        if name in _CLASSIFICATION | _REGRESSION:
            raise InputError(
                f"loss={loss!r} is a {other} loss, but the model does {task}; use one of {', '.join(known)}."
            )
        raise InputError(f"loss={loss!r} is not known{nearest(loss, known)}")
    if callable(loss):
        return _wrap(loss, tried)
    raise InputError(f"loss is {kind_of(loss)}; give a name or a function loss(y, prediction).")


def _wrap(function: Callable[..., Any], tried: tuple[FloatArray, FloatArray] | None) -> Loss:
    """A user's loss; it gets row weights if it has a parameter ``sample_weight`` and is no mean over rows."""
    name = getattr(function, "__name__", "loss")
    try:
        weighted = "sample_weight" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        weighted = False

    def rows(y: FloatArray, p: FloatArray) -> FloatArray:
        each = np.asarray(function(y, p), dtype=np.float64)
        if each.size != len(y):
            raise InputError(
                f"the loss {name!r} gives {each.size} numbers for {len(y)} rows; it must give one number, or one per"
                " row."
            )
        return each.reshape(len(y))

    if tried is not None and not weighted and np.ndim(function(*tried)) > 0:
        return _mean_of(name, rows)

    def total(y: FloatArray, p: FloatArray, w: FloatArray) -> float:
        if weighted:
            return float(function(y, p, sample_weight=w))
        if (w != w[0]).any():
            raise InputError(
                f"the loss {name!r} ignores sample_weight; let it give one number per row instead of their mean, or a"
                " parameter of that name."
            )
        return float(function(y, p))

    return Loss(name, total)
