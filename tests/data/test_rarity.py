"""Rarity is the share of reference rows that are at least as extreme: counted here one row at a time."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.data import Data
from pellucid.data.rarity import rarity


def slow_share(reference, weights, value, nominal):
    """The definition, one reference row at a time."""
    known = [(v, w) for v, w in zip(reference, weights, strict=True) if not pd.isna(v)]
    everything = sum(weights)
    if pd.isna(value):
        return (everything - sum(w for _, w in known)) / everything
    if nominal:
        return sum(w for v, w in known if v == value) / everything
    total = sum(w for _, w in known)
    if not total:
        return np.nan
    lower = sum(w for v, w in known if v <= value) / total
    upper = sum(w for v, w in known if v >= value) / total
    return min(1.0, 2 * min(lower, upper))


cells = st.sampled_from([None, -3.0, 0.0, 0.5, 0.5, 1.0, 7.0])
labels = st.sampled_from(["a", "b", "c", None])


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(cells, labels, st.sampled_from([0, 1, 1, 2, 5])), min_size=3, max_size=25))
def test_equals_the_count_row_by_row(rows):
    frame = pd.DataFrame({"x": [r[0] for r in rows], "k": [r[1] for r in rows]})
    frame = frame.astype({"x": float, "k": pd.CategoricalDtype(["a", "b", "c"])})
    weights = np.array([r[2] for r in rows], dtype=float)
    weights[0] = 1.0
    data = Data.of(frame, sample_weight=weights)
    found = rarity(data, data, {"x": (0,), "k": (1,)})
    expected = [
        [
            slow_share(frame["x"], weights, x, nominal=False),
            slow_share(frame["k"].astype(object), weights, k, nominal=True),
        ]
        for x, k in zip(frame["x"], frame["k"].astype(object), strict=True)
    ]
    np.testing.assert_allclose(found.share, np.array(expected, dtype=float), atol=1e-12)


def hundred():
    frame = pd.DataFrame(
        {
            "temp": np.arange(100.0),
            "day": pd.date_range("2024-01-01", periods=100),
            "flag": [True] + [False] * 99,
            "hum": [np.nan] * 5 + [1.0] * 95,
        }
    )
    return Data.of(frame)


def test_sides_say_higher_and_lower():
    data = hundred()
    found = rarity(data, data.take(np.array([0, 1, 97, 99, 50])), {"temp": (0,), "day": (1,)})
    np.testing.assert_allclose(found.share[:, 0], [0.02, 0.04, 0.06, 0.02, 1.0])
    np.testing.assert_array_equal(found.side[:4, 0], [-2, -1, 1, 2])
    np.testing.assert_array_equal(found.share[:, 0], found.share[:, 1])
    # 1 - share / 2 is the share of the rows on the other side.
    assert 1 - found.share[2, 0] / 2 == pytest.approx(0.97)


def test_the_middle_of_a_distribution_and_a_constant_are_on_no_side():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "c": [4.0, 4.0, 4.0]})
    data = Data.of(frame)
    found = rarity(data, data.take(np.array([1])), {"x": (0,), "c": (1,)})
    np.testing.assert_array_equal(found.share, [[1.0, 1.0]])
    np.testing.assert_array_equal(found.side, [[0.0, 0.0]])


def test_booleans_and_missing_values_are_as_rare_as_they_are_frequent():
    data = hundred()
    found = rarity(data, data.take(np.array([0, 7])), {"flag": (2,), "hum": (3,)})
    np.testing.assert_allclose(found.share, [[0.01, 0.05], [0.99, 1.0]])
    np.testing.assert_array_equal(found.side, np.zeros((2, 2)))


def test_a_group_is_as_rare_as_its_rarest_member():
    data = hundred()
    one = data.take(np.array([0]))
    alone = rarity(data, one, {"temp": (0,), "flag": (2,), "hum": (3,)}).share[0]
    found = rarity(data, one, {"weather": (0, 2, 3)})
    assert found.share[0, 0] == alone.min()
    assert found.side[0, 0] == 0


def test_a_value_beyond_all_others_has_no_row_as_extreme():
    data = hundred()
    row = data.rows({"temp": 500.0, "day": "2024-02-01", "flag": False, "hum": None})
    found = rarity(data, row, {"temp": (0,), "hum": (3,)})
    np.testing.assert_allclose(found.share, [[0.0, 0.05]])
    assert found.side[0, 0] == 2


def test_a_feature_that_is_never_known_says_nothing_about_a_known_value():
    data = Data.of(pd.DataFrame({"x": [np.nan, np.nan], "z": [1.0, 2.0]}))
    found = rarity(data, data.rows({"x": 3.0, "z": 1.0}), {"x": (0,), "both": (0, 1)})
    assert np.isnan(found.share[0, 0])
    assert found.share[0, 1] == 1.0


def test_many_reference_rows_are_thinned():
    data = Data.of(pd.DataFrame({"x": np.arange(1000.0)}))
    found = rarity(data, data.take(np.array([999])), {"x": (0,)}, most=100)
    np.testing.assert_allclose(found.share, [[0.02]])


@pytest.mark.parametrize("weighted", [False, True])
def test_a_row_alone_is_as_rare_as_among_others_to_the_bit(weighted):
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"x": rng.normal(size=200).round(1), "word": rng.choice(list("abc"), 200)})
    table.loc[::7, "x"] = np.nan
    weights = rng.random(200) if weighted else None
    data = Data.of(table, sample_weight=weights)
    players = {"x": (0,), "word": (1,), "both": (0, 1)}
    together = rarity(data, data, players)
    for i in range(0, 200, 9):
        alone = rarity(data, data.take(np.array([i])), players)
        assert alone.share.tobytes() == together.share[[i]].tobytes()
        assert alone.side.tobytes() == together.side[[i]].tobytes()
