"""What every kind of table must do, for every dtype it has: put back exactly what was taken out."""

import copy

import numpy as np
import pytest

from data.every_dtype import every_table, fingerprint, own_exchange, own_select, own_take
from pellucid.data.doorway import as_frame

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
        assert_same(
            frame.replace({j: frame.gather(frame.native_column(j), ORDER)}), own_exchange(table, j, ORDER)
        )


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
