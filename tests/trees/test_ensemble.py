"""TreeEnsemble predicts what its nodes say, and its thresholds compare as the model libraries do."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pellucid.trees.ensemble import Nodes, TreeEnsemble, at_most, concatenate, less_than
from reference.trees import goes_left, leaf_of, predict_one
from strategies import QUICK, assert_close
from trees.ensembles import chains, random_rows, scenes, seeded_ensemble

SEEDS = st.integers(0, 10**6)
HUNDRED = settings(QUICK, max_examples=100)
MANY = settings(QUICK, max_examples=300)


def twin(ensemble, rows):
    return np.array([predict_one(ensemble, row) for row in rows])


@given(st.one_of(scenes(), chains(n_rows=5)))
@HUNDRED
def test_predictions_and_leaves(scene):
    ensemble, rows = scene
    expected = [[leaf_of(ensemble.nodes, root, row) for root in ensemble.roots] for row in rows]
    np.testing.assert_array_equal(ensemble.leaves(rows), expected)
    assert_close(ensemble.predict(rows), twin(ensemble, rows), 1e-14)


@given(scenes())
@QUICK
def test_directions_at_every_node(scene):
    ensemble, rows = scene
    inner = np.flatnonzero(ensemble.nodes.feature >= 0)
    assume(len(inner) > 0)
    node = np.repeat(inner, len(rows))
    x = np.tile(rows[:, 0], len(inner))
    expected = [goes_left(ensemble.nodes, i, value) for i, value in zip(node, x, strict=True)]
    np.testing.assert_array_equal(ensemble.goes_left(node, x), expected)


@pytest.mark.parametrize("other_left", [False, True])
def test_categories_by_hand(other_left):
    """The set {0, 2, 63, 64, 127} in two words."""
    nodes = Nodes(
        feature=[0, -1, -1],
        threshold=[1.0, 0, 0],
        left=[1, -1, -1],
        right=[2, -1, -1],
        missing_left=[not other_left, 0, 0],
        cover=[2, 1, 1],
        value=[0, 1, 0],
        set_start=[1, -1, -1],
        set_words=[2, 0, 0],
        other_left=[other_left, 0, 0],
        sets=[2**64 - 1, 1 + 4 + 2**63, 1 + 2**63],
    )
    ensemble = TreeEnsemble(nodes, [0], [0], [0.0], 1)
    left = [0, -0.0, -0.5, 0.9, 2, 2.99, 63, 64, 64.5, 127, 127.9]
    right = [1, 1.5, 3, 62.9, 65, 126]
    unknown = [-1, -1.5, -500, 128, 1e19, 1e300, np.inf, -np.inf]
    x = np.array([*left, *right, *unknown, np.nan])[:, None]
    expected = [1] * len(left) + [0] * len(right) + [other_left] * len(unknown) + [not other_left]
    np.testing.assert_array_equal(ensemble.predict(x)[:, 0], np.array(expected, float))


def test_threshold_that_nothing_is_below():
    nodes = Nodes([0, -1, -1], [np.nan, 0, 0], [1, -1, -1], [2, -1, -1], [1, 0, 0], [2, 1, 1], [0, 1, 0])
    ensemble = TreeEnsemble(nodes, [0], [0], [0.0], 1)
    x = np.array([[-np.inf], [0.0], [np.inf], [np.nan]])
    np.testing.assert_array_equal(ensemble.predict(x)[:, 0], [0, 0, 0, 1])


@pytest.mark.parametrize("cells", [1, 7])
def test_blocks_of_rows_change_nothing(cells):
    ensemble = seeded_ensemble(3, n_trees=3, outputs=2)
    rows = random_rows(np.random.default_rng(0), ensemble, 11)
    whole = ensemble.predict(rows)
    np.testing.assert_array_equal(ensemble.predict(rows, cells=cells), whole)
    assert ensemble.predict(rows[:0], cells=cells).shape == (0, 2)


def test_arrays_are_copied_and_cannot_be_written():
    value = np.array([1.0])
    ensemble = TreeEnsemble(Nodes([-1], [0], [-1], [-1], [0], [1], value), [0], [0], [0.0], 1)
    value[0] = 9.0
    assert ensemble.predict(np.zeros((1, 1))) == 1.0
    for array in (ensemble.nodes.value, ensemble.nodes.sets, ensemble.roots, ensemble.base):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@given(scenes(), SEEDS)
@QUICK
def test_select(scene, seed):
    ensemble, rows = scene
    outputs = np.random.default_rng(seed).permutation(ensemble.n_outputs)
    for kept in (outputs, outputs[:1], outputs[:2]):
        chosen = ensemble.select(kept)
        assert chosen.n_outputs == len(kept)
        assert_close(chosen.predict(rows), twin(ensemble, rows)[:, kept], 1e-14)
        assert_close(twin(chosen, rows), twin(ensemble, rows)[:, kept], 1e-14)


@given(scenes(), st.sampled_from([-2.5, 0.0, 0.5, 1 / 3]))
@QUICK
def test_scaled(scene, factor):
    ensemble, rows = scene
    scaled = ensemble.scaled(factor)
    assert_close(scaled.predict(rows), factor * twin(ensemble, rows), 1e-14)
    np.testing.assert_array_equal(scaled.nodes.cover, ensemble.nodes.cover)


@given(SEEDS, st.integers(1, 4), st.integers(1, 3), st.booleans(), st.sampled_from([0.0, 0.4, 1.0]))
@QUICK
def test_concatenate(seed, n_parts, outputs, vector, categorical):
    parts = [
        seeded_ensemble(
            seed + k, n_trees=1 + k % 3, outputs=outputs, vector=vector, categorical=categorical if k else 0.3
        )
        for k in range(n_parts)
    ]
    rows = np.concatenate([random_rows(np.random.default_rng(seed), part, 4) for part in parts])
    joined = concatenate(parts)
    expected = sum(twin(part, rows) for part in parts)
    assert len(joined.roots) == sum(len(part.roots) for part in parts)
    assert_close(joined.predict(rows), expected)
    assert_close(twin(joined, rows), expected)
    assert_close(joined.nodes.cover.sum(), sum(part.nodes.cover.sum() for part in parts))


# Thresholds

TOP = float(np.finfo(np.float32).max)
HALFWAY_OUT = 2.0**128 - 2.0**103  # the first double that rounds to an infinite single
CORNERS = [0.0, 2.0**-149, 2.0**-150, 2.0**-126, 5e-324, 1.0, 0.1, TOP, HALFWAY_OUT, 2.0**128, 1e300]
CORNERS = [*CORNERS, float(np.finfo(np.float64).max), np.inf]
ANY = st.one_of(
    st.sampled_from([*CORNERS, *(-c for c in CORNERS)]),
    st.floats(allow_nan=False),
    st.floats(allow_nan=False, width=32),
)


def rounded(x, precision):
    with np.errstate(over="ignore"):
        return np.asarray(x, dtype=np.float64).astype(precision)


def steps(x, dtype):
    """x and the numbers of this width up to three steps away."""
    with np.errstate(over="ignore"):
        up, down = [np.asarray(x).astype(dtype)], [np.asarray(x).astype(dtype)]
        for _ in range(3):
            up.append(np.nextafter(up[-1], dtype(np.inf)))
            down.append(np.nextafter(down[-1], dtype(-np.inf)))
    return np.array([*up, *down], dtype=np.float64)


def near(t):
    """Doubles around t: steps of both widths, and around the midpoints between singles."""
    singles = steps(t, np.float32)
    finite = np.sort(np.clip(singles, -TOP, TOP))
    middles = np.concatenate([(finite[1:] + finite[:-1]) / 2, [HALFWAY_OUT, -HALFWAY_OUT]])
    around = [steps(x, np.float64) for x in (t, *singles, *middles)]
    return np.concatenate([*around, CORNERS, np.negative(CORNERS)])


@pytest.mark.parametrize("precision", ["float32", "float64"])
@given(t=ANY)
@MANY
def test_at_most(precision, t):
    x = near(t)
    np.testing.assert_array_equal(x <= at_most(t, precision), rounded(x, precision) <= np.float64(t))


@pytest.mark.parametrize("precision", ["float32", "float64"])
@given(t=ANY)
@MANY
def test_less_than(precision, t):
    x = near(t)
    with np.errstate(over="ignore"):  # see test_thresholds_warn_of_nothing
        threshold = less_than(t, precision)
    np.testing.assert_array_equal(x <= threshold, rounded(x, precision) < rounded(t, precision))


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_many_thresholds_at_once(precision):
    t = np.array([*CORNERS, *np.negative(CORNERS)])
    with np.errstate(over="ignore"):
        alone = [[f(one, precision) for one in t] for f in (at_most, less_than)]
        np.testing.assert_array_equal([at_most(t, precision), less_than(t, precision)], alone)


def test_nan_threshold_stays_nan():
    for precision in ("float32", "float64"):
        assert np.isnan(at_most(np.nan, precision))
        assert np.isnan(less_than(np.nan, precision))
        assert np.isnan(less_than(-np.inf, precision))


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("function", [at_most, less_than])
def test_thresholds_warn_of_nothing(function, precision):
    for t in [*CORNERS, *np.negative(CORNERS), np.nan]:
        assert function(t, precision).dtype == np.float64
