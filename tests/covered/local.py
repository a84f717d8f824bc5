"""Effects of LIME: what they are about is their limit, with ever more samples, at the width that was chosen."""

from __future__ import annotations

import numpy as np

from covered.case import Case, Ends
from pellucid import Explainer
from pellucid.stats import interval

MODELS = {
    "curved": lambda X: np.sin(2 * X[:, 0]) + X[:, 0] * X[:, 1],
    "a step": lambda X: (X[:, 0] > 0.3) + 0.5 * X[:, 1],
    "four features": lambda X: np.tanh(X[:, 0]) * X[:, 1] + 0.3 * X[:, 2] ** 2 + 0.2 * X[:, 3],
}


def effects(name: str):
    def draw(seed: int) -> Ends:
        X = np.random.default_rng([seed, 16]).normal(size=(200, 4))
        row = X[:1]
        found = Explainer(MODELS[name], X, checks=False, random_state=seed).lime(row, select="all", samples=2_000)
        width = float(found.width[0])
        limit = Explainer(MODELS[name], X, checks=False, random_state=seed + 1_000).lime(
            row, select="all", samples=80_000, width=width
        )
        return (*interval(found.values[0], np.hypot(found.se[0], limit.se[0])), limit.values[0])

    return draw


def CASES() -> list[Case]:
    return [
        Case("LIME effects", "the limit at that width", f"{name}, 2,000 samples", effects(name), quick=quick)
        for name, quick in zip(MODELS, (12, 0, 0), strict=True)
    ]
