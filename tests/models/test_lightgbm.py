"""LightGBM estimators and native Boosters with pandas categories and missing values."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from models.asking import assert_faithful, predictions, second
from pellucid.errors import InputError
from pellucid.models import Predictor
from versions import needs

lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is optional")

# Small leaves, so that a small table gives real trees with categorical splits.
TREES = {"min_child_samples": 3, "min_data_per_group": 2, "cat_smooth": 1.0, "verbose": -1}
SMALL = {"n_estimators": 6, "num_leaves": 8, "n_jobs": 1, **TREES}


@pytest.fixture(scope="module")
def X(mixed):
    return mixed.drop(columns="town")


def train(X: pd.DataFrame, y: np.ndarray, objective: str, **params):
    settings = {"objective": objective, "num_leaves": 8, "num_threads": 1, **TREES, **params}
    return lightgbm.train(settings, lightgbm.Dataset(X, y), 6)


def codes(values: np.ndarray) -> np.ndarray:
    return np.unique(values, return_inverse=True)[1]


def test_regressor(X, amount):
    model = lightgbm.LGBMRegressor(**SMALL).fit(X, amount)
    assert "cat_threshold" in model.booster_.model_to_string()  # the trees do split on the category
    predictor = Predictor(model, X)
    assert (predictor.library, predictor.name) == ("lightgbm", "LGBMRegressor")
    assert_faithful(predictor, X, model.predict)


def test_binary_classifier_with_text_labels(X, verdict):
    model = lightgbm.LGBMClassifier(**SMALL).fit(X, verdict)
    predictor = Predictor(model, X)
    assert (predictor.output_names, predictor.scale) == (("yes",), "probability")
    assert_faithful(predictor, X, lambda X: second(model.predict_proba(X)))


def test_multiclass_classifier(X, level):
    model = lightgbm.LGBMClassifier(**SMALL).fit(X, level)
    assert Predictor(model, X).output_names == ("low", "mid", "top")
    assert_faithful(Predictor(model, X), X, model.predict_proba)


@pytest.mark.parametrize(
    ("objective", "names", "scale"),
    [
        ("regression", ("prediction",), "response"),
        ("binary", ("1",), "probability"),
        ("cross_entropy", ("prediction",), "probability"),
        ("lambdarank", ("prediction",), "score"),
    ],
)
def test_boosters_of_one_output(X, amount, verdict, objective, names, scale):
    y = amount if objective == "regression" else codes(verdict)
    if objective == "lambdarank":
        dataset = lightgbm.Dataset(X, y, group=[50, 50, 50])
        booster = lightgbm.train({"objective": objective, "num_threads": 1, **TREES}, dataset, 4)
    else:
        booster = train(X, y, objective)
    predictor = Predictor(booster, X)
    assert (predictor.output_names, predictor.scale) == (names, scale)
    assert_faithful(predictor, X, booster.predict)


@pytest.mark.parametrize("objective", ["multiclass", "multiclassova"])
def test_multiclass_booster(X, level, objective):
    booster = train(X, codes(level), objective, num_class=3)
    assert Predictor(booster, X).output_names == ("0", "1", "2")
    assert_faithful(Predictor(booster, X), X, booster.predict)


def test_booster_from_a_text_file(X, amount, tmp_path):
    train(X, amount, "regression").save_model(tmp_path / "model.txt")
    booster = lightgbm.Booster(model_file=tmp_path / "model.txt")
    assert_faithful(Predictor(booster, X), X, booster.predict)


def test_order_and_extra_columns(X, amount):
    """LightGBM itself would take the columns as they come."""
    booster = train(X, amount, "regression")
    other = X[["sky", "day", "temp", "open"]].assign(extra=1.0)
    assert_faithful(Predictor(booster, other), other, lambda table: booster.predict(table[list(X.columns)]))


def test_names_with_spaces(X, amount):
    """LightGBM writes them with underscores; they are the same columns."""
    spaced = X.rename(columns={"temp": "air temp"})
    model = lightgbm.LGBMRegressor(**SMALL).fit(spaced, amount)
    other = spaced[["sky", "air temp", "day", "open"]]
    got = predictions(Predictor(model, other), other)[:, 0]
    np.testing.assert_array_equal(got, model.predict(spaced))


@pytest.mark.parametrize("native", [False, True], ids=["estimator", "booster"])
@pytest.mark.parametrize("levels", ["text", "numbers"])
def test_columns_that_were_categories_in_training(X, amount, native, levels):
    """As read from a CSV file: text or numbers, which reach the model as its categories."""
    plain = X["sky"].astype(str) if levels == "text" else X["day"] * 10 + 3
    trained = X.assign(sky=plain.astype("category"))
    model = lightgbm.LGBMRegressor(**SMALL).fit(trained, amount)
    read = X.assign(sky=plain)
    predictor = Predictor(model.booster_ if native else model, read)
    np.testing.assert_array_equal(predictions(predictor, read)[:, 0], model.predict(trained))


def test_matrix_of_codes_stays_codes(X, amount):
    booster = train(X, amount, "regression")
    numbers = X.assign(sky=X["sky"].cat.codes).to_numpy(dtype=float)
    np.testing.assert_array_equal(predictions(Predictor(booster, numbers), numbers)[:, 0], booster.predict(X))


@needs("lightgbm", "4.6")
def test_matrix_for_an_estimator_with_names(X, amount):
    numbers = X[["temp", "day"]]
    model = lightgbm.LGBMRegressor(**SMALL).fit(numbers, amount)
    matrix = numbers.to_numpy()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")  # as in a user's session, where a warning stops nothing
        got = predictions(Predictor(model, matrix), matrix)[:, 0]
    assert not caught
    np.testing.assert_array_equal(got, model.predict(numbers))


# LightGBM's own remark about a matrix without names, which is the only form that category codes have.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_matrix_of_codes_for_an_estimator_with_names(X, amount):
    """Codes are no levels, even where the levels are numbers of the same range."""
    trained = pd.DataFrame({"temp": X["temp"], "day": X["day"].clip(1).astype("category")})
    model = lightgbm.LGBMRegressor(**SMALL).fit(trained, amount)
    codes = trained.assign(day=trained["day"].cat.codes).to_numpy(dtype=float)
    later = codes[:, 1] > 0  # codes 1, 2, ... could be taken for the levels 1, 2, ...
    got = predictions(Predictor(model, codes[later]), codes[later])[:, 0]
    np.testing.assert_array_equal(got, model.predict(trained)[later])


def test_text_category_that_never_mattered(X, amount):
    """LightGBM keeps the levels of a constant column, but not that it was one."""
    trained = X.assign(land=pd.Categorical(["CH"] * len(X)))
    booster = train(trained, amount, "regression")
    read = X.assign(sky=X["sky"].astype(str), land="CH")
    np.testing.assert_array_equal(predictions(Predictor(booster, read), read)[:, 0], booster.predict(trained))


def test_trained_on_numpy_asked_with_pandas(X, amount):
    numbers = X[["temp", "day"]]
    model = lightgbm.LGBMRegressor(**SMALL).fit(numbers.to_numpy(), amount)
    assert_faithful(Predictor(model, numbers), numbers, lambda table: model.predict(table.to_numpy()))


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_other_frames(X, amount, library):
    module = pytest.importorskip(library, reason=f"{library} is optional")
    model = lightgbm.LGBMRegressor(**SMALL).fit(X, amount)
    table = module.from_pandas(X) if library == "polars" else module.Table.from_pandas(X)
    np.testing.assert_array_equal(predictions(Predictor(model, table), table)[:, 0], model.predict(X))


def logistic(y_true, score):
    p = 1 / (1 + np.exp(-score))
    return p - y_true, p * (1 - p)


def test_an_objective_of_ones_own_gives_scores(X, verdict):
    """LightGBM cannot turn them into probabilities, so they are not called so."""
    model = lightgbm.LGBMClassifier(objective=logistic, **SMALL).fit(X, verdict)
    predictor = Predictor(model, X)
    assert (predictor.scale, predictor.output_names) == ("score", ("yes",))
    assert_faithful(predictor, X, lambda table: model.predict(table, raw_score=True))


def test_unfitted(X, amount):
    with pytest.raises(InputError, match="LGBMRegressor is not fitted; call fit"):
        Predictor(lightgbm.LGBMRegressor(), X)
    empty = lightgbm.Booster(train_set=lightgbm.Dataset(X, amount, params={"verbose": -1}))
    with pytest.raises(InputError, match=r"Booster .*call fit"):
        Predictor(empty, X)


def test_a_dataset_is_no_model(X, amount):
    with pytest.raises(InputError, match="Dataset of lightgbm"):
        Predictor(lightgbm.Dataset(X, amount), X)
