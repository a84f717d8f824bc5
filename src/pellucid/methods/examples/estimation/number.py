"""How many prototypes: the elbow of the curve of MMD^2, and the silhouette beside it."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray

_LEAST = 1e-30  # half of a squared distance


def elbow(curve: FloatArray) -> int:
    """The number at which the curve, as low as it has been so far, is farthest below the line between its ends.

    >>> import numpy as np
    >>> elbow(np.array([0.37, 0.15, 0.03, 0.028, 0.02, 0.01]))
    3
    """
    lowest = np.minimum.accumulate(curve)
    drop = lowest[0] - lowest[-1]
    if len(curve) < 3 or drop <= 0:
        return 1
    fallen = (lowest[0] - lowest) / drop
    along = np.arange(len(curve)) / (len(curve) - 1)
    return int(np.argmax(fallen - along)) + 1


def silhouettes(columns: FloatArray, weights: FloatArray) -> FloatArray:
    """The mean (simplified) silhouette with the first 1, 2, ... prototypes, from their kernel with all rows ``(m, n)``.

    That of a row is (b - a) / max(a, b), with a and b its distances sqrt(2 - 2k) from the nearest and the second
    nearest prototype; with a single one it is 0.
    """
    first, found, total = 1.0 - columns[0], np.zeros(len(columns)), float(weights.sum())
    second = np.full_like(first, np.inf)
    for m in range(1, len(columns)):
        half = 1.0 - columns[m]  # of the squared distances
        second = np.minimum(second, np.maximum(first, half))
        first = np.minimum(first, half)
        near = np.sqrt(first / np.maximum(second, _LEAST))
        near[second <= _LEAST] = 1.0
        found[m] = 1.0 - float(weights @ near) / total
    return found
