"""Dividends of trees against their definition, by every path through the code."""

import sys
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.trees.dividends import dividends, worth_without
from reference.trees import marginal_game, model_of
from trees.ensembles import chains, random_ensemble, random_rows, scenes
from trees.watch import Interrupted, Watched


def all_sets(count):
    return [members for size in (1, 2, 3) for members in combinations(range(count), size)]


def some_players(rng, n):
    """Each column a player, or columns thrown together at random into players that all occur."""
    if rng.random() < 0.5:
        return np.arange(n)
    return np.unique(rng.integers(n, size=n), return_inverse=True)[1]


def twin(ensemble, X, background, weights, players, sets):
    """Dividends from the table of all coalitions of each row."""
    found = []
    for row in X:
        v = marginal_game(model_of(ensemble), row, background, weights, players)
        found.append(
            [
                sum(
                    (-1) ** (len(members) - size) * v[sum(1 << i for i in part)]
                    for size in range(len(members) + 1)
                    for part in combinations(members, size)
                )
                for members in sets
            ]
        )
    return np.array(found).reshape(len(X), len(sets), ensemble.n_outputs)


def twin_without(ensemble, X, background, weights, players):
    count = int(players.max()) + 1
    tables = [marginal_game(model_of(ensemble), row, background, weights, players) for row in X]
    everybody = (1 << count) - 1
    return np.array([[v[everybody & ~(1 << j)] for j in range(count)] for v in tables])


def check(scene, seed, **limits):
    ensemble, background = scene
    rng = np.random.default_rng(seed)
    players = some_players(rng, ensemble.n_features)
    weights = rng.integers(0, 4, len(background)) / 2 + (np.arange(len(background)) == 0)
    X = random_rows(rng, ensemble, 5, odd=0.4)
    sets = all_sets(int(players.max()) + 1)
    rng.shuffle(sets)
    watch = Watched(**limits)
    got = dividends(ensemble, X, sets, background=background, weights=weights, players=players, watch=watch)
    want = twin(ensemble, X, background, weights, players, sets)
    size = 1e-10 * (1 + np.abs(ensemble.nodes.value).sum())
    np.testing.assert_allclose(got, want, rtol=0, atol=size)
    count = int(players.max()) + 1
    options = {"background": background, "weights": weights, "players": players, "watch": watch}
    rest = worth_without(ensemble, X, range(count), **options)
    np.testing.assert_allclose(rest, twin_without(ensemble, X, background, weights, players), rtol=0, atol=size)


@settings(max_examples=60, deadline=None)
@given(scene=scenes(n_rows=8, n_features=5, n_trees=3, depth=5), seed=st.integers(0, 1000))
def test_dividends_of_any_trees_and_groups(scene, seed):
    check(scene, seed)


@settings(max_examples=15, deadline=None)
@given(scene=chains(n_rows=6, n_features=5, depth=40), seed=st.integers(0, 1000))
def test_features_that_come_again_on_deep_paths(scene, seed):
    check(scene, seed)


@pytest.mark.parametrize(
    "limits",
    [
        {"patterns": 0},  # no tables of patterns
        {"patience": 0.0},  # compiled walks
        {"grid_cells": 3},  # no grids: the compiled sweep for pairs, comparisons for triples
        {"coalitions": 1},  # one tree at a time
        {"compared": 1},  # one row at a time
        {"compared": 1, "grid_cells": 3},
    ],
    ids=str,
)
def test_every_path_gives_the_same(limits):
    rng = np.random.default_rng(7)
    for seed in range(6):
        ensemble = random_ensemble(
            rng, n_features=4, n_trees=3, depth=5, outputs=2, vector=seed % 2 == 0, categorical=0.2
        )
        check((ensemble, random_rows(rng, ensemble, 9)), seed, **limits)


def test_comparisons_without_a_compiler(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    rng = np.random.default_rng(3)
    ensemble = random_ensemble(rng, n_features=3, depth=4)
    check((ensemble, random_rows(rng, ensemble, 9)), 0, grid_cells=1)


def big(seed=0, n=400):
    rng = np.random.default_rng(seed)
    ensemble = random_ensemble(rng, n_features=6, n_trees=12, depth=5, categorical=0.0)
    return ensemble, rng.normal(size=(n, 6))


def test_leaves_without_the_players_add_exactly_nothing():
    rng = np.random.default_rng(0)
    stumps = random_ensemble(rng, n_features=4, n_trees=20, depth=1, early=0.0)
    X = random_rows(rng, stumps, 30)
    assert not dividends(stumps, X, all_sets(4)[4:], background=X).any()
    assert dividends(stumps, X, all_sets(4)[:4], background=X).any()


def test_dividends_of_all_sets_add_up_to_the_prediction():
    rng = np.random.default_rng(1)
    ensemble = random_ensemble(rng, n_features=3, n_trees=5, depth=6)
    X = random_rows(rng, ensemble, 40)
    total = dividends(ensemble, X, all_sets(3), background=X).sum(axis=1)
    prediction = ensemble.predict(X)
    np.testing.assert_allclose(total + prediction.mean(axis=0), prediction, rtol=0, atol=1e-12)


def test_a_player_that_no_split_asks_has_nothing():
    ensemble, X = big()
    players = np.arange(6)
    found = dividends(ensemble, X, [(6,), (0, 7)], background=X, players=players)
    assert not found.any()


@pytest.mark.parametrize("patience", [0.0, 1e9])
def test_threads_change_no_bit(patience):
    ensemble, X = big()
    sets = all_sets(6)[:21]
    watches = (Watched(threads, patience=patience) for threads in (1, 2))
    alone, together = (dividends(ensemble, X, sets, background=X, watch=watch) for watch in watches)
    assert alone.tobytes() == together.tobytes()


def test_a_person_may_interrupt():
    ensemble, X = big()
    with pytest.raises(KeyboardInterrupt):
        dividends(ensemble, X, [(0, 1)], background=X, watch=Interrupted(1, patience=0.0))


def test_small_jobs_compile_nothing(monkeypatch):
    class Refusing:
        def __getattr__(self, name):
            raise AssertionError("a small job asks for a compiler")

    monkeypatch.setitem(sys.modules, "numba", Refusing())
    ensemble, X = big(n=60)
    assert dividends(ensemble, X, all_sets(6), background=X).any()
    assert worth_without(ensemble, X, [0, 1], background=X).any()
