"""Losses of single rows by their scores: slopes and curvatures, from which Newton steps are made.

With s_i the scores ``(scores,)`` of row i and y_i its outcome as the model has it:

    log loss of one score          log(1 + e^s) - y s                   slope p - y, curvature p (1 - p)
    log loss of one per class      log sum_k e^(s_k) - s_y              slope p - y, curvature diag(p) - p p'
    generalised linear model       d(y, mu) / 2,  mu = g^-1(s)          slope (mu - y) / (V(mu) g'(mu))

The curvature of the last is the slope's own derivative (the observed one, not its expectation), by central differences,
which are good to nine digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import expit, softmax

from pellucid.arrays import FloatArray
from pellucid.models.families import Family, Link, clipped
from pellucid.models.linear_fit import LinearFit

_STEP = 1e-5


class PointLoss(Protocol):
    """Of scores ``(rows, scores)`` and outcomes ``Y`` in as many columns."""

    def value(self, sums: FloatArray, Y: FloatArray) -> FloatArray:
        """The loss of each row ``(rows,)``; infinite where no prediction has these scores."""

    def slopes(self, sums: FloatArray, Y: FloatArray) -> FloatArray:
        """Its first derivatives by the scores ``(rows, scores)``."""

    def curvature(self, sums: FloatArray, Y: FloatArray) -> FloatArray:
        """Its second derivatives ``(rows, scores, scores)``."""


@dataclass(frozen=True)
class LogLoss:
    """Of classes: logistic with one score, softmax with one for each class."""

    def value(self, sums: FloatArray, Y: FloatArray) -> FloatArray:
        if sums.shape[1] == 1:
            return np.asarray(np.logaddexp(0, sums[:, 0]) - Y[:, 0] * sums[:, 0])
        return np.asarray(np.logaddexp.reduce(sums, axis=1) - (Y * sums).sum(axis=1))

    def slopes(self, sums: FloatArray, Y: FloatArray) -> FloatArray:
        return _probabilities(sums) - Y

    def curvature(self, sums: FloatArray, Y: FloatArray) -> FloatArray:  # noqa: ARG002  of the log loss it is free of y
        p = _probabilities(sums)
        if p.shape[1] == 1:
            return (p * (1 - p))[..., None]
        return np.asarray(np.einsum("ik,kl->ikl", p, np.eye(p.shape[1])) - p[:, :, None] * p[:, None])


@dataclass(frozen=True, eq=False)
class HalfDeviance:
    """Of a generalised linear model with one score."""

    family: Family
    link: Link

    def value(self, sums: FloatArray, Y: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):
            mu = self.link.inverse(sums[:, 0])
            inside = np.isfinite(mu) & (mu >= self.family.range[0]) & (mu <= self.family.range[1])
            found = self.family.deviance(Y[:, 0], clipped(mu, self.family)) / 2
        return np.where(inside, found, np.inf)

    def slopes(self, sums: FloatArray, Y: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):
            mu = clipped(self.link.inverse(sums), self.family)
            return np.asarray((mu - Y) / (self.family.variance(mu) * self.link.derivative(mu)))

    def curvature(self, sums: FloatArray, Y: FloatArray) -> FloatArray:
        step = _STEP * np.maximum(np.abs(sums), 1.0)
        return np.asarray(((self.slopes(sums + step, Y) - self.slopes(sums - step, Y)) / (2 * step))[..., None])


def point_loss(fit: LinearFit) -> PointLoss:
    """The loss of each row that coefficients minimise the sum of."""
    return LogLoss() if fit.family is None else HalfDeviance(*fit.family)


def coded(fit: LinearFit, y: FloatArray) -> FloatArray:
    """Outcomes in as many columns as there are scores."""
    if fit.loss == "softmax":
        return np.asarray(np.eye(fit.theta.shape[1])[y.astype(np.intp)])
    return np.asarray((y == 1) if fit.loss == "logistic" else y, dtype=np.float64).reshape(len(y), -1)


def _probabilities(sums: FloatArray) -> FloatArray:
    """Of the second class from one score, or of every class from one score each."""
    return np.asarray(expit(sums) if sums.shape[1] == 1 else softmax(sums, axis=1))
