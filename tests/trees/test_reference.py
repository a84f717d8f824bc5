"""The slow twins of tree games and of indices agree with closed forms and with each other."""

from dataclasses import replace
from itertools import combinations, permutations
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.trees.ensemble import Nodes, TreeEnsemble
from reference import indices, trees
from strategies import QUICK, assert_close
from trees.ensembles import chains, random_rows, scenes

SEEDS = st.integers(0, 10**6)


def game(p, value):
    """The table of a function of sets of players."""
    return np.array([[float(value({i for i in range(p) if mask >> i & 1}))] for mask in range(2**p)], dtype=float)


def random_game(seed, p, outputs=2):
    return np.random.default_rng(seed).normal(size=(2**p, outputs))


def unanimity(p, T):
    return game(p, lambda S: set(T) <= S)


def assert_all_close(actual, expected):
    assert set(actual) == set(expected)
    for T, value in expected.items():
        assert_close(actual[T], value)


# Indices on games whose answer is known


def test_additive_game_has_its_parts_and_no_interactions():
    parts = np.array([1.5, -2.0, 0.25, 4.0])
    v = game(4, lambda S: 7.0 + sum(parts[i] for i in S))
    assert_close(indices.shapley(v)[:, 0], parts)
    assert_close(indices.banzhaf(v)[:, 0], parts)
    assert_close(indices.interaction_matrix(v)[:, :, 0], np.diag(parts))
    own = {(i,): [parts[i]] for i in range(4)}
    none = {T: [0.0] for T in combinations(range(4), 2)}
    assert_all_close(indices.shapley_interaction(v), none)
    assert_all_close(indices.banzhaf_interaction(v), none)
    assert_all_close(indices.shapley_taylor(v), own | none)
    assert_all_close(indices.faithful_shapley(v), {(): [7.0]} | own | none)
    assert_all_close(indices.faithful_banzhaf(v), {(): [7.0]} | own | none)
    assert_all_close(indices.shapley_interaction(v, 3), {T: [0.0] for T in combinations(range(4), 3)})


def test_product_of_two():
    v = 6.0 * unanimity(3, (0, 2))
    pair = {T: [6.0 if T == (0, 2) else 0.0] for T in combinations(range(3), 2)}
    mains = {(i,): [0.0] for i in range(3)}
    assert_close(indices.shapley(v)[:, 0], [3.0, 0.0, 3.0])
    assert_close(indices.banzhaf(v)[:, 0], [3.0, 0.0, 3.0])
    assert_close(indices.interaction_matrix(v)[:, :, 0], [[0, 0, 3], [0, 0, 0], [3, 0, 0]])
    assert_all_close(indices.shapley_interaction(v), pair)
    assert_all_close(indices.banzhaf_interaction(v), pair)
    assert_all_close(indices.shapley_taylor(v), mains | pair)
    assert_all_close(indices.faithful_shapley(v), {(): [0.0]} | mains | pair)
    assert_all_close(indices.faithful_banzhaf(v), {(): [0.0]} | mains | pair)


def test_unanimity_of_three_among_four():
    v = unanimity(4, (0, 1, 3))
    assert_close(indices.shapley(v)[:, 0], [1 / 3, 1 / 3, 0, 1 / 3])
    assert_close(indices.banzhaf(v)[:, 0], [1 / 4, 1 / 4, 0, 1 / 4])

    def pairs(share):
        return {T: [share if set(T) <= {0, 1, 3} else 0.0] for T in combinations(range(4), 2)}

    assert_all_close(indices.shapley_interaction(v), pairs(1 / 2))
    assert_all_close(indices.banzhaf_interaction(v), pairs(1 / 2))
    assert_all_close(indices.shapley_taylor(v), pairs(1 / 3) | {(i,): [0.0] for i in range(4)})
    third = {T: [1.0 if T == (0, 1, 3) else 0.0] for T in combinations(range(4), 3)}
    assert_all_close(indices.shapley_interaction(v, 3), third)
    assert_all_close(indices.banzhaf_interaction(v, 3), third)


def test_glove_game():
    """Player 0 has a left glove, the others right ones; a pair is worth 1."""
    v = game(3, lambda S: 0 in S and len(S) >= 2)
    assert_close(indices.shapley(v)[:, 0], [2 / 3, 1 / 6, 1 / 6])
    assert_close(indices.banzhaf(v)[:, 0], [3 / 4, 1 / 4, 1 / 4])
    expected = {(0, 1): [1 / 2], (0, 2): [1 / 2], (1, 2): [-1 / 2]}
    assert_all_close(indices.shapley_interaction(v), expected)


@pytest.mark.parametrize("p", [1, 3, 5])
def test_majority_game(p):
    v = game(p, lambda S: len(S) > p / 2)
    assert_close(indices.shapley(v)[:, 0], [1 / p] * p)
    assert_close(indices.banzhaf(v)[:, 0], [comb(p - 1, p // 2) / 2 ** (p - 1)] * p)


# Indices on any game


@given(SEEDS, st.integers(1, 5))
@QUICK
def test_shapley_is_the_mean_over_orders(seed, p):
    v = random_game(seed, p)
    total = np.zeros((p, 2))
    for order in permutations(range(p)):
        for k, i in enumerate(order):
            total[i] += v[indices.mask_of(order[: k + 1])] - v[indices.mask_of(order[:k])]
    assert_close(indices.shapley(v), total / factorial(p))


@given(SEEDS, st.integers(2, 5))
@QUICK
def test_shapley_taylor_is_the_mean_over_orders(seed, p):
    """A pair is counted in an order at the coalition that came before the first of the two."""
    v = random_game(seed, p)
    got = indices.shapley_taylor(v)
    for T in combinations(range(p), 2):
        total = 0.0
        for order in permutations(range(p)):
            first = min(order.index(i) for i in T)
            total = total + indices.derivative(v, T, order[:first])
        assert_close(got[T], total / factorial(p))
    for i in range(p):
        assert_close(got[i,], v[1 << i] - v[0])


@given(SEEDS, st.integers(1, 6))
@QUICK
def test_what_adds_up(seed, p):
    v = random_game(seed, p)
    phi = indices.shapley(v)
    matrix = indices.interaction_matrix(v)
    taylor = indices.shapley_taylor(v)
    faithful = indices.faithful_shapley(v)
    assert_close(phi.sum(axis=0), v[-1] - v[0])
    assert_close(matrix.sum(axis=1), phi)
    assert_close(matrix, matrix.transpose(1, 0, 2))
    assert_close(sum(taylor.values()), v[-1] - v[0])
    assert_close(sum(faithful.values()), v[-1])
    assert_close(faithful[()], v[0])


def restricted(v, out, present):
    """The game of the others, with player `out` always present or always absent."""
    kept = [mask for mask in range(len(v)) if bool(mask >> out & 1) == present]
    return v[kept]


def merged(v, i, j):
    """The game in which i < j come together, in the place of i."""
    kept = [mask for mask in range(len(v)) if mask >> i & 1 == mask >> j & 1]
    without_j = [(mask & ((1 << j) - 1)) | (mask >> (j + 1) << j) for mask in kept]
    table = np.empty((len(kept), *v.shape[1:]))
    table[without_j] = v[kept]
    return table


@given(SEEDS, st.integers(2, 5))
@QUICK
def test_pairs_by_recursion_on_merged_players(seed, p):
    """Grabisch and Roubens: I(ij) = value of the merged player - value of i without j - value of j without i."""
    v = random_game(seed, p)
    for value, pairs in (
        (indices.shapley, indices.shapley_interaction(v)),
        (indices.banzhaf, indices.banzhaf_interaction(v)),
    ):
        for (i, j), got in pairs.items():
            both = value(merged(v, i, j))[i]
            assert_close(got, both - value(restricted(v, j, False))[i] - value(restricted(v, i, False))[j - 1])


@given(SEEDS, st.integers(3, 5))
@QUICK
def test_triples_by_recursion_on_presence(seed, p):
    """I(ijk) is what the presence of k changes in I(ij)."""
    v = random_game(seed, p)
    for index in (indices.shapley_interaction, indices.banzhaf_interaction):
        for (i, j, k), got in index(v, 3).items():
            there, away = (index(restricted(v, k, present), 2)[i, j] for present in (True, False))
            assert_close(got, there - away)


@given(SEEDS, st.integers(2, 6))
@QUICK
def test_faithful_indices_of_top_order_have_closed_forms(seed, p):
    """Tsai et al. (2023) for pairs; Hammer and Holzman (1992) for Banzhaf; order 1 gives the values."""
    v = random_game(seed, p)

    def weight(s):
        return 6 * factorial(s + 1) * factorial(p - s - 1) / factorial(p + 1)

    shapley, banzhaf = indices.faithful_shapley(v), indices.faithful_banzhaf(v)
    for T, index in indices.banzhaf_interaction(v).items():
        assert_close(shapley[T], indices.weighted_derivatives(v, T, weight), 1e-9)
        assert_close(banzhaf[T], index)
    first = indices.faithful_shapley(v, 1)
    assert_close([first[i,] for i in range(p)], indices.shapley(v), 1e-9)
    first = indices.faithful_banzhaf(v, 1)
    assert_close([first[i,] for i in range(p)], indices.banzhaf(v))


@given(SEEDS, st.integers(1, 6))
@QUICK
def test_faithful_indices_give_back_a_game_of_pairs(seed, p):
    rng = np.random.default_rng(seed)
    sets = indices.sets_up_to(p, 2)
    parts = {T: rng.normal(size=2) for T in sets}
    v = np.array([sum(parts[T] for T in sets if m & indices.mask_of(T) == indices.mask_of(T)) for m in range(2**p)])
    assert_all_close(indices.faithful_shapley(v), parts)
    assert_all_close(indices.faithful_banzhaf(v), parts)


@given(SEEDS, st.integers(3, 5))
@QUICK
def test_no_other_fit_is_more_faithful(seed, p):
    v = random_game(seed, p, 1)[:, 0]
    rng = np.random.default_rng(seed)
    sets = indices.sets_up_to(p, 2)
    inside = indices.membership(p, sets)
    fit = indices.faithful_shapley(v)

    def error(values):
        off = (v - inside @ values) ** 2
        return sum(off[m] / (comb(p, m.bit_count()) * m.bit_count() * (p - m.bit_count())) for m in range(1, 2**p - 1))

    best = np.array([fit[T] for T in sets])
    for _ in range(10):
        other = rng.normal(size=len(sets))
        other[0] = 0.0
        other[1:] -= other[1:].mean()  # still exact for nobody and for everybody
        assert error(best) <= error(best + 0.1 * other)


# Games of trees


def tree(feature, threshold, left, right, cover, value, n_features=2):
    nodes = Nodes(feature, threshold, left, right, np.ones(len(feature)), cover, value)
    return TreeEnsemble(nodes, [0], [0], [0.5], n_features)


def small_tree():
    """x0 <= 0: 10 (3 of 8); else x1 <= 1: 20 (1 of 5), else 40 (4 of 5); base 0.5."""
    return tree(
        [0, -1, 1, -1, -1], [0, 0, 1, 0, 0], [1, -1, 3, -1, -1], [2, -1, 4, -1, -1], [8, 3, 5, 1, 4], [0, 10, 0, 20, 40]
    )


def test_path_game_by_hand():
    v = trees.path_game(small_tree(), [1.0, 1.0])[:, 0]
    assert_close(v, [0.5 + (30 + 20 + 160) / 8, 0.5 + (20 + 160) / 5, 0.5 + (30 + 100) / 8, 20.5])


def test_marginal_game_by_hand():
    background = [[0.0, 0.0], [5.0, 2.0], [5.0, 2.0], [-1.0, 2.0]]
    v = trees.marginal_game(trees.model_of(small_tree()), [1.0, 1.0], background)[:, 0]
    assert_close(v, [0.5 + (10 + 40 + 40 + 10) / 4, 0.5 + (20 + 3 * 40) / 4, 0.5 + (10 + 20 + 20 + 10) / 4, 20.5])


def test_branches_without_cover():
    """Nothing came through the root: a half each; a child without cover weighs nothing."""
    arrays = ([0, -1, 1, -1, -1], [0, 0, 1, 0, 0], [1, -1, 3, -1, -1], [2, -1, 4, -1, -1])
    nothing = tree(*arrays, [0, 0, 0, 0, 0], [0, 10, 0, 20, 40])
    assert_close(trees.path_game(nothing, [9.0, 9.0])[:, 0], [20.5, 30.5, 25.5, 40.5])
    one = tree(*arrays, [2, 0, 2, 0, 2], [0, 10, 0, 20, 40])
    assert_close(trees.path_game(one, [-1.0, 0.0])[:, 0], [40.5, 10.5, 20.5, 10.5])


@given(st.one_of(scenes(n_rows=4, n_features=5), chains(n_rows=4)))
@QUICK
def test_ends_of_the_games(scene):
    """Everybody: the prediction. Nobody: mean of the leaves by cover, or mean prediction of the background."""
    ensemble, rows = scene
    nodes, f = ensemble.nodes, trees.model_of(ensemble)
    share = {int(root): 1.0 for root in ensemble.roots}
    for i in range(len(nodes.feature)):  # parents come before children
        if nodes.feature[i] >= 0:
            share[int(nodes.left[i])] = share[i] * trees.left_share(nodes, i)
            share[int(nodes.right[i])] = share[i] * (1 - trees.left_share(nodes, i))
    ends = [*ensemble.roots[1:], len(nodes.feature)]
    means = [sum(share[i] * nodes.value[i] for i in range(a, b)) for a, b in zip(ensemble.roots, ends, strict=True)]
    path, marginal = trees.path_game(ensemble, rows[0]), trees.marginal_game(f, rows[0], rows)
    assert_close(path[-1], f(rows[0]))
    assert_close(marginal[-1], f(rows[0]))
    assert_close(path[0], trees.add_up(ensemble, means))
    assert_close(marginal[0], np.mean([f(row) for row in rows], axis=0))


@given(scenes(n_rows=5, n_features=4, depth=4))
@QUICK
def test_weights_are_repeated_rows(scene):
    ensemble, rows = scene
    f = trees.model_of(ensemble)
    weights = [1 + k % 3 for k in range(len(rows))]
    repeated = np.repeat(rows, weights, axis=0)
    weighted = trees.marginal_game(f, rows[0], rows, weights)
    assert_close(weighted, trees.marginal_game(f, rows[0], repeated))
    points = rows[:, :1]
    assert_close(
        trees.partial_dependence(f, [0], points, rows, weights), trees.partial_dependence(f, [0], points, repeated)
    )


@given(scenes(n_rows=4, n_features=5, depth=4), SEEDS)
@QUICK
def test_a_group_of_columns_is_a_merged_player(scene, seed):
    ensemble, rows = scene
    f = trees.model_of(ensemble)
    players = np.random.default_rng(seed).integers(0, 3, ensemble.n_features)
    for whole, grouped in (
        (trees.path_game(ensemble, rows[0]), trees.path_game(ensemble, rows[0], players)),
        (trees.marginal_game(f, rows[0], rows), trees.marginal_game(f, rows[0], rows, players=players)),
    ):
        assert len(grouped) == 2 ** (max(players) + 1)
        for mask, value in enumerate(grouped):
            columns = [c for c, player in enumerate(players) if mask >> player & 1]
            assert_close(value, whole[indices.mask_of(columns)])
    if ensemble.n_features >= 2:
        pair = [0, 0, *range(1, ensemble.n_features - 1)]
        together = merged(trees.path_game(ensemble, rows[0]), 0, 1)
        assert_close(trees.path_game(ensemble, rows[0], pair), together)


def counted(ensemble, rows):
    """The ensemble with the covers that the rows give."""
    nodes, cover = ensemble.nodes, np.zeros(len(ensemble.nodes.feature))
    for row in rows:
        for root in ensemble.roots:
            cover[trees.leaf_of(nodes, root, row)] += 1
    for i in reversed(range(len(cover))):
        if nodes.feature[i] >= 0:
            cover[i] = cover[nodes.left[i]] + cover[nodes.right[i]]
    return replace(ensemble, nodes=replace(nodes, cover=cover))


@given(scenes(n_rows=8, n_features=4), SEEDS)
@QUICK
def test_both_games_are_one_for_trees_of_single_columns(scene, seed):
    """If each tree asks for one column only and its covers count the background, the two games are equal."""
    ensemble, _ = scene
    tree_of = np.searchsorted(ensemble.roots, np.arange(len(ensemble.nodes.feature)), side="right") - 1
    feature = np.where(ensemble.nodes.feature >= 0, tree_of % ensemble.n_features, -1)
    ensemble = replace(ensemble, nodes=replace(ensemble.nodes, feature=feature))
    rows = random_rows(np.random.default_rng(seed), ensemble, 6)
    path = trees.path_game(counted(ensemble, rows), rows[0])
    marginal = trees.marginal_game(trees.model_of(ensemble), rows[0], rows)
    assert_close(path, marginal)
    for index in indices.shapley_interaction(path).values() if ensemble.n_features > 1 else ():
        assert_close(index, np.zeros(ensemble.n_outputs))


@given(scenes(n_rows=5, n_features=4, depth=5))
@QUICK
def test_partial_dependence_is_the_marginal_game_of_its_columns(scene):
    ensemble, rows = scene
    f = trees.model_of(ensemble)
    for T in indices.sets_up_to(ensemble.n_features, 2):
        points = rows[:2][:, list(T)]
        expected = [trees.marginal_game(f, row, rows)[indices.mask_of(T)] for row in rows[:2]]
        assert_close(trees.partial_dependence(f, T, points, rows), expected)


def test_partial_dependence_by_hand():
    background = [[0.0, 0.0], [5.0, 2.0], [5.0, 2.0], [-1.0, 2.0]]
    f = trees.model_of(small_tree())
    got = trees.partial_dependence(f, [0], [[-1.0], [1.0]], background)
    assert_close(got[:, 0], [10.5, 0.5 + (20 + 3 * 40) / 4])
    both = trees.partial_dependence(f, [1, 0], [[1.0, 9.0], [1.5, 9.0]], background)
    assert_close(both[:, 0], [20.5, 40.5])
