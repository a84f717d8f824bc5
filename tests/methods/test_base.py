"""One base per Explainer: the average prediction over all rows where the model is read, else that of a sample."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

from pellucid import Explainer, load

_RNG = np.random.default_rng(3)
X = _RNG.normal(size=(500, 4))
y = 2 * X[:, 0] + X[:, 1] * X[:, 2] + _RNG.normal(size=500)
_WEIGHTS = _RNG.integers(0, 4, size=500).astype(float)


@pytest.mark.parametrize("weights", [None, _WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    "model",
    [
        RandomForestRegressor(10, max_depth=4, random_state=0).fit(X, y),
        RandomForestClassifier(10, max_depth=4, random_state=0).fit(X, np.digitize(y, [-1, 1])),
        LinearRegression().fit(X, y),
    ],
    ids=["trees", "classes", "sum"],
)
def test_models_that_are_read_start_from_the_average_over_all_rows(model, weights):
    ex = Explainer(model, X, sample_weight=weights, checks=False)
    answer = getattr(model, "predict_proba", model.predict)
    average = np.average(answer(X), axis=0, weights=weights)
    why, steps = ex.shap([0, 7]), ex.breakdown([0, 7])
    for found in (why, steps):
        np.testing.assert_allclose(found.base, average, rtol=0, atol=1e-10)
        assert not found.reference.se
        assert "background rows is" not in found.text()
        assert "is a sample" not in found.text()
    np.testing.assert_allclose(steps.residual, 0, atol=1e-10)


def test_break_down_of_trees_and_sums_is_that_of_the_model_asked_about_all_rows():
    groups = {"both": ["x1", "x2"]}
    for model in (RandomForestRegressor(10, max_depth=4, random_state=0), LinearRegression()):
        model.fit(X, y)
        read = Explainer(model, X, groups=groups, checks=False).breakdown([3, 9])
        asked = Explainer(model.predict, X, groups=groups, checks=False, background=500).breakdown([3, 9])
        assert read.settings["order"] == asked.settings["order"]
        np.testing.assert_allclose(read.values, asked.values, atol=1e-10)


def test_the_mean_of_a_sample_is_called_that_and_carries_its_error(tmp_path):
    ex = Explainer(lambda table: table[:, 0] + table[:, 1] * table[:, 2], X, checks=False)
    why, steps = ex.shap(0), ex.breakdown(0)
    assert why.base == steps.base
    assert why.reference.se == steps.reference.se
    assert (why.reference.rows, why.reference.among) == (200, 500)
    for found in (why, steps, load(why.save(tmp_path / "why.json"))):
        assert "average prediction of 200 background rows" in found.text()
        assert found.reference.se == why.reference.se
    assert Explainer(lambda t: t[:, 0], X[:200], checks=False).shap(0).reference.among == 0
    assert ex.shap(0, method="exact").contrast(0).reference.name == "row 0"


def test_the_error_of_a_sampled_base_is_that_of_drawing_without_replacement():
    def model(table):
        return table[:, 0] + table[:, 1] * table[:, 2]

    truth = model(X).mean()
    misses, errors = [], []
    for seed in range(60):
        found = Explainer(model, X, checks=False, random_state=seed).shap(0)
        misses.append(float(found.base) - truth)
        errors.append(found.reference.se[0])
    assert 0.75 < np.std(misses) / np.mean(errors) < 1.25  # 60 draws: 9% either way


def test_probabilities_behind_a_link_say_so_too():
    for model in (LogisticRegression(), HistGradientBoostingClassifier(max_iter=5)):
        ex = Explainer(model.fit(X, y > 0), X, checks=False)
        why, steps = ex.shap(0), ex.breakdown(0)
        np.testing.assert_allclose(why.base, steps.base, atol=1e-10)
        np.testing.assert_allclose(why.reference.se, steps.reference.se, atol=1e-10)
        assert why.reference.among == 500


def test_several_outputs_have_an_error_each():
    ex = Explainer(lambda t: np.c_[t[:, 0] * t[:, 1], 10 * t[:, 2] * t[:, 0]], X, checks=False)
    found = ex.shap(0)
    small, large = found.reference.se
    assert large > 5 * small
    assert found.for_output(found.output_names[1]).reference.se == (large,)
