"""HistGradientBoosting: categories, missing values and infinities go where the library sends them."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from pellucid.trees.convert.registry import convert
from trees.convert.sklearn_checks import assert_predicts, assert_source, data, labels, on_the_edge


def around(model, X):
    nodes = np.concatenate([tree.nodes for stage in model._predictors for tree in stage])
    numeric = nodes[(nodes["is_leaf"] == 0) & (nodes["is_categorical"] == 0)]
    return on_the_edge(X, numeric["feature_idx"], numeric["num_threshold"])


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize(
    ("loss", "link", "scale"),
    [
        ("squared_error", "identity", "response"),
        ("absolute_error", "identity", "response"),
        ("quantile", "identity", "response"),
        ("poisson", "exp", "score"),
        ("gamma", "exp", "score"),
    ],
)
def test_regressor(loss, link, scale, missing):
    X, y = data(missing=missing)
    quantile = 0.8 if loss == "quantile" else None
    model = HistGradientBoostingRegressor(loss=loss, quantile=quantile, max_iter=20).fit(X, np.exp(y / 50))
    table = around(model, data(seed=1, missing=0.1)[0])
    table[::17, 0], table[::19, 1] = np.inf, -np.inf
    read = assert_predicts(model, table, model._raw_predict(table), atol=1e-12)
    assert (read.link, read.scale) == (link, scale)
    if link == "exp":
        np.testing.assert_allclose(np.exp(read.ensemble.predict(read.encode(table)))[:, 0], model.predict(table))


@pytest.mark.parametrize(("n_classes", "link", "scale"), [(2, "logistic", "log-odds"), (3, "softmax", "score")])
def test_classifier(n_classes, link, scale):
    X, y = data(missing=0.1)
    model = HistGradientBoostingClassifier(max_iter=15).fit(X, labels(y, n_classes))
    table = around(model, data(seed=1, missing=0.1)[0])
    read = assert_predicts(model, table, model.decision_function(table), atol=1e-12)
    assert (read.link, read.scale) == (link, scale)
    assert read.ensemble.n_outputs == (1 if n_classes == 2 else n_classes)


def with_categories(n=400, seed=0):
    """A numeric column, categories as text, categories as odd numbers; each with gaps."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "colour": rng.choice(["red", "green", "blue", "grey", "pink"], size=n),
            "weight": rng.normal(size=n),
            "code": rng.choice([-7.0, 3.5, 100.0, 1e6], size=n),
        }
    )
    y = frame["size"] * frame["colour"].isin(["red", "grey"]) + (frame["code"] > 50) * frame["weight"]
    frame.loc[rng.random(n) < 0.1, "colour"] = None
    frame.loc[rng.random(n) < 0.1, "code"] = np.nan
    return frame, y.to_numpy()


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_categories_are_coded_by_the_model_itself(n_classes):
    frame, y = with_categories()
    if n_classes == 1:
        model = HistGradientBoostingRegressor(categorical_features=["colour", "code"], max_iter=30).fit(frame, y)
    else:
        model = HistGradientBoostingClassifier(categorical_features=["colour", "code"], max_iter=30)
        model.fit(frame, labels(y, n_classes))
    table, _ = with_categories(seed=1)
    table.loc[::9, "colour"] = "never seen"
    table.loc[::13, "code"] = 12.0
    read = assert_predicts(model, table, model._raw_predict(table), atol=1e-12)
    assert read.source.tolist() == [1, 3, 0, 2]
    assert (read.ensemble.nodes.set_start >= 0).any()
    other = table.iloc[::-1].reset_index(drop=True)
    assert assert_source(read, table, other) == {0, 1, 2, 3}


def test_categories_by_dtype():
    frame, y = with_categories()
    frame["colour"] = frame["colour"].astype("category")
    model = HistGradientBoostingRegressor(max_iter=30, categorical_features="from_dtype").fit(frame, y)
    table, _ = with_categories(seed=1)
    table.loc[::9, "colour"] = "never seen"
    table["colour"] = table["colour"].astype("category")
    read = assert_predicts(model, table, model._raw_predict(table), atol=1e-12)
    assert read.source.tolist() == [1, 0, 2, 3]


def test_many_categories_fill_several_words():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 250, 5000), rng.normal(size=5000)]).astype(float)
    y = np.sin(X[:, 0] * 7.0) + X[:, 1]
    model = HistGradientBoostingRegressor(categorical_features=[0], max_iter=30).fit(X, y)
    table = np.column_stack([np.arange(-20, 280), np.zeros(300)]).astype(float)
    assert_predicts(model, table, model._raw_predict(table), atol=1e-12)


def test_codes_that_stand_for_no_category_go_where_missing_values_go():
    X, y = data()
    X[:, 4] = np.arange(len(X)) % 5
    model = HistGradientBoostingRegressor(categorical_features=[4], max_iter=30).fit(X, y + 3 * (X[:, 4] % 2))
    read = convert(model)
    matrix = read.encode(X)
    gap = matrix.copy()
    gap[:, 0] = np.nan
    for code in (-1, 7, 200, 255, 256, 1000, np.inf, -np.inf):
        matrix[:, 0] = code
        np.testing.assert_array_equal(read.ensemble.predict(matrix), read.ensemble.predict(gap))


def test_weights_and_early_stopping():
    X, y = data()
    weight = np.random.default_rng(0).uniform(size=len(X))
    model = HistGradientBoostingRegressor(early_stopping=True, max_iter=30, random_state=0)
    model.fit(X, y, sample_weight=weight)
    assert_predicts(model, X, model.predict(X), atol=1e-12)


def test_a_converted_model_travels_to_other_processes():
    frame, y = with_categories()
    read = convert(HistGradientBoostingRegressor(categorical_features=["colour"], max_iter=5).fit(frame, y))
    again = pickle.loads(pickle.dumps(read))
    np.testing.assert_array_equal(again.encode(frame), read.encode(frame))
