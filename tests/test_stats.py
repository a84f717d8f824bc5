"""Statistics that many methods share, against their definitions."""

import ast
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

import pellucid
from pellucid import stats


def test_the_level_of_intervals_is_written_once():
    assert pytest.approx(NormalDist().inv_cdf(0.975), rel=1e-15) == stats.Z95
    root = Path(pellucid.__file__).parent
    spelled = [
        f"{path.relative_to(root)}:{node.lineno}"
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, float) and round(abs(node.value), 2) == 1.96
    ]
    assert [place.split(":")[0] for place in spelled] == ["stats.py"]


def test_intervals_have_ends_and_limits():
    values, se = np.array([0.5, 0.1, np.nan]), np.array([0.1, 1.0, 1.0])
    low, high = stats.interval(values, se, least=0.0, most=1.0)
    np.testing.assert_allclose(low, [0.5 - 0.1 * stats.Z95, 0.0, np.nan])
    np.testing.assert_allclose(high, [0.5 + 0.1 * stats.Z95, 1.0, np.nan])


def test_log_odds_and_back():
    p = np.array([0.001, 0.3, 0.5, 0.999])
    np.testing.assert_allclose(stats.logit(p), np.log(p / (1 - p)))
    np.testing.assert_allclose(stats.expit(stats.logit(p)), p)
    np.testing.assert_allclose(stats.logit(np.array([0.0, 1.0]), 1e-6), np.log(1e-6 / (1 - 1e-6)) * np.array([1, -1]))


def test_effective_sizes_count_rows_that_count():
    lines = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 0.0, 0.0, 0.0], [1e-200, 1e-200, 0.0, 0.0], [3.0, 1.0, 0.0, 0.0]])
    np.testing.assert_allclose(stats.effective_sizes(lines), [4.0, 1.0, 2.0, 1.6])
    assert [stats.effective_size(line) for line in lines[[0, 1, 3]]] == [4.0, 1.0, 1.6]
    assert stats.effective_size(np.zeros(3)) == 0.0


def test_weights_of_two_are_duplicated_rows():
    values, weights = np.array([3.0, 1.0, 2.0, 8.0]), np.array([1.0, 2.0, 1.0, 2.0])
    copies = np.repeat(values, weights.astype(int))
    ones, levels = np.ones(len(copies)), np.linspace(0, 1, 7)
    assert stats.weighted_mean(values, weights) == pytest.approx(copies.mean())
    assert stats.weighted_median(values, weights) == np.median(copies)
    np.testing.assert_array_equal(
        stats.weighted_quantiles(values, levels, weights), stats.weighted_quantiles(copies, levels, ones)
    )
    assert stats.standard_error(copies, ones) == pytest.approx(copies.std(ddof=1) / np.sqrt(len(copies)))


@pytest.mark.parametrize("freedom", [1.0, 4.0, 49.0, np.inf])
def test_a_tail_widens_an_interval_on_its_own_side_and_only_so_far(freedom):
    tilt = np.linspace(-3, 3, 61)
    low, high = stats.tilted_interval(np.zeros(61), np.ones(61), tilt, np.full(61, freedom))
    assert (np.diff(high) >= -1e-12).all()
    assert (high >= -low[30] - 1e-12).all()  # Student's, where there is no tilt
    np.testing.assert_allclose(low, -high[::-1])
    end = high[30]
    most = 3 * (np.sqrt(end**2 + 0.99 * 2 / 3) - end)
    assert high[-1] == pytest.approx(3 * (1 - np.cbrt(0.01)) / most)
    assert high[-1] < 2.6 * end


def test_a_jackknife_interval_is_students_of_logarithms():
    without = np.array([[1.0, 0.0, 0.0], [2.0, 3.0, 0.0], [4.0, 0.0, 0.0]])
    se, low, high = stats.jackknife_interval(np.array([2.0, 1.0, 0.0]), without)
    spread = np.sqrt(2 / 3 * np.square(np.log([1.0, 2.0, 4.0]) - np.log(2.0)).sum())
    np.testing.assert_allclose(
        [low[0], high[0]], [2 * np.exp(-4.302653 * spread), 2 * np.exp(4.302653 * spread)], rtol=1e-6
    )
    assert se[1] == pytest.approx(np.sqrt(2 / 3 * (1 + 4 + 1)))  # it vanishes without some part: away from itself
    np.testing.assert_allclose([low[1], high[1]], [0.0, 1 + 4.302653 * se[1]], rtol=1e-6)
    assert (se[2], low[2], high[2]) == (0.0, 0.0, 0.0)
