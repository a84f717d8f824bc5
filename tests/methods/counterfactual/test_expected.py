"""What is expected of rows that the model was not asked about: the process against its textbook formulas, and the use."""

from __future__ import annotations

import numpy as np
import pytest

from methods.counterfactual.asking import problem
from pellucid import Explainer
from pellucid.methods.counterfactual.search.expected import Expected
from pellucid.methods.counterfactual.search.local import _Local, nearest
from pellucid.methods.counterfactual.search.process import NUGGET, Axis, Kernel, Process, choose

KERNEL = Kernel(far=0.3, rough=0.2, joint=0.5)


def scene(seed: int = 0, n: int = 12) -> tuple[list[Axis], np.ndarray, np.ndarray]:
    """Two numbers (one with a missing value) and a feature of three levels; rows by their places, two outputs."""
    rng = np.random.default_rng(seed)
    axes = [Axis(np.sort(rng.random(9)), False), Axis(np.array([0.1, 0.4, 0.9, np.nan]), False)]
    axes.append(Axis(np.arange(3.0), True))
    rows = np.column_stack([rng.integers(0, len(axis.values), n) for axis in axes])
    rows = np.unique(rows, axis=0)
    return axes, rows, rng.normal(size=(len(rows), 2))


def slow_kernel(axes: list[Axis], a: np.ndarray, b: np.ndarray) -> float:
    """k of two rows, feature by feature, as it is defined."""
    found = 1.0
    for axis, i, j in zip(axes, a, b, strict=True):
        u, v = axis.values[i], axis.values[j]
        if u == v or (np.isnan(u) and np.isnan(v)):
            like = 1.0
        elif axis.nominal or np.isnan(u) or np.isnan(v):
            like = 0.0
        else:
            like = 0.8 * np.exp(-abs(u - v) / 0.3) + 0.2 * np.exp(-abs(u - v) / 0.02)
        found *= (1 + 0.5 * like) / 1.5
    return found


def test_mean_and_covariance_are_those_of_universal_kriging():
    axes, rows, outputs = scene()
    others = np.array([[0, 3, 1], [4, 1, 2], [8, 0, 0]])
    K = np.array([[slow_kernel(axes, a, b) for b in rows] for a in rows]) + NUGGET * np.eye(len(rows))
    k = np.array([[slow_kernel(axes, a, b) for b in rows] for a in others])
    one = np.ones(len(rows))
    center = one @ np.linalg.solve(K, outputs) / (one @ np.linalg.solve(K, one))
    process = Process.fit(axes, rows, outputs, KERNEL)
    mean, covariance = process.together(others)
    np.testing.assert_allclose(mean, center + k @ np.linalg.solve(K, outputs - center), atol=1e-9)
    own = np.array([[slow_kernel(axes, a, b) for b in others] for a in others])
    np.testing.assert_allclose(covariance, own - k @ np.linalg.solve(K, k.T), atol=1e-9)
    alone, variance = process.alone(others)
    np.testing.assert_allclose(alone, mean, atol=1e-12)
    np.testing.assert_allclose(variance, np.diag(covariance), atol=1e-12)


def test_the_variance_covers_what_rows_that_are_left_out_are_missed_by():
    axes, rows, outputs = scene()
    process = Process.fit(axes, rows, outputs, KERNEL)
    K = np.array([[slow_kernel(axes, a, b) for b in rows] for a in rows]) + NUGGET * np.eye(len(rows))
    missed = []
    for i in range(len(rows)):
        rest = np.arange(len(rows)) != i
        weights = np.linalg.solve(K[np.ix_(rest, rest)], K[rest, i])
        error = (outputs[i] - process.center) - weights @ (outputs[rest] - process.center)
        missed.append(error**2 / (K[i, i] - weights @ K[rest, i]))
    assert (process.variance >= np.mean(missed, axis=0) - 1e-9).all()
    residual = outputs - process.center
    usual = np.diag(residual.T @ np.linalg.solve(K, residual)) / len(rows)
    np.testing.assert_allclose(process.variance, np.maximum(usual, np.mean(missed, axis=0)), rtol=1e-6)


def test_a_row_with_one_feature_replaced_is_that_row():
    axes, rows, outputs = scene()
    process = Process.fit(axes, rows, outputs, KERNEL)
    places = np.arange(9)
    replaced = np.repeat(rows[:1], 9, axis=0)
    replaced[:, 0] = places
    found = process.replaced(rows[0], (0,), places[:, None])
    np.testing.assert_allclose(found, process.alone(replaced)[0], atol=1e-12)
    pairs = np.array([[0, 2], [5, 1]])  # two columns that change together
    both = np.array([[0, rows[0, 1], 2], [5, rows[0, 1], 1]])
    np.testing.assert_allclose(process.replaced(rows[0], (0, 2), pairs), process.alone(both)[0], atol=1e-12)


def test_the_kernel_tells_a_smooth_curve_from_a_rough_one():
    axes = [Axis(np.linspace(0, 1, 60), False)]
    rows = np.arange(60)[:, None]
    smooth = choose(axes, rows, np.sin(2 * axes[0].values))
    rough = choose(axes, rows, np.random.default_rng(0).normal(size=60))
    assert smooth.rough < rough.rough


@pytest.fixture
def expected() -> Expected:
    X = np.random.default_rng(0).integers(0, 20, size=(100, 3)).astype(float)
    ex = Explainer(lambda X: X[:, 0] + 0.5 * X[:, 1], X, progress=False)
    search = _Local(problem(np.zeros(3), (8.0, 9.0), ex), np.array([[0.0, 17, 5]]))
    search.singles()
    return Expected(search)


def test_a_row_that_missed_moves_the_others_as_a_normal_outside_an_interval_does(expected):
    """Against sums over a fine grid of the density, for a mean below the interval, in it and above it."""
    covariance = np.array([[0.4, 0.3], [0.3, 0.5]])
    scale = np.sqrt(0.4 * expected.process.variance[0])
    for own in (7.0, 8.4, 9.5):
        mean = np.array([[own], [5.0]])
        moved, left = expected._missed(0, mean, covariance)
        at = np.linspace(own - 10 * scale, own + 10 * scale, 400_001)
        density = np.exp(-0.5 * ((at - own) / scale) ** 2) * ~((at >= 8.0) & (at <= 9.0))
        density /= density.sum()
        average = density @ at
        variance = density @ (at - average) ** 2 / expected.process.variance[0]
        np.testing.assert_allclose(moved[:, 0], mean[:, 0] + covariance[0] / 0.4 * (average - own), rtol=1e-4)
        kept = min(variance / 0.4, 1.0)
        np.testing.assert_allclose(
            left, covariance - np.outer(covariance[0], covariance[0]) / 0.4 * (1 - kept), rtol=1e-4
        )


def test_only_rows_that_are_nearer_than_the_best_answer_are_asked_and_as_many_as_said(expected):
    asked = expected.problem.asked
    before, reach = set(asked.known), expected.search.reach
    assert expected.ask(3) <= 3
    new = np.array([np.frombuffer(key) for key in asked.known if key not in before])
    assert len(new)
    assert (expected.problem.cost.total(new) < reach).all()


def test_a_search_spares_rows_of_its_budget_once_it_has_an_answer():
    X = np.random.default_rng(0).normal(size=(300, 6)).round(1)
    ex = Explainer(lambda X: np.sin(3 * X).sum(axis=1) + X[:, 0] * X[:, 1], X, progress=False)
    asked = problem(0, ">= 3.5", ex)
    asked.asked.budget = 500
    assert len(nearest(asked, spared=100))
    assert 60 <= asked.left <= 110  # walking back may take some of them
