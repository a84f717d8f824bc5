"""Families: how a target scatters around its mean, and the link by which the mean comes from a sum.

Definition. With eta the sum and mu its mean, one Newton (scoring) step is a weighted least-squares fit of
eta + residual with weights W:

    gaussian     mu = eta               W = 1           residual = y - mu           phi estimated
    binomial     mu = 1/(1 + e^-eta)    W = mu(1 - mu)  residual = (y - mu)/W       phi = 1
    multinomial  mu = softmax(eta)      W = mu(1 - mu)  residual = (y - mu)/W       phi = 1, class by class
    poisson      mu = e^eta             W = mu          residual = (y - mu)/mu      phi = 1
    gamma        mu = e^eta             W = 1           residual = (y - mu)/mu      phi estimated

where phi is the dispersion. Targets come as ``(rows, sums)``; of classes as indicators.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

import numpy as np

from pellucid.arrays import FloatArray

Link = Literal["identity", "logit", "softmax", "log"]
_LEAST = 1e-6  # of a weight: where a probability is 0 or 1 nothing more is learnt
_LARGEST = 30.0  # of a sum behind a logit or a logarithm


class Family(ABC):
    """How a target scatters around the mean that a sum leads to."""

    name: ClassVar[str]
    link: ClassVar[Link]
    dispersed: ClassVar[bool] = False  # whether the dispersion is estimated

    @abstractmethod
    def mean(self, eta: FloatArray) -> FloatArray:
        """From sums ``(rows, sums)`` to means."""

    @abstractmethod
    def working(self, eta: FloatArray, y: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
        """Weights and residuals of the k-th sum in one scoring step."""

    @abstractmethod
    def deviance(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        """Per row: twice the log-likelihood that is missing to a perfect fit (times phi)."""

    @abstractmethod
    def start(self, average: FloatArray) -> FloatArray:
        """The sums whose mean is the given one."""


class Gaussian(Family):
    """Numbers that scatter evenly."""

    name, link, dispersed = "gaussian", "identity", True

    def mean(self, eta: FloatArray) -> FloatArray:
        return eta

    def working(self, eta: FloatArray, y: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
        return np.ones(len(eta)), y[:, k] - eta[:, k]

    def deviance(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return np.square(y - eta)[:, 0]

    def start(self, average: FloatArray) -> FloatArray:
        return average


class Binomial(Family):
    """Two classes, by log-odds."""

    name, link = "binomial", "logit"

    def mean(self, eta: FloatArray) -> FloatArray:
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(eta, -_LARGEST, _LARGEST))))

    def working(self, eta: FloatArray, y: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
        mu = self.mean(eta)[:, k]
        weight = np.maximum(mu * (1.0 - mu), _LEAST)
        return weight, (y[:, k] - mu) / weight

    def deviance(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return np.asarray(2.0 * np.logaddexp(0.0, np.where(y > 0.5, -eta, eta)))[:, 0]

    def start(self, average: FloatArray) -> FloatArray:
        inside = np.clip(average, 1e-9, 1 - 1e-9)
        return np.log(inside / (1.0 - inside))


class Multinomial(Binomial):
    """Three classes or more, by the softmax of one sum each."""

    name, link = "multinomial", "softmax"  # type: ignore[assignment]  # another value of the same type

    def mean(self, eta: FloatArray) -> FloatArray:
        up = np.exp(eta - eta.max(axis=1, keepdims=True))
        return np.asarray(up / up.sum(axis=1, keepdims=True))

    def deviance(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        own = (eta * y).sum(axis=1)
        return np.asarray(2.0 * (np.logaddexp.reduce(eta, axis=1) - own))

    def start(self, average: FloatArray) -> FloatArray:
        logs = np.log(np.maximum(average, 1e-9))
        return np.asarray(logs - logs.mean())


class Poisson(Family):
    """Counts, or rates with an exposure, by their logarithm."""

    name, link = "poisson", "log"

    def mean(self, eta: FloatArray) -> FloatArray:
        return np.asarray(np.exp(np.clip(eta, -_LARGEST, _LARGEST)))

    def working(self, eta: FloatArray, y: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
        mu = np.maximum(self.mean(eta)[:, k], _LEAST)
        return mu, (y[:, k] - mu) / mu

    def deviance(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        mu = self.mean(eta)
        ratio = np.where(y > 0, y, 1.0) / mu
        return np.asarray(2.0 * (np.where(y > 0, y * np.log(ratio), 0.0) - (y - mu)))[:, 0]

    def start(self, average: FloatArray) -> FloatArray:
        return np.log(np.maximum(average, 1e-9))


class Gamma(Poisson):
    """Positive numbers whose spread grows with their mean, by their logarithm."""

    name, dispersed = "gamma", True

    def working(self, eta: FloatArray, y: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
        mu = self.mean(eta)[:, k]
        return np.ones(len(mu)), (y[:, k] - mu) / mu

    def deviance(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        ratio = y / self.mean(eta)
        return np.asarray(2.0 * (ratio - 1.0 - np.log(ratio)))[:, 0]


FAMILIES: dict[str, Family] = {
    family.name: family for family in (Gaussian(), Binomial(), Multinomial(), Poisson(), Gamma())
}
