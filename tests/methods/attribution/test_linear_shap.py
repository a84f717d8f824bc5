"""Linear and additive models in closed form: marginal and correlated, on original columns."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, SplineTransformer, StandardScaler

from golden_files import masked
from pellucid import Explainer, InputError

RNG = np.random.default_rng(0)
COVARIANCE = np.array([[1.0, 0.7, 0.0], [0.7, 1.0, 0.3], [0.0, 0.3, 1.0]])
X = pd.DataFrame(RNG.multivariate_normal([0, 1, 2], COVARIANCE, 400), columns=list("abc"))
SLOPES = np.array([1.0, 0.0, 2.0])


def explainer(model, table=X, **options):
    return Explainer(model, table, progress=False, checks=False, **options)


def by_orders(v, p):
    """Shapley values as the mean gain over all orders."""
    phi = np.zeros(p)
    orders = list(permutations(range(p)))
    for order in orders:
        for k, i in enumerate(order):
            phi[i] += v(order[: k + 1]) - v(order[:k])
    return phi / len(orders)


def test_marginal_contributions_are_slope_times_distance_from_the_mean(golden):
    weights = RNG.integers(1, 4, len(X))
    found = explainer(LinearRegression().fit(X, X @ SLOPES), sample_weight=weights).shap(range(5))
    assert found.method == "linear"
    mean = np.average(X, axis=0, weights=weights)
    np.testing.assert_allclose(found.values, (X.to_numpy()[:5] - mean) * SLOPES, atol=1e-10)
    np.testing.assert_array_equal(found.se, 0)
    golden("attribution", "several rows, read from a linear model", masked(found.text()))


def test_correlated_contributions_are_those_of_a_normal_distribution():
    """v(S) = b E[X | X_S]: mean plus Cov(rest, S) Cov(S)^-1 (x_S - mean); an unused feature gets a share."""
    found = explainer(LinearRegression().fit(X, X @ SLOPES)).shap([0, 1, 2], game="conditional")
    assert found.method == "linear"
    S, mean = np.cov(X.T, ddof=0), X.mean().to_numpy()
    for row, phi in zip(X.to_numpy(), found.values, strict=False):
        away = row - mean

        def v(known, away=away):
            known, rest = list(known), [j for j in range(3) if j not in known]
            expected = away.copy()
            if known and rest:
                expected[rest] = S[np.ix_(rest, known)] @ np.linalg.solve(S[np.ix_(known, known)], away[known])
            elif rest:
                expected[rest] = 0
            return SLOPES @ expected

        np.testing.assert_allclose(phi, by_orders(v, 3), atol=1e-9)
    assert np.abs(found.values[:, 1]).max() > 0.05


def mixed_table(n=120):
    rng = np.random.default_rng(1)
    return pd.DataFrame({
        "size": rng.normal(size=n), "age": rng.normal(size=n),
        "town": pd.Categorical(rng.choice(["north", "south", "west"], n)),
    })  # fmt: skip


@pytest.mark.parametrize("numbers", [StandardScaler(), SplineTransformer(n_knots=4)], ids=["scaled", "splines"])
def test_encoded_pipelines_are_explained_on_their_own_columns_exactly(numbers):
    table = mixed_table()
    y = np.sin(table["size"]) + table["age"] + (table["town"] == "west") * 2.0
    steps = make_column_transformer((OneHotEncoder(), ["town"]), (numbers, ["size", "age"]))
    ex = explainer(make_pipeline(steps, Ridge()).fit(table, y), table, background=table.head(40))
    read, asked = ex.shap(range(4), interactions=True), ex.shap(range(4), method="exact", interactions=True)
    assert (read.method, asked.method) == ("linear", "exact")
    assert read.feature_names == ("size", "age", "town")
    for field in ("values", "base", "prediction", "interaction_values"):
        np.testing.assert_allclose(getattr(read, field), getattr(asked, field), atol=1e-9)


def test_log_odds_of_a_sure_classifier_are_not_clipped():
    model = LogisticRegression(C=1e6).fit(X, X["a"] > 0)
    found = explainer(model).shap(range(20), scale="log-odds")
    np.testing.assert_allclose(found.prediction, model.decision_function(X[:20]), rtol=1e-9)
    np.testing.assert_allclose(found.residual, 0, atol=1e-9)
    np.testing.assert_allclose(found.values, (X[:20] - X.mean()) * model.coef_[0], atol=1e-8)


@pytest.mark.parametrize("step", [PCA(2), PolynomialFeatures(2)], ids=["rotated", "products"])
def test_columns_that_are_mixed_are_no_terms(step):
    model = make_pipeline(step, LinearRegression()).fit(X, X["a"] * X["b"])
    with pytest.raises(InputError, match="one term per feature"):
        explainer(model).shap(0, method="linear")
    assert explainer(model, background=30).shap(0).method == "exact"


def test_what_bends_only_between_the_rows_is_found_out_on_mixtures():
    table = np.array([[4, 0, 0], [0, 4, 0], [0, 0, 4], [1, 1, 1], [0, 0, 0], [-1, 0, 1.0]])
    bent = TransformedTargetRegressor(
        LinearRegression(), func=lambda v: v, inverse_func=lambda v: np.minimum(v, 31), check_inverse=False
    ).fit(table, table.sum(axis=1) * 7)
    assert explainer(bent, table).shap([0]).method == "exact"


def test_an_explicit_way_to_condition_is_followed():
    ex = explainer(LinearRegression().fit(X, X @ SLOPES))
    drawn = ex.shap(0, game="conditional", conditional="neighbours")
    assert (drawn.method, drawn.settings["conditional"]) == ("exact", "neighbours")
