"""Which rows are typical, extreme and unusual, where that is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.report.rows import extremes, typical, unusual
from pellucid.stats import weighted_median

SIZES = st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 4)), min_size=1, max_size=30)


def test_the_typical_row_of_one_feature_is_the_median() -> None:
    values = np.array([[5.0], [-40.0], [1.0], [2.0], [90.0]])
    assert typical(values, values[:, 0], np.ones(5)) == 3


def test_the_typical_row_has_a_central_prediction_and_then_central_contributions() -> None:
    """Rows 0 to 2 of 20 cannot win: their contributions are central, their predictions are not."""
    values = np.array(
        [[0.0, 0.0]] * 3
        + [[30.0, -29.0], [1.0, 0.0]]
        + [[-k, 0.0] for k in range(1, 9)]
        + [[k, 0.0] for k in range(2, 9)]
    )
    prediction = np.array([99.0] * 3 + [1.0, 1.0] + [-float(k) for k in range(1, 9)] + [float(k) for k in range(2, 9)])
    assert typical(values, prediction, np.ones(20)) == 4


def test_rows_count_by_their_weights() -> None:
    values = np.arange(5.0)[:, None]
    assert typical(values, values[:, 0], np.array([1, 1, 1, 1, 9])) == 4
    assert typical(values, values[:, 0], np.ones(5)) == 2


@given(SIZES)
def test_weights_are_copies(rows: list[tuple[int, int]]) -> None:
    values, weights = (np.array(part, dtype=float) for part in zip(*rows, strict=True))
    copies = np.repeat(values, weights.astype(int))
    assert weighted_median(values, weights) == np.median(copies)


def test_the_unusual_row_is_the_one_without_neighbours() -> None:
    """Seven far rows are not unusual, because they have each other; one at half their distance is."""
    near, far = np.zeros((20, 2)), np.full((7, 2), 100.0)
    values = np.vstack([near, far, [[50.0, 50.0]]])
    assert unusual(values, other_than=0) == 27
    assert unusual(values, other_than=27) is None


def test_two_rows_alone_together_are_unusual_too() -> None:
    values = np.vstack([np.zeros((20, 1)), [[100.0], [100.0], [50.0]]])
    assert unusual(values, other_than=0) == 20


def test_rows_that_are_all_alike_have_no_unusual_one() -> None:
    assert unusual(np.ones((9, 3)), other_than=0) is None
    assert unusual(np.array([[0.0], [7.0]]), other_than=0) is None


def test_several_outputs_count_together() -> None:
    values = np.zeros((12, 2, 3))
    values[4, 1, 2] = 1.0
    assert unusual(values, other_than=0) == 4


@pytest.mark.parametrize("score", [[3.0, 1.0, 9.0, 1.0], [0.1, -0.2, 0.5, 0.0]])
def test_extremes(score: list[float]) -> None:
    assert extremes(np.array(score)) == (2, 1)


def test_there_are_no_extremes_of_a_constant() -> None:
    assert extremes(np.full(5, 0.3)) is None
    assert extremes(np.zeros(3)) is None
    assert extremes(np.array([1.0, 1.0 + 1e-12])) is None
