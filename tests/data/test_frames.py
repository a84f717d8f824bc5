"""What every kind of table must do, for every dtype it has: put back exactly what was taken out."""

import copy

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from data.every_dtype import every_table
from data.own_operations import fingerprint, own_exchange, own_select, own_take
from pellucid.data.frames.doorway import as_frame
from pellucid.errors import InputError

TABLES = every_table()
COLUMNS = [
    pytest.param(kind, j, id=f"{kind}-{name}")
    for kind, table in TABLES.items()
    for j, name in enumerate(as_frame(table).names)
]
ORDER = np.array([4, 0, 0, 2, 5, 1])


@pytest.fixture(params=TABLES)
def table(request):
    """A table of each kind, which must come out of the test as it went in."""
    original = TABLES[request.param]
    given = copy.deepcopy(original)
    yield given
    assert fingerprint(given) == fingerprint(original)


def assert_same(frame, expected):
    assert fingerprint(frame.native) == fingerprint(expected)


@pytest.mark.parametrize(("kind", "j"), COLUMNS)
def test_values_and_column_are_inverse(kind, j):
    frame = as_frame(copy.deepcopy(TABLES[kind]))
    restored = frame.column(j, frame.values(j))
    assert_same(frame.replace({j: restored}), TABLES[kind])


@pytest.mark.parametrize(("kind", "j"), COLUMNS)
def test_values_are_plain(kind, j):
    frame = as_frame(TABLES[kind])
    values = frame.values(j)
    plain = {"date": "datetime64[us]", "categorical": "object", "ordered": "object"}
    assert values.dtype == plain.get(frame.column_type(j).kind, "float64")
    assert values.shape == (len(frame),)


@pytest.mark.parametrize(("kind", "j"), COLUMNS)
def test_a_column_of_fewer_values_has_the_same_type(kind, j):
    """Pools of grid values are shorter than the table; gathered back they are whole columns again."""
    frame = as_frame(TABLES[kind])
    pool = frame.column(j, frame.values(j)[[3, 0]])
    assert_same(
        frame.replace({j: frame.gather(pool, np.array([0, 1, 1, 0, 0, 0]))}),
        own_exchange(TABLES[kind], j, [3, 0, 0, 3, 3, 3]),
    )


def test_native_is_the_table_itself(table):
    assert_same(as_frame(table), table)


def test_take(table):
    assert_same(as_frame(table).take(ORDER), own_take(table, ORDER))


def test_head(table):
    assert_same(as_frame(table).head(3), own_take(table, np.arange(3)))


def test_select(table):
    assert_same(as_frame(table).select([2, 0]), own_select(table, [2, 0]))


def test_replace_and_gather(table):
    frame = as_frame(table)
    for j in range(len(frame.names)):
        assert_same(frame.replace({j: frame.gather(frame.native_column(j), ORDER)}), own_exchange(table, j, ORDER))


def test_replace_nothing_is_a_copy_to_write_in(table):
    assert_same(as_frame(table).replace({}), table)


def test_from_columns(table):
    frame = as_frame(table)
    columns = [frame.gather(frame.native_column(j), ORDER) for j in range(len(frame.names))]
    assert_same(frame.from_columns(columns), own_take(table, ORDER))


def test_scratch_fills_one_column_after_another(table):
    """Whatever was filled before, only the columns of this fill differ from the stacked table."""
    frame = as_frame(table)
    repeats, n = 3, len(frame)
    stacked = own_take(table, np.tile(np.arange(n), repeats))
    scratch = frame.scratch(repeats)
    shuffled = np.random.default_rng(0).integers(0, n, size=repeats * n)
    for j in range(len(frame.names)):
        filled = scratch.fill({j: (frame.native_column(j), shuffled)}, repeats * n)
        assert fingerprint(filled) == fingerprint(own_exchange(stacked, j, shuffled))
    assert fingerprint(scratch.fill({}, repeats * n)) == fingerprint(stacked)


def test_scratch_fills_the_first_rows_only(table):
    frame = as_frame(table)
    n, part = len(frame), 2 * len(frame)
    scratch = frame.scratch(3)
    first = np.zeros(part, dtype=np.intp)
    pool = frame.native_column(1)
    scratch.fill({0: (frame.native_column(0), np.zeros(3 * n, dtype=np.intp))}, 3 * n)
    filled = scratch.fill({1: (pool, first)}, part)
    stacked = own_take(table, np.tile(np.arange(n), 2))
    assert fingerprint(filled) == fingerprint(own_exchange(stacked, 1, first))
    again = scratch.fill({1: (pool, np.zeros(3 * n, dtype=np.intp))}, 3 * n)
    stacked = own_take(table, np.tile(np.arange(n), 3))
    assert fingerprint(again) == fingerprint(own_exchange(stacked, 1, np.zeros(3 * n, dtype=np.intp)))


def test_scratch_fills_two_columns_at_once(table):
    frame = as_frame(table)
    reverse = np.arange(len(frame))[::-1]
    filled = frame.scratch(1).fill({j: (frame.native_column(j), reverse) for j in (0, 2)}, len(frame))
    assert fingerprint(filled) == fingerprint(own_exchange(own_exchange(table, 0, reverse), 2, reverse))


@pytest.mark.parametrize("repeats", [1, 2])
def test_writing_into_a_numpy_scratch_leaves_the_table_alone(repeats):
    X = np.arange(6.0).reshape(3, 2)
    as_frame(X).scratch(repeats).fill({}, 3)[:] = -1
    assert X.tolist() == [[0, 1], [2, 3], [4, 5]]


# -- at the edges of what plain values can hold -----------------------------------------------------------

EXTREMES = {"int64": [2**63 - 1, -(2**63), 2**53 + 1], "uint64": [2**64 - 1, 0, 2**53 + 1]}


@pytest.mark.parametrize("dtype", EXTREMES)
@pytest.mark.parametrize("make", ["numpy", "pandas", "nullable", "polars", "arrow"])
def test_integers_beyond_the_exact_ones_are_close_and_do_not_overflow(make, dtype):
    cells = EXTREMES[dtype]
    column = {
        "numpy": lambda: np.array(cells, dtype=dtype)[:, None],
        "pandas": lambda: pd.DataFrame({"x": pd.Series(cells, dtype=dtype)}),
        "nullable": lambda: pd.DataFrame({"x": pd.Series(cells, dtype=dtype.replace("i", "I").replace("u", "U"))}),
        "polars": lambda: pl.DataFrame({"x": pl.Series(cells, dtype=pl.UInt64 if dtype[0] == "u" else pl.Int64)}),
        "arrow": lambda: pa.table({"x": pa.array(cells, type=getattr(pa, dtype)())}),
    }[make]()
    frame = as_frame(column)
    found = frame.replace({0: frame.column(0, frame.values(0))})
    assert fingerprint(found.head(0).native) == fingerprint(frame.head(0).native)
    assert [abs(int(new) - old) <= 2048 for new, old in zip(found.values(0).tolist(), cells, strict=True)] == [True] * 3


@pytest.mark.parametrize("make", ["numpy", "pandas", "zoned", "polars", "arrow"])
def test_nanoseconds_are_cut_to_microseconds_and_far_dates_are_refused(make):
    stamps = np.array(["2024-01-01T00:00:00.123456789", "NaT"], dtype="M8[ns]")
    table = {
        "numpy": lambda: stamps[:, None],
        "pandas": lambda: pd.DataFrame({"x": stamps}),
        "zoned": lambda: pd.DataFrame({"x": pd.Series(stamps).dt.tz_localize("UTC")}),
        "polars": lambda: pl.DataFrame({"x": pl.Series(stamps)}),
        "arrow": lambda: pa.table({"x": pa.array(stamps)}),
    }[make]()
    frame = as_frame(table)
    cut = stamps.astype("M8[us]")
    np.testing.assert_array_equal(frame.values(0), cut)
    np.testing.assert_array_equal(frame.replace({0: frame.column(0, cut)}).values(0), cut)
    far = np.array(["3000-01-01"], dtype="M8[us]")
    with pytest.raises(InputError, match=r"'3000-01-01.*1678 to 2261"):
        frame.column(0, far)


@pytest.mark.parametrize(
    ("table", "values", "message"),
    [
        (np.array([["a"]]), [None], "column 'x0' holds <U1 and cannot take None; leave the missing value out"),
        (
            np.array([[1]], dtype="i1"),
            [200.0],
            r"column 'x0' holds int8 and cannot take 200.0; give whole numbers from -128 to 127",
        ),
        (np.array([[True]]), [2.0], "column 'x0' holds bool and cannot take 2.0; give whole numbers from 0 to 1"),
        (np.array([[1]]), [np.nan], "column 'x0' holds int64 and cannot take nan; leave the missing value out"),
        (np.array([[1]]), [np.inf], "column 'x0' holds int64 and cannot take inf"),
        ([{"x0": 1}], [1.5], "column 'x0' holds int and cannot take 1.5"),
        ([{"x0": True}], [2.0], "column 'x0' holds bool and cannot take 2.0"),
        (
            pd.DataFrame({"x0": pd.array([1], dtype="UInt8")}),
            [-1.0],
            "cannot take -1.0; give whole numbers from 0 to 255",
        ),
        (pd.DataFrame({"x0": pd.Categorical(["a"])}), ["b"], "'b' is not a category of feature 'x0'"),
        (pl.DataFrame({"x0": pl.Series([1], dtype=pl.Int8)}), [200.0], "column 'x0' holds int8 and cannot take 200.0"),
        (
            pl.DataFrame({"x0": pl.Series(["a"], dtype=pl.Enum(["a"]))}),
            ["b"],
            "column 'x0' holds Enum.* and cannot take 'b'",
        ),
        (
            pl.DataFrame({"x0": pl.Series(["a"], dtype=pl.Categorical)}),
            [5],
            "column 'x0' holds Categorical.* and cannot take 5",
        ),
        (pa.table({"x0": pa.array([1], type=pa.uint8())}), [-1.0], "column 'x0' holds uint8 and cannot take -1.0"),
        (pa.table({"x0": pa.array(["a"])}), [5], "column 'x0' holds string and cannot take 5"),
        (pa.table({"x0": pa.array(["a"]).dictionary_encode()}), ["b"], "'b' is not a category of feature 'x0'"),
    ],
)
def test_values_that_a_column_cannot_hold_are_refused(table, values, message):
    frame = as_frame(table)
    dtype = object if not isinstance(values[0], float) else float
    with pytest.raises(InputError, match=message):
        frame.column(0, np.array(values, dtype=dtype))
