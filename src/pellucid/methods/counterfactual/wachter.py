"""Wachter's counterfactuals: a loss that trades the target against the distance.

Reference. Wachter, Mittelstadt and Russell 2018, "Counterfactual explanations without opening the black box".

Definition. With y' the nearest value of the target, and d the distance asked for (theirs: distance="manhattan"),

    argmin_z max_lambda  lambda (f(z) - y')^2 + d(x, z)

Estimator. The tolerance loop: minimise for a small lambda; while |f(z) - y'| > tolerance, raise lambda and minimise
again from where one is. The larger lambda, the nearer to the target (and the farther from x). Minimised over the
numbers by L-BFGS-B where the model gives derivatives, else by Nelder-Mead, from several starts: once for each
combination of levels where these are few, else for the most promising single changes of a level.

When it misleads:
1. ten features changed by a little cost as much as one changed by much: answers are not sparse, nor near the data;
2. local optima: another start may give another answer;
3. categories with many levels are not covered by trying combinations (``combinations``).

Cost. Up to ``steps`` model rows for each lambda, start and combination of levels, one call each: the dearest of all.
"""

from __future__ import annotations

import itertools

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.checks import bounded, whole
from pellucid.methods.counterfactual.search.gradients import has_gradient, miss_slopes
from pellucid.methods.counterfactual.search.problem import Found, OutOfBudget, Problem
from pellucid.methods.counterfactual.search.walk_back import walk_back

_FIRST, _FACTOR, _MOST = 1.0, 4.0, 10  # lambda, what it is multiplied by, and how often
_CLOSE = 0.01  # of the row's own distance from the target: from there one steps over the edge
_BEYOND = 16  # places at which the end of the loop is left behind, up to 30% farther from the row


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
    near = max(tolerance, _CLOSE * float(problem.miss(problem.x[None])[0]))
    found = []
    try:
        for base in _level_combinations(problem, combinations):
            for start in range(starts):
                row = tolerance_loop(problem, base, numbers, near, steps, generator if start else None)[-1]
                found += _over_the_edge(problem, base, numbers, row)
    except OutOfBudget:
        if not found:
            raise
    rows = np.unique(np.array(found).reshape(-1, len(problem.x)), axis=0)
    rows = rows[np.argsort(problem.cost.total(rows), kind="stable")]
    return Found(walk_back(problem, rows) if polish else rows)


def _over_the_edge(problem: Problem, base: FloatArray, numbers: IntArray, row: FloatArray) -> list[FloatArray]:
    """The row, or, as the loop ends just short of the target, the first beyond it on its way that reaches it."""
    rows = np.repeat(row[None], _BEYOND, axis=0)
    rows[:, numbers] += np.linspace(0.0, 0.3, _BEYOND)[:, None] * (row - base)[numbers]
    rows = problem.snap(rows)
    for part in (rows[:1], rows[1:]):
        some = part[problem.allowed(part)]
        valid = problem.valid(some) if len(some) else np.zeros(0, dtype=np.bool_)
        if valid.any():
            return [some[int(np.argmax(valid))]]
    return []


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
    if has_gradient(problem):
        return _descended(problem, base, numbers, low, size, u, strength, steps)
    simplex = np.vstack([u, *(u + np.where(u < 0.5, 0.1, -0.1) * unit for unit in np.eye(len(u)))])

    def measured(v: FloatArray) -> float:
        outside = float(np.abs(v - np.clip(v, 0.0, 1.0)).sum())
        return float(loss(problem, _placed(problem, base, numbers, low, size, v)[None], strength)[0]) + outside

    found = minimize(measured, u, method="Nelder-Mead", options={"maxfev": steps, "initial_simplex": simplex})
    return np.asarray(np.clip(found.x, 0.0, 1.0) if found.fun <= measured(u) else u)


def _descended(
    problem: Problem,
    base: FloatArray,
    numbers: IntArray,
    low: FloatArray,
    size: FloatArray,
    u: FloatArray,
    strength: float,
    steps: int,
) -> FloatArray:
    """L-BFGS-B over the numbers; on the way they may have any decimals."""
    from scipy.optimize import minimize

    apart, unit = np.eye(len(numbers)) * 1e-7, np.zeros((len(numbers), len(base)))
    unit[:, numbers] = apart * size

    def measured(v: FloatArray) -> tuple[float, FloatArray]:
        row = base.copy()
        row[numbers] = low + v * size
        miss = float(problem.miss(row[None])[0])
        costs = problem.cost.total(np.vstack([row, row + unit, row - unit]))
        ahead, behind = costs[1:].reshape(2, -1)
        slopes = miss_slopes(problem, row)[numbers] * size if miss > 0 else np.zeros(len(numbers))
        return strength * miss**2 + float(costs[0]), 2 * strength * miss * slopes + (ahead - behind) / 2e-7

    bounds = [(0.0, 1.0)] * len(numbers)
    found = minimize(measured, u, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxfun": max(steps // 4, 2)})
    return np.asarray(np.clip(found.x, 0.0, 1.0) if found.fun <= measured(u)[0] else u)


def _level_combinations(problem: Problem, most: int) -> FloatArray:
    """Every combination of levels where they are at most so many; else the row itself, and with single other levels
    those that come nearest to the target.
    """
    free = np.flatnonzero(problem.free & (problem.nominal | np.isnan(problem.x))).tolist()
    levels = [_levels(problem, j) for j in free]
    if np.prod([len(values) + 1.0 for values in levels]) <= most:
        rows = np.repeat(problem.x[None], int(np.prod([len(values) + 1 for values in levels])), axis=0)
        every = itertools.product(*([problem.x[j], *values] for j, values in zip(free, levels, strict=True)))
        rows[:, free] = list(every)
        rows = problem.snap(rows)
        return np.vstack([rows[:1], rows[1:][problem.allowed(rows[1:])]])
    single = [problem.x]
    for j, values in zip(free, levels, strict=True):
        for value in values[:50]:
            row = problem.x.copy()
            row[j] = value
            single.append(row)
    found = problem.snap(np.array(single))
    found = np.vstack([found[:1], found[1:][problem.allowed(found[1:])]])
    order = np.argsort(problem.miss(found[1:]), kind="stable")[: most - 1] + 1
    return found[np.append(0, order)]


def _levels(problem: Problem, j: int) -> FloatArray:
    values = problem.choices[j].values
    return np.empty(0) if values is None else values[(values != problem.x[j]) & ~np.isnan(values)]
