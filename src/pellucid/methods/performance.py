"""Performance: how good the predictions are, and where they fail.

References. Fawcett 2006, "An introduction to ROC analysis"; Davis and Goadrich 2006, "The relationship between
precision-recall and ROC curves"; DeLong, DeLong and Clarke-Pearson 1988; Wilson 1927; Niculescu-Mizil and Caruana 2005.

Definition. With outcome y, prediction f and row weights w (all shares and means are weighted):

- *measures*: of numbers R² = 1 - sum w (y - f)² / sum w (y - mean y)², mean |y - f| and RMSE; of classes the error rate
  of the class with the highest score, AUC = P(f of a row of the class > f of another row), ties counted half, and log
  loss; each beside that of the best constant (mean, or class frequencies);
- *ranking* of a class: at every threshold t the rows with f >= t are flagged; TP(t) and FP(t) are their weights in and
  outside the class, P and N those of all. Recall = TP / P, false alarms = FP / N, precision = TP / (TP + FP), average
  precision = sum of precision(t) times the step of recall at t;
- *bins*: rows in bins of equal weight by their prediction; mean prediction beside mean outcome (calibration), and the
  10% and 90% percentiles of the residuals y - f;
- *confusion*: weight of rows by true and predicted class.

Standard errors are those of means over rows (for R² and RMSE by linearisation), for AUC DeLong's, for shares in bins
Wilson's intervals, with Kish's effective size where rows have weights.

When it misleads. (1) On rows that the model was fitted to, everything looks better than it is: see the caveats. (2)
Rows that depend on each other (of one customer, of consecutive days) make the intervals too narrow. (3) An AUC of a
rare class hides that most flagged rows are false alarms: read precision. (4) The frequency of classes here, and with
it precision and calibration, may not be that of the rows to come.

Cost. One model row for each row of X.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.checks import whole
from pellucid.data import Data
from pellucid.diagnostics.by_method import performance_caveats
from pellucid.errors import InputError
from pellucid.explanations import Bins, Header, Performance, Ranking
from pellucid.losses import Loss, find_loss, weighted_auc
from pellucid.models import Predictor
from pellucid.models.outcome import Answering, constant_prediction, outcome_for
from pellucid.runner import Run
from pellucid.stats import effective_size, interval, standard_error, weighted_quantiles, wilson
from pellucid.words import value_name

_BIN_ROWS = 20  # rows in a bin, at least
_POINTS = 150  # of a curve, besides those at hundredths
_SHOWN = 2_000  # rows whose outcome and prediction are kept for charts


def performance(predictor: Predictor, data: Data, *, bins: int = 10, run: Run) -> Performance:
    """Everything that is known of predictions once the outcome is."""
    bins = whole("bins", bins, least=2)
    if data.y is None:
        raise InputError("performance compares predictions with the outcome; give y to the Explainer.")
    if predictor.classes is None and predictor.task == "scores" and data.y.dtype.kind not in "biuf":
        raise InputError("y holds text, but the model returns scores, not classes; give a numeric y.")
    counting = np.flatnonzero(data.weights > 0)
    data = data if len(counting) == len(data) else data.take(counting)
    y, full = outcome_for(predictor, data), run.predict(predictor, data, full=True)
    shared = {"bins": bins, "random_state": run.seed, "method": "performance"}
    found = Performance(
        header=Header.of(predictor, data, run, shared, scale=predictor.raw_scale),
        **compare(predictor, y, full, data.weights, data.spread(_SHOWN), bins=bins),
    )
    return run.finish(found, performance_caveats(predictor, data, run, y, full))


def compare(
    model: Answering, y: FloatArray, full: FloatArray, weights: FloatArray, some: IntArray, *, bins: int = 10
) -> dict[str, Any]:
    """What a `Performance` holds: full predictions compared with outcomes, of which ``some`` are kept for charts."""
    if model.classes is None:
        parts = _regression(y, full, weights, some, bins)
    else:
        parts = _classes(model, y, full, weights, bins)
    measures, values, se, constant = _measured(model, y, full, weights)
    return {"values": values, "se": se, "measures": measures, "constant": constant, **parts}


# -- measures ----------------------------------------------------------------------------------------


def _measured(
    predictor: Answering, y: FloatArray, full: FloatArray, w: FloatArray
) -> tuple[tuple[str, ...], FloatArray, FloatArray, FloatArray]:
    """Names, values, standard errors, and the values of the best constant."""
    constant, several = constant_prediction(predictor, y, w), bool((y != y[0]).any())
    if predictor.classes is None:
        known = {**({"R²": "1-r2"} if several else {}), "mean absolute error": "mae", "RMSE": "rmse"}
        task = "regression"
    else:
        probabilities = {"log loss": "log_loss"} if predictor.raw_scale == "probability" else {}
        known, task = (
            {"error rate": "error", **({"AUC": "1-auc"} if several else {}), **probabilities},
            "classification",
        )
    losses = {name: find_loss(loss, task) for name, loss in known.items()}
    turned = [name in ("R²", "AUC") for name in losses]
    own, other = (
        np.where(turned, 1 - np.array(rows), rows)
        for rows in zip(*((one(y, full, w), one(y, constant, w)) for one in losses.values()), strict=True)
    )
    se = np.array([_error(name, one, y, full, w) for name, one in losses.items()])
    return tuple(losses), own, se, other


def _error(name: str, loss: Loss, y: FloatArray, f: FloatArray, w: FloatArray) -> float:
    """The standard error of a measure."""
    if loss.rows is not None:
        return float(standard_error(loss.rows(y, f), w))
    if name == "AUC":
        return _auc_error(y == 1, f[:, 1], w) if f.shape[1] == 2 else np.nan
    squares = np.square(y - f).mean(axis=1)
    mse = float(np.average(squares, weights=w))
    if name == "RMSE":
        return float(standard_error(squares, w)) / (2 * np.sqrt(mse)) if mse > 0 else 0.0
    around = np.square(y - np.average(y, axis=0, weights=w)).mean(axis=1)
    variance = float(np.average(around, weights=w))
    return float(standard_error(squares / variance - mse * around / variance**2, w))


def _auc_error(positive: BoolArray, score: FloatArray, w: FloatArray) -> float:
    """DeLong's: from how far each row of a class is above those of the other."""
    inside, outside = score[positive], score[~positive]
    above = _below(inside, outside, w[~positive])
    below = 1 - _below(outside, inside, w[positive])
    return float(np.hypot(standard_error(above, w[positive]), standard_error(below, w[~positive])))


def _below(score: FloatArray, others: FloatArray, w: FloatArray) -> FloatArray:
    """For each score the share of the others below it, ties counted half."""
    order = np.argsort(others, kind="stable")
    mass = np.append(0.0, np.cumsum(w[order]))
    less, atmost = (mass[np.searchsorted(others[order], score, side=side)] for side in ("left", "right"))
    return np.asarray((less + atmost) / (2 * mass[-1]))


# -- numbers -----------------------------------------------------------------------------------------


def _regression(y: FloatArray, f: FloatArray, w: FloatArray, some: IntArray, bins: int) -> dict[str, Any]:
    off = [weighted_quantiles(np.abs(y - f)[:, k], np.array([0.5, 0.9]), w) for k in range(y.shape[1])]
    return {
        "classes": (),
        "confusion": np.zeros((0, 0)),
        "rankings": (),
        "bins": tuple(_binned(y[:, k], f[:, k], w, bins, share=False) for k in range(y.shape[1])),
        "actual": y[some],
        "predicted": f[some],
        "off": np.stack(off, axis=1),
    }


def _binned(y: FloatArray, f: FloatArray, w: FloatArray, bins: int, *, share: bool) -> Bins:
    """Bins of equal weight by prediction, fewer where rows are few; equal predictions are never parted."""
    number = int(np.clip(effective_size(w) // _BIN_ROWS, 1, bins))
    edges = np.unique(weighted_quantiles(f, np.arange(1, number) / number, w))
    place = np.unique(np.searchsorted(edges, f, side="left"), return_inverse=True)[1]
    lines = [_bin(y[place == b], f[place == b], w[place == b], share=share) for b in range(place.max() + 1)]
    names = ("predicted", "observed", "se", "low", "high", "rows", "tenth", "ninetieth")
    return Bins(**dict(zip(names, np.array(lines).T.copy(), strict=True)))


def _bin(y: FloatArray, f: FloatArray, w: FloatArray, *, share: bool) -> list[float]:
    observed, mass = float(np.average(y, weights=w)), float(w.sum())
    if share:
        size = effective_size(w)
        expected = float(np.average(f, weights=w))
        low, high = map(float, wilson(np.array(observed), np.array(size)))
        # If the probabilities are right, their own variance is that of the share: also where all rows are of one class.
        se = np.sqrt(max(expected * (1 - expected), observed * (1 - observed)) / size)
        return [expected, observed, float(se), low, high, mass, np.nan, np.nan]
    se = float(standard_error(y - f, w))
    ends = interval(np.array(observed), np.array(se))
    quantiles = weighted_quantiles(y - f, np.array([0.1, 0.9]), w)
    return [float(np.average(f, weights=w)), observed, se, *map(float, ends), mass, *map(float, quantiles)]


# -- classes -----------------------------------------------------------------------------------------


def _classes(predictor: Answering, y: FloatArray, f: FloatArray, w: FloatArray, bins: int) -> dict[str, Any]:
    names, n = tuple(value_name(label) for label in predictor.classes or ()), f.shape[1]
    confusion = np.zeros((n, n))
    np.add.at(confusion, (y.astype(np.intp), f.argmax(axis=1)), w)
    mixed = [k for k in predictor.explained if 0 < (y == k).sum() < len(y)]
    labels = dict(zip(predictor.explained, predictor.output_names, strict=True))
    probabilities = predictor.raw_scale == "probability"
    return {
        "classes": names,
        "confusion": confusion,
        "rankings": tuple(ranking(labels[k], y == k, f[:, k], w) for k in mixed),
        "bins": tuple(
            _binned((y == k).astype(np.float64), f[:, k], w, bins, share=True)
            for k in predictor.explained
            if probabilities
        ),
        "actual": np.zeros((0, 0)),
        "predicted": np.zeros((0, 0)),
        "off": np.zeros((2, 0)),
    }


def ranking(name: str, positive: BoolArray, score: FloatArray, w: FloatArray) -> Ranking:
    """Every threshold, the highest first, and before it one that flags no row (precision is 1 there by convention)."""
    values, place = np.unique(-score, return_inverse=True)
    steps = np.stack([np.bincount(place, weights=w * part, minlength=len(values)) for part in (positive, ~positive)])
    hits, alarms = np.concatenate([np.zeros((2, 1)), np.cumsum(steps, axis=1)], axis=1)
    flagged = hits + alarms
    precision = np.divide(hits, flagged, out=np.ones_like(hits), where=flagged > 0)
    recall = hits / hits[-1]
    thresholds = np.append(np.inf, -values)
    kept = _thinned(thresholds, recall + alarms / alarms[-1])
    return Ranking(
        name=name,
        share=float(hits[-1] / flagged[-1]),
        auc=weighted_auc(positive, score, w),
        auc_se=_auc_error(positive, score, w),
        average_precision=float(np.diff(recall) @ precision[1:]),
        thresholds=thresholds[kept],
        flagged=(flagged / flagged[-1])[kept],
        precision=precision[kept],
        recall=recall[kept],
        false_alarms=(alarms / alarms[-1])[kept],
    )


def _thinned(thresholds: FloatArray, along: FloatArray) -> FloatArray:
    """Positions of the thresholds that are kept: evenly along the ROC curve, and those in force at hundredths."""
    evenly = np.searchsorted(along, np.linspace(0, along[-1], _POINTS) - 1e-12)
    hundredths = np.searchsorted(-thresholds, -np.arange(1, 100) / 100, side="right") - 1
    return np.unique(np.clip([0, *evenly, *hundredths, len(along) - 1], 0, len(along) - 1))
