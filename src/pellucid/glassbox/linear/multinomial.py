"""Multinomial logistic regression by Newton's method.

Definition. P(class k) is proportional to exp(b_0k + a' b_k), with the first class as reference (all its coefficients
0). The coefficients minimise sum_i -w_i log P(class of row i) + 1/2 sum_k ridge_k |b_k|^2; their covariance is the
inverse of the second derivative, whose blocks are A' diag(w p_k (1[k = l] - p_l)) A.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.glassbox.linear.least_squares import Penalty, least_squares
from pellucid.stats import softmax

_STEPS = 100
_SEPARATED = 1e-7


@dataclass(frozen=True, eq=False)
class Multinomial:
    """Coefficients ``(1 + columns, classes)``, the first class all zero, and their covariance ``(coefficients of the
    other classes, ...)``, class by class.
    """

    theta: FloatArray
    covariance: FloatArray
    aliased: BoolArray
    deviance: float
    converged: bool
    separated: bool


def multinomial(A: FloatArray, y: IntArray, w: FloatArray, classes: int, penalty: Penalty | None = None) -> Multinomial:
    """The fit for outcomes that are positions of classes."""
    aliased = least_squares(A, y.astype(np.float64), w).aliased
    kept = ~aliased[1:]
    m, total = w @ A / w.sum(), w.sum()
    s = np.sqrt(np.maximum(w @ np.square(A - m) / total, 1e-300))
    Z = np.column_stack([np.ones(len(A)), ((A - m) / s)[:, kept]])
    ridge = np.zeros(Z.shape[1])
    if penalty is not None:
        ridge[1:] = (penalty.ridge / np.square(s))[kept]
    theta, loss = _start(y, w, Z.shape[1], classes), np.inf
    seen = np.eye(classes)[y]
    converged = separated = False
    for _ in range(_STEPS):
        p = softmax(Z @ theta)
        gradient = (Z.T @ (w[:, None] * (seen - p)) - ridge[:, None] * theta)[:, 1:]
        step = np.linalg.solve(_hessian(Z, p, w, ridge), gradient.T.ravel()).reshape(classes - 1, -1).T
        new, after = _halved(Z, y, w, ridge, theta, np.asarray(step, dtype=np.float64), loss)
        moved = float(np.abs(new - theta).max())
        theta, loss = new, after
        separated = loss < _SEPARATED * total
        converged = moved <= 1e-10 * max(1.0, float(np.abs(theta).max()))
        if converged or separated:
            break
    p = softmax(Z @ theta)
    hessian = _hessian(Z, p, w, ridge)
    back, full = _back(m, s, kept), np.zeros((A.shape[1] + 1, classes))
    full = back @ theta
    each = np.kron(np.eye(classes - 1), back)
    covariance = each @ np.linalg.inv(hessian) @ each.T
    log_p = np.log(np.maximum(p[np.arange(len(y)), y], 1e-300))
    return Multinomial(full, covariance, aliased, float(-2 * (w @ log_p)), converged, separated)


def _start(y: IntArray, w: FloatArray, size: int, classes: int) -> FloatArray:
    shares = np.bincount(y, weights=w, minlength=classes) / w.sum()
    theta = np.zeros((size, classes))
    theta[0] = np.log(shares) - np.log(shares[0])
    return theta


def _hessian(Z: FloatArray, p: FloatArray, w: FloatArray, ridge: FloatArray) -> FloatArray:
    k, m = p.shape[1] - 1, Z.shape[1]
    blocks = np.empty((k, m, k, m))
    for a in range(k):
        for b in range(a, k):
            weights = w * p[:, a + 1] * (float(a == b) - p[:, b + 1])
            blocks[a, :, b] = (Z * weights[:, None]).T @ Z
            blocks[b, :, a] = blocks[a, :, b].T
        blocks[a, :, a] += np.diag(ridge)
    full = blocks.reshape(k * m, k * m)
    full[np.diag_indices_from(full)] += 1e-12 * w.sum()  # a class that is never mistaken leaves nothing to divide by
    return full


def _halved(
    Z: FloatArray, y: IntArray, w: FloatArray, ridge: FloatArray, theta: FloatArray, step: FloatArray, loss: float
) -> tuple[FloatArray, float]:
    """The coefficients after as much of a step as does not raise the loss, and their loss."""
    new, share = theta, 1.0
    for _ in range(30):
        new = theta.copy()
        new[:, 1:] += share * step
        sums = Z @ new
        log_p = sums[np.arange(len(y)), y] - np.logaddexp.reduce(sums, axis=1)
        after = float(-(w @ log_p) + ridge @ np.square(new).sum(axis=1) / 2)
        if after <= loss + 1e-12 * (1 + abs(loss)):
            return new, after
        share /= 2
    return theta, loss


def _back(m: FloatArray, s: FloatArray, kept: BoolArray) -> FloatArray:
    """From coefficients of standardised columns to those of the columns as they are, zero where a column has none."""
    places = np.flatnonzero(kept)
    back = np.zeros((len(m) + 1, len(places) + 1))
    back[0, 0] = 1.0
    back[0, 1:] = -m[places] / s[places]
    back[1 + places, 1 + np.arange(len(places))] = 1.0 / s[places]
    return back
