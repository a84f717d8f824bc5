"""What a change of the table costs: the loss before, the loss after, their difference or ratio, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import stdtrit

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.errors import InputError
from pellucid.losses import Loss, find_loss
from pellucid.models import Predictor
from pellucid.models.outcome import outcome_for
from pellucid.stats import Z95, effective_size

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

    def spread(self, repeats: int) -> float:
        """Standard errors on each side of a 95% interval; few repeats of a loss that is no mean over rows need more."""
        return float(stdtrit(max(repeats - 1, 1), 0.975)) if self.loss.rows is None else Z95


@dataclass(frozen=True, eq=False)
class Changed:
    """Loss after one player was changed: its mean, each repeat, and each row's mean where the loss allows."""

    mean: float
    repeats: FloatArray
    rows: FloatArray | None

    def compared(self, setting: Setting, compare: Compare) -> tuple[float, FloatArray, float]:
        """Importance, importance of each repeat, and standard error (over rows where known, else over repeats)."""
        repeats = np.array([relative(float(r), setting.baseline, compare) for r in self.repeats])
        value = float(np.nanmean(repeats)) if np.isfinite(repeats).any() else np.nan
        if self.rows is not None and setting.row_loss is not None:
            ratio = self.mean / setting.baseline if compare == "ratio" else 1.0
            change = self.rows - ratio * setting.row_loss
            scale = setting.baseline if compare == "ratio" else 1.0
            size = effective_size(setting.weights)
            spread = np.average(
                np.square(change - np.average(change, weights=setting.weights)), weights=setting.weights
            )
            return value, repeats, float(np.sqrt(spread / (size - 1)) / scale) if size > 1 else np.nan
        known = repeats[np.isfinite(repeats)]
        return value, repeats, float(known.std(ddof=1) / np.sqrt(known.size)) if known.size > 1 else np.nan


def compared(
    results: Sequence[Changed], setting: Setting, compare: Compare
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Importances, those of every repeat and standard errors of several players."""
    values, repeats, errors = zip(*(result.compared(setting, compare) for result in results), strict=True)
    return np.stack(values), np.stack(repeats), np.stack(errors)


def losses(setting: Setting, predictions: Iterable[FloatArray]) -> Changed:
    """Loss of every repeat; one that was not reached (NaN) stays unknown."""
    repeats, rows, known = [], np.zeros(len(setting.y)), 0
    for prediction in predictions:
        reached = not np.isnan(prediction).any()
        if setting.loss.rows is not None and reached:
            of_rows = setting.loss.rows(setting.y, prediction)
            rows += of_rows
            repeats.append(mean_loss(of_rows, setting.weights))
        else:
            repeats.append(setting.loss(setting.y, prediction, setting.weights) if reached else np.nan)
        known += reached
    mean = float(np.nanmean(repeats)) if known else np.nan
    return Changed(mean, np.array(repeats), rows / known if known and setting.loss.rows is not None else None)


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
