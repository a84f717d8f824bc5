"""Friedman's H: the slow twin, closed forms, trees and questions to the model alike."""

import itertools
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy.stats import t
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from pellucid import Explainer
from pellucid.methods.interactions.estimation.dividends import find_dividends
from pellucid.methods.interactions.h_statistic import _portions
from pellucid.methods.interactions.request import Request
from reference.h_statistic import h_of_feature, h_of_set
from strategies import QUICK, additive, bent, tables

CLOSE = {"rtol": 0, "atol": 1e-9}


def hidden(predict):
    """A model that can only be asked."""

    def ask(X):
        return predict(X)

    return ask


def counting(table):
    return len(table.rows) > 1 and sum(mass > 0 for mass in table.mass) > 1


# -- the definition ----------------------------------------------------------------------------------


@given(tables(most=10))
@QUICK
def test_pairs_and_triples_equal_the_slow_twin(table):
    if not counting(table):
        return
    ex = table.explainer(bent)
    for against in ("pairs", "triples"):
        result = ex.interactions(against=against, rows=100)
        players = [[j] for j in range(3)]
        for s, names in enumerate(result.sets):
            members = [ex.data.schema.index(name) for name in names]
            h, strength = h_of_set(bent, table.rows, table.mass, players, members)
            assert result.strength[s] == pytest.approx(strength, abs=1e-9)
            if strength > 1e-6:
                assert result.values[s] == pytest.approx(h, rel=1e-7)


@given(tables(most=10))
@QUICK
def test_a_feature_against_all_equals_the_slow_twin(table):
    if not counting(table):
        return
    result = table.explainer(bent).interactions(against="all", rows=100)
    for j, value in enumerate(result.values):
        h, strength = h_of_feature(bent, table.rows, table.mass, [[j] for j in range(3)], j)
        assert result.strength[j] == pytest.approx(strength, abs=1e-9)
        if strength > 1e-6:
            assert value == pytest.approx(h, rel=1e-7)


@given(tables(most=10))
@QUICK
def test_exactly_nothing_in_an_additive_model(table):
    if not counting(table):
        return
    for against in ("pairs", "triples", "all"):
        result = table.explainer(additive).interactions(against=against, rows=100)
        np.testing.assert_array_equal(result.values, 0.0)
        np.testing.assert_array_equal(result.high, 0.0)


# -- closed forms ------------------------------------------------------------------------------------


def houses(price):
    table = pd.DataFrame({"good": [1.0, 1.0, 0.0, 0.0], "big": [1.0, 0.0, 1.0, 0.0]})
    prices = {(1.0, 1.0): price, (1.0, 0.0): 200_000.0, (0.0, 1.0): 250_000.0, (0.0, 0.0): 150_000.0}
    return Explainer(
        lambda X: np.array([prices[row] for row in zip(X["good"], X["big"], strict=True)]), table, checks=False
    )


def test_ex_05_house_prices_without_interaction():
    result = houses(300_000.0).interactions()
    assert result.values[0] == 0.0
    assert result.strength[0] == 0.0
    assert result.joint[0] == pytest.approx(1.0)


def test_ex_06_house_prices_with_interaction():
    ex = houses(400_000.0)
    result = ex.interactions()
    assert result.pair("good", "big") ** 2 == pytest.approx(1 / 14)
    assert result.strength[0] * np.sqrt(4) == pytest.approx(50_000)  # the textbook sums over the rows
    assert ex.interactions(normalize=False).values[0] == pytest.approx(25_000)
    np.testing.assert_allclose(ex.interactions(against="all").values ** 2, 1 / 14)


def test_ex_07_exponential_line_and_saddle():
    grid = np.linspace(-1, 1, 30)
    X = np.array([(a, b) for a in grid for b in grid])
    ex = Explainer(lambda X: 2 + np.exp(X[:, 0]) - X[:, 1] + X[:, 0] * X[:, 1], X, checks=False)
    result = ex.interactions(rows=900)
    assert result.values[0] ** 2 == pytest.approx(0.13318, abs=5e-6)
    assert result.strength[0] == pytest.approx(np.mean(grid**2))  # the root mean square of the saddle


def test_a_product_of_centred_features_is_all_interaction():
    X = np.array([(a, b) for a in (-2.0, -1.0, 3.0) for b in (-1.0, 1.0, 5.0, -5.0)])
    ex = Explainer(lambda X: X[:, 0] * X[:, 1], X, checks=False)
    for against in ("pairs", "all"):
        np.testing.assert_allclose(ex.interactions(against=against).values, 1.0)


def test_three_signs_are_one_triple():
    X = np.array([(a, b, c) for a in (-1.0, 1.0) for b in (-1.0, 1.0) for c in (-1.0, 1.0)])
    ex = Explainer(lambda X: X[:, 0] * X[:, 1] * X[:, 2] + X[:, 0], X, checks=False)
    np.testing.assert_array_equal(ex.interactions().values, 0.0)
    triple = ex.interactions(against="triples")
    assert triple.values[0] == pytest.approx(np.sqrt(1 / 2))
    assert triple.strength[0] == pytest.approx(1.0)


def diagonal(curve):
    """Two features that are always equal, with a product that their curves counter."""
    X = np.repeat([[-1.0, -1.0], [0.0, 0.0], [1.0, 1.0]], 10, axis=0)
    return Explainer(lambda X: curve * X[:, 0] ** 2 - X[:, 0] * X[:, 1], X)


def test_above_one_where_effects_cancel():
    result = diagonal(0.5).interactions()
    assert result.values[0] == pytest.approx(2.0)  # x^2 against what is left of it, a half
    assert "above-one" in {caveat.code for caveat in result.caveats}


def test_interaction_over_no_joint_effect_is_unknown():
    result = diagonal(1.0).interactions()
    assert np.isnan(result.values[0])
    assert result.strength[0] == pytest.approx(np.sqrt(2 / 9))
    assert result.joint[0] == 0
    assert result.text()


# -- one answer, however it is found ------------------------------------------------------------------


def friedman(n=60, seed=0):
    X = np.random.default_rng(seed).random((n, 5)).round(2)
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 3] * X[:, 4]
    return X, y


@pytest.mark.parametrize("against", ["pairs", "all", "triples"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_trees_equal_the_model_asked(against, weighted, grouped):
    X, y = friedman(40)
    model = HistGradientBoostingRegressor(max_iter=30, min_samples_leaf=3).fit(np.where(X < 0.1, np.nan, X), y)
    X = np.where(X < 0.1, np.nan, X)
    options = {
        "sample_weight": np.arange(40) % 4 if weighted else None,
        "groups": {"pair": ["x1", "x3"]} if grouped else None,
        "checks": False,
    }
    read = Explainer(model, X, **options).interactions(against=against)
    asked = Explainer(hidden(model.predict), X, **options).interactions(against=against)
    assert (read.settings["source"], asked.settings["source"]) == ("trees", "model")
    assert read.sets == asked.sets
    assert read.values.max() > 0.02
    for field in ("strength", "joint"):
        np.testing.assert_allclose(getattr(read, field), getattr(asked, field), **CLOSE)
    for field in ("values", "se", "low", "high"):
        np.testing.assert_allclose(getattr(read, field), getattr(asked, field), rtol=0, atol=1e-7)


@pytest.mark.parametrize("against", ["pairs", "all"])
def test_forests_of_several_classes_equal_the_model_asked(against):
    X, y = friedman(40)
    labels = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    model = RandomForestClassifier(8, random_state=0).fit(X, labels)
    read = Explainer(model, X, checks=False).interactions(against=against)
    asked = Explainer(hidden(model.predict_proba), X, checks=False).interactions(against=against)
    assert read.values.shape == (len(read.sets), 3)
    assert (read.settings["source"], asked.settings["source"]) == ("trees", "model")
    np.testing.assert_allclose(read.values, asked.values, **CLOSE)
    one = Explainer(model, X, output=1, checks=False).interactions(against=against)
    np.testing.assert_allclose(one.values, read.values[:, 1], rtol=1e-12, atol=1e-14)


def test_boosted_probabilities_are_asked_and_log_odds_read():
    X, y = friedman(30)
    model = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, y > np.median(y))
    probability = Explainer(model, X, checks=False).interactions()
    assert probability.settings["source"] == "model"
    assert probability.scale == "probability"
    log_odds = Explainer(model, X, link="logit", checks=False).interactions()
    assert log_odds.settings["source"] == "trees"
    asked = Explainer(hidden(model.decision_function), X, checks=False).interactions()
    np.testing.assert_allclose(log_odds.values, asked.values, **CLOSE)


def test_linear_models_have_exactly_nothing():
    X, y = friedman(50)
    ex = Explainer(LinearRegression().fit(X, y), X, checks=False)
    for against in ("pairs", "all", "triples"):
        result = ex.interactions(against=against)
        assert result.settings["source"] == "linear"
        np.testing.assert_array_equal(result.values, 0.0)
    log_odds = Explainer(LogisticRegression().fit(X, y > 12), X, link="logit", checks=False).interactions()
    assert log_odds.settings["source"] == "linear"
    np.testing.assert_array_equal(log_odds.values, 0.0)
    share = Explainer(LogisticRegression(C=100).fit(X, y > 12), X, checks=False).interactions()
    assert share.values.max() > 0.01  # in probabilities there is some
    joint = Explainer(LinearRegression().fit(X[:, :2], y), X[:, :2], checks=False).interactions().joint
    np.testing.assert_allclose(joint, 1.0)


def test_a_linear_model_of_products_interacts():
    X, _ = friedman(50)
    model = make_pipeline(PolynomialFeatures(interaction_only=True), LinearRegression()).fit(X, X[:, 0] * X[:, 1])
    result = Explainer(model, X, checks=False).interactions()
    assert result.top(1) == [("x0", "x1")]
    assert result.pair("x0", "x1") > 0.1


# -- rows --------------------------------------------------------------------------------------------


def test_a_background_of_ones_own_stands_for_absent():
    X, y = friedman(30)
    model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
    background = friedman(12, seed=3)[0]
    read = Explainer(model, X, background=background, checks=False).interactions()
    asked = Explainer(hidden(model.predict), X, background=background, checks=False).interactions()
    np.testing.assert_allclose(read.values, asked.values, **CLOSE)
    whole = Explainer(model, X, checks=False).interactions()
    assert np.abs(whole.values - read.values).max() > 1e-3


def test_rows_are_as_many_as_the_budget_buys():
    X, _ = friedman(600)
    result = Explainer(lambda X: X[:, 0] * X[:, 1] + X[:, 2], X).interactions()
    assert result.settings["rows"] == 447  # squared, times fifteen coalitions: three million model rows
    assert "rows-sampled" not in {caveat.code for caveat in result.caveats}  # enough of them; the interval tells
    again = Explainer(lambda X: X[:, 0] * X[:, 1] + X[:, 2], X, random_state=5).interactions()
    assert again.values[0] != result.values[0]
    assert result.low[0] < again.values[0] < result.high[0]


def test_rows_are_those_asked_for():
    X, y = friedman(80)
    model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
    some = Explainer(model, X, checks=False).interactions(rows=30)
    asked = Explainer(hidden(model.predict), X, checks=False).interactions(rows=30)
    assert some.settings["rows"] == asked.settings["rows"] == 30
    np.testing.assert_allclose(some.values, asked.values, **CLOSE)


def test_every_partial_dependence_is_asked_once():
    X, _ = friedman(20)
    X = X + np.arange(20)[:, None] * 1e-6  # no value twice
    ex = Explainer(lambda X: X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] * X[:, 4], X, checks=False)
    run = ex._run("parts")
    players = ex.data.schema.players()
    triples = tuple(combinations(range(5), 3))
    request = Request(ex.predictor, ex.data, None, players, triples, "triples", True, False, None, run)
    found = find_dividends(request)
    start = run.cost().model_rows
    found.dividends(triples)
    asked = run.cost().model_rows - start
    assert asked == (5 + 10 + 10) * 20 * 20
    found.dividends([(0, 1), (2,), (0, 1, 2)])
    assert run.cost().model_rows - start == asked


def test_portions_of_sets_are_the_sets_in_order():
    sets = tuple(itertools.combinations(range(7), 2))
    parts = list(_portions(sets, cells=100, most=2000))
    assert len(parts) == 5
    assert [members for part in parts for members in part] == list(sets)
    assert list(_portions(sets, cells=100)) == [list(sets)]


# -- intervals ---------------------------------------------------------------------------------------


def test_intervals_hold_the_value_of_all_rows():
    """Of 60 samples of 150 rows, the 95% interval of the saddle's strength misses the truth rarely."""
    rng = np.random.default_rng(0)
    misses = 0
    for _ in range(60):
        X = rng.uniform(-1, 1, size=(150, 2))
        model = Explainer(lambda X: X[:, 0] + X[:, 0] * X[:, 1], X, checks=False)
        result = model.interactions(normalize=False, rows=150)
        misses += not result.low[0] <= 1 / 3 <= result.high[0]
    assert misses <= 9


def test_intervals_shrink_with_the_rows():
    X = np.random.default_rng(0).normal(size=(4000, 3)).round(1)
    y = X[:, 0] * X[:, 1] + X[:, 2]
    model = GradientBoostingRegressor(n_estimators=25, random_state=0).fit(X, y)
    few = Explainer(model, X[:250], checks=False).interactions(features=("x0", "x1"))
    many = Explainer(model, X, checks=False).interactions(features=("x0", "x1"))
    assert 2.5 < few.se[0] / many.se[0] < 6.5  # sqrt(16) = 4
    assert few.low[0] <= few.values[0] <= few.high[0]
    assert (few.low >= 0).all()


def test_the_interval_of_few_rows_is_the_jackknife_of_the_whole_statistic():
    """Without a tenth of the rows, neither explained nor in the background; Student's interval of logarithms."""
    X = np.random.default_rng(2).normal(size=(23, 3))

    def f(X):
        return X[:, 0] + X[:, 0] * X[:, 1] * (1 + X[:, 2])

    result = Explainer(f, X, checks=False).interactions((0, 1))
    tenth = np.arange(23) % 10
    without = np.array([Explainer(f, X[tenth != b], checks=False).interactions((0, 1)).values[0] for b in range(10)])
    logs = np.log(without)
    half = t.ppf(0.975, 9) * np.sqrt(0.9 * np.square(logs - logs.mean()).sum())
    value = result.values[0]
    np.testing.assert_allclose(
        [result.low[0], result.high[0]], [value * np.exp(-half), value * np.exp(half)], rtol=1e-9
    )
    assert result.se[0] == pytest.approx(np.sqrt(0.9 * np.square(without - without.mean()).sum()))


# -- odd data ----------------------------------------------------------------------------------------


def test_single_precision_is_no_interaction():
    X = np.random.default_rng(0).normal(size=(50, 3))
    ex = Explainer(lambda X: (1000 + np.exp(X).sum(axis=1)).astype(np.float32), X, checks=False)
    np.testing.assert_array_equal(ex.interactions().values, 0.0)


def test_a_constant_prediction_and_a_constant_feature():
    X, _ = friedman(20)
    flat = Explainer(lambda X: np.full(len(X), 7.3), X).interactions()
    for field in ("values", "se", "low", "high", "strength", "joint"):
        np.testing.assert_array_equal(getattr(flat, field), 0.0)
    X[:, 1] = 0.5
    still = Explainer(lambda X: X[:, 0] * X[:, 1], X).interactions()
    np.testing.assert_array_equal(still.values, 0.0)


def test_large_numbers_lose_no_small_interaction():
    X, _ = friedman(40)
    small = Explainer(lambda X: 1e-3 * X[:, 0] * X[:, 1], X, checks=False).interactions(normalize=False)
    shifted = Explainer(lambda X: 1e6 + 1e-3 * X[:, 0] * X[:, 1], X, checks=False).interactions(normalize=False)
    assert shifted.values[0] == pytest.approx(small.values[0], rel=1e-4)
    np.testing.assert_array_equal(shifted.values[1:], 0.0)
