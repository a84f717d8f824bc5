"""What is learned of each feature: kind, range, categories, missing share, groups."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.every_dtype import every_table
from pellucid.data import Data
from pellucid.errors import InputError

NAN = float("nan")


def learned(column, **options):
    """The feature learned from one pandas column, list or array."""
    table = pd.DataFrame({"x": column}) if not isinstance(column, pd.DataFrame) else column
    return Data.of(table, **options).schema.features[0]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ([0.5, 1.0], "numeric"),
        ([1, 2], "integer"),
        ([True, False], "boolean"),
        (["a", "b"], "categorical"),
        (pd.Categorical(["a", "b"]), "categorical"),
        (pd.Categorical(["a", "b"], ordered=True), "ordered"),
        (pd.to_datetime(["2024-01-01", "2024-02-01"]), "date"),
        (pd.to_datetime(["2024-01-01", "2024-02-01"]).tz_localize("Asia/Tokyo"), "date"),
        (pd.Series([1, None], dtype="Int64"), "integer"),
        (pd.Series([1, None], dtype="int64[pyarrow]"), "integer"),
        (pd.Series([True, None], dtype="boolean"), "boolean"),
        (pd.Series([True, None, False], dtype=object), "boolean"),
        (pd.Series([1, 2.5], dtype=object), "numeric"),
        (pd.Series([1, "a"], dtype=object), "categorical"),
        (pd.Series([dt.date(2024, 1, 1), None], dtype=object), "date"),
        (pd.Series([None, None], dtype=object), "numeric"),
        (pd.arrays.SparseArray([0.0, 1.0]), "numeric"),
        (pd.arrays.SparseArray([False, True]), "boolean"),
    ],
)
def test_kind(column, kind):
    assert learned(column).kind == kind


def test_an_integer_column_with_gaps_that_pandas_made_float_stays_float():
    feature = learned([1, 2, None])
    assert (feature.kind, feature.low, feature.high, feature.missing) == ("numeric", 1.0, 2.0, pytest.approx(1 / 3))


@pytest.mark.parametrize("kind", every_table())
def test_missing_share_range_and_distinct_agree_with_the_codes(kind):
    data = Data.of(every_table()[kind])
    for j, feature in enumerate(data.schema.features):
        codes = data.codes(j)
        present = codes[~np.isnan(codes)]
        assert feature.missing == np.isnan(codes).mean()
        assert feature.distinct == len(set(present.tolist()))
        if present.size:
            assert (feature.low, feature.high) == (present.min(), present.max())
        else:
            assert np.isnan([feature.low, feature.high]).all()


def test_categories_are_the_observed_ones_in_the_order_of_the_dtype():
    unordered = pd.Categorical(["b", "a", None], categories=["z", "b", "a"])
    assert learned(unordered).categories == ("b", "a")
    assert learned(["b", "a", None]).categories == ("a", "b")
    assert learned(pd.Series([2, "b", 1], dtype=object)).categories == (1, 2, "b")
    enum = pl.DataFrame({"x": pl.Series(["hi", "lo"], dtype=pl.Enum(["lo", "mid", "hi"]))})
    assert Data.of(enum).schema.features[0].categories == ("lo", "hi")
    ordered = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1]), ["lo", "hi", "never"], ordered=True)
    assert Data.of(pa.table({"x": ordered})).schema.features[0].categories == ("lo", "hi")


def test_names_differing_by_a_trailing_space_or_an_accent_are_different_features():
    data = Data.of(pd.DataFrame([[1, 2, 3, 4]], columns=["a", "a ", "é", "e"]))
    assert [data.schema.index(name) for name in ("a", "a ", "é", "e")] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("column", "categories"), [([3, 1, 3], (1, 3)), ([True, False, True], (False, True)), ([1.5, NAN, 0.5], (0.5, 1.5))]
)
def test_forced_categories_read_like_the_column(column, categories):
    data = Data.of(pd.DataFrame({"x": column}), categorical=["x"])
    feature = data.schema.features[0]
    assert feature.kind == "categorical"
    assert repr(feature.categories) == repr(categories)
    assert data.frame.table.dtypes.equals(data.frame.from_columns([data.pool(0, data.codes(0))]).table.dtypes)


def test_forced_categories_restore_an_integer_column_exactly():
    table = pd.DataFrame({"x": np.array([3, 1, 3], dtype="int8")})
    data = Data.of(table, categorical="x")
    pd.testing.assert_frame_equal(data.frame.from_columns([data.pool(0, data.codes(0))]).native, table)


def test_forcing_an_ordered_feature_keeps_its_order():
    assert learned(pd.Categorical(["a", "b"], ["b", "a"], ordered=True), categorical=["x"]).kind == "ordered"


def test_forced_dates_become_categories():
    feature = learned(pd.to_datetime(["2024-01-02", "2024-01-01"]), categorical=["x"])
    assert feature.categories == (dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2))


def test_whole_days():
    assert learned(pd.to_datetime(["2024-01-01", None])).whole_days
    assert not learned(pd.to_datetime(["2024-01-01 00:00:01"])).whole_days


def test_a_constant_and_an_all_missing_column():
    constant, empty = learned([2.0, 2.0]), learned([NAN, NAN])
    assert (constant.low, constant.high, constant.distinct) == (2.0, 2.0, 1)
    assert (empty.missing, empty.distinct) == (1.0, 0)
    assert learned(pd.Series([None, None], dtype="string")).categories == ()


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pd.to_timedelta(["1D", "2D"]), "column 'x' has type timedelta64"),
        (pd.Series([[1], [2]]), "column 'x' has type list"),
        (pd.Series([{1}, {2}]), "column 'x' has type set"),
        (pd.Series([np.zeros(2), np.zeros(2)]), "column 'x' has type ndarray"),
        (pd.Series([dt.timedelta(1), None], dtype=object), "column 'x' has type timedelta"),
        (pd.Series([1 + 2j, 2j]), "column 'x' has type complex128"),
        (pd.period_range("2024", periods=2, freq="M"), "column 'x' has type period"),
        (pd.Series([type("Odd", (), {"__hash__": None})()] * 2), "column 'x' has type objects that cannot be compared"),
        ([1.0, np.inf], "feature 'x' is infinite in row 1"),
    ],
)
def test_columns_that_cannot_be_varied_are_named(column, message):
    with pytest.raises(InputError, match=message):
        learned(column)


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"ok": [1], "x": [dt.timedelta(1)]}),
        pl.DataFrame({"ok": [1], "x": [[1, 2]]}),
        pl.DataFrame({"ok": [1], "x": [dt.time(1)]}),
        pl.DataFrame({"ok": [1], "x": [{"a": 1}]}),
        pa.table({"ok": [1], "x": [[1, 2]]}),
        pa.table({"ok": [1], "x": pa.array([dt.timedelta(1)])}),
        pa.table({"ok": [1], "x": pa.array([b"1"])}),
        [{"ok": 1, "x": [1, 2]}, {"ok": 1, "x": [3, 4]}],
        np.array([(1, (1, 2))], dtype=[("ok", "i4"), ("x", "i4", (2,))]),
        np.array([(1, 1)], dtype=[("ok", "i4"), ("x", "m8[s]")]),
    ],
)
def test_columns_that_cannot_be_varied_are_named_whatever_the_library(table):
    with pytest.raises(InputError, match=r"column 'x' has type .*convert it"):
        Data.of(table)


# -- codes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", every_table())
def test_pools_of_all_codes_give_back_every_column(kind):
    """Through codes and back: no dtype loses anything on the way a method takes."""
    data = Data.of(every_table()[kind])
    columns = [data.pool(j, data.codes(j)) for j in range(len(data.schema.features))]
    again = Data.of(data.frame.from_columns(columns).native)
    assert [f.kind for f in again.schema.features] == [f.kind for f in data.schema.features]
    for j in range(len(columns)):
        np.testing.assert_array_equal(again.codes(j), data.codes(j))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.one_of(st.none(), st.text(max_size=3), st.integers(-3, 3)), min_size=1, max_size=20))
def test_encode_and_decode_are_inverse_for_categories(cells):
    data = Data.of([{"x": cell} for cell in [*cells, "a"]])
    feature = data.schema.features[0]
    assert feature.decode(data.codes(0)).tolist() == [*cells, "a"]
    np.testing.assert_array_equal(feature.encode(feature.decode(data.codes(0))), data.codes(0))


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.one_of(st.none(), st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1))), min_size=1, max_size=10
    )
)
def test_encode_and_decode_are_inverse_for_dates(cells):
    data = Data.of([{"x": cell} for cell in [*cells, dt.datetime(2024, 1, 1)]])
    feature = data.schema.features[0]
    assert feature.decode(data.codes(0)).tolist() == [*cells, dt.datetime(2024, 1, 1)]
    np.testing.assert_array_equal(feature.encode(feature.decode(data.codes(0))), data.codes(0))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(-(2**53), 2**53), min_size=1, max_size=10))
def test_encode_and_decode_are_inverse_for_integers(cells):
    data = Data.of(np.array(cells)[:, None])
    feature = data.schema.features[0]
    assert feature.decode(data.codes(0)).tolist() == cells
    assert feature.decode(data.codes(0)).dtype == np.int64


def test_decode_reads_like_the_column():
    assert learned([True, False]).decode(np.array([1.0, 0.0])).tolist() == [True, False]
    np.testing.assert_array_equal(learned([1, 2]).decode(np.array([1.0, NAN])), [1.0, NAN])
    assert learned(["b", "a"]).decode(np.array([1.0, NAN, 0.0])).tolist() == ["b", None, "a"]


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (["red", "blue"], "bleu", r"did you mean 'blue'\?"),
        (["red", "blue"], 5, "5 is not a category of feature 'x'"),
        (["red", "blue"], ["red"], r"\['red'\] is not a category of feature 'x'"),
        ([1.5, 2.5], "high", "feature 'x' is numeric and cannot take 'high'; give numbers"),
        ([1.5, 2.5], dt.datetime(2024, 1, 1), "feature 'x' is numeric and cannot take datetime"),
        (pd.to_datetime(["2024-01-01"]), 5, "feature 'x' is date and cannot take 5; give dates such as"),
        (pd.to_datetime(["2024-01-01"]), "May", "feature 'x' is date and cannot take 'May'; give dates such as"),
        ([1.5, 2.5], np.inf, "feature 'x' is infinite in row 0"),
    ],
)
def test_values_of_the_wrong_kind_are_refused(column, value, message):
    with pytest.raises(InputError, match=message):
        learned(column).encode(np.fromiter([value], dtype=object, count=1))
