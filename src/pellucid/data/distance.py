"""How far rows are from each other, over numbers, categories and missing values; and kernels of distances.

Definitions, for rows x and z with p features and d_j = |x_j - z_j| / unit_j of a number, [x_j != z_j] of a category:

- *Gower*: mean_j d_j, the unit of a number being its observed range (Gower 1971);
- *Manhattan*: sum_j d_j, the unit being the median absolute deviation from the median, as it is, without the factor
  1.4826 (Wachter, Mittelstadt and Russell 2018); where more than half of the values are the same, which leaves no
  deviation, the mean absolute deviation from the median;
- *Euclidean*: sqrt(sum_j d_j^2), the unit being the standard deviation;
- *cosine*: 1 - x z / (|x| |z|), of numbers only.

A value that is missing in one row only counts as the whole observed range of the feature (one for a category), missing
in both as nothing: so every distance is symmetric and, within the observed ranges, obeys the triangle inequality.
Of a feature that does not vary there is no unit; it counts like a category. No distance depends on the units or the
origins of the numbers, on the names or the order of categories, or on the order of features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.data.schema import Feature
from pellucid.data.table import Data
from pellucid.errors import InputError
from pellucid.stats import weighted_mean, weighted_median

Norm = Literal["gower", "manhattan", "euclidean"]
Kernel = Callable[[FloatArray, float], FloatArray]
_AT_ONCE = 4_000_000  # numbers held by differences of rows


@dataclass(frozen=True, eq=False)
class RowDistance:
    """Distances between rows of codes, in the units of the data it was learnt from.

    ``nominal`` features are compared for equality, the others in units of ``unit``; ``whole`` is the distance between a
    missing and a known value. All are ``(features,)``.

    >>> import numpy as np
    >>> from pellucid.data import Data
    >>> data = Data.of(np.array([[0.0, 1.0], [5.0, 3.0], [10.0, 2.0]]))
    >>> RowDistance.learn(data, "gower").between(np.array([[0.0, 1.0]]), np.array([[5.0, 1.0], [np.nan, 3.0]]))
    array([[0.25, 1.  ]])
    """

    norm: Norm
    nominal: BoolArray
    unit: FloatArray
    whole: FloatArray

    @classmethod
    def learn(cls, data: Data, norm: Norm = "gower") -> RowDistance:
        """The units of a table."""
        return cls.of(data.schema.features, data.columns, data.weights, norm)

    @classmethod
    def of(
        cls, features: Sequence[Feature], columns: Sequence[FloatArray], weights: FloatArray, norm: Norm = "gower"
    ) -> RowDistance:
        """The same from columns of codes and the weights of their rows."""
        size = np.array([0.0 if f.nominal or f.empty else f.high - f.low for f in features])
        unit = np.array(
            [
                _unit(feature, np.asarray(codes), weights, norm) if wide > 0 else 0.0
                for feature, codes, wide in zip(features, columns, size, strict=True)
            ]
        )
        nominal = ~(unit > 0)
        unit = np.where(nominal, 1.0, unit)
        return cls(norm, nominal, unit, np.where(nominal, 1.0, size / unit))

    def apart(self, x: FloatArray, z: FloatArray) -> FloatArray:
        """By how much each feature differs: d_j for rows ``(..., features)``, of which one may stand for many."""
        lacks, other = np.isnan(x), np.isnan(z)
        found = np.where(self.nominal, x != z, np.abs(x - z) / self.unit)
        return np.where(lacks | other, np.where(lacks & other, 0.0, self.whole), found)

    def between(self, x: FloatArray, z: FloatArray, *, at_once: int = _AT_ONCE) -> FloatArray:
        """Distances ``(n, m)`` of rows ``(n, features)`` from rows ``(m, features)``, as codes."""
        out = np.empty((len(x), len(z)))
        step = max(1, at_once // max(z.size, 1))
        for start in range(0, len(x), step):
            out[start : start + step] = length(self.apart(x[start : start + step, None], z[None]), self.norm)
        return out


def _unit(feature: Feature, codes: FloatArray, weights: FloatArray, norm: Norm) -> float:
    """What a feature that varies is measured in."""
    if norm == "gower":
        return feature.high - feature.low
    known = ~np.isnan(codes) & (weights > 0)
    values, weights = codes[known], weights[known]
    if not len(values):
        return 0.0
    if norm == "euclidean":
        return float(np.sqrt(weighted_mean(np.square(values - weighted_mean(values, weights)), weights)))
    apart = np.abs(values - weighted_median(values, weights))
    return weighted_median(apart, weights) or float(weighted_mean(apart, weights))


def length(apart: FloatArray, norm: Norm) -> FloatArray:
    """The length of differences ``(..., features)``: their mean (Gower) or sum, or the root of the sum of squares."""
    if norm == "euclidean":
        return np.asarray(np.sqrt(np.einsum("...j,...j->...", apart, apart)))
    sizes = np.abs(apart)
    return np.asarray(sizes.mean(axis=-1) if norm == "gower" else sizes.sum(axis=-1))


def cosine(x: FloatArray, z: FloatArray) -> FloatArray:
    """One minus the cosine of rows ``(..., features)`` with a row (or rows); 0 where one of them has no direction."""
    size = np.linalg.norm(x, axis=-1) * np.linalg.norm(z, axis=-1)
    products = np.einsum("...j,...j->...", x, z) if z.ndim > 1 else x @ z
    found = np.where(size > 0, products / np.where(size > 0, size, 1.0), 1.0)
    return np.maximum(1.0 - found, 0.0)


def exponential(distance: FloatArray, width: Any) -> FloatArray:
    """The kernel exp(-D^2 / width^2)."""
    return np.asarray(np.exp(-np.square(distance / width)))


def kernels(kernel: Kernel, distance: FloatArray, widths: FloatArray) -> FloatArray:
    """Weights ``(widths, samples)`` by a kernel, also one of the caller's own; what is below zero counts nothing."""
    if kernel is exponential:
        powers = np.multiply.outer(-1.0 / np.square(widths), np.square(distance))
        return np.asarray(np.exp(powers, out=powers))
    return np.stack([_weights(kernel, distance, float(width)) for width in widths])


def _weights(kernel: Kernel, distance: FloatArray, width: float) -> FloatArray:
    found = np.asarray(kernel(distance, width), dtype=np.float64)
    if found.shape != distance.shape or not np.isfinite(found).all():
        raise InputError(
            f"kernel= gave the shape {found.shape} for {len(distance)} distances, or weights that are not finite;"
            " return one finite weight for each distance."
        )
    return np.maximum(found, 0.0)
