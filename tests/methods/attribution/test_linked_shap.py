"""Shapley values of probabilities and rates, read from trees and sums behind a link, against all coalitions asked."""

from functools import cache

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid import Explainer
from pellucid.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5))
X[:, 4] = np.round(X[:, 4])
TWO = (X[:, 0] * X[:, 1] + X[:, 2] + RNG.normal(size=300) > 0).astype(int)
THREE = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-0.5, 0.5])
COUNTS = RNG.poisson(np.exp(0.5 * X[:, 0] + 0.3 * X[:, 1]))
MODELS = {
    "xgboost": lambda: xgboost.XGBClassifier(n_estimators=20, max_depth=3).fit(X, TWO),
    "xgboost of three": lambda: xgboost.XGBClassifier(n_estimators=10, max_depth=3).fit(X, THREE),
    "xgboost of counts": lambda: xgboost.XGBRegressor(n_estimators=20, max_depth=3, objective="count:poisson").fit(
        X, COUNTS
    ),
    "lightgbm": lambda: lightgbm.LGBMClassifier(n_estimators=10, verbose=-1).fit(X, TWO),
    "hist": lambda: HistGradientBoostingClassifier(max_iter=10).fit(X, TWO),
    "hist of three": lambda: HistGradientBoostingClassifier(max_iter=5).fit(X, THREE),
    "hist of counts": lambda: HistGradientBoostingRegressor(loss="poisson", max_iter=10).fit(X, COUNTS),
    "boosted": lambda: GradientBoostingClassifier(n_estimators=10).fit(X, TWO),
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression()).fit(X, TWO),
    "logistic of three": lambda: LogisticRegression().fit(X, THREE),
    "poisson": lambda: PoissonRegressor().fit(X, COUNTS),
}


@pytest.mark.parametrize("name", MODELS)
def test_equal_to_all_coalitions_asked(name):
    ex = Explainer(MODELS[name](), X, background=40, progress=False, checks=False)
    found, asked = ex.shap([0, 7, 100]), ex.shap([0, 7, 100], method="exact")
    assert found.method == ("linear" if name in ("logistic", "logistic of three", "poisson") else "tree")
    assert found.scale == asked.scale == ex.predictor.scale
    assert not found.se.any()
    size = np.ptp(asked.prediction) + 1e-3
    np.testing.assert_allclose(
        found.values, asked.values, rtol=0, atol=2e-6 * size
    )  # libraries add in single precision
    np.testing.assert_allclose(found.base, asked.base, rtol=2e-6)
    np.testing.assert_allclose(found.prediction, asked.prediction, rtol=2e-5, atol=1e-6)
    assert found.additivity.relative < 1e-7
    alone = ex.shap(100)
    np.testing.assert_array_equal(alone.values[0], found.values[2])


@pytest.mark.parametrize("name", ["xgboost", "hist of three", "logistic", "logistic of three"])
@pytest.mark.parametrize("index", ["shapley", "banzhaf"])
def test_interactions_of_probabilities(name, index):
    ex = Explainer(MODELS[name](), X, background=20, progress=False, checks=False)
    found = ex.shap([3, 4], interactions=index, scale="probability")
    asked = ex.shap([3, 4], interactions=index, scale="probability", method="exact")
    assert found.scale == "probability"
    np.testing.assert_allclose(found.interaction_values, asked.interaction_values, atol=2e-6)


def test_interactions_and_the_path_game_are_those_of_the_sum():
    ex = Explainer(MODELS["xgboost"](), X, progress=False, checks=False)
    assert ex.shap(0, interactions=True).scale == ex.shap(0, game="path").scale == "log-odds"


@cache
def wide(features=24):
    Z, y = make_classification(1500, features, n_informative=12, random_state=3)
    model = xgboost.XGBClassifier(n_estimators=60, max_depth=4, n_jobs=1).fit(Z, y)
    return Explainer(model, Z, background=60, progress=False, checks=False)


def test_many_features_have_intervals_that_cover():
    ex = wide()
    rows = [0, 9]
    truth = ex.shap(rows, tolerance=0.0015).values
    found = ex.shap(rows)
    assert (found.se > 0).any()
    assert found.additivity.relative < 1e-12
    assert np.abs(found.values - truth).max() < 0.02 * np.abs(truth).sum(axis=1).max()
    assert np.mean(np.abs(found.values - truth) <= 1.96 * found.se + 0.0015) > 0.93
    np.testing.assert_array_equal(ex.shap(9).values[0], found.values[1])


def test_a_tolerance_is_kept():
    ex = wide()
    found = ex.shap([1, 2], tolerance=0.004)
    assert (1.96 * found.se).max() <= 0.004
    assert found.settings["coalitions"] > ex.shap([1, 2]).settings["coalitions"]


def test_a_single_row_as_background():
    ex = Explainer(MODELS["xgboost"](), X, background=X[:1], progress=False, checks=False)
    found = ex.shap(5)
    p = ex.predictor.model.predict_proba(X)[:, 1]
    assert float(found.base) == pytest.approx(p[0], abs=1e-6)
    assert float(found.base + found.values.sum()) == pytest.approx(p[5], abs=1e-6)
    assert not ex.shap(0).values.any()


def test_features_without_a_split_and_groups():
    model = xgboost.XGBClassifier(n_estimators=5, max_depth=2).fit(X[:, [0, 1, 2, 3, 4]] * [1, 1, 1, 0, 1], TWO)
    table = X * [1, 1, 1, 0, 1]
    ex = Explainer(model, table, groups={"pair": ["x0", "x1"]}, background=30, progress=False, checks=False)
    found, asked = ex.shap([2, 3]), ex.shap([2, 3], method="exact")
    np.testing.assert_allclose(found.values, asked.values, atol=2e-6)
    assert not found.values[:, list(found.feature_names).index("x3")].any()


def test_the_path_game_of_probabilities_is_refused():
    ex = Explainer(MODELS["hist"](), X, progress=False)
    with pytest.raises(InputError, match="scale='log-odds'"):
        ex.shap(0, game="path", scale="probability")


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("asks", [{"scale": "log-odds"}, {"game": "path"}, {"scale": "probability"}])
def test_predictions_are_told_as_probabilities_on_every_scale(classes, asks):
    X = np.random.default_rng(3).normal(size=(120, 3))
    y = np.digitize(X[:, 0] + X[:, 1], [-0.4, 0.4][: classes - 1])
    model = xgboost.XGBClassifier(n_estimators=5, max_depth=2).fit(X, y)
    found = Explainer(model, X, progress=False, checks=False).shap([0, 1], **asks)
    expected = model.predict_proba(X[:2])
    np.testing.assert_allclose(found.probability.prediction, expected[:, 1] if classes == 2 else expected, atol=1e-6)
    assert np.all((found.probability.base > 0) & (found.probability.base < 1))
    said = "(a probability of" in found.row(0).text()
    assert said == (found.scale != "probability")


def test_numbers_of_no_class_are_no_probabilities():
    X = np.random.default_rng(3).normal(size=(40, 2))
    assert Explainer(lambda X: X[:, 0], X, progress=False, checks=False).shap(0).probability is None
