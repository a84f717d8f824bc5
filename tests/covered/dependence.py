"""What rests on an estimate of how features are correlated: Shapley effects of a linear model of normal features."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from covered.case import Case, Ends
from pellucid import Explainer

SLOPES = np.array([1.0, 0.5, 0.0])


def covariance(rho: float) -> np.ndarray:
    return np.where(np.eye(3) > 0, 1.0, rho)


def shapley_effects(rho: float) -> np.ndarray:
    """From Var E[f | X_S] = b' C_S C_SS^-1 C_S' b."""
    C = covariance(rho)

    def known(S) -> float:
        S = list(S)
        along = C[S] @ SLOPES
        return float(along @ np.linalg.solve(C[np.ix_(S, S)], along)) if S else 0.0

    effects = np.zeros(3)
    for j in range(3):
        others = [k for k in range(3) if k != j]
        for size in range(3):
            for S in combinations(others, size):
                effects[j] += (known((*S, j)) - known(S)) / (3 * comb(2, size))
    return effects / known(range(3))


def effects(n: int, rho: float, budget: int):
    def draw(seed: int) -> Ends:
        X = np.random.default_rng([seed, n, 9]).multivariate_normal(np.zeros(3), covariance(rho), n)
        found = Explainer(lambda X: X @ SLOPES, X, checks=False, random_state=seed).importance(
            method="shapley-effects", budget=budget
        )
        return found.low, found.high, shapley_effects(rho)

    return draw


def CASES() -> list[Case]:
    return [
        Case(
            "Shapley effects",
            "population",
            f"linear, rho = {rho}, n = {n}, {budget:,} model rows",
            effects(n, rho, budget),
            quick=10 if (n, rho, budget) == (100, 0.5, 1_024) else 0,
        )
        for n in (100, 400)
        for rho in (0.5, 0.8)
        for budget in (1_024, 12_000)
    ]
