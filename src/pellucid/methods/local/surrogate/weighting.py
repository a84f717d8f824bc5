"""How near a sample is to the row, and how much it counts.

    pi(z) = exp(-D(x, z)^2 / width^2)

with one of the distances

- ``"euclidean"``: each number by its standard deviation, a category or bin that differs counts one;
- ``"gower"``: the mean over features of |x - z| / range, a category or bin that differs counts one;
- ``"cosine"``: one minus the cosine between the two rows, numbers measured from their means.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.errors import InputError

Distance = Literal["euclidean", "gower", "cosine"]
DISTANCES = ("euclidean", "gower", "cosine")
Kernel = Callable[[FloatArray, float], FloatArray]
_TEXTBOOK = 0.75


def distances(apart: FloatArray, distance: Distance, *, place: FloatArray, span: FloatArray) -> FloatArray:
    """The distance ``(samples,)`` of samples from the row.

    ``apart`` (samples, columns) is how far each sample is from the row in units of ``span`` standard deviations per
    range,
    ``place`` where the row itself lies (numbers from their means, one for its own category or bin).
    """
    if distance == "euclidean":
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", apart, apart)))
    if distance == "gower":
        return np.asarray((np.abs(apart) / span).mean(axis=1))
    there = apart + place
    size = np.linalg.norm(there, axis=1) * np.linalg.norm(place)
    cosine = np.where(size > 0, there @ place / np.where(size > 0, size, 1.0), 1.0)
    return np.maximum(1.0 - cosine, 0.0)


def exponential(distance: FloatArray, width: Any) -> FloatArray:
    """exp(-D^2 / width^2)."""
    return np.asarray(np.exp(-np.square(distance / width)))


def kernels(kernel: Kernel, distance: FloatArray, widths: FloatArray) -> FloatArray:
    """The weights ``(widths, samples)``."""
    if kernel is exponential:
        powers = np.multiply.outer(-1.0 / np.square(widths), np.square(distance))
        return np.asarray(np.exp(powers, out=powers))
    return np.stack([_weights(kernel, distance, float(width)) for width in widths])


def _weights(kernel: Kernel, distance: FloatArray, width: float) -> FloatArray:
    """What a kernel of the caller's own gives; what is below zero counts nothing."""
    found = np.asarray(kernel(distance, width), dtype=np.float64)
    if found.shape != distance.shape or not np.isfinite(found).all():
        raise InputError(
            f"kernel= gave the shape {found.shape} for {len(distance)} distances, or weights that are not finite;"
            " return one finite weight for each distance."
        )
    return np.maximum(found, 0.0)


def default_width(distance: FloatArray, columns: int, kind: Distance) -> float:
    """0.75 sqrt(p), the habit of other packages, whose origin is unknown.

    It belongs to the Euclidean distance, whose root mean square between independent rows is sqrt(2p); for the other
    distances it is the same share, 0.75 / sqrt(2), of the root mean square distance of the samples.
    """
    if kind == "euclidean":
        return _TEXTBOOK * float(np.sqrt(columns))
    typical = float(np.sqrt(np.square(distance).mean()))
    return _TEXTBOOK / np.sqrt(2.0) * typical if typical > 0 else 1.0
