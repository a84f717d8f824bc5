"""Models of trees on small tables, with what their own trees say about a coalition."""

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from xgboost import XGBClassifier, XGBRegressor

N = 60


def table(n=N, *, missing=False):
    """A number, a correlated number, a category, a boolean and a count."""
    rng = np.random.default_rng(3)
    temp = rng.normal(15, 8, n).round(1)
    frame = pd.DataFrame(
        {
            "temp": temp,
            "hum": (60 - temp + rng.normal(0, 5, n)).round(2),
            "season": pd.Categorical(rng.choice(["winter", "summer", "fall"], n)),
            "work": rng.random(n) < 0.6,
            "day": rng.integers(0, 20, n),
        }
    )
    if missing:
        frame.loc[::7, "hum"] = np.nan
        frame.loc[::11, "season"] = np.nan
    return frame


def outcome(frame):
    season = frame["season"].astype(object).map({"winter": 0.0, "summer": 9.0}).fillna(4.0).astype(float)
    return frame["temp"] + season * (1 + frame["work"]) + 0.1 * frame["day"] - 0.2 * frame["hum"].fillna(20.0)


def three_classes(frame):
    return np.array(["low", "mid", "high"])[np.digitize(outcome(frame), [8, 20])]


def two_classes(frame):
    return np.where(outcome(frame) > 14, "yes", "no")


def one_hot(model):
    encoder = make_column_transformer((OneHotEncoder(), ["season"]), remainder="passthrough")
    return make_pipeline(encoder, model)


def coded(frame):
    return frame.assign(season=frame["season"].cat.codes.astype(float))


SMALL = {"n_estimators": 8, "max_depth": 3, "random_state": 0}
HIST = {"max_iter": 8, "min_samples_leaf": 4, "categorical_features": "from_dtype"}
LIGHT = {"n_estimators": 8, "min_child_samples": 4, "verbose": -1}

# Name: (model, what it learns, whether the table has missing values and holds codes instead of categories)
MODELS = {
    "forest": (lambda: RandomForestRegressor(**SMALL), outcome, False, True),
    "forest of classes": (lambda: RandomForestClassifier(**SMALL), two_classes, False, True),
    "forest of three classes": (lambda: RandomForestClassifier(**SMALL), three_classes, False, True),
    "boosted": (lambda: GradientBoostingClassifier(**SMALL), two_classes, False, True),
    "hist": (lambda: HistGradientBoostingRegressor(**HIST), outcome, True, False),
    "hist of classes": (lambda: HistGradientBoostingClassifier(**HIST), two_classes, True, False),
    "hist of three classes": (lambda: HistGradientBoostingClassifier(**HIST), three_classes, True, False),
    "hist of counts": (
        lambda: HistGradientBoostingRegressor(loss="poisson", **HIST),
        lambda frame: np.maximum(outcome(frame), 0.0),
        True,
        False,
    ),
    "xgboost": (lambda: XGBRegressor(enable_categorical=True, **SMALL), outcome, True, False),
    "xgboost of classes": (
        lambda: XGBClassifier(enable_categorical=True, **SMALL),
        lambda frame: (two_classes(frame) == "yes").astype(int),
        True,
        False,
    ),
    "lightgbm": (lambda: LGBMRegressor(**LIGHT), outcome, True, False),
    "lightgbm of three classes": (lambda: LGBMClassifier(**LIGHT), three_classes, True, False),
    "one-hot pipeline": (lambda: one_hot(RandomForestRegressor(**SMALL)), outcome, False, False),
    "one-hot pipeline of classes": (
        lambda: one_hot(HistGradientBoostingClassifier(max_iter=8, min_samples_leaf=4)),
        two_classes,
        False,
        False,
    ),
}


def scene(name):
    """A fitted model, its table and its outcome."""
    make, learns, missing, codes = MODELS[name]
    frame = table(missing=missing)
    frame = coded(frame) if codes else frame
    y = learns(frame if not codes else table(missing=missing))
    return make().fit(frame, y), frame, y
