"""XGBoost estimators and native Boosters with categories and missing values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from models.asking import assert_faithful, predictions, second
from pellucid.errors import InputError
from pellucid.models import Predictor
from versions import needs

xgboost = pytest.importorskip("xgboost", reason="xgboost is optional")

SMALL = {"n_estimators": 6, "max_depth": 3, "enable_categorical": True, "n_jobs": 1}


@pytest.fixture(scope="module")
def X(mixed):
    return mixed.drop(columns="town")


def codes(values: np.ndarray) -> np.ndarray:
    return np.unique(values, return_inverse=True)[1]


def train(X: pd.DataFrame, y: np.ndarray, objective: str, **params):
    matrix = xgboost.DMatrix(X, y, enable_categorical=True)
    return xgboost.train({"objective": objective, "max_depth": 3, "nthread": 1, **params}, matrix, 6)


def own(booster):
    """The Booster's own prediction of a table."""
    return lambda X: booster.predict(xgboost.DMatrix(X, enable_categorical=True))


def test_regressor(X, amount):
    model = xgboost.XGBRegressor(**SMALL).fit(X, amount)
    predictor = Predictor(model, X)
    assert (predictor.library, predictor.name, predictor.task) == ("xgboost", "XGBRegressor", "regression")
    assert_faithful(predictor, X, model.predict)


def test_binary_classifier(X, verdict):
    model = xgboost.XGBClassifier(**SMALL).fit(X, codes(verdict))
    predictor = Predictor(model, X)
    assert (predictor.output_names, predictor.scale) == (("1",), "probability")
    assert_faithful(predictor, X, lambda X: second(model.predict_proba(X)))


def test_multiclass_classifier(X, level):
    model = xgboost.XGBClassifier(**SMALL).fit(X, codes(level))
    predictor = Predictor(model, X)
    assert predictor.output_names == ("0", "1", "2")
    assert_faithful(predictor, X, model.predict_proba)


def test_multi_output_regressor(X, amount):
    model = xgboost.XGBRegressor(**SMALL).fit(X, np.column_stack([amount, -amount]))
    assert_faithful(Predictor(model, X), X, model.predict)


def test_booster_regression(X, amount):
    booster = train(X, amount, "reg:squarederror")
    predictor = Predictor(booster, X)
    assert (predictor.name, predictor.scale) == ("Booster", "response")
    assert_faithful(predictor, X, own(booster))


def test_booster_binary_names_both_classes(X, verdict):
    booster = train(X, codes(verdict), "binary:logistic")
    predictor = Predictor(booster, X)
    assert (predictor.classes, predictor.output_names) == ((0, 1), ("1",))
    assert_faithful(predictor, X, own(booster))
    other = Predictor(booster, X, output=0)
    np.testing.assert_array_equal(predictions(other, X)[:, 0], 1 - own(booster)(X).astype(float))


@pytest.mark.parametrize("objective", ["multi:softprob", "multi:softmax"])
def test_booster_multiclass_is_explained_by_probabilities(X, level, objective):
    """multi:softmax predicts labels; its trees give the probabilities of multi:softprob."""
    booster = train(X, codes(level), objective, num_class=3)
    twin = train(X, codes(level), "multi:softprob", num_class=3)
    labels = own(booster)(X)
    predictor = Predictor(booster, X)
    assert predictor.output_names == ("0", "1", "2")
    assert_faithful(predictor, X, own(twin))
    np.testing.assert_array_equal(own(booster)(X), labels)  # the user's own Booster still gives labels


def test_booster_log_odds_and_ranks_are_called_what_they_are(X, verdict):
    raw = Predictor(train(X, codes(verdict), "binary:logitraw"), X)
    assert (raw.scale, raw.output_names) == ("log-odds", ("1",))
    rank = Predictor(train(X, codes(verdict), "rank:pairwise"), X)
    assert (rank.scale, rank.task) == ("score", "scores")


def test_booster_from_a_file(X, amount, tmp_path):
    train(X, amount, "reg:squarederror").save_model(tmp_path / "model.json")
    booster = xgboost.Booster(model_file=tmp_path / "model.json")
    assert_faithful(Predictor(booster, X), X, own(booster))


def test_order_and_extra_columns(X, amount):
    booster = train(X, amount, "reg:squarederror")
    other = X[["sky", "day", "temp", "open"]].assign(extra=1.0)
    assert_faithful(Predictor(booster, other), other, lambda table: own(booster)(table[list(X.columns)]))


@needs("xgboost", "3.1")
@pytest.mark.parametrize("native", [False, True], ids=["estimator", "booster"])
def test_text_where_the_model_knows_categories(X, amount, native):
    """As read from a CSV file: the column is text, and reaches the model as its category."""
    pytest.importorskip("pyarrow", reason="XGBoost hands out its categories through pyarrow")
    model = xgboost.XGBRegressor(**SMALL).fit(X, amount)
    read = X.assign(sky=X["sky"].astype(str))
    predictor = Predictor(model.get_booster() if native else model, read)
    np.testing.assert_array_equal(predictions(predictor, read)[:, 0], model.predict(X))


@needs("xgboost", "3.1")
@pytest.mark.parametrize("native", [False, True], ids=["estimator", "booster"])
def test_matrices_of_codes_and_of_text(X, amount, native):
    pytest.importorskip("pyarrow", reason="XGBoost hands out its categories through pyarrow")
    model = xgboost.XGBRegressor(**SMALL).fit(X, amount)
    asked = model.get_booster() if native else model
    numbers = X.assign(sky=X["sky"].cat.codes).to_numpy(dtype=float)
    np.testing.assert_array_equal(predictions(Predictor(asked, numbers), numbers)[:, 0], model.predict(X))
    objects = X.to_numpy()
    np.testing.assert_array_equal(predictions(Predictor(asked, objects), objects)[:, 0], model.predict(X))


def test_trained_on_numpy_asked_with_pandas(X, amount):
    numbers = X[["temp", "day"]]
    model = xgboost.XGBRegressor(n_estimators=5, n_jobs=1).fit(numbers.to_numpy(), amount)
    assert_faithful(Predictor(model, numbers), numbers, model.predict)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_other_frames(X, amount, library):
    module = pytest.importorskip(library, reason=f"{library} is optional")
    model = xgboost.XGBRegressor(**SMALL).fit(X, amount)
    table = module.from_pandas(X) if library == "polars" else module.Table.from_pandas(X)
    np.testing.assert_array_equal(predictions(Predictor(model, table), table)[:, 0], model.predict(X))


@pytest.mark.parametrize("model", [xgboost.XGBClassifier(), xgboost.Booster()], ids=["estimator", "booster"])
def test_unfitted(X, model):
    with pytest.raises(InputError, match="is not fitted; call fit"):
        Predictor(model, X)


def test_a_matrix_is_no_model(X):
    with pytest.raises(InputError, match="DMatrix of xgboost"):
        Predictor(xgboost.DMatrix(X[["day"]]), X)
