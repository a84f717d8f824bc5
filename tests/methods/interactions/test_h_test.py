"""The test of no interaction: exact parts of it, its size where there is none, its power where there is one.

With PELLUCID_SLOW=1 there are 400 fitted models per scene, and the share of rejections has to lie closer to 5%.
"""

import os
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression

from pellucid import Explainer, InputError
from pellucid.data import Data
from pellucid.methods.interactions.estimation.h_test import _Model, holm, orthonormal, slope_p_value
from pellucid.methods.interactions.h_statistic import h_statistic
from pellucid.methods.interactions.request import Request

SLOW = os.environ.get("PELLUCID_SLOW") == "1"
RUNS = 400 if SLOW else 12
N = 200


# -- the parts ---------------------------------------------------------------------------------------


def hc2_by_definition(target, nuisance, y, weights):
    """t from the full regression with its whole covariance matrix."""
    from scipy import stats

    root = np.sqrt(weights)
    Z = np.column_stack([nuisance, target]) * root[:, None]
    inverse = np.linalg.inv(Z.T @ Z)
    beta = inverse @ Z.T @ (y * root)
    residual = y * root - Z @ beta
    leverage = np.einsum("ij,jk,ik->i", Z, inverse, Z)
    meat = Z.T @ (Z * (residual**2 / (1 - leverage))[:, None])
    se = np.sqrt((inverse @ meat @ inverse)[-1, -1])
    u = Z[:, -1] - Z[:, :-1] @ np.linalg.lstsq(Z[:, :-1], Z[:, -1], rcond=None)[0]
    rows = (u**2).sum() ** 2 / (u**4).sum()  # that carry the target
    return stats.t.sf(beta[-1] / se, min(len(y) - Z.shape[1], rows))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_slope_is_that_of_the_full_regression(seed):
    rng = np.random.default_rng(seed)
    nuisance = np.column_stack([np.ones(60), rng.normal(size=(60, 4))])
    target, weights = rng.normal(size=60), rng.uniform(0.2, 3, 60)
    y = rng.normal() * target + nuisance @ rng.normal(size=5) + rng.normal(size=60)
    expected = hc2_by_definition(target, nuisance, y, weights)
    doubled = np.column_stack([nuisance, nuisance[:, 1] * 2, np.zeros(60)])
    for columns in (nuisance, doubled):  # columns that add nothing are no matter
        assert slope_p_value(target, columns, y, weights) == pytest.approx(expected, rel=1e-6, abs=1e-12)
    assert slope_p_value(3 * target, nuisance, y, 7 * weights) == pytest.approx(expected, rel=1e-6, abs=1e-12)
    opposite = slope_p_value(-target, nuisance, y, weights)
    assert opposite == pytest.approx(1 - expected, rel=1e-6, abs=1e-12)


def test_nothing_left_of_the_interaction_is_no_evidence():
    x = np.linspace(0, 1, 50)
    columns = np.column_stack([np.ones(50), x])
    assert slope_p_value(2 + 3 * x, columns, x**2, np.ones(50)) == 1.0


def test_too_few_rows_say_nothing():
    rng = np.random.default_rng(0)
    assert np.isnan(slope_p_value(rng.normal(size=12), rng.normal(size=(12, 5)), rng.normal(size=12), np.ones(12)))


def test_orthonormal_spans_the_columns():
    rng = np.random.default_rng(0)
    columns = np.column_stack([rng.normal(size=(30, 3)) * [1, 1e6, 1e-6], np.zeros(30)])
    basis = orthonormal(np.column_stack([columns, columns[:, 0] + columns[:, 1]]))
    assert basis.shape == (30, 3)
    np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(basis @ (basis.T @ columns[:, 1]), columns[:, 1], rtol=1e-6)


def test_holm_by_hand():
    p = np.array([[0.01], [0.04], [0.03], [np.nan], [1.0]])
    np.testing.assert_allclose(holm(p)[:, 0], [0.04, 0.09, 0.09, np.nan, 1.0])


# -- size and power ----------------------------------------------------------------------------------


def features(rng, scene):
    Z = rng.normal(size=(2 * N, 5))
    if scene in ("correlated", "classes", "forest", "all"):
        return np.sqrt(0.5) * rng.normal(size=(2 * N, 1)) + np.sqrt(0.5) * Z
    if scene == "proxy":  # x2 goes with x1, which interacts with x0
        Z[:, 2] = 0.9 * Z[:, 1] + np.sqrt(1 - 0.81) * Z[:, 2]
    return Z


def curves(X):
    return np.sin(2 * X[:, 0]) + X[:, 1] ** 2 / 2 + np.abs(X[:, 2]) + X[:, 3] / 2


def p_values(scene, seed):
    """Of a model that overfits half of the rows, asked about the other half."""
    rng = np.random.default_rng(seed)
    X = features(rng, scene)
    if scene == "classes":
        chance = 0.5 + 0.15 * np.tanh(X[:, 0]) + 0.15 * np.tanh(2 * X[:, 1]) + 0.15 * np.sign(X[:, 2])
        y = (rng.random(2 * N) < chance).astype(int)
        model = RandomForestClassifier(30, max_depth=6, random_state=seed)
    else:
        noise = np.abs(X[:, 0] * X[:, 1]) + 0.3 if scene == "unequal" else 1.0
        product = X[:, 0] * X[:, 1] if scene in ("product", "proxy") else 0.0
        y = curves(X) + product + noise * rng.normal(size=2 * N)
        model = (
            RandomForestRegressor(30, random_state=seed)
            if scene == "forest"
            else GradientBoostingRegressor(n_estimators=60, max_depth=4, learning_rate=0.15, random_state=seed)
        )
    model.fit(X[:N], y[:N])
    ex = Explainer(model, X[N:], y[N:], checks=False)
    against = "all" if scene == "all" else "pairs"
    players = ex.data.schema.players()
    sets = tuple(combinations(range(5), 1 if against == "all" else 2))
    result = h_statistic(Request(ex.predictor, ex.data, None, players, sets, against, True, True, None, ex._run("h")))
    assert result.settings["source"] == "trees"
    return result.p_values


@pytest.mark.parametrize("scene", ["independent", "correlated", "unequal", "classes", "forest", "all"])
def test_five_percent_where_there_is_no_interaction(scene):
    p = np.array([p_values(scene, seed) for seed in range(RUNS)])
    share = (p < 0.05).mean()
    assert (0.025 if SLOW else 0.0) <= share <= (0.08 if SLOW else 0.13)
    assert (p < 0.5).mean() == pytest.approx(0.5, abs=0.06 if SLOW else 0.25)


@pytest.mark.parametrize("scene", ["product", "proxy"])
def test_power_where_there_is_one_and_none_for_the_others(scene):
    p = np.array([p_values(scene, seed) for seed in range(RUNS)])
    found = (p < 0.05).mean(axis=0)
    assert found[0] >= (0.95 if scene == "product" else 0.5)  # x0 and x1
    assert found[1] <= (0.12 if SLOW else 0.26)  # x0 and x2, which may go with x1
    assert found[1:].mean() <= (0.08 if SLOW else 0.12)


@pytest.mark.parametrize("n", [200, 600])
def test_effects_that_the_model_has_missed_are_not_taken_for_interactions_of_correlated_features(n):
    """Boxes of two features as the model's interaction, an additive truth that the model knows nothing of: what is left
    of it beside the interaction, in standard errors of noise of variance one.
    """
    rng = np.random.default_rng(0)
    X = np.sqrt(0.85) * rng.normal(size=(n, 1)) + np.sqrt(0.15) * rng.normal(size=(n, 5))
    sets = [*((j,) for j in range(5)), (0, 1)]
    left = []
    for _ in range(20):
        cuts = rng.normal(size=2)
        box = (X[:, 0] > cuts[0]) * (X[:, 1] > cuts[1]) * 1.0
        known = np.zeros((n, 6, 1))
        known[:, 5, 0] = box
        model = _Model(Data.of(X), [(j,) for j in range(5)], sets, known, box[:, None], np.corrcoef(X.T) - np.eye(5))
        basis = orthonormal(model.nuisance((0, 1), box, 0, single=False))
        u = box - basis @ (basis.T @ box)
        left.append(u @ curves(X) / np.sqrt(u @ u))
    assert np.sqrt(np.mean(np.square(left))) < 0.2


# -- asking for it -----------------------------------------------------------------------------------


def scene(n=300):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), "k": rng.choice(["p", "q", "r"], n)})
    X.loc[::9, "a"] = np.nan
    slope = X["k"].map({"p": -1.0, "q": 0.5, "r": 2.0})
    y = slope * X["b"] + X["a"].fillna(0.0) + rng.normal(size=n)

    def model(X):
        return (
            X["k"].map({"p": -1.0, "q": 0.5, "r": 2.0}) * X["b"]
            + X["a"].fillna(0.0)
            + 0.2 * X["a"].fillna(0.0) * X["b"]
        )

    return model, X, y.to_numpy()


def test_categories_and_missing_values():
    model, X, y = scene()
    result = Explainer(model, X, y, checks=False).interactions(rows=120, p_values=True)
    assert result.p_values[result.position("b", "k")] < 1e-4
    assert result.p_values[result.position("a", "b")] > 0.05  # the model's, not the data's
    assert result.p_values[result.position("a", "k")] == 1.0
    assert (result.adjusted >= result.p_values).all()


def test_exactly_no_interaction_has_p_one():
    X = np.random.default_rng(0).normal(size=(100, 3))
    y = X[:, 0] * X[:, 1]
    result = Explainer(LinearRegression().fit(X, y), X, y, checks=False).interactions(p_values=True)
    np.testing.assert_array_equal(result.p_values, 1.0)
    np.testing.assert_array_equal(result.adjusted, 1.0)


def test_weights_are_shares_and_not_copies():
    model, X, y = scene(120)
    light = Explainer(model, X, y, checks=False).interactions(("b", "k"), p_values=True)
    heavy = Explainer(model, X, y, sample_weight=np.full(120, 2.0), checks=False).interactions(
        ("b", "k"), p_values=True
    )
    assert heavy.p_values[0] == pytest.approx(light.p_values[0])


def test_what_it_refuses():
    model, X, y = scene(60)
    with pytest.raises(InputError, match=r"p_values=True .*give y"):
        Explainer(model, X).interactions(p_values=True)
    numbers = np.random.default_rng(0).normal(size=(60, 2))
    forest = RandomForestClassifier(3, random_state=0).fit(numbers, y > 0)
    with pytest.raises(InputError, match="use link='identity'"):
        Explainer(forest, numbers, y > 0, link="logit").interactions(p_values=True)


def test_rows_the_model_was_fitted_to_are_no_test():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = X[:, 0] + rng.normal(size=150)
    model = GradientBoostingRegressor(n_estimators=400, max_depth=5, random_state=0).fit(X, y)
    seen = Explainer(model, X, y).interactions(p_values=True)
    assert "training-data" in {caveat.code for caveat in seen.caveats}
    fresh = rng.normal(size=(150, 3))
    unseen = Explainer(model, fresh, fresh[:, 0] + rng.normal(size=150)).interactions(p_values=True)
    assert "training-data" not in {caveat.code for caveat in unseen.caveats}
    assert seen.adjusted.min() < 1e-4 < unseen.adjusted.min()  # which is why
