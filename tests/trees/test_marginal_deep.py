"""The marginal game of deep trees: the walk with lists of background rows against the enumeration of coalitions."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.trees import marginal_deep
from pellucid.trees.marginal_deep import deep_marginal_values
from pellucid.trees.plain import coalitions
from reference.enumerated import SETS, enumerated
from reference.trees import marginal_game, model_of
from trees.ensembles import chains, random_ensemble, random_rows, scenes
from trees.watch import Interrupted, Watched

INDICES = ["shapley", "banzhaf", "taylor", "faithful"]


def deep_marginal_interactions(ensemble, X, background, weights, players, **options):
    """Those of all pairs, at both their places."""
    count = int(max(players)) + 1
    found = deep_marginal_values(ensemble, X, background, weights, players, order=2, **options)
    out = np.zeros((len(X), count, count, ensemble.n_outputs))
    low, high = coalitions(count, 2).T
    out[:, low, high] = out[:, high, low] = found
    return out


def matrix_of(index, game, count):
    """The index of all pairs, at both their places."""
    out = np.zeros((count, count, game.shape[1]))
    for key, value in index(game).items():
        if len(key) == 2:
            out[key] = out[key[::-1]] = value
    return out


def halves(rows):
    """Some rows to explain and some for the background; all of them for both if there is one."""
    return (rows[: len(rows) // 2], rows[len(rows) // 2 :]) if len(rows) > 1 else (rows, rows)


def assert_equal_to_enumeration(ensemble, rows, players, index="shapley", weights=None):
    X, background = halves(rows)
    weights = None if weights is None else np.resize(weights, len(background))
    count = int(max(players)) + 1
    values = deep_marginal_values(ensemble, X, background, weights, players, index=index)
    pairs = deep_marginal_interactions(ensemble, X, background, weights, players, index=index)
    assert values.shape == (len(X), count, ensemble.n_outputs)
    assert pairs.shape == (len(X), count, count, ensemble.n_outputs)
    for k, row in enumerate(X):
        game = marginal_game(model_of(ensemble), row, background, weights, players)
        close = {"rtol": 0, "atol": 1e-9 * (1 + np.abs(game).max())}
        np.testing.assert_allclose(values[k], enumerated(game, index, 1), **close)
        if count > 1:
            np.testing.assert_allclose(pairs[k], matrix_of(SETS[index], game, count), **close)


@settings(max_examples=40, deadline=None)
@given(scene=scenes(n_rows=12, n_features=5))
def test_equal_to_the_enumeration(scene):
    ensemble, rows = scene
    assert_equal_to_enumeration(ensemble, rows, np.arange(ensemble.n_features))


@settings(max_examples=20, deadline=None)
@given(scene=chains(n_rows=8, n_features=4))
def test_trees_as_deep_as_two_hundred_splits(scene):
    ensemble, rows = scene
    assert_equal_to_enumeration(ensemble, rows, np.arange(ensemble.n_features))


@pytest.mark.parametrize("index", INDICES[1:])
@settings(max_examples=12, deadline=None)
@given(scene=scenes(n_rows=8, n_features=4))
def test_other_indices(scene, index):
    ensemble, rows = scene
    if ensemble.n_features > 2:  # an index of order 2 needs more than a pair to be told from others
        assert_equal_to_enumeration(ensemble, rows, np.arange(ensemble.n_features), index)


@settings(max_examples=20, deadline=None)
@given(scene=scenes(n_rows=8, n_features=6), seed=st.integers(0, 1000))
def test_columns_of_one_player_come_together(scene, seed):
    ensemble, rows = scene
    players = np.random.default_rng(seed).integers(3, size=ensemble.n_features)
    assert_equal_to_enumeration(ensemble, rows, players)


@settings(max_examples=20, deadline=None)
@given(scene=scenes(n_rows=12, n_features=4), weights=st.lists(st.sampled_from([0.0, 0.5, 3.0]), max_size=6))
def test_weights_of_background_rows(scene, weights):
    ensemble, rows = scene
    assert_equal_to_enumeration(ensemble, rows, np.arange(ensemble.n_features), weights=[1.5, *weights])


@dataclass
class Scene:
    """A forest of several outputs, rows to explain and background rows."""

    ensemble: object
    X: np.ndarray
    background: np.ndarray
    players: np.ndarray

    def values(self, weights=None, **options):
        return deep_marginal_values(self.ensemble, self.X, self.background, weights, self.players, **options)

    def pairs(self, weights=None, **options):
        return deep_marginal_interactions(self.ensemble, self.X, self.background, weights, self.players, **options)


@pytest.fixture(params=[False, True], ids=["one number per leaf", "all outputs per leaf"])
def scene(request):
    rng = np.random.default_rng(3)
    ensemble = random_ensemble(rng, n_features=12, n_trees=6, depth=9, early=0.02, outputs=3, vector=request.param)
    rows = random_rows(rng, ensemble, 71)
    return Scene(ensemble, rows[:21], rows[21:], np.arange(12))


def test_values_add_up_to_the_prediction(scene):
    weights = np.random.default_rng(0).random(len(scene.background))
    base = np.average(scene.ensemble.predict(scene.background), axis=0, weights=weights)
    total = base + scene.values(weights).sum(axis=1)
    np.testing.assert_allclose(total, scene.ensemble.predict(scene.X), rtol=0, atol=1e-11)


def test_a_weight_of_two_is_a_row_twice(scene):
    weights = np.arange(len(scene.background)) % 3
    twice = Scene(scene.ensemble, scene.X, np.repeat(scene.background, weights, axis=0), scene.players)
    np.testing.assert_allclose(scene.values(weights), twice.values(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(scene.pairs(weights), twice.pairs(), rtol=0, atol=1e-12)


def test_a_row_against_itself_is_nothing(scene):
    row = scene.X[:1]
    alone = Scene(scene.ensemble, row, row, scene.players)
    assert not alone.values().any()
    assert not alone.pairs().any()


def test_portions_of_the_background_change_nothing_but_rounding(scene):
    """More rows than are walked together."""
    rows = random_rows(np.random.default_rng(5), scene.ensemble, 1500)
    halves = [Scene(scene.ensemble, scene.X[:3], half, scene.players) for half in (rows[:600], rows[600:])]
    whole = Scene(scene.ensemble, scene.X[:3], rows, scene.players)
    assert len(list(marginal_deep._background(rows, None, 12))) == 2
    for ask in (Scene.values, Scene.pairs):
        parts = [ask(half) for half in halves]
        np.testing.assert_allclose(ask(whole), 0.4 * parts[0] + 0.6 * parts[1], rtol=0, atol=1e-11)


def test_every_tree_is_in_one_batch(scene):
    several = list(marginal_deep._batches(scene.ensemble, 300))
    assert len(several) > 2
    assert np.concatenate(several).tolist() == list(range(6))


def test_threads_change_no_bit_and_progress_reaches_the_plan(scene):
    for ask in (scene.values, scene.pairs):
        one, three = Watched(1), Watched(3)
        np.testing.assert_array_equal(ask(watch=one), ask(watch=three))
        assert one.done == one.planned == three.done == three.planned > 0


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_is_heard_between_shares(scene, threads):
    with pytest.raises(KeyboardInterrupt):
        scene.values(watch=Interrupted(threads))


def test_nothing_to_explain(scene):
    nobody = Scene(scene.ensemble, scene.X[:0], scene.background, scene.players)
    assert nobody.values().shape == (0, 12, 3)
    assert nobody.pairs().shape == (0, 12, 12, 3)


def test_a_background_without_weight_is_refused(scene):
    with pytest.raises(ValueError, match="weight"):
        scene.values(np.zeros(len(scene.background)))


def test_more_players_on_a_path_than_bits_in_a_word():
    """Too many to enumerate: values, and values and pairs of the Shapley-Taylor index, add up to the change."""
    rng = np.random.default_rng(5)
    ensemble = random_ensemble(rng, n_features=100, n_trees=3, depth=200, chain=True, categorical=0.0)
    rows = random_rows(rng, ensemble, 12)
    alone = Scene(ensemble, rows[:6], rows[6:], np.arange(100))
    change = ensemble.predict(rows[:6]) - ensemble.predict(rows[6:]).mean(axis=0)
    np.testing.assert_allclose(alone.values().sum(axis=1), change, rtol=0, atol=1e-10)
    taylor = alone.values(index="taylor").sum(axis=1)
    taylor = taylor + alone.pairs(index="taylor").sum(axis=(1, 2)) / 2
    np.testing.assert_allclose(taylor, change, rtol=0, atol=1e-10)
