"""The theorem behind every adapter: asking through pellucid is asking the model itself, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from pellucid.data import Data
from pellucid.models import Predictor
from pellucid.runner import Run, constant_intervention

# One intervention per kind of column: missing, integer, boolean, category, text.
CHANGES: dict[str, Any] = {"temp": np.nan, "day": 3, "open": True, "sky": "rain", "town": "Genf"}


def predictions(predictor: Predictor, X: Any) -> np.ndarray:
    """What pellucid gets from the model."""
    return Run().predict(predictor, Data.of(X, container=predictor.container))


def with_constant(X: pd.DataFrame, column: str, value: Any) -> pd.DataFrame:
    """The table a user would make by hand."""
    return X.assign(**{column: pd.Series([value] * len(X), dtype=X[column].dtype, index=X.index)})


def swept(predictor: Predictor, X: Any, column: str, value: Any) -> np.ndarray:
    """Predictions with one column set to one value in all rows."""
    data = Data.of(X, container=predictor.container)
    j = data.schema.index(column)
    cell = np.array([value], dtype=object if isinstance(value, str) else float)
    codes = data.schema.features[j].encode(cell)
    return Run().collect(predictor, data, constant_intervention(data, (j,), (codes,)))[0]


def as_columns(values: Any) -> np.ndarray:
    array = np.asarray(values, dtype=np.float64)
    return array[:, None] if array.ndim == 1 else array


def assert_faithful(
    predictor: Predictor, X: pd.DataFrame, own: Callable[[pd.DataFrame], Any], changes: Any = CHANGES
) -> None:
    """pellucid's predictions equal the library's own, on the table as it is and with columns set by hand."""
    np.testing.assert_array_equal(predictions(predictor, X), as_columns(own(X)))
    for column in [name for name in changes if name in X.columns]:
        by_hand = as_columns(own(with_constant(X, column, changes[column])))
        np.testing.assert_array_equal(swept(predictor, X, column, changes[column]), by_hand, err_msg=column)


def second(probabilities: Any) -> np.ndarray:
    """The column of a binary classifier that is explained."""
    return np.asarray(probabilities)[:, 1]
