"""The games in plain numpy: against the enumeration of all coalitions, and against the compiled kernels."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.trees import marginal_deep as compiled_deep
from pellucid.trees import marginal_game as compiled_marginal
from pellucid.trees import path_game as compiled_path
from pellucid.trees.plain import choice, coalitions, marginal_base, marginal_values, path_base, path_values
from reference.enumerated import PLAYERS, enumerated
from reference.trees import marginal_game, model_of, path_game
from trees.ensembles import chains, random_ensemble, random_rows, scenes
from trees.watch import Watched

INDICES = ("shapley", "banzhaf", "taylor", "faithful")


def assert_near(values, expected, game):
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-9 * (1 + np.abs(game).max()))


def assert_path_is_enumerated(ensemble, X, players=None, index="shapley", order=1):
    players = np.arange(ensemble.n_features) if players is None else players
    got = path_values(ensemble, X, players, index=index, order=order)
    for row, values in zip(X, got, strict=True):
        game = path_game(ensemble, row, players)
        assert_near(path_base(ensemble), game[0], game)
        if values.size:
            assert_near(values, enumerated(game, index, order), game)


def assert_marginal_is_enumerated(ensemble, X, background, weights, players=None, index="shapley", order=1):
    players = np.arange(ensemble.n_features) if players is None else players
    got = marginal_values(ensemble, X, background, weights, players, index=index, order=order)
    for row, values in zip(X, got, strict=True):
        game = marginal_game(model_of(ensemble), row, background, weights, players)
        assert_near(marginal_base(ensemble, background, weights), game[0], game)
        if values.size:
            assert_near(values, enumerated(game, index, order), game)


@pytest.mark.parametrize("order", [1, 2, 3])
@settings(max_examples=15, deadline=None)
@given(scene=scenes(n_rows=9, n_features=5), seed=st.integers(0, 1000))
def test_both_games_are_those_of_the_enumeration(scene, seed, order):
    ensemble, X = scene
    assert_path_is_enumerated(ensemble, X[:3], order=order)
    weights = np.random.default_rng(seed).choice([0.0, 1.0, 2.5], size=len(X[3:])) + (seed % 2)
    if weights.sum() > 0:
        assert_marginal_is_enumerated(ensemble, X[:3], X[3:], weights, order=order)


@pytest.mark.parametrize("order", [1, 2])
@settings(max_examples=8, deadline=None)
@given(scene=chains(n_rows=5, n_features=4))
def test_trees_as_deep_as_two_hundred_splits(scene, order):
    ensemble, X = scene
    assert_path_is_enumerated(ensemble, X[:2], order=order)
    if len(X) > 2:
        assert_marginal_is_enumerated(ensemble, X[:2], X[2:], None, order=order)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("index", INDICES[1:])
@settings(max_examples=6, deadline=None)
@given(scene=scenes(n_rows=5, n_features=4))
def test_other_indices(scene, index, order):
    ensemble, X = scene
    if ensemble.n_features > 2:  # an index of order 2 needs more than a pair to be told from others
        assert_path_is_enumerated(ensemble, X[:2], index=index, order=order)
        if len(X) > 2:
            assert_marginal_is_enumerated(ensemble, X[:2], X[2:], None, index=index, order=order)


@settings(max_examples=15, deadline=None)
@given(scene=scenes(n_rows=5, n_features=6), seed=st.integers(0, 1000))
def test_columns_that_act_as_one_player(scene, seed):
    ensemble, X = scene
    drawn = np.random.default_rng(seed).integers(0, max(ensemble.n_features - 1, 1), ensemble.n_features)
    players = np.unique(drawn, return_inverse=True)[1]
    for order in (1, 2):
        assert_path_is_enumerated(ensemble, X[:2], players, order=order)
        if len(X) > 2:
            assert_marginal_is_enumerated(ensemble, X[:2], X[2:], None, players, order=order)


def big(seed=3, **options):
    rng = np.random.default_rng(seed)
    sizes = {"n_features": 8, "n_trees": 30, "depth": 7, "outputs": 2} | options
    ensemble = random_ensemble(rng, **sizes)
    return ensemble, random_rows(rng, ensemble, 40), random_rows(rng, ensemble, 25)


CASES = [(index, order) for index in INDICES for order in (1, 2, 3) if order < 3 or index in PLAYERS]


@pytest.mark.parametrize("vector", [False, True])
@pytest.mark.parametrize(("index", "order"), CASES)
def test_the_compiled_kernels_say_the_same(index, order, vector):
    ensemble, X, background = big(vector=vector)
    players, weights = np.array([0, 1, 2, 3, 4, 1, 5, 6]), np.random.default_rng(0).random(25)
    how = {"index": index, "order": order}
    near = {"rtol": 0, "atol": 1e-12}
    np.testing.assert_allclose(
        path_values(ensemble, X, players, **how), compiled_path.path_values(ensemble, X, players, **how), **near
    )
    np.testing.assert_allclose(
        marginal_values(ensemble, X, background, weights, players, **how),
        compiled_marginal.marginal_values(ensemble, X, background, weights, players, **how),
        **near,
    )
    np.testing.assert_allclose(path_base(ensemble), compiled_path.path_base(ensemble), **near)
    np.testing.assert_allclose(
        marginal_base(ensemble, background, weights),
        compiled_marginal.marginal_base(ensemble, background, weights),
        **near,
    )


def test_leaves_with_more_players_than_tables_have_room_for():
    rng = np.random.default_rng(0)
    ensemble = random_ensemble(rng, n_features=40, n_trees=3, depth=60, chain=True, categorical=0.0)
    X, background, players = random_rows(rng, ensemble, 5), random_rows(rng, ensemble, 9), np.arange(40)
    compiled = compiled_deep.deep_marginal_values(ensemble, X, background, None, players)
    assert np.abs(compiled).max() > 0.1
    np.testing.assert_allclose(marginal_values(ensemble, X, background, None, players), compiled, rtol=0, atol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_portions_of_trees_and_rows_change_nothing(order):
    ensemble, X, background = big()
    players = np.arange(8)
    path = path_values(ensemble, X, players, order=order)
    marginal = marginal_values(ensemble, X, background, None, players, order=order)
    watch = Watched(2, plain_cells=3000)
    parts = path_values(ensemble, X, players, order=order, watch=watch)
    np.testing.assert_allclose(parts, path, rtol=0, atol=1e-13)
    parts = marginal_values(ensemble, X, background, None, players, order=order, watch=watch)
    np.testing.assert_allclose(parts, marginal, rtol=0, atol=1e-13)
    assert watch.planned == watch.done > 40


def test_the_same_question_has_the_same_bits():
    ensemble, X, background = big()
    players = np.arange(8)
    before = X.tobytes(), background.tobytes()
    path, marginal = (
        [ask().tobytes() for _ in range(2)]
        for ask in (
            lambda: path_values(ensemble, X, players),
            lambda: marginal_values(ensemble, X, background, None, players),
        )
    )
    assert path[0] == path[1]
    assert marginal[0] == marginal[1]
    assert before == (X.tobytes(), background.tobytes())


def test_values_and_base_add_up_to_the_prediction():
    ensemble, X, background = big()
    path = path_base(ensemble) + path_values(ensemble, X, np.arange(8)).sum(axis=1)
    np.testing.assert_allclose(path, ensemble.predict(X), atol=1e-12)
    values = marginal_values(ensemble, X, background, None, np.arange(8))
    marginal = marginal_base(ensemble, background, None) + values.sum(axis=1)
    np.testing.assert_allclose(marginal, ensemble.predict(X), atol=1e-12)


def test_sparse_rows_are_the_dense_ones():
    sparse = pytest.importorskip("scipy.sparse")
    ensemble, X, background = big()
    X, background = (np.where(np.isfinite(a) & (np.abs(a) > 1), a, 0.0) for a in (X, background))
    few = sparse.csr_array(X), sparse.csr_array(background)
    players = np.arange(8)
    assert path_values(ensemble, few[0], players).tobytes() == path_values(ensemble, X, players).tobytes()
    got = marginal_values(ensemble, *few, None, players)
    assert got.tobytes() == marginal_values(ensemble, X, background, None, players).tobytes()


@pytest.mark.parametrize("order", [1, 2, 3])
def test_no_trees_no_splits_no_rows(order):
    ensemble, X, background = big()
    none = ensemble.select(np.array([], dtype=int))
    leaf = random_ensemble(np.random.default_rng(0), depth=0, n_features=8)
    for trees in (none, leaf):
        assert not path_values(trees, X, np.arange(8), order=order).any()
        assert not marginal_values(trees, X, background, None, np.arange(8), order=order).any()
    columns = len(coalitions(8, order))
    assert path_values(ensemble, X[:0], np.arange(8), order=order).shape == (0, columns, 2)
    assert marginal_values(ensemble, X[:0], X, None, np.arange(8), order=order).shape == (0, columns, 2)


# -- the choice --------------------------------------------------------------------------------------


def test_nothing_is_compiled_without_a_compiler(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert not choice.can_compile()


def test_nothing_is_compiled_where_compiling_is_switched_off(monkeypatch):
    from numba import config

    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    assert not choice.can_compile()


def test_the_plain_games_need_no_numba():
    code = """
    import sys
    sys.modules["numba"] = sys.modules["llvmlite"] = None
    import numpy as np
    import pellucid.trees, pellucid.trees.engine
    from pellucid.trees import Nodes, TreeEnsemble
    from pellucid.trees.plain import can_compile, marginal_values, path_values
    nodes = Nodes(
        feature=np.array([0, -1, -1]), threshold=np.zeros(3), left=np.array([1, -1, -1]), right=np.array([2, -1, -1]),
        missing_left=np.zeros(3, bool), cover=np.array([4.0, 1.0, 3.0]), value=np.array([0.0, 8.0, 4.0]),
    )
    trees = TreeEnsemble(nodes, roots=[0], output=[0], base=[0.0], n_features=1)
    X, B, players = np.array([[-1.0]]), np.array([[1.0], [1.0], [-1.0], [1.0]]), np.array([0])
    assert path_values(trees, X, players).tolist() == [[[3.0]]]
    assert marginal_values(trees, X, B, None, players).tolist() == [[[3.0]]]
    assert not can_compile()
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
