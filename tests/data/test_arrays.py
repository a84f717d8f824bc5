"""The weighted moments that every method shares."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.arrays import frozen, group_sums
from pellucid.stats import effective_size, standard_error, weighted_mean


def test_effective_size():
    assert effective_size(np.full(7, 3.0)) == pytest.approx(7)
    assert effective_size(np.array([1.0, 0.0])) == 1
    assert effective_size(np.zeros(3)) == 0
    assert effective_size(np.array([3.0, 1.0])) == pytest.approx(16 / 10)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.floats(-100, 100), st.integers(0, 4)), min_size=1, max_size=20).filter(
        lambda rows: any(w for _, w in rows)
    )
)
def test_the_weighted_mean_is_the_mean_of_duplicated_rows(rows):
    values, weights = np.array(rows).T
    repeated = np.repeat(values, weights.astype(int))
    assert weighted_mean(values, weights) == pytest.approx(repeated.mean(), abs=1e-9)


def test_the_weighted_mean_along_the_first_axis():
    values, weights = np.random.default_rng(0).normal(size=(3, 4, 5)), np.arange(1.0, 4.0)
    np.testing.assert_allclose(weighted_mean(values, weights), np.average(values, axis=0, weights=weights))


def test_the_standard_error_with_equal_weights_is_the_textbook_one():
    values = np.random.default_rng(0).normal(size=(9, 2))
    expected = values.std(axis=0, ddof=1) / 3
    np.testing.assert_allclose(standard_error(values, np.full(9, 2.5)), expected)


def test_the_standard_error_of_one_row_is_unknown():
    assert np.isnan(standard_error(np.array([[1.0], [2.0]]), np.array([1.0, 0.0]))).all()


def test_group_sums_is_the_loop():
    rng = np.random.default_rng(0)
    groups, values = rng.integers(0, 4, 20), rng.normal(size=(20, 2, 3))
    expected = [values[groups == group].sum(axis=0) for group in range(6)]
    np.testing.assert_allclose(group_sums(groups, 6, values), expected, atol=1e-12)


def test_frozen_arrays_refuse_writing():
    array = np.zeros(2)
    with pytest.raises(ValueError, match="read-only"):
        frozen(array)[0] = 1
    array[0] = 1
    assert array[0] == 1
