"""The conditional game: what goes with what is known, and what that does to the axioms."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from golden_files import masked
from pellucid import Explainer

RNG = np.random.default_rng(2)
COVARIANCE = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 1.0]])
X = RNG.multivariate_normal(np.zeros(3), COVARIANCE, 1500)


def shap(model, table, rows, how, **options):
    ex = Explainer(model, table, progress=False, checks=False, **options)
    return ex.shap(rows, game="conditional", conditional=how)


@pytest.mark.parametrize(("how", "off"), [("copula", 0.04), ("neighbours", 0.1)])
def test_a_feature_that_stands_for_another_gets_its_share(how, off, golden):
    """f = x0 with x1 alike: v({1}) = 0.8 x1, so phi_1 = 0.8 x1 / 2 and phi_0 = x0 - 0.4 x1; x2 nothing."""
    rows = list(range(8))
    found = shap(lambda Z: Z[:, 0], X, rows, how)
    expected = np.column_stack([X[rows, 0] - 0.4 * X[rows, 1], 0.4 * X[rows, 1], np.zeros(8)])
    assert np.abs(found.values - expected).mean() < off  # neighbours of an outlying row lie on one side
    np.testing.assert_allclose(found.residual, 0, atol=1e-9)
    assert found.settings["conditional"] == how
    golden("attribution", f"several rows, conditional game by {how}", masked(found.text()))


def test_independent_features_are_as_in_the_marginal_game():
    Z = np.random.default_rng(3).normal(size=(1500, 3))
    found = shap(lambda Z: Z @ [1.0, 2.0, 0.0], Z, [0, 1], "copula")
    np.testing.assert_allclose(found.values, (Z[:2] - Z.mean(axis=0)) * [1, 2, 0], atol=0.15)


def test_categories_and_missing_values_stay_what_they_are():
    n = 300
    town = RNG.choice(["north", "south"], n)
    table = pd.DataFrame({"town": pd.Categorical(town), "rent": np.where(town == "north", 2.0, 1.0)})
    table.loc[:9, "rent"] = np.nan

    def model(frame):
        assert isinstance(frame["town"].dtype, pd.CategoricalDtype)
        assert set(frame["rent"].dropna()) <= {1.0, 2.0}
        return (frame["town"] == "north").to_numpy(float)

    found = shap(model, table, [20], "auto")
    assert found.settings["conditional"] == "neighbours"
    assert np.abs(found.values[0, 1]) > 0.1  # the rent tells the town


def parabola(n=300):
    """x1 = x0^2 + noise, x2 by itself."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=n)
    return np.column_stack([x, x**2 + 0.3 * rng.normal(size=n), rng.normal(size=n)])


def test_a_curve_shares_what_it_tells():
    """f = x1: v({0}) = x0^2 and v({1}) = x1, over a mean of one, so phi_0 = (x0^2 - 1) / 2; monotone dependence is
    none."""
    Z, rows = parabola(), list(range(30))
    expected = np.column_stack([(Z[:30, 0] ** 2 - 1) / 2, Z[:30, 1] - 1 - (Z[:30, 0] ** 2 - 1) / 2, np.zeros(30)])
    found = shap(lambda Z: Z[:, 1], Z, rows, "auto")
    assert found.settings["conditional"] == "curves"
    assert np.abs(found.values - expected).mean() < 0.08
    assert np.abs(shap(lambda Z: Z[:, 1], Z, rows, "copula").values - expected).mean() > 0.25
    # a linear model of such rows has no closed form any more
    line = LinearRegression().fit(Z, Z[:, 1])
    asked = Explainer(line, Z, progress=False, checks=False).shap(rows, game="conditional")
    assert asked.method == "exact"
    assert np.abs(asked.values - expected).mean() < 0.08


def test_both_humps_of_a_curve_are_drawn():
    """f = x0, x1 known: either sign is as likely, so v({1}) = 0 and phi_0 = x0, phi_1 = 0; f = x0^2: half each."""
    Z = parabola()
    rows = np.flatnonzero(np.abs(Z[:, 0]) > 0.7)[:20].tolist()
    found = shap(lambda Z: Z[:, 0], Z, rows, "auto")
    assert np.abs(found.values[:, 1]).mean() < 0.2
    found = shap(lambda Z: Z[:, 0] ** 2, Z, rows, "auto")
    half = (Z[rows, 0] ** 2 - 1) / 2
    assert np.abs(found.values[:, 1] - half).mean() < 0.15
    assert np.abs(shap(lambda Z: Z[:, 0] ** 2, Z, rows, "copula").values[:, 1] - half).mean() > 0.3


def test_normal_rows_are_explained_as_by_the_copula():
    one, other = (shap(lambda Z: Z[:, 0] * Z[:, 1], X[:300], [0, 1], how) for how in ("auto", "copula"))
    np.testing.assert_array_equal(one.values, other.values)


def test_same_seed_same_bytes_and_groups():
    ex = Explainer(lambda Z: Z[:, 0] * Z[:, 1], X, groups={"pair": [0, 1]}, progress=False, checks=False)
    one, two = (ex.shap([0], game="conditional") for _ in range(2))
    np.testing.assert_array_equal(one.values, two.values)
    assert one.feature_names == ("pair", "x2")
