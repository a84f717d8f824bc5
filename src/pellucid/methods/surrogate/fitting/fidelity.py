"""How well a surrogate reproduces the model on rows that it was not fitted to, at every size.

With predictions f of the model, g of the surrogate and row weights w, R2 = 1 - sum w (f - g)^2 / sum w (f - mean f)^2,
one for each output. Over all outputs the sums are added up first, outputs other than probabilities in units of their
spread. Every g is that of a surrogate fitted to the other folds (cross-fitting), so each row is held out once. Standard
errors are those of the ratio over rows, by linearisation; the chance in the fits is not in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.methods.surrogate.fitting.task import Task
from pellucid.runner import Run
from pellucid.stats import standard_error, weighted_mean

_CONSTANT = 1e-12  # of the squared size of predictions: they do not vary


class Fitted(Protocol):
    """A surrogate of every size, fitted to some rows."""

    @property
    def largest(self) -> int:
        """The largest size that these rows allow."""

    def predict(self, rows: IntArray, size: int) -> FloatArray:
        """Predictions ``(rows, outputs)`` of that of one size."""


class Fitter(Protocol):
    """Fits one kind of surrogate to rows of a task."""

    @property
    def sizes(self) -> Sequence[int]:
        """Sizes that it has, in ascending order; of a kind without sizes a single 0."""

    def fit(self, rows: IntArray) -> Fitted:
        """The surrogates of all sizes, fitted to these rows."""


@dataclass(frozen=True, eq=False)
class Fidelity:
    """R2 by size: overall with its error, per output, and overall on the fitted rows; the fits that gave them."""

    sizes: IntArray
    held_out: FloatArray
    se: FloatArray
    by_output: FloatArray
    fitted: FloatArray
    whole: Fitted
    parts: tuple[Fitted, ...]

    def held_out_predictions(self, task: Task, size: int) -> FloatArray:
        """For each row the prediction of the surrogate that was fitted without it."""
        return _spliced(task, self.parts, size)


def fidelity(task: Task, fitter: Fitter, run: Run) -> Fidelity:
    """Fits to all rows and without each fold, and compares at every size."""
    run.plan(task.folds + 1)
    parts = []
    for k in range(task.folds):
        parts.append(fitter.fit(task.training(k)))
        run.advance(1)
    everything = np.arange(len(task))
    whole = fitter.fit(everything)
    run.advance(1)
    run.close()
    lines = []
    sizes = sorted({min(size, whole.largest) for size in fitter.sizes})
    for size in sizes:
        held = _spliced(task, parts, size)
        value, error = overall(task, held)
        own, _ = overall(task, whole.predict(everything, size))
        lines.append((value, error, own, r_squared(task.target, held, task.weights)[0]))
    return Fidelity(
        sizes=np.array(sizes, dtype=np.intp),
        held_out=np.array([line[0] for line in lines]),
        se=np.array([line[1] for line in lines]),
        fitted=np.array([line[2] for line in lines]),
        by_output=np.stack([line[3] for line in lines]),
        whole=whole,
        parts=tuple(parts),
    )


def _spliced(task: Task, parts: Sequence[Fitted], size: int) -> FloatArray:
    held = np.empty_like(task.target)
    for k, part in enumerate(parts):
        rows = task.held_out(k)
        held[rows] = part.predict(rows, size)
    return held


def overall(task: Task, guess: FloatArray) -> tuple[float, float]:
    """R2 over all outputs and its standard error."""
    guess = guess / task.unit
    errors = np.square(task.scaled - guess).sum(axis=1, keepdims=True)
    around = np.square(task.scaled - weighted_mean(task.scaled, task.weights)).sum(axis=1, keepdims=True)
    values, se = _ratio(errors, around, task.weights, float(np.square(task.scaled).max(initial=0.0)))
    return float(values[0]), float(se[0])


def r_squared(target: FloatArray, guess: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """R2 of each output and its standard error; a constant that is reproduced has 1."""
    around = np.square(target - weighted_mean(target, weights))
    return _ratio(np.square(target - guess), around, weights, float(np.square(target).max(initial=0.0)))


def _ratio(errors: FloatArray, around: FloatArray, w: FloatArray, size: float) -> tuple[FloatArray, FloatArray]:
    mse, variance = weighted_mean(errors, w), weighted_mean(around, w)
    flat = variance <= _CONSTANT * size
    safe = np.where(flat, 1.0, variance)
    values = np.where(flat, np.where(mse <= _CONSTANT * size, 1.0, 0.0), 1.0 - mse / safe)
    se = np.where(flat, 0.0, standard_error(errors / safe - mse * around / safe**2, w))
    return values, se
