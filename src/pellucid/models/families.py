"""Distributions and links of generalised linear models.

A family has a variance function V(mu) and a unit deviance d(y, mu), which is 0 where they agree; a link g leads from
the mean to the sum, eta = g(mu). Either can be chosen without the other, but not every sum is the link of a mean: see
`Link.whole`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri, xlogy

from pellucid.arrays import FloatArray
from pellucid.checks import is_number, one_of
from pellucid.errors import InputError

Function = Callable[[FloatArray], FloatArray]
_TINY = 1e-12  # nearer to 0 or 1 a mean is not told from it while it is fitted


@dataclass(frozen=True, eq=False)
class Link:
    """``g(mu)``, its inverse, its derivative by mu, and whether every sum is the link of a mean (``whole``).

    ``range`` are the means that the inverse can give.
    """

    name: str
    g: Function
    inverse: Function
    derivative: Function
    whole: bool
    range: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Family:
    """A distribution: its variance function, its unit deviance, where its mean and its outcomes lie, its usual link.

    ``dispersed`` says whether the variance has a factor of its own, the dispersion. ``closed``: whether an outcome may
    lie on the lower (upper) end of the range.
    """

    name: str
    variance: Function
    deviance: Callable[[FloatArray, FloatArray], FloatArray]
    link: str
    dispersed: bool
    range: tuple[float, float]
    closed: tuple[bool, bool]

    def check(self, y: FloatArray) -> None:
        """An error for outcomes that the distribution does not have."""
        low, high = self.range
        bad = (y < low) | (y > high) | ((y == low) & (not self.closed[0])) | ((y == high) & (not self.closed[1]))
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            wanted = "0 to 1" if high == 1.0 else "zero or more" if self.closed[0] else "more than zero"
            raise InputError(
                f"y is {y[row]:g} in row {row}, but the family {self.name!r} has outcomes of {wanted}; choose"
                " another family."
            )

    def start(self, y: FloatArray, mean: float) -> FloatArray:
        """Means to start from: halfway between outcome and average."""
        return (y + 0.5) / 2 if self.name == "binomial" else (y + mean) / 2

    def inside(self, mu: FloatArray) -> bool:
        """Whether all means are those of the distribution."""
        return bool(np.isfinite(mu).all() and (mu > self.range[0]).all() and (mu < self.range[1]).all())


def _cloglog(eta: FloatArray) -> FloatArray:
    return -np.expm1(-np.exp(np.minimum(eta, 30.0)))


def _density(z: FloatArray) -> FloatArray:
    return np.exp(-np.square(z) / 2) / np.sqrt(2 * np.pi)


_ALL, _POSITIVE, _UNIT = (-np.inf, np.inf), (0.0, np.inf), (0.0, 1.0)
LINKS = {
    link.name: link
    for link in (
        Link("identity", lambda mu: mu, lambda eta: eta, np.ones_like, True, _ALL),
        Link("log", np.log, lambda eta: np.exp(np.minimum(eta, 700.0)), lambda mu: 1 / mu, True, _POSITIVE),
        Link("logit", logit, expit, lambda mu: 1 / (mu * (1 - mu)), True, _UNIT),
        Link("probit", ndtri, ndtr, lambda mu: 1 / _density(ndtri(mu)), True, _UNIT),
        Link(
            "cloglog",
            lambda mu: np.log(-np.log1p(-mu)),
            _cloglog,
            lambda mu: -1 / ((1 - mu) * np.log1p(-mu)),
            True,
            _UNIT,
        ),
        Link("inverse", lambda mu: 1 / mu, lambda eta: 1 / eta, lambda mu: -1 / np.square(mu), False, _ALL),
        Link("sqrt", np.sqrt, np.square, lambda mu: 1 / (2 * np.sqrt(mu)), False, _POSITIVE),
        Link(
            "inverse_squared",
            lambda mu: mu**-2.0,
            lambda eta: 1 / np.sqrt(eta),
            lambda mu: -2 * mu**-3.0,
            False,
            _POSITIVE,
        ),
    )
}


def _poisson(y: FloatArray, mu: FloatArray) -> FloatArray:
    return np.asarray(2 * (xlogy(y, y / mu) - (y - mu)))


def _binomial(y: FloatArray, mu: FloatArray) -> FloatArray:
    mu = np.clip(mu, 1e-300, 1 - 1e-16)
    return np.asarray(2 * (xlogy(y, y / mu) + xlogy(1 - y, (1 - y) / (1 - mu))))


FAMILIES = {
    family.name: family
    for family in (
        Family("gaussian", np.ones_like, lambda y, mu: np.square(y - mu), "identity", True, _ALL, (True, True)),
        Family("binomial", lambda mu: mu * (1 - mu), _binomial, "logit", False, _UNIT, (True, True)),
        Family("poisson", lambda mu: mu, _poisson, "log", False, _POSITIVE, (True, True)),
        Family(
            "gamma",
            np.square,
            lambda y, mu: 2 * ((y - mu) / mu - np.log(y / mu)),
            "log",
            True,
            _POSITIVE,
            (False, True),
        ),
        Family(
            "inverse_gaussian",
            lambda mu: mu**3,
            lambda y, mu: np.square(y - mu) / (y * np.square(mu)),
            "log",
            True,
            _POSITIVE,
            (False, True),
        ),
    )
}
_POWERS = {0.0: "gaussian", 1.0: "poisson", 2.0: "gamma", 3.0: "inverse_gaussian"}


def tweedie(power: float) -> Family:
    """V(mu) = mu^power: between 1 and 2 amounts that are often exactly zero."""
    p = power

    def deviance(y: FloatArray, mu: FloatArray) -> FloatArray:
        return np.asarray(
            2
            * (
                np.maximum(y, 0.0) ** (2 - p) / ((1 - p) * (2 - p))
                - y * mu ** (1 - p) / (1 - p)
                + mu ** (2 - p) / (2 - p)
            )
        )

    return Family("tweedie", lambda mu: mu**p, deviance, "log", True, _POSITIVE, (p < 2, True))


def family_of(name: str, power: float) -> Family:
    """The family of a name; ``power`` is that of a Tweedie distribution."""
    one_of("family", name, (*FAMILIES, "tweedie"))
    if name != "tweedie":
        return FAMILIES[name]
    if not is_number(power) or not (power in _POWERS or power > 1):
        raise InputError(f"power must be 0 or a number of at least 1, got {power!r}.")
    return FAMILIES[_POWERS[float(power)]] if float(power) in _POWERS else tweedie(float(power))


def link_of(name: str, family: Family) -> Link:
    """The link of a name, or the usual one of a family ("auto")."""
    one_of("link", name, ("auto", *LINKS))
    return LINKS[family.link if name == "auto" else name]


def domain(link: Link, family: Family) -> tuple[float, float]:
    """Between which sums a mean of the family has its link."""
    low, high = max(link.range[0], family.range[0]), min(link.range[1], family.range[1])
    if (low, high) == _ALL:
        return _ALL
    with np.errstate(divide="ignore"):
        ends = sorted(link.g(np.array([low, high])).tolist())
    return ends[0], ends[1]


def clipped(mu: FloatArray, family: Family) -> FloatArray:
    """Means a little within their range, so that weights stay finite."""
    low, high = family.range
    return np.clip(mu, low + _TINY if np.isfinite(low) else None, high - _TINY if np.isfinite(high) else None)
