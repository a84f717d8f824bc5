"""How often a true null is rejected at 5%: as an interval, p-values above 0.05 hold what they should."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from covered.case import Case, Ends
from pellucid import Explainer


def _least_squares(n: int, slopes: float, seed: int):
    """Two features that matter and two that do not."""
    from sklearn.linear_model import LinearRegression

    generator = np.random.default_rng([seed, n, 14])
    X = generator.normal(size=(n, 4))
    y = slopes * (X[:, 0] + X[:, 1]) + generator.normal(size=n)
    return LinearRegression().fit(X, y), X, y


def permutation(n: int, slopes: float):
    def draw(seed: int) -> Ends:
        explainer = Explainer(*_least_squares(n, slopes, seed), checks=False, random_state=seed)
        p = explainer.importance(p_values=39, repeats=1).p_values[2:]
        return np.full(2, 0.0501), np.ones(2), p

    return draw


def permuted_outcome(n: int, slopes: float):
    """The p-values of the textbook: models of a permuted outcome, in which nothing matters."""
    from sklearn.linear_model import LinearRegression

    def draw(seed: int) -> Ends:
        model, X, y = _least_squares(n, slopes, seed)
        generator = np.random.default_rng([seed, n, 20])

        def importance(model: LinearRegression, y: np.ndarray) -> np.ndarray:
            return Explainer(model, X, y, checks=False, random_state=seed).importance(repeats=1).values[2:]

        orders = [generator.permutation(y) for _ in range(39)]
        null = np.array([importance(LinearRegression().fit(X, order), order) for order in orders])
        p = (1 + (null >= importance(model, y)).sum(axis=0)) / 40
        return np.full(2, 0.0501), np.ones(2), p

    return draw


def interactions(rho: float, n: int = 200):
    """Five features of an additive truth, by boosted trees that overfit other rows."""
    from sklearn.ensemble import GradientBoostingRegressor

    def draw(seed: int) -> Ends:
        generator = np.random.default_rng([seed, n, 15])
        X = np.sqrt(rho) * generator.normal(size=(2 * n, 1)) + np.sqrt(1 - rho) * generator.normal(size=(2 * n, 5))
        y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 / 2 + np.abs(X[:, 2]) + X[:, 3] / 2 + generator.normal(size=2 * n)
        model = GradientBoostingRegressor(n_estimators=60, max_depth=4, learning_rate=0.15, random_state=seed)
        explainer = Explainer(model.fit(X[:n], y[:n]), X[n:], y[n:], checks=False, random_state=seed)
        found = explainer.interactions(p_values=True, network=False)
        pairs = len(list(combinations(range(5), 2)))
        return np.full(pairs + 1, 0.05), np.ones(pairs + 1), np.append(found.p_values, found.adjusted.min())

    return draw


def CASES() -> list[Case]:
    pimp = [
        Case(method, "no importance", f"beside slopes {slopes}, n = 30", draw(30, slopes), often=often)
        for method, draw, often in (
            ("PIMP p-value", permutation, 300),
            ("p-value of a permuted outcome alone", permuted_outcome, 100),
        )
        for slopes in (0.0, 1.0)
    ]
    return pimp + [
        Case(
            "interaction p-value",
            "no interaction (each pair; the least of all, adjusted)",
            f"rho = {rho}, n = {n}",
            interactions(rho, n),
            often=400,
        )
        for rho, n in ((0.0, 200), (0.8, 200), (0.8, 600))
    ]
