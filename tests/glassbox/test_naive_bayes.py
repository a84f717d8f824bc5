"""Naive Bayes: scikit-learn's where that applies, evidence that adds up, missing values, errors, and its caveat."""

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

import pellucid
from glassbox.tables import mixed
from pellucid import InputError
from pellucid.glassbox import NaiveBayes


@parametrize_with_checks([NaiveBayes()])
def test_it_is_an_estimator(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    X, mean = mixed()
    return X, mean + np.random.default_rng(1).normal(0.0, 0.3, len(X))


@pytest.mark.parametrize("classes", [2, 4])
def test_numbers_and_levels_are_those_of_scikit_learn(classes):
    rng = np.random.default_rng(0)
    y, w = rng.integers(0, classes, 120), rng.integers(1, 4, 120)
    numbers = rng.normal(size=(120, 3)) + y[:, None]
    ours, theirs = NaiveBayes().fit(numbers, y, w), GaussianNB().fit(numbers, y, w)
    np.testing.assert_allclose(ours.predict_proba(numbers), theirs.predict_proba(numbers), rtol=1e-6, atol=1e-12)
    levels = np.stack([rng.integers(0, 3, 120), (rng.integers(0, 4, 120) + y) % 4], axis=1)
    table = pd.DataFrame({"a": levels[:, 0], "b": levels[:, 1]}).astype("category")
    ours, theirs = NaiveBayes(alpha=0.5).fit(table, y, w), CategoricalNB(alpha=0.5).fit(levels, y, w)
    np.testing.assert_allclose(ours.predict_proba(table), theirs.predict_proba(levels), rtol=1e-9)


def test_a_missing_value_is_evidence_where_some_were_missing_and_none_elsewhere():
    y = np.repeat([0, 1], 40)
    x = np.where(np.arange(80) < 10, np.nan, np.random.default_rng(0).normal(size=80) + y)
    model = NaiveBayes().fit(np.stack([x, np.arange(80.0)], axis=1), y)
    found = model.explain(np.array([[np.nan, np.nan]]))
    assert found.values[0, 0] == pytest.approx(np.log((0 + 1) / 42) - np.log((10 + 1) / 42))
    assert found.values[0, 1] == 0.0
    assert float(found.base) == pytest.approx(0.0)


def test_evidence_adds_up_and_is_read_without_asking(rows):
    X, y = rows
    for outcome in (y > 2.5, np.digitize(y, [2, 3])):
        model = NaiveBayes().fit(X, outcome)
        found = model.explain(X.iloc[:5])
        np.testing.assert_allclose(found.base + found.values.sum(axis=1), model.decision_function(X.iloc[:5]))
        assert found.cost.model_rows == 0
        assert model.explain("hum").missing.share == pytest.approx(X["hum"].isna().mean())
        ex = pellucid.Explainer(model, X, outcome)
        assert ex.pdp("temp").cost.model_rows == 0
    odd = X.iloc[[0]].assign(season="autumn")
    assert model.explain(odd).values[0, 2] == pytest.approx(np.zeros(3))


def test_errors_of_evidence_are_those_of_repetitions():
    rng, at = np.random.default_rng(0), np.array([-1.0, 0.5, 2.0])
    found, said = [], []
    for _ in range(150):
        y = rng.integers(0, 2, 200)
        levels = np.where(rng.random(200) < 0.3 + 0.4 * y, "u", "v")
        X = pd.DataFrame({"x": rng.normal(size=200) * (1 + y) + y, "level": levels})
        model = NaiveBayes().fit(X, y)
        found.append(np.append(model._term(0, at), model._term(1, np.array([0.0, 1.0]))))
        said.append(np.append(model._term_error(0, at), model._term_error(1, np.array([0.0, 1.0]))))
    np.testing.assert_allclose(np.mean(said, axis=0), np.std(found, axis=0), rtol=0.2)


def test_features_that_repeat_each_other_are_told(rows):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    x = rng.normal(size=400) + y
    alone, repeated = NaiveBayes().fit(x[:, None], y), NaiveBayes().fit(np.stack([x] * 4, axis=1), y)
    assert alone.confidence_ == pytest.approx(1.0, abs=0.15)
    assert repeated.confidence_ == pytest.approx(alone.confidence_ / 4, rel=0.15)
    assert not alone.explain(x[:1, None]).caveats
    (caveat,) = repeated.explain(np.stack([x[:1]] * 4, axis=1)).caveats
    assert caveat.code == "double-counted"
    assert caveat.value == pytest.approx(1 - repeated.confidence_)


def test_weight_two_is_the_row_twice(rows):
    X, y = rows
    weights = np.random.default_rng(2).integers(0, 4, len(X))
    twice = np.repeat(np.arange(len(X)), weights)
    weighted, repeated = NaiveBayes().fit(X, y > 2.5, weights), NaiveBayes().fit(X.iloc[twice], y[twice] > 2.5)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-9)
    assert weighted.confidence_ == pytest.approx(repeated.confidence_)


def test_sentences(rows, golden):
    X, y = rows
    model = NaiveBayes().fit(X, np.where(y > 2.5, "many", "few"))
    golden("naive_bayes", "one row", model.explain(X.iloc[[0]]).text())
    golden("naive_bayes", "a feature", model.explain("hum").text())


def test_wrong_arguments_are_named(rows):
    X, y = rows
    for options, words in (({"alpha": 0}, "alpha must be"), ({"smoothing": -1.0}, "smoothing must be")):
        with pytest.raises(InputError, match=words):
            NaiveBayes(**options).fit(X, y > 2.5)
