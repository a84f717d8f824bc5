"""The search core on coins: what it chooses, what it accepts, and how often it is wrong."""

import numpy as np
import pytest

from pellucid.methods.rules.search.bandit import Arms, best_arms, gaps
from pellucid.methods.rules.search.certify import Goal, certify
from pellucid.methods.rules.search.predicates import Space


class Coins(Space):
    """One rule per coin; the rule of coin i covers ``covers[i]``."""

    def __init__(self, means, covers=None):
        self.means = np.asarray(means, dtype=float)
        super().__init__(list(range(len(means))), [list(range(len(means)))])
        self.covers = np.linspace(0.5, 0.1, len(means)) if covers is None else np.asarray(covers)

    def coverage(self, bits):
        return bits @ self.covers

    def arms(self, episode=1, **more):
        bits = np.eye(len(self.means), dtype=bool)
        return Arms(bits, self.coverage(bits), episode, **more)


def play(asking, means, seed, *, shared=True):
    """Answer a search by tossing coins; ``shared``: one uniform number per draw for all of them."""
    numbers = np.random.default_rng(seed).random((1 if shared else len(means), 20_000))
    tossed = 0
    try:
        wants = next(asking)
        while True:
            assert wants.stop.max() <= 20_000
            tossed += int((wants.stop - wants.start).sum())
            answer = [
                numbers[0 if shared else arm, start:stop] < means[arm]
                for arm, start, stop in zip(wants.bits.argmax(axis=1), wants.start, wants.stop, strict=True)
            ]
            wants = asking.send(answer)
    except StopIteration as end:
        return end.value, tossed


@pytest.mark.parametrize("shared", [True, False])
def test_the_best_arms_are_found(shared):
    space = Coins([0.2, 0.9, 0.5, 0.85, 0.3])
    arms = space.arms(paired=shared)
    found, _ = play(best_arms(arms, np.arange(5), 2, epsilon=0.1, delta=0.05, batch=16), space.means, 0, shared=shared)
    assert found.tolist() == [1, 3]


def test_the_choice_is_nearly_best_in_nearly_all_runs():
    """The mean of every chosen arm is above that of every other one minus epsilon, with probability 1 - delta."""
    wrong = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        space = Coins(rng.uniform(0.3, 0.95, 8))
        asking = best_arms(space.arms(paired=False), np.arange(8), 2, epsilon=0.1, delta=0.1, batch=16)
        found, _ = play(asking, space.means, 1000 + seed, shared=False)
        others = np.setdiff1d(np.arange(8), found)
        wrong += space.means[found].min() < space.means[others].max() - 0.1
    assert wrong <= 10


def test_shared_draws_settle_a_choice_sooner():
    space = Coins([0.60, 0.59, 0.58, 0.57, 0.56])
    costs = {}
    for shared in (True, False):
        asking = best_arms(space.arms(paired=shared), np.arange(5), 1, epsilon=0.1, delta=0.05, batch=16)
        costs[shared] = np.mean([play(asking, space.means, 3, shared=shared)[1]])
    assert costs[True] < costs[False] / 3


def test_the_bound_of_a_difference_holds():
    """upper(q) (2 upper(r) - 1) is below the true difference in fewer runs than its level allows."""
    low, high, level = 0.5, 0.55, 3.0
    missed = 0
    for seed in range(400):
        numbers = np.random.default_rng(seed).random(200)
        arms = Arms(np.eye(2, dtype=bool), np.ones(2), 1)
        ask = arms.draw(np.arange(2), np.array([200, 200]))
        next(ask)
        with pytest.raises(StopIteration):
            ask.send([numbers < low, numbers < high])
        missed += gaps(arms, np.array([0]), np.array([1]), level)[0, 0] < high - low
    assert missed / 400 <= 2 * np.exp(-level)


def test_an_end_to_patience():
    space = Coins(np.full(6, 0.5))
    asking = best_arms(space.arms(), np.arange(6), 2, epsilon=0.001, delta=0.05, batch=16, most=500)
    found, tossed = play(asking, space.means, 0)
    assert len(found) == 2
    assert 500 <= tossed < 3000


def test_with_no_more_arms_than_wanted_nothing_is_drawn():
    space = Coins([0.4, 0.6])
    found, tossed = play(best_arms(space.arms(), np.arange(2), 3, epsilon=0.1, delta=0.05, batch=16), space.means, 0)
    assert tossed == 0
    assert set(found.tolist()) == {0, 1}


@pytest.mark.parametrize("tau", [0.8, 0.95])
def test_an_accepted_rule_is_precise_enough_in_nearly_all_runs(tau):
    goal = Goal(tau=tau, delta=0.1, epsilon=0.05, batch=16)
    wrong = accepted = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        space = Coins(rng.uniform(tau - 0.12, min(1, tau + 0.05), 6), rng.random(6))
        verdicts, _ = play(certify(space.arms(), goal, space), space.means, seed + 5000)
        accepted += verdicts.accepted.any()
        wrong += (space.means[verdicts.accepted] < tau - goal.epsilon).any()
        held = (verdicts.low <= space.means) & (space.means <= verdicts.high)
        assert held.mean() >= 0.5
    assert accepted > 150
    assert wrong <= 0.1 * 300


def test_what_is_clear_is_decided_with_few_draws():
    space = Coins([1.0, 0.3], [0.2, 0.5])
    verdicts, tossed = play(certify(space.arms(), Goal(), space), space.means, 0)
    assert verdicts.accepted.tolist() == [True, False]
    assert verdicts.refused.tolist() == [False, True]
    assert tossed <= 128 + 32


def test_a_rule_that_covers_less_than_an_accepted_one_is_left_alone():
    space = Coins([1.0, 0.96], [0.5, 0.2])
    verdicts, _ = play(certify(space.arms(), Goal(), space), space.means, 0)
    assert verdicts.accepted.tolist() == [True, False]
    assert verdicts.refused.tolist() == [False, False]


def test_a_precision_of_one_refuses_at_the_first_miss():
    space = Coins([0.9])
    verdicts, tossed = play(certify(space.arms(), Goal(tau=1.0), space), space.means, 0)
    assert verdicts.refused.tolist() == [True]
    assert tossed == 32
