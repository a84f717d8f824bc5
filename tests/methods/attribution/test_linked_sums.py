"""Shapley values of a link of a sum with one term per player: by waves and products, against the enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from pellucid.methods.attribution.estimation.linked_sums import logistic_effects, poisson_effects
from reference.enumerated import enumerated

EFFECTS = {"logistic": (logistic_effects, expit), "poisson": (poisson_effects, np.exp)}


def worths(start, steps, share, link):
    """Of all coalitions, by their bits."""
    players = steps.shape[1]
    inside = np.arange(2**players)[:, None] >> np.arange(players) & 1
    return (link(start + inside @ steps.T) @ share)[:, None]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    players=st.integers(1, 9),
    background=st.integers(1, 20),
    size=st.sampled_from([0.0, 1e-6, 0.3, 3.0]),
    kind=st.sampled_from(sorted(EFFECTS)),
    compiled=st.booleans(),
)
def test_equal_to_the_enumeration(seed, players, background, size, kind, compiled):
    rng = np.random.default_rng(seed)
    start, steps = rng.normal(size=background) * 2, rng.normal(size=(background, players)) * size
    share = rng.dirichlet(np.ones(background))
    effects, link = EFFECTS[kind]
    found = effects(start, steps, share) if kind == "poisson" else effects(start, steps, share, compiled=compiled)
    game = worths(start, steps, share, link)
    np.testing.assert_allclose(
        found, enumerated(game, "shapley", 1)[:, 0], rtol=0, atol=1e-8 * (1 + np.abs(game).max())
    )


@pytest.mark.parametrize("size", [40.0, 400.0])
def test_sums_far_from_zero(size):
    start, steps = np.array([-size, size]), np.array([[2 * size, 0.3, 0.0], [-2 * size, -0.3, 1.0]])
    share = np.array([0.25, 0.75])
    truth = enumerated(worths(start, steps, share, expit), "shapley", 1)[:, 0]
    np.testing.assert_allclose(logistic_effects(start, steps, share), truth, atol=1e-8)


@pytest.mark.parametrize("players", [30, 200])
def test_many_players_add_up_and_equal_ones_get_the_same(players):
    rng = np.random.default_rng(players)
    start, steps = rng.normal(size=50), rng.normal(size=(50, players)) * 4 / np.sqrt(players)
    steps[:, 1] = steps[:, 0]
    steps[:, 2] = 0.0
    share = np.full(50, 1 / 50)
    for effects, link in EFFECTS.values():
        found = effects(start, steps, share)
        total = share @ (link(start + steps.sum(axis=1)) - link(start))
        assert found.sum() == pytest.approx(total, rel=1e-6, abs=1e-7)
        assert found[0] == pytest.approx(found[1], abs=1e-12)
        assert found[2] == 0.0


@pytest.mark.parametrize("players", [17, 40])
def test_half_of_the_times_say_what_all_of_them_say(players):
    rng = np.random.default_rng(players)
    start, steps = rng.normal(size=11), rng.normal(size=(11, players))
    share = rng.dirichlet(np.ones(11))
    both = [logistic_effects(start, steps, share, compiled=compiled) for compiled in (True, False)]
    np.testing.assert_allclose(*both, atol=1e-9)
