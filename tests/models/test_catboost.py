"""CatBoost with text categories and missing numbers."""

from __future__ import annotations

import numpy as np
import pytest

from models.asking import assert_faithful, predictions, second
from pellucid.errors import InputError
from pellucid.models import Predictor

catboost = pytest.importorskip("catboost", reason="catboost is optional")

SMALL = {"iterations": 6, "depth": 3, "verbose": False, "allow_writing_files": False, "thread_count": 1}
CATEGORIES = ["sky", "town"]


def test_regressor(mixed, amount):
    model = catboost.CatBoostRegressor(cat_features=CATEGORIES, **SMALL).fit(mixed, amount)
    predictor = Predictor(model, mixed)
    assert (predictor.library, predictor.name) == ("catboost", "CatBoostRegressor")
    assert_faithful(predictor, mixed, model.predict)


def test_binary_classifier(mixed, verdict):
    model = catboost.CatBoostClassifier(cat_features=CATEGORIES, **SMALL).fit(mixed, verdict)
    predictor = Predictor(model, mixed)
    assert (predictor.output_names, predictor.scale) == (("yes",), "probability")
    assert_faithful(predictor, mixed, lambda X: second(model.predict_proba(X)))


def test_multiclass_classifier(mixed, level):
    model = catboost.CatBoostClassifier(cat_features=CATEGORIES, **SMALL).fit(mixed, level)
    assert Predictor(model, mixed).output_names == ("low", "mid", "top")
    assert_faithful(Predictor(model, mixed), mixed, model.predict_proba)


@pytest.mark.parametrize("loss", ["RMSE", "Logloss", "MultiClass"])
def test_plain_catboost_knows_its_loss(mixed, amount, verdict, level, loss):
    y = {"RMSE": amount, "Logloss": verdict, "MultiClass": level}[loss]
    pool = catboost.Pool(mixed, y, cat_features=CATEGORIES)
    model = catboost.CatBoost({"loss_function": loss, **SMALL}).fit(pool)
    predictor = Predictor(model, mixed)
    if loss == "RMSE":
        assert_faithful(predictor, mixed, model.predict)
        return
    assert predictor.classes == tuple(np.unique(y))
    kept = slice(1, None) if loss == "Logloss" else slice(None)
    assert_faithful(predictor, mixed, lambda X: model.predict(X, prediction_type="Probability")[:, kept])


def test_several_targets(mixed, amount):
    X = mixed[["temp", "day"]]
    both = np.column_stack([amount, -amount])
    high = (both > np.median(both, axis=0)).astype(int)
    model = catboost.CatBoostRegressor(loss_function="MultiRMSE", **SMALL).fit(X, both)
    assert_faithful(Predictor(model, X), X, model.predict)
    labels = catboost.CatBoostClassifier(loss_function="MultiLogloss", **SMALL).fit(X, high)
    predictor = Predictor(labels, X)
    assert predictor.output_names == ("label 0", "label 1")
    assert_faithful(predictor, X, labels.predict_proba)


def test_mean_and_variance(mixed, amount):
    X = mixed[["temp", "day"]]
    model = catboost.CatBoostRegressor(loss_function="RMSEWithUncertainty", **SMALL).fit(X, amount)
    predictor = Predictor(model, X)
    assert predictor.output_names == ("mean", "variance")
    assert_faithful(predictor, X, model.predict)


def test_boolean_labels(mixed, amount):
    X = mixed[["temp", "day"]]
    model = catboost.CatBoostClassifier(**SMALL).fit(X, amount > 5)
    assert Predictor(model, X).classes == (False, True)
    hard = Predictor(model.predict, X)  # its predict gives the labels as text
    np.testing.assert_array_equal(predictions(hard, X)[:, 0], second(model.predict_proba(X)) > 0.5)


def test_order_extra_columns_and_matrices(mixed, amount):
    model = catboost.CatBoostRegressor(cat_features=CATEGORIES, **SMALL).fit(mixed, amount)
    other = mixed[["town", "sky", "open", "day", "temp"]].assign(extra=0)
    assert_faithful(Predictor(model, other), other, lambda X: model.predict(X[list(mixed.columns)]))
    matrix = mixed.to_numpy()
    np.testing.assert_array_equal(predictions(Predictor(model, matrix), matrix)[:, 0], model.predict(mixed))


def test_trained_on_numpy_asked_with_pandas(mixed, amount):
    X = mixed[["temp", "day"]]
    model = catboost.CatBoostRegressor(**SMALL).fit(X.to_numpy(), amount)
    assert_faithful(Predictor(model, X), X, lambda table: model.predict(table.to_numpy()))


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_other_frames(mixed, amount, library):
    module = pytest.importorskip(library, reason=f"{library} is optional")
    model = catboost.CatBoostRegressor(cat_features=CATEGORIES, **SMALL).fit(mixed, amount)
    table = module.from_pandas(mixed) if library == "polars" else module.Table.from_pandas(mixed)
    np.testing.assert_array_equal(predictions(Predictor(model, table), table)[:, 0], model.predict(mixed))


def test_unfitted_and_no_model(mixed, amount):
    with pytest.raises(InputError, match="CatBoostRegressor is not fitted; call fit"):
        Predictor(catboost.CatBoostRegressor(), mixed)
    with pytest.raises(InputError, match="Pool of catboost"):
        Predictor(catboost.Pool(mixed[["temp", "day"]], amount), mixed)
