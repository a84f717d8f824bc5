"""A predictor can be sent to another process whenever its model can."""

from __future__ import annotations

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from pellucid.data import Data
from pellucid.models import Predictor


@pytest.fixture(scope="module")
def X(mixed):
    return mixed[["temp", "day", "open"]].fillna(0.0)


def _xgboost(X, verdict):
    xgboost = pytest.importorskip("xgboost", reason="xgboost is optional")
    return xgboost.train({"nthread": 1}, xgboost.DMatrix(X, verdict == "yes"), 3)


def _lightgbm(X, verdict):
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is optional")
    return lightgbm.LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1).fit(X, verdict)


def _catboost(X, verdict):
    catboost = pytest.importorskip("catboost", reason="catboost is optional")
    settings = {"iterations": 3, "verbose": False, "allow_writing_files": False, "thread_count": 1}
    return catboost.CatBoostClassifier(**settings).fit(X, verdict)


def _torch(X, verdict):
    torch = pytest.importorskip("torch", reason="torch is optional")
    return torch.nn.Linear(3, 2)


def _onnx(X, verdict):
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx makes the graph")
    matrix = X.to_numpy(dtype=np.float32)
    return skl2onnx.to_onnx(DecisionTreeClassifier(max_depth=3).fit(matrix, verdict), matrix[:1])


def _sum(table):
    return table.sum(axis=1)


MAKERS = {
    "sklearn": lambda X, y: make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y),
    "bound method": lambda X, y: LinearRegression().fit(X, y == "yes").predict,
    "labels": lambda X, y: LogisticRegression().fit(X, y).predict,
    "function": lambda X, y: _sum,
    "xgboost": _xgboost,
    "lightgbm": _lightgbm,
    "catboost": _catboost,
    "torch": _torch,
    "onnx": _onnx,
}


@pytest.mark.parametrize("which", MAKERS)
def test_predictors_travel_to_other_processes(X, verdict, which):
    predictor = Predictor(MAKERS[which](X, verdict), X)
    table = Data.of(X, container=predictor.container).frame.native
    (there,) = Parallel(n_jobs=2, backend="loky")([delayed(predictor)(table, len(X))])
    np.testing.assert_array_equal(there, predictor(table, len(X)))
