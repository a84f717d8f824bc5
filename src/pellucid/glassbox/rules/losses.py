"""The loss of groups of rows, by what is known of their sums.

``sums`` (..., channels) are the weights by class, whose loss is the weight of all but the commonest; or, ``squared``,
weight, weighted y and weighted y², whose loss is the sum of squares about the mean.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray


def loss(sums: FloatArray, squared: bool) -> FloatArray:
    """The loss of each group."""
    if squared:
        w = sums[..., 0]
        left = sums[..., 2] - np.square(sums[..., 1]) / np.where(w > 1e-12, w, 1.0)
        return np.where(w > 1e-12, np.maximum(left, 0.0), 0.0)
    return np.asarray(sums.sum(axis=-1) - sums.max(axis=-1))
