"""Games of 15 players whose exact Shapley values are known, and a model of 2,000 features that uses four."""

from __future__ import annotations

from functools import cache

import numpy as np

from covered.case import Case, Ends
from pellucid import Explainer
from pellucid.games import FunctionGame
from pellucid.methods.attribution.estimation.estimate import Rounds
from pellucid.methods.attribution.interaction_indices import interaction_matrix
from pellucid.methods.attribution.shapley_exact import shapley_values
from pellucid.methods.attribution.shapley_kernel import shapley_kernel
from pellucid.runner import Run
from pellucid.stats import interval

EXACT = "exact values"
P = 15
INSIDE = (np.arange(2**P)[:, None] >> np.arange(P) & 1) == 1
SLOPES = np.random.default_rng(5).normal(size=P)


def marginal(f, seed: int, tails: bool = False) -> np.ndarray:
    generator = np.random.default_rng(seed)
    draw = (lambda *shape: generator.standard_t(3, shape)) if tails else (lambda *shape: generator.normal(size=shape))
    x, others = draw(P), draw(10, P)
    return np.mean([f(np.where(INSIDE, x, z)) for z in others], axis=0)


@cache
def worths(name: str) -> np.ndarray:
    """What every coalition is worth."""
    small = INSIDE @ SLOPES * 0.1
    if name == "smooth":
        return marginal(lambda X: np.tanh(X @ SLOPES) + X[:, 0] * X[:, 1], 1)
    if name == "products of t3":
        return marginal(lambda X: X[:, :3].prod(axis=1) + X[:, 3:6].prod(axis=1) + X @ SLOPES, 3, tails=True)
    if name == "all of five":
        return small + INSIDE[:, :5].all(axis=1)
    if name == "three without three others":
        return small + (INSIDE[:, :3].all(axis=1) & ~INSIDE[:, 3:6].any(axis=1))
    raise KeyError(name)


@cache
def truths(name: str) -> tuple[np.ndarray, np.ndarray]:
    v = worths(name)[None, :, None]
    return shapley_values(v)[0, :, 0], interaction_matrix(v)[0, ..., 0][np.triu_indices(P, 1)]


def game(name: str, pairs: int, interactions: bool = False):
    def draw(seed: int) -> Ends:
        v, powers = worths(name), 2 ** np.arange(P)
        asked = FunctionGame(lambda coalitions: v[coalitions @ powers], P)
        found = shapley_kernel(asked, Rounds(pairs, pairs), Run(seed=seed), interactions=interactions)
        if interactions:
            above = (0, *np.triu_indices(P, 1), 0)
            return (*interval(found.interactions[above], found.interactions_se[above]), truths(name)[1])
        return (*interval(found.values[0, :, 0], found.se[0, :, 0]), truths(name)[0])

    return draw


def many_features(p: int):
    """x0 x1 + tanh x2 + [x3 > 0]: every background row adds to it what it has, and the others add nothing."""

    def f(X):
        return X[:, 0] * X[:, 1] + np.tanh(X[:, 2]) + (X[:, 3] > 0)

    def draw(seed: int) -> Ends:
        X = np.random.default_rng(seed).normal(size=(200, p))
        found = Explainer(f, X, background=X[:50], random_state=seed, checks=False).shap(X[60:61])
        x, Z, truth = X[60], X[:50], np.zeros(p)
        both = x[0] * x[1] - Z[:, 0] * Z[:, 1]
        truth[0] = np.mean(both + x[0] * Z[:, 1] - Z[:, 0] * x[1]) / 2
        truth[1] = np.mean(both - x[0] * Z[:, 1] + Z[:, 0] * x[1]) / 2
        truth[2] = np.tanh(x[2]) - np.tanh(Z[:, 2]).mean()
        truth[3] = (x[3] > 0) - (Z[:, 3] > 0).mean()
        return (*interval(found.values[0], found.se[0]), truth)

    return draw


def CASES() -> list[Case]:
    least = {"products of t3": 0.8, "three without three others": 0.75, "all of five": 0.85}
    made = [
        Case(
            "Shapley values from coalitions",
            EXACT,
            f"{name}, 15 players, {2 * pairs:,} coalitions",
            game(name, pairs),
            quick=12 if pairs == 512 and name == "all of five" else 0,
            least=least.get(name, 0.9) if pairs == 512 else least.get(name, 0.9) - 0.2,
            often=200,
        )
        for pairs in (128, 512)
        for name in ("smooth", "products of t3", "all of five", "three without three others")
    ]
    made += [
        Case(
            "Shapley interactions from coalitions",
            EXACT,
            f"{name}, 15 players, 1,024 coalitions",
            game(name, 512, True),
            quick=12 if name == "all of five" else 0,
            least=0.8,
            often=100,
        )
        for name in ("smooth", "products of t3", "all of five")
    ]
    large = many_features(2000)
    return [*made, Case("Shapley values from coalitions", EXACT, "four of 2,000 features", large, often=3, least=1.0)]
