"""Generalised linear models fitted by iteratively reweighted least squares (Nelder and Wedderburn 1972).

Definition. With g(mu_i) = eta_i = offset_i + b_0 + a_i' b, the coefficients minimise the deviance sum_i w_i d(y_i,
mu_i) (plus twice the penalty). Each step is a weighted least squares fit of the working outcome

    z_i = eta_i - offset_i + (y_i - mu_i) g'(mu_i)     with weights     w_i / (V(mu_i) g'(mu_i)^2),

and is halved while the deviance grows or a mean leaves the range of the family. At the end Cov(b) = phi (A'WA)^-1, with
the dispersion phi = sum_i w_i (y_i - mu_i)^2 / V(mu_i) / (sum_i w_i - rank), 1 for a family without one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.glassbox.linear.least_squares import Penalty, Solution, least_squares
from pellucid.models.families import Family, Link, clipped

_STEPS = 100
_HALVED = 30
_MOVED = 1e-10  # relative: sums that move less are done
_SEPARATED = 1e-7  # deviance per row of outcomes that are predicted perfectly


@dataclass(frozen=True, eq=False)
class Fitted:
    """The coefficients with their unscaled covariance, sums and means of the rows, weights and residuals of the last
    step.

    ``separated``: the outcomes are predicted perfectly, and coefficients grow without end; ``converged``: no sum moves.
    """

    solution: Solution
    eta: FloatArray
    mu: FloatArray
    working: FloatArray
    residual: FloatArray
    deviance: float
    converged: bool
    separated: bool


def irls(
    A: FloatArray,
    y: FloatArray,
    w: FloatArray,
    family: Family,
    link: Link,
    offset: FloatArray,
    penalty: Penalty | None = None,
) -> Fitted:
    """The fit of a generalised linear model."""
    mu = clipped(family.start(y, float(np.average(y, weights=w))), family)
    eta, before = link.g(mu), np.inf
    theta = _level(y, w, link, A)
    separated = converged = False
    for _ in range(_STEPS):
        slope = link.derivative(mu)
        working = w / (family.variance(mu) * np.square(slope))
        found = least_squares(A, eta - offset + (y - mu) * slope, working, penalty)
        theta_new = found.theta
        for _ in range(_HALVED):
            eta_new = theta_new[0] + A @ theta_new[1:] + offset
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                mu_new = link.inverse(eta_new)
                loss = _loss(y, mu_new, w, family, theta_new, penalty)
            if np.isfinite(loss) and loss <= before + 1e-9 * (1 + abs(before)):
                break
            theta_new = (theta_new + theta) / 2
        moved = float(np.abs(eta_new - eta).max())
        eta, mu, theta, before = eta_new, clipped(mu_new, family), theta_new, loss
        separated = not family.dispersed and family.range[1] == 1.0 and loss < _SEPARATED * w.sum()
        converged = moved <= _MOVED * max(1.0, float(np.abs(eta).max()))
        if converged or separated:
            break
    slope = link.derivative(mu)
    working = w / (family.variance(mu) * np.square(slope))
    last = least_squares(A, eta - offset, working, penalty)
    deviance = float(w @ family.deviance(y, mu))
    solution = Solution(theta, last.inverse, found.aliased)
    return Fitted(solution, eta, mu, working, (y - mu) * slope, deviance, converged, separated)


def _loss(
    y: FloatArray, mu: FloatArray, w: FloatArray, family: Family, theta: FloatArray, penalty: Penalty | None
) -> float:
    """The deviance with the penalty; not a number where a mean is none of the family's."""
    inner = clipped(mu, family) if family.range[1] == 1.0 else mu  # a probability of 1 is one
    if not family.inside(inner):
        return np.nan
    return float(w @ family.deviance(y, inner)) + (0.0 if penalty is None else 2 * penalty.value(theta[1:]))


def _level(y: FloatArray, w: FloatArray, link: Link, A: FloatArray) -> FloatArray:
    """Coefficients of the constant model, which is valid with every link."""
    return np.append(link.g(np.array([np.average(y, weights=w)])), np.zeros(A.shape[1]))


def sandwich(A: FloatArray, fitted: Fitted, w: FloatArray, kind: str) -> FloatArray:
    """Covariance that holds whatever the variance of the rows is (Huber-White): HC1, or HC3 by leverages.

    A row of weight w counts as w rows.
    """
    design = np.column_stack([np.ones(len(A)), A])
    inverse = np.nan_to_num(fitted.solution.inverse)
    rank = np.count_nonzero(~fitted.solution.aliased)
    each = np.divide(fitted.working, w, out=np.zeros(len(w)), where=w > 0)
    score = each * fitted.residual
    if kind == "HC3":
        leverage = each * np.einsum("na,ab,nb->n", design, inverse, design, optimize=True)
        score = score / np.maximum(1.0 - leverage, 1e-12)
    meat = (design * (w * np.square(score))[:, None]).T @ design
    total = w.sum()
    found = inverse @ meat @ inverse * (total / (total - rank) if kind == "HC1" else 1.0)
    lost = fitted.solution.aliased
    found[lost], found[:, lost] = np.nan, np.nan
    return np.asarray(found)
