"""Linear, logistic and generalised linear models: statsmodels' numbers, weights, categories, exposure, sentences, charts."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import pellucid
from glassbox.glm_cases import NAMES, features, outcome
from pellucid.glassbox import GeneralizedLinearModel, LinearModel, LogisticModel

STATSMODELS = json.loads((Path(__file__).parent / "statsmodels_glm.json").read_text(encoding="utf-8"))


@parametrize_with_checks([LogisticModel(), GeneralizedLinearModel(family="gamma")])
def test_they_are_estimators(estimator, check):
    check(estimator)


def model_of(name):
    if name.startswith("ols"):
        return LinearModel(robust=name[4:] or None)
    if name in ("probit", "cloglog"):
        return GeneralizedLinearModel(family="binomial", link=name)
    return LogisticModel() if name in ("logit", "softmax") else GeneralizedLinearModel(family=name)


@pytest.mark.parametrize("name", NAMES)
def test_coefficients_errors_and_deviance_are_those_of_statsmodels(name):
    known = STATSMODELS[name]
    y = outcome(name)
    model = model_of(name).fit(features(), y)
    found = model.coefficients()
    assert np.allclose(found.values, known["coefficients"], rtol=1e-8, atol=1e-8)
    assert np.allclose(found.se, known["se"], rtol=1e-8)
    deviance = np.square(y - model.predict(features())).sum() if name.startswith("ols") else model.deviance_
    assert np.isclose(deviance, known["deviance"], rtol=1e-9)


def test_several_classes_are_those_of_statsmodels():
    y = np.where(outcome("logit") == 1, np.arange(60) % 3, 0)
    model = LogisticModel().fit(features(), y)
    found, known = model.coefficients(), STATSMODELS["softmax"]
    assert np.allclose(found.values, known["coefficients"], rtol=1e-8, atol=1e-8)
    assert np.allclose(found.se, known["se"], rtol=1e-8)
    assert np.isclose(model.deviance_, known["deviance"])
    assert np.allclose(model.predict_proba(features()).sum(axis=1), 1)
    assert model.coef_.shape == (3, 3)
    assert np.allclose(model.coef_.sum(axis=0), 0)


@pytest.mark.parametrize("name", ["ols", "ols HC3", "logit", "poisson", "gamma"])
def test_a_weight_of_two_is_a_row_twice(name):
    X, y, w = features(), outcome(name), 1 + np.arange(60) % 2
    once = model_of(name).fit(X, y, sample_weight=w).coefficients()
    twice = model_of(name).fit(np.repeat(X, w, axis=0), np.repeat(y, w)).coefficients()
    assert np.allclose(once.values, twice.values)
    assert np.allclose(once.se, twice.se)


def table():
    rng = np.random.default_rng(0)
    n = 200
    temp = np.where(rng.random(n) < 0.1, np.nan, rng.normal(15, 8, n))
    X = pd.DataFrame(
        {"temp": temp, "season": rng.choice(["spring", "summer", "winter"], n), "hours": rng.uniform(1, 9, n)}
    )
    rate = np.exp(0.1 + 0.03 * np.nan_to_num(temp, nan=15.0) + 0.4 * (X["season"] == "summer"))
    return X, rng.poisson(X["hours"] * rate)


def test_counts_over_an_exposure_multiply():
    X, y = table()
    model = GeneralizedLinearModel(family="poisson", exposure="hours").fit(X, y)
    found = model.coefficients()
    at = found.feature_names.index("season: summer")
    assert abs(found.values[at] - 0.4) < 3 * found.se[at]
    more = X.assign(hours=2 * X["hours"])
    assert np.allclose(model.predict(more), 2 * model.predict(X))
    assert "hours" not in " ".join(found.feature_names)
    with pytest.raises(pellucid.InputError, match="exposure='season'"):
        GeneralizedLinearModel(family="poisson", exposure="season").fit(X, y)


def test_one_unit_more_multiplies_by_the_exponential_of_the_coefficient_alone():
    """Not by exp(b x), as a printed formula has it."""
    X, y = table()
    model = GeneralizedLinearModel(family="poisson").fit(X, y)
    found = model.coefficients()
    factor = found.factor[found.feature_names.index("hours")]
    for hours in (2.0, 7.0):
        row = X.iloc[[0]].assign(hours=hours)
        assert model.predict(row.assign(hours=hours + 1))[0] / model.predict(row)[0] == pytest.approx(factor)


@pytest.mark.parametrize(
    "model",
    [LinearModel(), GeneralizedLinearModel(family="poisson"), LogisticModel()],
    ids=lambda model: type(model).__name__,
)
def test_an_explainer_asks_for_no_prediction(model):
    X, y = table()
    y = np.digitize(y, [5, 12]) if isinstance(model, LogisticModel) else y
    model = model.fit(X, y)
    ex = pellucid.Explainer(model, X, progress=False)
    effect = ex.pdp("temp")
    assert effect.cost.model_rows == 0
    own = model.explain(X.iloc[[0]])
    assert np.allclose(own.values.sum(axis=1) + own.base, own.prediction)


def test_sentences_charts_and_files(golden, tmp_path):
    X, y = table()
    kinds = (LinearModel().fit(X, y), GeneralizedLinearModel(family="poisson").fit(X, y), LogisticModel().fit(X, y > 9))
    for model in kinds:
        found = model.coefficients()
        golden("coefficients", type(model).__name__, found.text())
        assert found.plot(standardised=True).spec["$schema"]
        found.save(tmp_path / "found.json")
        assert pellucid.load(tmp_path / "found.json").text() == found.text()
    assert kinds[2].coefficients().frame()["odds_ratio"].shape == (6,)


@pytest.mark.parametrize(
    "model",
    [LinearModel(), GeneralizedLinearModel(family="poisson"), LogisticModel()],
    ids=lambda model: type(model).__name__,
)
def test_standardised_coefficients_are_those_of_columns_in_standard_deviations(model):
    rng = np.random.default_rng(4)
    X = rng.normal([10.0, -3.0, 0.0], [2.0, 0.1, 30.0], (300, 3))
    eta = 0.2 * (X[:, 0] - 10) - 4 * (X[:, 1] + 3)
    y = {
        "LinearModel": eta,
        "GeneralizedLinearModel": rng.poisson(np.exp(eta)),
        "LogisticModel": eta > rng.logistic(size=300),
    }
    y, w = y[type(model).__name__] + 0.0, rng.uniform(0.5, 2, 300)
    y = y + rng.normal(size=300) if isinstance(model, LinearModel) else y
    mean = np.average(X, axis=0, weights=w)
    spread = np.sqrt(np.average(np.square(X - mean), axis=0, weights=w))
    found = clone(model).fit(X, y, sample_weight=w).coefficients().standardised[1:]
    assert np.allclose(found, clone(model).fit((X - mean) / spread, y, sample_weight=w).coefficients().values[1:])
    other_units = clone(model).fit(X * [1.8, 1000.0, -1.0] + [32.0, 0.0, 0.0], y, sample_weight=w).coefficients()
    assert np.allclose(found * [1, 1, -1], other_units.standardised[1:])
    assert "standardised" in other_units.frame()


def test_separated_classes_are_told():
    x = np.arange(20.0)[:, None]
    model = LogisticModel().fit(x, x[:, 0] > 9)
    assert [caveat.code for caveat in model.coefficients().caveats] == ["separated"]
    assert not LogisticModel(ridge=0.1).fit(x, x[:, 0] > 9).coefficients().caveats
    assert not LogisticModel().fit(features(), outcome("logit")).coefficients().caveats


def test_errors_name_the_argument():
    X, y = features(), outcome("poisson")
    for model, word in (
        (LinearModel(ridge=-1), "ridge must be"),
        (LinearModel(robust="HC9"), "robust"),
        (GeneralizedLinearModel(family="poison"), "family"),
        (GeneralizedLinearModel(family="gamma"), "gamma"),
        (GeneralizedLinearModel(link="loglog"), "link"),
    ):
        with pytest.raises(pellucid.InputError, match=word):
            model.fit(X, y)
