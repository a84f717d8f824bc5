"""Contour lines against surfaces whose contours are known."""

from __future__ import annotations

import numpy as np
import pytest

from pellucid.charts.contour import contour_lines, nice_levels

X = np.linspace(-1, 1, 21)
Y = np.linspace(-2, 2, 31)


def test_contour_of_a_plane_is_one_exact_straight_line():
    (line,) = contour_lines(X, Y, X[:, None] + 2 * Y[None, :], 0.3)
    assert all(x + 2 * y == pytest.approx(0.3) for x, y in line)
    assert {round(line[0][0], 9), round(line[-1][0], 9)} == {-1.0, 1.0}


def test_contour_of_a_product_is_a_hyperbola_of_two_branches():
    lines = contour_lines(X, Y, X[:, None] * Y[None, :], 0.5)
    assert len(lines) == 2
    assert sorted(np.sign(line[0][0]) for line in lines) == [-1, 1]
    assert all(abs(x * y - 0.5) < 0.02 for line in lines for x, y in line)


def test_contour_of_a_bowl_is_one_closed_circle():
    (line,) = contour_lines(X, X, X[:, None] ** 2 + X[None, :] ** 2, 0.49)
    assert line[0] == line[-1]
    assert all(np.hypot(x, y) == pytest.approx(0.7, abs=0.01) for x, y in line)


def test_saddle_cell_is_cut_on_the_side_of_its_centre():
    corners = np.array([[1.0, 0.0], [0.0, 1.0]])
    unit = np.array([0.0, 1.0])
    high = contour_lines(unit, unit, corners, 0.6)
    low = contour_lines(unit, unit, corners, 0.4)
    assert len(high) == len(low) == 2
    # Above the mean of the corners the two high corners are islands, below it they are joined.
    assert any(max(x + y for x, y in line) == pytest.approx(0.4) for line in high)
    assert all(min(abs(x - y) for x, y in line) == pytest.approx(0.6) for line in low)


def test_unknown_corners_interrupt_a_line():
    z = X[:, None] + 0 * Y[None, :]
    z[:, 15] = np.nan
    lines = contour_lines(X, Y, z, 0.05)
    assert len(lines) == 2
    assert all(x == pytest.approx(0.05) for line in lines for x, _ in line)


def test_constant_surface_has_no_contours():
    assert contour_lines(X, Y, np.ones((21, 31)), 1.0) == []
    assert nice_levels(1.0, 1.0) == []
    assert nice_levels(np.nan, 1.0) == []


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.7, 12.9), (1e-8, 5e-8), (1e9, 3e9)])
def test_levels_are_few_round_and_inside(low, high):
    levels = nice_levels(low, high)
    assert 3 <= len(levels) <= 8
    assert all(low < level < high for level in levels)
    assert np.ptp(np.diff(levels)) == pytest.approx(0, abs=1e-9 * (high - low))
