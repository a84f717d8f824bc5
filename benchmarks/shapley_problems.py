"""The games of shapley.py: fitted models, rows to explain, and the exact Shapley values of each row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, make_friedman1
from sklearn.ensemble import RandomForestRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import pellucid

Value = Callable[[np.ndarray], np.ndarray]
Game = tuple[Value, np.ndarray]  # what coalitions are worth, and the Shapley values


@dataclass(frozen=True, eq=False)
class Problem:
    """A fitted model, rows to explain and a background; ``goals``: a share of shap's error is aimed for."""

    name: str
    model: Any
    rows: np.ndarray
    background: np.ndarray
    truth: Callable[[Problem], list[Game]]
    seeds: int
    goals: bool = False

    def game(self, row: int) -> Value:
        """What coalitions of features are worth in a row; the model is a black box here, also where it is trees."""
        x, z = self.rows[row], self.background

        def value(coalitions: np.ndarray) -> np.ndarray:
            parts = []
            for start in range(0, len(coalitions), 512):
                some = np.asarray(coalitions[start : start + 512], dtype=bool)
                mixed = np.where(some[:, None], x, z).reshape(-1, len(x))
                parts.append(self.model.predict(mixed).astype(float).reshape(len(some), -1).mean(axis=1))
            return np.concatenate(parts)

        return value

    def games(self) -> list[Game]:
        return self.truth(self)


# -- truth -------------------------------------------------------------------------------------------


def enumerated(problem: Problem) -> list[Game]:
    """Every coalition is asked once; the game is then a table."""
    players = problem.rows.shape[1]
    number = 1 << np.arange(players)

    def tabulated(value: Value) -> Game:
        worth = value((np.arange(2**players)[:, None] & number) > 0)
        exact = pellucid.shapley(lambda S: worth[S @ number], players, method="exact").values[0]
        return lambda S: worth[np.asarray(S, dtype=bool) @ number], exact

    return [tabulated(problem.game(row)) for row in range(len(problem.rows))]


def from_trees(problem: Problem) -> list[Game]:
    """The exact values of the marginal game, from the trees and the same background."""
    ex = pellucid.Explainer(
        problem.model, problem.background, background=problem.background, progress=False, checks=False
    )
    exact = ex.shap(problem.rows, game="marginal").values
    return [(problem.game(row), exact[row]) for row in range(len(problem.rows))]


def long_run(problem: Problem, orders: int = 4000, seed: int = 99) -> list[Game]:
    """The mean gain of each player over many random orders and their reverses."""
    found = []
    players = problem.rows.shape[1]
    steps = np.arange(players + 1)[:, None]
    for value in map(problem.game, range(len(problem.rows))):
        generator, total = np.random.default_rng(seed), np.zeros(players)
        for _ in range(orders // 200):
            places = generator.random((100, players)).argsort(axis=1).argsort(axis=1)
            places = np.concatenate([places, players - 1 - places])
            worth = value((steps > places[:, None]).reshape(-1, players)).reshape(len(places), players + 1)
            total += np.take_along_axis(np.diff(worth, axis=1), places, axis=1).sum(axis=0)
        found.append((value, total / (orders // 200 * 200)))
    return found


# -- problems ----------------------------------------------------------------------------------------


def friedman(n: int, features: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_friedman1(n, features, noise=0.5, random_state=0)
    return X, (y - y.mean()) / y.std()


def network(most: int) -> Any:
    mlp = MLPRegressor(hidden_layer_sizes=(50, 50), max_iter=most, random_state=0)
    return make_pipeline(StandardScaler(), mlp)


def vectors() -> Any:
    return make_pipeline(StandardScaler(), SVR(C=5))


def boosted() -> Any:
    import xgboost

    return xgboost.XGBRegressor(n_estimators=200, max_depth=5, learning_rate=0.1, n_jobs=1, random_state=0)


def forest() -> Any:
    return RandomForestRegressor(100, n_jobs=1, random_state=0)


def _problem(
    name: str,
    data: tuple[np.ndarray, np.ndarray],
    model: Any,
    truth: Callable[[Problem], list[Game]],
    *,
    rows: int,
    background: int,
    seeds: int,
    goals: bool = False,
) -> Problem:
    X, y = data
    chosen = np.random.default_rng(1).permutation(len(X))
    explained, against = X[chosen[:rows]], X[chosen[rows : rows + background]]
    return Problem(name, model.fit(X, y), explained, against, truth, seeds, goals)


def accuracy_problems() -> Iterator[Problem]:
    data = friedman(1000, 12)
    size = {"rows": 10, "background": 50, "seeds": 5}
    yield _problem("MLP, 12 features", data, network(600), enumerated, **size, goals=True)
    yield _problem("SVR, 12 features", data, vectors(), enumerated, **size, goals=True)


def tree_problems() -> Iterator[Problem]:
    data, wider = friedman(1000, 12), friedman(2000, 20)
    size = {"rows": 5, "background": 50, "seeds": 2}
    yield _problem("XGBoost, 12 features", data, boosted(), enumerated, **size)
    yield _problem("random forest, 12 features", data, forest(), enumerated, **size)
    size = {"rows": 5, "background": 20, "seeds": 2}
    yield _problem("XGBoost, 20 features", wider, boosted(), from_trees, **size)
    yield _problem("random forest, 20 features", wider, forest(), from_trees, **size)


def wide_problems() -> Iterator[Problem]:
    X, y = load_breast_cancer(return_X_y=True)
    size = {"rows": 3, "background": 10, "seeds": 2}
    yield _problem("MLP, 30 features", (X, y.astype(float)), network(300), long_run, **size)
    yield _problem("SVR, 30 features", (X, y.astype(float)), vectors(), long_run, **size)
    yield _problem("MLP, 60 features", friedman(2000, 60), network(300), long_run, **size)
