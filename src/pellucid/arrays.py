"""Names for the arrays that travel through the library, sums over groups of rows, and read-only arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
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


def row_blocks(array: AnyArray, at_once: int = 1 << 15) -> Iterator[slice]:
    """The rows of an array, about so many of its cells at a time: what is worked out from them then takes no second
    array of its size.
    """
    step = max(1, at_once // max(int(np.prod(array.shape[1:])), 1))
    return (slice(start, start + step) for start in range(0, len(array), step))


def sum_of_sizes(values: FloatArray, *, known: bool = False, at_once: int = 1 << 15) -> FloatArray:
    """Sums of absolute values ``(rows, features, outputs)`` by feature; with ``known``, of those that are not NaN.

    Row after row is added, as numpy adds them: the same to the bit for several features, however many rows at a time.
    """
    total = np.zeros(values.shape[1])
    for rows in row_blocks(values, at_once):
        sizes = np.abs(values[rows])
        part = (np.where(np.isnan(sizes), 0.0, sizes) if known else sizes).sum(axis=2)
        total = part.sum(axis=0) if rows.start == 0 else np.concatenate([total[None], part]).sum(axis=0)
    return total


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
