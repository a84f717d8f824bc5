"""Names for the arrays that travel through the library, and sums over groups of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
AnyArray = NDArray[Any]


def group_sums(groups: IntArray, n_groups: int, values: FloatArray) -> FloatArray:
    """Sum ``values`` (rows first) over the rows of each group, as an array with groups first."""
    columns = values.reshape(len(values), int(np.prod(values.shape[1:])))
    sums = [np.bincount(groups, weights=column, minlength=n_groups) for column in columns.T]
    return np.asarray(np.stack(sums, axis=-1), dtype=np.float64).reshape(n_groups, *values.shape[1:])


def frozen(array: AnyArray) -> AnyArray:
    """The array, read-only."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view
