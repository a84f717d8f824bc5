"""Weighted least squares with an intercept, from the normal equations of centred and scaled columns.

Definition. Minimise sum_i w_i (z_i - b_0 - a_i' b)^2. With the weighted means m and standard deviations s of the columns and
G the weighted products of (a - m) / s,

    b = (G^-1 h) / s,      b_0 = mean(z) - m' b,      Cov(b) = S^-1 G^-1 S^-1,   S = diag(s),

up to the variance of a row of weight one. A column that is a combination of those before it (what they leave over of its
variance is less than ``_ALIASED``) has no coefficient of its own: it gets 0, and no standard error.

Estimator. One pass over the rows; the solution is refined once with the residuals of the rows themselves, which takes back
what the squared condition number costs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray

_ALIASED = 1e-10  # share of a column's variance that the columns before it leave over


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients, the intercept first, and the inverse of the matrix of products; nan where a column is aliased."""

    theta: FloatArray
    inverse: FloatArray
    aliased: BoolArray


def least_squares(A: FloatArray, z: FloatArray, w: FloatArray) -> Solution:
    """Coefficients ``(1 + columns,)`` and the unscaled covariance of them."""
    total = w.sum()
    m = w @ A / total
    centred = A - m
    s = np.sqrt(w @ np.square(centred) / total)
    flat = s <= 1e-12 * np.maximum(np.abs(m), 1e-300)
    s = np.where(flat, 1.0, s)
    centred /= s
    weighted = centred * w[:, None]
    gram = weighted.T @ centred
    kept = _independent(gram / total, flat)
    inverse = np.full(gram.shape, np.nan)
    g, mean = np.zeros(A.shape[1]), float(w @ z / total)
    if kept.any():
        inner = np.linalg.inv(gram[np.ix_(kept, kept)])
        inner = (inner + inner.T) / 2
        inverse[np.ix_(kept, kept)] = inner
        rest = z - mean
        for _ in range(2):
            step = inner @ (weighted[:, kept].T @ rest)
            g[kept] += step
            rest = rest - centred[:, kept] @ step
    b = g / s
    return Solution(np.append(mean - m @ b, b), _uncentred(inverse, m, s, total, kept), np.append(False, ~kept))


def _independent(correlation: FloatArray, flat: BoolArray) -> BoolArray:
    """Which columns are no combinations of those before them, by elimination in their order."""
    left = correlation.copy()
    kept = np.zeros(len(left), dtype=np.bool_)
    for k in range(len(left)):
        pivot = left[k, k]
        if flat[k] or pivot <= _ALIASED:
            continue
        kept[k] = True
        if k + 1 < len(left):
            row = left[k, k + 1 :] / pivot
            left[k + 1 :, k + 1 :] -= np.outer(left[k + 1 :, k], row)
    return kept


def _uncentred(inverse: FloatArray, m: FloatArray, s: FloatArray, total: float, kept: BoolArray) -> FloatArray:
    """The inverse for intercept and slopes of the columns as they are."""
    known = np.where(kept[:, None] & kept[None, :], inverse, 0.0) / np.outer(s, s)
    full = np.empty((len(m) + 1, len(m) + 1))
    full[1:, 1:] = known
    full[0, 1:] = full[1:, 0] = -(m @ known)
    full[0, 0] = 1.0 / total + m @ known @ m
    lost = np.append(False, ~kept)
    full[lost], full[:, lost] = np.nan, np.nan
    return full
