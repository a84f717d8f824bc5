"""Sobol indices, also of models whose variance few points carry: there a caveat speaks, and no interval is right."""

from __future__ import annotations

import numpy as np

from covered.case import Case, Ends
from pellucid import Explainer

N = 2_000


def product(first, second):
    """f = first(x0) second(x1) + x2: from the moments of each over the rows, which are the distribution."""

    def draw(seed: int) -> Ends:
        X = np.random.default_rng([seed, 13]).normal(size=(N, 3))

        def f(X):
            return first(X[:, 0]) * second(X[:, 1]) + X[:, 2]

        found = Explainer(f, X, checks=False, random_state=seed).importance(method="sobol")
        (m1, s1), (m2, s2) = ((part.mean(), np.square(part).mean()) for part in (first(X[:, 0]), second(X[:, 1])))
        whole = s1 * s2 - (m1 * m2) ** 2 + X[:, 2].var()
        return found.low, found.high, np.array([(s1 - m1**2) * s2, (s2 - m2**2) * s1, X[:, 2].var()]) / whole

    return draw


def smooth(x):
    return 1 + x


def tails(x):
    return np.exp(1.5 * x)


def rare(x):
    return 100.0 * (x > 2)


def CASES() -> list[Case]:
    shapes = {"(1 + x0) (1 + x1) + x2": smooth, "exp(1.5 (x0 + x1)) + x2": tails, "rule of one row in 2,000": rare}
    return [
        Case(
            "Sobol total",
            "these distributions",
            name,
            product(part, part),
            quick=2 * (part is smooth),
            least=0.9 * (part is smooth),
            often=60,
        )
        for name, part in shapes.items()
    ]
