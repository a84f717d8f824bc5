"""Partial dependence and ICE equal their slow twins."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from limits import limited
from reference import partial_dependence as slow
from strategies import QUICK, assert_close, bent, is_missing, tables, varied


def distinct(table, j):
    return sorted({row[j] for row in table.rows if not is_missing(row[j])})


@given(tables(missing=(1, 2)), st.integers(1, 30))
@QUICK
def test_pdp_of_one_feature(table, size):
    effect = table.explainer(bent).pdp("a", grid=size)
    values = distinct(table, 0)
    grid = values if len(values) <= size else np.linspace(values[0], values[-1], size).tolist()
    assert_close(effect.grid, grid)
    assert_close(effect.values, slow.pdp(bent, table.rows, 0, grid, table.mass))


@given(tables(), st.lists(st.floats(-9, 9).map(lambda x: round(x, 3)), min_size=1, max_size=5))
@QUICK
def test_pdp_at_given_values_in_the_order_given(table, at):
    effect = table.explainer(bent).pdp("b", at=at)
    assert effect.grid.tolist() == at
    assert_close(effect.values, slow.pdp(bent, table.rows, 1, at, table.mass))


@given(tables(most=8, missing=(2,)), st.integers(2, 4))
@QUICK
def test_pdp_of_a_pair(table, size):
    effect = table.explainer(bent).pdp(("a", "b"), grid=size)
    grids = [axis.tolist() for axis in effect.grid]
    assert effect.values.shape == (len(grids[0]), len(grids[1]))
    assert_close(effect.values, slow.pdp_pair(bent, table.rows, (0, 1), grids, table.mass))


@given(tables(most=8), st.integers(2, 4))
@QUICK
def test_pure_effect_of_a_pair(table, size):
    effect = table.explainer(bent).pdp(("b", "a"), grid=size, pure=True)
    grids = [axis.tolist() for axis in effect.grid]
    assert_close(effect.values, slow.pure_pair(bent, table.rows, (1, 0), grids, table.mass))


@given(tables(category=True, missing=(2,)))
@QUICK
def test_pdp_of_categories_and_of_a_category_with_a_number(table):
    explainer = table.explainer(bent)
    levels = sorted({row[0] for row in table.rows})
    effect = explainer.pdp("a")
    assert effect.grid.tolist() == levels
    assert_close(effect.values, slow.pdp(bent, table.rows, 0, levels, table.mass))
    pair = explainer.pdp(("a", "b"), at=[levels, [-1.0, 2.5]])
    assert_close(pair.values, slow.pdp_pair(bent, table.rows, (0, 1), [levels, [-1.0, 2.5]], table.mass))


@given(tables(missing=(0,)))
@QUICK
def test_pdp_where_the_feature_is_missing(table):
    assume(distinct(table, 0) and len(distinct(table, 0)) < len({str(row[0]) for row in table.rows}))
    effect = table.explainer(bent).pdp("a")
    assert_close(effect.values, slow.pdp(bent, table.rows, 0, effect.grid.tolist(), table.mass))
    assert_close(effect.missing.values, slow.pdp(bent, table.rows, 0, [math.nan], table.mass)[0])
    absent = sum(w for row, w in zip(table.rows, table.mass, strict=True) if is_missing(row[0]))
    assert effect.missing.share == pytest.approx(absent / sum(table.mass))


@given(tables(weighted=False, least=3), st.sampled_from([1, 4, 1000]))
@QUICK
def test_standard_error_is_that_of_a_mean_whatever_the_batches(table, batch):
    effect = limited(table.explainer(bent), batch_rows=batch).pdp("a", grid=5)
    curves = np.array(slow.ice(bent, table.rows, 0, effect.grid.tolist()))
    assert_close(effect.se, curves.std(axis=0, ddof=1) / np.sqrt(len(curves)))
    assert_close(effect.spread, curves.std(axis=0, ddof=1))


@given(tables(missing=(1,)), st.integers(2, 8))
@QUICK
def test_ice_and_its_average(table, size):
    effect = table.explainer(bent).ice("a", grid=size)
    grid = effect.grid.tolist()
    assert_close(effect.values, slow.ice(bent, table.rows, 0, grid))
    assert_close(effect.average, slow.pdp(bent, table.rows, 0, grid, table.mass))


@given(tables(), st.data())
@QUICK
def test_ice_of_some_rows(table, data):
    rows = data.draw(st.lists(st.integers(0, len(table.rows) - 1), min_size=1, max_size=6))
    effect = table.explainer(bent).ice("c", rows=rows, grid=4)
    assert_close(effect.values, slow.ice(bent, [table.rows[i] for i in rows], 2, effect.grid.tolist()))
    assert effect.rows.tolist() == rows


@given(tables(least=4), st.integers(1, 4), st.integers(0, 9))
@QUICK
def test_ice_of_a_random_sample(table, size, seed):
    effect = table.explainer(bent, random_state=seed).ice("a", sample=size, grid=3)
    rows = effect.rows.tolist()
    assert len(set(rows)) == size
    assert rows == sorted(rows)
    assert_close(effect.values, slow.ice(bent, [table.rows[i] for i in rows], 0, effect.grid.tolist()))


@given(tables(), st.floats(-6, 6).map(lambda x: round(x, 3)))
@QUICK
def test_centred_ice(table, anchor):
    explainer = table.explainer(bent)
    effect = explainer.ice("a", grid=6, center=anchor)
    grid = effect.grid.tolist()
    assert_close(effect.values, slow.centred_ice(bent, table.rows, 0, grid, anchor))
    at_least = explainer.ice("a", grid=6, center="min")
    assert_close(at_least.values, slow.centred_ice(bent, table.rows, 0, grid, min(grid)))


@given(tables(weighted=False))
@QUICK
def test_pdp_centred_on_the_mean_over_the_rows(table):
    # With a grid of the distinct values, the mean over the data is the mean over rows of their own value.
    grid = distinct(table, 0)
    effect = table.explainer(bent).pdp("a", grid=len(grid), center="mean")
    curve = dict(zip(grid, slow.pdp(bent, table.rows, 0, grid, table.mass), strict=True))
    mean = sum(curve[row[0]] for row in table.rows) / len(table.rows)
    assert_close(effect.values, [curve[g] - mean for g in grid])


@given(tables())
@QUICK
def test_derivative_ice(table):
    assume(varied(table, 0))
    effect = table.explainer(bent).ice("a", grid=7, derivative=True)
    assert_close(effect.values, slow.derivative_ice(bent, table.rows, 0, effect.grid.tolist()), 1e-9)
