"""Permutation importance where the importance in the population is known."""

from __future__ import annotations

from functools import cache

import numpy as np

from covered.case import Case, Ends
from pellucid import Explainer

SLOPES = np.array([1.0, 0.5, 0.2, 0.0])
POPULATION = "population"
MANY = 500_000


def own_rmse(y, p):
    """A loss that is no mean over rows that pellucid knows of: the root of the mean squared error, unnamed."""
    return float(np.sqrt(np.mean((y - p) ** 2)))


def linear(n: int, *, scheme: str = "shuffle", loss: object = "mse", tails: bool = False, compare: str = "difference"):
    def draw(seed: int) -> Ends:
        generator = np.random.default_rng([seed, n])
        X = generator.standard_t(5, (n, 4)) if tails else generator.normal(size=(n, 4))
        y = X @ SLOPES + generator.normal(size=n)
        found = Explainer(lambda x: x @ SLOPES, X, y, checks=False, random_state=seed).importance(
            loss=loss, scheme=scheme, compare=compare
        )
        after = 2 * SLOPES**2 * (5 / 3 if tails else 1.0)
        truth = 1 + after if compare == "ratio" else np.sqrt(1 + after) - 1 if loss in ("rmse", own_rmse) else after
        return found.low, found.high, truth

    return draw


def product(n: int, scheme: str = "shuffle"):
    """f = x0 x1 without noise: all of it is interaction."""

    def draw(seed: int) -> Ends:
        X = np.random.default_rng([seed, n, 1]).normal(size=(n, 2))
        y = X[:, 0] * X[:, 1]
        found = Explainer(lambda x: x[:, 0] * x[:, 1], X, y, checks=False, random_state=seed).importance(
            loss="mse", scheme=scheme
        )
        return found.low, found.high, np.full(2, 2.0)

    return draw


def no_outcome(n: int):
    """Without y: half the mean squared change as a share of the variance of the prediction, which is estimated too."""

    def draw(seed: int) -> Ends:
        X = np.random.default_rng([seed, n, 2]).normal(size=(n, 4))
        found = Explainer(lambda x: x @ SLOPES, X, checks=False, random_state=seed).importance()
        return found.low, found.high, SLOPES**2 / (SLOPES @ SLOPES)

    return draw


class Logistic:
    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-(X @ SLOPES * 2)))
        return np.column_stack([1 - p, p])


def _labels(generator, X):
    return (generator.random(len(X)) < Logistic().predict_proba(X)[:, 1]).astype(int)


@cache
def _auc_truth() -> np.ndarray:
    generator = np.random.default_rng(1)
    X = generator.normal(size=(MANY, 4))
    y = _labels(generator, X)

    def auc(score):
        ranks = np.empty(len(score))
        ranks[np.argsort(score)] = np.arange(1, len(score) + 1)
        ones = y.sum()
        return (ranks[y == 1].sum() - ones * (ones + 1) / 2) / (ones * (len(y) - ones))

    before, after = auc(X @ SLOPES), []
    for j in range(4):
        mixed = X.copy()
        mixed[:, j] = generator.normal(size=MANY)
        after.append(auc(mixed @ SLOPES))
    return before - np.array(after)


def auc(n: int, scheme: str = "shuffle", loss: object = "1-auc"):
    def draw(seed: int) -> Ends:
        generator = np.random.default_rng([seed, n, 3])
        X = generator.normal(size=(n, 4))
        y = _labels(generator, X)
        found = Explainer(Logistic(), X, y, checks=False, random_state=seed).importance(loss=loss, scheme=scheme)
        return found.low[:3], found.high[:3], _auc_truth()[:3]

    return draw


def CASES() -> list[Case]:
    made = [
        *[(f"linear, n = {n}", linear(n)) for n in (30, 100, 300, 1000)],
        ("linear, halves, n = 100", linear(100, scheme="halves")),
        ("linear, pairs, n = 30", linear(30, scheme="pairs")),
        ("linear, pairs, n = 100", linear(100, scheme="pairs")),
        ("linear, ratio, n = 100", linear(100, compare="ratio")),
        ("linear, rmse, n = 100", linear(100, loss="rmse")),
        ("t5 features, n = 300", linear(300, tails=True)),
        ("t5 features, pairs, n = 100", linear(100, tails=True, scheme="pairs")),
        ("product, n = 100", product(100)),
        ("product, halves, n = 100", product(100, "halves")),
        ("no outcome, n = 100", no_outcome(100)),
        ("a loss of one's own, n = 100", linear(100, loss=own_rmse)),
        ("1-auc, n = 300", auc(300)),
        ("1-auc, pairs, n = 60", auc(60, "pairs")),
    ]
    quick = {"linear, n = 100", "linear, pairs, n = 30", "linear, rmse, n = 100", "product, halves, n = 100"}
    quick |= {"no outcome, n = 100", "1-auc, n = 300", "a loss of one's own, n = 100"}
    return [
        Case(
            "permutation importance",
            POPULATION,
            name,
            draw,
            quick=(20 if "auc" in name else 60) if name in quick else 0,
        )
        for name, draw in made
    ]
