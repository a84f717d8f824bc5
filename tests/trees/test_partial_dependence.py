"""Partial dependence and individual curves of trees, against predictions of every row at every point."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.trees.ensemble import concatenate
from pellucid.trees.partial_dependence import curve_blocks, partial_dependence, partial_dependence_without
from reference.trees import model_of
from reference.trees import partial_dependence as twin
from trees.ensembles import chains, random_ensemble, random_rows, scenes
from trees.watch import Interrupted, Watched


def some_columns(rng, ensemble):
    """A random set of columns, from none to all, in any order."""
    return rng.permutation(ensemble.n_features)[: rng.integers(ensemble.n_features + 1)]


def some_weights(rng, n):
    """None, or weights of which some are zero."""
    return None if rng.random() < 0.4 else rng.integers(0, 4, n) / 2 + (np.arange(n) == 0)


def brute(ensemble, columns, points, background, weights=None):
    found = twin(model_of(ensemble), [int(j) for j in columns], points, background, weights)
    return found.reshape(len(points), ensemble.n_outputs)


def assert_close(got, want):
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-9 * (1 + np.abs(want).max(initial=0)))


def individual_curves(ensemble, columns, points, X, **options):
    """``(rows, points, outputs)`` from the blocks."""
    curves = np.empty((X.shape[0], len(points), ensemble.n_outputs))
    for some, part in curve_blocks(ensemble, columns, points, X, **options):
        curves[some] = np.moveaxis(part, 1, 0)
    return curves


def others(ensemble, columns):
    return [j for j in range(ensemble.n_features) if j not in columns]


@settings(max_examples=60, deadline=None)
@given(scene=scenes(n_rows=12, n_features=5), seed=st.integers(0, 1000))
def test_any_columns_at_any_points(scene, seed):
    ensemble, background = scene
    rng = np.random.default_rng(seed)
    columns, weights = some_columns(rng, ensemble), some_weights(rng, len(background))
    points = random_rows(rng, ensemble, 6, odd=0.4)[:, columns]
    got = partial_dependence(ensemble, columns, points, background, weights)
    assert_close(got, brute(ensemble, columns, points, background, weights))


@settings(max_examples=40, deadline=None)
@given(scene=scenes(n_rows=12, n_features=4), seed=st.integers(0, 1000))
def test_one_column_at_any_values(scene, seed):
    ensemble, background = scene
    rng = np.random.default_rng(seed)
    weights = some_weights(rng, len(background))
    for column in range(ensemble.n_features):
        grid = np.append(random_rows(rng, ensemble, 7, odd=0.3)[:, column], [math.nan, math.inf, -math.inf])
        got = partial_dependence(ensemble, column, grid, background, weights)
        assert_close(got, brute(ensemble, [column], grid[:, None], background, weights))


@settings(max_examples=40, deadline=None)
@given(scene=scenes(n_rows=12, n_features=5), seed=st.integers(0, 1000))
def test_all_columns_but_some(scene, seed):
    ensemble, background = scene
    rng = np.random.default_rng(seed)
    columns, weights = some_columns(rng, ensemble), some_weights(rng, len(background))
    points = random_rows(rng, ensemble, 5)
    got = partial_dependence_without(ensemble, columns, points, background, weights)
    kept = others(ensemble, columns)
    assert_close(got, brute(ensemble, kept, points[:, kept], background, weights))


@settings(max_examples=40, deadline=None)
@given(scene=scenes(n_rows=12, n_features=5), seed=st.integers(0, 1000))
def test_individual_curves(scene, seed):
    ensemble, X = scene
    rng = np.random.default_rng(seed)
    columns = some_columns(rng, ensemble)
    points = random_rows(rng, ensemble, 9, odd=0.3)[:, columns]
    got = individual_curves(ensemble, columns, points, X)
    assert got.shape == (len(X), len(points), ensemble.n_outputs)
    for row, curve in zip(X, got, strict=True):
        assert_close(curve, brute(ensemble, columns, points, row[None]))


@settings(max_examples=15, deadline=None)
@given(scene=chains(n_rows=6), seed=st.integers(0, 1000))
def test_trees_as_deep_as_two_hundred_splits(scene, seed):
    ensemble, background = scene
    rng = np.random.default_rng(seed)
    columns = some_columns(rng, ensemble)
    points = random_rows(rng, ensemble, 3)
    at = points[:, columns]
    assert_close(partial_dependence(ensemble, columns, at, background), brute(ensemble, columns, at, background))
    assert_close(
        individual_curves(ensemble, columns, at, background).mean(axis=0), brute(ensemble, columns, at, background)
    )


def big(seed=3, n=5000, **options):
    """Enough rows for several chunks, in which nodes have many rows and few."""
    rng = np.random.default_rng(seed)
    options = {"n_features": 6, "n_trees": 40, "depth": 8, "outputs": 2, **options}
    ensemble = random_ensemble(rng, **options)
    X = random_rows(rng, ensemble, 300)
    X = np.stack([rng.choice(column, n) for column in X.T], axis=1)
    return ensemble, X, rng.random(n)


def predictions(ensemble, columns, points, X):
    """The model asked for every row at every point."""
    mixed = np.repeat(X[:, None], len(points), axis=1)
    mixed[:, :, columns] = points
    return ensemble.predict(mixed.reshape(-1, X.shape[1])).reshape(len(X), len(points), -1)


@pytest.mark.parametrize("vector", [False, True])
@pytest.mark.parametrize("columns", [[2], [4, 1], [0, 5, 3]])
def test_many_rows(columns, vector):
    ensemble, X, weights = big(vector=vector)
    points = X[:70, columns]
    curves = individual_curves(ensemble, columns, points, X[:2200])
    some = [*range(0, 2200, 11), 2199]  # of every block; asking about all would take most of the time
    assert_close(curves[some], predictions(ensemble, columns, points, X[some]))
    mean = np.average(curves, axis=0, weights=weights[:2200])
    assert_close(partial_dependence(ensemble, columns, points, X[:2200], weights[:2200]), mean)


def test_many_points_of_one_column_and_of_two():
    ensemble, X, _ = big(depth=5, n_trees=10)
    for columns in ([1], [1, 3]):
        points, background = X[:, columns], X[:40]
        want = np.concatenate(
            [predictions(ensemble, columns, part, background).mean(axis=0) for part in np.split(points, 10)]
        )
        assert_close(partial_dependence(ensemble, columns, points, background), want)


def test_all_columns_are_the_prediction_and_none_is_its_mean():
    ensemble, X, weights = big()
    every = np.arange(ensemble.n_features)
    assert_close(partial_dependence(ensemble, every, X, X[:50]), ensemble.predict(X))
    assert_close(partial_dependence_without(ensemble, [], X, X[:50]), ensemble.predict(X))
    mean = np.average(ensemble.predict(X), axis=0, weights=weights)
    assert_close(partial_dependence(ensemble, [], np.empty((2, 0)), X, weights), np.tile(mean, (2, 1)))
    assert_close(partial_dependence_without(ensemble, every, X[:2], X, weights), np.tile(mean, (2, 1)))


def test_a_row_given_twice_counts_twice():
    ensemble, X, _ = big()
    twice = np.concatenate([X[:700], X[:700], X[700:900]])
    weights = np.repeat([2.0, 1.0], [700, 200])
    for columns in (1, [0, 3]):
        points = X[:9, np.atleast_1d(columns)]
        got = partial_dependence(ensemble, columns, points, X[:900], weights)
        np.testing.assert_allclose(got, partial_dependence(ensemble, columns, points, twice), rtol=0, atol=1e-12)


def test_trees_add_up():
    one, X, _ = big(seed=4)
    two = replace(big(seed=5)[0], base=np.array([0.5, 7.0]))
    both = concatenate([one, two])
    for columns in ([2], [2, 0]):
        parts = [partial_dependence(each, columns, X[:9, columns], X) for each in (one, two)]
        assert_close(partial_dependence(both, columns, X[:9, columns], X), sum(parts))


def test_a_selection_of_outputs():
    ensemble, X, _ = big(outputs=3)
    for columns in ([2], [2, 0]):
        points = X[:9, columns]
        whole = partial_dependence(ensemble, columns, points, X)
        some = partial_dependence(ensemble.select(np.array([2, 0])), columns, points, X)
        np.testing.assert_array_equal(some, whole[:, [2, 0]])
        curves = individual_curves(ensemble.select(np.array([1])), columns, points, X[:99])
        np.testing.assert_array_equal(curves, individual_curves(ensemble, columns, points, X[:99])[..., [1]])


def everything(ensemble, X, weights, watch=None):
    return [
        partial_dependence(ensemble, 1, X[:40, 1], X, weights, watch=watch),
        partial_dependence(ensemble, [1, 4], X[:40, [1, 4]], X, weights, watch=watch),
        partial_dependence_without(ensemble, 1, X[:3000], X, weights, watch=watch),
        individual_curves(ensemble, 1, X[:40, 1], X, watch=watch),
    ]


def assert_same_bits(first, second):
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, two)


def test_threads_and_memory_change_no_bit():
    ensemble, X, weights = big(n=12_000)
    alone = everything(ensemble, X, weights)
    watch = Watched(3)
    assert_same_bits(alone, everything(ensemble, X, weights, watch))
    assert watch.planned == watch.done > 0
    portions = Watched(3, portion_bytes=2**16, share_blocks=3, tree_bytes=2**14)
    assert_same_bits(alone, everything(ensemble, X, weights, portions))
    assert portions.planned == portions.done > 0


def test_lists_bits_and_pruning_change_no_bit():
    ensemble, X, weights = big()
    usual = everything(ensemble, X, weights)
    for few in (2, 10**9):
        other = Watched(listed_rows=few, pruning_points=0)
        assert_same_bits(usual, everything(ensemble, X, weights, other))


@pytest.mark.parametrize("fill", [0.0, math.nan])
def test_sparse_rows(fill):
    ensemble, X, weights = big()
    stored = np.random.default_rng(0).random(X.shape) < 0.3
    sparse = scipy.sparse.csr_array(
        (X[stored], np.nonzero(stored)[1], np.append(0, np.cumsum(stored.sum(axis=1)))), shape=X.shape
    )
    full = np.where(stored, X, fill)
    grid, options = X[:5, 1], {"fill": fill, "watch": Watched(portion_bytes=2**15)}
    np.testing.assert_array_equal(
        partial_dependence(ensemble, 1, grid, sparse, weights, **options),
        partial_dependence(ensemble, 1, grid, full, weights),
    )
    np.testing.assert_array_equal(
        partial_dependence_without(ensemble, 1, sparse, sparse, **options),
        partial_dependence_without(ensemble, 1, full, full),
    )
    np.testing.assert_array_equal(
        individual_curves(ensemble, 1, grid, sparse, **options), individual_curves(ensemble, 1, grid, full)
    )


def test_blocks_of_curves_cover_the_rows_in_order():
    ensemble, X, _ = big(n=1000)
    parts = list(curve_blocks(ensemble, 1, X[:20, 1], X, watch=Watched(portion_bytes=2**16)))
    assert len(parts) > 3
    assert [part.start for part, _ in parts] == [0, *[part.stop for part, _ in parts[:-1]]]
    assert parts[-1][0].stop == 1000
    assert all(curves.shape == (20, part.stop - part.start, 2) for part, curves in parts)


def test_an_interruption_is_heard_between_two_shares():
    ensemble, X, _ = big()

    for threads in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            individual_curves(ensemble, 1, X[:5, 1], X, watch=Interrupted(threads))
        with pytest.raises(KeyboardInterrupt):
            partial_dependence(ensemble, 1, X[:5, 1], X, watch=Interrupted(threads))


def test_no_rows_and_no_points():
    ensemble, X, _ = big(n_trees=2)
    assert individual_curves(ensemble, 1, X[:4, 1], X[:0]).shape == (0, 4, 2)
    assert individual_curves(ensemble, 1, X[:0, 1], X[:4]).shape == (4, 0, 2)
    assert partial_dependence(ensemble, 1, X[:0, 1], X).shape == (0, 2)
    assert partial_dependence(ensemble, [1, 2], X[:0, [1, 2]], X).shape == (0, 2)


def test_an_output_without_trees_is_its_base():
    ensemble, X, _ = big(n_trees=2)
    bare = replace(ensemble, roots=ensemble.roots[:0], output=ensemble.output[:0])
    for columns in ([1], [1, 2]):
        points = X[:3, columns]
        assert_close(partial_dependence(bare, columns, points, X), np.tile(bare.base, (3, 1)))
        assert_close(individual_curves(bare, columns, points, X[:4]), np.tile(bare.base, (4, 3, 1)))


def test_wrong_requests_are_refused():
    ensemble, X, _ = big(n_trees=2)
    with pytest.raises(ValueError, match="named twice"):
        partial_dependence(ensemble, [1, 1], X[:3, [1, 1]], X)
    with pytest.raises(ValueError, match="0 to 5"):
        partial_dependence(ensemble, [6], X[:3, [1]], X)
    with pytest.raises(ValueError, match="2 columns"):
        partial_dependence(ensemble, [1, 2], X[:3, [1]], X)
    with pytest.raises(ValueError, match="no rows that count"):
        partial_dependence(ensemble, 1, X[:3, 1], X[:0])
    with pytest.raises(ValueError, match="no rows that count"):
        partial_dependence(ensemble, 1, X[:3, 1], X, np.zeros(len(X)))
