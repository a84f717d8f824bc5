"""What a network leaves out, from costs alone."""

from itertools import combinations

from pellucid.explanations.network import fewest_kept, left_out

NAMES = "abcd"
# Every pair has part of the same four-way interaction: the sum of the pairs' costs counts it six times.
COSTS = {frozenset(u): 0.004 if len(u) == 2 else 0.25 for n in (1, 2) for u in combinations(NAMES, n)}


def test_no_pair_is_needed_where_an_additive_model_is_good_enough():
    assert len([u for u in left_out(COSTS, 0.01)[0] if len(u) == 2]) < 6
    dropped, lost = fewest_kept(COSTS, 0.01, 0.009)
    assert dropped == {u for u in COSTS if len(u) == 2}
    assert lost == 0.009


def test_features_are_left_out_besides_as_long_as_it_is_within_the_loss():
    costs = COSTS | {frozenset("a"): 0.0005}
    dropped, lost = fewest_kept(costs, 0.01, 0.009)
    assert frozenset("a") in dropped
    assert not any(frozenset("a") < u for u in dropped)
    assert lost == 0.0095


def test_otherwise_the_least_costly_go_first():
    assert fewest_kept(COSTS, 0.01, 0.02) == left_out(COSTS, 0.01)
    assert fewest_kept(COSTS, 0.01, float("nan")) == left_out(COSTS, 0.01)
