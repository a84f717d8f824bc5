"""What the model and the data are, and how good the model is: facts, sentences and tables."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.losses import find_loss
from pellucid.models.outcome import constant_prediction, outcome_for
from pellucid.report.cards import Plain, section, table
from pellucid.runner import Run
from pellucid.words import counted, listed, number, percent, value_name

if TYPE_CHECKING:
    from pellucid.data.schema import Feature
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
        return "explains none of the variance of the outcome: the mean predicts it better"
    return f"explains {percent(1 - own)} of the variance of the outcome"


def _absolute_words(own: float, constant: float) -> str:
    return f"is off by {number(own)} on average, a constant by {number(constant)}"


def _squared_words(own: float, constant: float) -> str:
    return (
        f"has a typical error (RMSE) of {number(float(np.sqrt(own)))}, a constant of {number(float(np.sqrt(constant)))}"
    )


def _error_words(own: float, constant: float) -> str:
    return f"misclassifies {percent(own)} of the rows; always predicting the most frequent class, {percent(constant)}"


def _auc_words(own: float, _: float) -> str:
    return f"ranks a row of a class above a row of another class in {percent(1 - own)} of pairs; chance gives 50%"


def _log_loss_words(own: float, constant: float) -> str:
    if constant <= 0:
        return "cannot be compared: all rows are of one class"
    if own >= constant:
        return "has a log loss no better than always predicting the class frequencies"
    return f"has a log loss {percent(1 - own / constant)} better than always predicting the class frequencies"


_R2 = _Measure("1-r2", "R²", lambda loss: number(1 - loss), _variance_words)
_MAE = _Measure("mae", "Mean absolute error", number, _absolute_words)
_MSE = _Measure("mse", "Mean squared error", number, _squared_words)
_ERROR = _Measure("error", "Error rate", percent, _error_words)
_AUC = _Measure("1-auc", "AUC", lambda loss: number(1 - loss), _auc_words)
_LOG_LOSS = _Measure("log_loss", "Log loss", number, _log_loss_words)


_KINDS = {
    "numeric": "number",
    "integer": "whole number",
    "ordered": "ordered category",
    "categorical": "category",
    "boolean": "yes or no",
    "date": "date",
}
_SHOWN = 30  # features listed before the rest is folded away
_LEVELS = 5
_LONGEST = 60


def facts(explainer: Explainer) -> list[Plain]:
    """What stands below the title."""
    predictor, data = explainer.predictor, explainer.data
    return [
        {"label": "Model", "value": f"{predictor.name} ({predictor.library})"},
        {"label": "Task", "value": _task(explainer)},
        {"label": "Explained", "value": _explained(explainer)},
        {"label": "Rows", "value": f"{len(data):,}"},
        {"label": "Features", "value": f"{len(data.schema.features):,}"},
    ]


def model_section(explainer: Explainer, found: Sequence[Score]) -> Plain:
    """The score of the model beside that of a constant."""
    name = explainer.predictor.name
    if not found:
        missing = "no outcome was given" if explainer.data.y is None else "the outcome does not fit its outputs"
        intro = [
            f"How well {name} predicts is unknown: {missing}.",
            "Importance is therefore measured by how much predictions change, not by how much worse they get.",
        ]
        return section("model", "The model", intro)
    intro = [
        f"{name} is compared with {_constant(explainer)}, on the {len(explainer.data):,} rows of this report.",
        "If the model was trained on these rows, it looks better here than it is.",
    ]
    rows = [[score.measure, score.words, score.model, score.constant] for score in found]
    head = ["Measure", "In words: the model …", "Model", "Constant"]
    return section("model", "The model", intro, table=table(head, rows))


def data_section(explainer: Explainer) -> Plain:
    """A line per feature: what it is, what values it has, how much of it is missing."""
    data = explainer.data
    gaps = [feature.name for feature in data.schema.features if feature.missing > 0]
    still = [feature.name for feature in data.schema.features if feature.distinct < 2]
    intro = [f"{len(data):,} rows, {counted(len(data.schema.features), 'feature')}."]
    if gaps:
        intro.append(f"Values are missing in {listed(gaps)}.")
    if still:
        intro.append(
            f"{listed(still)} {'has' if len(still) == 1 else 'have'} only one value and cannot have an effect."
        )
    if data.weighted:
        intro.append("Rows count by their weights.")
    rows = [_row(feature) for feature in data.schema.features]
    head = ["Feature", "Kind", "Values", "Missing", "Distinct values"]
    return section("data", "The data", intro, table=table(head, rows, shown=_SHOWN, what="features"))


def _row(feature: Feature) -> list[str]:
    missing = percent(feature.missing) if feature.missing else "none"
    return [feature.name, _KINDS[feature.kind], _values(feature), missing, f"{feature.distinct:,}"]


def _values(feature: Feature) -> str:
    if feature.distinct == 0:
        return "none"
    if feature.categories is not None:
        return listed([_short(value_name(level)) for level in feature.categories], _LEVELS)
    low, high = feature.decode(np.array([feature.low, feature.high]))
    if feature.distinct == 1:
        return value_name(low)
    joint = " and " if feature.kind == "boolean" else " to "
    return f"{value_name(low)}{joint}{value_name(high)}"


def _short(text: str) -> str:
    return textwrap.shorten(text, _LONGEST, placeholder=" …") if " " in text else text[:_LONGEST]


def _task(explainer: Explainer) -> str:
    classes = explainer.predictor.classes
    if classes is not None:
        return f"classification, {counted(len(classes), 'class', 'classes')}"
    return "regression" if explainer.predictor.task == "regression" else "scores"


def _explained(explainer: Explainer) -> str:
    predictor = explainer.predictor
    names = listed(predictor.output_names)
    if predictor.scale in ("probability", "log-odds"):
        return f"{predictor.scale} of {names}"
    return names if names != "prediction" else "the predicted number"


def _constant(explainer: Explainer) -> str:
    predictor, data = explainer.predictor, explainer.data
    if predictor.classes is not None:
        return "a constant, the class frequencies"
    y = outcome_for(predictor, data)
    if y.shape[1] > 1:
        return "a constant, the means of the outcomes"
    return f"a constant, the mean of the outcome ({number(float(np.average(y[:, 0], weights=data.weights)))})"
