"""Worked examples of anchors on the real tables."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from methods.rules.asking import ask
from oracles.conftest import read
from pellucid import Explainer

CUTS = {"temp": [0, 7, 14, 21, 28], "hum": [30, 60, 69, 92], "windspeed": [5, 10, 15, 20, 25]}


def forest(X, y, trees=60, **options):
    words = [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])]
    encoder = make_column_transformer((OneHotEncoder(sparse_output=False), words), remainder="passthrough")
    return make_pipeline(encoder, RandomForestClassifier(trees, random_state=0, **options)).fit(X, y)


@pytest.fixture(scope="module")
def titanic():
    table = read("titanic.csv").dropna(subset=["gender", "age", "class", "embarked", "fare", "sibsp", "parch"])
    X = table[["gender", "age", "class", "embarked", "fare", "sibsp", "parch"]].reset_index(drop=True)
    y = np.where(table["survived"].isin(["yes", 1, True]), "survived", "died")
    return Explainer(forest(X, y, min_samples_leaf=5), X, y), X


ROW = {
    "gender": "female",
    "age": 20.0,
    "class": "1st",
    "embarked": "Southampton",
    "fare": 300.0,
    "sibsp": 0,
    "parch": 0,
}


@pytest.mark.parametrize("perturb", ["data", "conditional"])
def test_ex_22_women_in_first_class_survived(titanic, perturb):
    explainer, X = titanic
    rule = ask(explainer, ROW, perturb=perturb)
    assert rule.reached
    assert {condition.words for condition in rule.conditions} == {"gender = female", "class = 1st"}
    assert rule.precision >= 0.95
    assert rule.coverage == pytest.approx(((X["gender"] == "female") & (X["class"] == "1st")).mean())
    assert rule.prediction == "survived"


@pytest.fixture(scope="module")
def trend(bike):
    """Whether the rentals are above or below their linear trend."""
    X, cnt = bike
    line = np.polyfit(X["days_since_2011"], cnt, 1)
    labels = np.where(cnt > np.polyval(line, X["days_since_2011"]), "above", "below")
    return Explainer(forest(X, labels), X, labels)


def test_ex_23_temperature_decides_most(trend):
    rows = [row - 1 for row in (40, 475, 610, 106, 200, 700)]  # counted from 1 in the example
    rules = ask(trend, rows, precision=0.9, beams=1, bins=CUTS)
    assert all(rule.reached for rule in rules)
    used = [sum(name in rule.players for rule in rules) for name in rules.feature_names]
    assert rules.feature_names[int(np.argmax(used))] == "temp"
    assert max(used) >= 5
    edges = {-np.inf, 0, 7, 14, 21, 28, np.inf}
    cuts = [c for rule in rules for c in rule.conditions if c.feature == "temp"]
    assert all({c.low, c.high} <= edges for c in cuts)


def test_ex_23_rows_at_the_boundary_have_long_rules_that_cover_little(trend):
    inner = ask(trend, [39, 699], precision=0.9, beams=1, bins=CUTS)
    boundary = ask(trend, [451, 299], precision=1.0, beams=1, bins=CUTS)
    assert min(len(rule.conditions) for rule in boundary) > max(len(rule.conditions) for rule in inner)
    assert max(rule.coverage for rule in boundary) < 0.03
    assert all(rule.base < 0.6 for rule in boundary)
    assert "anchor-boundary" in {caveat.code for caveat in boundary.caveats}
    assert "anchor-boundary" not in {caveat.code for caveat in inner.caveats}


@pytest.fixture(scope="module")
def women(cervical):
    X, y = cervical
    model = RandomForestClassifier(
        60, min_samples_leaf=2, class_weight={"Cancer": 4, "Healthy": 1}, random_state=2
    ).fit(X, y)
    return Explainer(model, X, y), model.predict(X)


def test_ex_24_few_women_with_cancer(women):
    """Unbalanced: no condition for the common class, an over-specific rule for the rare one. Balanced: both are rules."""
    explainer, predicted = women
    rare, common = np.flatnonzero(predicted == "Cancer"), np.flatnonzero(predicted == "Healthy")
    rows = [int(rare[0]), int(rare[1]), int(common[0]), int(common[1])]
    usual = ask(explainer, rows, precision=0.9, beams=2)
    even = ask(explainer, rows, precision=0.9, beams=2, perturb="balanced")
    assert [len(rule.conditions) for rule in usual][2:] == [0, 0]
    assert all(rule.base < 0.1 for rule in usual.rules[:2])
    assert min(len(rule.conditions) for rule in usual.rules[:2]) >= 3
    assert "anchor-imbalance" in {caveat.code for caveat in usual.caveats}
    assert min(len(rule.conditions) for rule in even) >= 1
    assert all(rule.base == pytest.approx(0.5) for rule in even)
    assert np.mean([rule.coverage for rule in even.rules[:2]]) >= np.mean([rule.coverage for rule in usual.rules[:2]])
    assert "anchor-imbalance" not in {caveat.code for caveat in even.caveats}
