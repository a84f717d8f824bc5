"""Growing Spheres.

Reference. Laugel et al. 2017, "Inverse classification for comparison-based interpretability in machine learning".

Definition. The nearest of random rows that reach the target, found by a sphere around x that is halved while it holds
such rows and then grown, shell by shell, until it does; then made sparse: changes are undone one by one while the
target is kept.

Estimator. Draws in a shell share their cost among features at random; a category flips with the chance that its share
gives. Sparsified as published (undoing the smallest changes first), or polished by walking back.

When it misleads:
1. in many dimensions nearly all of a sphere is at its surface, and few draws point where the boundary is near;
2. the answer is random: another seed may give another one.

Cost. ``draws`` model rows per shell.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.checks import whole
from pellucid.methods.counterfactual.search.problem import ALIKE, Found, Problem
from pellucid.methods.counterfactual.search.walk_back import walk_back

_GROW, _SHELLS = 1.5, 30


def spheres(problem: Problem, n: int, *, polish: bool = True, draws: int = 200) -> Found:
    """The n nearest rows of the first sphere in which some reach the target, made sparse."""
    draws = whole("draws", draws)
    generator = problem.run.generator("counterfactuals.spheres")
    rows = _in_spheres(problem, generator, draws)
    rows = rows[np.argsort(problem.cost.total(rows), kind="stable")][:n]
    rows = walk_back(problem, rows) if polish else sparsified(problem, rows)
    return Found(rows[np.argsort(problem.cost.total(rows), kind="stable")])


def _in_spheres(problem: Problem, generator: np.random.Generator, draws: int) -> FloatArray:
    """Valid rows of the smallest sphere that was found to hold some."""
    everything = float(sum(problem.cost.of(j, np.array([c.low, c.high])).max() for j, c in enumerate(problem.choices)))
    radius, found = max(everything, ALIKE) / 4, np.empty((0, len(problem.x)))
    for _ in range(_SHELLS):
        valid = _valid(problem, generator, 0.0, radius, draws)
        if not len(valid):
            break
        found, radius = valid, radius / 2
    inner = radius
    for _ in range(_SHELLS):
        if len(found) or inner > everything:
            break
        found = _valid(problem, generator, inner, _GROW * inner, draws)
        inner *= _GROW
    return found


def _valid(problem: Problem, generator: np.random.Generator, inner: float, outer: float, draws: int) -> FloatArray:
    rows = problem.snap(_shell(problem, generator, inner, outer, draws))
    rows = np.unique(rows[problem.changed(rows).any(axis=1)], axis=0)
    rows = rows[problem.allowed(rows)]
    return rows[problem.valid(rows)] if len(rows) else rows


def _shell(problem: Problem, generator: np.random.Generator, inner: float, outer: float, n: int) -> FloatArray:
    """Rows whose cost, between two radii, is shared among the features at random."""
    free = np.flatnonzero(problem.free)
    rows = np.repeat(problem.x[None], n, axis=0)
    if not len(free):
        return rows
    shares = generator.dirichlet(np.ones(len(free)), n) * generator.uniform(inner, outer, (n, 1))
    for share, j in zip(shares.T, free, strict=True):
        weight = float(problem.cost.weights[j]) or 1.0
        if problem.nominal[j] or np.isnan(problem.x[j]):
            values = problem.choices[j].values
            known = np.empty(0) if values is None else values[~np.isnan(values)]
            flips = generator.random(n) < np.minimum(1.0, share / weight)
            if len(known):
                rows[flips, j] = generator.choice(known, int(flips.sum()))
        else:
            sign = generator.choice([-1.0, 1.0], n)
            rows[:, j] = problem.x[j] + sign * share / weight * problem.cost.distance.unit[j]
    return rows


def sparsified(problem: Problem, rows: FloatArray) -> FloatArray:
    """Each row with its smallest changes undone, one after the other, while it reaches the target."""
    out = rows.copy()
    for i in range(len(out)):
        parts = problem.cost.parts(out[i][None])[0]
        for j in np.argsort(parts, kind="stable"):
            tried = out[i].copy()
            tried[j] = problem.x[j]
            tried = problem.snap(tried[None])
            nearer = problem.cost.total(tried)[0] < problem.cost.total(out[i][None])[0] - ALIKE
            if nearer and problem.allowed(tried)[0] and problem.valid(tried)[0]:
                out[i] = tried[0]
    return out
