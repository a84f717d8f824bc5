"""Trees that stand in for a game: exact values of their own, honest errors, nothing lost."""

import numpy as np
import pytest

import pellucid
from pellucid.games import FunctionGame
from pellucid.methods.attribution.estimators import Effort, solve
from pellucid.methods.attribution.shapley_exact import shapley_exact
from pellucid.methods.attribution.shapley_kernel import _StandIn
from pellucid.runner import Run

P = 10


def rules(coalitions):
    S = np.asarray(coalitions)
    return 3.0 * (S[:, 0] & S[:, 1] & ~S[:, 2]) + 2.0 * (S[:, 5] & S[:, 6] & S[:, 7] & S[:, 8]) + S[:, 9]


def sample(n=120, seed=0):
    halves = np.random.default_rng(seed).random((n, P)) < 0.5
    return halves, np.stack([rules(halves), rules(~halves)])


def test_the_values_of_a_stand_in_are_those_of_its_own_game():
    stand_in = _StandIn(*sample())
    exact = shapley_exact(FunctionGame(stand_in, P)).values[0, :, 0]
    np.testing.assert_allclose(stand_in.values(), exact, atol=1e-10)


def test_everything_adds_up_and_the_intervals_hold():
    exact = shapley_exact(FunctionGame(rules, P)).values
    held = []
    for seed in range(6):
        run = Run(seed=seed)
        found = solve(FunctionGame(rules, P, run=run), Effort("kernel", 400, proxy="trees"), run)
        assert found.values.sum() == pytest.approx(float(rules(np.ones((1, P), bool))[0]), abs=1e-9)
        held.append(np.abs(found.values - exact) <= 1.96 * found.se)
    assert 0.8 <= np.mean(held) <= 1.0  # 60 intervals, ten to a sample: 83% to 92% in other samples


def test_trees_do_better_where_the_game_is_rules_among_many():
    """Three players of forty decide, all together: trees find the rule, curves only who takes part in it."""

    def three_together(S):
        return 4.0 * np.asarray(S)[:, [3, 11, 20]].all(axis=1)

    exact = np.zeros(40)
    exact[[3, 11, 20]] = 4 / 3
    errors = {
        proxy: np.abs(
            pellucid.shapley(three_together, 40, method="kernel", budget=1500, proxy=proxy).values[0] - exact
        ).mean()
        for proxy in ("curve", "trees")
    }
    assert errors["trees"] < 0.9 * errors["curve"]


def test_additive_games_stay_exact():
    w = np.random.default_rng(1).normal(size=P)
    found = pellucid.shapley(lambda S: S @ w, P, method="kernel", budget=300, proxy="trees")
    np.testing.assert_allclose(found.values[0], w, atol=1e-9)


def test_unknown_stand_ins_are_refused():
    with pytest.raises(pellucid.InputError, match="proxy='forest' is not known"):
        pellucid.shapley(rules, P, proxy="forest")
