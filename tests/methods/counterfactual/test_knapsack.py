"""The cheapest choice of options that adds up to a target, against trying every choice."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.methods.counterfactual.search.knapsack import Knapsack, Options
from reference.nearest import nearest_by_enumeration


def drawn(rng, sums):
    """Players with a few options each; some are not allowed."""
    players = []
    for _ in range(4):
        n = int(rng.integers(1, 7))
        own = int(rng.integers(n))
        cost = np.where(rng.random(n) < 0.2, np.inf, rng.integers(1, 8, n))
        gain = rng.normal(size=(n, sums)).round(1)
        cost[own] = 0.0
        players.append(Options(cost, gain - gain[own], own))
    return players


@given(seed=st.integers(0, 2**32 - 1), sums=st.integers(1, 2), narrow=st.booleans())
def test_equal_to_every_choice(seed, sums, narrow):
    rng = np.random.default_rng(seed)
    players = drawn(rng, sums)
    low = rng.normal(size=sums) + 0.5
    high = low + rng.exponential(size=sums) if narrow else np.full(sums, np.inf)
    most = None if rng.random() < 0.5 else int(rng.integers(0, 3))
    forbidden = rng.random((int(rng.integers(0, 3)), 4)) < 0.5
    forbidden = forbidden[forbidden.any(axis=1)]
    found = Knapsack(players, np.zeros(sums), low, high, most_changes=most, forbidden=forbidden).run()
    places = [np.arange(len(player.cost)) for player in players]

    def meets(row):
        total = np.sum([player.gain[int(c)] for player, c in zip(players, row, strict=True)], axis=0)
        return bool(((total >= low) & (total <= high)).all())

    costs, own = [player.cost for player in players], [player.own for player in players]
    sets = [np.flatnonzero(line) for line in forbidden]
    expected, rows = nearest_by_enumeration(
        lambda row: row, places, costs, own, meets, most_changes=most, forbidden=sets
    )
    assert found.proven
    assert found.cost == pytest.approx(expected)
    assert found.cells is None or any((row == found.cells).all() for row in rows)


def test_an_ended_search_has_a_bound_below_the_best():
    rng = np.random.default_rng(0)
    values = np.arange(500) / 500
    slopes = rng.normal(size=6)
    players = [Options(np.abs(values - 0.5), ((values - 0.5) * slope)[:, None], 250) for slope in slopes]
    whole = Knapsack(players, np.zeros(1), np.array([0.2003]), np.array([np.inf])).run()
    branched = Knapsack(players, np.zeros(1), np.array([0.2003]), np.array([np.inf]), tolerance=1e-11)
    part = Knapsack(players, np.zeros(1), np.array([0.2003]), np.array([np.inf]), tolerance=1e-11).run(lambda: False)
    assert whole.proven
    assert branched.run().cost == pytest.approx(whole.cost)
    assert whole.nodes == 1 < branched.nodes
    assert not part.proven
    assert 0 < part.lower <= whole.cost
    assert part.mixture.bound == pytest.approx(0.2003 / np.abs(slopes).max())


@given(seed=st.integers(0, 2**32 - 1), rising=st.booleans())
def test_the_least_largest_change_is_that_of_every_choice(seed, rising):
    rng = np.random.default_rng(seed)
    players = drawn(rng, 1)
    goal = rng.normal() + 1.0
    ends = (np.array([goal]), np.array([np.inf])) if rising else (np.array([-np.inf]), np.array([-goal]))
    forbidden = rng.random((int(rng.integers(0, 3)), 4)) < 0.5
    forbidden = forbidden[forbidden.any(axis=1)]
    found = Knapsack(players, np.zeros(1), *ends, forbidden=forbidden, largest=True).run()
    best = np.inf
    for row in itertools.product(*(range(len(player.cost)) for player in players)):
        total = sum(player.gain[c, 0] for player, c in zip(players, row, strict=True))
        changed = np.array([c != player.own for player, c in zip(players, row, strict=True)])
        if (total >= goal if rising else total <= -goal) and not (changed | ~forbidden).all(axis=1).any():
            best = min(best, max(player.cost[c] for player, c in zip(players, row, strict=True)))
    if goal > 0:
        assert found.proven
        assert found.cost == best
