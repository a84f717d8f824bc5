"""The cheapest choice of options that adds up to a target, against trying every choice."""

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
    part = Knapsack(players, np.zeros(1), np.array([0.2003]), np.array([np.inf])).run(lambda: False)
    assert whole.proven
    assert not part.proven
    assert 0 < part.lower <= whole.cost
    assert part.mixture.bound == pytest.approx(0.2003 / np.abs(slopes).max())
