"""The conditional game: what goes with what is known, and what that does to the axioms."""

import numpy as np
import pandas as pd
import pytest

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


def test_same_seed_same_bytes_and_groups():
    ex = Explainer(lambda Z: Z[:, 0] * Z[:, 1], X, groups={"pair": [0, 1]}, progress=False, checks=False)
    one, two = (ex.shap([0], game="conditional") for _ in range(2))
    np.testing.assert_array_equal(one.values, two.values)
    assert one.feature_names == ("pair", "x2")
