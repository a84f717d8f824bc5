"""Worked examples of prototypes: a picture's rows, MMD2 of three sets, the greedy curve and the witness."""

import numpy as np
import pytest

from pellucid import Explainer
from reference.r_random import RRandom


def drawn(seed, sizes):
    generator = RRandom(seed)
    parts = [(generator.rnorm(n, a, b), generator.rnorm(n, c, d)) for n, a, b, c, d in sizes]
    return np.vstack([np.column_stack(part) for part in parts])


@pytest.fixture(scope="module")
def four():
    """Four clouds of 40 points; the second numbers are standard deviations."""
    return drawn(42, [(40, 1, 0.1, 1, 0.3), (40, 4, 0.3, 2, 0.3), (40, 3, 0.5, 3, 0.3), (40, 2.6, 0.1, 1.7, 0.1)])


def explained(X):
    return Explainer(lambda X: X[:, 0], X, progress=False)


def test_the_rows_of_the_picture():
    X = drawn(1, [(20, 4, 0.3, 1, 0.3), (30, 2, 0.3, 2, 0.2), (40, 3, 0.3, 3, 1), (7, 4, 0.1, 2.5, 0.1)])
    found = explained(X).prototypes([6, 22, 76], criticisms=2, method="given", features="raw", width=1.0)
    cells = np.column_stack(found.cells)
    places = {int(row): cells[i] for i, row in enumerate(found.prototypes)}
    np.testing.assert_allclose(
        [places[6], places[22], places[76]], [[4.146, 0.953], [2.209, 2.122], [2.978, 2.745]], atol=5e-4
    )
    np.testing.assert_allclose(X[[80, 94]], [[3.018, 5.308], [4.052, 2.540]], atol=5e-4)
    # The two that the picture marks by hand are badly represented indeed: each by more than the median row.
    marked = explained(X).prototypes([80, 94], method="given", features="raw", width=1.0)
    assert marked.mmd2 > 5 * found.mmd2


# The corrected loop over all rows, and the sets as the text has them: the second is the best.
@pytest.mark.parametrize(("rows", "expected"), [([0, 1, 120], 0.3161), ([0, 42, 98], 0.0684), ([42, 98], 0.2981)])
def test_mmd2_of_three_sets(four, rows, expected):
    found = explained(four).prototypes(rows, method="given", features="raw", width=1.0)
    assert round(found.mmd2, 4) == expected


def test_the_greedy_curve(four):
    curve = explained(four).prototypes(10, features="raw", width=1.0).discrepancy.curve[:10]
    expected = [0.3666, 0.1515, 0.0285, 0.0282, 0.0202, 0.0115, 0.0082, 0.0049, 0.0070, 0.0083]
    np.testing.assert_allclose(curve, expected, atol=5e-5)


def test_the_witness_at_five_rows(four):
    # Of the given prototypes, at rows that are counted from 1.
    found = explained(four).prototypes([0, 42, 98], method="given", features="raw", width=1.0)
    rows = np.array([125, 2, 60, 19, 100]) - 1
    np.testing.assert_allclose(found.map.witness[rows], [0.158, -0.038, -0.088, -0.027, -0.006], atol=5e-4)


def test_the_elbow_is_where_the_picture_stops(four):
    found = explained(four).prototypes("auto", features="raw", width=1.0)
    assert len(found.prototypes) == 3
