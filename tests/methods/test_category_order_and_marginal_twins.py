"""The order of categories by similarity, and the marginal plot, equal their slow twins."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pellucid import InputError
from pellucid.methods.effects.estimation.ale_axis import classical_scaling, level_distances, level_orders
from reference import category_order as slow
from reference.accumulated_local import quantile_edges
from reference.marginal_plot import mplot_at_values, mplot_in_bins
from strategies import LEVELS, QUICK, Table, assert_close, bent, tables
from versions import needs


@given(tables(category=True, least=4, whole=True), st.booleans())
@QUICK
def test_distances_between_categories(table, nominal):
    levels = sorted({row[0] for row in table.rows})
    data = table.explainer(bent, categorical=["c"] if nominal else None).data
    found = level_distances(data, 0, np.arange(len(levels)))
    kinds = (True, False, nominal)
    assert_close(found, slow.level_distances(table.rows, 0, levels, kinds, table.mass))


@given(tables(category=True, least=6, most=20, weighted=False))
@QUICK
def test_order_of_categories(table):
    levels = sorted({row[0] for row in table.rows})
    assume(len(levels) > 2)
    distances = slow.level_distances(table.rows, 0, levels, (True, False, False), table.mass)
    line = slow.classical_scaling_line(distances)
    gaps = np.diff(np.sort(line))
    spectrum = np.linalg.eigvalsh(-0.5 * _double_centred(distances))
    assume(gaps.min() > 1e-6 and spectrum[-1] - spectrum[-2] > 1e-6)  # a clear order
    order, second = level_orders(table.explainer(bent).data, 0)
    along = [line[k] for k in order]
    assert along in (sorted(line), sorted(line)[::-1])
    # Of the two directions the one that agrees better with the levels' own order.
    assert np.corrcoef(np.arange(len(order)), order)[0, 1] >= -1e-12
    assert sorted(second.tolist()) == list(range(len(levels)))


def _double_centred(distances):
    squares = np.square(distances)
    return squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()


@given(st.lists(st.integers(-30, 30), min_size=3, max_size=8, unique=True))
@QUICK
def test_points_on_a_line_are_recovered_by_scaling(places):
    x = np.array(places, dtype=float)
    found = classical_scaling(np.abs(x[:, None] - x[None, :]))
    line = found[:, 0] * np.sign(found[:, 0] @ (x - x.mean()))
    assert_close(line, x - x.mean(), 1e-8)
    assert_close(found[:, 1:], np.zeros((len(x), len(x) - 1)), 1e-5)


@needs("scikit-learn", "1.8")
def test_scaling_equals_scikit_learn():
    from sklearn.manifold import ClassicalMDS

    points = np.random.default_rng(0).normal(size=(7, 3))
    distances = np.linalg.norm(points[:, None] - points[None], axis=-1)
    theirs = ClassicalMDS(n_components=3, metric="precomputed").fit_transform(distances)
    ours = classical_scaling(distances)[:, :3]
    assert_close(ours * np.sign((ours * theirs).sum(axis=0)), theirs)


@given(tables(missing=(2,)))
@QUICK
def test_mplot_at_values(table):
    effect = table.explainer(bent).mplot("a", bins=50)
    counted = [(row, w) for row, w in zip(table.rows, table.mass, strict=True) if w > 0]
    expected = mplot_at_values(bent, [row for row, _ in counted], 0, [w for _, w in counted])
    assert_close(effect.grid, [value for value, _ in expected])
    assert_close(effect.values, [mean for _, mean in expected])


@given(tables(category=True))
@QUICK
def test_mplot_of_categories(table):
    effect = table.explainer(bent).mplot("a")
    counted = [(row, w) for row, w in zip(table.rows, table.mass, strict=True) if w > 0]
    expected = mplot_at_values(bent, [row for row, _ in counted], 0, [w for _, w in counted])
    assert effect.grid.tolist() == [value for value, _ in expected]
    assert_close(effect.values, [mean for _, mean in expected])


@given(tables(missing=(1,), least=4), st.integers(1, 3))
@QUICK
def test_mplot_in_bins(table, bins):
    rows, mass = table.without(1)
    assume(len({row[1] for row in rows}) > bins)
    edges = quantile_edges([row[1] for row in rows], bins, mass)
    assume(len(edges) > 1)
    effect = table.explainer(bent).mplot("b", bins=bins)
    counted = [(row, w) for row, w in zip(rows, mass, strict=True) if w > 0]
    expected = mplot_in_bins(bent, [row for row, _ in counted], 1, edges, [w for _, w in counted])
    assert_close(effect.grid, [place for place, _ in expected])
    assert_close(effect.values, [mean for _, mean in expected])
    among = np.unique([row[1] for row, _ in counted])
    parts = [
        among[(among > low if k else among >= low) & (among <= high)] for k, (low, high) in enumerate(pairwise(edges))
    ]
    assert_close(effect.ranges, [(part.min(), part.max()) for part in parts if len(part)])


def test_a_mean_over_a_range_is_told_and_drawn_as_one():
    found = Table([[float(i), float(i), 0.0] for i in range(40)]).explainer(bent).mplot("a", bins=2)
    assert found.ranges.tolist() == [[0.0, 19.0], [20.0, 39.0]]
    assert "between 0 and 19" in found.text()
    assert found.frame()[["a (from)", "a (to)"]].to_numpy().tolist() == found.ranges.tolist()
    drawn = str(found.plot().spec)
    assert "'from': 20.0, 'to': 39.0" in drawn
    assert "the range of values" in drawn
    assert Table([[float(i), 1.0, 0.0] for i in range(4)]).explainer(bent).mplot("a").ranges is None


def test_mplot_error_is_that_of_a_group_mean():
    rows = [[0.0, float(i), i / 3] for i in range(6)] + [[1.0, float(i), -i / 7] for i in range(5)]
    effect = Table(rows).explainer(bent).mplot("a")
    groups = [np.array([bent(row) for row in rows if row[0] == value]) for value in (0.0, 1.0)]
    assert_close(effect.se, [g.std(ddof=1) / np.sqrt(len(g)) for g in groups])
    assert effect.counts.tolist() == [6.0, 5.0]


def test_levels_of_equal_rows_keep_their_own_order():
    rows = [[level, 1.0, 2.0] for level in LEVELS for _ in range(3)]
    order, second = level_orders(Table(rows).explainer(bent).data, 0)
    assert order.tolist() == [0, 1, 2, 3]
    assert second is None
    with pytest.raises(InputError, match="leaves out the category 'blue'"):
        level_orders(Table(rows).explainer(bent).data, 0, ["red", "green", "grey"])
