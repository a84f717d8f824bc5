"""Association by ranks against scipy and closed forms, and what chance must not give."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kruskal, rankdata, spearmanr

from pellucid.data import Data
from pellucid.data.association import corrected_v, mid_ranks, rank_association, slice_association
from strategies import QUICK


def ranked(table, **options):
    return rank_association(Data.of(table, **options))


@given(st.integers(0, 10_000))
@QUICK
def test_numbers_have_spearmans_correlation(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 3))
    X[:, 2] = X[:, 2].round()
    np.testing.assert_allclose(ranked(X), spearmanr(X).statistic, atol=1e-9)


def test_a_monotone_relation_is_complete_and_keeps_its_sign():
    x = np.random.default_rng(0).normal(size=50)
    found = ranked(np.column_stack([x, np.exp(x), -(x**3)]))
    np.testing.assert_allclose(found, [[1, 1, -1], [1, 1, -1], [-1, -1, 1]])


def test_a_category_has_the_statistic_of_kruskal_and_wallis_less_chance():
    rng = np.random.default_rng(1)
    word = rng.choice(list("abc"), 120)
    x = rng.normal(size=120) + (word == "a")
    share = kruskal(*(x[word == level] for level in "abc")).statistic / 119
    chance = 2 / 119
    expected = np.sqrt((share - chance) / (1 - chance))
    assert ranked(pd.DataFrame({"x": x, "word": word}))[0, 1] == pytest.approx(expected)


def test_two_categories_have_bergsmas_v():
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 3, 200), rng.integers(0, 2, 200)
    b[:80] = a[:80] % 2
    table = np.array([[np.sum((a == i) & (b == j)) for j in range(2)] for i in range(3)])
    expected = table.sum(1, keepdims=True) * table.sum(0) / 200
    phi2 = ((table - expected) ** 2 / expected).sum() / 200
    rows, columns = 3 - 4 / 199, 2 - 1 / 199
    value = np.sqrt(max(0, phi2 - 2 / 199) / min(rows - 1, columns - 1))
    assert corrected_v(a, b, np.ones(200), 200.0) == pytest.approx(value)
    assert corrected_v(a, a, np.ones(200), 200.0) == pytest.approx(1)


def test_a_column_of_names_goes_together_with_nothing():
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "name": [f"n{i}" for i in range(100)],
            "x": rng.normal(size=100),
            "kind": rng.choice(list("ab"), 100),
            "many": rng.choice([f"m{i}" for i in range(40)], 100),
        }
    )
    found = ranked(table)
    np.testing.assert_array_equal(found[0, 1:], 0)
    assert found[3, 1:3].max() < 0.35


def test_whole_weights_are_repeated_rows():
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"x": rng.normal(size=60).round(1), "y": rng.normal(size=60), "w": rng.choice(list("ab"), 60), "v": rng.choice(list("abc"), 60)})  # fmt: skip
    table["y"] += table["x"]
    weights = rng.integers(0, 4, 60)
    repeated = table.loc[table.index.repeat(weights)].reset_index(drop=True)
    np.testing.assert_allclose(ranked(table, sample_weight=weights), ranked(repeated), atol=1e-12)


def test_constants_and_missing_values():
    x = np.random.default_rng(5).normal(size=40)
    gaps = np.where(np.arange(40) % 3 == 0, np.nan, x)
    found = ranked(np.column_stack([x, gaps, np.ones(40), np.full(40, np.nan)]))
    assert found[0, 1] > 0.98
    np.testing.assert_array_equal(found[2:, :2], 0)
    np.testing.assert_array_equal(np.diag(found), 1)


def test_mid_ranks_share_ties():
    x = np.array([3.0, 1.0, 3.0, np.nan, 2.0])
    np.testing.assert_allclose(mid_ranks(x, np.ones(5))[[0, 1, 2, 4]] * 4 + 0.5, rankdata([3, 1, 3, 2]))
    assert np.isnan(mid_ranks(x, np.ones(5))[3])


def test_slices_see_a_parabola_that_ranks_do_not():
    x = np.random.default_rng(6).normal(size=1000)
    ranks = [mid_ranks(column, np.ones(1000)) for column in (x, x**2, np.random.default_rng(7).normal(size=1000))]
    assert slice_association(ranks[1], ranks[0], np.ones(1000)) > 0.9
    assert slice_association(ranks[2], ranks[0], np.ones(1000)) < 0.15
    assert abs(ranked(np.column_stack([x, x**2]))[0, 1]) < 0.1
