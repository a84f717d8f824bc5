"""Diverse counterfactuals.

Reference. Mothilal, Sharma and Tan 2020, "Explaining machine learning classifiers through diverse counterfactual
explanations" (DiCE).

Definition. Of a pool of answers, the n that are near to x and far from each other: with K_ij = 1 / (1 + d(z_i, z_j)),

    argmax  log det K  -  proximity * mean_i d(x, z_i) / d(x, nearest)

Estimator. The pool is all that the search of `moc` came across; chosen greedily, the nearest first (the determinant is
submodular: greedy choice is near the best one).

When it misleads:
1. the answers are picked for being different: the later ones are farther than they need be;
2. diverse is not exhaustive: other sets of features may do as well.

Cost. That of `moc`.
"""

from __future__ import annotations

import contextlib

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.checks import bounded
from pellucid.data.distance import RowDistance
from pellucid.methods.counterfactual.moc import moc
from pellucid.methods.counterfactual.search.problem import ALIKE, Found, OutOfBudget, Problem
from pellucid.methods.counterfactual.search.walk_back import walk_back

_POOL = 300


def diverse(problem: Problem, n: int, *, polish: bool = True, proximity: float = 0.5) -> Found:
    """n answers that are near to the row and far from each other."""
    proximity = bounded("proximity", proximity, least=0)
    with contextlib.suppress(OutOfBudget):
        moc(problem, polish=polish)
    pool = problem.answers()[:_POOL]
    chosen = greedy(problem, pool, n, proximity)
    rows = pool[chosen]
    if polish:
        with contextlib.suppress(OutOfBudget):
            rows = walk_back(problem, rows)
    return Found(rows, notes={"ordered": True})


def greedy(problem: Problem, pool: FloatArray, n: int, proximity: float) -> list[int]:
    """Which rows of a pool (the nearest first) are chosen, one after the other."""
    if not len(pool):
        return []
    apart = RowDistance.learn(problem.data, "gower").between(pool, pool)
    kernel = 1.0 / (1.0 + apart * len(problem.x))
    cost = problem.cost.total(pool) / max(float(problem.cost.total(pool[:1])[0]), ALIKE)
    chosen = [0]
    while len(chosen) < min(n, len(pool)):
        gains = np.array([_gain(kernel, chosen, i) for i in range(len(pool))]) - proximity * np.log(cost + 1.0)
        gains[chosen] = -np.inf
        best = int(np.argmax(gains))
        if not np.isfinite(gains[best]):
            break
        chosen.append(best)
    return chosen


def _gain(kernel: FloatArray, chosen: list[int], i: int) -> float:
    """By how much the log-determinant grows when one more is chosen; -inf for a copy of one that is."""
    if i in chosen:
        return -np.inf
    own = kernel[np.ix_(chosen, chosen)]
    cross = kernel[chosen, i]
    left = 1.0 - float(cross @ np.linalg.solve(own, cross))
    return float(np.log(left)) if left > 1e-12 else -np.inf
