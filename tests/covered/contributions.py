"""Mean absolute contributions (SHAP importance) where they are known in the population."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from covered.case import Case, Ends
from pellucid import Explainer

SLOPES = np.array([1.0, 0.5, -0.2])


def linear(n: int, skewed: bool):
    """|slope| times the mean absolute deviation from the mean; of a lognormal variable with shape s, 2 times
    E[X] (2 Phi(s / 2) - 1).
    """

    def f(X):
        return X @ SLOPES

    def draw(seed: int) -> Ends:
        generator = np.random.default_rng([seed, n, 8])
        X = generator.lognormal(0, 0.8, (n, 3)) if skewed else generator.normal(size=(n, 3))
        found = Explainer(f, X, checks=False, random_state=seed).importance(method="shap")
        above = 2 * np.exp(0.32) * (2 * norm.cdf(0.4) - 1) if skewed else np.sqrt(2 / np.pi)
        return found.low, found.high, np.abs(SLOPES) * above

    return draw


def CASES() -> list[Case]:
    return [
        Case(
            "SHAP importance",
            "population",
            f"linear, {'lognormal' if skewed else 'normal'} features, n = {n}",
            linear(n, skewed),
            quick=25 * (n == 40),
            least=0.85 if skewed else 0.9,
        )
        for n in (20, 40, 100)
        for skewed in (False, True)
    ]
