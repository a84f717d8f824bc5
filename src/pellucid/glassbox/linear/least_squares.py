"""Weighted least squares with an intercept, from the normal equations of centred and scaled columns.

Definition. Minimise 1/2 sum_i w_i (z_i - b_0 - a_i' b)^2 + 1/2 sum_k ridge_k b_k^2 + sum_k lasso_k |b_k|. With the
weighted means m and standard deviations s of the columns, G the weighted products of (a - m) / s, and no lasso,

    b = (G^-1 h) / s,      b_0 = mean(z) - m' b,      Cov(b) = S^-1 G^-1 S^-1,   S = diag(s),

up to the variance of a row of weight one; a ridge adds ridge / s^2 to the diagonal of G. A column that is a combination
of those before it (what they leave over of its variance is less than ``_ALIASED``) has no coefficient of its own: it
gets 0, and no standard error. With a lasso there are no standard errors at all; coefficients follow one by one until
none moves.

Estimator. One pass over the rows; the solution is refined once with the residuals of the rows themselves, which takes
back what the squared condition number costs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray

_ALIASED = 1e-10  # share of a column's variance that the columns before it leave over
_SWEEPS = 10_000


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients, the intercept first, and the inverse of the matrix of products; nan where a column is aliased."""

    theta: FloatArray
    inverse: FloatArray
    aliased: BoolArray


@dataclass(frozen=True, eq=False)
class Penalty:
    """Strength of both penalties of each slope."""

    ridge: FloatArray
    lasso: FloatArray

    @classmethod
    def of(cls, A: FloatArray, w: FloatArray, ridge: float, lasso: float) -> Penalty | None:
        """Penalties of slopes in standard deviations of their columns, beside the mean loss of the rows."""
        if ridge == lasso == 0.0:
            return None
        total = w.sum()
        s = np.sqrt(w @ np.square(A - w @ A / total) / total)
        return cls(ridge * total * np.square(s), lasso * total * s)

    def value(self, b: FloatArray) -> float:
        """What both add to the loss."""
        return float(self.ridge @ np.square(b) / 2 + self.lasso @ np.abs(b))


def least_squares(A: FloatArray, z: FloatArray, w: FloatArray, penalty: Penalty | None = None) -> Solution:
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
    ridge = np.zeros(len(s)) if penalty is None else penalty.ridge / np.square(s)
    gram[np.diag_indices_from(gram)] += ridge
    kept = _independent(gram / total, flat)
    inverse = np.full(gram.shape, np.nan)
    g, mean = np.zeros(A.shape[1]), float(w @ z / total)
    if penalty is not None and penalty.lasso.any():
        g[kept] = _lasso(gram[np.ix_(kept, kept)], weighted[:, kept].T @ (z - mean), (penalty.lasso / s)[kept])
    elif kept.any():
        inner = np.linalg.inv(gram[np.ix_(kept, kept)])
        inner = (inner + inner.T) / 2
        inverse[np.ix_(kept, kept)] = inner
        rest = z - mean
        for _ in range(2):
            step = inner @ (weighted[:, kept].T @ rest - ridge[kept] * g[kept])
            g[kept] += step
            rest = rest - centred[:, kept] @ step
    b = g / s
    return Solution(np.append(mean - m @ b, b), _uncentred(inverse, m, s, total, kept), np.append(False, ~kept))


def _lasso(gram: FloatArray, h: FloatArray, strength: FloatArray) -> FloatArray:
    """Minimises 1/2 g'Gg - h'g + sum of strength |g|, one coordinate after the other."""
    g, size = np.zeros(len(h)), np.diag(gram)
    gradient = -h.copy()
    for _ in range(_SWEEPS):
        moved = 0.0
        for k in range(len(h)):
            pull = size[k] * g[k] - gradient[k]
            new = np.sign(pull) * max(abs(pull) - strength[k], 0.0) / size[k]
            if new != g[k]:
                gradient += gram[:, k] * (new - g[k])
                moved = max(moved, abs(new - g[k]))
                g[k] = new
        if moved <= 1e-11 * max(1e-300, float(np.abs(g).max())):
            break
    return g


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
