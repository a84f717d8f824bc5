"""Slopes of a feature that interacts with another: one for each level of it.

Definition. With columns a of one feature, c of the other and their products, one unit more of a adds

    b_a + sum_c c(z) b_ac

where the other is z: a slope for each level of a category (the reference has b_a alone), of a number a line of slopes.
Its variance is g' Cov(b) g, with g the derivative by the coefficients. This is why a coefficient of a feature with
interactions says nothing about the feature by itself: it is the slope where the others are at their reference or zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.errors import InputError
from pellucid.words import listed, number, value_name

if TYPE_CHECKING:
    from pellucid.glassbox.linear.terms import LinearTerms

_LEVELS = (0.1, 0.5, 0.9)


@dataclass(frozen=True)
class Slope:
    """What one unit more of ``column`` adds ``where`` the other feature has a value; ``scale`` is the standard
    deviation of the column, ``place`` its position among those of its feature.
    """

    column: str
    place: int
    where: str
    value: float
    se: float
    scale: float


def slopes_of(model: LinearTerms, i: int, j: int) -> list[Slope]:
    """The slopes of feature ``i`` at the levels of feature ``j``."""
    if (min(i, j), max(i, j)) not in model._pairs:
        pair = (model._names[i], model._names[j])
        raise InputError(
            f"the model has no interaction of {pair[0]!r} and {pair[1]!r}; fit it with interactions=[{pair}]."
        )
    own = model._columns[i]
    found = []
    for code, where in _levels(model, j):
        for place, column in enumerate(own.names):
            g = gradient(model, i, place, j, code)
            value, se = along(model, g)
            scale = float(np.sqrt(model._spreads[i][place, place]))
            found.append(Slope(column, place, where, value, se, scale))
    return found


def gradient(model: LinearTerms, i: int, place: int, j: int, code: float) -> FloatArray:
    """The derivative of a slope by the coefficients (intercept first): feature ``j`` has a code, others that feature
    ``i`` interacts with their means.
    """
    g = np.zeros(len(model._theta))
    g[1 + model._slices[i].start + place] = 1.0
    for k, pair in enumerate(model._pairs):
        if i not in pair:
            continue
        other = pair[1] if pair[0] == i else pair[0]
        at = model._columns[other](np.array([code]))[0] if other == j else model._columns[other].means
        own = model._slices[len(model._columns) + k]
        products = np.zeros((len(model._columns[pair[0]].names), len(model._columns[pair[1]].names)))
        if pair[0] == i:
            products[place] = at
        else:
            products[:, place] = at
        g[1:][own] += products.ravel()
    return g


def along(model: LinearTerms, g: FloatArray) -> tuple[float, float]:
    """A sum of coefficients of the first output and its standard error."""
    used = g != 0
    C = model._covariance[0][np.ix_(used, used)]
    return float(g @ model._theta[:, 0]), float(np.sqrt(max(g[used] @ C @ g[used], 0.0)))


def _levels(model: LinearTerms, j: int) -> list[tuple[float, str]]:
    """Codes of a feature at which slopes are shown, and what they are called."""
    feature, columns = model._schema.features[j], model._columns[j]
    if columns.transform == "bins":
        levels = [columns.reference, *(name.removeprefix(f"{feature.name}: ") for name in columns.names)]
        points = np.append(columns.edges, np.inf)
        return [(float(at), f"{feature.name} {level}") for at, level in zip(points, levels, strict=False)]
    if feature.nominal:
        values = feature.categories if feature.categories is not None else (False, True)
        return [(float(code), f"{feature.name} = {value_name(level)}") for code, level in enumerate(values)]
    rug = model._seen[j].rug
    points = np.unique(np.quantile(rug, _LEVELS))
    said = feature.decode(points)
    return [
        (float(code), f"{feature.name} = {number(float(value)) if feature.kind != 'date' else value_name(value)}")
        for code, value in zip(points, said, strict=True)
    ]


def references(model: LinearTerms, i: int) -> str:
    """Where a coefficient of feature ``i`` is the slope: those it interacts with at their reference, or zero."""
    said = []
    for pair in model._pairs:
        if i in pair:
            other = pair[1] if pair[0] == i else pair[0]
            columns = model._columns[other]
            zero = columns.reference or ("no" if model._schema.features[other].kind == "boolean" else "0")
            name = columns.names[0] if columns.transform == "log" else model._names[other]
            said.append(f"{name} = {zero}")
    return listed(said)
