"""Influence: what it costs, against really fitting again, and wrong labels found by triage: three sections of EXAMPLES.md.

PELLUCID_DATA=folder python benchmarks/influence.py [cost] [truth] [labels] [--write]
PELLUCID_DATA=folder python benchmarks/influence.py labels --data spam --draws 10
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import page

os.environ.update(page.ONE_THREAD)

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge
from sklearn.tree import DecisionTreeRegressor

import pellucid

Table = tuple[np.ndarray, np.ndarray]
Fit = Callable[[np.ndarray, np.ndarray], Any]
ROWS = 20  # explained
FIRST_SEED, DRAWS = 21, 5  # of wrong labels; none was looked at while the list was made
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


def refits(fit: Fit, X: np.ndarray, y: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """With minus without, for the predictions of the first rows, by fitting again."""
    full = answers(fit(X, y), X[:ROWS])
    return np.array([full - answers(fit(np.delete(X, i, 0), np.delete(y, i)), X[:ROWS]) for i in rows])


def answers(model: Any, X: np.ndarray) -> np.ndarray:
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)[:, 1]
    if hasattr(model, "predict"):
        return model.predict(X)
    import torch

    return model(torch.tensor(X)).detach().numpy()[:, 0]


def network(X: np.ndarray, y: np.ndarray) -> Any:
    """A network of 8 hidden units with weight decay, by quasi-Newton steps from a fixed start."""
    import torch

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(X.shape[1], 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).double()
    x, target = torch.tensor(X), torch.tensor(np.asarray(y, dtype=float))[:, None]
    steps = torch.optim.LBFGS(model.parameters(), max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> Any:
        steps.zero_grad()
        squares = sum((part**2).sum() for part in model.parameters())
        value = torch.nn.functional.mse_loss(model(x), target) + 0.01 * squares
        value.backward()
        return value

    steps.step(loss)
    return model.eval()


def classes() -> dict[str, tuple[Fit, Table]]:
    """A way to fit a model of every class, and a table for it."""
    import lightgbm
    import xgboost

    seed, boosted = {"random_state": 0}, {"n_estimators": 100, "random_state": 0}
    X, y = bike()
    models = {
        "least squares": LinearRegression(),
        "ridge": Ridge(10.0),
        "Poisson regression": PoissonRegressor(alpha=0.01, tol=1e-8, max_iter=5000),
        "decision tree, 5 levels": DecisionTreeRegressor(max_depth=5, random_state=0),
        "random forest": RandomForestRegressor(50, **seed),
        "extra trees": ExtraTreesRegressor(50, **seed),
        "histogram boosting": HistGradientBoostingRegressor(early_stopping=False, **seed),
        "gradient boosting": GradientBoostingRegressor(**boosted),
        "XGBoost": xgboost.XGBRegressor(max_depth=4, n_jobs=1, **boosted),
        "LightGBM": lightgbm.LGBMRegressor(verbose=-1, n_jobs=1, **boosted),
    }
    found: dict[str, tuple[Fit, Table]] = {name: (partial(again, model), (X, y)) for name, model in models.items()}
    logistic = LogisticRegression(tol=1e-8, max_iter=5000)
    found["logistic regression, credit"] = partial(again, logistic), credit()
    try:
        import torch  # noqa: F401
    except ImportError:
        return found
    return found | {"network of PyTorch, outcome in standard deviations": (network, (X, (y - y.mean()) / y.std()))}


def again(model: Any, X: np.ndarray, y: np.ndarray) -> Any:
    return clone(model).fit(X, y)


def truth() -> Iterator[list[str]]:
    """What is shown against refitting from scratch: correlation for the strongest rows and for random ones."""
    yield [
        "model",
        "how",
        "correlation, strongest rows",
        "random rows",
        "shown, strongest",
        "refitted",
        "any row (jolt)",
    ]
    rng = np.random.default_rng(0)
    for name, (fit, (X, y)) in classes().items():
        ex = pellucid.Explainer(fit(X, y), X, y, checks=False, progress=False)
        function = {"method": "function", "refit": fit} if fit is network else {}
        found = ex.influence(range(ROWS), **function)
        strong = found.ranking(TRIED)
        random = rng.choice(np.setdiff1d(np.arange(len(X)), strong), TRIED, replace=False)
        both = [refits(fit, X, y, rows) for rows in (strong, random)]
        agree = [
            np.corrcoef(found.values[rows].ravel(), real.ravel())[0, 1]
            for rows, real in zip((strong, random), both, strict=True)
        ]
        sizes = [np.abs(part).mean() for part in (found.values[strong], *both)]
        yield [name, found.how, *("-" if np.isnan(x) else f"{x:.3f}" for x in agree), *(f"{x:.3g}" for x in sizes)]


def labelled() -> dict[str, Table]:
    from sklearn.datasets import load_digits

    compas, spam = read("compas.csv"), read("youtube_spam.csv")
    target = "two_year_recid"
    leaks = [target, "is_recid", "decile_score", "score_text"]
    words = CountVectorizer(min_df=5, binary=True).fit_transform(spam["content"].fillna("")).toarray().astype(float)
    return {
        "adult": adult(3000),
        "compas": (coded(compas.drop(columns=leaks)), pd.factorize(compas[target])[0]),
        "spam": (words, spam["spam"].to_numpy()),
        "digits": load_digits(return_X_y=True),
    }


def labels(only: str | None = None, draws: int = DRAWS) -> Iterator[list[str]]:
    """5% wrong labels: the share in the first tenth of each list, the mean of several draws of wrong labels."""
    yield [
        "data",
        "rows",
        "triage",
        "promised",
        "loss of the model",
        "out-of-fold loss",
        "influence",
        "CatBoost",
        "triage less the best of these",
    ]
    for name, (X, y) in labelled().items():
        if only not in (None, name):
            continue
        shares = np.array([_found(X, y, FIRST_SEED + k) for k in range(draws)])
        means = shares.mean(axis=0)
        less = shares[:, 0] - shares[:, 2 + int(np.nanargmax(means[2:]))]
        error = less.std(ddof=1) / np.sqrt(draws)
        numbers = ["-" if np.isnan(share) else f"{share:.1%}" for share in means]
        yield [name, f"{len(y):,}", *numbers, f"{100 * less.mean():+.1f} ± {100 * error:.1f} points"]


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
    shares = [
        float(np.isin(wrong, np.argsort(-each, kind="stable")[:first]).mean()) if len(each) else float("nan")
        for each in lists
    ]
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


def cost() -> Iterator[list[str]]:
    """CPU seconds for all 30,000 adult rows and 100 predictions, with the checks and without."""
    X, y = adult(30_000)
    models = {
        "logistic regression, 91 columns": (LogisticRegression(max_iter=200), 2.0),
        "histogram boosting, 200 x 31 leaves": (
            HistGradientBoostingClassifier(max_iter=200, early_stopping=False, random_state=0),
            15.0,
        ),
    }
    yield ["30,000 rows on 100 predictions", "CPU s", "without checks", "goal"]
    for name, (model, most) in models.items():
        few = again(model, X[:500], y[:500])
        pellucid.Explainer(few, X[:500], y[:500], progress=False).influence([0])  # loads what has to be loaded
        model.fit(X, y)
        seconds = []
        for checks in (True, False):
            ex = pellucid.Explainer(model, X, y, checks=checks, progress=False)
            start = time.process_time()
            ex.influence(range(100))
            seconds.append(time.process_time() - start)
        yield [name, *(f"{each:.1f}" for each in seconds), f"{most:g} s: {'met' if seconds[0] <= most else 'missed'}"]


PARTS = {
    "cost": (
        cost,
        "What influence costs",
        "What all training rows do to 100 predictions, CPU seconds of one thread.",
        1,
    ),
    "truth": (
        truth,
        "Influence against really fitting again",
        f"{ROWS} predictions; the {TRIED} strongest rows and as many random ones are left out by really fitting again: how what"
        " was shown correlates with what happened (-: nothing was shown or happened), and the mean absolute change of a prediction.",
        2,
    ),
    "labels": (
        labels,
        "Wrong labels found",
        f"5% of the labels flipped; share of them in the first tenth of each list, the mean of {DRAWS} draws of wrong labels."
        " *Promised* is what triage says of itself. CatBoost's object importance knows two classes: that of digits is by the"
        " parity of the class.",
        1,
    ),
}


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=list(PARTS))
    parser.add_argument("--data", help="one of the data of labels alone; nothing is written")
    parser.add_argument("--draws", type=int, default=DRAWS, help="draws of wrong labels; others are not written")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    write = given.write and given.data is None and given.draws == DRAWS
    missed = False
    told = page.printed(__file__, "xgboost-cpu", "lightgbm", "catboost", "torch")
    for part in given.parts:
        make, title, said, words = PARTS[part]
        known: list[list[str]] = []
        for line in (
            make(given.data, given.draws) if part == "labels" else make()
        ):  # each is on the page as soon as it is known
            known.append(line)
            print(*line, sep=" | ", flush=True)
            missed |= line[-1].endswith("missed")
            if write and known[1:]:
                page.write_section("EXAMPLES.md", title, told, said, page.table(known[0], known[1:], words=words))
    sys.exit(missed)


if __name__ == "__main__":
    main()
