"""Bands of additive models: on average over the range of a function, about 95% of it is inside."""

import numpy as np
import pytest

from pellucid.glassbox import AdditiveModel

TRUTH = (
    lambda x: np.sin(2 * np.pi * x),
    lambda x: np.where(x > 0.5, 0.7, -0.7),
    lambda x: 1.7 * (x - 0.5),
    lambda x: 1.5 * np.exp(-np.square((x - 0.5) / 0.08)),
)


@pytest.mark.parametrize(("family", "n"), [("gaussian", 800), ("binomial", 2500)])
def test_bands_cover_what_they_say(family, n):
    grid, inside = (np.arange(100) + 0.5) / 100, []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.uniform(size=(n, 4))
        eta = sum(f(X[:, j]) for j, f in enumerate(TRUTH))
        y = eta + rng.normal(size=n) if family == "gaussian" else rng.random(n) < 1 / (1 + np.exp(-eta))
        model = AdditiveModel(family=family).fit(X, y)
        for j, f in enumerate(TRUTH):
            away = model._term(j, grid)[:, 0] - f(grid) + f(X[:, j]).mean()
            inside.append(np.abs(away) <= 1.96 * model._term_error(j, grid)[:, 0])
    assert 0.93 <= np.mean(inside) <= 0.985  # 200 repetitions: benchmarks/GLASSBOX.md
