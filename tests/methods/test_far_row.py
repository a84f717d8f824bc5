"""How far explained rows lie outside the data, feature by feature."""

import numpy as np
import pandas as pd
import pytest

from pellucid.data import Data
from pellucid.diagnostics.far_row import _beyond, far_row

X = pd.DataFrame(
    {
        "number": [1.0, 5.0, np.nan, 3.0],
        "whole": [10, 20, 30, 14],
        "constant": [7.0, 7.0, 7.0, 7.0],
        "level": ["a", "b", "a", "b"],
        "day": pd.to_datetime(["2024-01-01", "2024-01-05", "2024-01-03", "2024-01-02"]),
    }
)


def slow_twin(data, rows):
    """Each cell by itself."""
    found = np.zeros((len(rows), len(data.schema.features)))
    for j, feature in enumerate(data.schema.features):
        for i, code in enumerate(rows.codes(j)):
            if not feature.nominal and feature.high > feature.low and not np.isnan(code):
                found[i, j] = max(feature.low - code, code - feature.high) / (feature.high - feature.low)
    return found


def test_equal_to_each_cell_by_itself():
    data = Data.of(X)
    own = data.rows([0, 1, 2, 3])
    np.testing.assert_allclose(_beyond(data, own), slow_twin(data, own))
    assert not list(far_row(data, own))
    row = {"number": 9.0, "whole": 5, "constant": 99.0, "level": "b", "day": pd.Timestamp("2024-01-06")}
    far = data.rows(row)
    np.testing.assert_allclose(_beyond(data, far), slow_twin(data, far))
    assert _beyond(data, far)[0] == pytest.approx([1.0, 0.25, 0.0, 0.0, 0.25])
    (caveat,) = far_row(data, far)
    assert (caveat.feature, caveat.value) == ("number", 1.0)


def test_only_levels():
    data = Data.of(X[["level", "constant"]])
    assert not _beyond(data, data.rows([0, 1])).any()


def test_of_many_rows_the_farthest_is_named_wherever_it_stands():
    values = np.zeros((10_000, 2))
    values[[3, 9_000], [0, 1]] = 5.0, 9.0
    data = Data.of(np.array([[0.0, 0.0], [1.0, 1.0]]))
    (caveat,) = far_row(data, data.rows(values))
    assert (caveat.feature, caveat.value) == ("x1", 8.0)
    assert "2 of 10,000 rows" in caveat.message
