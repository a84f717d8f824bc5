"""Generalised linear models without single rows, and what statsmodels 0.15 found of the same tables."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import GammaRegressor, LogisticRegression, PoissonRegressor, TweedieRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pellucid
from glassbox.glm_cases import features, outcome
from pellucid.glassbox import GeneralizedLinearModel, LinearModel, LogisticModel
from pellucid.methods.influence.function import Problem
from pellucid.models.linear_fit import linear_fit

THEIRS = json.loads((Path(__file__).parent / "statsmodels_influence.json").read_text())
ROWS = THEIRS["rows"]
LINKS = {"logit": "logit", "probit": "probit", "cloglog": "cloglog"}


def fitted(kind):
    X, y = features(), outcome(kind)
    if kind == "ols":
        return pellucid.Explainer(LinearModel().fit(X, y), X, y)
    family = "binomial" if kind in LINKS else kind
    model = GeneralizedLinearModel(family=family, link=LINKS.get(kind, "log"))
    return pellucid.Explainer(model.fit(X, y), X, y)


def test_cook_and_dfbeta_are_those_of_statsmodels():
    ex, theirs = fitted("ols"), THEIRS["ols"]
    cook = ex.influence(method="cook")
    np.testing.assert_allclose(cook.values, theirs["cook"], rtol=1e-10)
    np.testing.assert_allclose(cook.leverage, theirs["leverage"], rtol=1e-10)
    found = ex.influence(method="dfbeta")
    np.testing.assert_allclose(found.values, theirs["dfbeta"], rtol=1e-10)
    np.testing.assert_allclose(found.errors, theirs["se"], rtol=1e-10)
    assert found.targets == ("intercept", "x0", "x1", "x2")


@pytest.mark.parametrize("kind", ["logit", "probit", "cloglog", "poisson", "gamma", "inverse_gaussian", "tweedie"])
def test_coefficients_are_those_that_statsmodels_fits_without_the_row(kind):
    found = fitted(kind).influence(method="dfbeta", on="parameters")
    truth = np.array(THEIRS[kind]["refitted"])
    off = np.abs(found.values[ROWS] - truth).sum(axis=1) / np.abs(truth).sum(axis=1)
    assert found.how == "Newton steps"
    assert off.max() < 0.01


@pytest.mark.parametrize("kind", ["logit", "poisson"])
def test_one_step_is_that_of_statsmodels(kind):
    ex = fitted(kind)
    fit = linear_fit(ex.predictor)
    problem = Problem.of(fit, fit.matrix(ex.data.frame.native), ex.data.y, np.ones(60))
    np.testing.assert_allclose(problem.one_step()[0][ROWS, :, 0], THEIRS[kind]["one_step"], rtol=1e-6, atol=1e-9)


def refitted(model, X, y, w, at):
    """With minus without each row, by scikit-learn."""
    exact = model.set_params(tol=1e-12, max_iter=10_000)
    full = exact.fit(X, y, sample_weight=w).predict(at)
    kept = [np.arange(len(X)) != i for i in range(len(X))]
    return np.array([full - exact.fit(X[k], y[k], sample_weight=w[k]).predict(at) for k in kept])


@pytest.mark.parametrize(
    ("model", "kind", "off"),
    [
        (PoissonRegressor(alpha=0.3), "poisson", 0.01),
        (GammaRegressor(alpha=2.0, solver="newton-cholesky"), "gamma", 0.01),
        (TweedieRegressor(power=1.5, alpha=0.0), "tweedie", 0.01),
        (TweedieRegressor(power=0, alpha=0.5), "ols", 1e-4),
    ],
)
def test_a_penalty_beside_a_mean_is_that_of_the_rows_left(model, kind, off):
    X, y = features(), outcome(kind)
    model = model.set_params(tol=1e-12, max_iter=10_000)
    found = pellucid.Explainer(model.fit(X, y), X, y).influence([0, 1, 2])
    truth = refitted(model, X, y, np.ones(60), X[:3])
    assert found.how == "Newton steps"
    assert np.abs(found.values - truth).max() < off * np.abs(truth).max()
    assert found.checked.gap < off


def test_weights_an_offset_and_a_pipeline():
    X, y = features(), outcome("poisson")
    w = np.where(np.arange(60) % 3, 1.0, 2.0)
    model = PoissonRegressor(alpha=0.0, tol=1e-12, max_iter=10_000).fit(X, y, sample_weight=w)
    found = pellucid.Explainer(model, X, y, sample_weight=w).influence([5])
    truth = refitted(model, X, y, w, X[5:6])
    assert np.abs(found.values - truth).max() < 0.01 * np.abs(truth).max()

    scaled = make_pipeline(StandardScaler(), PoissonRegressor(alpha=0.0)).fit(X, y)
    assert pellucid.Explainer(scaled, X, y).influence([0]).settings["steps"]

    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(hours=1.0 + np.arange(60) % 4)
    fit = partial(GeneralizedLinearModel, family="poisson", exposure="hours")
    model = fit().fit(table, y)
    found = pellucid.Explainer(model, table, y).influence([0])
    i = int(found.ranking(1)[0])
    again = fit().fit(table.drop(index=i), np.delete(y, i))
    assert found.values[i, 0] == pytest.approx((model.predict(table[:1]) - again.predict(table[:1]))[0], rel=0.01)


def test_glass_boxes_are_read_as_those_of_scikit_learn():
    X, y = features(), outcome("logit")
    own = pellucid.Explainer(LogisticModel().fit(X, y), X, y).influence([0, 1])
    other = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(own.values, pellucid.Explainer(other, X, y).influence([0, 1]).values, atol=1e-6)
    pairs = LinearModel(interactions=[("x0", "x1")]).fit(X, outcome("ols"))
    found = pellucid.Explainer(pairs, X, outcome("ols")).influence(method="dfbeta")
    assert found.targets[-1] == "x0 x x1"
    # What every row changes is refitted instead.
    ridge = LinearModel(ridge=0.1).fit(X, outcome("ols"))
    assert pellucid.Explainer(ridge, X, outcome("ols")).influence([0]).how == "refits"


def test_what_cannot_be_asked():
    with pytest.raises(pellucid.InputError, match="deviance of its"):
        fitted("gamma").influence(method="cook")
    with pytest.raises(pellucid.InputError, match="together="):
        fitted("gamma").influence(method="dfbeta", together=np.arange(60) // 5)
