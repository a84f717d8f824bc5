"""Sobol indices: closed forms, trees against every combination of values, intervals that hold what they promise."""

import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from pellucid import Explainer, InputError
from pellucid.methods.importance.estimation import pick_freeze
from pellucid.methods.importance.estimation.inputs import Inputs
from pellucid.methods.importance.sobol import _by_trees
from pellucid.runner import Run
from reference.sobol import even_rows, g_function, g_function_indices, ishigami, ishigami_indices, product_table, sobol

SLOW = os.environ.get("PELLUCID_SLOW") == "1"
A = np.array([0.0, 1.0, 4.5, 9.0, 99.0, 99.0, 99.0, 99.0])


def indices(model, X, **options):
    asked = {key: options.pop(key) for key in ("budget", "tolerance") if key in options}
    return Explainer(model, X, progress=False, **options).importance(method="sobol", **asked)


def combinations_of(predict, X, columns, weights=None):
    """Indices by the definition, each player as it is distributed in the rows."""
    X = np.asarray(X, dtype=float)
    weights = np.ones(len(X)) if weights is None else np.asarray(weights)
    table, mass, numbers = product_table(
        [X[:, list(c)] for c in columns], [weights / weights.sum()] * len(columns), columns, X.shape[1]
    )
    predictions = np.asarray(predict(table))
    predictions = predictions.reshape(len(table), -1)
    parts = [sobol(p, mass, numbers) for p in predictions.T]
    first, total = (np.stack([part[i] / part[0] for part in parts], axis=1) for i in (1, 2))
    return first.squeeze(), total.squeeze()


# -- closed forms ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "ranges", "truth", "error"),
    [
        (ishigami, [(-np.pi, np.pi)] * 3, ishigami_indices(), 5e-4),
        (lambda X: g_function(X, A), [(0, 1)] * 8, g_function_indices(A), 2e-3),
        (lambda X: g_function(X, A, shift=0.17), [(0, 1)] * 8, g_function_indices(A), 1e-2),
    ],
    ids=["Ishigami", "g-function", "g-function with shifted kinks"],
)
def test_textbook_functions(model, ranges, truth, error):
    found = indices(model, even_rows(4096, ranges), checks=False, budget=20_000)
    assert found.cost.model_rows <= 20_000
    np.testing.assert_allclose(found.first, truth[0], atol=error)
    np.testing.assert_allclose(found.values, truth[1], atol=error)
    assert (np.abs(found.values - truth[1]) <= 6 * found.se + 1e-6).all()
    assert (np.abs(found.first - truth[0]) <= 6 * found.first_se + 1e-6).all()
    assert (found.low <= found.values).all()
    assert (found.values <= found.high).all()


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=5), st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_a_linear_model_shares_by_squared_slopes_times_variances(slopes, seed):
    slopes = np.where(np.abs(slopes) < 0.01, 0.0, slopes)
    X = np.random.default_rng(seed).exponential(size=(60, len(slopes)))
    parts = slopes**2 * X.var(axis=0)
    expected = parts / parts.sum() if parts.sum() > 0 else parts
    found = indices(lambda X: X @ slopes + 5, X)
    np.testing.assert_allclose(found.values, expected, atol=1e-5)
    np.testing.assert_allclose(found.first, expected, atol=1e-5)


def test_a_product_of_centred_features_is_all_interaction():
    X = np.random.default_rng(0).normal(size=(500, 3))
    X -= X.mean(axis=0)
    found = indices(lambda X: X[:, 0] * X[:, 1], X)
    np.testing.assert_allclose(found.values, [1, 1, 0], atol=1e-6)
    np.testing.assert_allclose(found.first, 0, atol=1e-6)
    assert found.values[2] == found.se[2] == found.first[2] == 0  # unused: exactly nothing


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=10, deadline=None)
def test_any_function_of_few_values_is_within_its_errors_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(3, 2, 4))
    X = np.column_stack([rng.integers(0, n, 12) for n in table.shape]).astype(float)
    X[:3] = [[0, 0, 0], [1, 1, 1], [2, 1, 3]]
    weights = rng.integers(1, 4, 12)

    def model(X):
        return table[tuple(X.astype(int).T)]

    first, total = combinations_of(model, X, [(0,), (1,), (2,)], weights)
    found = indices(model, X, sample_weight=weights, budget=20_000)
    assert (np.abs(found.values - total) <= 7 * found.se + 1e-9).all()
    assert (np.abs(found.first - first) <= 7 * found.first_se + 1e-9).all()


def test_a_group_is_one_player_and_keeps_its_company():
    # x1 = x0 always: as a group their sum has variance 4, as independent features 2.
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    X = np.column_stack([x, x, rng.permutation(x)])
    found = indices(lambda X: X[:, 0] + X[:, 1] + X[:, 2], X, groups={"both": [0, 1]})
    np.testing.assert_allclose(found.values, [0.8, 0.2], atol=1e-6)
    assert found.members == (("x0", "x1"), ("x2",))


# -- trees -------------------------------------------------------------------------------------------


def small(n=9, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1)
    return X, X[:, 0] * X[:, 1] + X[:, 2] + np.abs(X[:, 0])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("groups", [None, {"pair": [0, 2]}])
def test_trees_are_exact(weighted, groups):
    X, y = small()
    model = GradientBoostingRegressor(n_estimators=20, max_depth=3, random_state=0).fit(X, y)
    weights = np.arange(9) % 3 + 1.0 if weighted else None
    columns = [(0,), (1,), (2,)] if groups is None else [(0, 2), (1,)]
    first, total = combinations_of(model.predict, X, columns, weights)
    found = indices(model, X, groups=groups, sample_weight=weights)
    assert found.settings["how"] == "exact"
    assert not found.se.any()
    np.testing.assert_allclose(found.values, total, atol=1e-9)
    np.testing.assert_allclose(found.first, first, atol=1e-9)
    np.testing.assert_array_equal(found.low, found.high)


def test_several_classes_of_a_forest_are_exact():
    X, y = small(12)
    labels = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    model = RandomForestClassifier(10, random_state=0).fit(X, labels)
    first, total = combinations_of(model.predict_proba, X, [(0,), (1,), (2,)])
    found = indices(model, X)
    assert found.settings["how"] == "exact"
    assert found.values.shape == (3, 3)
    np.testing.assert_allclose(found.values, total, atol=1e-9)
    np.testing.assert_allclose(found.first, first, atol=1e-9)


def test_one_hot_codes_are_one_feature():
    X, y = small(8)
    table = pd.DataFrame({"level": list("abcabcab"), "x": X[:, 0], "z": X[:, 1]})
    y = y + 2 * (table["level"] == "b") * X[:, 0]
    encoder = make_column_transformer((OneHotEncoder(), ["level"]), remainder=StandardScaler())
    model = make_pipeline(encoder, RandomForestRegressor(20, random_state=0)).fit(table, y)
    found = indices(model, table)
    assert found.settings["how"] == "exact"
    codes = np.column_stack([pd.factorize(table[c])[0] for c in table])

    def predict(numbers):
        columns = {
            name: [table[name].iloc[list(codes[:, j]).index(int(v))] for v in numbers[:, j]]
            for j, name in enumerate(table)
        }
        return model.predict(pd.DataFrame(columns))

    first, total = combinations_of(predict, codes, [(0,), (1,), (2,)])
    np.testing.assert_allclose(found.values, total, atol=1e-9)
    np.testing.assert_allclose(found.first, first, atol=1e-9)


def test_trees_that_are_too_many_are_sampled_and_agree():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 4))
    y = np.sin(6 * X[:, 0]) * X[:, 1] + X[:, 2]
    model = GradientBoostingRegressor(max_depth=2, n_estimators=60, random_state=0).fit(X, y)
    exact = indices(model, X)
    ex = Explainer(model, X, checks=False)
    inputs = Inputs.of_rows(ex.data, list(ex.data.schema.players().values()), {})
    for most, answered in ((1e9, True), (0, False)):
        assert (_by_trees(ex.predictor, ex.data, inputs, ex._run("sobol"), most) is not None) == answered
    sampled = indices(lambda X: 1.0 * model.predict(X), X)
    assert sampled.settings["how"] == "sampled"
    assert (np.abs(sampled.values - exact.values) <= 6 * sampled.se + 1e-9).all()
    assert (np.abs(sampled.first - exact.first) <= 6 * sampled.first_se + 1e-9).all()
    assert sampled.se.max() < 0.01


def test_the_scale_that_is_explained_decides_whether_trees_can_answer():
    X, y = small(60)
    model = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, y > 0)
    assert indices(model, X).settings["how"] == "sampled"  # probabilities are no sums of trees
    odds = indices(model, X, link="logit")
    assert odds.settings["how"] == "exact"
    assert odds.scale == "log-odds"


# -- sampling ----------------------------------------------------------------------------------------


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    X = np.random.default_rng(0).normal(size=(40, 4))
    slopes = np.random.default_rng(1).normal(size=(4, 3))

    def rough(X):  # steps that no control variate resembles
        return np.floor(2 * np.sin(X @ slopes * 2)).prod(axis=1) + np.floor(3 * X[:, 0])

    truth = indices(rough, X, budget=3_000_000 if SLOW else 600_000, random_state=999, checks=False)
    held = []
    for seed in range(200 if SLOW else 20):
        found = indices(rough, X, budget=4000, random_state=seed, checks=False)
        width = pick_freeze.half_width(found.settings["scramblings"])
        for value, se, true in ((found.values, found.se, truth.values), (found.first, found.first_se, truth.first)):
            held.append(np.abs(value - true) <= width * se)
    # 95% intervals; three standard errors of the share are allowed in the short run
    assert 0.90 - (0 if SLOW else 0.03) <= np.mean(held) <= 0.985 + (0 if SLOW else 0.015)


def test_the_control_variate_takes_most_of_the_error_away():
    ex = Explainer(ishigami, even_rows(1024, [(-np.pi, np.pi)] * 3), checks=False)
    inputs = Inputs.of_rows(ex.data, [(0,), (1,), (2,)], {})
    errors = {}
    for controlled in (True, False):
        options = {"budget": 5000, "controlled": controlled}
        runs = [pick_freeze.pick_freeze(Run(seed=s), ex.predictor, inputs, **options) for s in range(4)]
        apart = [found.shares(found.total)[0][:, 0] - ishigami_indices()[1] for found in runs]
        errors[controlled] = np.sqrt(np.mean(np.square(apart)))
    assert errors[True] < errors[False] / 10


def test_tolerance_ends_the_sampling_and_budget_bounds_it():
    X = np.random.default_rng(0).normal(size=(200, 3))

    def model(X):
        return np.floor(4 * np.sin(3 * X[:, 0] * X[:, 1])) + X[:, 2]

    rough = indices(model, X, tolerance=0.05)
    fine = indices(model, X, tolerance=0.01)
    width = pick_freeze.half_width(8)
    assert width * fine.se.max() <= 0.01
    assert width * rough.se.max() <= 0.05
    assert rough.cost.model_rows < fine.cost.model_rows
    bounded = indices(model, X, tolerance=1e-9, budget=30_000)
    assert 10_000 < bounded.cost.model_rows <= 30_000
    assert "rough-shares" in {caveat.code for caveat in bounded.caveats}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 100}, "budget=100 is too small: 3 features take at least 320 model rows"),
        ({"budget": 0}, "budget must be"),
        ({"tolerance": -1}, "tolerance must be"),
    ],
)
def test_amounts_that_cannot_be_are_refused(options, message):
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(InputError, match=message):
        indices(lambda X: X[:, 0] * X[:, 1], X, **options)


def test_an_interruption_keeps_what_is_known():
    X = np.random.default_rng(0).normal(size=(50, 2))
    calls = {"n": 0}

    def model(X):
        calls["n"] += 1
        if calls["n"] == 9:  # two calls of the Explainer, then one for each scrambling
            raise KeyboardInterrupt
        return X[:, 0] + 2 * X[:, 1]

    found = indices(model, X, checks=True)
    assert found.settings["scramblings"] == 6  # an even number of the seven that were asked
    assert [caveat.code for caveat in found.caveats] == ["partial"]
    np.testing.assert_allclose(found.values, X.var(axis=0) * [1, 4] / (X.var(axis=0) @ [1, 4]), atol=1e-6)
    calls["n"] = 6
    with pytest.raises(KeyboardInterrupt):
        indices(model, X)


# -- corners -----------------------------------------------------------------------------------------


def test_constant_predictions_have_no_shares():
    X = np.random.default_rng(0).normal(size=(30, 2))
    for model in (lambda X: np.full(len(X), 7.0), LinearRegression().fit(X, np.ones(30))):
        found = indices(model, X)
        assert not found.values.any()
        assert not found.se.any()
        assert not found.first.any()
    flat = RandomForestRegressor(3, random_state=0).fit(X, np.ones(30))
    assert not indices(flat, X).values.any()


def test_one_feature_has_everything():
    X = np.random.default_rng(0).normal(size=(30, 1))
    found = indices(lambda X: np.exp(X[:, 0]), X)
    np.testing.assert_allclose(found.values, 1, atol=1e-6)
    np.testing.assert_allclose(found.first, 1, atol=1e-6)


def test_outputs_are_answered_one_by_one():
    X = np.random.default_rng(0).normal(size=(100, 2))
    found = indices(lambda X: np.column_stack([X[:, 0], X[:, 0] * X[:, 1], 0 * X[:, 0] + 1]), X)
    np.testing.assert_allclose(found.values[:, 0], [1, 0], atol=1e-9)
    np.testing.assert_allclose(found.values[:, 2], 0)
    assert (found.values[:, 1] > 0.9).all()
    assert found.repeats.shape == (2, found.settings["scramblings"], 3)


def test_an_overfitted_feature_is_important_here_and_not_on_test_data():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 4)), rng.normal(size=100)  # nothing to learn
    y = y + X[:, 0]
    model = RandomForestRegressor(30, random_state=0).fit(X, y)
    X_test = rng.normal(size=(1000, 4))
    y_test = X_test[:, 0] + rng.normal(size=1000)
    ex = Explainer(model, X_test, y_test, progress=False)
    by_variance, by_loss = ex.importance(method="sobol"), ex.importance(repeats=10)
    noise = int(np.argmax(by_variance.values[1:])) + 1
    assert by_variance.values[noise] > 0.1
    assert by_loss.values[noise] < 0.05 * by_loss.values[0]
    assert next(c.feature for c in by_variance.caveats if c.code == "not-borne-out") == f"x{noise}"
