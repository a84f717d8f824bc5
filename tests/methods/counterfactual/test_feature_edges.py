"""Where a feature crosses the thresholds of the trees."""

import numpy as np
import pytest

from pellucid.methods.counterfactual.search.feature_edges import Scale, find_edges

THRESHOLDS = np.array([-900.0, -800.0, 4.0, 6.5, 700.0, 800.0])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_thresholds_beyond_all_values_have_every_value_on_one_side(sign):
    scale = Scale(0.0, 10.0, 1.0, 0)
    thresholds = np.sort(sign * THRESHOLDS)
    (edges,) = find_edges(lambda rows: sign * rows, np.zeros(1), {0: scale}, {0: 0}, {0: thresholds}).values()
    assert edges.falls == (sign < 0)
    values = np.arange(11.0)
    sides = (sign * values[:, None] <= thresholds).sum(axis=1)
    assert (np.diff(edges.interval(values)) == np.abs(np.diff(sides))).all()
    assert np.isinf(edges.codes).tolist() == [True, True, False, False, True, True]
