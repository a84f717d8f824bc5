"""Trees explain a model only if they are the model: also where nobody asked for an explanation."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import AdaBoostRegressor, RandomForestClassifier, RandomForestRegressor

from pellucid import Explainer, InputError
from pellucid.trees.convert import sklearn

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(120, 3)), columns=list("abc"))
Y = X.a * X.b + X.c


def shap(model, rows, **options):
    return Explainer(model, X, background=30, progress=False, **options).shap(rows)


def assert_asked_instead(found):
    assert found.method == "exact"
    assert "not-trees" in [caveat.code for caveat in found.caveats]
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), found.prediction, atol=1e-9)


def test_labels_that_equal_probabilities_on_the_explained_rows_only():
    model = RandomForestClassifier(3, random_state=0).fit(X, Y > 0)
    certain = np.flatnonzero(model.predict_proba(X)[:, 1] == 1)[:3].tolist()
    found = Explainer(lambda table: model.predict(table).astype(float), X, background=30).shap(certain)
    through_method = Explainer(model.predict, X, background=30, progress=False).shap(certain)
    np.testing.assert_allclose(through_method.values, found.values, atol=1e-9)


def test_a_clipped_target():
    model = TransformedTargetRegressor(
        RandomForestRegressor(3, random_state=0),
        func=lambda v: v,
        inverse_func=lambda v: np.maximum(v, 0),
        check_inverse=False,
    ).fit(X, Y)
    assert_asked_instead(shap(model, np.flatnonzero(Y > 1)[:2].tolist()))


def test_a_booster_with_a_predict_of_its_own():
    xgboost = pytest.importorskip("xgboost")

    class Clipped(xgboost.XGBRegressor):
        def predict(self, table, **options):
            return np.maximum(super().predict(table, **options), 0)

    model = Clipped(n_estimators=10, n_jobs=1).fit(X, Y)
    found = shap(model, np.flatnonzero(model.predict(X) > 0.3)[:3].tolist())
    assert found.method == "exact"
    assert "predict of its own" in next(c.message for c in found.caveats if c.code == "not-trees")


def test_a_predict_that_was_replaced():
    model = RandomForestRegressor(3, random_state=0).fit(X, Y)
    inside = model.predict
    model.predict = lambda table: np.maximum(inside(table), 0)
    assert_asked_instead(shap(model, np.flatnonzero(inside(X) > 0.5)[:2].tolist()))


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_trees_are_judged_by_the_size_of_the_predictions(monkeypatch, size):
    model = RandomForestRegressor(5, random_state=0).fit(X, Y * size)
    assert shap(model, [0, 1]).method == "tree"
    right = sklearn.convert

    def wrong(given):
        read = right(given)
        return type(read)(**{**vars(read), "ensemble": read.ensemble.scaled(1.001)})

    monkeypatch.setitem(sys.modules, "pellucid.trees.convert.sklearn", SimpleNamespace(convert=wrong))
    assert_asked_instead(shap(model, [0, 1]))


def test_a_model_that_is_refused_says_why_when_it_has_too_many_features():
    wide = RNG.normal(size=(60, 30))
    model = AdaBoostRegressor(n_estimators=3, random_state=0).fit(wide, wide[:, 0])
    with pytest.raises(InputError, match=r"budget=100 is too small.*AdaBoostRegressor"):
        Explainer(model, wide, progress=False).shap([0], budget=100)


def test_the_remedy_is_not_what_was_done_already():
    model = RandomForestClassifier(3, random_state=0).fit(X, Y > 0)
    explainer = Explainer(model, X, link="logit", progress=False)
    with pytest.raises(InputError, match="use scale='probability'"):
        explainer.shap([0], method="tree")
    assert explainer.shap([0], method="tree", scale="probability").method == "tree"


@pytest.mark.parametrize("options", [{"budget": "x"}, {"tolerance": [1]}, {"budget": 0}])
def test_amounts_that_are_none(options):
    model = RandomForestRegressor(3, random_state=0).fit(X, Y)
    with pytest.raises(InputError, match=r"must be a (positive|whole) number"):
        Explainer(model, X, progress=False).shap([0], **options)
