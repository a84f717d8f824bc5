"""The simulated rows and the fitted models of trees.py."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

_FEATURES = 30


@cache
def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, _FEATURES)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + 0.3 * X[:, 3:10].sum(axis=1)
    return X, y + 0.3 * rng.normal(size=len(X))


@cache
def xgboost_model() -> Any:
    import xgboost

    model = xgboost.XGBRegressor(n_estimators=500, max_depth=6, n_jobs=1, tree_method="hist")
    return model.fit(*table())


@cache
def lightgbm_model() -> Any:
    import lightgbm

    return lightgbm.LGBMRegressor(n_estimators=500, num_leaves=31, n_jobs=1, verbose=-1).fit(*table())


@cache
def forest() -> Any:
    X, y = table()
    return RandomForestRegressor(100, random_state=0).fit(X[:5000, :20], y[:5000])


@cache
def boosting() -> Any:
    X, y = table()
    return HistGradientBoostingRegressor(max_iter=300, early_stopping=False).fit(X[:10_000], y[:10_000])
