"""Contributions to a few features: KernelSHAP with an L1 penalty."""

import numpy as np
import pytest

from pellucid import Explainer, InputError
from pellucid.games import FunctionGame
from pellucid.methods.attribution.estimation.estimate import Rounds
from pellucid.methods.attribution.shapley_exact import shapley_exact
from pellucid.methods.attribution.shapley_lasso import shapley_lasso
from pellucid.runner import Run

P = 8
WEIGHTS = np.array([5.0, -4.0, 3.0, 0.01, 0.02, 0.0, -0.01, 0.01])


def curved(S):
    return np.tanh(np.asarray(S) @ WEIGHTS / 4)


def lasso(value, k, n=127, seed=0):
    return shapley_lasso(FunctionGame(value, P), Rounds(8, n), Run(seed=seed), features=k)


def test_all_features_and_all_coalitions_give_shapley_values():
    exact = shapley_exact(FunctionGame(curved, P)).values
    found = lasso(curved, P)
    np.testing.assert_allclose(found.values, exact, atol=1e-9)
    np.testing.assert_allclose(found.se, 0, atol=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_at_most_so_many_get_a_share_and_the_shares_add_up(k):
    found = lasso(curved, k, n=60)
    assert 1 <= np.count_nonzero(found.values) <= k
    assert found.values.sum() == pytest.approx(float(curved(np.ones((1, P)))[0]))
    assert set(np.flatnonzero(found.values[0, :, 0])) <= {0, 1, 2} or k > 3


def test_an_additive_game_of_three_is_found_exactly():
    three = np.where(np.abs(WEIGHTS) > 1, WEIGHTS, 0.0)
    found = lasso(lambda S: np.asarray(S) @ three, 3, n=40)
    np.testing.assert_allclose(found.values[0, :, 0], three, atol=1e-9)
    assert found.settings["explained"] == pytest.approx(1.0)


def test_the_sandwich_holds_the_limit():
    """Of the chosen features the limit with all pairs lies in most of the 95% intervals."""
    limit = lasso(curved, P).values
    held = []
    for seed in range(60):
        found = lasso(curved, P, n=50, seed=seed)
        held.append(np.abs(found.values - limit) <= 1.96 * found.se)
    assert 0.88 <= np.mean(held) <= 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sparse": 0}, "sparse must be"),
        ({"sparse": 2.5}, r"sparse must be .* got 2\.5"),
        ({"sparse": 2, "method": "exact"}, "answered by method='kernel'"),
        ({"sparse": 2, "interactions": True}, "not by interactions=True"),
    ],
)
def test_what_cannot_be_sparse_is_refused(options, message):
    X = np.random.default_rng(0).normal(size=(30, 4))
    with pytest.raises(InputError, match=message):
        Explainer(lambda Z: Z[:, 0], X, progress=False).shap(0, **options)
