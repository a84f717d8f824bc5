"""Partial dependence and ALE of few rows with long tails, where they are known in the population."""

from __future__ import annotations

import numpy as np

from covered.case import Case, Ends
from pellucid import Explainer
from pellucid.stats import interval

MEAN = np.exp(0.5)  # of a lognormal variable


def partial_dependence(n: int, shape: float):
    """f = x0 x1: the curve at x0 = 1 and 2 is x0 times the mean of a lognormal variable."""

    def draw(seed: int) -> Ends:
        X = np.random.default_rng([seed, n, 11]).lognormal(0, shape, (n, 2))
        found = Explainer(lambda X: X[:, 0] * X[:, 1], X, checks=False, random_state=seed).pdp(0, at=[1.0, 2.0])
        return (*interval(found.values, found.se), np.array([1.0, 2.0]) * np.exp(shape**2 / 2))

    return draw


def accumulated(n: int):
    """f = x0 x1, x0 uniform: the curve is E[x1] (x0 - 1/2), read at both ends of the data."""

    def draw(seed: int) -> Ends:
        generator = np.random.default_rng([seed, n, 12])
        X = np.column_stack([generator.random(n), generator.lognormal(0, 1, n)])
        found = Explainer(lambda X: X[:, 0] * X[:, 1], X, checks=False, random_state=seed).ale(0, bins=5)
        ends = [0, -1]
        return (*interval(found.values[ends], found.se[ends]), MEAN * (found.grids[0][ends] - 0.5))

    return draw


def CASES() -> list[Case]:
    made = [
        (f"lognormal (shape {shape}), n = {n}", partial_dependence(n, shape))
        for n in (50, 100, 400)
        for shape in (0.5, 1.0)
    ]
    cases = [
        Case("PDP", "population", name, draw, quick=20 * (name.endswith("(shape 0.5), n = 100")), least=0.8)
        for name, draw in made
    ]
    return cases + [
        Case("ALE", "population", f"lognormal (shape 1.0), n = {n}", accumulated(n), least=0.8) for n in (50, 100, 400)
    ]
