"""Accumulated local effects equal their slow twins, ALEPlot's conventions included."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from reference import accumulated_local as slow
from strategies import LEVELS, QUICK, Table, assert_close, bent, tables, varied

BINS = st.integers(1, 8)


def edges_of(table, j, bins):
    rows, mass = table.without(j)
    return slow.quantile_edges([row[j] for row in rows], bins, mass)


@given(tables(missing=(0, 2)), BINS)
@QUICK
def test_one_numeric_feature(table, bins):
    assume(varied(table, 0))
    effect = table.explainer(bent).ale("a", bins=bins)
    edges = edges_of(table, 0, bins)
    rows, mass = table.without(0)
    assert effect.grid.tolist() == edges
    assert_close(effect.values, slow.ale_numeric(bent, rows, 0, edges, mass))


@given(tables(), st.sets(st.integers(-50, 50), min_size=2, max_size=6))
@QUICK
def test_one_numeric_feature_with_given_edges(table, marks):
    edges = sorted(mark / 8 for mark in marks)
    inside = [w for row, w in zip(table.rows, table.mass, strict=True) if edges[0] <= row[0] <= edges[-1]]
    assume(sum(inside) > 0)
    effect = table.explainer(bent).ale("a", bins=edges)
    assert effect.grid.tolist() == edges
    assert_close(effect.values, slow.ale_numeric(bent, table.rows, 0, edges, table.mass))


@given(tables(category=True, missing=(2,)), st.permutations(LEVELS))
@QUICK
def test_one_categorical_feature(table, levels):
    seen = {row[0] for row in table.rows}
    order = [level for level in levels if level in seen]
    effect = table.explainer(bent).ale("a", order=order)
    assert effect.grid.tolist() == order
    assert_close(effect.values, slow.ale_categorical(bent, table.rows, 0, order, table.mass))


@given(tables(missing=(1,)), BINS, BINS)
@example(Table([[0.0, 0.0, 0.0], [8.0, 1.0, 0.0], [1.0, 2.0, 0.0], [2.0, 8.0, 1.0]]), 4, 4)
@QUICK
def test_two_numeric_features(table, bins_a, bins_b):
    rows, mass = table.without(0, 1)
    assume(varied(table, 0) and varied(table, 1) and sum(mass) > 0)
    effect = table.explainer(bent).ale(("a", "b"), bins=(bins_a, bins_b))
    edges = [edges_of(table, 0, bins_a), edges_of(table, 1, bins_b)]
    assert [axis.tolist() for axis in effect.grid] == edges
    assert_close(effect.values, slow.ale_pair(bent, rows, (0, 1), edges, mass))


@given(tables(category=True), st.permutations(LEVELS), BINS)
@QUICK
def test_a_categorical_and_a_numeric_feature(table, levels, bins):
    seen = {row[0] for row in table.rows}
    order = [level for level in levels if level in seen]
    assume(len(order) > 1 and varied(table, 1))
    explainer = table.explainer(bent)
    effect = explainer.ale(("a", "b"), bins=bins, order=order)
    edges = edges_of(table, 1, bins)
    expected = slow.ale_categorical_numeric(bent, table.rows, (0, 1), order, edges, table.mass)
    assert [axis.tolist() for axis in effect.grid] == [order, edges]
    assert_close(effect.values, expected)


@given(tables(category=True, weighted=False, least=12), BINS)
@QUICK
def test_the_order_of_the_two_features_does_not_matter(table, bins):
    # Of cells at the same distance the first fills an empty one, so tables with empty cells may differ.
    explainer = table.explainer(bent)
    for pair in (("b", "c"), ("a", "c")):
        one, other = explainer.ale(pair, bins=bins), explainer.ale(pair[::-1], bins=bins)
        if one.counts.all():
            assert_close(one.values, other.values.T)
        np.testing.assert_array_equal(one.counts, other.counts.T)


@given(tables(weighted=False), BINS)
@QUICK
def test_counts_spread_and_error_of_the_local_effects(table, bins):
    assume(varied(table, 0))
    effect = table.explainer(bent).ale("a", bins=bins)
    edges = edges_of(table, 0, bins)
    for k, (low, high) in enumerate(itertools.pairwise(edges)):
        inside = [row for row in table.rows if slow.bin_of(row[0], edges) == k]
        changes = [bent([high, *row[1:]]) - bent([low, *row[1:]]) for row in inside]
        assert effect.counts[k] == len(inside)
        if len(inside) > 1:
            assert effect.spread[k] == pytest.approx(np.std(changes, ddof=1), abs=1e-9)
        else:
            assert math.isnan(effect.spread[k])


@given(tables(missing=(0,)))
@QUICK
def test_several_outputs_are_several_effects(table):
    assume(varied(table, 0))
    both = Table(table.rows, table.weights).explainer(lambda row: (bent(row), 10.0 - row[1] * bent(row)))
    edges = edges_of(table, 0, 4)
    rows, mass = table.without(0)
    second = slow.ale_numeric(lambda row: 10.0 - row[1] * bent(row), rows, 0, edges, mass)
    effect = both.ale("a", bins=4)
    assert effect.values.shape == (len(edges), 2)
    assert_close(effect.values[:, 0], slow.ale_numeric(bent, rows, 0, edges, mass))
    assert_close(effect.values[:, 1], second)
