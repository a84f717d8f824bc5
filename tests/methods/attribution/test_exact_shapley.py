"""Going through all coalitions: equal to the definition, and to what theory says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pellucid
from limits import limited
from pellucid import Explainer
from reference.indices import interaction_matrix, shapley
from reference.trees import marginal_game


def explainer(f, X, **options):
    return Explainer(f, X, progress=False, checks=False, **options)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(1, 6), st.booleans())
def test_equals_the_definition(seed, p, n, grouped):
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(n, p)), rng.random(n) + 0.1
    a, b = rng.normal(size=(p, 2)), rng.normal(size=(p, p))

    def several(Z):
        return np.column_stack([np.tanh(Z @ a[:, 0]) * (Z @ a[:, 1]), np.einsum("ni,ij,nj->n", Z, b, Z)])

    groups = {"both": [0, 1]} if grouped and p > 2 else None
    players = [0, 0, *range(1, p - 1)] if groups else None
    found = explainer(several, X, sample_weight=weights, groups=groups).shap(X[:2], interactions=True)
    for i, row in enumerate(X[:2]):
        v = marginal_game(lambda z: several(np.array([z]))[0], row, X, weights, players)
        np.testing.assert_allclose(found.values[i], shapley(v), atol=1e-9)
        np.testing.assert_allclose(found.interaction_values[i], interaction_matrix(v), atol=1e-9)
        np.testing.assert_allclose(found.base, v[0], atol=1e-9)
        np.testing.assert_allclose(found.prediction[i], v[-1], atol=1e-9)


def test_linear_models_have_a_closed_form():
    X = np.random.default_rng(0).normal(size=(150, 6))
    b = np.array([3.0, -1.0, 0.5, 0.0, 2.0, 1.0])
    found = explainer(lambda Z: Z @ b + 7, X).shap([0, 5], interactions=True)
    np.testing.assert_allclose(found.values, (X[[0, 5]] - X.mean(axis=0)) * b, atol=1e-12)
    np.testing.assert_allclose(found.interaction_values, [np.diag(row) for row in found.values], atol=1e-12)


def test_symmetric_features_share_alike_and_idle_ones_get_nothing():
    X = np.random.default_rng(1).normal(size=(40, 3))
    X = np.vstack([X, X[:, [1, 0, 2]]])
    row = np.array([1.5, 1.5, 9.0])
    found = explainer(lambda Z: Z[:, 0] * Z[:, 1], X).shap(row)
    assert found.values[0, 0] == pytest.approx(found.values[0, 1], abs=1e-12)
    assert found.values[0, 2] == pytest.approx(0, abs=1e-12)


def test_a_single_background_row_is_a_contrast():
    X = np.random.default_rng(2).normal(size=(30, 2))
    found = explainer(lambda Z: Z[:, 0] * Z[:, 1], X, background=X[[4]]).shap(0)
    assert float(found.base) == pytest.approx(X[4].prod())
    assert found.values.sum() == pytest.approx(X[0].prod() - X[4].prod())


def test_background_rows_are_drawn_with_the_seed():
    X = np.random.default_rng(3).normal(size=(500, 2))
    first, again, other = (
        explainer(lambda Z: Z[:, 0], X, random_state=seed, background=50).shap(0) for seed in (0, 0, 1)
    )
    assert first.reference.rows == 50
    assert first.base == again.base
    assert first.base != other.base
    assert explainer(lambda Z: Z[:, 0], X).shap(0).reference.rows == 200
    assert explainer(lambda Z: Z[:, 0], X, background=1000).shap(0).reference.rows == 500


def test_user_pain_a7_weights_of_two_are_duplicated_background_rows():
    X = np.random.default_rng(4).normal(size=(40, 3))
    weights = np.where(np.arange(40) % 3 == 0, 2.0, 1.0)
    weights[5] = 0.0

    def f(Z):
        return np.sin(Z[:, 0]) * Z[:, 1] + Z[:, 2]

    weighted = explainer(f, X, sample_weight=weights).shap(X[:4])
    repeated = explainer(f, np.repeat(X, weights.astype(int), axis=0)).shap(X[:4])
    np.testing.assert_allclose(weighted.values, repeated.values, atol=1e-12)
    np.testing.assert_allclose(weighted.base, repeated.base)
    unweighted = explainer(f, X).shap(X[:4])
    assert abs(float(unweighted.base - weighted.base)) > 1e-3


def test_batches_and_threads_change_nothing():
    X = np.random.default_rng(5).normal(size=(60, 4))

    def f(Z):
        return Z[:, 0] * Z[:, 1] + Z[:, 2] ** 2

    expected = explainer(f, X).shap(range(5))
    batches = limited(explainer(f, X, n_jobs=2), batch_rows=17)
    np.testing.assert_allclose(batches.shap(range(5)).values, expected.values, atol=1e-12)


def test_progress_counts_every_model_row():
    X, seen = np.random.default_rng(6).normal(size=(50, 3)), []
    found = Explainer(lambda Z: Z[:, 0], X, checks=False, progress=lambda *now: seen.append(now)).shap([0, 1])
    assert seen[-1] == (found.cost.model_rows,) * 2
    assert found.cost.model_rows == 2 * 50 * 6 + 50 + 2 * 2


@pytest.mark.parametrize(
    ("width", "options", "call", "message"),
    [
        (15, {}, {"method": "exact"}, r"at most 14 players, but there are 15; .* groups of players \(groups=\)\."),
        (
            8,
            {},
            {"budget": 1000, "method": "exact"},
            r"8 players, 1 row and a background of 200 rows take 50,800 model rows, more than 1,000",
        ),
        (14, {"background": 2000}, {"method": "exact"}, "explain fewer rows, give a smaller background"),
    ],
)
def test_too_much_work_is_refused_with_a_remedy(width, options, call, message):
    X = np.random.default_rng(7).normal(size=(3000, width))
    with pytest.raises(pellucid.InputError, match=message):
        explainer(lambda Z: Z[:, 0], X, **options).shap(0, **call)
