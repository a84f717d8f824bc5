"""Importance from Shapley values: closed forms, sampling of rows, several outputs."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import pellucid
from pellucid import Explainer


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)) * [1.0, 2.0, 0.5]
    return X, X @ [1.0, -0.5, 0.0] + rng.normal(size=300)


def test_a_linear_model_has_mean_absolute_deviations(sample):
    X, y = sample
    model = LinearRegression().fit(X, y)
    found = Explainer(model, X, y).importance(method="shap")
    phi = model.coef_ * (X - X.mean(axis=0))
    size = np.abs(phi)
    np.testing.assert_allclose(found.values, size.mean(axis=0), rtol=1e-9)
    influence = size - np.sign(phi).mean(axis=0) * phi  # the row moves the mean of the others, too
    np.testing.assert_allclose(found.se, influence.std(axis=0, ddof=1) / np.sqrt(300), rtol=1e-9)
    assert found.settings["rows"] == 300


def test_weights_count_rows(sample):
    X, y = sample
    weights = np.random.default_rng(1).uniform(0, 2, 300)
    weights[:40] = 0
    model = LinearRegression().fit(X, y)
    found = Explainer(model, X, y, sample_weight=weights).importance(method="shap")
    centre = np.average(X, axis=0, weights=weights)
    expected = np.average(np.abs(model.coef_ * (X - centre)), axis=0, weights=weights)
    np.testing.assert_allclose(found.values, expected, rtol=1e-9)


def test_trees_are_read_for_all_rows_and_give_the_mean_of_shap(sample):
    X, y = sample
    ex = Explainer(DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y), X, y, checks=False)
    found = ex.importance(method="shap")
    assert found.settings["algorithm"] == "tree"
    np.testing.assert_allclose(found.values, np.abs(ex.shap(range(300)).values).mean(axis=0), rtol=1e-9)


def test_an_opaque_model_is_asked_about_a_sample_of_rows(sample):
    X, y = sample
    slopes = np.array([1.0, -0.5, 0.0])
    ex = Explainer(lambda X: X @ slopes, X, y, checks=False, background=50)
    found = ex.importance(method="shap", budget=40_000)
    assert found.settings["rows"] == 100
    assert found.cost.model_rows < 45_000
    assert found.values[2] == pytest.approx(0, abs=1e-12)
    full = np.abs(ex.shap(range(300)).values).mean(axis=0)
    assert (np.abs(found.values - full) <= 4 * found.se + 1e-12).all()


def test_the_error_holds_that_of_the_estimator(sample):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 16))
    ex = Explainer(lambda X: np.tanh(X.sum(axis=1)) + X[:, 0], X, background=10, checks=False)
    found = ex.importance(method="shap", budget=20_000)
    why = ex.shap(range(found.settings["rows"]), budget=20_000)
    assert found.settings["algorithm"] == "kernel"
    assert (found.se > 0.5 * why.se.mean(axis=0)).all()
    # Sampling more does not leave the interval of sampling less.
    assert (np.abs(found.values - ex.importance(method="shap", budget=400_000).values) < 5 * found.se).all()


def test_groups_share_their_contribution(sample):
    X, y = sample
    model = LinearRegression().fit(X, y)
    found = Explainer(model, X, y, groups={"both": [0, 1]}).importance(method="shap")
    together = (model.coef_[:2] * (X[:, :2] - X[:, :2].mean(axis=0))).sum(axis=1)
    assert found.feature_names == ("both", "x2")
    assert found.values[0] == pytest.approx(np.abs(together).mean())


def test_several_classes_have_a_column_each(sample):
    X, y = sample
    labels = np.array(["low", "mid", "high"])[np.digitize(y, [-1, 1])]
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, labels)
    found = Explainer(model, X, labels, checks=False).importance(method="shap")
    assert found.values.shape == found.se.shape == (3, 3)
    one = Explainer(model, X, labels, output="mid", checks=False).importance(method="shap")
    np.testing.assert_allclose(one.values, found.values[:, list(found.output_names).index("mid")], rtol=1e-9)
    assert len(found.frame()) == 9


def test_a_budget_that_is_too_small_is_refused(sample):
    X = np.hstack([sample[0]] * 6)
    with pytest.raises(pellucid.InputError, match="budget=50 is too small"):
        Explainer(lambda X: np.tanh(X).sum(axis=1), X).importance(method="shap", budget=50)
