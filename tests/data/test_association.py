"""Association against textbook formulas, and what weights, constants and missing values do to it."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr, rankdata
from scipy.stats.contingency import association as scipy_association

from pellucid.data import Data
from pellucid.data.association import (
    _beyond_chance,
    association_matrix,
    association_rows,
    correlation_ratio,
    cramers_v,
    group_numbers,
    only_lines,
)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    a = rng.normal(size=200)
    return pd.DataFrame(
        {
            "a": a,
            "b": a + rng.normal(size=200) + 1e6,
            "i": rng.integers(0, 9, 200),
            "word": np.where(a + rng.normal(size=200) > 0, "up", rng.choice(["down", "flat"], 200)),
            "flag": a > 0.5,
            "other": rng.choice(list("xyz"), 200),
        }
    )


def slow_ratio(numbers, labels):
    """The correlation ratio by its definition."""
    mean = np.mean(numbers)
    groups = [numbers[labels == label] for label in set(labels)]
    between = sum(len(group) * (np.mean(group) - mean) ** 2 for group in groups)
    return np.sqrt(between / np.sum((numbers - mean) ** 2))


def less_chance(share, groups, n):
    return np.sqrt(max((share - (groups - 1) / (n - 1)) / (1 - (groups - 1) / (n - 1)), 0.0))


def slow_v(x, y):
    """Cramer's V less what chance gives (Bergsma 2013)."""
    table = pd.crosstab(x, y).to_numpy()
    n, r, c = len(x), *table.shape
    phi2 = scipy_association(table, method="cramer") ** 2 * (min(r, c) - 1) - (r - 1) * (c - 1) / (n - 1)
    return np.sqrt(max(phi2, 0.0) / min(r - (r - 1) ** 2 / (n - 1) - 1, c - (c - 1) ** 2 / (n - 1) - 1))


def slow_numbers(x, y):
    """Pearson, Spearman, and ratios of ranks and their distances from the middle over ten slices of the other."""
    ranks = [(rankdata(z) - 0.5) / len(z) for z in (x, y)]
    found = [abs(np.corrcoef(x, y)[0, 1]), abs(np.corrcoef(*ranks)[0, 1])]
    for own, other in (ranks, ranks[::-1]):
        slices = np.minimum((other * 10).astype(int), 9)
        found += [less_chance(slow_ratio(z, slices) ** 2, 10, len(x)) for z in (own, abs(own - 0.5))]
    return max(found)


def slow_matrix(table):
    names = list(table.columns)
    matrix = np.eye(len(names))
    for j, p in enumerate(names):
        for k, q in enumerate(names[:j]):
            nominal = [name in ("word", "flag", "other") for name in (p, q)]
            x, y = table[p].to_numpy(), table[q].to_numpy()
            if all(nominal):
                value = slow_v(x, y)
            elif any(nominal):
                labels, number = (x, y) if nominal[0] else (y, x)
                value = max(
                    less_chance(slow_ratio(z, labels) ** 2, len(set(labels)), len(x))
                    for z in (number, rankdata(number))
                )
            else:
                value = slow_numbers(x, y)
            matrix[j, k] = matrix[k, j] = value
    return matrix


def test_against_the_definition(table):
    np.testing.assert_allclose(association_matrix(Data.of(table)), slow_matrix(table), rtol=1e-6, atol=1e-9)


def test_integer_weights_are_duplicated_rows(table):
    weights = np.random.default_rng(1).integers(0, 4, len(table))
    repeated = table.loc[table.index.repeat(weights)]
    np.testing.assert_allclose(
        association_matrix(Data.of(table, sample_weight=weights)), association_matrix(Data.of(repeated)), rtol=1e-6
    )


def test_weights_of_two_are_rows_that_are_there_twice(table):
    twice = Data.of(table, sample_weight=np.full(len(table), 2.0))
    np.testing.assert_allclose(
        association_matrix(twice), association_matrix(Data.of(pd.concat([table, table]))), rtol=1e-9
    )


def test_pairs_with_gaps_use_the_rows_where_both_numbers_are_present(table):
    gappy = table[["a", "b", "i"]].astype(float)
    rng = np.random.default_rng(2)
    gappy = gappy.mask(rng.random(gappy.shape) < 0.3)
    found, pearson = association_matrix(Data.of(gappy))[0, 1], gappy.corr().abs().iloc[0, 1]
    assert pearson - 1e-9 <= found < pearson + 0.1  # ranks and slices may see more


def test_missing_categories_are_a_category_and_missing_numbers_are_left_out(table):
    gappy = table[["a", "word", "other"]].copy()
    gappy.loc[:50, "word"] = None
    gappy.loc[40:80, "a"] = np.nan
    filled = gappy.fillna({"word": "none"})
    matrix = association_matrix(Data.of(gappy))
    present = filled.dropna()
    assert matrix[0, 1] == pytest.approx(slow_ratio(present["a"].to_numpy(), present["word"].to_numpy()), abs=0.05)
    assert matrix[1, 2] == pytest.approx(slow_v(filled["word"], filled["other"]))


@pytest.mark.parametrize("constant", [0.1, 1e9 / 3, -7, "same", True])
def test_a_constant_goes_with_nothing(table, constant):
    """Also two constants: the rounding error of a mean is not a correlation."""
    data = Data.of(table.assign(constant=constant, third=0.1, again=constant))
    matrix = association_matrix(data)
    off_diagonal = matrix[:, -3:][~np.eye(len(matrix), dtype=bool)[:, -3:]]
    assert off_diagonal.tolist() == [0.0] * len(off_diagonal)


@pytest.mark.parametrize("seed", range(10))
def test_a_column_that_is_constant_where_the_other_is_present_goes_with_nothing(seed):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=100) * 1e3
    a[:50] = rng.normal()
    b = np.where(np.arange(100) < 50, rng.normal(size=100), np.nan)
    assert association_matrix(Data.of(np.stack([a, b], axis=1)))[0, 1] == 0.0


def test_all_missing_and_single_rows_give_zero():
    table = pd.DataFrame({"a": [1.0, 2.0], "gone": [np.nan, np.nan], "word": ["x", "y"]})
    matrix = association_matrix(Data.of(table))
    assert matrix[1].tolist() == [0, 1, 0]
    assert association_matrix(Data.of(table.iloc[:1])).tolist() == np.eye(3).tolist()


def test_rows_without_weight_do_not_count():
    table = pd.DataFrame({"a": [1.0, 1.0, 9.0], "b": [1.0, 2.0, 3.0], "v": ["p", "q", "r"], "w": ["x", "y", "z"]})
    weights = [1, 1, 0]
    expected = association_matrix(Data.of(table.iloc[:2]))
    assert association_matrix(Data.of(table, sample_weight=weights)).tolist() == expected.tolist()


def test_a_large_table_is_judged_by_evenly_spaced_rows(table):
    few = table.iloc[Data.of(table).spread(50)]
    np.testing.assert_allclose(association_matrix(Data.of(table), rows=50), association_matrix(Data.of(few)))


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(-5, 5)), min_size=2, max_size=30))
def test_measures_lie_between_zero_and_one_and_are_symmetric(rows):
    labels, others, x = np.array(rows, dtype=float).T
    a, b, ones = group_numbers(labels), group_numbers(others), np.ones(len(x))
    assert 0 <= cramers_v(a, b, ones) <= 1
    assert cramers_v(a, b, ones) == pytest.approx(cramers_v(b, a, ones))
    assert 0 <= correlation_ratio(x, a, ones) <= 1
    if len(set(labels)) > 1:
        assert cramers_v(a, a, ones) == pytest.approx(1)
        assert correlation_ratio(labels, a, ones) == pytest.approx(1)


@pytest.mark.parametrize("n", [3, 20, 500])
def test_a_correlation_counts_from_where_students_t_says(n):
    rng = np.random.default_rng(n)
    rows = rng.normal(size=(2, n))
    r = abs(pearsonr(*rows).statistic)
    likely = pearsonr(*rows).pvalue
    assert _beyond_chance(n, likely) == pytest.approx(r)
    assert _beyond_chance(2, 0.05) == np.inf
    assert _beyond_chance(n, 1.0) == 0.0


@pytest.mark.parametrize("gaps", [False, True])
def test_lines_of_a_wide_table_are_those_of_its_matrix(gaps):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 205))
    X[:, 3] = X[:, 2] + 0.3 * X[:, 3]
    X[:, 4] = X[0, 4]
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(205)])
    table.insert(1, "k", np.where(np.nan_to_num(X[:, 7]) > 0, "a", "b"))
    data = Data.of(table, sample_weight=rng.integers(0, 3, 90))
    of = [3, 5, 8, 205]  # x2, x4, x7 and the last
    for chance in (None, 0.05):
        found = association_rows(data, of, chance=chance)
        np.testing.assert_allclose(found, association_matrix(data, chance=chance)[of], rtol=0, atol=1e-12)
        assert found[0, 4] > 0.9
        assert found[2, 1] > 0.7
    assert only_lines(data, of)
    assert not only_lines(data, [0, 1])  # a category has no line of its own
    assert not only_lines(Data.of(table.iloc[:, :50]), [0])
