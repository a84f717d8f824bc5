"""Adversarial examples: the smallest change that fools the model.

Reference. Szegedy et al. 2014; Goodfellow, Shlens and Szegedy 2015; for trees Kantchelian, Tygar and Joseph 2016.

Definition. A counterfactual by another distance: of all rows z that the model predicts otherwise (or as the target
says), the one with the smallest ||z - x||, numbers counted in units of their ranges, another level of a category as
1:

    L0 = changed features   L1 = sum |d_j|   L2 = sqrt(sum d_j^2)   Linf = max |d_j|   Gower = L1 / p

Its norm is the robustness of the row: no smaller change fools the model (proven where the search is exact).

Estimator. The exact search where the model can be read. Else the local search; and, for L2 and Linf, rays from x
along the model's own derivatives, or, where it gives none, along the effects of the single features (their signs for
Linf, as the fast gradient sign method has it), shortened by bisection.

When it misleads:
1. a change that fools the model may be one that should change the prediction: whether it is an attack, people decide;
2. without a proof the true robustness may be smaller than what was found;
3. norms that mix categories and numbers take another level for as much as the whole range of a number.

Cost. That of the search; some 200 model rows for the rays.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.methods.counterfactual.moc import moc
from pellucid.methods.counterfactual.search.gradients import has_gradient, miss_slopes
from pellucid.methods.counterfactual.search.problem import Found, OutOfBudget, Problem
from pellucid.methods.counterfactual.search.progress import progress

Norm = Literal["l0", "l1", "l2", "linf", "gower"]
NORMS = {"l0": "changes", "l1": "l1", "l2": "l2", "linf": "linf", "gower": "gower"}  # and what the distance is called
_NEAR = 0.01  # of the range: where the effects of single features are looked at
_LENGTHS = 40


def adversarial(problem: Problem, *, polish: bool = True) -> Found:
    """The smallest changes that were found, where the cost is a norm."""
    rays = problem.cost.norm == "max" or problem.cost.power == 2
    try:
        if rays:
            along_rays(problem)
        moc(problem, polish=polish, generations=4)
    except OutOfBudget:
        pass
    rows = problem.answers()
    return Found(rows[:50], notes={"ended": "early"} if problem.left == 0 else {})


def along_rays(problem: Problem) -> FloatArray:
    """The shortest valid rows on rays along the effects of the features; the model is asked twice per ray."""
    numbers = np.flatnonzero(problem.free & ~problem.nominal & ~np.isnan(problem.x))
    size = np.array([problem.data.schema.features[j].high - problem.data.schema.features[j].low for j in numbers])
    found: list[FloatArray] = []
    for target in progress(problem) if len(numbers) else ():
        steps = np.repeat(problem.x[None], 2 * len(numbers), axis=0)
        for k, j in enumerate(numbers):
            steps[2 * k : 2 * k + 2, j] += np.array([1.0, -1.0]) * max(_NEAR * size[k], problem.choices[j].step)
        if has_gradient(problem):
            slope = -miss_slopes(problem, problem.x)[numbers] * size
        else:
            gains = target.gain(problem.score(problem.snap(steps))).reshape(-1, 2)
            slope = np.where(gains[:, 0] >= gains[:, 1], 1.0, -1.0) * np.maximum(gains.max(axis=1), 0.0)
        for ray in (np.sign(slope), slope / (np.abs(slope).max() or 1.0)):
            low, high = 0.0, 1.0
            for lengths in (np.geomspace(1e-4, 1.0, _LENGTHS), np.linspace(0.0, 1.0, _LENGTHS)):
                rows = np.repeat(problem.x[None], _LENGTHS, axis=0)
                reach = low + lengths * (high - low)
                rows[:, numbers] += reach[:, None] * ray * size
                rows = problem.snap(rows)
                rows = rows[problem.allowed(rows) & problem.changed(rows).any(axis=1)]
                valid = problem.valid(rows) if len(rows) else np.empty(0, dtype=np.bool_)
                if not valid.any():
                    break
                best = rows[np.flatnonzero(valid)[0]]
                found.append(best)
                high = float((np.abs(best[numbers] - problem.x[numbers]) / np.where(size > 0, size, 1.0)).max())
                low = high * 0.75
    return np.array(found).reshape(-1, len(problem.x))
