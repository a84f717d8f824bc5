"""The marginal game: tables of leaf patterns against the enumeration of all coalitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.errors import InputError
from pellucid.runner import Limits
from pellucid.trees import predict as predicting
from pellucid.trees.marginal_game import fits, marginal_base, marginal_values
from reference.enumerated import enumerated
from reference.trees import marginal_game, model_of
from trees.ensembles import chains, random_ensemble, random_rows, scenes
from trees.watch import Interrupted, Watched


def assert_equal_to_enumeration(ensemble, X, weights=None, players=None, index="shapley", order=1):
    X, background = X[:3], random_rows(np.random.default_rng(len(X)), ensemble, 6)
    players = np.arange(ensemble.n_features) if players is None else players
    got = marginal_values(ensemble, X, background, weights, players, index=index, order=order)
    for row, values in zip(X, got, strict=True):
        game = marginal_game(model_of(ensemble), row, background, weights, players)
        near = {"rtol": 0, "atol": 1e-9 * (1 + np.abs(game).max())}
        if values.size:
            np.testing.assert_allclose(values, enumerated(game, index, order), **near)
        np.testing.assert_allclose(marginal_base(ensemble, background, weights), game[0], **near)


@pytest.mark.parametrize("order", [1, 2, 3])
@settings(max_examples=30, deadline=None)
@given(scene=scenes(n_rows=9, n_features=5), seed=st.integers(0, 1000))
def test_values_and_pairs_are_those_of_the_enumeration(scene, seed, order):
    ensemble, X = scene
    weights = np.random.default_rng(seed).choice([0.0, 1.0, 2.5], size=6) + (seed % 2)
    if weights.sum() > 0:
        assert_equal_to_enumeration(ensemble, X, weights, order=order)


@settings(max_examples=15, deadline=None)
@given(scene=chains(n_rows=7, n_features=4))
def test_trees_as_deep_as_two_hundred_splits(scene):
    ensemble, X = scene
    assert_equal_to_enumeration(ensemble, X)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("index", ["banzhaf", "taylor", "faithful"])
@settings(max_examples=10, deadline=None)
@given(scene=scenes(n_rows=6, n_features=4))
def test_other_indices(scene, index, order):
    ensemble, X = scene
    if ensemble.n_features > 2:
        assert_equal_to_enumeration(ensemble, X, index=index, order=order)


@settings(max_examples=20, deadline=None)
@given(scene=scenes(n_rows=6, n_features=6), seed=st.integers(0, 1000))
def test_columns_that_act_as_one_player(scene, seed):
    ensemble, X = scene
    drawn = np.random.default_rng(seed).integers(0, max(ensemble.n_features - 1, 1), ensemble.n_features)
    players = np.unique(drawn, return_inverse=True)[1]
    assert_equal_to_enumeration(ensemble, X, players=players)


def big(seed=3):
    rng = np.random.default_rng(seed)
    ensemble = random_ensemble(rng, n_features=8, n_trees=40, depth=7, outputs=2)
    return ensemble, random_rows(rng, ensemble, 300), random_rows(rng, ensemble, 150)


def test_values_and_base_add_up_to_the_prediction():
    ensemble, X, background = big()
    values = marginal_values(ensemble, X, background, None, np.arange(8))
    base = marginal_base(ensemble, background, None)
    np.testing.assert_allclose(base + values.sum(axis=1), ensemble.predict(X), atol=1e-12)


def test_a_weight_of_two_is_a_row_twice():
    ensemble, X, background = big()
    weights = 1.0 + (np.arange(150) % 3 == 0)
    twice = np.concatenate([background, background[::3]])
    weighted = marginal_values(ensemble, X, background, weights, np.arange(8))
    np.testing.assert_allclose(weighted, marginal_values(ensemble, X, twice, None, np.arange(8)), atol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_threads_and_memory_change_no_bit(order):
    ensemble, X, background = big()
    once = marginal_values(ensemble, X, background, None, np.arange(8), order=order)
    watch = Watched(2, share_blocks=2, contribution_bytes=10_000)
    again = marginal_values(ensemble, X, background, None, np.arange(8), order=order, watch=watch)
    assert once.tobytes() == again.tobytes()
    assert watch.planned == watch.done > 0
    batches = Watched(table_bytes=50_000)  # the trees in several batches: sums in another order
    parts = marginal_values(ensemble, X, background, None, np.arange(8), order=order, watch=batches)
    np.testing.assert_allclose(parts, once, atol=1e-12)


def test_an_interruption_is_heard_between_two_shares():
    ensemble, X, background = big()
    for watch in (Interrupted(1, share_blocks=2), Interrupted(2, share_blocks=2)):
        with pytest.raises(KeyboardInterrupt):
            marginal_values(ensemble, X, background, None, np.arange(8), watch=watch)
        assert watch.done < watch.planned


def test_the_background_is_not_written_to():
    ensemble, X, background = big()
    before = background.copy(), X.copy()
    marginal_values(ensemble, X, background, None, np.arange(8))
    assert before[0].tobytes() == background.tobytes()
    assert before[1].tobytes() == X.tobytes()


def test_sparse_rows_and_background():
    sparse = pytest.importorskip("scipy.sparse")
    ensemble, X, background = big()
    X, background = (np.where(np.isfinite(a) & (np.abs(a) > 1), a, 0.0) for a in (X, background))
    dense = marginal_values(ensemble, X, background, None, np.arange(8))
    got = marginal_values(ensemble, sparse.csr_array(X), sparse.csr_array(background), None, np.arange(8))
    assert got.tobytes() == dense.tobytes()


def test_trees_whose_leaves_have_many_players_do_not_fit():
    rng = np.random.default_rng(0)
    deep = random_ensemble(rng, n_features=40, n_trees=3, depth=60, chain=True, categorical=0.0)
    assert not fits(deep, np.arange(40), background=10**6, rows=10**6).any()
    assert fits(deep, np.zeros(40, int), background=1, rows=1).all()


def test_tables_beyond_the_memory_are_not_made():
    ensemble, _, _ = big()
    assert fits(ensemble, np.arange(8), background=10**6, rows=10**6).all()
    few = Limits(table_bytes=10_000)
    assert not fits(ensemble, np.arange(8), background=10**6, rows=10**6, limits=few).all()


def test_one_row_against_many_does_not_count_them_in_every_table():
    ensemble, _, _ = big()
    few, many = (fits(ensemble, np.arange(8), 10**6, rows=rows) for rows in (1, 10**5))
    assert few.sum() < many.sum()


def test_a_background_without_weight_is_refused():
    ensemble, X, background = big()
    with pytest.raises(InputError, match="weights of the background"):
        marginal_values(ensemble, X, background, np.zeros(150), np.arange(8))


def test_large_tables_are_not_made_for_a_handful_of_rows():
    wide = random_ensemble(np.random.default_rng(0), n_features=9, n_trees=2, depth=9, early=0.0, categorical=0.0)
    assert not fits(wide, np.arange(9), background=1, rows=1).any()
    assert fits(wide, np.arange(9), background=10_000, rows=10_000).all()


@settings(max_examples=30, deadline=None)
@given(scene=scenes(n_rows=20))
def test_the_compiled_prediction_is_the_plain_one(scene):
    ensemble, X = scene
    compiled = predicting.predict(ensemble, X)
    np.testing.assert_allclose(compiled, ensemble.predict(X), rtol=0, atol=1e-12)
