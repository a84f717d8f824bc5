"""Random search: trial and error.

Reference. Mothilal, Sharma and Tan 2020 (DiCE, random); Molnar 2022, section 9.3.

Definition. Features are picked at random, given random allowed values, and what reaches the target is kept.

Estimator. Few changes first: of each size from one feature on, the same number of draws.

When it misleads:
1. what it finds is an answer, seldom a near one: polish shortens it, it does not look elsewhere;
2. with many features or a rare target it finds nothing within its budget, which says nothing of the target.

Cost. ``draws`` model rows, and the polish of the n nearest answers.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.checks import whole
from pellucid.methods.counterfactual.search.problem import Found, Problem
from pellucid.methods.counterfactual.search.walk_back import walk_back


def random(problem: Problem, n: int, *, polish: bool = True, draws: int = 1000) -> Found:
    """The nearest of random changes that reach the target."""
    draws = whole("draws", draws)
    generator = problem.run.generator("counterfactuals.random")
    free = [q for q, columns in enumerate(problem.players) if problem.free[list(columns)].any()]
    most = min(len(free), problem.max_changes or len(free))
    found = np.empty((0, len(problem.x)))
    for size in range(1, most + 1):
        rows = problem.snap(_drawn(problem, generator, free, size, -(-draws // max(most, 1))))
        rows = np.unique(rows[problem.allowed(rows) & problem.changed(rows).any(axis=1)], axis=0)
        if len(rows):
            found = np.concatenate([found, rows[problem.valid(rows)]])
    found = found[np.argsort(problem.cost.total(found), kind="stable")]
    return Found(walk_back(problem, found[:n]) if polish else found)


def _drawn(problem: Problem, generator: np.random.Generator, free: list[int], size: int, n: int) -> FloatArray:
    """Rows with so many players changed to values drawn from what is allowed."""
    rows = np.repeat(problem.x[None], n, axis=0)
    values = np.column_stack([_values(problem, generator, j, n) for j in range(len(problem.x))])
    for row, value in zip(rows, values, strict=True):
        for q in generator.choice(free, size, replace=False):
            columns = list(problem.players[q])
            row[columns] = value[columns]
    return rows


def _values(problem: Problem, generator: np.random.Generator, j: int, n: int) -> FloatArray:
    choices = problem.choices[j]
    if choices.values is not None:
        return np.asarray(generator.choice(choices.values, n))
    return np.asarray(generator.uniform(choices.low, choices.high, n))
