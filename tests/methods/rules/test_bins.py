"""Conditions: which values they hold for, and how they are halved."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pellucid
from pellucid.data import Data
from pellucid.methods.rules.search.bins import (
    MISSING,
    Cell,
    check_bins,
    condition,
    finer_cell,
    first_cell,
    only,
    opened_cells,
)

TABLE = pd.DataFrame(
    {
        "temp": np.linspace(-3.5, 36.4, 200),
        "day": np.arange(200) % 7,
        "flag": np.arange(200) % 2 == 0,
        "season": np.array(["fall", "spring"], dtype=object)[np.arange(200) % 2],
        "when": pd.date_range("2024-01-01", periods=200),
    }
)
DATA = Data.of(TABLE)


def words(name, code, wanted=None):
    j = DATA.schema.index(name)
    return condition(DATA.schema.features[j], name, first_cell(DATA, j, code, wanted)).words


def test_quartiles_and_words():
    assert words("temp", 0.0) == "temp ≤ 6.325"
    assert words("temp", 20.0) == "16.35 < temp ≤ 26.37"
    assert words("temp", 90.0) == "temp > 26.37"
    assert words("day", 3.0) == "1 < day ≤ 3"
    assert words("day", 4.0, 7) == "day = 4"  # (3, 4]
    assert words("day", 0.0) == "day ≤ 1"
    assert words("flag", 1.0) == "flag = yes"
    assert words("season", 1.0) == "season = spring"
    assert words("when", DATA.codes(4)[0]) == "when ≤ 2024-02-19"
    assert words("temp", np.nan) == "temp is missing"


def test_edges_of_the_callers_own():
    edges = check_bins({"temp": [0, 7, 14, 21, 28], "day": 2}, DATA)
    assert words("temp", 7.0, edges[0]) == "0 < temp ≤ 7"  # closed above
    assert words("temp", 7.001, edges[0]) == "7 < temp ≤ 14"
    assert words("temp", -9.0, edges[0]) == "temp ≤ 0"
    assert words("temp", 28.5, edges[0]) == "temp > 28"
    assert words("day", 6.0, edges[1]) == "day > 3"


def test_a_number_with_few_values_is_taken_value_by_value():
    data = Data.of(pd.DataFrame({"n": [1.5, 2.5, 2.5, 4.0]}))
    assert first_cell(data, 0, 2.5) == only(2.5)
    assert first_cell(data, 0, 3.0).holds(np.array([2.5, 3.0])).any()  # not a value of the data: an interval


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=60), st.integers(-60, 60), st.integers(1, 9))
def test_a_cell_holds_the_value_and_halving_keeps_it_and_ends(values, code, bins):
    data = Data.of(pd.DataFrame({"x": np.array(values, dtype=float)}))
    cell, steps = first_cell(data, 0, float(code), bins), 0
    inside = cell.holds(data.codes(0)).sum()
    while True:
        assert cell.holds(np.array([float(code)])).all()
        finer = finer_cell(data, 0, float(code), cell)
        if finer is None:
            break
        now = finer.holds(data.codes(0)).sum()
        assert now < inside or finer == only(float(code))
        cell, inside, steps = finer, now, steps + 1
        assert steps < 20
    left = np.unique(data.codes(0)[cell.holds(data.codes(0))])
    assert set(left.tolist()) <= {float(code)}  # in the end nothing but the value itself


def test_halving_goes_by_the_weight_of_the_rows():
    data = Data.of(pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, 5.0]}), sample_weight=[10, 1, 1, 1, 1])
    whole = first_cell(data, 0, 3.0, 1)
    assert finer_cell(data, 0, 3.0, whole).holds(data.codes(0)).tolist() == [False, True, True, True, True]


def test_missing_and_categories_are_not_halved():
    assert finer_cell(DATA, 0, np.nan, MISSING) is None
    assert finer_cell(DATA, 3, 1.0, only(1.0)) is None
    assert MISSING.holds(np.array([1.0, np.nan])).tolist() == [False, True]


@pytest.mark.parametrize(
    ("bins", "said"),
    [
        ("quartiles", "give 'auto'"),
        (0, "bins must be"),
        (2.5, "bins must be"),
        ({"temp": "many"}, "bins for 'temp' must be"),
        ({"season": [1]}, "feature 'season' has levels"),
        ({"tmp": 4}, "did you mean 'temp'"),
        ({"temp": []}, "bins for 'temp' has no edges"),
        ({"temp": [-np.inf, np.inf]}, "bins for 'temp' has no edges"),
        ({"temp": [3.0, np.nan]}, "bins for 'temp' has a missing edge"),
        ([3, 7], r"bins=\[3, 7\] are edges, but not whose"),
        (None, r"bins must be"),
    ],
)
def test_bins_that_are_none(bins, said):
    with pytest.raises(pellucid.InputError, match=said):
        check_bins(bins, DATA)


def test_infinite_edges_are_those_that_there_are_anyway():
    given = check_bins({"temp": [-np.inf, 7, np.inf]}, DATA)
    np.testing.assert_array_equal(given[DATA.schema.index("temp")], [7.0])


def test_where_most_rows_have_the_greatest_value_the_others_have_a_bin_of_their_own():
    codes = np.append(np.linspace(0, 0.9, 10), np.ones(90))
    data = Data.of(pd.DataFrame({"x": codes}))
    for bins in (2, 4, 9):
        below, above = (first_cell(data, 0, code, bins).holds(codes) for code in (0.5, 1.0))
        assert above.sum() == 90
        assert 1 <= below.sum() <= 10
        assert not (below & above).any()
    mirrored = Data.of(pd.DataFrame({"x": -codes}))
    assert first_cell(mirrored, 0, -1.0, 4).holds(-codes).sum() == 90


def test_rows_without_weight_make_no_bins():
    data = Data.of(pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, 5.0, np.nan]}), sample_weight=[0, 0, 0, 0, 0, 1])
    assert first_cell(data, 0, 3.0, 4) == Cell(-np.inf, np.inf)


@pytest.mark.parametrize(
    ("values", "cell", "words"),
    [
        (1000 + np.linspace(0, 0.6, 50), Cell(1000.0712, 1000.1034), "1000.071 < x ≤ 1000.103"),
        (1e6 + np.linspace(0, 6, 50), Cell(1e6 + 0.7123, np.inf), "x > 1000000.7"),
        (np.linspace(0, 1, 50) ** 2, Cell(0.50001, 0.50003), "0.50001 < x ≤ 0.50003"),
        (np.linspace(0, 40, 50) + 0.01, Cell(7.123456, 14.5), "7.123 < x ≤ 14.5"),
        (np.linspace(0, 40, 50) + 0.01, only(1 / 3), "x = 0.3333"),
        (np.full(50, 1 / 3), only(2 / 3), "x = 0.66667"),
    ],
)
def test_edges_are_written_in_as_many_digits_as_it_takes(values, cell, words):
    feature = Data.of(pd.DataFrame({"x": values})).schema.features[0]
    assert condition(feature, "x", cell).words == words


def test_intervals_without_one_of_their_ends():
    temp, day, season = (DATA.schema.index(name) for name in ("temp", "day", "season"))
    assert opened_cells(DATA, temp, Cell(7.0, 14.0)) == [Cell(-np.inf, 14.0), Cell(7.0, np.inf)]
    assert opened_cells(DATA, temp, Cell(7.0, np.inf)) == []  # without its end there is nothing left
    assert opened_cells(DATA, temp, Cell(-np.inf, 7.0)) == []
    assert opened_cells(DATA, day, only(3.0)) == [Cell(-np.inf, 3.0), Cell(2.0, np.inf)]
    assert opened_cells(DATA, day, only(0.0)) == [Cell(-np.inf, 0.0)]
    assert opened_cells(DATA, season, only(1.0)) == []
    assert opened_cells(DATA, temp, MISSING) == []
