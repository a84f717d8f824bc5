"""Counterfactuals guided by prototypes.

Reference. Van Looveren and Klaise 2021, "Interpretable counterfactual explanations guided by prototypes".

Definition. With the prototype q of the target, the mean (of categories: the commonest level) of the k rows of the data
that reach it and are nearest to x, the answer minimises d(x, z) + weight * d(z, q) among rows that reach the target.

Estimator. From x towards q, the feature that gains most for its cost first, until the target is reached; then every
change is walked back as far as the sum of both distances falls.

When it misleads:
1. the mean of rows may itself be no usual row, and not be predicted as they are;
2. a large ``weight`` gives typical rather than near answers.

Cost. The rows asked to find those that reach the target, and one row per feature and step.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.checks import bounded, whole
from pellucid.data.distance import RowDistance
from pellucid.methods.counterfactual.search.pool import unlike
from pellucid.methods.counterfactual.search.problem import Found, Problem
from pellucid.methods.counterfactual.search.progress import progress
from pellucid.methods.counterfactual.search.walk_back import walk_back


def prototype(problem: Problem, n: int, *, polish: bool = True, weight: float = 0.5, k: int = 10) -> Found:
    """Rows on the way to the prototype (and to single neighbours) that reach the target."""
    weight, k = bounded("weight", weight, least=0), whole("k", k)
    near = unlike(problem, max(k, n), most=None)
    if not len(near):
        return Found(near)
    middle = _middle(problem, near[:k])
    starts = np.vstack([middle, near[: n - 1]])
    rows = [row for goal in starts for row in _towards(problem, goal)]
    found = np.array(rows).reshape(-1, len(problem.x))
    pulled = _pulled(problem, middle, weight)
    found = walk_back(pulled, found) if polish else found
    order = np.argsort(pulled.cost.total(found), kind="stable")
    return Found(found[order], notes={"ordered": True})


def _pulled(problem: Problem, middle: FloatArray, weight: float) -> Problem:
    """The same problem with the distance from the prototype among its costs."""
    gower, plain = RowDistance.learn(problem.data, "gower"), problem.cost

    def both(rows: FloatArray) -> FloatArray:
        return np.asarray(plain.total(rows) + weight * gower.between(rows, middle[None])[:, 0])

    return replace(problem, cost=replace(plain, function=both))


def _middle(problem: Problem, rows: FloatArray) -> FloatArray:
    """The mean of numbers, the commonest level of categories, on what is allowed."""
    out = problem.x.copy()
    for j in range(len(out)):
        known = rows[~np.isnan(rows[:, j]), j]
        if len(known):
            levels, counts = np.unique(known, return_counts=True)
            out[j] = levels[np.argmax(counts)] if problem.nominal[j] else known.mean()
    return problem.snap(out[None])[0]


def _towards(problem: Problem, goal: FloatArray) -> list[FloatArray]:
    """The first row on the way to a goal that reaches the target: features are set one by one, most useful first."""
    row = problem.x.copy()
    target = progress(problem, 1)[0]
    left = [list(columns) for columns in problem.players if problem.changed(goal[None])[0, list(columns)].any()]
    while left:
        tries = np.repeat(row[None], len(left), axis=0)
        for tried, columns in zip(tries, left, strict=True):
            tried[columns] = goal[columns]
        tries = problem.snap(tries)
        valid = problem.valid(tries) & problem.allowed(tries)
        cost = problem.cost.total(tries)
        if valid.any():
            return [tries[np.flatnonzero(valid)[np.argmin(cost[valid])]]]
        gains = target.gain(problem.score(tries)) - target.gain(problem.score(row[None]))
        added = cost - problem.cost.total(row[None])[0]
        best = int(np.argmax(gains / np.maximum(added, 1e-9)))
        row = tries[best]
        left.pop(best)
    return []
