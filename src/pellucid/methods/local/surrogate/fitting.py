"""Weighted regressions by their moments: one pass over the samples serves every kernel width, repeat and fold.

For weights pi, columns D and answers Y let A = [1, D, Y]. Everything a linear local model needs is in A' diag(pi) A,
and the moments of a union of blocks are the sum of theirs. With the samples in 20 independent blocks:

- a *repeat* of the explanation is a bootstrap of blocks: as many blocks, drawn with replacement;
- a *fold* leaves a quarter of the blocks out, and is judged on them;
- a standard error is that of the jackknife, which leaves out one block at a time.

Local models that are no straight line are fitted to the samples themselves:

- *logistic*: the probability is 1 / (1 + exp(-(a + w z'))), fitted to the predicted probabilities by weighted maximum
  likelihood. Weights and effects are in log-odds.
- *tree*: at most K splits, by weighted squared errors. The effect of a column is the sum of the changes of the mean
  prediction at the splits on it along the row's path; root mean and effects add up to the leaf.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.methods.local.surrogate.selection import Select, choose
from pellucid.stats import Z95, expit, student

FOLDS = 4
_NARROW = 40  # columns whose pairs are all held at once
_ROUNDING = 1e-11  # of the spread of the answers: a coefficient that is none
_JITTER = 1e-12  # of a column's variance: two columns that say the same share their weight
Model = Literal["linear", "ridge", "lasso", "logistic", "tree"]
MODELS = ("linear", "ridge", "lasso", "logistic", "tree")
_ROUNDS = 25
_RIDGE = 1e-8  # of the total weight: separable classes have no finite weights without it
_LEAF = 0.02  # of the total weight in a leaf, at least


@dataclass(frozen=True, eq=False)
class Moments:
    """Second moments ``(N, 1 + p + m, 1 + p + m)`` of N weighted samples of p columns and m answers."""

    sums: FloatArray
    columns: int

    @property
    def mass(self) -> FloatArray:
        """The total weight of each."""
        return self.sums[:, 0, 0]

    @property
    def means(self) -> tuple[FloatArray, FloatArray]:
        """Weighted means of the columns ``(N, p)`` and of the answers ``(N, m)``."""
        mean = self.sums[:, 0, 1:] / _positive(self.mass)[:, None]
        return mean[:, : self.columns], mean[:, self.columns :]

    def centred(self) -> FloatArray:
        """Covariances ``(N, p + m, p + m)`` of columns and answers."""
        share = self.sums / _positive(self.mass)[:, None, None]
        mean = share[:, 0, 1:]
        return np.asarray(share[:, 1:, 1:] - mean[:, :, None] * mean[:, None, :])

    def take(self, some: slice) -> Moments:
        return Moments(self.sums[some], self.columns)


def block_moments(
    columns: FloatArray, answers: FloatArray, weights: FloatArray, blocks: int, *, narrow: int = _NARROW
) -> FloatArray:
    """Moments ``(widths, blocks, q, q)`` for weights ``(widths, samples)``."""
    whole = np.concatenate([np.ones((1, len(columns))), columns.T, answers.T])
    q, size = len(whole), len(columns) // blocks
    lines = weights.reshape(len(weights), blocks, size)
    if q > narrow:
        out = np.empty((len(weights), blocks, q, q))
        parts = whole.reshape(q, blocks, size).transpose(1, 0, 2)
        for w, line in enumerate(lines):
            out[w] = (parts * line[:, None, :]) @ parts.transpose(0, 2, 1)
        return out
    # Products of all pairs of columns once, then one multiplication of matrices for all widths.
    first, second = np.triu_indices(q)
    pair = np.empty((q, q), dtype=np.intp)
    pair[first, second] = pair[second, first] = np.arange(len(first))
    sums = np.empty((len(weights), blocks, len(first)))
    for b in range(blocks):
        part = whole[:, b * size : (b + 1) * size]
        sums[:, b] = lines[:, b] @ (part[first] * part[second]).T
    return sums[:, :, pair]


@dataclass(frozen=True, eq=False)
class Fits:
    """N linear local models with m answers each: chosen columns and coefficients ``(N, p, m)``, the answers at the row
    ``(N, m)``.

    The row is at zero in every column, so its answer is the intercept.
    """

    chosen: BoolArray
    weights: FloatArray
    at_row: FloatArray

    def take(self, some: IntArray) -> Fits:
        return Fits(self.chosen[some], self.weights[some], self.at_row[some])

    def missed(self, moments: Moments) -> FloatArray:
        """The weighted squared errors ``(N, m)`` on other samples, given by their moments."""
        p, m = moments.columns, self.at_row.shape[1]
        out = np.empty(self.at_row.shape)
        for k in range(m):
            v = np.concatenate([-self.at_row[:, k : k + 1], -self.weights[:, :, k]], axis=1)
            pick = [*range(p + 1), p + 1 + k]
            v = np.concatenate([v, np.ones((len(v), 1))], axis=1)
            sums = moments.sums[:, pick][:, :, pick]
            out[:, k] = ((sums @ v[:, :, None])[:, :, 0] * v).sum(axis=1)
        return np.maximum(out, 0.0)


@dataclass(frozen=True)
class Linear:
    """How linear local models are fitted: at most ``k`` columns, chosen by ``how``, with a ``penalty`` on squared
    coefficients; ``lasso``: with the coefficients of the lasso that chose them.
    """

    k: int
    how: Select
    penalty: float = 0.0
    lasso: bool = False


def fit(moments: Moments, by: Linear, chosen: BoolArray | None = None) -> Fits:
    """Choose columns for each answer (unless ``chosen`` (p, m) says which) and fit them."""
    p, covariance = moments.columns, moments.centred()
    mean_x, mean_y = moments.means
    n, m = mean_y.shape
    which, weights = np.zeros((n, p, m), dtype=np.bool_), np.zeros((n, p, m))
    xx = covariance[:, :p, :p]
    for a in range(m):
        xy, yy = covariance[:, :p, p + a], covariance[:, p + a, p + a]
        found = None
        if chosen is None:
            which[:, :, a], found = choose(xx, xy, yy, by.k, by.how)
        else:
            which[:, :, a] = chosen[:, a]
        slopes = found if by.lasso else None
        if slopes is None:
            slopes = _solved(xx, xy, which[:, :, a], by.penalty / _positive(moments.mass))
        moved = np.abs(slopes) * np.sqrt(np.maximum(np.einsum("nii->ni", xx), 0.0))
        weights[:, :, a] = np.where(moved > _ROUNDING * np.sqrt(np.maximum(yy, 0.0))[:, None], slopes, 0.0)
    return Fits(which, weights, mean_y - np.einsum("np,npm->nm", mean_x, weights))


def _solved(xx: FloatArray, xy: FloatArray, chosen: BoolArray, penalty: FloatArray) -> FloatArray:
    """Least squares in the chosen columns, with a penalty on squared coefficients."""
    n, p = xy.shape
    most = int(chosen.sum(axis=1).max(initial=0))
    if not most:
        return np.zeros((n, p))
    if chosen.all():
        return _penalised(xx, xy, chosen, penalty)
    place = np.argsort(~chosen, axis=1, kind="stable")[:, :most]  # the chosen ones first
    each = np.arange(n)[:, None]
    used = chosen[each, place]
    matrix = xx[each[:, :, None], place[:, :, None], place[:, None, :]]
    matrix = np.where(used[:, :, None] & used[:, None, :], matrix, 0.0)
    found = np.zeros((n, p))
    found[each, place] = _penalised(matrix, np.where(used, xy[each, place], 0.0), used, penalty) * used
    return found


def _penalised(matrix: FloatArray, right: FloatArray, used: BoolArray, penalty: FloatArray) -> FloatArray:
    """Solutions of N systems; what is not used stands by itself."""
    spread = np.einsum("nii->ni", matrix)
    extra = np.where(used, spread * _JITTER + penalty[:, None] + (spread <= 0), 1.0)
    matrix = matrix + extra[:, :, None] * np.eye(matrix.shape[1])
    return np.asarray(np.linalg.solve(matrix, right[:, :, None])[:, :, 0])


def combined(blocks: FloatArray, counts: FloatArray, columns: int) -> Moments:
    """Moments of unions of blocks: ``counts`` (unions, blocks) of blocks ``(..., blocks, q, q)``, one after the
    other.
    """
    *lead, b, q, _ = blocks.shape
    return Moments((counts @ blocks.reshape(*lead, b, q * q)).reshape(-1, q, q), columns)


def fold_counts(blocks: int) -> FloatArray:
    """For each fold the blocks it keeps."""
    return np.array([[float(b % FOLDS != f) for b in range(blocks)] for f in range(FOLDS)])


def leave_one_out(blocks: int) -> FloatArray:
    """All blocks but one."""
    return np.asarray(1.0 - np.eye(blocks))


def jackknife(parts: FloatArray) -> FloatArray:
    """Standard errors of statistics known without each block ``(blocks, ...)``, as much wider as Student's interval is
    for so few blocks, so that 1.96 of them make a 95% interval; rounding is none.
    """
    b, mean = len(parts), parts.mean(axis=0)
    squares = (b - 1) / b * np.square(parts - mean).sum(axis=0)
    return np.where(squares > np.square(1e-12 * mean), student(b - 1) / Z95 * np.sqrt(squares), 0.0)


def _positive(mass: FloatArray) -> FloatArray:
    return np.where(mass > 0, mass, 1.0)


@dataclass(frozen=True, eq=False)
class Curve:
    """One fitted model: weights and effects ``(p, m)``, where the effects start ``(m,)``, and its answers."""

    weights: FloatArray
    start: FloatArray
    effects: FloatArray
    predict: Callable[[FloatArray], FloatArray]


def logistic(columns: FloatArray, answers: FloatArray, weights: FloatArray, chosen: BoolArray, k: int) -> Curve:
    """Probabilities ``(n, m)``, each by a logistic regression in its chosen columns ``(p, m)``."""
    del k
    p, m = columns.shape[1], answers.shape[1]
    beta, level = np.zeros((p, m)), np.zeros(m)
    for a in range(m):
        used = np.flatnonzero(chosen[:, a])
        theta = _newton(columns[:, used], answers[:, a], weights)
        level[a], beta[used, a] = theta[0], theta[1:]
    effects = -beta * columns.mean(axis=0)[:, None]
    return Curve(beta, level - effects.sum(axis=0), effects, lambda z: expit(level + z @ beta))


def _newton(columns: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Intercept and weights of greatest likelihood, by Newton's steps halved where they overshoot."""
    x = np.concatenate([np.ones((len(y), 1)), columns], axis=1)
    y = np.clip(y, 0.0, 1.0)
    total = weights.sum()
    share = float(np.clip(weights @ y / total, 1e-6, 1 - 1e-6))
    theta = np.zeros(x.shape[1])
    theta[0] = np.log(share / (1 - share))
    penalty = _RIDGE * total * np.eye(len(theta))
    penalty[0, 0] = 0.0

    def loss(at: FloatArray) -> float:
        eta = x @ at
        return float(weights @ (np.logaddexp(0.0, eta) - y * eta) + at @ penalty @ at / 2)

    now = loss(theta)
    for _ in range(_ROUNDS):
        mean = expit(x @ theta)
        slope = x.T @ (weights * (mean - y)) + penalty @ theta
        bend = (x * (weights * np.maximum(mean * (1 - mean), 1e-10))[:, None]).T @ x + penalty
        step = np.linalg.solve(bend + 1e-12 * np.trace(bend) * np.eye(len(theta)), slope)
        size = 1.0
        while loss(theta - size * step) > now and size > 1e-4:
            size /= 2
        theta = theta - size * step
        before, now = now, loss(theta)
        if before - now <= 1e-12 * max(abs(now), total):
            break
    return theta


def tree(columns: FloatArray, answers: FloatArray, weights: FloatArray, chosen: BoolArray, k: int) -> Curve:
    """A tree of at most ``k`` splits for each answer."""
    from sklearn.tree import DecisionTreeRegressor  # on use: slow to import

    del chosen
    p, m = columns.shape[1], answers.shape[1]
    counted = weights > 1e-12 * weights.max()
    effects, start, grown = np.zeros((p, m)), np.zeros(m), []
    for a in range(m):
        found = DecisionTreeRegressor(max_leaf_nodes=k + 1, min_weight_fraction_leaf=_LEAF, random_state=0)
        found.fit(columns[counted], answers[counted, a], sample_weight=weights[counted])
        start[a], effects[:, a] = _path(found.tree_, p)
        grown.append(found)
    return Curve(effects, start, effects, lambda z: np.stack([one.predict(z) for one in grown], axis=1))


def _path(nodes: Any, p: int) -> tuple[float, FloatArray]:
    """Root mean, and what the splits on each column change on the way of the row, which is zero in every column."""
    effects, at = np.zeros(p), 0
    values = nodes.value[:, 0, 0]
    while nodes.feature[at] >= 0:
        below = nodes.children_left[at] if nodes.threshold[at] >= 0.0 else nodes.children_right[at]
        effects[nodes.feature[at]] += values[below] - values[at]
        at = int(below)
    return float(values[0]), effects
