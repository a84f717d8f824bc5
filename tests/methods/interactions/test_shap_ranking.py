"""The ranking by Shapley interactions is the mean of twice the off-diagonal interaction values."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression

from pellucid import Explainer


def sample(n=40, p=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def bumpy(X):
    return X[:, 0] * X[:, 1] + np.sin(X[:, 2] * X[:, 0]) + X[:, 3]


def trees(X):
    return GradientBoostingRegressor(n_estimators=20, max_depth=3, random_state=0).fit(X, bumpy(X))


@pytest.mark.parametrize("make", [lambda X: bumpy, trees], ids=["asked", "trees"])
def test_the_mean_of_twice_the_interaction_values(make):
    X = sample()
    ex = Explainer(make(X), X, progress=False)
    result = ex.interactions(method="shap", normalize=False, rows=len(X))
    values = ex.shap(range(len(X)), interactions=True).interaction_values
    for (a, b), value in zip(result.sets, result.values, strict=True):
        j, k = int(a[1:]), int(b[1:])
        assert value == pytest.approx(np.abs(2 * values[:, j, k]).mean(), rel=1e-9, abs=1e-12)
        assert result.se[result.position(a, b)] == pytest.approx(
            np.abs(2 * values[:, j, k]).std(ddof=1) / np.sqrt(len(X)), abs=1e-12
        )
    everything = np.abs(values).sum(axis=(1, 2)).mean()
    shares = ex.interactions(method="shap", rows=len(X))
    np.testing.assert_allclose(shares.values, result.values / everything, rtol=1e-9)
    assert shares.values.sum() < 1


def test_against_all_adds_up_the_pairs_of_a_feature():
    ex = Explainer(bumpy, sample(), progress=False)
    pairs = ex.interactions(method="shap", normalize=False)
    total = ex.interactions(method="shap", normalize=False, against="all")
    for (name,), value in zip(total.sets, total.values, strict=True):
        of_it = [v for names, v in zip(pairs.sets, pairs.values, strict=True) if name in names]
        assert value == pytest.approx(sum(of_it))
    assert total.feature_names == ("x0", "x1", "x2", "x3")


def test_weights_count_rows_twice():
    X = sample(12, 3)
    weights = np.where(np.arange(12) < 4, 2, 1)

    def f(X):
        return X[:, 0] * X[:, 1] + X[:, 2]

    weighted = Explainer(f, X, sample_weight=weights, progress=False).interactions(method="shap")
    repeated = Explainer(f, np.repeat(X, weights, axis=0), progress=False).interactions(method="shap")
    np.testing.assert_allclose(weighted.values, repeated.values, rtol=1e-9)


def test_a_linear_model_has_none():
    X = sample()
    model = LinearRegression().fit(X, X[:, 0])
    result = Explainer(model, X, progress=False).interactions(method="shap")
    np.testing.assert_array_equal(result.values, 0)
    np.testing.assert_array_equal(result.additive, 0)


def test_errors_of_sampled_values_are_in_the_standard_error():
    X = sample(300, 16, seed=1)

    def f(X):
        return X[:, 0] * X[:, 1] + np.abs(X).sum(axis=1)

    few = Explainer(f, X, progress=False, background=5, random_state=0).interactions(method="shap", rows=6)
    assert few.settings["algorithm"] == "kernel"
    best = few.ranking[0]
    assert few.sets[best] == ("x0", "x1")
    assert (few.se > 0).all()
