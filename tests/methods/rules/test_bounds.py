"""Lemmas about the bounds on a probability."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binom

from pellucid.methods.rules.search.bandit import ALPHA, K1, both, exploration, lower, spent, upper
from reference.anchors import binomial_divergence, bisected

shares = st.floats(0, 1)
levels = st.floats(1e-6, 20)


@given(shares, levels)
def test_bounds_are_on_their_sides(p, level):
    assert 0 <= lower(p, level) <= p <= upper(p, level) <= 1


@given(st.floats(0.001, 0.999), st.floats(1e-4, 20))
def test_bounds_invert_the_divergence(p, level):
    for bound in (float(upper(p, level)), float(lower(p, level))):
        steep = abs((1 - p) / max(1 - bound, 1e-300) - p / max(bound, 1e-300))  # the derivative in q
        if 1e-9 < bound < 1 - 1e-9:
            assert binomial_divergence(p, bound) == pytest.approx(level, rel=1e-9, abs=1e-14 * (1 + steep))


@given(shares, st.floats(1e-4, 20))
def test_bounds_are_those_of_bisection_to_convergence(p, level):
    assert float(upper(p, level)) == pytest.approx(bisected(p, level, 1.0), abs=1e-11)
    assert float(lower(p, level)) == pytest.approx(bisected(p, level, 0.0), rel=1e-9, abs=1e-11)


@given(shares, shares, levels, levels)
def test_both_bounds_at_once_are_the_two(p, q, a, b):
    low, high = both(np.array([p, q]), np.array([a, b]))
    np.testing.assert_array_equal(low, [lower(p, a), lower(q, b)])
    np.testing.assert_array_equal(high, [upper(p, a), upper(q, b)])


@given(shares, levels, levels)
def test_a_higher_level_gives_a_wider_interval(p, a, b):
    a, b = sorted((a, b))
    assert lower(p, b) <= lower(p, a)
    assert upper(p, b) >= upper(p, a)


@given(shares, shares, levels)
def test_bounds_grow_with_the_share(p, q, level):
    p, q = sorted((p, q))
    assert lower(p, level) <= lower(q, level) + 1e-15
    assert upper(p, level) <= upper(q, level) + 1e-15


@given(shares, levels)
def test_bounds_mirror_each_other(p, level):
    assert float(lower(p, level)) == pytest.approx(1 - float(upper(1 - p, level)), abs=1e-9)


@given(levels)
def test_at_the_ends_the_bounds_have_closed_forms(level):
    assert upper(1.0, level) == 1
    assert lower(0.0, level) == 0
    assert float(upper(0.0, level)) == pytest.approx(-math.expm1(-level), abs=1e-12)  # -log(1 - q) = level
    assert float(lower(1.0, level)) == pytest.approx(math.exp(-level), abs=1e-12)


@given(shares, levels)
@example(0.020824140600447908, 15.274760221303596)  # among the least of all numbers a step changes nothing
@example(0.0208, 15.3)
def test_pinsker(p, level):
    """d(p, q) >= 2 (p - q)^2, so no bound is farther than sqrt(level / 2)."""
    reach = math.sqrt(level / 2) + 1e-9
    assert upper(p, level) - p <= reach
    assert p - lower(p, level) <= reach


def test_bounds_of_many_at_once_are_those_of_each():
    p, level = np.linspace(0, 1, 11), np.linspace(0.01, 3, 11)
    np.testing.assert_array_equal(upper(p, level), [upper(a, b) for a, b in zip(p, level, strict=True)])
    np.testing.assert_array_equal(lower(p, level), [lower(a, b) for a, b in zip(p, level, strict=True)])


@pytest.mark.parametrize("truth", [0.05, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("n", [10, 75, 400])
@pytest.mark.parametrize("level", [1.0, 3.0])
def test_a_bound_is_wrong_with_probability_at_most_exp_of_minus_the_level(truth, n, level):
    """Exactly, over all outcomes of n tries."""
    hits = np.arange(n + 1)
    chance = binom.pmf(hits, n, truth)
    assert chance[lower(hits / n, level / n) > truth].sum() <= math.exp(-level)
    assert chance[upper(hits / n, level / n) < truth].sum() <= math.exp(-level)


def test_the_exploration_rate_is_that_of_the_paper():
    x = math.log(405.5 * 30 * 7**1.1 / 0.05)
    assert exploration(7, 30, 0.05) == pytest.approx(x + math.log(x))
    assert (ALPHA, K1) == (1.1, 405.5)
    assert exploration(8, 30, 0.05) > exploration(7, 30, 0.05)
    # The union over arms and times that it is made for: sum of K exp(-b(t)) (and then some) is below delta.
    assert sum(30 * math.exp(-exploration(t, 30, 0.05)) for t in range(1, 20_000)) < 0.05


def test_what_is_spent_adds_up_to_delta():
    total = sum(
        rules * math.exp(-spent(episode, rules, look, 0.05))
        for episode, rules in enumerate((1, 30, 110, 7, 1), start=1)
        for look in range(1, 30)
    )
    assert 0.03 < total < 0.05
    assert spent(1, 1, 1, 0.05) == pytest.approx(math.log(4 / 0.05))
