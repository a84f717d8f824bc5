"""Any columns given any others, where it is known: conditional Shapley values, Shapley effects and groups of columns
that follow each other along curves.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from covered.conditional import Table, parabola, ring, switch
from pellucid import Explainer

RING = 0.773  # share of the variance of x0^2 that x1 tells, integrated over the density


@dataclass(frozen=True, eq=False)
class Setting:
    """Rows, a model of them, the true conditional Shapley values of rows (None where not known) and Shapley effects."""

    name: str
    draw: Callable[[int, np.random.Generator], Table]
    f: Callable[[Table], np.ndarray]
    values: Callable[[Table], np.ndarray] | None
    effects: tuple[float, ...]
    category: bool = False

    def explainer(self, X: Table, seed: int, **options) -> Explainer:
        table = pd.DataFrame({f"x{k}": x for k, x in enumerate(X.T)})
        if self.category:
            table["x2"] = np.array(["u", "v"])[X[:, 2].astype(int)]

        def model(rows):
            last = {"x2": (rows["x2"] == "v").astype(float)} if self.category else {}
            return self.f(rows.assign(**last).to_numpy(dtype=float))

        return Explainer(model, table, checks=False, progress=False, random_state=seed, **options)


def _of_parabola(X):
    half = (X[:, 0] ** 2 - 1) / 2
    return np.column_stack([half, X[:, 1] - 1 - half, np.zeros(len(X))])


def _of_switch(X):
    """f = x1: v({0}) = v({2}) = 0, v({0, 2}) = x0 or -x0, all else x1."""
    both = np.where(X[:, 2] == 0, X[:, 0], -X[:, 0])
    alone, last = both / 6, X[:, 1]
    return np.column_stack([alone, last - 2 * alone, alone])


def with_noise(n, generator):
    return parabola(n, generator, 1)


SETTINGS = [
    Setting("x1 = x0² + noise, f = x1", with_noise, lambda X: X[:, 1], _of_parabola, (1 / 2.09, 1 - 1 / 2.09, 0.0)),
    Setting("ring, f = x0²", ring, lambda X: X[:, 0] ** 2, None, (1 - RING / 2, RING / 2)),
    Setting(
        "category turns the slope, f = x1",
        switch,
        lambda X: X[:, 1],
        _of_switch,
        (1 / 6.54, 1 - 2 / 6.54, 1 / 6.54),
        category=True,
    ),
]


@dataclass(frozen=True)
class Measured:
    """Mean absolute error of the Shapley values of 50 rows and of the effects, and CPU seconds of each."""

    values: float
    effects: float
    seconds: tuple[float, float]


def measured(setting: Setting, n: int, seed: int, how: str = "auto") -> Measured:
    """The errors, with what shows, or as ``how`` says (of effects: only "auto")."""
    X = setting.draw(n, np.random.default_rng([seed, n]))
    explainer, start = setting.explainer(X, seed), time.process_time()
    found, error = explainer.shap(list(range(50)), game="conditional", conditional=how), np.nan
    spent = time.process_time() - start
    if setting.values is not None:
        error = float(np.abs(found.values - setting.values(X[:50])).mean())
    if how != "auto":
        return Measured(error, np.nan, (spent, np.nan))
    start = time.process_time()
    effects = explainer.importance(method="shapley-effects").values
    return Measured(error, float(np.abs(effects - setting.effects).max()), (spent, time.process_time() - start))


def costs(p: int, n: int, seed: int) -> tuple[float, float, float, float]:
    """CPU seconds with p features, two of which follow others: a first row's conditional values, another's, effects, and
    the importance of a group of two.
    """
    rng = np.random.default_rng([seed, p])
    X = rng.normal(size=(n, p))
    X[:, 1] = X[:, 0] ** 2 + 0.3 * X[:, 1]
    X[:, 3] = X[:, 2] * X[:, 4] + 0.5 * X[:, 3]
    explainer = Explainer(_f, X, _f(X), checks=False, progress=False)
    calls = [
        lambda: explainer.shap(0, game="conditional"),
        lambda: explainer.shap(1, game="conditional"),
        lambda: explainer.importance(method="shapley-effects"),
        lambda: Explainer(
            _f, X, _f(X), checks=False, progress=False, groups={"two": [0, 1], "rest": list(range(2, p))}
        ).importance(method="conditional"),
    ]
    spent = []
    for call in calls:
        start = time.process_time()
        call()
        spent.append(time.process_time() - start)
    return spent[0], spent[1], spent[2], spent[3] / 2


def _f(X):
    return X[:, 1] + X[:, 3] * X[:, 0] + X[:, 2]
