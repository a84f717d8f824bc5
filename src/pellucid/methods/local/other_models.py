"""Local models that are no straight line: a weighted logistic regression, and a small tree.

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

from pellucid.arrays import BoolArray, FloatArray

Model = Literal["linear", "ridge", "lasso", "logistic", "tree"]
MODELS = ("linear", "ridge", "lasso", "logistic", "tree")
_ROUNDS = 25
_RIDGE = 1e-8  # of the total weight: separable classes have no finite weights without it
_LEAF = 0.02  # of the total weight in a leaf, at least


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
    return Curve(beta, level - effects.sum(axis=0), effects, lambda z: 1.0 / (1.0 + np.exp(-(level + z @ beta))))


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
        mean = 1.0 / (1.0 + np.exp(-(x @ theta)))
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
