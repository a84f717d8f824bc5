"""The feature that a feature's contributions depend on most, besides its own value.

Definition. With interaction values: the feature with the largest mean absolute interaction value. Without: the
one that explains most of what the feature's own value does not. What a contribution differs by from the straight
lines between its neighbours, in the order of the feature's value, is the residual; with few different values
(or categories) what it differs by from their mean, with less than 50 rows from a straight line through all.
A residual of less than 1% of the contributions' standard deviation is none. Rows are put into bins of the feature's
value (one for each category and for missing). Each other feature, cut into thirds within the bin (or into its
categories), then has a share of the variance of the residual, adjusted for the number of cells:
1 - (SSE / (rows - cells)) / (SST / (rows - bins)). The largest share wins if it is above 5%, above what the feature
itself explains in the same way (a curve that is left, which features correlated with it explain too), and above what
chance gives where few rows hold most of the residual: 8 / n with n = (sum r^2)^2 / sum r^4 (four standard errors
of a share that three groups of n rows explain).

When it misleads. (1) Correlated features explain each other's interactions: the partner may stand in for
another. (2) With few rows only strong partners are told from chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.data.frames.frame import is_missing
from pellucid.errors import InputError, nearest
from pellucid.explanations.attribution_words import grouped

if TYPE_CHECKING:
    from pellucid.explanations.attribution import Attribution

_LEAST = 0.05
_SMALL = 0.01  # of the standard deviation of the contributions
_ROUNDING = 1e-10  # of the largest contribution
_CURVE = 50  # rows from which the curve is followed from row to row
_PER_NEIGHBOUR, _NEIGHBOURS = (100, 4)  # rows for which one more neighbour on each side is worth while, and the most
_TIED = 5  # rows for each different value, from which it has a mean of its own
_PER_BIN = 30  # rows for which a bin is worth while
_BINS = 12
_LEVELS = 6  # categories kept apart


def partner(found: Attribution, feature: str) -> str | None:
    """The feature on which the contributions of ``feature`` depend most besides its own value, if there is one."""
    best = _partner(found, position(found, feature))
    return None if best is None else found.feature_names[best]


def position(found: Attribution, feature: str) -> int:
    """The position of a feature by its name, that of its column or the one for people."""
    feature = found.header.readable.get(feature, feature)
    if feature not in found.feature_names:
        raise InputError(f"there is no feature {feature!r}{nearest(str(feature), found.feature_names)}")
    return found.feature_names.index(feature)


def _partner(found: Attribution, j: int) -> int | None:
    if found.interaction_values is not None:
        strength = np.abs(found.stacked("interaction_values")[:, j]).mean(axis=(0, 2))
        strength[j] = 0.0
        rounding = _ROUNDING * max(np.abs(found.values).max(), np.abs(found.interaction_values).max())
        return int(np.argmax(strength)) if strength.max() > rounding else None
    own = groups(found.data[j], int(np.clip(len(found) // _PER_BIN, 1, _BINS)))
    values = found.stacked()[:, j]
    residual = without_curve(values, found.data[j])
    if not residual.std() > max(_SMALL * values.std(), _ROUNDING * float(np.abs(values).max(initial=0.0))):
        return None
    others = [k for k in range(len(found.feature_names)) if k != j and not grouped(found, k)]
    shares = {k: explained(residual, own, found.data[k]) for k in others}
    best = max(shares, key=lambda k: shares[k], default=j)
    least = max(_LEAST, 8.0 / _holders(residual), explained(residual, own, found.data[j]))
    return best if shares.get(best, 0.0) > least else None


def without_curve(values: FloatArray, column: AnyArray) -> FloatArray:
    """What is left of contributions ``(rows, outputs)`` without the curve of the feature's own value."""
    missing = np.array([is_missing(value) for value in column])
    if column.dtype.kind not in "iufM":
        return values - _means(values, groups(column, 1))
    left = values - _means(values, missing.astype(np.intp))
    known = np.flatnonzero(~missing)
    x = (column[known] - column[known].min()).astype(np.float64) if len(known) else np.empty(0)
    different, same = np.unique(x, return_inverse=True)
    if len(different) <= max(len(known) // _TIED, 1):
        left[known] -= _means(left[known], same.ravel())
    elif len(known) < _CURVE:
        line = np.column_stack([np.ones(len(x)), x / different[-1]])
        left[known] -= line @ np.linalg.lstsq(line, left[known], rcond=None)[0]
    else:
        order = known[np.argsort(x, kind="stable")]
        left[order] = _bends(np.sort(x), left[order])
    return left


def _bends(x: FloatArray, y: FloatArray) -> FloatArray:
    """What each point of a sorted curve differs by from the lines between its neighbours; the ends have none."""
    n, reach = len(x), int(np.clip(len(x) // _PER_NEIGHBOUR, 1, _NEIGHBOURS))
    lines, counts = np.zeros_like(y), np.zeros((n, 1))
    for d in range(1, reach + 1):
        low, middle, high = slice(0, n - 2 * d), slice(d, n - d), slice(2 * d, n)
        width = x[high] - x[low]
        share = np.where(width > 0, (x[middle] - x[low]) / np.where(width > 0, width, 1.0), 0.5)[:, None]
        lines[middle] += (1 - share) * y[low] + share * y[high]
        counts[middle] += 1
    return np.where(counts > 0, y - lines / np.maximum(counts, 1), 0.0)


def _holders(residual: FloatArray) -> float:
    """How many rows hold the residual: all if its squares are equal, one if it is all in one row."""
    squares = np.square(residual).sum(axis=1)
    return float(np.square(squares.sum()) / np.square(squares).sum()) if squares.any() else 1.0


def explained(residual: FloatArray, own: IntArray, column: AnyArray) -> float:
    """The adjusted share of the residual's variance that a column explains within the bins."""
    cells = _cells(own, column)
    n, n_bins, n_cells = len(own), len(np.unique(own)), len(np.unique(cells))
    total = float(np.square(residual).sum())
    if n_cells >= n or n_cells == n_bins or not total > 0:
        return 0.0
    left = float(np.square(residual - _means(residual, cells)).sum())
    return 1.0 - (left / (n - n_cells)) / (total / (n - n_bins))


def groups(column: AnyArray, count: int) -> IntArray:
    """Rows in ``count`` bins of equally many rows, or by category; missing ones together."""
    missing = np.array([is_missing(value) for value in column])
    if column.dtype.kind not in "iufM":
        labels, numbers, sizes = np.unique(
            np.array([str(value) for value in column], dtype=object), return_inverse=True, return_counts=True
        )
        small = np.argsort(-sizes, kind="stable")[_LEVELS:]
        numbers = np.where(np.isin(numbers, small), len(labels), numbers)
    else:
        known = column[~missing]
        # The bin of a value is that of the first row with it in sorted order: equal values stay together.
        first = np.searchsorted(np.sort(known), column)
        numbers = first * count // max(len(known), 1)
    return np.asarray(np.where(missing, -1, numbers), dtype=np.intp)


def _cells(own: IntArray, column: AnyArray) -> IntArray:
    """The bin together with the third or category of another feature."""
    inner = np.zeros(len(own), dtype=np.intp)
    if column.dtype.kind not in "iufM":
        inner = groups(column, 1)
    else:
        for each in np.unique(own):
            members = own == each
            inner[members] = groups(column[members], 3)
    return np.unique(np.stack([own, inner]), axis=1, return_inverse=True)[1].ravel()


def _means(values: FloatArray, labels: IntArray) -> FloatArray:
    """The mean of the rows with the same label, for each row; outputs last."""
    numbers = np.unique(labels, return_inverse=True)[1].ravel()
    counts = np.bincount(numbers)
    columns = [np.bincount(numbers, weights=column) / counts for column in values.T]
    return np.stack([means[numbers] for means in columns], axis=-1)
