"""The engine as a whole: both games, any depth, one answer."""

import numpy as np
import pytest
from hypothesis import given, settings

from pellucid.errors import InputError
from pellucid.runner.limits import Limits
from pellucid.trees import engine
from pellucid.trees.engine import TreeGame, attribute, coalition_values
from pellucid.trees.ensemble import concatenate
from pellucid.trees.marginal_game import fits
from pellucid.trees.rows import Places
from reference.indices import interaction_matrix, shapley
from reference.trees import marginal_game, model_of, path_game
from trees.ensembles import random_ensemble, random_rows, scenes
from trees.watch import Watched


@pytest.mark.parametrize("game", ["path", "marginal"])
@settings(max_examples=15, deadline=None)
@given(scene=scenes(n_rows=3, n_features=4))
def test_interactions_are_half_the_index_and_rows_add_up_to_the_values(scene, game):
    ensemble, X = scene
    background = random_rows(np.random.default_rng(1), ensemble, 5)
    found = attribute(ensemble, X, game=game, background=background, interactions=True)
    for r, row in enumerate(X):
        v = path_game(ensemble, row) if game == "path" else marginal_game(model_of(ensemble), row, background)
        near = {"rtol": 0, "atol": 1e-9 * (1 + np.abs(v).max())}
        np.testing.assert_allclose(found.values[r], shapley(v), **near)
        np.testing.assert_allclose(found.interactions[r], interaction_matrix(v), **near)
        np.testing.assert_allclose(found.base, v[0], **near)
    np.testing.assert_allclose(found.interactions.sum(axis=2), found.values, atol=1e-9)


def mixed():
    """Shallow trees and deep ones in one ensemble."""
    rng = np.random.default_rng(0)
    shallow = random_ensemble(rng, n_features=20, n_trees=6, depth=5)
    deep = random_ensemble(rng, n_features=20, n_trees=2, depth=18, early=0.25)
    ensemble = concatenate([shallow, deep])
    return ensemble, random_rows(rng, ensemble, 8), random_rows(rng, ensemble, 12)


@pytest.mark.parametrize("order", [1, 2])
def test_tables_and_walks_share_an_ensemble(order):
    rng = np.random.default_rng(2)
    shallow = random_ensemble(rng, n_features=20, n_trees=3, depth=5)
    deep = random_ensemble(rng, n_features=20, n_trees=3, depth=30, chain=True, categorical=0.0)
    ensemble = concatenate([shallow, deep])
    X, background = random_rows(rng, ensemble, 8), random_rows(rng, ensemble, 12)
    assert fits(ensemble, np.arange(20), 12, order).tolist() == [True] * 3 + [False] * 3
    both, members = coalition_values(ensemble, X, order, game="marginal", background=background)
    walks = TreeGame(ensemble, "marginal", background, tables=False).indices(X, "shapley", order)
    assert members.shape == (both.shape[1], order)
    np.testing.assert_allclose(both, walks, atol=1e-9)


def test_walks_take_a_few_shallow_trees_along():
    rng = np.random.default_rng(2)
    shallow = random_ensemble(rng, n_features=20, n_trees=1, depth=2)
    deep = random_ensemble(rng, n_features=20, n_trees=9, depth=30, chain=True, categorical=0.0)
    ensemble = concatenate([shallow, deep])
    assert not fits(ensemble, np.arange(20), 12).any()
    assert fits(ensemble, np.arange(20), 12, worth_both=0.0).tolist() == [True] + [False] * 9
    assert fits(shallow, np.arange(20), 12).all()


def test_tables_take_a_few_larger_trees_along_where_walks_would_spare_little():
    rng = np.random.default_rng(2)
    shallow = random_ensemble(rng, n_features=12, n_trees=9, depth=4, early=0.0)
    large = random_ensemble(rng, n_features=12, n_trees=1, depth=9, early=0.0, categorical=0.0)
    ensemble = concatenate([shallow, large])
    players, X, background = np.arange(12), random_rows(rng, ensemble, 8), random_rows(rng, ensemble, 12)
    assert fits(ensemble, players, 12, worth_walks=0.0).tolist() == [True] * 9 + [False]
    assert fits(ensemble, players, 12).all()
    assert not fits(ensemble, players, 12, limits=Limits(table_bytes=200_000)).all()
    tables = attribute(ensemble, X, game="marginal", background=background).values
    walks = TreeGame(ensemble, "marginal", background, tables=False).indices(X, "shapley", 1)
    np.testing.assert_allclose(tables, walks, atol=1e-9)


def test_progress_ends_even_when_nothing_comes_of_it():
    ensemble, X, background = mixed()
    watch = Watched(2)
    attribute(ensemble, X, game="marginal", background=background, run=watch)
    assert watch.planned == watch.done > 0
    assert watch.closed == 1


def test_a_game_that_lacks_what_it_needs_says_so():
    ensemble, X, _ = mixed()
    with pytest.raises(InputError, match="background"):
        attribute(ensemble, X, game="marginal")
    with pytest.raises(InputError, match="background"):
        attribute(ensemble, X, game="marginal", background=X[:0])


def test_interactions_that_would_fill_the_memory_are_refused():
    ensemble, X, _ = mixed()
    many = np.broadcast_to(X[:1], (700_000, 20))
    with pytest.raises(InputError, match=r"20 features in 700000 rows .*groups="):
        attribute(ensemble, many, game="path", interactions=True)
    assert attribute(ensemble, X, game="path").interactions is None


@pytest.mark.parametrize("game", ["path", "marginal"])
@settings(max_examples=20, deadline=None)
@given(scene=scenes(n_rows=40, n_features=5))
def test_a_row_has_the_same_bits_whatever_it_is_explained_with(scene, game):
    ensemble, X = scene
    X = np.tile(X, (2, 1))
    background = random_rows(np.random.default_rng(1), ensemble, 7)
    kept = engine.TreeGame(ensemble, game, background)
    whole = kept.attribute(X, interactions="shapley")
    for some in (slice(0, 1), slice(3, 9), slice(0, 33)):
        for asked in (kept, engine.TreeGame(ensemble, game, background)):
            part = asked.attribute(X[some], interactions="shapley")
            assert part.values.tobytes() == whole.values[some].tobytes()
            assert part.interactions.tobytes() == whole.interactions[some].tobytes()


class Forgetful(TreeGame):
    """Keeps nothing for its next rows."""

    kept_bytes = 0


@pytest.mark.parametrize("game", ["path", "marginal"])
def test_what_does_not_fit_is_made_anew_and_is_the_same(game):
    ensemble, X, background = mixed()
    kept, anew = (kind(ensemble, game, background) for kind in (TreeGame, Forgetful))
    first, again, other = kept.attribute(X), kept.attribute(X), anew.attribute(X)
    assert first.values.tobytes() == again.values.tobytes() == other.values.tobytes()
    lists = [[value for value in each._made.values() if isinstance(value, list)] for each in (kept, anew)]
    assert len(lists[0]) == 1
    assert lists[1] == []


def test_walks_agree_with_tables():
    ensemble, X, background = mixed()
    tables_of, walks = (engine.TreeGame(ensemble, "marginal", background, tables=each) for each in (True, False))
    np.testing.assert_allclose(tables_of.attribute(X).values, walks.attribute(X).values, atol=1e-9)


@pytest.mark.parametrize("game", ["path", "marginal"])
def test_results_go_where_they_belong_in_any_portions(game):
    """Tables, walks and programs, into some of the columns of an array: the same bits, and the watch knows of it all."""
    rng = np.random.default_rng(2)
    shallow = random_ensemble(rng, n_features=20, n_trees=3, depth=5)
    deep = random_ensemble(rng, n_features=20, n_trees=3, depth=30, chain=True, categorical=0.0)
    ensemble = concatenate([shallow, deep])
    X, background = random_rows(rng, ensemble, 150), random_rows(rng, ensemble, 12)
    asked = TreeGame(ensemble, game, None if game == "path" else background)
    once, watch = asked.indices(X, "shapley", 1), Watched(2, share_blocks=2, contribution_bytes=10_000)
    written = np.arange(20) * 2 + 1
    places = Places.of(150, 45, ensemble.n_outputs, written)
    found = asked.indices(X, "shapley", 1, watch, places)
    assert found is places.values
    assert found[:, written].tobytes() == once.tobytes()
    assert not np.delete(found, written, axis=1).any()
    assert places.sums().tobytes() == once.sum(axis=1).tobytes()
    assert watch.planned == watch.done > 0
