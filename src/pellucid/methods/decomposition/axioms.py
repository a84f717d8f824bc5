"""The properties that components should have, measured.

Zero means: every component averages to zero. Orthogonality: the product of two components averages to zero. Variance
sum: the variances of the components and of what they leave over add up to that of the function. The first is measured
against the standard deviation of the function, the others against its variance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.explanations.component import Check, Component
from pellucid.methods.decomposition.build import Variances, at_rows
from pellucid.words import number, percent

_ROWS = 2_000
_BLOCK = 256  # components whose products are formed at once
_NEAR = 0.1  # rows are a sample: even independent features are not orthogonal over them


def axioms_at_rows(
    components: Sequence[Component], data: Data, variances: Variances, tolerance: float = _NEAR
) -> tuple[Check, ...]:
    """The three properties over rows of the data, by their weights."""
    some = data.take(data.spread(_ROWS))
    some = some if some.weights.any() else data
    values = np.stack([at_rows(component, some) for component in components])
    return axioms(components, values, some.weights / some.weights.sum(), variances, tolerance)


def axioms(
    components: Sequence[Component], values: FloatArray, weights: FloatArray, variances: Variances, tolerance: float
) -> tuple[Check, ...]:
    """The three properties from the values of components ``(components, points, outputs)`` at weighted points."""
    means = np.einsum("cpo,p->co", values, weights)
    total = np.where(variances.total > 0, variances.total, np.inf)
    largest = np.abs(means).max(axis=0) / np.sqrt(total)
    worst, product = _products(values, weights, total)
    added = np.abs(variances.parts.sum(axis=0) + variances.residual - variances.total) / total
    names = [component.name for component in components]
    mean, off = (names[int(np.abs(means / np.sqrt(total)).max(axis=1).argmax())], " and ".join(names[k] for k in worst))
    return (
        Check(
            "zero means",
            float(largest.max()),
            tolerance,
            f"Components do not all average to zero: {mean} is off by {number(float(largest.max()))} standard"
            " deviations of the prediction.",
        ),
        Check(
            "orthogonality",
            product,
            tolerance,
            f"Components overlap: the product of {off} averages to {percent(product)} of the variance of the"
            " prediction.",
        ),
        Check(
            "variance sum",
            float(added.max()),
            tolerance,
            "The variances of the components and of the residual miss the variance of the prediction by"
            f" {percent(float(added.max()))} of it.",
        ),
    )


def _products(values: FloatArray, weights: FloatArray, total: FloatArray) -> tuple[tuple[int, ...], float]:
    """The two components whose product averages farthest from zero, and how far that is."""
    worst: tuple[int, ...] = (0,)
    most = 0.0
    for k in range(values.shape[2]):
        plain = np.ascontiguousarray(values[:, :, k])
        for start in range(0, len(plain), _BLOCK):
            part = plain[start : start + _BLOCK]
            gram = np.abs(part * weights @ plain.T) / total[k]
            gram[np.arange(len(part)), start + np.arange(len(part))] = 0.0
            if gram.max(initial=0.0) > most:
                place = np.unravel_index(int(gram.argmax()), gram.shape)
                worst, most = (start + int(place[0]), int(place[1])), float(gram.max())
    return worst, most
