"""Where effects are evaluated: grids, quantile bins and the bin of a value."""

import datetime as dt
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.data import Data
from pellucid.data.grid import bin_index, given_codes, grid_codes, quantile_edges
from pellucid.data.schema import DAY
from pellucid.errors import InputError

NUMBERS = st.lists(st.integers(-20, 20).map(lambda k: k / 4), min_size=1, max_size=30)


def one(column, **options):
    data = Data.of(pd.DataFrame({"x": column}), **options)
    return data.schema.features[0], data.codes(0)


# -- grids -----------------------------------------------------------------------------------------


def test_few_values_are_the_grid():
    assert grid_codes(*one([3.5, 1.5, np.nan, 3.5]), 2).tolist() == [1.5, 3.5]


def test_many_values_are_spread_evenly_from_least_to_greatest():
    np.testing.assert_allclose(grid_codes(*one(np.arange(100) ** 2 / 7), 5), np.linspace(0, 99**2 / 7, 5))


def test_integers_stay_integers_and_do_not_repeat():
    grid = grid_codes(*one([0, 1, 2, 3, 7]), 4)
    assert grid.tolist() == [0, 2, 5, 7]
    assert grid_codes(*one([0, 1, 2, 3, 4]), 4).tolist() == [0, 1, 3, 4]


def test_categories_are_all_there_however_few_points_are_asked_for():
    assert grid_codes(*one(list("abcb")), 2).tolist() == [0, 1, 2]
    assert grid_codes(*one([1, 2, 3], categorical=["x"]), 2).tolist() == [0, 1, 2]
    assert grid_codes(*one([True, False]), 1).tolist() == [0, 1]


def test_days_stay_days_and_times_stay_microseconds():
    days = pd.date_range("2024-01-01", periods=100, freq="D")
    assert set(grid_codes(*one(days), 7) % DAY) == {0.0}
    times = grid_codes(*one(days + pd.Timedelta("1us")), 7)
    assert (times == np.round(times)).all()
    assert len(times) == 7


def test_one_point_and_none():
    assert grid_codes(*one([1.0, 2.0, 3.0]), 1).tolist() == [1.0]
    with pytest.raises(InputError, match="grid must"):
        grid_codes(*one([1.0, 2.0]), 0)
    with pytest.raises(InputError, match=r"feature 'x' .*nothing to vary"):
        grid_codes(*one([np.nan, np.nan]), 5)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=40), st.integers(1, 12))
def test_grids_are_increasing_within_the_range_and_possible(cells, size):
    feature, codes = one(np.array(cells))
    grid = grid_codes(feature, codes, size)
    assert len(grid) <= max(size, 1)
    assert (np.diff(grid) > 0).all()
    assert feature.low <= grid[0]
    assert grid[-1] <= feature.high
    assert (grid == np.round(grid)).all()


# -- grids given by the user ------------------------------------------------------------------------------


def test_given_values_keep_their_order():
    assert given_codes(one([1.0, 2.0])[0], [3, 1.5, True]).tolist() == [3, 1.5, 1]
    assert given_codes(one([1.0, 2.0])[0], 7).tolist() == [7]
    assert given_codes(one([1.0, 2.0])[0], np.array([2, 1])).tolist() == [2, 1]
    assert given_codes(one(["a", "b"])[0], ["b", "a"]).tolist() == [1, 0]
    assert given_codes(one(["ab", "b"])[0], "ab").tolist() == [0]
    assert given_codes(one([5, 6], categorical=["x"])[0], [6]).tolist() == [1]
    assert given_codes(one([True, False])[0], [False, True]).tolist() == [0, 1]


@pytest.mark.parametrize(
    "at",
    [
        "2024-05-31",
        ["2024-05-31T00:00"],
        [dt.date(2024, 5, 31)],
        [dt.datetime(2024, 5, 31)],
        [dt.datetime(2024, 5, 31, 2, tzinfo=dt.timezone(dt.timedelta(hours=2)))],
        ["2024-05-31T02:00+02:00"],
        pd.Timestamp("2024-05-31"),
        pd.DatetimeIndex(["2024-05-31"]),
        pd.Timestamp("2024-05-31 02:00", tz="Europe/Berlin"),
        np.array(["2024-05-31"], dtype="M8[D]"),
        np.datetime64("2024-05-31"),
    ],
)
def test_dates_in_any_form(at):
    feature, _ = one(pd.to_datetime(["2024-01-01", "2025-01-01"]))
    assert feature.decode(given_codes(feature, at)).tolist() == [dt.datetime(2024, 5, 31)]


@pytest.mark.parametrize(
    ("column", "at", "message"),
    [
        ([1.0], [], "at= has no values for feature 'x'"),
        ([1.0], [1, None], "at= has a missing value for feature 'x'; leave it out"),
        ([1.0], [np.nan], "at= has a missing value"),
        ([1.0], ["much"], "feature 'x' is numeric and cannot take 'much'; give numbers"),
        ([1.0], [1.0, "much"], "cannot take 'much'"),
        (["a"], ["A"], "did you mean 'a'"),
        (
            pd.to_datetime(["2024-01-01"]),
            ["31.5.2024"],
            "feature 'x' is date and cannot take '31.5.2024'; give dates such as",
        ),
        (pd.to_datetime(["2024-01-01"]), [2024], "feature 'x' is date and cannot take 2024"),
    ],
)
def test_given_values_that_the_feature_cannot_take(column, at, message):
    with pytest.raises(InputError, match=message):
        given_codes(one(column)[0], at)


def test_half_an_integer_is_refused_when_the_column_is_made():
    data = Data.of(pd.DataFrame({"x": [1, 2]}))
    with pytest.raises(InputError, match=r"column 'x' holds int64 .*1.5; give"):
        data.pool(0, given_codes(data.schema.features[0], [1.5]))


# -- quantile bins ------------------------------------------------------------------------------------


def slow_edges(codes, bins, weights):
    """The least observed value at which the share of rows up to it reaches k / bins, in exact arithmetic."""
    weights = [Fraction(weight) for weight in weights]
    total = sum(weights)
    counted = {code for code, weight in zip(codes, weights, strict=True) if weight}
    edges = set()
    for k in range(bins + 1):
        share = {v: sum(w for c, w in zip(codes, weights, strict=True) if c <= v) for v in counted}
        edges.add(min(v for v in counted if share[v] >= Fraction(k, bins) * total))
    return sorted(edges)


@settings(deadline=None, max_examples=80)
@given(NUMBERS, st.integers(1, 12), st.data())
def test_edges_are_the_quantiles_in_exact_arithmetic(cells, bins, data):
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(cells), max_size=len(cells)).filter(any))
    edges = quantile_edges(np.array(cells), bins, np.array(weights, dtype=float))
    assert edges.tolist() == slow_edges(cells, bins, weights)


@pytest.mark.parametrize("bins", range(1, 41))
def test_a_quantile_that_falls_on_a_row_is_that_row(bins):
    """Although 0.3 * 10 is 3.0000000000000004 in floating point."""
    for n in {bins, 2 * bins, 30}:
        codes = np.arange(float(n))
        assert quantile_edges(codes, bins, np.ones(n)).tolist() == slow_edges(codes.tolist(), bins, [1] * n)


@settings(deadline=None, max_examples=40)
@given(NUMBERS, st.sampled_from([1, 2, 4, 8, 16]))
def test_edges_are_those_of_numpy(cells, bins):
    expected = np.unique(np.quantile(cells, np.linspace(0, 1, bins + 1), method="inverted_cdf"))
    np.testing.assert_array_equal(quantile_edges(np.array(cells), bins, np.ones(len(cells))), expected)


@settings(deadline=None, max_examples=40)
@given(NUMBERS, st.integers(1, 12), st.data())
def test_integer_weights_are_duplicated_rows(cells, bins, data):
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(cells), max_size=len(cells)).filter(any)))
    codes = np.array(cells)
    repeated = np.repeat(codes, weights)
    np.testing.assert_array_equal(
        quantile_edges(codes, bins, weights.astype(float)), quantile_edges(repeated, bins, np.ones(len(repeated)))
    )


@settings(deadline=None, max_examples=40)
@given(NUMBERS, st.integers(1, 12), st.floats(0.01, 1000))
def test_the_unit_of_the_weights_does_not_matter(cells, bins, unit):
    codes, ones = np.array(cells), np.ones(len(cells))
    np.testing.assert_array_equal(quantile_edges(codes, bins, ones), quantile_edges(codes, bins, ones * unit))


def test_edges_of_tied_skewed_and_missing_data():
    assert quantile_edges(np.array([0.0] * 95 + [1, 2, 3, 4, 5]), 10, np.ones(100)).tolist() == [0, 5]
    assert quantile_edges(np.array([2.0, 2.0]), 4, np.ones(2)).tolist() == [2]
    assert quantile_edges(np.array([np.nan, 1.0, 3.0]), 2, np.ones(3)).tolist() == [1, 3]
    with pytest.raises(InputError, match="bins must"):
        quantile_edges(np.array([1.0]), 0, np.ones(1))
    with pytest.raises(InputError, match="missing in every row"):
        quantile_edges(np.array([np.nan, 1.0]), 2, np.array([1.0, 0.0]))


# -- the bin of a value -------------------------------------------------------------------------------


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.one_of(st.just(np.nan), st.integers(-30, 30).map(float)), max_size=30),
    st.sets(st.integers(-20, 20), min_size=2, max_size=8),
)
def test_bins_are_closed_on_the_right_and_the_first_on_both_sides(cells, edges):
    codes, edges = np.array(cells, dtype=float), np.array(sorted(edges), dtype=float)
    for code, k in zip(codes, bin_index(codes, edges), strict=True):
        if np.isnan(code) or code < edges[0] or code > edges[-1]:
            assert k == -1
        else:
            assert edges[k] < code <= edges[k + 1] or (k == 0 and code == edges[0])


@settings(deadline=None, max_examples=40)
@given(NUMBERS, st.integers(1, 12))
def test_no_bin_between_quantile_edges_is_empty(cells, bins):
    codes = np.array(cells)
    edges = quantile_edges(codes, bins, np.ones(len(codes)))
    index = bin_index(codes, edges)
    assert set(index) == set(range(max(len(edges) - 1, 1)))
