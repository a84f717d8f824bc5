"""Names for the arrays that travel through the library, sums over groups of rows, and read-only arrays."""

from __future__ import annotations

import dataclasses
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


def freeze(record: Any) -> None:
    """Make all arrays that a frozen dataclass holds read-only, those in tuples too."""
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if isinstance(value, np.ndarray):
            object.__setattr__(record, field.name, frozen(value))
        elif isinstance(value, tuple) and value and isinstance(value[0], np.ndarray):
            object.__setattr__(record, field.name, tuple(frozen(each) for each in value))
