"""Distances between rows: closed forms, the properties of a metric, and what they do not depend on."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.data import Data
from pellucid.data.distance import RowDistance, cosine, exponential, kernels, length
from pellucid.errors import InputError

NORMS = ("gower", "manhattan", "euclidean")


def codes(data):
    return np.stack([data.codes(j) for j in range(len(data.schema.features))], axis=1)


def matrix(table, norm, pieces=None, **options):
    """Distances between all rows of a table, in its own units."""
    data = Data.of(table, **options)
    cut = {} if pieces is None else {"at_once": pieces}
    return RowDistance.learn(data, norm).between(codes(data), codes(data), **cut)


@pytest.fixture(scope="module")
def table():
    return pd.DataFrame(
        {
            "age": [20.0, 30.0, 40.0, 60.0, np.nan],
            "sex": ["f", "m", "f", None, "m"],
            "day": pd.to_datetime(["2024-01-01", "2024-01-03", "2024-01-05", "2024-01-11", "2024-01-01"]),
        }
    )


def test_gower_by_hand(table):
    found = matrix(table, "gower")
    assert found[0, 1] == pytest.approx((10 / 40 + 1 + 2 / 10) / 3)
    assert found[0, 2] == pytest.approx((20 / 40 + 0 + 4 / 10) / 3)
    assert found[2, 3] == pytest.approx((20 / 40 + 1 + 6 / 10) / 3)  # a category against a missing one counts one
    assert found[0, 4] == pytest.approx((1 + 1 + 0) / 3)  # a missing number is a whole range away
    assert found[4, 4] == 0


def test_manhattan_in_plain_median_absolute_deviations():
    x = np.array([1.0, 2.0, 3.0, 4.0, 100.0])  # median 3, deviations 2 1 0 1 97: their median is 1, not 1.4826
    found = matrix(x[:, None], "manhattan")
    np.testing.assert_allclose(found, np.abs(x[:, None] - x))
    many = np.array([5.0, 5.0, 5.0, 5.0, 10.0])  # no median deviation: the mean one, 5 / 5
    np.testing.assert_allclose(matrix(many[:, None], "manhattan"), np.abs(many[:, None] - many) / 1.0)


def test_euclidean_in_standard_deviations():
    X = np.random.default_rng(0).normal(size=(30, 3)) * [1.0, 10.0, 100.0]
    z = X / X.std(axis=0)
    expected = np.sqrt(np.square(z[:, None] - z[None]).sum(axis=2))
    np.testing.assert_allclose(matrix(X, "euclidean"), expected, atol=1e-12)


def test_a_feature_that_does_not_vary_counts_like_a_category():
    data = Data.of(np.array([[1.0, 7.0], [3.0, 7.0]]))
    for norm, expected in (("gower", 0.5), ("manhattan", 1.0), ("euclidean", 1.0)):
        found = RowDistance.learn(data, norm).between(np.array([[1.0, 7.0]]), np.array([[1.0, 7.0], [1.0, 7.5]]))
        assert found.tolist() == [[0.0, expected]]


CELLS = st.sampled_from([0.0, 1.0, 2.5, 7.0, -3.0, np.nan])
ROWS = st.lists(st.tuples(CELLS, CELLS, st.sampled_from(["a", "b", "c", None])), min_size=3, max_size=8).filter(
    lambda rows: all(any(row[j] == row[j] and row[j] is not None for row in rows) for j in range(3))
)


def frame(rows, scale=(1.0, 1.0), shift=(0.0, 0.0)):
    x, y, kind = zip(*rows, strict=True)
    return pd.DataFrame(
        {
            "x": np.array(x) * scale[0] + shift[0],
            "y": np.array(y) * scale[1] + shift[1],
            "kind": np.array(kind, dtype=object),
        }
    )


@given(ROWS, st.sampled_from(NORMS))
@settings(max_examples=100)
def test_the_properties_of_a_metric(rows, norm):
    found = matrix(frame(rows), norm)
    np.testing.assert_array_equal(found, found.T)
    same = [[str(a) == str(b) for b in rows] for a in rows]  # missing is like missing
    np.testing.assert_array_equal(found == 0, same)
    through = (found[:, :, None] + found[None, :, :]).min(axis=1)
    assert (found <= through + 1e-12).all()


@given(
    ROWS,
    st.sampled_from(NORMS),
    st.tuples(st.floats(0.01, 1e4), st.floats(0.01, 1e4)),
    st.tuples(st.floats(-100, 100), st.floats(-100, 100)),
)
@settings(max_examples=100)
def test_units_names_and_order_do_not_matter(rows, norm, scale, shift):
    plain = matrix(frame(rows), norm)
    np.testing.assert_allclose(matrix(frame(rows, scale, shift), norm), plain, rtol=1e-6, atol=1e-9)
    named = frame(rows)
    named["kind"] = named["kind"].map({"a": "zebra", "b": "yak", "c": "ape"})
    np.testing.assert_allclose(matrix(named[["kind", "y", "x"]], norm), plain, atol=1e-12)
    assert norm != "gower" or plain.max() <= 1.0


@pytest.mark.parametrize("norm", NORMS)
def test_a_row_of_weight_two_is_two_rows(norm):
    X = np.random.default_rng(1).normal(size=(9, 3))
    twice = np.concatenate([X, X[:4]])
    weights = np.where(np.arange(9) < 4, 2.0, 1.0)
    found = matrix(X, norm, sample_weight=weights)
    np.testing.assert_allclose(found, matrix(twice, norm)[:9, :9], rtol=1e-12)


def test_many_rows_in_pieces():
    X = np.random.default_rng(2).normal(size=(40, 3))
    whole = matrix(X, "gower")
    np.testing.assert_array_equal(matrix(X, "gower", pieces=200), whole)


def test_lengths_and_cosines():
    apart = np.array([[3.0, -4.0], [0.0, 0.0]])
    assert length(apart, "euclidean").tolist() == [5.0, 0.0]
    assert length(apart, "manhattan").tolist() == [7.0, 0.0]
    assert length(apart, "gower").tolist() == [3.5, 0.0]
    x = np.array([[1.0, 0.0], [1.0, 1.0], [-2.0, 0.0], [0.0, 0.0]])
    np.testing.assert_allclose(cosine(x, np.array([3.0, 0.0])), [0, 1 - np.sqrt(0.5), 2, 0], atol=1e-15)
    np.testing.assert_allclose(cosine(x, 5 * x), 0, atol=1e-15)


def test_kernels():
    distance = np.array([0.0, 1.0, 2.0])
    np.testing.assert_allclose(exponential(distance, 2.0), np.exp([-0.0, -0.25, -1.0]))
    np.testing.assert_allclose(kernels(exponential, distance, np.array([1.0, 2.0]))[1], exponential(distance, 2.0))
    box = kernels(lambda d, w: np.where(d <= w, 1.0, -1.0), distance, np.array([1.0]))
    assert box.tolist() == [[1.0, 1.0, 0.0]]  # what is below zero counts nothing
    with pytest.raises(InputError, match="one finite weight"):
        kernels(lambda d, w: d[:2] / w, distance, np.array([1.0]))
