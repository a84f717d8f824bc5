"""Names for the arrays that travel through the library, and the weighted moments they share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
AnyArray = NDArray[Any]


def effective_size(weights: FloatArray) -> float:
    """Kish's effective sample size, (sum w)^2 / sum w^2: n when all weights are equal."""
    total = float(weights.sum())
    return total * total / float(np.square(weights).sum()) if total > 0 else 0.0


def weighted_mean(values: FloatArray, weights: FloatArray, axis: int = 0) -> FloatArray:
    """Mean of ``values`` along ``axis`` with one weight per position of that axis."""
    moved = np.moveaxis(values, axis, 0)
    return np.asarray(np.tensordot(weights, moved, axes=(0, 0)) / weights.sum())


def standard_error(values: FloatArray, weights: FloatArray, axis: int = 0) -> FloatArray:
    """Standard error of the weighted mean along ``axis``: sd / sqrt(effective size); NaN for one row."""
    moved = np.moveaxis(values, axis, 0)
    centre = weighted_mean(moved, weights)
    size = effective_size(weights)
    if size <= 1.0 + 1e-9:
        return np.full(centre.shape, np.nan)
    variance = weighted_mean(np.square(moved - centre), weights) * size / (size - 1.0)
    return np.asarray(np.sqrt(variance / size))


def group_sums(groups: IntArray, n_groups: int, values: FloatArray) -> FloatArray:
    """Sum ``values`` (rows first) over the rows of each group, as an array with groups first."""
    columns = values.reshape(len(values), int(np.prod(values.shape[1:])))
    sums = [np.bincount(groups, weights=column, minlength=n_groups) for column in columns.T]
    return np.asarray(np.stack(sums, axis=-1), dtype=np.float64).reshape(n_groups, *values.shape[1:])


def frozen(array: AnyArray) -> AnyArray:
    """The array, read-only."""
    view = array.view()
    view.flags.writeable = False
    return view
