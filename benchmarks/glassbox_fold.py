"""One contestant of glassbox.py on one fold of a table: fits it, scores the rows left out, and prints both as JSON.

Nothing here needs pellucid but the contestants that are ours: peers run in an environment of their own. One thread; a
small fit comes first, so that nothing is loaded or compiled on the clock.

    python benchmarks/glassbox_fold.py "EBM, default" bike 0

A fourth argument is the seed of the split into folds, 0 by default.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.update(
    dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
)

import numpy as np
import pandas as pd
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold

DATA = Path(os.environ.get("PELLUCID_DATA", Path(__file__).parents[2] / "shared" / "data"))
FOLDS = 5
BIKE = ["season", "holiday", "workingday", "weathersit", "temp", "hum", "windspeed", "days_since_2011"]


def table(name: str) -> tuple[pd.DataFrame, np.ndarray, bool]:
    """Features, outcome, and whether it is a class."""
    if name == "bike":
        rows = pd.read_csv(DATA / "bike.csv")
        return rows[BIKE], rows["cnt"].to_numpy(float), False
    if name == "california":
        rows = pd.read_csv(DATA / "california_housing.csv")
        return rows.drop(columns="median_house_value"), rows["median_house_value"].to_numpy(float) / 1e5, False
    if name == "adult":
        rows = pd.read_csv(DATA / "adult.csv")
        return rows.drop(columns=["income", "fnlwgt", "education"]), (rows["income"] == ">50K").to_numpy(int), True
    if name == "credit":
        rows = pd.read_csv(DATA / "german_credit_full.csv")
        return rows.drop(columns="risk"), (rows["risk"] == "bad").to_numpy(int), True
    if name == "wine":
        rows = pd.read_csv(DATA / "wine_quality.csv")
        return rows.drop(columns="quality"), rows["quality"].to_numpy(float), False
    return weak_pairs()


def weak_pairs() -> tuple[pd.DataFrame, np.ndarray, bool]:
    """The hard case for a choice of pairs: ten numbers, and 45 weak products of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 10))
    strength = rng.normal(size=(10, 10))
    products = np.einsum("ni,ij,nj->n", X, np.triu(strength, 1), X)
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 / 2 + X[:, 2] + 0.15 * products + rng.normal(size=len(X))
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(10)]), y, False


def is_text(column: pd.Series) -> bool:
    return column.dtype.kind not in "iufb"


def codes(X: pd.DataFrame) -> np.ndarray:
    """Numbers with the median for what is missing, categories as whole numbers (missing is one)."""
    made = []
    for name in X:
        if is_text(X[name]):
            made.append(pd.Categorical(X[name].astype(object).where(X[name].notna(), "missing")).codes.astype(float))
        else:
            made.append(X[name].fillna(X[name].median()).to_numpy(float))
    return np.stack(made, axis=1)


class Pygam:
    """The grid search of pygam over one strength for all terms, as its introduction shows it."""

    def __init__(self, X: pd.DataFrame, classes: bool) -> None:
        from pygam import LinearGAM, LogisticGAM, f, s

        terms = [f(j) if is_text(X[name]) else s(j) for j, name in enumerate(X)]
        self.model = (LogisticGAM if classes else LinearGAM)(sum(terms[1:], terms[0]))

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        self.model.gridsearch(X, y, progress=False)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.model.predict(X)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return self.model.predict_proba(X)


def contestant(name: str, X: pd.DataFrame, classes: bool) -> Any:
    if name.startswith("pellucid"):
        from pellucid.glassbox import AdditiveModel

        return AdditiveModel(family="binomial" if classes else "gaussian", pairs="auto" if "pairs" in name else 0)
    if name.startswith("EBM"):
        from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

        options = {"interactions": 0} if "mains" in name else {}
        kind = ExplainableBoostingClassifier if classes else ExplainableBoostingRegressor
        return kind(n_jobs=1, random_state=0, **options)
    if name.startswith("pygam"):
        return Pygam(X, classes)
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    return kind(random_state=0, categorical_features=[is_text(X[c]) for c in X])


def cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def measured(name: str, on: str, fold: int, seed: int = 0) -> dict[str, Any]:
    X, y, classes = table(on)
    rows = codes(X) if name.startswith(("pygam", "HistGradient")) else X
    folds = (StratifiedKFold if classes else KFold)(FOLDS, shuffle=True, random_state=seed)
    train, test = list(folds.split(X, y))[fold]
    take = (lambda at: rows[at]) if isinstance(rows, np.ndarray) else (lambda at: rows.iloc[at].reset_index(drop=True))
    small = np.concatenate([np.flatnonzero(y[train] == v)[:60] for v in (0, 1)]) if classes else np.arange(120)
    if not name.startswith("pygam"):
        contestant(name, X, classes).fit(take(train[small]), y[train[small]])
    model = contestant(name, X, classes)
    start = cpu()
    model.fit(take(train), y[train])
    seconds = cpu() - start
    if not classes:
        return {"score": r2_score(y[test], model.predict(take(test))), "seconds": seconds}
    p = np.asarray(model.predict_proba(take(test)))
    return {"score": roc_auc_score(y[test], p[:, 1] if p.ndim == 2 else p), "seconds": seconds}


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    name, on, fold, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int((*sys.argv, "0")[4])
    package = {"EBM": "interpret-core", "pyg": "pygam", "His": "scikit-learn", "pel": "pellucid"}[name[:3]]
    print(json.dumps({**measured(name, on, fold, seed), "package": f"{package} {version(package)}"}))
