"""What all glass boxes share: tables of any kind, names, levels, missing values, weights, and reading."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pellucid
from glassbox.tables import mixed
from pellucid import InputError
from pellucid.glassbox import LinearModel


@pytest.fixture(scope="module")
def fitted():
    X, mean = mixed()
    y = mean + np.random.default_rng(1).normal(0.0, 0.3, len(X))
    return LinearModel().fit(X, y), X, y


def test_every_kind_of_table_gives_the_same_model(fitted):
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    model, X, y = fitted
    tables = [polars.from_pandas(X), arrow.Table.from_pandas(X), X.to_dict("records")]
    for table in tables:
        other = LinearModel().fit(table, y)
        np.testing.assert_allclose(other.predict(table), model.predict(X), rtol=1e-9)
        np.testing.assert_allclose(model.predict(table), model.predict(X), rtol=1e-9)


def test_columns_may_come_in_any_order_and_with_others(fitted):
    model, X, _ = fitted
    other = X[X.columns[::-1]].assign(more=1)
    np.testing.assert_array_equal(model.predict(other), model.predict(X))
    with pytest.raises(InputError, match="lacks the feature 'season'"):
        model.predict(X.drop(columns="season"))


def test_what_was_never_seen_adds_what_the_feature_adds_on_average(fitted):
    model, X, _ = fitted
    row = X.iloc[[0]].assign(season="autumn", temp=np.nan)
    found = model.explain(row)
    for name in ("season", "temp"):
        assert found.values[0, found.feature_names.index(name)] == pytest.approx(0.0, abs=1e-12)
    assert model.predict(row)[0] == pytest.approx(float(found.prediction[0]))


def test_inputs_are_left_alone_and_models_travel(fitted):
    model, X, y = fitted
    before = X.copy(deep=True)
    LinearModel().fit(X, y, sample_weight=np.arange(len(X))).predict(X)
    pd.testing.assert_frame_equal(X, before)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert clone(copy.deepcopy(model)).get_params() == model.get_params()
    assert len(pickle.dumps(model)) < 100_000  # the training rows stay behind


def test_weight_two_is_the_row_twice_and_weight_zero_no_row(fitted):
    _, X, y = fitted
    weights = np.random.default_rng(2).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), weights)
    weighted, repeated = LinearModel().fit(X, y, sample_weight=weights), LinearModel().fit(X.iloc[rows], y[rows])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9)
    np.testing.assert_allclose(weighted._covariance, repeated._covariance, rtol=1e-8)
    np.testing.assert_allclose(weighted.explain().values, repeated.explain().values, rtol=1e-9)


def test_contributions_and_effects_are_the_terms(fitted):
    model, X, _ = fitted
    found = model.explain(X.iloc[:20])
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), model.predict(X.iloc[:20]))
    assert float(found.base) == pytest.approx(model.predict(X).mean())
    effect = model.explain("temp")
    slope = np.diff(effect.values) / np.diff(effect.grid)
    np.testing.assert_allclose(slope, model.coef_[model.column_names_.index("temp")])
    assert model.explain("hum").missing.share == pytest.approx(X["hum"].isna().mean())
    pair = model.explain(("temp", "season"))
    assert pair.values.shape == (len(effect.grid), 3)
    sizes = model.explain()
    assert sizes["season"] == pytest.approx(np.std(model._term(2, model._design(X)[:, 2])))


def test_an_explainer_reads_it_and_asks_nothing(fitted):
    model, X, y = fitted
    ex = pellucid.Explainer(model, X, y)
    for found in (ex.pdp("temp"), ex.ale("season"), ex.shap([0, 1]), ex.importance(), ex.importance(method="shap")):
        assert found.cost.model_rows == found.cost.check_rows == 0, found
    background = pellucid.Explainer(model, X, y, background=X).shap([0, 1])
    np.testing.assert_allclose(background.values, model.explain(X.iloc[:2]).values, atol=1e-9)


def test_a_pipeline_that_ends_in_one_is_read_as_well():
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = X @ [1.0, 2.0, 0.0]
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), LinearModel()).fit(X, y)
    found = pellucid.Explainer(model, X, y).pdp(1, at=[0.0, 1.0])
    assert found.cost.model_rows == 0
    assert found.values[1] - found.values[0] == pytest.approx(2.0)


def test_a_class_of_its_own_that_predicts_otherwise_is_not_believed(fitted):
    _, X, y = fitted

    class Doubled(LinearModel):
        def predict(self, X):
            return 2 * super().predict(X)

    model = Doubled().fit(X, y)
    ex = pellucid.Explainer(model, X, y)
    np.testing.assert_allclose(ex.pdp("temp").values.mean(), 2 * LinearModel().fit(X, y).predict(X).mean(), rtol=0.5)
    assert ex.shap([0]).cost.model_rows > 0


def test_an_array_gets_the_coefficients_of_least_squares():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 4)) * [1, 1e3, 1e-2, 1] + [0, 1e5, 0, 3], rng.normal(size=100)
    ours, theirs = LinearModel().fit(X, y), LinearRegression().fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)


def test_wrong_tables_are_named():
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    model = LinearModel().fit(X, y)
    with pytest.raises(ValueError, match="3 features"):
        model.predict(np.zeros((2, 3)))
    with pytest.raises(InputError, match="there is no feature 'x7'"):
        model.explain("x7")
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["u", "v", "u"]})
    with pytest.raises(InputError, match="'a' is numeric and cannot take 'high'"):
        LinearModel().fit(frame, y[:3]).predict(pd.DataFrame({"a": ["high"], "b": ["u"]}))
    with pytest.raises(InputError, match="'a' is infinite in row 1"):
        LinearModel().fit(frame.assign(a=[0.0, np.inf, 1.0]), y[:3])
