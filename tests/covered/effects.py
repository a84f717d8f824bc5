"""Partial dependence, ALE and M-plots of few rows with long tails, where they are known in the population."""

from __future__ import annotations

import numpy as np

from covered.case import Case, Ends
from pellucid import Explainer

SHAPES = (0.5, 1.0)
OFTEN = 1_000  # a millisecond each


def partial_dependence(n: int, shape: float):
    """f = x0 x1: the curve at x0 = 1 and 2 is x0 times the mean of a lognormal variable."""

    def draw(seed: int) -> Ends:
        X = np.random.default_rng([seed, n, 11]).lognormal(0, shape, (n, 2))
        found = Explainer(lambda X: X[:, 0] * X[:, 1], X, checks=False, random_state=seed).pdp(0, at=[1.0, 2.0])
        return found.low, found.high, np.array([1.0, 2.0]) * np.exp(shape**2 / 2)

    return draw


def accumulated(n: int, shape: float, power: int = 1):
    """f = x0^power x1, x0 uniform: the curve is E[x1] (x0^power - 1 / (power + 1)), read at the ends and in between.

    Shape 0 is a normal x1 of mean 1.
    """

    def draw(seed: int) -> Ends:
        generator = np.random.default_rng([seed, n, 12])
        other = generator.lognormal(0, shape, n) if shape else generator.normal(1, 1, n)
        X = np.column_stack([generator.random(n), other])
        explainer = Explainer(lambda X: X[:, 0] ** power * X[:, 1], X, checks=False, random_state=seed)
        found, mean = explainer.ale(0, bins=5), np.exp(shape**2 / 2)
        at = [0, 1, 4, 5]
        return found.low[at], found.high[at], mean * (found.grids[0][at] ** power - 1 / (power + 1))

    return draw


def marginal(n: int):
    """f = x0 x1, x0 of two values: the means are x0 times that of a lognormal variable."""

    def draw(seed: int) -> Ends:
        generator = np.random.default_rng([seed, n, 19])
        X = np.column_stack([1.0 + generator.integers(0, 2, n), generator.lognormal(0, 1, n)])
        found = Explainer(lambda X: X[:, 0] * X[:, 1], X, checks=False, random_state=seed).mplot(0)
        return found.low, found.high, np.array([1.0, 2.0]) * np.exp(0.5)

    return draw


def CASES() -> list[Case]:
    dependence = [
        Case(
            "PDP",
            "population",
            f"lognormal (shape {shape}), n = {n}",
            partial_dependence(n, shape),
            quick=quick,
            often=OFTEN,
        )
        for n, quick in ((50, 60), (100, 0), (400, 0))
        for shape in SHAPES
    ]
    local = [
        Case(
            "ALE",
            "population",
            f"{name}, n = {n}",
            accumulated(n, shape, power),
            quick=quick if shape == 1.0 else 0,
            often=OFTEN,
        )
        for n, quick in ((50, 40), (100, 0), (400, 0))
        for name, shape, power in (
            ("normal", 0.0, 1),
            ("lognormal (shape 0.5)", 0.5, 1),
            ("lognormal (shape 1.0)", 1.0, 1),
            ("lognormal (shape 1.0), cubed", 1.0, 3),
        )
    ]
    return [
        *dependence,
        *local,
        *(
            Case("M-plot", "population", f"lognormal (shape 1.0), n = {n}", marginal(n), often=OFTEN)
            for n in (100, 200)
        ),
    ]
