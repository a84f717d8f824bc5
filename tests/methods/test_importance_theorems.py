"""What must hold for importances: closed forms of linear models, unused features, scaling, sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from pellucid import Explainer
from pellucid.methods.importance.estimation.donors import donor_rows
from pellucid.runner import Run
from strategies import QUICK, assert_close, bent, tables

SCHEMES = ("shuffle", "halves", "pairs")


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)) * [1.0, 2.0, 0.5] + rng.exponential(size=(120, 1))
    y = X @ [1.5, -0.7, 3.0] + rng.normal(size=120)
    return X, y


def test_pairs_importance_of_a_linear_model_has_a_closed_form(sample):
    # With e the residual, the mean over pairs of (e_i + b (x_i - x_k))^2 - e_i^2 is 2 b^2 s^2 + 2 b cov(e, x),
    # both with divisor n - 1.
    X, y = sample
    slopes = np.array([1.0, 0.5, -2.0])
    result = Explainer(lambda X: X @ slopes, X, y).importance(scheme="pairs", loss="mse")
    error = y - X @ slopes
    for j, b in enumerate(slopes):
        covariance = np.cov(error, X[:, j], ddof=1)[0, 1]
        expected = 2 * b**2 * X[:, j].var(ddof=1) + 2 * b * covariance
        assert result.values[j] == pytest.approx(expected, rel=1e-10)


def test_least_squares_importance_is_twice_the_variance_of_the_term(sample):
    # On the rows of the fit residuals are uncorrelated with every feature.
    X, y = sample
    model = LinearRegression().fit(X, y)
    result = Explainer(model, X, y).importance(scheme="pairs", loss="mse")
    assert_close(result.values, 2 * model.coef_**2 * X.var(axis=0, ddof=1))


@pytest.mark.parametrize("n", [2, 3, 5, 8, 121])
def test_halves_leave_no_row_with_its_own_value(n):
    data = Explainer(lambda X: X[:, 0], np.arange(2.0 * n).reshape(n, 2)).data
    donors = donor_rows(Run(seed=0), data, "halves", 400)
    assert (np.sort(donors, axis=1) == np.arange(n)).all()
    assert (donors != np.arange(n)).all()
    if n <= 5:  # every other row with the same chance
        counts = np.array([[(donors[:, i] == k).mean() for k in range(n) if k != i] for i in range(n)])
        np.testing.assert_allclose(counts, 1 / (n - 1), atol=0.1)


def test_shuffles_and_halves_estimate_the_pairs(sample):
    X, y = sample
    explainer = Explainer(LinearRegression().fit(X, y), X, y)
    exact = explainer.importance(scheme="pairs", loss="mse").values
    for scheme in ("shuffle", "halves"):
        values = explainer.importance(scheme=scheme, loss="mse", repeats=300).values
        np.testing.assert_allclose(values, exact, rtol=0.05)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_unused_feature_has_no_importance(sample, scheme):
    X, y = sample
    explainer = Explainer(lambda X: X[:, 0] ** 2, X, y)
    difference = explainer.importance(scheme=scheme, loss="mae").values
    ratio = explainer.importance(scheme=scheme, loss="mae", compare="ratio").values
    tolerance = 1e-12 if scheme == "pairs" else 0.0
    assert np.abs(difference[1:]).max() <= tolerance
    assert np.abs(ratio[1:] - 1).max() <= tolerance
    assert difference[0] > 0.1
    assert ratio[0] > 1.05
    spread = explainer.importance(method="pdp").values
    assert spread[1:].max() <= 1e-12


@given(tables(category=True, most=10, weighted=False), st.integers(1, 5), st.integers(-9, 9), st.sampled_from(SCHEMES))
@QUICK
def test_importance_follows_the_scale_of_model_and_outcome(table, scale, shift, scheme):
    y = np.array([bent(row) + (-1) ** i for i, row in enumerate(table.rows)])
    plain = table.explainer(bent, y)
    scaled = table.explainer(lambda row: scale * bent(row) + shift, scale * y + shift)
    for loss, power in (("mse", 2), ("mae", 1), ("rmse", 1)):
        one, other = (ex.importance(scheme=scheme, loss=loss, repeats=2) for ex in (plain, scaled))
        assert_close(other.values, scale**power * one.values, 1e-9)
        one, other = (ex.importance(scheme=scheme, loss=loss, repeats=2, compare="ratio") for ex in (plain, scaled))
        assert_close(other.values, one.values, 1e-9)
    spreads = [ex.importance(method="pdp") for ex in (plain, scaled)]
    assert_close(spreads[1].values, scale * spreads[0].values, 1e-9)
    shares = [ex.importance(scheme=scheme, loss="variance") for ex in (plain, scaled)]
    assert_close(shares[1].values, shares[0].values, 1e-9)


def test_interactions_count_for_every_feature_in_them():
    # y = x1 x2 with independent unit variances: each alone E[(x1 - x1')^2 x2^2] = 2, both together 2.
    X = np.random.default_rng(3).choice([-1.0, 1.0], size=(3000, 2))
    y = X[:, 0] * X[:, 1]
    result = Explainer(lambda X: X[:, 0] * X[:, 1], X, y, checks=False).importance(loss="mse", repeats=20)
    np.testing.assert_allclose(result.values, 2.0, atol=0.06)
    assert result.joint == pytest.approx(2.0, abs=0.06)
    assert result.values.sum() / result.joint == pytest.approx(2.0, abs=0.05)


def test_without_interaction_or_correlation_the_sum_is_the_joint_importance():
    X = np.random.default_rng(4).normal(size=(3000, 3))
    result = Explainer(lambda X: X @ [1.0, 2.0, 3.0], X, X @ [1.0, 2.0, 3.0], checks=False).importance(
        loss="mse", repeats=20
    )
    assert result.values.sum() == pytest.approx(result.joint, rel=0.05)


def test_one_feature_is_everything():
    X = np.random.default_rng(5).normal(size=(40, 1))
    for scheme in SCHEMES:
        result = Explainer(lambda X: 2 * X[:, 0], X, X[:, 0]).importance(scheme=scheme, loss="mse")
        assert result.values[0] == pytest.approx(result.joint, rel=1e-12)


def test_correlated_features_are_permuted_together_in_two_repeats_where_there_are_many_rows():
    # Permuted together they leave nothing of y: the loss is E (y - y')^2 = 2 var(y).
    rng = np.random.default_rng(6)
    X = rng.normal(size=(1200, 3))
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    y = X[:, 0] + X[:, 1]
    rows, values = [], []
    for checks in (True, False):
        asked: list[int] = []

        def model(X, asked=asked):
            asked.append(len(X))
            return X[:, 0] + X[:, 1]

        found = Explainer(model, X, y, checks=checks).importance(loss="mse", repeats=12)
        rows.append(sum(asked))
        values.append(found)
    (shared,) = [caveat for caveat in values[0].caveats if caveat.code == "shared-importance"]
    assert shared.value == pytest.approx(2 * y.var(), rel=0.1)
    assert 0 < rows[0] - rows[1] < 3 * len(X)  # 500 rows are asked by other checks


def test_share_of_variance_of_a_linear_model():
    # Half the mean squared change of the prediction over its variance: b^2 var(x_j) / var(f), for pairs
    # with divisor n - 1 in the numerator and n in the denominator.
    rng = np.random.default_rng(6)
    X = rng.normal(size=(90, 3))
    slopes = np.array([1.0, -2.0, 0.0])
    result = Explainer(lambda X: X @ slopes, X).importance(scheme="pairs")
    expected = slopes**2 * X.var(axis=0, ddof=1) / (X @ slopes).var()
    assert_close(result.values, expected)
    assert result.baseline == 0.0


def test_pdp_importance_of_a_linear_model_is_the_spread_of_its_term(sample):
    X, y = sample
    model = LinearRegression().fit(X, y)
    result = Explainer(model, X).importance(method="pdp", grid=1000)
    assert_close(result.values, np.abs(model.coef_) * X.std(axis=0, ddof=1))


def test_intervals_hold_the_value_and_the_ranking_follows_it(sample):
    X, y = sample
    result = Explainer(LinearRegression().fit(X, y), X, y).importance(loss="mse", repeats=8)
    assert (result.low < result.values).all()
    assert (result.values < result.high).all()
    assert result.top(3) == [f"x{j}" for j in np.argsort(-result.values)]
    np.testing.assert_allclose(result.repeats.mean(axis=1), result.values)
