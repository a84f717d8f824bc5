"""The models and tables that every line of the benchmark is measured on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

NUMERIC = tuple(f"x{j}" for j in range(10))
COLOURS = ("red", "green", "blue", "black", "white")
SHAPES = ("round", "square", "long")


@dataclass(frozen=True, eq=False)
class Workload:
    """A fitted model, its rows and outcomes; ``categorical`` is a feature of categories, where there is one."""

    name: str
    model: Any
    X: Any
    y: np.ndarray
    categorical: str | None = None

    @property
    def is_numpy(self) -> bool:
        return isinstance(self.X, np.ndarray)

    def column(self, name: str) -> Any:
        """What this table calls a numeric feature: its position in a matrix, its name in a frame."""
        return NUMERIC.index(name) if self.is_numpy else name

    def values(self, name: str) -> Any:
        return self.X[:, NUMERIC.index(name)] if self.is_numpy else self.X[name].to_numpy()

    def grid(self, name: str, size: int) -> np.ndarray:
        """The grid that pellucid takes by default: equally spaced over the data."""
        column = self.values(name)
        return np.linspace(column.min(), column.max(), size)

    def edges(self, name: str, bins: int) -> np.ndarray:
        """Bin edges at the quantiles, as ALE takes them: the inverse of the empirical distribution."""
        ordered = np.sort(self.values(name))
        positions = np.ceil(np.arange(bins + 1) * len(ordered) / bins).astype(int) - 1
        return np.unique(ordered[np.maximum(positions, 0)])


def _table(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten features, some of which are correlated, and an outcome with an interaction."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n, len(NUMERIC)))
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    y = X @ np.linspace(2, -1, X.shape[1]) + X[:, 0] * X[:, 2] + generator.normal(size=n)
    return X, y


def linear_numpy() -> Workload:
    X, y = _table(10_000)
    return Workload("linear, numpy", LinearRegression().fit(X, y), X, y)


def linear_pandas() -> Workload:
    X, y = _table(10_000)
    frame = pd.DataFrame(X, columns=list(NUMERIC))
    return Workload("linear, pandas", LinearRegression().fit(frame, y), frame, y)


def boosting_numpy() -> Workload:
    X, y = _table(5_000)
    return Workload("boosting, numpy", HistGradientBoostingRegressor(max_iter=50, random_state=0).fit(X, y), X, y)


def mixed_pipeline() -> Workload:
    X, y = _table(5_000)
    generator = np.random.default_rng(1)
    frame = pd.DataFrame(X[:, :8], columns=list(NUMERIC[:8]))
    frame["colour"] = generator.choice(np.array(COLOURS, dtype=object), len(frame))
    frame["shape"] = generator.choice(np.array(SHAPES, dtype=object), len(frame))
    y = y + 2.0 * (frame["colour"] == "red").to_numpy() + (frame["shape"] == "long").to_numpy()
    encode = make_column_transformer((OneHotEncoder(), ["colour", "shape"]), remainder="passthrough")
    return Workload(
        "mixed pipeline, pandas", make_pipeline(encode, Ridge()).fit(frame, y), frame, y, categorical="colour"
    )


WORKLOADS = {
    "linear-numpy": linear_numpy,
    "linear-pandas": linear_pandas,
    "boosting": boosting_numpy,
    "mixed": mixed_pipeline,
}
