"""Trees under a product measure, against every combination of values."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.trees.leaf_conditions import Distribution, Sets, _accepted
from pellucid.trees.product_measure import Shares, first_order, pairs_of_leaves, variance_parts
from reference.sobol import product_table, sobol
from trees.ensembles import random_ensemble, random_rows, scenes
from trees.watch import Interrupted, Watched


def some_players(rng, n_columns):
    """A random assignment of columns to players, numbered without gaps."""
    return np.unique(rng.integers(0, n_columns, n_columns), return_inverse=True)[1]


def of_rows(ensemble, matrix, weights=None, players=None):
    """The columns as they are distributed in the rows, those of one player together."""
    players = np.arange(ensemble.n_features) if players is None else players
    columns = [tuple(np.flatnonzero(players == p).tolist()) for p in range(players.max() + 1)]
    return Shares.of(ensemble, [Distribution.of_points(c, matrix[:, list(c)], weights) for c in columns])


def uniform(ensemble, low, high, levels):
    """Each column uniform between two numbers, or on its levels where these are given."""
    columns = range(ensemble.n_features)
    return Shares.of(
        ensemble,
        [
            Distribution.of_points((c,), levels[c][:, None])
            if c in levels
            else Distribution.uniform(c, low[c], high[c])
            for c in columns
        ],
    )


def combined(ensemble, matrix, weights, players):
    """All combinations of the rows' values, one row per player: table, masses, numbers, predictions."""
    columns = [np.flatnonzero(players == p) for p in range(players.max() + 1)]
    points = [matrix[:, c] for c in columns]
    masses = [weights / weights.sum()] * len(columns)
    table, mass, numbers = product_table(points, masses, columns, matrix.shape[1])
    return table, mass, numbers, ensemble.predict(table)


def assert_parts(ensemble, parts, table, mass, numbers, predictions):
    size = 1 + np.abs(ensemble.nodes.value).max() ** 2 * len(ensemble.roots) ** 2
    np.testing.assert_allclose(parts.mean, mass @ predictions, atol=1e-10 * size)
    for k in range(ensemble.n_outputs):
        variance, first, total = sobol(predictions[:, k], mass, numbers)
        np.testing.assert_allclose(parts.variance[k], variance, atol=1e-10 * size)
        np.testing.assert_allclose(parts.first[:, k], first, atol=1e-10 * size)
        np.testing.assert_allclose(parts.total[:, k], total, atol=1e-10 * size)


@pytest.mark.parametrize("compiled", [False, True])
@given(scene=scenes(n_rows=4, n_features=4, n_trees=3, depth=4, outputs=2), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_variances_are_those_of_all_combinations(compiled, scene, seed):
    ensemble, matrix = scene
    rng = np.random.default_rng(seed)
    players = some_players(rng, ensemble.n_features)
    weights = rng.integers(0, 3, len(matrix)) + (np.arange(len(matrix)) == 0.0)
    shares = of_rows(ensemble, matrix, weights, players)
    parts = variance_parts(shares, plain_pairs=-1 if compiled else np.inf)
    assert_parts(ensemble, parts, *combined(ensemble, matrix, weights, players))


def test_a_uniform_column_is_the_limit_of_a_fine_grid():
    rng = np.random.default_rng(0)
    ensemble = random_ensemble(rng, n_features=3, n_trees=6, depth=4, categorical=0.0)
    low, high = np.array([-2.5, -1.0, 0.25]), np.array([2.0, 3.5, 0.25])
    middles = (np.arange(20_000) + 0.5) / 20_000
    grid = [Distribution.of_points((c,), (low[c] + middles * (high[c] - low[c]))[:, None]) for c in range(3)]
    exact, fine = variance_parts(uniform(ensemble, low, high, {})), variance_parts(Shares.of(ensemble, grid))
    for name in ("mean", "variance", "first", "total"):
        np.testing.assert_allclose(getattr(exact, name), getattr(fine, name), atol=2e-3)
    assert exact.total[2] == 0
    assert exact.variance > 0.1


def test_uniform_levels_and_a_step():
    # f = [x0 <= 0.25] on [0, 1]: variance p (1 - p); a category without splits has no part.
    rng = np.random.default_rng(1)
    ensemble = random_ensemble(rng, n_features=2, n_trees=1, depth=1, categorical=0.0, early=0.0)
    nodes = ensemble.nodes
    split = int(nodes.feature[0])
    shares = uniform(ensemble, [-4, -4], [4, 4], {1 - split: np.arange(3.0)})
    p = (nodes.threshold[0] + 4) / 8
    jump = nodes.value[nodes.left[0], 0] - nodes.value[nodes.right[0], 0]
    parts = variance_parts(shares)
    np.testing.assert_allclose(parts.variance, p * (1 - p) * jump**2)
    np.testing.assert_allclose(parts.first[split], parts.variance)
    np.testing.assert_allclose(parts.total[1 - split], 0)


def test_a_threshold_that_nothing_is_below():
    # NaN: no number goes left, missing values as the node says
    rng = np.random.default_rng(1)
    ensemble = random_ensemble(rng, n_features=2, n_trees=3, depth=3, categorical=0.0, early=0.0)
    threshold = np.where(ensemble.nodes.feature == 0, np.nan, ensemble.nodes.threshold)
    ensemble = replace(ensemble, nodes=replace(ensemble.nodes, threshold=threshold))
    matrix = np.array([[0.3, -1.0], [np.nan, 0.2], [-5.0, 2.0]])
    players, weights = np.arange(2), np.ones(3)
    shares = of_rows(ensemble, matrix, weights, players)
    assert_parts(ensemble, variance_parts(shares), *combined(ensemble, matrix, weights, players))


def test_first_order_needs_no_pairs_and_is_the_same():
    rng = np.random.default_rng(5)
    ensemble = random_ensemble(rng, n_features=5, n_trees=10, depth=6, outputs=3, vector=True)
    shares = of_rows(ensemble, random_rows(rng, ensemble, 30))
    np.testing.assert_allclose(first_order(shares), variance_parts(shares).first)
    assert pairs_of_leaves(shares) > 0


def big(rng):
    ensemble = random_ensemble(rng, n_features=6, n_trees=40, depth=6)
    return of_rows(ensemble, random_rows(rng, ensemble, 60), players=np.array([0, 1, 2, 3, 3, 4]))


class Unlisted(Sets):
    """Sets of points of too many kinds for their overlaps to be listed."""

    def listed(self):
        return None


def test_numpy_kernel_and_threads_agree():
    shares = big(np.random.default_rng(7))
    plain = variance_parts(shares, plain_pairs=np.inf, cells=1 << 16)
    one, two = (variance_parts(shares, watch, plain_pairs=-1) for watch in (None, Watched(2)))
    np.testing.assert_allclose(one.total, plain.total, rtol=1e-9)
    np.testing.assert_allclose(one.variance, plain.variance, rtol=1e-9)
    assert one.total.tobytes() == two.total.tobytes()
    conditions = tuple(Unlisted(**vars(c)) if isinstance(c, Sets) else c for c in shares.conditions)
    unlisted = replace(shares, conditions=conditions)
    assert variance_parts(unlisted, plain_pairs=-1, cells=1 << 16).total.tobytes() == plain.total.tobytes()


@pytest.mark.parametrize("limit", [-1, np.inf], ids=["kernel", "numpy"])
def test_it_can_be_interrupted(limit):
    watch = Interrupted(1)
    with pytest.raises(KeyboardInterrupt):
        variance_parts(big(np.random.default_rng(7)), watch, plain_pairs=limit)
    assert watch.closed == 1


def test_walking_in_portions_changes_nothing():
    rng = np.random.default_rng(2)
    ensemble = random_ensemble(rng, n_features=3, n_trees=7, depth=4, categorical=1.0)
    points = random_rows(rng, ensemble, 20)[:, [1]]
    leaves = int((ensemble.nodes.feature < 0).sum())
    whole, parts = (_accepted(ensemble, (1,), points, leaves, cells) for cells in (1 << 26, 40))
    for one, two in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, two)


def test_what_does_not_fit_is_refused():
    rng = np.random.default_rng(2)
    ensemble = random_ensemble(rng, n_features=3, n_trees=7, depth=4, categorical=1.0)
    matrix = random_rows(rng, ensemble, 5)
    with pytest.raises(ValueError, match="one player's distribution, once"):
        Shares.of(ensemble, [Distribution.of_points((0, 1), matrix[:, :2])])
    with pytest.raises(ValueError, match="points, not a range"):
        uniform(ensemble, np.zeros(3), np.ones(3), {})
