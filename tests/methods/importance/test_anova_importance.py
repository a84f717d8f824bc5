"""Importance by functional ANOVA: the uniform distribution over the ranges, whatever the data."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

from pellucid import Explainer
from reference.sobol import product_table, sobol


def shares(model, X, **options):
    asked = {key: options.pop(key) for key in ("budget",) if key in options}
    return Explainer(model, X, progress=False, **options).importance(method="anova", **asked)


def skewed(n=300, seed=0):
    """Two features with most rows in one corner of [-1, 1]^2."""
    X = 2 * np.random.default_rng(seed).beta(0.5, 3, size=(n, 2)) - 1
    X[:2] = [[-1, -1], [1, 1]]
    return X


def test_the_textbook_example_whatever_the_data():
    # 2 + exp(x1) - x2 + x1 x2 on [-1, 1]^2: shares .4931, .3802 and .1267 together
    found = shares(lambda X: 2 + np.exp(X[:, 0]) - X[:, 1] + X[:, 0] * X[:, 1], skewed())
    np.testing.assert_allclose(found.first, [0.4931, 0.3802], atol=1e-4)
    np.testing.assert_allclose(found.values, [0.4931 + 0.1267, 0.3802 + 0.1267], atol=1e-4)
    assert found.settings["variance"] == pytest.approx([0.87678], abs=1e-4)


def test_data_do_not_matter_but_their_range_does():
    def model(X):
        return np.sin(3 * X[:, 0]) * X[:, 1] + X[:, 1] ** 2

    first, again = shares(model, skewed(seed=0)), shares(model, skewed(seed=1))
    np.testing.assert_allclose(first.values, again.values, atol=1e-9)
    # one outlier doubles the range of a feature, and quadruples its variance
    wide = np.vstack([skewed(), [[3, 0]]])
    np.testing.assert_allclose(shares(lambda X: X.sum(axis=1), wide).values, [0.8, 0.2], atol=1e-6)


def test_trees_are_exact_over_the_range():
    X = skewed()
    model = GradientBoostingRegressor(n_estimators=15, random_state=0).fit(X, X[:, 0] * X[:, 1])
    exact = shares(model, X)
    assert exact.settings["how"] == "exact"
    middles = -1 + (np.arange(2000) + 0.5) / 1000
    grid = np.stack(np.meshgrid(middles, middles, indexing="ij"), axis=-1).reshape(-1, 2)
    f = model.predict(grid).reshape(2000, 2000)
    first = np.array([f.mean(axis=1).var(), f.mean(axis=0).var()]) / f.var()
    np.testing.assert_allclose(exact.first, first, atol=2e-3)
    np.testing.assert_allclose(exact.values, 1 - first[::-1], atol=2e-3)
    sampled = shares(lambda X: 1.0 * model.predict(X), X)
    assert (np.abs(sampled.values - exact.values) <= 6 * sampled.se + 1e-6).all()


def test_levels_and_whole_numbers_count_alike_however_rare():
    table = pd.DataFrame({"level": list("aaaaaaab"), "count": [0, 0, 0, 0, 0, 0, 0, 3], "on": [True, False] * 4})
    keys = [(level, count, on) for level in "ab" for count in range(4) for on in (True, False)]
    cells = {key: float(i * 7 % 5) + (key[0] == "b") * key[1] for i, key in enumerate(keys)}

    def model(frame):
        return np.array([cells[key] for key in zip(frame["level"], frame["count"], frame["on"], strict=True)])

    points = [np.arange(n)[:, None] for n in (2, 4, 2)]
    rows, mass, numbers = product_table(points, [np.full(len(p), 1 / len(p)) for p in points], [(0,), (1,), (2,)], 3)
    values = np.array([cells["ab"[int(a)], int(b), bool(c)] for a, b, c in rows])
    variance, first, total = sobol(values, mass, numbers)
    found = shares(model, table, budget=60_000)
    assert (np.abs(found.values - total / variance) <= 6 * found.se + 1e-9).all()
    assert (np.abs(found.first - first / variance) <= 6 * found.first_se + 1e-9).all()
    assert found.se.max() < 0.02


def test_groups_are_sums_over_their_components():
    X = skewed()
    X = np.column_stack([X, X[::-1, 0]])
    found = shares(lambda X: X[:, 0] + X[:, 1] * X[:, 2] + X[:, 2], X, groups={"pair": [1, 2]})
    # variances on [-1, 1]: 1/3, 1/9 and 1/3
    np.testing.assert_allclose(found.values, np.array([3, 4]) / 7, atol=1e-5)
    np.testing.assert_allclose(found.first, np.array([3, 4]) / 7, atol=1e-5)


def test_missing_values_and_constants_are_left_out():
    X = pd.DataFrame(skewed(), columns=["a", "b"]).assign(gone=np.nan, same=4.0)
    X.loc[2:50, "b"] = np.nan
    found = shares(lambda X: X["a"] + X["b"].fillna(100.0) + X["same"] + X["gone"].isna(), X)
    np.testing.assert_allclose(found.values, [0.5, 0.5, 0, 0], atol=1e-6)


def test_dates_and_forests():
    X = pd.DataFrame({"x": skewed()[:, 0], "day": pd.date_range("2024-01-01", periods=300)})
    found = shares(lambda X: X["x"] * (X["day"].dt.month.to_numpy() > 5), X, budget=20_000)
    assert (found.values > 0.1).all()
    forest = RandomForestRegressor(5, random_state=0).fit(X[["x"]], X["x"] ** 2)
    assert shares(forest, X[["x"]]).values == pytest.approx([1.0])
