"""The score against a constant, checked against scikit-learn's metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, mean_absolute_error, r2_score, roc_auc_score
from sklearn.svm import LinearSVC

from golden_files import masked
from pellucid import Explainer
from pellucid.report.performance import Score, importance_loss, measured, scores
from pellucid.report.work import Work
from pellucid.words import number, percent

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))


def by_name(explainer: Explainer) -> dict[str, Score]:
    return {score.measure: score for score in scores(measured(explainer, Work(1, None)))}


def test_regression(golden: Any) -> None:
    weights = RNG.uniform(0.5, 2, size=120)
    y = X @ [1.0, 2.0, 0.0] + RNG.normal(size=120)
    prediction = X @ [1.0, 2.0, 0.0]
    found = by_name(Explainer(lambda rows: rows @ [1.0, 2.0, 0.0], X, y, sample_weight=weights, progress=False))
    r2 = r2_score(y, prediction, sample_weight=weights)
    assert (found["R²"].model, found["R²"].constant) == (number(r2), "0")
    assert percent(r2) in found["R²"].words
    golden("report", "scores of a regression", [masked(score.words) for score in found.values() if score.words])
    mae = mean_absolute_error(y, prediction, sample_weight=weights)
    assert found["Mean absolute error"].model == number(mae)
    mean = np.full(120, np.average(y, weights=weights))
    assert found["Mean absolute error"].constant == number(mean_absolute_error(y, mean, sample_weight=weights))


def test_a_model_worse_than_the_mean_explains_nothing(golden: Any) -> None:
    found = by_name(Explainer(lambda rows: -5 * rows[:, 0], X, X[:, 0], progress=False))
    golden("report", "scores of a model worse than the mean", found["R²"].words)


def test_a_constant_outcome_has_no_variance_to_explain() -> None:
    assert "R²" not in by_name(Explainer(lambda rows: rows[:, 0], X, np.ones(120), progress=False))


def test_two_classes(golden: Any) -> None:
    y = np.where(X[:, 0] + RNG.normal(size=120) > 0.3, "yes", "no")
    model = LogisticRegression().fit(X, y)
    found = by_name(Explainer(model, X, y, progress=False))
    shares = model.predict_proba(X)
    error = 1 - accuracy_score(y, model.predict(X))
    assert (found["Error rate"].model, found["Error rate"].constant) == (percent(error), percent((y == "yes").mean()))
    assert found["AUC"].model == number(roc_auc_score(y, shares[:, 1]))
    assert found["AUC"].constant == "0.5"
    golden("report", "scores of two classes", [masked(score.words) for score in found.values() if score.words])
    assert found["Log loss"].model == number(log_loss(y, shares))


def test_three_classes() -> None:
    data = load_iris()
    model = LogisticRegression(C=0.01, max_iter=500).fit(data.data, data.target)
    found = by_name(Explainer(model, data.data, data.target, progress=False))
    assert found["AUC"].model == number(roc_auc_score(data.target, model.predict_proba(data.data), multi_class="ovr"))
    assert found["Log loss"].constant == number(float(np.log(3)))


def test_scores_that_are_no_probabilities_have_no_log_loss() -> None:
    y = (X[:, 0] > 0).astype(int)
    explainer = Explainer(LinearSVC().fit(X, y), X, y, progress=False)
    assert list(by_name(explainer)) == ["Error rate", "AUC"]
    assert importance_loss(explainer) == "error"


def test_one_class_only(golden: Any) -> None:
    y = (X[:, 0] > 0).astype(int)
    model = LogisticRegression().fit(X, y)
    found = by_name(Explainer(model, X[y == 1], y[y == 1], progress=False))
    assert list(found) == ["Error rate", "Log loss"]
    golden("report", "scores of one class", [masked(score.words) for score in found.values() if score.words])


@pytest.mark.parametrize("y", [None, X[:, 0]])
def test_several_outputs_are_scored_only_against_as_many_outcomes(y: Any) -> None:
    explainer = Explainer(lambda rows: rows[:, :2], X, y, progress=False)
    assert scores(measured(explainer, Work(1, None))) == []
    assert importance_loss(explainer) == "variance"


def test_several_outcomes() -> None:
    explainer = Explainer(lambda rows: rows[:, :2], X, X[:, :2], progress=False)
    assert by_name(explainer)["R²"].model == "1"
