"""What a change of the table costs: the loss before, the loss after, their difference or ratio, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.errors import InputError
from pellucid.losses import Loss, find_loss
from pellucid.models import Predictor
from pellucid.models.outcome import outcome_for

Compare = Literal["difference", "ratio"]
WITHOUT_OUTCOME = "share of prediction variance"


@dataclass(frozen=True, eq=False)
class Setting:
    """The outcome, the loss and the model's own predictions."""

    y: FloatArray
    loss: Loss
    prediction: FloatArray
    row_loss: FloatArray | None
    baseline: float
    weights: FloatArray

    @classmethod
    def of(cls, predictor: Predictor, data: Data, loss: Any, prediction: FloatArray) -> Setting:
        """Without y, or with ``loss="variance"``, predictions (of all outputs) are compared with themselves."""
        if loss == "variance" or (loss is None and data.y is None):
            y, chosen = prediction, _share_of_variance(prediction, data.weights)
        else:
            y = outcome_for(predictor, data)
            chosen = find_loss(loss, predictor.task, predictor.raw_scale, (y, prediction))
        row_loss = None if chosen.rows is None else chosen.rows(y, prediction)
        baseline = chosen(y, prediction, data.weights) if row_loss is None else mean_loss(row_loss, data.weights)
        return cls(y, chosen, prediction, row_loss, baseline, data.weights)


def relative(after: float, before: float, compare: Compare) -> float:
    """The loss after compared with the loss before."""
    if compare == "difference":
        return after - before
    if before == 0:
        raise InputError("compare='ratio' divides by the model's loss, which is zero here; use compare='difference'.")
    return after / before


def mean_loss(of_rows: FloatArray, weights: FloatArray) -> float:
    """One formula before and after permuting: a feature the model does not use has exactly no importance."""
    return float(of_rows @ weights / weights.sum())


def of_the_variance(setting: Setting) -> FloatArray:
    """Each row's part in what the values are divided by, less its mean; 0 where that is no estimate."""
    if setting.loss.name != WITHOUT_OUTCOME:
        return np.zeros(len(setting.y))
    squares = _from_centre(setting.prediction, setting.weights)
    variance = float(np.average(squares, weights=setting.weights))
    return squares / variance - 1.0 if variance > 0 else np.zeros(len(squares))


def _from_centre(prediction: FloatArray, weights: FloatArray) -> FloatArray:
    centre = np.average(prediction, axis=0, weights=weights)
    return np.asarray(np.square(prediction - centre).sum(axis=-1))


def _share_of_variance(prediction: FloatArray, weights: FloatArray) -> Loss:
    """Without y: half the mean squared change of the prediction, as a share of its variance."""
    centre = np.average(prediction, axis=0, weights=weights)
    variance = float(np.average(np.square(prediction - centre), axis=0, weights=weights).sum())

    around = np.square(prediction - centre).sum(axis=-1) / (variance if variance > 0 else 1.0)

    def rows(y: FloatArray, p: FloatArray) -> FloatArray:
        return np.asarray(np.square(y - p).sum(axis=-1) / (2 * variance)) if variance > 0 else np.zeros(len(p))

    def influence(y: FloatArray, p: FloatArray, w: FloatArray) -> FloatArray:
        """Rows count in the variance too, by which everything is divided."""
        each = rows(y, p)
        return np.asarray(each - mean_loss(each, w) * (around - 1.0))

    return Loss(WITHOUT_OUTCOME, lambda y, p, w: float(np.average(rows(y, p), weights=w)), rows, influence)
