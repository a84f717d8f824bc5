"""Small tables and fitted models of every kind that is read, and the answer by trying every allowed row."""

import itertools

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, SplineTransformer, StandardScaler

from pellucid.methods.counterfactual.search.problem import make_problem
from pellucid.runner import Run


def table(seed=0, n=200):
    """Whole numbers, one decimal, levels, and numbers with gaps."""
    rng = np.random.default_rng(seed)
    found = pd.DataFrame(
        {
            "a": rng.integers(0, 7, n),
            "b": np.round(rng.uniform(0, 1, n), 1),
            "c": pd.Categorical(rng.choice(["u", "v", "w", "x"], n)),
            "d": np.round(rng.normal(size=n)).astype(float),
        }
    )
    found.loc[rng.random(n) < 0.1, "d"] = np.nan
    score = found.a - 3 + 2 * (found.b > 0.5) + 1.5 * (found.c == "v") - np.nan_to_num(found.d) * (found.a > 2)
    return found, (score + rng.normal(size=n)).to_numpy(dtype=float)


def encoder(levels):
    return make_column_transformer(
        (levels, ["c"]),
        (StandardScaler(), ["a", "b"]),
        (make_pipeline(SimpleImputer(), FunctionTransformer(np.negative)), ["d"]),
    )


def xgboost_model(kind):
    import xgboost

    made = xgboost.XGBRegressor if kind == "number" else xgboost.XGBClassifier
    return made(n_estimators=12, max_depth=3, enable_categorical=True, n_jobs=1, random_state=0)


def lightgbm_model(_):
    import lightgbm

    return lightgbm.LGBMClassifier(n_estimators=12, num_leaves=6, min_child_samples=3, verbose=-1, n_jobs=1)


def catboost_model(_):
    import catboost

    return catboost.CatBoostClassifier(
        iterations=12, depth=3, verbose=0, allow_writing_files=False, thread_count=1, cat_features=[]
    )


SIZE = {"n_estimators": 12, "random_state": 0, "n_jobs": 1}
MODELS = {
    "xgboost, two classes": ("classes", xgboost_model),
    "xgboost, three classes": ("three", xgboost_model),
    "xgboost, a number": ("number", xgboost_model),
    "lightgbm, three classes": ("three", lightgbm_model),
    "catboost, numbers only": ("classes", catboost_model),
    "histograms, two classes": (
        "classes",
        lambda _: HistGradientBoostingClassifier(max_iter=12, max_depth=3, categorical_features="from_dtype"),
    ),
    "histograms, log link": (
        "positive",
        lambda _: HistGradientBoostingRegressor(
            max_iter=12, max_depth=3, loss="poisson", categorical_features="from_dtype"
        ),
    ),
    "forest behind one-hot codes": (
        "classes",
        lambda _: make_pipeline(encoder(OneHotEncoder()), RandomForestClassifier(**SIZE)),
    ),
    "forest behind ordinal codes": (
        "three",
        lambda _: make_pipeline(encoder(OrdinalEncoder()), RandomForestClassifier(**SIZE)),
    ),
    "extra trees": (
        "number",
        lambda _: make_pipeline(encoder(OneHotEncoder()), ExtraTreesRegressor(min_samples_leaf=4, **SIZE)),
    ),
}
SUMS = {
    "logistic regression": ("classes", lambda: LogisticRegression(max_iter=1000)),
    "three classes": ("three", lambda: LogisticRegression(max_iter=1000)),
    "linear regression": ("number", LinearRegression),
    "log link": ("positive", lambda: PoissonRegressor(alpha=0.01)),
    "splines": ("number", lambda: make_pipeline(SplineTransformer(n_knots=4), Ridge())),
}
TARGETS = {
    "classes": [None, 0, 1, (0.3, 0.6), ">= 0.7"],
    "three": [None, 0, 2, "not 1"],
    "number": [(0.2, 0.9), ">= 1", "<= -0.5", 2.0],
    "positive": [(0.9, 1.2), ">= 1.5", "<= 0.6"],
}


def fitted(name, seed=0):
    """The table, the model, and targets for it."""
    kind, make = MODELS[name]
    X, score = table(seed)
    X = X.drop(columns="c") if "numbers only" in name else X
    outcome = {
        "classes": (score > 0).astype(int),
        "three": np.digitize(score, [-1.0, 1.5]),
        "number": score,
        "positive": np.exp(score / 3),
    }
    return X, make(kind).fit(X, outcome[kind]), TARGETS[kind]


def fitted_sum(name, seed=0):
    """The same for models that are sums over their features."""
    kind, make = SUMS[name]
    X, score = table(seed)
    outcome = {
        "classes": (score > 0).astype(int),
        "three": np.digitize(score, [-1.0, 1.5]),
        "number": score,
        "positive": np.exp(score / 3),
    }
    levels = OrdinalEncoder() if name == "splines" else OneHotEncoder()
    return X, make_pipeline(encoder(levels), make()).fit(X, outcome[kind]), TARGETS[kind]


def said(rng):
    """Constraints as a user might say them."""
    some = {
        "max_changes": int(rng.integers(1, 3)),
        "fixed": ("a",),
        "monotone": {"a": "up"},
        "ranges": {"b": (0.2, 0.8)},
        "relations": [str(rng.choice(["a <= 3*b + 2", "if a >= 4 then b >= 0.5", "a + d <= 4"]))],
        "distance": "changes",
    }
    return {name: value for name, value in some.items() if rng.random() < 0.3}


def problem_of(ex, x, target, run=None, **more):
    row = ex.data.rows(x) if isinstance(x, int) else ex.data.of_codes(x[None])
    return make_problem(ex.predictor, ex.data, row, target, Run() if run is None else run, **more)


def every_answer(problem):
    """All allowed rows that reach the target, with their costs."""
    rows = np.array(list(itertools.product(*[choices.values for choices in problem.choices])))
    rows = rows[problem.allowed(rows)]
    rows = rows[problem.valid(rows)]
    return rows, problem.cost.total(rows)
