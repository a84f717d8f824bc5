"""Influence against really fitting again, wrong labels found, and what it costs: prints the tables of docs/influence.md.

PELLUCID_DATA=folder python benchmarks/influence.py [truth] [labels] [cost]
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neural_network import MLPRegressor

import pellucid

Table = tuple[np.ndarray, np.ndarray]
ROWS = 20  # explained
SEEDS = (21, 22, 23, 24, 25)  # of wrong labels; none was looked at while the list was made
TRIED = 15  # of the strongest rows, and as many at random


def read(name: str) -> pd.DataFrame:
    folder = Path(os.environ.get("PELLUCID_DATA", Path(__file__).parents[2] / "shared" / "data"))
    return pd.read_csv(folder / name)


def coded(table: pd.DataFrame) -> np.ndarray:
    X = pd.get_dummies(table).to_numpy(float)
    return np.asarray((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9))


def bike() -> Table:
    table = read("bike.csv")
    columns = ["season", "holiday", "workingday", "weathersit", "temp", "hum", "windspeed", "days_since_2011"]
    return coded(table[columns]), table["cnt"].to_numpy(float)


def credit() -> Table:
    table = read("german_credit_full.csv")
    return coded(table.drop(columns="risk")), (table["risk"] == "bad").to_numpy(int)


def adult(n: int) -> Table:
    table = read("adult.csv").head(n)
    return coded(table.drop(columns=["income", "fnlwgt", "education"])), (table["income"] == ">50K").to_numpy(int)


def refits(model: Any, X: np.ndarray, y: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """With minus without, for the predictions of the first rows, by fitting again."""
    from sklearn.base import clone

    def ask(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        fitted = clone(model).fit(X, y)
        return fitted.predict_proba(X0)[:, 1] if hasattr(fitted, "predict_proba") else fitted.predict(X0)

    X0 = X[:ROWS]
    full = ask(X, y)
    return np.array([full - ask(np.delete(X, i, 0), np.delete(y, i)) for i in rows])


def truth() -> Iterator[str]:
    """What is shown against refitting from scratch: correlation for the strongest rows and for random ones."""
    import lightgbm
    import xgboost

    seed, boosted = {"random_state": 0}, {"n_estimators": 100, "random_state": 0}
    models = {
        "least squares": (LinearRegression(), bike()),
        "ridge": (Ridge(10.0), bike()),
        "logistic regression, credit": (LogisticRegression(tol=1e-8, max_iter=5000), credit()),
        "histogram boosting": (HistGradientBoostingRegressor(early_stopping=False, **seed), bike()),
        "gradient boosting": (GradientBoostingRegressor(**boosted), bike()),
        "XGBoost": (xgboost.XGBRegressor(max_depth=4, n_jobs=1, **boosted), bike()),
        "LightGBM": (lightgbm.LGBMRegressor(verbose=-1, n_jobs=1, **boosted), bike()),
        "random forest": (RandomForestRegressor(50, **seed), bike()),
        "network (refits only)": (MLPRegressor(hidden_layer_sizes=(16,), max_iter=300, alpha=1.0, **seed), bike()),
    }
    yield "| model | how | correlation, strongest rows | random rows | shown, strongest | refitted | any row (jolt) |"
    yield "|---|---|---|---|---|---|---|"
    rng = np.random.default_rng(0)
    for name, (model, (X, y)) in models.items():
        model.fit(X, y)
        if name.startswith("network"):
            random = rng.choice(len(X), TRIED, replace=False)
            jolt = np.abs(refits(model, X, (y - y.mean()) / y.std(), random)).mean() * y.std()
            yield f"| {name} | refits | - | - | - | - | {jolt:.3g} |"
            continue
        found = pellucid.Explainer(model, X, y, checks=False).influence(range(ROWS))
        strong = found.ranking(TRIED)
        random = rng.choice(np.setdiff1d(np.arange(len(X)), strong), TRIED, replace=False)
        both = [refits(model, X, y, rows) for rows in (strong, random)]
        agree = [
            np.corrcoef(found.values[rows].ravel(), real.ravel())[0, 1]
            for rows, real in zip((strong, random), both, strict=True)
        ]
        sizes = [np.abs(part).mean() for part in (found.values[strong], *both)]
        numbers = " | ".join(f"{x:.3f}" for x in agree) + " | " + " | ".join(f"{x:.3g}" for x in sizes)
        yield f"| {name} | {found.how} | {numbers} |"


def labelled() -> dict[str, Table]:
    from sklearn.datasets import load_digits

    compas, spam = read("compas.csv"), read("youtube_spam.csv")
    target = "two_year_recid"
    leaks = [target, "is_recid", "decile_score", "score_text"]
    words = CountVectorizer(min_df=5, binary=True).fit_transform(spam["content"].fillna("")).toarray().astype(float)
    return {
        "adult": adult(3000),
        "compas": (coded(compas.drop(columns=leaks)), pd.factorize(compas[target])[0]),
        "digits": load_digits(return_X_y=True),
        "spam": (words, spam["spam"].to_numpy()),
    }


def labels() -> Iterator[str]:
    """5% wrong labels: the share in the first tenth of each list, the mean of several draws of wrong labels."""
    yield "| data | rows | triage | promised | loss of the model | out-of-fold loss | influence | CatBoost | triage less the best of these |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, (X, y) in labelled().items():
        shares = np.array([_found(X, y, seed) for seed in SEEDS])
        means = shares.mean(axis=0)
        best = 2 + int(np.argmax(means[2:]))
        less = shares[:, 0] - shares[:, best]
        error = less.std(ddof=1) / np.sqrt(len(SEEDS))
        numbers = " | ".join(f"{share:.1%}" for share in means)
        yield f"| {name} | {len(y):,} | {numbers} | {100 * less.mean():+.1f} ± {100 * error:.1f} points |"


def _found(X: np.ndarray, y: np.ndarray, seed: int) -> list[float]:
    """Shares of one draw of wrong labels: of triage, as promised, and of four other lists."""
    rng = np.random.default_rng(seed)
    classes = len(np.unique(y))
    wrong = rng.choice(len(y), round(0.05 * len(y)), replace=False)
    given = y.copy()
    given[wrong] = (given[wrong] + rng.integers(1, classes, len(wrong))) % classes
    model = HistGradientBoostingClassifier(max_iter=50, max_leaf_nodes=8, early_stopping=False, random_state=0)
    model.fit(X, given)
    found = pellucid.Explainer(model, X, given, checks=False, random_state=seed).triage()
    own = -np.log(np.maximum(model.predict_proba(X)[np.arange(len(y)), given], 1e-15))
    lists = (found.values, own, found.loss, found.influence, catboost_scores(X, given))
    first = max(len(y) // 10, 1)
    shares = [float(np.isin(wrong, np.argsort(-each, kind="stable")[:first]).mean()) for each in lists]
    return [shares[0], found.found, *shares[1:]]


def catboost_scores(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Object importance of CatBoost for its own training loss on some rows; larger is worse."""
    from catboost import CatBoostClassifier, Pool

    several = len(np.unique(y)) > 2
    if several:  # object importance knows two classes: the parity of the class
        y = y % 2
    options: dict[str, Any] = {"leaf_estimation_method": "Gradient", "leaf_estimation_iterations": 1}
    model = CatBoostClassifier(
        iterations=60,
        depth=4,
        verbose=0,
        random_seed=0,
        thread_count=1,
        boosting_type="Plain",
        allow_writing_files=False,
        **options,
    ).fit(X, y)
    some = np.arange(0, len(y), max(len(y) // 400, 1))
    places, scores = model.get_object_importance(Pool(X[some], y[some]), Pool(X, y), thread_count=1)
    out = np.zeros(len(y))
    out[np.asarray(places)] = scores
    return out


def cost() -> Iterator[str]:
    """CPU seconds for all 30,000 adult rows and 100 predictions, checks included."""
    X, y = adult(30_000)
    models = {
        "logistic regression (goal 2 s)": LogisticRegression(max_iter=200),
        "boosted, 200 x 31 leaves (goal 15 s)": HistGradientBoostingClassifier(
            max_iter=200, max_leaf_nodes=31, early_stopping=False
        ),
    }
    yield "| 30,000 rows, 100 predictions | CPU seconds |"
    yield "|---|---|"
    for name, model in models.items():
        ex = pellucid.Explainer(model.fit(X, y), X, y)
        start = time.process_time()
        ex.influence(range(100))
        yield f"| {name} | {time.process_time() - start:.1f} |"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for part in sys.argv[1:] or ("truth", "labels", "cost"):
        for line in {"truth": truth, "labels": labels, "cost": cost}[part]():
            print(line, flush=True)
        print()
