"""Accumulated local effects of three features: equal to the slow twin, and what theory says they are."""

import itertools
import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import pellucid
from golden_files import masked
from pellucid import Explainer
from pellucid.methods.effects.ale import local_effects, make_axes
from pellucid.methods.effects.estimation.accumulated import accumulate
from reference import accumulated_local as slow
from reference.higher_order_local import ale_together
from strategies import LEVELS, QUICK, Table, additive, assert_close, bent, tables, varied

ALL = ("a", "b", "c")
BINS = st.tuples(*[st.integers(1, 4)] * 3)


def thrice(row):
    """`bent` with an interaction of all three features."""
    return bent(row) + 0.5 * bent([row[0], 1.0, 0.3]) * bent([0.2, row[1], 2.0]) * bent([1.0, 0.4, row[2]])


def paired(row):
    """Every feature and every pair of features, but never all three together."""
    a, b, c = row
    return additive(row) + bent([a, b, 0.5]) - 2.0 * bent([1.5, b, c]) + bent([a, 0.1, c])


def edges_of(table, j, bins):
    rows, mass = table.without(j)
    return slow.quantile_edges([row[j] for row in rows], bins, mass)


def as_array(by_position, axes):
    out = np.empty([len(axis) for axis in axes])
    for position, value in by_position.items():
        out[position] = value
    return out


def twin(f, table, axes):
    rows, mass = table.without(0, 1, 2)
    return as_array(ale_together(f, rows, (0, 1, 2), axes, mass), axes)


# -- the slow twin -----------------------------------------------------------------------------------


@given(tables(missing=(1,), most=16), BINS)
@example(Table([[0.0, 0.0, 0.0], [8.0, 1.0, 5.0], [1.0, 2.0, 0.5], [2.0, 8.0, 1.0]]), (4, 4, 4))
@QUICK
def test_three_numeric_features(table, bins):
    assume(all(varied(table, j) for j in range(3)) and sum(table.without(0, 1, 2)[1]) > 0)
    effect = table.explainer(thrice).ale(ALL, bins=bins)
    axes = [edges_of(table, j, bins[j]) for j in range(3)]
    assert [axis.tolist() for axis in effect.grid] == axes
    assert_close(effect.values, twin(thrice, table, axes), 1e-12)


@given(tables(category=True, most=16), st.permutations(LEVELS), BINS)
@QUICK
def test_a_category_among_three(table, levels, bins):
    order = [level for level in levels if level in {row[0] for row in table.rows}]
    counted = {row[0] for row, w in zip(table.rows, table.mass, strict=True) if w > 0}
    assume(len(counted) > 1 and varied(table, 1) and varied(table, 2))
    effect = table.explainer(thrice).ale(ALL, bins=bins, order=order)
    axes = [order, edges_of(table, 1, bins[1]), edges_of(table, 2, bins[2])]
    assert [axis.tolist() for axis in effect.grid] == axes
    assert_close(effect.values, twin(thrice, table, axes), 1e-12)


@given(st.lists(st.tuples(*[st.sampled_from(LEVELS)] * 2, st.integers(0, 6)), min_size=4, max_size=16))
@QUICK
def test_two_categories_and_a_number_with_an_order_for_each(rows):
    table = Table([[a, b, c / 2] for a, b, c in rows])
    orders = [[x for x in LEVELS[::step] if x in {row[j] for row in rows}] for j, step in ((0, 1), (1, -1))]
    assume(len(orders[0]) > 1 and len(orders[1]) > 1 and varied(table, 2))
    effect = table.explainer(thrice).ale(ALL, bins=3, order=orders)
    axes = [*orders, edges_of(table, 2, 3)]
    assert [axis.tolist() for axis in effect.grid] == axes
    assert_close(effect.values, twin(thrice, table, axes), 1e-12)


@given(tables(most=12))
@QUICK
def test_several_outputs_are_several_effects(table):
    assume(all(varied(table, j) for j in range(3)))
    effect = table.explainer(lambda row: (thrice(row), 5.0 - bent(row))).ale(ALL, bins=3)
    axes = [edges_of(table, j, 3) for j in range(3)]
    assert_close(effect.values[..., 0], twin(thrice, table, axes), 1e-12)
    assert_close(effect.values[..., 1], twin(lambda row: 5.0 - bent(row), table, axes), 1e-12)


@given(tables(missing=(1,), most=16), st.integers(1, 4))
@QUICK
def test_the_twin_of_two_features_is_the_pair(table, bins):
    rows, mass = table.without(0, 1)
    assume(varied(table, 0) and varied(table, 1) and sum(mass) > 0)
    axes = [edges_of(table, j, bins) for j in (0, 1)]
    together = as_array(ale_together(bent, rows, (0, 1), axes, mass), axes)
    assert_close(together, slow.ale_pair(bent, rows, (0, 1), axes, mass), 1e-12)


@given(tables(most=14), st.integers(1, 4))
@QUICK
def test_total_effect_adds_every_lower_order(table, bins):
    assume(all(varied(table, j) for j in range(3)))
    explainer = table.explainer(thrice)
    expected = explainer.ale(ALL, bins=bins).values + np.average(
        [thrice(row) for row in table.rows], weights=table.mass
    )
    for j, name in enumerate(ALL):
        expected += np.expand_dims(explainer.ale(name, bins=bins).values, tuple(d for d in range(3) if d != j))
    for j, k in itertools.combinations(range(3), 2):
        expected += np.expand_dims(explainer.ale((ALL[j], ALL[k]), bins=bins).values, 3 - j - k)
    total = explainer.ale(ALL, bins=bins, total=True)
    assert_close(total.values, expected, 1e-12)
    assert total.settings["total"]


# -- theorems ----------------------------------------------------------------------------------------


@given(tables(category=True, missing=(1,), most=16), st.integers(1, 5))
@QUICK
def test_without_an_interaction_of_all_three_there_is_no_effect(table, bins):
    assume(sum(table.without(0, 1, 2)[1]) > 0)
    effect = table.explainer(paired).ale(ALL, bins=bins)
    assert_close(effect.values, np.zeros(effect.values.shape))


def test_pairs_under_strong_correlation_have_no_third_order_effect():
    x = np.random.default_rng(0).normal(size=500)
    noise = np.random.default_rng(1).normal(size=(500, 3))
    X = np.column_stack([x, x, -x]) + 0.2 * noise

    def model(X):
        return np.sin(X[:, 0]) + X[:, 0] * X[:, 1] ** 2 + np.exp(X[:, 1] * X[:, 2] / 4)

    effect = Explainer(model, X).ale((0, 1, 2))
    assert np.abs(effect.values).max() < 1e-10
    assert np.nanmax(effect.se) < 1e-10
    assert "noise" not in [caveat.code for caveat in effect.caveats]  # rounding is not noise


def complete(*columns):
    return np.array(list(itertools.product(*columns)))


def test_a_product_on_a_complete_grid_is_the_product_of_centred_features():
    # Every combination once: with M_j the count-weighted mean of the bin midpoints of x_j it is exactly
    # (x1 - M1)(x2 - M2)(x3 - M3).
    X = complete([0.0, 1.0, 2.5, 3.0, 7.0], [-1.0, 0.0, 0.5, 4.0], [1.0, 2.0, 4.0])
    effect = Explainer(lambda X: X.prod(axis=1), X).ale((0, 1, 2), bins=(3, 2, 2))
    assert (effect.counts > 0).all()
    centred = []
    for axis, edges in enumerate(effect.grid):
        mass = effect.counts.sum(axis=tuple(d for d in range(3) if d != axis))
        centred.append(edges - np.average((edges[1:] + edges[:-1]) / 2, weights=mass))
    assert_close(effect.values, np.einsum("i,j,k->ijk", *centred))


def test_a_product_of_independent_uniforms():
    X = np.random.default_rng(0).uniform(size=(20_000, 3)) * [2.0, 3.0, 1.0]
    effect = Explainer(lambda X: X.prod(axis=1), X, checks=False).ale((0, 1, 2), bins=6)
    expected = np.einsum("i,j,k->ijk", effect.grid[0] - 1.0, effect.grid[1] - 1.5, effect.grid[2] - 0.5)
    assert np.abs(effect.values - expected).max() < 0.05 * np.abs(expected).max()


def test_lower_orders_do_not_move_the_effect():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3))
    X[:, 1] += X[:, 0]

    def product(X):
        return X.prod(axis=1)

    def more(X):
        return product(X) + 4 * X[:, 0] * X[:, 1] - np.cos(X[:, 1] * X[:, 2]) + X[:, 2] ** 3

    one, other = (Explainer(model, X, checks=False).ale((0, 1, 2), bins=4) for model in (product, more))
    assert_close(one.values, other.values)
    assert np.ptp(one.values) > 1.0


def test_orders_add_up_to_the_model_where_rows_stand_in_the_middle_of_bins():
    edges = [[0.0, 1.0, 2.0, 3.0], [0.0, 2.0, 4.0], [-1.0, 1.0, 2.0]]
    X = complete(*([(a + b) / 2 for a, b in itertools.pairwise(axis)] for axis in edges))

    def model(X):
        a, b, c = X.T
        return 4.0 + 2.0 * a - b + 3.0 * a * b - b * c + 0.5 * a * c + 1.5 * a * b * c

    effect = Explainer(model, X).ale((0, 1, 2), bins=edges, total=True)
    expected = model(complete(*edges)).reshape([len(axis) for axis in edges])
    assert_close(effect.values, expected)
    assert effect.value(1.0, 2.0, 0.0) == pytest.approx(model(np.array([[1.0, 2.0, 0.0]]))[0])


def test_orders_of_a_category_and_two_numbers_add_up_to_the_model():
    marks = (0.5, 1.5, 2.5)
    X = pd.DataFrame(itertools.product("abc", marks, marks), columns=["k", "x", "z"])
    slopes = {"a": 1.0, "b": -2.0, "c": 0.5}

    def model(X):
        return X["k"].map(slopes).astype(float) * X["x"] * X["z"] + 2.0 * (X["k"] == "b")

    edges = [0.0, 1.0, 2.0, 3.0]
    effect = Explainer(model, X).ale(("x", "k", "z"), bins=[edges] * 3, order=list("cab"), total=True)
    for i, k, j in itertools.product(range(4), range(3), range(4)):
        level = "cab"[k]
        expected = slopes[level] * edges[i] * edges[j] + 2.0 * (level == "b")
        assert effect.values[i, k, j] == pytest.approx(expected, abs=1e-10)


@given(tables(weighted=False, least=8, most=16), st.permutations((0, 1, 2)))
@QUICK
def test_the_order_of_the_features_does_not_matter(table, turned):
    explainer = table.explainer(thrice)
    one, other = explainer.ale((0, 1, 2), bins=2), explainer.ale(tuple(turned), bins=2)
    np.testing.assert_array_equal(one.counts.transpose(turned), other.counts)
    if one.counts.all():  # of cells at the same distance the first fills an empty one
        assert_close(one.values.transpose(turned), other.values)


# -- errors, bins, round trip --------------------------------------------------------------------------


def test_standard_errors_are_those_of_repeated_samples():
    edges = [np.linspace(0, 1, 3)] * 3

    def model(X):
        return 10 * X[:, :3].prod(axis=1) * (1 + X[:, 3])

    def effect(seed):
        X = np.random.default_rng(seed).uniform(size=(400, 4))
        return Explainer(model, X, checks=False).ale((0, 1, 2), bins=edges)

    effects = [effect(seed) for seed in range(120)]
    truth = np.std([e.values for e in effects], axis=0, ddof=1)
    said = np.mean([e.se for e in effects], axis=0)
    assert 0.7 < np.median(said / truth) < 1.4
    assert (said / truth).min() > 0.5


def test_errors_by_random_signs_agree_with_those_by_steps():
    X = np.random.default_rng(5).normal(size=(600, 4))
    ex = Explainer(lambda X: X[:, 0] * X[:, 1] * X[:, 2] * X[:, 3], X, checks=False)
    axes = make_axes(ex.data, (0, 1, 2), 4, None)
    local = local_effects(ex._run("ale"), ex.predictor, ex.data, (0, 1, 2), axes)
    exact, drawn = (accumulate(axes, local, most).se for most in (10**9, 0))
    np.testing.assert_allclose(exact[..., 0], ex.ale((0, 1, 2), bins=4).se)
    assert np.median(np.abs(drawn / exact - 1)) < 0.1
    assert not np.array_equal(drawn, exact)


@pytest.mark.parametrize(("rows", "bins"), [(100, 3), (2500, 5), (30_000, 10)])
def test_usual_number_of_bins_leaves_twenty_rows_per_cell(rows, bins):
    X = np.random.default_rng(0).normal(size=(rows, 3))
    effect = Explainer(lambda X: X[:, 0], X, checks=False).ale((0, 1, 2))
    assert effect.values.shape == (bins + 1,) * 3
    assert effect.settings["bins"] == bins


def test_usual_number_of_bins_beside_categories():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(2000, 2)), columns=["x", "z"])
    X["k"] = np.tile(["a", "b", "c", "d"], 500)
    effect = Explainer(lambda X: X["x"], X, checks=False).ale(("x", "z", "k"))
    assert effect.values.shape == (6, 6, 4)  # 2000 / 20 / 4 = 25 cells of x and z
    assert Explainer(lambda X: X["x"], X, checks=False).ale("x").settings["bins"] == 40


def test_eight_predictions_per_row():
    X = np.random.default_rng(0).normal(size=(50, 3))
    effect = Explainer(lambda X: X[:, 0], X, checks=False).ale((0, 1, 2), bins=3)
    assert effect.cost.model_rows == 8 * 50


def test_constant_features_have_no_part():
    X = np.column_stack([np.arange(30.0), np.full(30, 2.0), np.arange(30) % 4])
    effect = Explainer(lambda X: X.prod(axis=1), X).ale((0, 1, 2), bins=3)
    assert effect.values.shape == (4, 1, 4)
    assert not effect.values.any()


def test_words_table_and_file(tmp_path, golden):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["x", "z"])
    X["k"] = rng.choice(["a", "b"], 200)
    effect = Explainer(lambda X: X["x"] * X["z"] * (X["k"] == "a"), X).ale(("x", "z", "k"), bins=3)
    golden("effect", "accumulated local effect of three features", masked(effect.text()))
    table = effect.frame()
    assert list(table.columns) == ["x", "z", "k", "value", "se", "low", "high"]
    assert len(table) == 4 * 4 * 2
    line = table.iloc[13]
    assert effect.value(line["x"], line["z"], line["k"]) == pytest.approx(line["value"])
    for name in ("effect.json", "effect.parquet"):
        effect.save(tmp_path / name)
        again = pellucid.load(tmp_path / name)
        np.testing.assert_array_equal(again.values, effect.values)
        np.testing.assert_array_equal(again.counts, effect.counts)
        assert again.text() == effect.text()
    assert json.loads((tmp_path / "effect.json").read_text())


def test_the_highest_point_named_has_rows_beside_it():
    # Rows along the diagonal only: the far corner (9, 9, 0) has the largest sum but no row near it.
    X = np.column_stack([np.arange(300.0)] * 3) % 100
    effect = Explainer(lambda X: X[:, 0] * X[:, 1] * (100 - X[:, 2]), X).ale((0, 1, 2), bins=5)
    top = np.unravel_index(np.argmax(effect.values), effect.values.shape)
    low = np.unravel_index(np.argmin(effect.values), effect.values.shape)
    assert max(np.ptp(top), np.ptp(low)) > 1
    told = [float(value) for value in re.findall(r"x\d = (-?[\d.]+)", effect.text().splitlines()[1])]
    assert len(told) == 6
    for values in (told[:3], told[3:]):
        assert np.abs(X - values).max(axis=1).min() < 0.5  # rounding
