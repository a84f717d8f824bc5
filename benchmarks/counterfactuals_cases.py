"""The questions of counterfactuals.py: tables, models, rows and targets, the same in every environment.

Nothing here needs pellucid: the peers that need an environment of their own read this file, too.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

FOLDER = Path(os.environ.get("PELLUCID_DATA") or Path(__file__).parents[2] / "shared" / "data")
ROWS = int(os.environ.get("COUNTERFACTUALS_ROWS", "20"))
SEED = int(os.environ.get("COUNTERFACTUALS_SEED", "1"))  # of the rows that are drawn


@dataclass(frozen=True, eq=False)
class Table:
    """A data set: ``steps`` are the decimals of each number (1: whole numbers), ``levels`` those of each category."""

    X: pd.DataFrame
    y: np.ndarray
    steps: dict[str, float]

    @cached_property
    def columns(self) -> list[str]:
        return list(self.X.columns)

    @cached_property
    def numbers(self) -> list[str]:
        return [name for name in self.columns if name in self.steps]

    @cached_property
    def levels(self) -> dict[str, list[str]]:
        return {name: sorted(set(self.X[name])) for name in self.columns if name not in self.steps}

    @cached_property
    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """Places of the rows the model is fitted to, and of those that may be explained."""
        order = np.random.default_rng(0).permutation(len(self.X))
        cut = int(len(order) * 0.7)
        return order[:cut], order[cut:]

    @cached_property
    def train(self) -> pd.DataFrame:
        return self.X.iloc[self.parts[0]].reset_index(drop=True)

    @cached_property
    def ends(self) -> dict[str, tuple[float, float]]:
        """The range of each number in the rows the model is fitted to."""
        return {name: (float(self.train[name].min()), float(self.train[name].max())) for name in self.numbers}

    def codes(self, frame: pd.DataFrame) -> np.ndarray:
        """Numbers as they are, categories by their place among the levels (-1: no level)."""
        found = np.empty((len(frame), len(self.columns)))
        for j, name in enumerate(self.columns):
            if name in self.steps:
                found[:, j] = frame[name].to_numpy(dtype=np.float64)
            else:
                place = {level: i for i, level in enumerate(self.levels[name])}
                found[:, j] = [place.get(value, -1) for value in frame[name]]
        return found

    def frame(self, codes: np.ndarray) -> pd.DataFrame:
        """The table of these codes."""
        cells: dict[str, Any] = {}
        for j, name in enumerate(self.columns):
            if name in self.steps:
                cells[name] = codes[:, j].astype(np.float64)
            else:
                cells[name] = np.array(self.levels[name], dtype=object)[np.asarray(codes[:, j], dtype=np.int64)]
        return pd.DataFrame(cells)

    def encoded(self, codes: np.ndarray) -> np.ndarray:
        """What the models are fitted to: numbers, and a column of zeros and ones for each level."""
        blocks = []
        for j, name in enumerate(self.columns):
            column = np.asarray(codes[:, j], dtype=np.float64)
            blocks.append(
                column[:, None] if name in self.steps else column[:, None] == np.arange(len(self.levels[name]))
            )
        return np.hstack(blocks).astype(np.float64)


def credit() -> Table:
    rows = pd.read_csv(FOLDER / "german_credit_full.csv", keep_default_na=False)
    rows = rows.replace({"savings": {"": "unknown"}, "checking": {"": "unknown"}})
    names = ["age", "sex", "job", "housing", "savings", "checking", "amount", "duration", "purpose"]
    whole = dict.fromkeys(("age", "job", "amount", "duration"), 1.0)
    return _table(rows[names], (rows["risk"] == "good").to_numpy().astype(int), whole)


def adult() -> Table:
    rows = pd.read_csv(FOLDER / "adult.csv", keep_default_na=False)
    rows = rows.replace({name: {"": "unknown"} for name in ("workclass", "occupation", "native_country")})
    names = ["age", "workclass", "education_num", "marital_status", "occupation", "relationship", "race", "sex"]
    names += ["capital_gain", "capital_loss", "hours_per_week", "native_country"]
    whole = dict.fromkeys(("age", "education_num", "capital_gain", "capital_loss", "hours_per_week"), 1.0)
    return _table(rows[names], (rows["income"] == ">50K").to_numpy().astype(int), whole)


def bike() -> Table:
    rows = pd.read_csv(FOLDER / "bike.csv", keep_default_na=False)
    names = ["season", "holiday", "workingday", "weathersit", "temp", "hum", "windspeed", "days_since_2011"]
    steps = {"temp": 0.1, "hum": 0.1, "windspeed": 0.1, "days_since_2011": 1.0}
    for name in ("temp", "hum", "windspeed"):
        rows[name] = rows[name].astype(float).round(1)
    return _table(rows[names], rows["cnt"].to_numpy().astype(float), steps)


def _table(X: pd.DataFrame, y: np.ndarray, steps: dict[str, float]) -> Table:
    kinds = {name: "object" if name not in steps else "int64" if steps[name] == 1 else "float64" for name in X}
    texts = {name: X[name].astype(str) for name in X if name not in steps}
    return Table(X.assign(**texts).astype(kinds), y, steps)


def xgboost(E: np.ndarray, y: np.ndarray, trees: int) -> Any:
    from xgboost import XGBClassifier, XGBRegressor

    kind = XGBClassifier if y.dtype.kind == "i" else XGBRegressor
    return kind(n_estimators=trees, max_depth=4, learning_rate=0.1, n_jobs=1, random_state=0, tree_method="hist").fit(
        E, y
    )


def lightgbm(E: np.ndarray, y: np.ndarray) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        n_estimators=200, num_leaves=31, learning_rate=0.1, n_jobs=1, random_state=0, verbose=-1,
        deterministic=True, force_row_wise=True,
    ).fit(E, y)  # fmt: skip


def forest(E: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(100, min_samples_leaf=3, random_state=0, n_jobs=1).fit(E, y)


def network(E: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    layers = MLPClassifier((64, 32), random_state=0, max_iter=60, early_stopping=len(y) > 5000, alpha=1e-3)
    return make_pipeline(StandardScaler(), layers).fit(E, y)


@dataclass(eq=False)
class Case:
    """A fitted model and its questions; ``score`` is the model as a function that counts the rows it is asked for."""

    title: str
    table: Table
    inner: Any
    asked: int = field(default=0, init=False)

    @property
    def classes(self) -> bool:
        return self.table.y.dtype.kind == "i"

    def score(self, codes: np.ndarray) -> np.ndarray:
        """The probability of class 1, or the number that is predicted, of rows of codes."""
        return self.score_encoded(self.table.encoded(codes))

    def score_encoded(self, encoded: np.ndarray) -> np.ndarray:
        self.asked += len(encoded)
        if hasattr(self.inner, "booster_"):  # LightGBM's own call, which is the quickest
            return np.asarray(self.inner.booster_.predict(encoded, num_threads=1), dtype=np.float64)
        found = self.inner.predict_proba(encoded)[:, 1] if self.classes else self.inner.predict(encoded)
        return np.asarray(found, dtype=np.float64)

    @cached_property
    def pipeline(self) -> Any:
        """The same model as a pipeline that takes the table, as users have it."""
        from sklearn.compose import ColumnTransformer
        from sklearn.pipeline import Pipeline
        from sklearn.preprocessing import OneHotEncoder

        table, names = self.table, [*self.table.numbers, *self.table.levels]
        levels = OneHotEncoder(categories=list(table.levels.values()), sparse_output=False)
        columns = ColumnTransformer(
            [("numbers", "passthrough", table.numbers), ("categories", levels, list(table.levels))]
        )
        found = columns.fit_transform(table.train)
        # The model was fitted to the columns in the order of the table.
        width = [len(table.levels.get(name, "1")) for name in names]
        start = dict(zip(names, np.cumsum([0, *width[:-1]]).tolist(), strict=True))
        places = [start[name] + i for name in table.columns for i in range(len(table.levels.get(name, "1")))]
        ordered = ColumnTransformer([("ordered", "passthrough", places)]).fit(found)
        return Pipeline([("columns", columns), ("ordered", ordered), ("model", self.inner)])

    @cached_property
    def questions(self) -> tuple[np.ndarray, np.ndarray]:
        """Places of the explained rows in the table, and the interval wanted of each row's score.

        A probability must be above a half; a number 1,000 to 1,500 above the row's own.
        """
        rest = self.table.parts[1]
        scores = self.score(self.table.codes(self.table.X.iloc[rest]))
        below = 0.5 if self.classes else 5500.0
        chosen = np.random.default_rng(SEED).choice(np.flatnonzero(scores < below), size=ROWS, replace=False)
        if self.classes:
            wanted = np.tile([np.nextafter(0.5, 1.0), 1.0], (ROWS, 1))
        else:
            wanted = np.ceil(scores[chosen][:, None] + [1000.0, 1500.0])
        self.asked = 0
        return rest[chosen], wanted

    def row(self, k: int) -> pd.DataFrame:
        """The row of a question, as a table of one row."""
        return self.table.X.iloc[[self.questions[0][k]]].reset_index(drop=True)

    def reached(self, k: int, codes: np.ndarray) -> np.ndarray:
        low, high = self.questions[1][k]
        scores = self.score(codes)
        return (scores >= low) & (scores <= high)

    def allowed(self, k: int, codes: np.ndarray) -> np.ndarray:
        """Whether each cell is the row's own, or a value that the table could hold: in its range, with its decimals."""
        own = self.table.codes(self.row(k))[0]
        good = np.ones(len(codes), dtype=bool)
        for j, name in enumerate(self.table.columns):
            if name in self.table.steps:
                low, high = self.table.ends[name]
                steps = codes[:, j] / self.table.steps[name]
                fits = (codes[:, j] >= low) & (codes[:, j] <= high) & (np.abs(steps - np.round(steps)) < 1e-6)
            else:
                fits = codes[:, j] >= 0
            good &= fits | (codes[:, j] == own[j])
        return good

    def distance(self, k: int, codes: np.ndarray) -> np.ndarray:
        """Gower's distance from the row of a question."""
        own = self.table.codes(self.row(k))[0]
        total = np.zeros(len(codes))
        for j, name in enumerate(self.table.columns):
            if name in self.table.steps:
                low, high = self.table.ends[name]
                total += np.abs(codes[:, j] - own[j]) / (high - low)
            else:
                total += codes[:, j] != own[j]
        return total / len(self.table.columns)


CASES: dict[str, tuple[str, Callable[[], Table], Callable[[np.ndarray, np.ndarray], Any]]] = {
    "credit-xgboost": ("Credit, XGBoost with 100 trees of depth 4", credit, lambda E, y: xgboost(E, y, 100)),
    "credit-forest": ("Credit, a forest of 100 unlimited trees", credit, forest),
    "adult-lightgbm": ("Adult, LightGBM with 200 trees of 31 leaves", adult, lightgbm),
    "bike-xgboost": ("Bikes, XGBoost with 300 trees of depth 4", bike, lambda E, y: xgboost(E, y, 300)),
    "credit-network": ("Credit, a network of 64 and 32 units", credit, network),
    "adult-network": ("Adult, a network of 64 and 32 units", adult, network),
}
TREES = tuple(CASES)[:4]


def case(name: str, stored: str | None = None) -> Case:
    """A case with its model, fitted here; or ``stored`` in a file, as releases of XGBoost fit different trees."""
    title, table, fit = CASES[name]
    data = table()
    if stored:
        from xgboost import XGBClassifier, XGBRegressor

        inner = XGBClassifier() if data.y.dtype.kind == "i" else XGBRegressor()
        inner.load_model(stored)
    else:
        inner = fit(data.encoded(data.codes(data.train)), data.y[data.parts[0]])
    return Case(title, data, inner)
