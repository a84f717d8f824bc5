"""Associations that no correlation sees, and none where there is none."""

import numpy as np
import pytest

from pellucid.data import Data
from pellucid.data.association import association_matrix


def strengths(*columns, chance=0.05):
    return association_matrix(Data.of(np.column_stack(columns)), chance=chance)


X = np.random.default_rng(0).normal(size=200)
ANGLE = np.random.default_rng(1).uniform(0, 2 * np.pi, 200)


@pytest.mark.parametrize(
    ("first", "second"),
    [(X, X**2), (X, np.abs(X)), (X, np.sin(3 * X)), (X, np.exp(3 * X)), (np.cos(ANGLE), np.sin(ANGLE))],
    ids=["square", "absolute", "sine", "exponential", "circle"],
)
def test_curves_are_seen(first, second):
    found = strengths(first, second)
    assert found[0, 1] > 0.8
    assert found[0, 1] == found[1, 0]


@pytest.mark.parametrize("n", [20, 60, 300])
def test_independent_features_are_associated_as_seldom_as_promised(n):
    alarms = 0
    for seed in range(100):
        rng = np.random.default_rng([seed, n])
        columns = rng.normal(size=n), rng.exponential(size=n), rng.integers(0, 3, n), rng.standard_t(2, size=n)
        alarms += bool((strengths(*columns)[np.triu_indices(4, 1)] > 0).any())
    assert alarms <= 10  # of 5 expected; 11 or more would be a chance of 1%


def test_a_linear_relation_has_its_correlation():
    y = X + np.random.default_rng(2).normal(size=200)
    assert strengths(X, y)[0, 1] == pytest.approx(abs(np.corrcoef(X, y)[0, 1]), abs=0.08)
    assert strengths(X, 3 * X + 1)[0, 1] == pytest.approx(1.0)


def test_categories_and_missing_values_have_one_measure_too():
    labels = np.array(["low", "high"], dtype=object)[(X > 0).astype(int)]
    gaps = np.where(np.arange(200) % 7 == 0, np.nan, X)
    table = [{"label": label, "x": x, "gap": gap} for label, x, gap in zip(labels, X, gaps, strict=True)]
    found = association_matrix(Data.of(table), chance=0.05)
    assert found[0, 1] > 0.8
    assert found[1, 2] == pytest.approx(1.0)
    # A column with a category for nearly every row tells nothing.
    many = [{"id": f"r{i % 150}", "x": x} for i, x in enumerate(X)]
    assert association_matrix(Data.of(many), chance=0.05)[0, 1] == 0.0
