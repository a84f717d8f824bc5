"""How good the model is: its losses beside those of a constant, in numbers and in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.losses import find_loss
from pellucid.models.outcome import constant_prediction, outcome_for
from pellucid.runner import Run
from pellucid.words import number, percent

if TYPE_CHECKING:
    from pellucid.explainer import Explainer


@dataclass(frozen=True)
class Score:
    """One measure of the model and of a constant, each as text, and what it means in a sentence."""

    measure: str
    model: str
    constant: str
    words: str


@dataclass(frozen=True)
class _Measure:
    """A loss, its name for readers, how its values are shown, and a sentence about (model, constant)."""

    loss: str
    name: str
    show: Callable[[float], str]
    words: Callable[[float, float], str]


def can_compare(explainer: Explainer) -> bool:
    """Whether the outcome is known and has the shape of what the model predicts."""
    y = explainer.data.y
    if y is None or len(y) < 2:
        return False
    if explainer.predictor.classes is not None:
        return True
    if explainer.predictor.task == "scores" and y.dtype.kind not in "iuf":
        return False
    return (y.shape[1] if y.ndim == 2 else 1) == explainer.predictor.width


def importance_loss(explainer: Explainer) -> str | None:
    """The loss that importance is measured by: the usual one, or one that fits what the model returns."""
    if not can_compare(explainer):
        return "variance"
    if explainer.predictor.task == "classification" and explainer.predictor.raw_scale != "probability":
        return "error"
    return None


def scores(explainer: Explainer) -> list[Score]:
    """The usual measures, most telling first; none without an outcome to compare with."""
    if not can_compare(explainer):
        return []
    predictor, data = explainer.predictor, explainer.data
    y = outcome_for(predictor, data)
    model = Run(progress=False).predict(predictor, data, full=True)
    constant = constant_prediction(predictor, y, data.weights)
    task = "classification" if predictor.classes is not None else "regression"
    found = []
    for measure in _measures(explainer, y):
        loss = find_loss(measure.loss, task)
        own, other = loss(y, model, data.weights), loss(y, constant, data.weights)
        found.append(Score(measure.name, measure.show(own), measure.show(other), measure.words(own, other)))
    return found


def _measures(explainer: Explainer, y: FloatArray) -> list[_Measure]:
    several = bool((y != y[0]).any())
    if explainer.predictor.classes is None:
        return ([_R2] if several else []) + [_MAE, _MSE]
    log_loss = [_LOG_LOSS] if explainer.predictor.raw_scale == "probability" else []
    return [_ERROR, *([_AUC] if several else []), *log_loss]


# -- words -------------------------------------------------------------------------------------------


def _variance_words(own: float, _: float) -> str:
    if own >= 1:
        return "explains none of the variance of the outcome: the mean of all rows predicts it better"
    return f"explains {percent(1 - own)} of the variance of the outcome"


def _absolute_words(own: float, constant: float) -> str:
    return f"is off by {number(own)} on average, a constant by {number(constant)}"


def _squared_words(own: float, constant: float) -> str:
    return (
        f"typical error (its square root) {number(float(np.sqrt(own)))}, of a constant"
        f" {number(float(np.sqrt(constant)))}"
    )


def _error_words(own: float, constant: float) -> str:
    return (
        f"is wrong about {percent(own)} of the rows; always naming the most frequent class, about {percent(constant)}"
    )


def _auc_words(own: float, _: float) -> str:
    return f"ranks a row of a class above a row of another class in {percent(1 - own)} of pairs; chance gives 50%"


def _log_loss_words(own: float, constant: float) -> str:
    if constant <= 0:
        return "cannot be compared: all rows are of one class"
    if own >= constant:
        return "its probabilities are no better than the shares of the classes"
    return f"its probabilities leave {percent(own / constant)} of the uncertainty of the class shares"


_R2 = _Measure("1-r2", "R²", lambda loss: number(1 - loss), _variance_words)
_MAE = _Measure("mae", "Mean absolute error", number, _absolute_words)
_MSE = _Measure("mse", "Mean squared error", number, _squared_words)
_ERROR = _Measure("error", "Wrong classes", percent, _error_words)
_AUC = _Measure("1-auc", "AUC", lambda loss: number(1 - loss), _auc_words)
_LOG_LOSS = _Measure("log_loss", "Log loss", number, _log_loss_words)
