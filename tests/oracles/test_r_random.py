"""The R-compatible generator gives the numbers R prints."""

import numpy as np
import pytest

from reference.r_random import RRandom


@pytest.mark.parametrize(
    ("seed", "expected"), [(1, [0.2655087, 0.3721239, 0.5728534]), (42, [0.914806, 0.9370754, 0.2861395])]
)
def test_runif(seed, expected):
    np.testing.assert_allclose(RRandom(seed).runif(3), expected, atol=5e-8)


@pytest.mark.parametrize(
    ("seed", "expected"), [(1, [-0.6264538, 0.1836433, -0.8356286]), (42, [1.37095845, -0.56469817, 0.36312841])]
)
def test_rnorm(seed, expected):
    np.testing.assert_allclose(RRandom(seed).rnorm(3), expected, atol=5e-8)


def test_the_stream_goes_on():
    one, parts = RRandom(7), RRandom(7)
    together = np.concatenate([parts.runif(5), parts.rnorm(2), parts.runif(700)])
    np.testing.assert_array_equal(np.concatenate([one.runif(5), one.rnorm(2), one.runif(700)]), together)
    normals = RRandom(3).rnorm(4000, 2.0, 3.0)
    assert normals.mean() == pytest.approx(2.0, abs=0.15)
    assert normals.std() == pytest.approx(3.0, abs=0.1)
