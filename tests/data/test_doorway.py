"""Which tables are taken, which are refused and how, and what becomes of a table for a model of another library."""

import datetime as dt
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from data.every_dtype import arrow_table, every_table, pandas_table, polars_table, record_list, structured_array
from pellucid.data import Data
from pellucid.data.frames.doorway import as_frame, convert
from pellucid.errors import InputError
from versions import needs


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (5, "X is an int; give a pandas, polars or pyarrow table"),
        ("file.csv", "X is a str"),
        (pd.Series([1, 2]), "X is a pandas Series; give a DataFrame"),
        (pl.Series([1, 2]), "X is a polars Series; give a DataFrame"),
        (pl.LazyFrame({"a": [1]}), r"X is a polars LazyFrame; call .collect\(\) first"),
        (pa.array([1]), "X is a pyarrow Int64Array; give a Table"),
        (np.zeros(3), r"X must have two dimensions \(rows and features\), not 1; use X.reshape\(-1, 1\)"),
        (np.zeros((2, 2, 2)), "X must have two dimensions .* not 3"),
        (np.ma.masked_array([[1.0]], [[True]]), r"masked array; fill .* X.filled\(np.nan\)"),
        (np.zeros((2, 2), dtype=[("a", "f8")]), "structured array with 2 dimensions"),
        (sparse.coo_array(np.ones(3)), "X must have two dimensions"),
        ([[1, 2], [3]], "the rows of X differ in length"),
        ([{"a": 1}, [2]], "row 1 of X is a list; give one dict per row"),
        (np.zeros((0, 2)), "X has no rows"),
        (np.zeros((2, 0)), "X has no columns"),
        (pd.DataFrame(), "X has no columns"),
        ([{}], "X has no columns"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "columns 0 and 1 are both called 'a'; rename one"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "columns 0 and 1 are both called '1'"),
        (pa.table([[1], [2]], names=["a", "a"]), "columns 0 and 1 are both called 'a'"),
    ],
)
def test_what_is_not_a_table_is_refused_with_the_remedy(table, message):
    with pytest.raises(InputError, match=message):
        as_frame(table)


def test_names_of_a_matrix():
    assert as_frame(np.zeros((1, 2))).names == ("x0", "x1")
    assert as_frame(np.zeros((1, 2)), ["a", "b"]).names == ("a", "b")
    assert as_frame(sparse.csr_array(np.zeros((1, 2))), ["a", "b"]).names == ("a", "b")
    with pytest.raises(InputError, match=r"feature_names has 1 .*2 columns"):
        as_frame(np.zeros((1, 2)), ["a"])


def test_numbers_beside_words_in_a_list_of_lists_stay_numbers():
    data = Data.of([[1, "a"], [2, "b"]])
    assert [feature.kind for feature in data.schema.features] == ["integer", "categorical"]


def test_a_record_batch_is_read_as_a_table():
    batch = pa.RecordBatch.from_pydict({"a": [1, 2]})
    assert as_frame(batch).native.equals(pa.table({"a": [1, 2]}))


def test_nothing_is_imported_that_the_caller_has_not_imported():
    code = (
        "import sys, numpy as np; from pellucid.data import Data; Data.of(np.eye(3)); Data.of([{'a': 1, 'b': 'x'}]);"
        "print(sorted({'pandas', 'polars', 'pyarrow', 'scipy', 'sklearn'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


# -- other containers ------------------------------------------------------------------------------


@pytest.mark.parametrize("table", [polars_table().drop("Int128"), arrow_table(), record_list(), structured_array()])
def test_as_pandas_every_feature_keeps_its_kind_and_values(table):
    """Except that numpy's integers and booleans cannot be missing: with gaps they may become floats."""
    data, converted = Data.of(table), Data.of(table, container="pandas")
    assert isinstance(converted.frame.native, pd.DataFrame)
    assert converted.schema.names == data.schema.names
    for j, (before, after) in enumerate(zip(data.schema.features, converted.schema.features, strict=True)):
        gaps = before.kind in ("integer", "boolean") and before.missing > 0
        assert after.kind == before.kind or (gaps and after.kind == "numeric"), before
        values, expected = after.decode(converted.codes(j)), before.decode(data.codes(j))
        np.testing.assert_array_equal(values, expected, err_msg=before.name)


@needs("pandas", "3.0")
def test_as_pandas_a_matrix_keeps_its_dtype_and_objects_find_theirs():
    assert set(convert(as_frame(np.zeros((2, 2), dtype="f4")), "pandas").native.dtypes) == {np.dtype("f4")}
    objects = np.array([[1, "a", True, dt.datetime(2024, 1, 1)], [2, "b", False, None]], dtype=object)
    found = convert(as_frame(objects), "pandas").native
    assert [str(dtype) for dtype in found.dtypes] == ["int64", "str", "bool", "datetime64[us]"]


def test_as_pandas_a_sparse_matrix_stays_sparse():
    found = convert(as_frame(sparse.csr_array(np.eye(3))), "pandas").native
    assert all(isinstance(dtype, pd.SparseDtype) for dtype in found.dtypes)
    assert found.to_numpy().tolist() == np.eye(3).tolist()


@pytest.mark.parametrize(
    ("table", "dtype"),
    [
        (pd.DataFrame({"a": np.zeros(2, "f4"), "b": np.zeros(2, "f4")}), "float32"),
        (pd.DataFrame({"a": [1, 2], "b": [True, False]}), "int64"),
        (pd.DataFrame({"a": [True, False]}), "int64"),
        (pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [True, False]}), "float64"),
        (pd.DataFrame({"a": pd.array([1, 2], dtype="Int64")}), "int64"),
        (pd.DataFrame({"a": [1.5, 2.5], "b": ["x", None]}), "object"),
        (pl.DataFrame({"a": [1, None], "b": [True, False]}), "float64"),
        (pa.table({"a": [1, 2], "b": [True, False]}), "int64"),
        ([{"a": 1.5}, {"b": 2}], "float64"),
        (sparse.csc_array(np.eye(2, dtype="f4")), "float32"),
    ],
)
def test_as_a_matrix_numbers_stay_numbers(table, dtype):
    data = Data.of(table)
    found = convert(data.frame, "numpy")
    assert found.native.dtype == dtype
    for j in range(len(found.names)):
        expected = data.frame.values(j)
        np.testing.assert_array_equal(found.values(j), expected)


def test_the_same_container_is_no_conversion():
    frame = as_frame(pandas_table())
    assert convert(frame, "pandas") is frame
    with pytest.raises(InputError, match="pandas table into polars"):
        convert(frame, "polars")


@pytest.mark.parametrize("kind", every_table())
def test_the_caller_is_remembered(kind):
    names = {"pandas": "pandas", "polars": "polars", "arrow": "arrow", "numpy": "numpy", "structured": "records"}
    caller = names.get(kind.split()[0], "records" if kind in ("records", "recarray") else "sparse")
    assert Data.of(every_table()[kind]).caller == caller
