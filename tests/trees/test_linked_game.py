"""Shapley values of a link of a sum of trees: all coalitions against the enumeration, some against all."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from scipy.special import expit, softmax

from pellucid.trees.kernels.links import CODES, linked
from pellucid.trees.kernels.live_leaves import common_leaves
from pellucid.trees.linked_game import Draws, Leaves, LinkedGame
from reference.enumerated import enumerated
from reference.trees import marginal_game, model_of
from trees.ensembles import random_ensemble, random_rows, scenes

LINKS = {"logistic": expit, "one-vs-rest": expit, "exp": np.exp, "softmax": lambda raw: softmax(raw, axis=-1)}


def linked_game(ensemble, link, background, weights=None, players=None, **more):
    players = np.arange(ensemble.n_features) if players is None else players
    return LinkedGame(ensemble, Leaves.of(ensemble, players), link, background, weights, players, **more)


def linked_model(ensemble, link):
    model = model_of(ensemble)
    return lambda rows: LINKS[link](np.asarray(model(rows)))


def assert_equal_to_enumeration(ensemble, rows, link, players=None, weights=None):
    X, background = rows[:2], rows[-4:]
    players = np.arange(ensemble.n_features) if players is None else players
    weights = None if weights is None else np.resize(weights, len(background))
    found = linked_game(ensemble, link, background, weights, players).exact(X)
    for k, row in enumerate(X):
        game = marginal_game(linked_model(ensemble, link), row, background, weights, players)
        np.testing.assert_allclose(
            found[k], enumerated(game, "shapley", 1), rtol=0, atol=1e-9 * (1 + np.abs(game).max())
        )


@njit
def together(x, z, live):
    return common_leaves(x, z, live)


@pytest.mark.parametrize("kind", [np.uint8, np.uint32])
def test_leaves_that_two_rows_reach_together(kind):
    rng = np.random.default_rng(0)
    for leaves in (0, 1, 63, 64, 65, 200):
        x, z = rng.integers(0, 256, size=(2, leaves)).astype(kind) & rng.integers(0, 256, size=leaves).astype(kind)
        live = np.empty(leaves + 1, dtype=np.int64)
        assert live[: together(x, z, live)].tolist() == np.flatnonzero(x & z == 0).tolist()


@settings(max_examples=60, deadline=None)
@given(scene=scenes(n_rows=6, n_features=5), link=st.sampled_from(sorted(LINKS)))
def test_all_coalitions_give_the_enumeration(scene, link):
    assert_equal_to_enumeration(*scene, link)


@settings(max_examples=20, deadline=None)
@given(scene=scenes(n_rows=6, n_features=5), weights=st.lists(st.sampled_from([0.0, 0.5, 3.0]), min_size=2).filter(any))
def test_columns_of_one_player_and_weights(scene, weights):
    ensemble, rows = scene
    players = np.arange(ensemble.n_features) // 2
    weights = [*weights, 1.0]
    assert_equal_to_enumeration(ensemble, rows, "softmax", players, weights)


@pytest.mark.parametrize("link", ["logistic", "softmax"])
def test_more_players_than_a_byte_on_one_way(link):
    rng = np.random.default_rng(3)
    ensemble = random_ensemble(rng, n_features=11, n_trees=3, depth=30, outputs=2, chain=True)
    assert Leaves.of(ensemble, np.arange(11)).bit.dtype == np.uint32
    assert_equal_to_enumeration(ensemble, random_rows(rng, ensemble, 6), link)


def test_a_way_with_too_many_players_is_refused():
    rng = np.random.default_rng(0)
    ensemble = random_ensemble(rng, n_features=300, n_trees=1, depth=120, chain=True)
    assert Leaves.of(ensemble, np.arange(300)) is None


def many(players=16, seed=5):
    rng = np.random.default_rng(seed)
    ensemble = random_ensemble(rng, n_features=players, n_trees=30, depth=5, categorical=0.1).scaled(0.7)
    return ensemble, random_rows(rng, ensemble, 60)


def test_some_coalitions_miss_all_of_them_by_as_much_as_they_say():
    ensemble, rows = many()
    X, background = rows[:6], rows[6:46]
    game = linked_game(ensemble, "logistic", background)
    truth = game.exact(X)
    size = np.abs(truth).max()
    errors, missed = [], []
    for seed in range(40):
        values, variance = game.drawn(X, Draws.of(40, 3, game.count, np.random.default_rng(seed)))
        errors.append(values - truth)
        missed.append(np.abs(errors[-1]) > 1.96 * np.sqrt(variance) + 1e-12)
    assert 0 < np.sqrt(np.mean(np.square(errors))) < 0.02 * size
    assert np.abs(np.mean(errors, axis=0)).max() < 4 * np.std(errors, axis=0).max() / np.sqrt(40)  # no bias
    assert np.mean(missed) < 0.07


def test_softmax_from_some_coalitions():
    rng = np.random.default_rng(8)
    ensemble = random_ensemble(rng, n_features=9, n_trees=12, depth=4, outputs=3)
    rows = random_rows(rng, ensemble, 40)
    game = linked_game(ensemble, "softmax", rows[4:34])
    truth = game.exact(rows[:4])
    found = [game.drawn(rows[:4], Draws.of(30, 8, 9, np.random.default_rng(seed)))[0] for seed in range(20)]
    np.testing.assert_allclose(np.mean(found, axis=0), truth, atol=0.004)
    np.testing.assert_allclose(np.sum(found, axis=-1), 0, atol=1e-12)  # what one class wins the others lose


@pytest.mark.parametrize("draws", [2, 5])
def test_a_row_has_the_same_bits_whatever_it_is_explained_with(draws):
    ensemble, rows = many()
    game = linked_game(ensemble, "logistic", rows[:30])
    chosen = Draws.of(30, draws, game.count, np.random.default_rng(0))
    alone, together = game.drawn(rows[40:41], chosen), game.drawn(rows[35:60], chosen)
    np.testing.assert_array_equal(alone[0][0], together[0][5])
    np.testing.assert_array_equal(alone[1][0], together[1][5])
    np.testing.assert_array_equal(game.exact(rows[40:41])[0], game.exact(rows[35:60])[5])


def test_a_background_in_parts_gives_the_same():
    ensemble, rows = many(players=10)
    game, parts = (linked_game(ensemble, "logistic", rows[:30], kept_bytes=size) for size in (2**30, 4000))
    np.testing.assert_allclose(parts.exact(rows[40:44]), game.exact(rows[40:44]), atol=1e-13)
    draws = Draws.of(30, 2, 10, np.random.default_rng(0))
    for one, other in zip(parts.drawn(rows[40:44], draws), game.drawn(rows[40:44], draws), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-13)


def test_few_players_differ_from_the_background():
    ensemble, rows = many(players=30)
    near = np.repeat(rows[:1], 20, axis=0)
    near[:, :5] = rows[20:40, :5]
    game = linked_game(ensemble, "logistic", near)
    assert game.few(rows[:1]).all()
    assert game.differing(rows[:1]).max() <= 5
    assert not linked_game(ensemble, "logistic", rows[20:]).few(rows[:1]).any()


@pytest.mark.parametrize("link", sorted(LINKS))
def test_links_to_the_last_digits(link):
    sums = np.random.default_rng(0).normal(size=(3, 4000)) * 40
    sums[:, :8] = [[-800.0, -745.0, -1.0, -0.0, 0.0, 1e-300, 40.0, 800.0]] * 3
    made = sums.copy()
    linked(CODES[link], made)
    if link == "exp":
        sums = np.clip(sums, -708, 708)
    np.testing.assert_allclose(made, LINKS[link](sums.T).T, rtol=1e-14, atol=1e-300 if link == "exp" else 1e-16)
