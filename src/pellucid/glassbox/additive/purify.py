"""Pure pairs: what a function of one feature can say is said by that function.

Definition. With w the weight of rows at the nodes of a surface f, the functions g, h of one feature that minimise
sum_uv w_uv (f_uv - g_u - h_v)^2 are moved to the features. What is left has mean zero along each axis, weighted:
sum_v w_uv f_uv = 0 for every u, and the same the other way (functional ANOVA; Lengerich et al. 2020). The model
predicts the same as before.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.glassbox.additive.axes import Axis


def pure(surface: FloatArray, mass: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The surface without what one feature can say, and that: ``f - g - h, g, h``."""
    a, b = mass.shape
    by_first, by_second = mass.sum(axis=1), mass.sum(axis=0)
    left = np.block([[np.diag(by_first), mass], [mass.T, np.diag(by_second)]])
    right = np.concatenate([(mass * surface).sum(axis=1), (mass * surface).sum(axis=0)])
    scale = np.sqrt(np.where(np.diag(left) > 0, np.diag(left), 1.0))
    inverse = np.linalg.pinv(left / scale[:, None] / scale, rcond=1e-11, hermitian=True)
    found = inverse @ (right / scale) / scale
    found += inverse @ ((right - left @ found) / scale) / scale
    g, h = found[:a], found[a : a + b]
    return surface - g[:, None] - h, g, h


def along(coarse: Axis, table: FloatArray, fine: Axis) -> FloatArray:
    """A function on the knots of a coarse axis at the entries of a finer one that has all of them."""
    index, share = coarse.place(fine.points)
    after = np.minimum(index + 1, len(table) - 1)
    found = np.where(share > 0, (1.0 - share) * table[index] + share * table[after], table[index])
    return np.append(found, table[-1]) if fine.missing else found
