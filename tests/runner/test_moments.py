"""Means and variances that are added up batch by batch are those of all rows at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.stats import Moments, effective_size, standard_error, weighted_mean

ROWS = st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(0, 5)), min_size=1, max_size=30)


@settings(deadline=None, max_examples=60)
@given(ROWS.filter(lambda rows: sum(w for _, w in rows) > 0.1), st.lists(st.integers(0, 30), max_size=4))
def test_batches_add_up_to_the_whole(rows, cuts):
    values, weights = np.array(rows).T
    moments = Moments(1, 1)
    for part in np.split(np.arange(len(values)), sorted(cuts)):
        moments.add(slice(0, 1), values[None, part, None], weights[part])
    assert moments.mean[0, 0] == pytest.approx(weighted_mean(values, weights), rel=1e-9, abs=1e-9)
    assert moments.effective[0] == pytest.approx(effective_size(weights))
    if effective_size(weights) > 1.01:
        assert moments.se[0, 0] == pytest.approx(standard_error(values, weights), rel=1e-6, abs=1e-6)


def test_each_variant_and_output_has_its_own():
    rng = np.random.default_rng(0)
    predictions = rng.normal(size=(4, 10, 2)) + 1e6
    moments = Moments(4, 2)
    for rows in (slice(0, 3), slice(3, 10)):
        for variants in (slice(0, 1), slice(1, 4)):
            moments.add(variants, predictions[variants, rows], np.ones(rows.stop - rows.start))
    np.testing.assert_allclose(moments.mean, predictions.mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(moments.sd, predictions.std(axis=1, ddof=1), rtol=1e-9)


def test_what_was_never_asked_is_unknown():
    moments = Moments(2, 1)
    moments.add(slice(0, 1), np.ones((1, 1, 1)), np.ones(1))
    moments.add(slice(1, 2), np.ones((1, 3, 1)), np.zeros(3))
    assert np.isnan(moments.mean[1, 0])
    assert moments.mean[0, 0] == 1
    assert np.isnan(moments.sd).all()
    assert np.isnan(moments.se).all()
