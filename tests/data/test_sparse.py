"""Sparse tables are learned, taken and varied without ever being made dense."""

import copy
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeRegressor

from pellucid.data import Data
from pellucid.data.frames.doorway import as_frame
from pellucid.errors import InputError


@pytest.fixture(scope="module")
def wide():
    """2,000 rows by 50,000 features: 800 MB if it were dense."""
    return sparse.random_array((2_000, 50_000), density=0.005, format="csr", rng=np.random.default_rng(0))


def peak_megabytes(work):
    tracemalloc.start()
    try:
        result = work()
        return result, tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


def test_learning_a_wide_matrix_takes_little_memory(wide):
    data, peak = peak_megabytes(lambda: Data.of(wide))
    assert peak < 100
    assert len(data.schema.features) == 50_000
    taken, peak = peak_megabytes(lambda: data.take(np.arange(0, 2_000, 2)))
    assert peak < 20
    np.testing.assert_array_equal(taken.codes(7), wide[::2, [7]].toarray().ravel())


def test_varying_a_wide_matrix_takes_little_memory(wide):
    frame = as_frame(wide)
    values = np.arange(2_000.0)
    replaced, peak = peak_megabytes(lambda: frame.replace({3: values}))
    assert peak < 100
    np.testing.assert_array_equal(replaced.values(3), values)
    assert replaced.native.nnz == wide.nnz - wide[:, [3]].nnz + 1_999


def test_rows_of_a_wide_matrix_stay_sparse(wide):
    data = Data.of(wide)
    rows, peak = peak_megabytes(lambda: data.rows(wide[:3].astype("float32").tocsc()))
    assert peak < 20
    assert rows.frame.native.dtype == np.float64
    assert rows.frame.native.format == "csr"
    np.testing.assert_array_equal(rows.frame.native.toarray(), wide[:3].astype("float32").toarray())


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "bool"])
@pytest.mark.parametrize("seed", range(3))
def test_the_schema_is_that_of_the_dense_matrix(dtype, seed):
    rng = np.random.default_rng(seed)
    dense = (rng.integers(-2, 3, size=(7, 30)) * (rng.random((7, 30)) < 0.5)).astype(dtype)
    if dtype.startswith("float"):
        dense[rng.random(dense.shape) < 0.1] = np.nan
        dense[:, 4] = np.nan
    dense[:, 5], dense[:, 6] = 0, 1
    learned = Data.of(sparse.csr_array(dense), categorical=[8])
    expected = Data.of(dense, categorical=[8])
    for j, (feature, wanted) in enumerate(zip(learned.schema.features, expected.schema.features, strict=True)):
        assert repr(feature) == repr(wanted)
        np.testing.assert_array_equal(learned.codes(j), expected.codes(j))


def test_replacing_a_column_with_gaps_leaves_nothing_of_it():
    """Missing values are stored entries: they must go with the column they stand in."""
    dense = np.array([[np.nan, 1.0], [2.0, np.nan]])
    replaced = as_frame(sparse.csr_array(dense)).replace({0: np.array([5.0, 0.0])}).native
    np.testing.assert_array_equal(replaced.toarray(), [[5.0, 1.0], [0.0, np.nan]])


def test_large_integers_are_not_rounded_beside_a_replaced_column():
    dense = np.array([[2**62 + 1, 1], [0, 2]])
    replaced = as_frame(sparse.csr_array(dense)).replace({1: np.array([7, 8])}).native
    assert replaced.toarray().tolist() == [[2**62 + 1, 7], [0, 8]]


def test_a_matrix_with_duplicate_unsorted_and_zero_entries_is_left_alone():
    messy = sparse.csr_array(
        (np.array([1.0, 2.0, 0.0, 4.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])), shape=(2, 3)
    )
    before = copy.deepcopy(messy)
    data = Data.of(messy)
    assert [feature.high for feature in data.schema.features] == [2.0, 4.0, 1.0]
    (
        data.take(np.array([0])),
        data.frame.select([1]),
        data.frame.scratch(2).fill({0: (data.frame.native_column(0), np.zeros(4, int))}, 4),
    )
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(messy, part), getattr(before, part))


def test_infinite_values_are_named():
    dense = np.zeros((3, 3))
    dense[2, 1] = np.inf
    with pytest.raises(InputError, match="feature 'x1' is infinite in row 2"):
        Data.of(sparse.csr_array(dense))


def test_batches_are_sized_by_the_stored_entries(wide):
    assert as_frame(wide).bytes_per_row() == 8 + 16 * -(-wide.nnz // 2_000)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
def test_batches_have_the_indices_of_the_table(make):
    """scikit-learn's trees take indices of 32 bits only."""
    dense = np.random.default_rng(0).integers(0, 3, size=(20, 4)).astype(float)
    table = make(dense)
    assert table.indices.dtype == np.int32
    tree = DecisionTreeRegressor(random_state=0).fit(table, dense[:, 0] + dense[:, 1])
    other = make(dense)
    other.indices, other.indptr = other.indices.astype(np.int64), other.indptr.astype(np.int64)
    data, place = Data.of(table), np.arange(20)
    frame = data.frame
    for native in (
        frame.replace({1: np.arange(20.0)}).native,
        frame.scratch(2).fill({1: (np.arange(20.0), np.tile(place, 2))}, 40),
        frame.take(place).native,
        frame.head(3).native,
        frame.select([3, 1, 0, 2]).native,
        frame.from_columns(list(dense.T)).native,
        data.rows(other).frame.native,
        data.rows(dense).frame.native,
    ):
        assert native.indices.dtype == native.indptr.dtype == np.int32
        tree.predict(native)
    assert other.indices.dtype == other.indptr.dtype == np.int64


def test_long_indices_stay_long():
    table = sparse.csr_array(np.eye(3))
    table.indices, table.indptr = table.indices.astype(np.int64), table.indptr.astype(np.int64)
    assert as_frame(table).replace({0: np.ones(3)}).native.indices.dtype == np.int64
