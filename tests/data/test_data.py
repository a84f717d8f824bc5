"""Data: rows to explain, weights and outcomes, whatever the caller holds them in."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from data.every_dtype import every_table
from data.own_operations import fingerprint, own_take
from pellucid.data import Data
from pellucid.errors import InputError

MIXED = pd.DataFrame(
    {
        "age": [1.5, np.nan, 3.5],
        "rooms": np.array([1, 2, 3], dtype="int32"),
        "city": pd.Categorical(["b", "a", None], categories=["q", "b", "a"]),
        "word": ["x", None, "y"],
        "day": pd.to_datetime(["2024-01-01", "2024-01-02", None]).tz_localize("Europe/Berlin"),
        "ok": pd.array([True, None, False], dtype="boolean"),
    }
)


def assert_row(rows, positions, reference=MIXED):
    """The rows are those of the reference table at the given positions, with its dtypes."""
    assert fingerprint(rows.frame.native) == fingerprint(own_take(reference, positions))
    expected = Data.of(reference).take(np.array(positions))
    for j in range(reference.shape[1]):
        np.testing.assert_array_equal(rows.codes(j), expected.codes(j))


@pytest.mark.parametrize("position", [1, np.int64(1), np.array(1), np.array(1, dtype="uint8")])
def test_a_position(position):
    assert_row(Data.of(MIXED).rows(position), [1])


@pytest.mark.parametrize(
    "positions",
    [
        [2, 0],
        (2, 0),
        [np.int64(2), np.int64(0)],
        range(2, -1, -2),
        pd.Index([2, 0]),
        pd.RangeIndex(2, -1, -2),
        pd.Index([2, 0], dtype="Int64"),
    ],
)
def test_positions(positions):
    assert_row(Data.of(MIXED).rows(positions), [2, 0])


def test_positions_keep_their_outcome_and_weight_and_foreign_rows_have_none():
    data = Data.of(MIXED, [5, 6, 7], sample_weight=[1, 2, 3])
    assert data.rows([2, 0]).y.tolist() == [7, 5]
    assert data.rows([2, 0]).weights.tolist() == [3, 1]
    assert data.rows(MIXED).y is None
    assert data.rows(MIXED).weights.tolist() == [1, 1, 1]


@pytest.mark.parametrize("row", range(3))
@pytest.mark.parametrize(
    "form",
    [
        lambda row: MIXED.iloc[row],
        lambda row: MIXED.iloc[row].to_dict(),
        lambda row: MIXED.iloc[[row]],
        lambda row: MIXED.iloc[[row], ::-1],
        lambda row: MIXED.iloc[[row]].assign(target=1),
        lambda row: [MIXED.iloc[row].to_dict()],
        lambda row: [MIXED.iloc[row]],
        lambda row: (MIXED.iloc[row, ::-1],),
        lambda row: MIXED.iloc[row].to_numpy(dtype=object),
        lambda row: MIXED.iloc[[row]].to_numpy(dtype=object),
        lambda row: [list(MIXED.iloc[row])],
        lambda row: pl.from_pandas(MIXED.iloc[[row]]),
        lambda row: pl.from_pandas(MIXED.iloc[[row], ::-1]),
        lambda row: pa.Table.from_pandas(MIXED.iloc[[row]]),
        lambda row: pa.RecordBatch.from_pandas(MIXED.iloc[[row]]),
    ],
    ids=[
        "Series",
        "dict",
        "one-row frame",
        "other order",
        "more columns",
        "list of dicts",
        "list of Series",
        "tuple of Series in another order",
        "1-D array",
        "2-D array",
        "list of lists",
        "polars",
        "polars in another order",
        "arrow",
        "arrow batch",
    ],
)
def test_a_row_in_any_form(form, row):
    assert_row(Data.of(MIXED).rows(form(row)), [row])


def test_series_in_a_list_are_read_by_their_labels_each():
    """By position, swapped columns of one type would be mistaken for one another."""
    X = pd.DataFrame({"a": [1.0, 2.0], "b": [10.0, 20.0]})
    rows = Data.of(X).rows([X.iloc[1, ::-1], X.iloc[0], {"b": 5.0, "a": 0.5}])
    assert rows.frame.native.to_numpy().tolist() == [[2.0, 20.0], [1.0, 10.0], [0.5, 5.0]]
    assert Data.of([X.iloc[0], X.iloc[1, ::-1]]).frame.native == X.to_dict("records")


def test_a_row_of_plain_python_values():
    row = {"age": 3, "rooms": 3.0, "city": None, "word": "y", "day": dt.datetime(2024, 1, 2, tzinfo=dt.UTC), "ok": 0}
    rows = Data.of(MIXED).rows(row).frame.native
    assert rows.dtypes.equals(MIXED.dtypes)
    assert rows.loc[0, "day"] == pd.Timestamp("2024-01-02", tz="UTC")
    assert rows.loc[0, "ok"] is np.False_


@pytest.mark.parametrize("kind", every_table())
def test_rows_of_the_reference_table_itself_are_that_table(kind):
    table = every_table()[kind]
    data = Data.of(table)
    rows = data.rows(table if not isinstance(table, list) else [dict(row) for row in table])
    assert fingerprint(rows.frame.native) == fingerprint(own_take(table, np.arange(6)))


@pytest.mark.parametrize("kind", every_table())
def test_take_gives_the_codes_of_those_rows(kind):
    data = Data.of(every_table()[kind])
    rows = np.array([4, 0, 0, 3])
    taken = data.take(rows)
    assert len(taken) == 4
    for j in range(len(data.schema.features)):
        np.testing.assert_array_equal(taken.codes(j), data.codes(j)[rows])


def test_integer_labels_reach_the_model_unchanged():
    table = pd.DataFrame([[1, 2.0], [3, 4.0]], columns=[10, 20])
    data = Data.of(table)
    assert data.schema.names == ("10", "20")
    assert data.rows({10: 3, 20: 4.0}).frame.native.columns.tolist() == [10, 20]
    assert data.rows(pd.Series({20: 4.0, 10: 3})).codes(0).tolist() == [3.0]


def test_an_integer_array_is_a_row_and_never_positions():
    X = np.array([[0, 1], [1, 0], [5, 6]])
    assert Data.of(X).rows(X[0]).frame.native.tolist() == [[0, 1]]


@pytest.mark.parametrize("dtype", ["float64", "float32", ">f8"])
def test_floats_for_a_table_of_floats_are_taken_as_they_are(dtype):
    X = np.asfortranarray([[1.5, np.nan], [-0.0, 3.0], [2.0, 0.1]]).astype(dtype)
    data, own = Data.of(X), X.copy()
    taken, read = data.rows(own), data.rows(pd.DataFrame(own, columns=["x0", "x1"], dtype=float))
    own[:] = 7.0  # the rows are a copy
    for rows in (taken, read):
        assert fingerprint(rows.frame.native) == fingerprint(np.ascontiguousarray(X))
        assert rows.frame.native.flags.c_contiguous
        assert rows.weights.tolist() == [1.0, 1.0, 1.0]
        for j in range(2):
            np.testing.assert_array_equal(rows.codes(j), X[:, j])
            assert rows.codes(j).flags.c_contiguous
            assert rows.codes(j).dtype == np.float64
    with pytest.raises(InputError, match="feature 'x1' is infinite in row 1"):
        data.rows(np.array([[1.0, 2.0], [3.0, np.inf]], dtype=dtype))
    with pytest.raises(InputError, match=r"4\.0 .* feature 'x0'"):
        Data.of(X, categorical=[0]).rows(np.array([[4.0, 0.0]], dtype=dtype))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (3, "row 3 is out of range: X has 3 rows, 0 to 2"),
        (-1, "row -1 is out of range"),
        ([0, 7], "row 7 is out of range"),
        ([], "the list of rows to explain is empty"),
        (range(0), "the list of rows to explain is empty"),
        (pd.Index([]), "the list of rows to explain is empty"),
        (pd.Index([0, 7]), "row 7 is out of range"),
        (pd.Index(["a", "b"]), "there is no row 'a'; the rows of X are numbered: give positions"),
        (pd.Index([True, False]), "there is no row 'True'"),
        (pd.Index([0.0, 1.0]), "there is no row '0.0'"),
        (pd.DatetimeIndex(["2024-01-01"]), "there is no row '2024-01-01'"),
        (pd.array([0, 1]), "X is a pandas IntegerArray; give a DataFrame"),
        (pd.Timestamp("2024-01-01"), "there is no row '2024-01-01'; the rows of X are numbered"),
        (np.array(7), "row 7 is out of range"),
        (np.array(1.0), "are a single float64 value; give a row position, or one value per feature"),
        (np.array(True), "are a single bool value"),
        ([list(MIXED.iloc[0]), MIXED.iloc[1]], "row 0 of X is a list; give one dict per row"),
        ([pd.Series([1, 2])], "the rows to explain lack the feature 'age'"),
        ({"age": 1}, "the rows to explain lack the feature 'rooms'"),
        (MIXED[["age", "rooms"]], "the rows to explain lack the feature 'city'"),
        (np.zeros(5), r"the rows to explain have 5 values but X has 6 features.*row positions as a list"),
        (np.arange(3), "the rows to explain have 3 values but X has 6 features"),
        (sparse.csr_array(np.zeros((1, 3))), "the rows to explain have 3 values but X has 6 features"),
        (MIXED.iloc[[0]].assign(city="z"), "'z' is not a category of feature 'city'"),
        (MIXED.iloc[[0]].assign(rooms=1.5), r"column 'rooms' holds int32 and cannot take 1.5; give whole numbers"),
        (
            MIXED.iloc[[0]].assign(rooms=np.nan),
            "column 'rooms' holds int32 and cannot take nan; leave the missing value out",
        ),
        (MIXED.iloc[[0]].assign(rooms=2.0**40), "column 'rooms' holds int32 and cannot take"),
        (MIXED.iloc[[0]].assign(age="old"), "feature 'age' is numeric and cannot take 'old'"),
        (MIXED.iloc[[0]].assign(ok=2), "cannot take 2.0; give whole numbers from 0 to 1"),
        (MIXED.iloc[:0], "the table of rows to explain is empty; give at least one row"),
        (np.zeros((0, 6)), "the table of rows to explain is empty"),
        ({}, "the table of rows to explain is empty"),
        (True, "X is a bool"),
        ("age", "there is no row 'age'"),
        ([[1, 2], [3]], "the rows of X differ in length"),
    ],
)
def test_rows_that_cannot_be_read(rows, message):
    with pytest.raises(InputError, match=message):
        Data.of(MIXED).rows(rows)


def test_spread_is_even_and_covers_both_ends():
    data = Data.of(np.arange(100.0)[:, None])
    assert data.spread(100).tolist() == list(range(100))
    assert data.spread(3).tolist() == [0, 49, 99]


# -- weights and outcomes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        list,
        np.array,
        pd.Series,
        pl.Series,
        pa.array,
        lambda w: pa.chunked_array([w[:1], w[1:]]),
        lambda w: pd.Series(w, dtype="Int64"),
        lambda w: pd.DataFrame({"w": w}),
        lambda w: np.array(w)[:, None],
    ],
)
def test_weights_and_outcomes_from_any_library(make):
    data = Data.of(MIXED, make([5, 6, 7]), sample_weight=make([1, 0, 2]))
    assert data.weights.tolist() == [1, 0, 2]
    assert data.weighted
    assert data.y.tolist() == [5, 6, 7]
    assert data.y.dtype.kind == "i"


def test_equal_weights_are_not_weighted():
    assert not Data.of(MIXED, sample_weight=[2, 2, 2]).weighted
    assert not Data.of(MIXED).weighted


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], r"sample_weight has shape \(2,\) but X has 3 rows"),
        ([1, -1, 1], "sample_weight is -1.0 in row 1"),
        ([1, 1, np.nan], "sample_weight is nan in row 2"),
        ([np.inf, 1, 1], "sample_weight is inf in row 0"),
        ([0, 0, 0], "sample_weight is zero everywhere"),
        (["a", "b", "c"], "sample_weight must be numbers"),
        (pd.Series([1, None, 2], dtype="Int64"), "sample_weight is nan in row 1"),
    ],
)
def test_weights_that_make_no_sense(weights, message):
    with pytest.raises(InputError, match=message):
        Data.of(MIXED, sample_weight=weights)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 2], "y has 2 values but X has 3 rows"),
        (5, "y has 1 values but X has 3 rows"),
        ([1.0, np.nan, 2.0], "y is missing in row 1"),
        (["a", "b", None], "y is missing in row 2"),
        (pd.Series([1, 2, None], dtype="Int64"), "y is missing in row 2"),
        (np.array([[1, 2], [3, np.nan], [5, 6]]), "y is missing in row 1"),
        (pd.to_datetime(["2024-01-01", None, "2024-01-01"]), "y is missing in row 1"),
    ],
)
def test_outcomes_that_make_no_sense(y, message):
    with pytest.raises(InputError, match=message):
        Data.of(MIXED, y)


@pytest.mark.parametrize(
    "y", [["a", "b", "a"], pd.Categorical(["a", "b", "a"]), pl.Series(["a", "b", "a"]), pa.array(["a", "b", "a"])]
)
def test_labels_as_outcomes(y):
    assert Data.of(MIXED, y).y.tolist() == ["a", "b", "a"]
