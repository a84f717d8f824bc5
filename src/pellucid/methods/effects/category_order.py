"""An order for categories: neighbours are the categories whose rows look alike in the other features.

Apley and Zhu 2020. The distance of two categories is the sum over the other features of the
Kolmogorov-Smirnov distance (numeric) or the total variation distance (half the sum of absolute
differences of relative frequencies, categorical). Classical multidimensional scaling turns the
distances into positions on a line, and the line into an order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.errors import InputError


def level_orders(data: Data, j: int, given: Sequence[Any] | None = None) -> tuple[IntArray, IntArray | None]:
    """Codes of the levels of feature ``j`` in order, and the second-best order where the order was ours."""
    feature = data.schema.features[j]
    if given is not None:
        return _given_order(data, j, given), None
    levels = np.unique(data.codes(j)[~np.isnan(data.codes(j))]).astype(np.intp)
    if feature.kind in ("ordered", "boolean") or len(levels) < 3:
        return levels, None
    coordinates = classical_scaling(level_distances(data, j, levels))
    if not coordinates.any():
        return levels, None
    best = _order_along(levels, coordinates[:, 0])
    second = _order_along(levels, coordinates[:, 1]) if coordinates.shape[1] > 1 else levels
    return best, second


def _given_order(data: Data, j: int, given: Sequence[Any]) -> IntArray:
    feature = data.schema.features[j]
    array = np.empty(len(given), dtype=object)
    array[:] = list(given)
    codes = feature.encode(array).astype(np.intp)
    absent = set(np.unique(data.codes(j)[~np.isnan(data.codes(j))]).astype(int)) - set(codes.tolist())
    if absent:
        level = feature.decode(np.array([float(min(absent))]))[0]
        raise InputError(
            f"order= leaves out the category {level!r} of feature {feature.name!r}; name every category once."
        )
    if len(set(codes.tolist())) != len(codes):
        raise InputError(f"order= names a category of feature {feature.name!r} twice.")
    return codes


def _order_along(levels: IntArray, line: FloatArray) -> IntArray:
    """Levels by position; of the two directions the one that agrees better with the levels' own order."""
    order = levels[np.argsort(line, kind="stable")]
    agreement = np.corrcoef(np.arange(len(order)), order)[0, 1]
    return order[::-1].copy() if agreement < 0 else order


def level_distances(data: Data, j: int, levels: IntArray) -> FloatArray:
    """Sum of the distances between levels over all other features."""
    codes = data.codes(j)
    distances = np.zeros((len(levels), len(levels)))
    present = ~np.isnan(codes)
    groups = np.searchsorted(levels, codes[present])
    weights = data.weights[present]
    for k, feature in enumerate(data.schema.features):
        if k == j:
            continue
        column = data.codes(k)[present]
        nominal = feature.kind in ("categorical", "boolean")
        distances += _distances_over(column, groups, weights, len(levels), nominal)
    return distances


def _distances_over(
    column: FloatArray, groups: IntArray, weights: FloatArray, n_levels: int, nominal: bool
) -> FloatArray:
    """Distances between the distributions of one feature in each level."""
    known = ~np.isnan(column)
    values, index = np.unique(column[known], return_inverse=True)
    if len(values) < 2:
        return np.zeros((n_levels, n_levels))
    flat = groups[known] * len(values) + index
    table = np.bincount(flat, weights=weights[known], minlength=n_levels * len(values)).reshape(n_levels, len(values))
    total = table.sum(axis=1, keepdims=True)
    shares = np.divide(table, total, out=np.zeros_like(table), where=total > 0)
    if nominal:
        return np.array([0.5 * np.abs(shares - row).sum(axis=1) for row in shares])
    ecdf = np.cumsum(shares, axis=1)
    return np.array([np.abs(ecdf - row).max(axis=1) for row in ecdf])


def classical_scaling(distances: FloatArray) -> FloatArray:
    """Coordinates (levels, dimensions) from the double-centred squared distances, largest dimension first."""
    n = len(distances)
    centre = np.eye(n) - 1.0 / n
    eigenvalues, vectors = np.linalg.eigh(-0.5 * centre @ np.square(distances) @ centre)
    order = np.argsort(-eigenvalues, kind="stable")
    return np.asarray(vectors[:, order] * np.sqrt(np.maximum(eigenvalues[order], 0.0)))
