"""What is measured of models without rows: predictions, losses, coefficients, or a number of the caller's own.

Influence is always *with minus without*: what a row adds by being among the training rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.errors import InputError
from pellucid.explanations import squeeze_outputs
from pellucid.losses import find_loss
from pellucid.methods.influence.estimation.left_out import LeftOut, Request
from pellucid.models.outcome import outcome_for

SOME = 100  # rows of X, evenly spaced, whose predictions stand for all
_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class Measured:
    """Values ``(units, ...)``, NaN where a unit was not tried; the names of what they are about; what ranks units."""

    values: FloatArray
    targets: tuple[str, ...]
    strength: FloatArray
    present: FloatArray
    errors: FloatArray = field(default_factory=lambda: np.empty(0))


def measured(request: Request, left: LeftOut) -> Measured:
    """What the request asks of the models without each unit."""
    if request.on == "parameters":
        return _parameters(request, left)
    rows = request.data.take(request.data.spread(SOME)) if request.target is None else request.target
    present = left.present(rows)
    values = measure(request, left, left.tried, rows, present)
    every = np.full((request.n_units, *values.shape[1:]), np.nan)
    every[left.tried] = values
    if request.on == "predictions" and request.target is not None:
        strength = np.abs(every).reshape(len(every), -1).mean(axis=1)
        labels = rows.row_labels
        names = tuple(labels.name(i) for i in range(len(rows)))
    else:
        strength = np.abs(every).reshape(len(every), -1).sum(axis=1)
        names = ()
    return Measured(every, names, strength, np.asarray(number_of(request, present, rows), dtype=np.float64))


def measure(request: Request, left: LeftOut, units: IntArray, rows: Data, present: FloatArray) -> FloatArray:
    """Of some units, in blocks of bounded size."""
    block = max(1, _CELLS // max(present.size, 1))
    parts = [
        differences(request, present, left.without(some, rows), rows)
        for some in (units[s : s + block] for s in range(0, len(units), block))
    ]
    return np.concatenate(parts) if parts else np.empty((0,))


def differences(request: Request, present: FloatArray, without: FloatArray, rows: Data) -> FloatArray:
    """With minus without, of full predictions ``(rows, width)`` and ``(units, rows, width)``."""
    if request.on == "predictions":
        own = request.predictor.restrict(present)
        flat = request.predictor.restrict(without.reshape(-1, without.shape[2]))
        change = own - flat.reshape(*without.shape[:2], -1)
        if request.target is None:
            change = np.average(np.abs(change), axis=1, weights=rows.weights)
        return squeeze_outputs(change)
    before = number_of(request, present, rows)
    if request.on == "loss":
        loss = find_loss(None, request.predictor.task, request.predictor.raw_scale)
        if loss.rows is not None:
            y = outcome_for(request.predictor, rows)
            tiled = np.concatenate([y] * len(without))
            each = loss.rows(tiled, without.reshape(-1, without.shape[2])).reshape(without.shape[:2])
            return np.asarray(before - np.average(each, axis=1, weights=rows.weights))
    return np.array([before - number_of(request, one, rows) for one in without], dtype=np.float64)


def number_of(request: Request, full: FloatArray, rows: Data) -> Any:
    """The number that is asked of predictions: their loss, the caller's own, or the predictions themselves."""
    if request.on == "loss":
        loss = find_loss(None, request.predictor.task, request.predictor.raw_scale)
        return loss(outcome_for(request.predictor, rows), full, rows.weights)
    own = squeeze_outputs(request.predictor.restrict(full))
    if request.on == "predictions":
        return own
    found = np.asarray(request.on(own.copy()))
    if found.size != 1 or found.dtype.kind not in "biuf":
        raise InputError(
            f"on= must return one number for the predictions of the rows, got {type(found.tolist()).__name__} of"
            f" {found.size} values."
        )
    return float(found.ravel()[0])


def _parameters(request: Request, left: LeftOut) -> Measured:
    if left.change is None:
        raise InputError(
            "on='parameters' needs a model with coefficients that is read (least squares, ridge, logistic or softmax"
            " regression); use on='predictions'."
        )
    change = left.change
    errors = left.errors if left.errors is not None else np.maximum(np.std(change, axis=0), 1e-300)
    relative = np.abs(change) / np.where(errors > 0, errors, np.inf)
    outputs = change.shape[2]
    names = left.names
    if outputs > 1:
        several = _score_names(request, outputs)
        names = tuple(f"{name} ({score})" for score in several for name in left.names)
    values = change.transpose(0, 2, 1).reshape(len(change), -1)
    present = left.notes["theta"].T.ravel() if "theta" in left.notes else np.zeros(values.shape[1])
    return Measured(values, names, relative.reshape(len(change), -1).max(axis=1), present, errors.T.ravel())


def _score_names(request: Request, n: int) -> tuple[str, ...]:
    classes = request.predictor.classes
    if classes is not None and len(classes) == n:
        return tuple(str(name) for name in classes)
    names = request.predictor.output_names
    return names if len(names) == n else tuple(str(k) for k in range(n))
