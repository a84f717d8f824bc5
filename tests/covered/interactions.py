"""Friedman's H and Greenwell's strength where they are known in the population."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.stats import norm

from covered.case import Case, Ends
from pellucid import Explainer

POPULATION = "population"
_E = np.exp(0.25) - 1  # of exp(x / 2): variance over squared mean

# Name: (model, whether x2 has mean 1, H of x0 and x1)
MODELS = {
    "x0 + x1 + x0 x1": (lambda X: X[:, 0] + X[:, 1] + X[:, 0] * X[:, 1], False, np.sqrt(1 / 3)),
    "weak": (lambda X: X[:, 0] + X[:, 1] + 0.3 * X[:, 0] * X[:, 1], False, np.sqrt(0.09 / 2.09)),
    "nothing but x0 x1": (lambda X: X[:, 0] * X[:, 1] + X[:, 2], False, 1.0),
    "x0 + x0 x1 x2": (lambda X: X[:, 0] + X[:, :3].prod(axis=1), True, np.sqrt(0.5)),
    "exp((x0 + x1) / 2)": (lambda X: np.exp((X[:, 0] + X[:, 1]) / 2), False, np.sqrt(_E / (_E + 2))),
    "two steps": (lambda X: (X[:, 0] > 0) * (X[:, 1] > 0) + 0.3 * X[:, 2], False, np.sqrt(1 / 3)),
}


def h(name: str, n: int):
    f, shifted, truth = MODELS[name]

    def draw(seed: int) -> Ends:
        X = np.random.default_rng([seed, n, 5]).normal(size=(n, 3))
        X[:, 2] += shifted
        found = Explainer(f, X, checks=False, random_state=seed).interactions((0, 1), network=False)
        return found.low, found.high, np.array([truth])

    return draw


@cache
def _spreads() -> tuple[float, float, float]:
    """The deviation of the middles of a normal variable's tenths, of their sizes, and of their sizes two higher."""
    middles = norm.ppf((np.arange(10) + 0.5) / 10)
    return tuple(float(x.std(ddof=1)) for x in (middles, np.abs(middles), np.abs(middles + 2)))


def greenwell(n: int, normalize: bool = False):
    """f = x0 (x1 + 2) + x2: PD = a (b + 2), and the variance of f is 1 + 4 + 1."""

    def draw(seed: int) -> Ends:
        X = np.random.default_rng([seed, n, 6]).normal(size=(n, 3))
        explainer = Explainer(lambda X: X[:, 0] * (X[:, 1] + 2) + X[:, 2], X, checks=False, random_state=seed)
        found = explainer.interactions((0, 1), method="greenwell", normalize=normalize, network=False)
        one, size, shifted = _spreads()
        return found.low, found.high, np.array([one * (size + shifted) / 2 / (np.sqrt(6) if normalize else 1.0)])

    return draw


def CASES() -> list[Case]:
    quick = {("x0 + x1 + x0 x1", 30): 40, ("x0 + x0 x1 x2", 100): 20}
    made = [
        Case(
            "Friedman H",
            POPULATION,
            f"{name}, n = {n}",
            h(name, n),
            quick=quick.get((name, n), 0),
            least=0.8 if n == 30 else 0.88,
        )
        for n in (30, 100, 200, 400)
        for name in MODELS
        if n < 400 or name == "exp((x0 + x1) / 2)"
    ]
    return made + [
        Case(
            "Greenwell",
            POPULATION,
            f"x0 (x1 + 2), n = {n}{', normalised' * normalize}",
            greenwell(n, normalize),
            quick=25 * (n == 100),
        )
        for n in (30, 100, 1000)
        for normalize in (False, True)
    ]
