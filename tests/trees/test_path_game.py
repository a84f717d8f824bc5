"""The path-dependent game: the walk over the trees against the enumeration of all coalitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.errors import InputError
from pellucid.trees.path_game import path_base, path_values
from reference.enumerated import enumerated
from reference.trees import path_game
from trees.ensembles import chains, random_ensemble, random_rows, scenes
from trees.watch import Interrupted, Watched


def assert_equal_to_enumeration(ensemble, X, players, index="shapley"):
    got = path_values(ensemble, X, players, index=index)
    for row, values in zip(X, got, strict=True):
        game = path_game(ensemble, row, players)
        np.testing.assert_allclose(values, enumerated(game, index, 1), rtol=0, atol=1e-9 * (1 + np.abs(game).max()))
        np.testing.assert_allclose(path_base(ensemble), game[0], rtol=0, atol=1e-9 * (1 + np.abs(game).max()))


@settings(max_examples=40, deadline=None)
@given(scene=scenes(n_rows=4, n_features=5))
def test_shapley_values_are_those_of_the_enumeration(scene):
    ensemble, X = scene
    assert_equal_to_enumeration(ensemble, X, np.arange(ensemble.n_features))


@settings(max_examples=25, deadline=None)
@given(scene=chains(n_rows=3, n_features=4))
def test_trees_as_deep_as_two_hundred_splits(scene):
    ensemble, X = scene
    assert_equal_to_enumeration(ensemble, X, np.arange(ensemble.n_features))


@pytest.mark.parametrize("index", ["banzhaf", "taylor", "faithful"])
@settings(max_examples=15, deadline=None)
@given(scene=scenes(n_rows=3, n_features=4))
def test_other_indices_of_single_players(scene, index):
    ensemble, X = scene
    if ensemble.n_features > 2:  # an index of order 2 needs more than a pair to be told from others
        assert_equal_to_enumeration(ensemble, X, np.arange(ensemble.n_features), index)


def assert_coalitions_equal_to_enumeration(ensemble, X, index="shapley", order=2):
    got = path_values(ensemble, X, np.arange(ensemble.n_features), index=index, order=order)
    for row, values in zip(X, got, strict=True):
        game = path_game(ensemble, row)
        expected = enumerated(game, index, order)
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-9 * (1 + np.abs(game).max()))


@settings(max_examples=30, deadline=None)
@given(scene=scenes(n_rows=3, n_features=5))
def test_pairs_are_those_of_the_enumeration(scene):
    ensemble, X = scene
    if ensemble.n_features > 1:
        assert_coalitions_equal_to_enumeration(ensemble, X)


@settings(max_examples=15, deadline=None)
@given(scene=chains(n_rows=3, n_features=4))
def test_pairs_of_deep_trees(scene):
    ensemble, X = scene
    if ensemble.n_features > 1:
        assert_coalitions_equal_to_enumeration(ensemble, X)


@pytest.mark.parametrize("index", ["banzhaf", "taylor", "faithful"])
@settings(max_examples=15, deadline=None)
@given(scene=scenes(n_rows=3, n_features=4))
def test_other_indices_of_pairs(scene, index):
    ensemble, X = scene
    if ensemble.n_features > 1:
        assert_coalitions_equal_to_enumeration(ensemble, X, index)


@pytest.mark.parametrize("index", ["shapley", "banzhaf"])
@settings(max_examples=15, deadline=None)
@given(scene=scenes(n_rows=2, n_features=5))
def test_triples_are_those_of_the_enumeration(scene, index):
    ensemble, X = scene
    if ensemble.n_features > 2:
        assert_coalitions_equal_to_enumeration(ensemble, X, index, order=3)


def test_an_index_that_is_not_known_for_triples_is_refused():
    ensemble, X = big()
    with pytest.raises(InputError, match="taylor"):
        path_values(ensemble, X, np.arange(8), index="taylor", order=3)


@settings(max_examples=25, deadline=None)
@given(scene=scenes(n_rows=3, n_features=6), seed=st.integers(0, 1000))
def test_columns_that_act_as_one_player(scene, seed):
    ensemble, X = scene
    drawn = np.random.default_rng(seed).integers(0, max(ensemble.n_features - 1, 1), ensemble.n_features)
    players = np.unique(drawn, return_inverse=True)[1]
    assert_equal_to_enumeration(ensemble, X, players)


def big(seed=3):
    rng = np.random.default_rng(seed)
    ensemble = random_ensemble(rng, n_features=8, n_trees=30, depth=7, outputs=2)
    return ensemble, random_rows(rng, ensemble, 300)


def test_values_and_base_add_up_to_the_prediction():
    ensemble, X = big()
    values = path_values(ensemble, X, np.arange(8))
    np.testing.assert_allclose(path_base(ensemble) + values.sum(axis=1), ensemble.predict(X), atol=1e-12)


def test_threads_and_memory_change_no_bit():
    ensemble, X = big()
    once = path_values(ensemble, X, np.arange(8))
    watch = Watched(2, share_blocks=2, contribution_bytes=10_000)
    again = path_values(ensemble, X, np.arange(8), watch=watch)
    assert once.tobytes() == again.tobytes()
    assert watch.planned == watch.done > 0


def test_a_row_has_the_same_values_alone_and_among_others():
    ensemble, X = big()
    together = path_values(ensemble, X, np.arange(8))
    assert path_values(ensemble, X[70:71], np.arange(8)).tobytes() == together[70:71].tobytes()


def test_sparse_rows_are_the_dense_ones():
    sparse = pytest.importorskip("scipy.sparse")
    ensemble, X = big()
    X = np.where(np.isfinite(X), X, 1.0)
    X[np.random.default_rng(0).random(X.shape) < 0.7] = 0.0
    matrix = sparse.csr_array(X)
    dense = path_values(ensemble, X, np.arange(8))
    assert path_values(ensemble, matrix, np.arange(8)).tobytes() == dense.tobytes()


def test_an_interruption_is_heard_between_two_shares():
    ensemble, X = big()
    for watch in (Interrupted(1, share_blocks=2), Interrupted(2, share_blocks=2)):
        with pytest.raises(KeyboardInterrupt):
            path_values(ensemble, X, np.arange(8), watch=watch)
        assert watch.done < watch.planned


def test_an_ensemble_without_trees_and_one_without_splits():
    ensemble, X = big()
    none = ensemble.select(np.array([0])).scaled(0.0)
    assert not path_values(none, X, np.arange(8)).any()
    leaf = random_ensemble(np.random.default_rng(0), depth=0)
    assert not path_values(leaf, random_rows(np.random.default_rng(0), leaf, 3), np.arange(3)).any()
