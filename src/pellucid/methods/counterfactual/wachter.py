"""Wachter's counterfactuals: a loss that trades the target against the distance.

Reference. Wachter, Mittelstadt and Russell 2018, "Counterfactual explanations without opening the black box".

Definition. With y' the nearest value of the target, and d the distance asked for (theirs: distance="manhattan"),

    argmin_z max_lambda  lambda (f(z) - y')^2 + d(x, z)

Estimator. The tolerance loop: minimise for a small lambda; while |f(z) - y'| > tolerance, raise lambda and minimise
again from where one is. The larger lambda, the nearer to the target (and the farther from x). Minimised by
Nelder-Mead over the numbers, once for each of the most promising combinations of levels, from several starts.

When it misleads:
1. ten features changed by a little cost as much as one changed by much: answers are not sparse, nor near the data;
2. local optima: another start may give another answer;
3. categories with many levels are not covered by trying combinations (``combinations``).

Cost. Up to ``steps`` model rows for each lambda, start and combination of levels, one call each: the dearest of all.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.checks import bounded, whole
from pellucid.methods.counterfactual.search.problem import Found, OutOfBudget, Problem
from pellucid.methods.counterfactual.search.walk_back import walk_back

_FIRST, _FACTOR, _MOST = 1.0, 4.0, 10  # lambda, what it is multiplied by, and how often


def wachter(
    problem: Problem,
    *,
    polish: bool = True,
    tolerance: float = 0.0,
    starts: int = 2,
    combinations: int = 4,
    steps: int = 120,
) -> Found:
    """What the tolerance loop ends with, for several combinations of levels and starts, the nearest first."""
    tolerance, starts = bounded("tolerance", tolerance, least=0), whole("starts", starts)
    combinations, steps = whole("combinations", combinations), whole("steps", steps)
    numbers = np.flatnonzero(problem.free & ~problem.nominal & ~np.isnan(problem.x))
    generator = problem.run.generator("counterfactuals.wachter")
    found = []
    try:
        for base in _level_combinations(problem, combinations):
            for start in range(starts):
                row = tolerance_loop(problem, base, numbers, tolerance, steps, generator if start else None)[-1]
                if problem.valid(row[None])[0] and problem.allowed(row[None])[0]:
                    found.append(row)
    except OutOfBudget:
        if not found:
            raise
    rows = np.unique(np.array(found).reshape(-1, len(problem.x)), axis=0)
    rows = rows[np.argsort(problem.cost.total(rows), kind="stable")]
    return Found(walk_back(problem, rows) if polish else rows)


def tolerance_loop(
    problem: Problem,
    base: FloatArray,
    numbers: IntArray,
    tolerance: float,
    steps: int,
    generator: np.random.Generator | None = None,
) -> list[FloatArray]:
    """The minimiser for each lambda in turn, until one is within the tolerance of the target."""
    low, size = _box(problem, numbers)
    u = (base[numbers] - low) / size
    if generator is not None:
        u = np.clip(u + generator.normal(0.0, 0.15, len(u)), 0.0, 1.0)
    strength, path = _FIRST / max(float(problem.miss(problem.x[None])[0]), 1e-12) ** 2, []
    for _ in range(_MOST):
        u = _minimised(problem, base, numbers, low, size, u, strength, steps)
        path.append(_placed(problem, base, numbers, low, size, u))
        if problem.miss(path[-1][None])[0] <= tolerance:
            break
        strength *= _FACTOR
    return path


def loss(problem: Problem, rows: FloatArray, strength: float) -> FloatArray:
    """lambda (f(z) - y')^2 + d(x, z); rows that break a constraint cost more than any other."""
    broken = ~problem.allowed(rows)
    return np.asarray(strength * problem.miss(rows) ** 2 + problem.cost.total(rows) + 1e3 * broken)


def _box(problem: Problem, numbers: IntArray) -> tuple[FloatArray, FloatArray]:
    low = np.array([problem.choices[j].low for j in numbers])
    high = np.array([problem.choices[j].high for j in numbers])
    return low, np.where(high > low, high - low, 1.0)


def _placed(
    problem: Problem, base: FloatArray, numbers: IntArray, low: FloatArray, size: FloatArray, u: FloatArray
) -> FloatArray:
    row = base.copy()
    row[numbers] = low + np.clip(u, 0.0, 1.0) * size
    return problem.snap(row[None])[0]


def _minimised(
    problem: Problem,
    base: FloatArray,
    numbers: IntArray,
    low: FloatArray,
    size: FloatArray,
    u: FloatArray,
    strength: float,
    steps: int,
) -> FloatArray:
    """Nelder-Mead over the numbers, each from 0 to 1 within its range."""
    from scipy.optimize import minimize

    if not len(numbers):
        return u
    simplex = np.vstack([u, *(u + np.where(u < 0.5, 0.1, -0.1) * unit for unit in np.eye(len(u)))])

    def measured(v: FloatArray) -> float:
        outside = float(np.abs(v - np.clip(v, 0.0, 1.0)).sum())
        return float(loss(problem, _placed(problem, base, numbers, low, size, v)[None], strength)[0]) + outside

    found = minimize(measured, u, method="Nelder-Mead", options={"maxfev": steps, "initial_simplex": simplex})
    return np.asarray(np.clip(found.x, 0.0, 1.0) if found.fun <= measured(u) else u)


def _level_combinations(problem: Problem, most: int) -> FloatArray:
    """The row itself, and with single other levels those that come nearest to the target."""
    rows = [problem.x]
    for j in np.flatnonzero(problem.free & (problem.nominal | np.isnan(problem.x))):
        values = problem.choices[j].values
        for value in values[(values != problem.x[j]) & ~np.isnan(values)][:50] if values is not None else ():
            row = problem.x.copy()
            row[j] = value
            rows.append(row)
    found = problem.snap(np.array(rows))
    found = np.vstack([found[:1], found[1:][problem.allowed(found[1:])]])
    order = np.argsort(problem.miss(found[1:]), kind="stable")[: most - 1] + 1
    return found[np.append(0, order)]
