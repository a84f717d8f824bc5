"""Parts made hierarchically orthogonal: what fewer features can say is said by the parts of fewer features.

From the parts of most features down: each is projected (weighted least squares at the points) on the functions allowed in
all parts of some of its features, the projection is taken out of it and added to those parts. The sum does not change, and
afterwards every part has mean zero and is uncorrelated with every function allowed in a part of some of its features. For a
given sum this is the only way to be so, unless features determine each other at the points.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.methods.decomposition.least_squares import Fit, Subset

_RANK = 1e-11  # directions below this share of the largest are none: the points cannot tell them apart


def purified(fit: Fit) -> tuple[FloatArray, dict[Subset, FloatArray]]:
    """The constant ``(outputs,)`` and the table of every part at its places, ``(places, ..., outputs)``."""
    design, gram = fit.design, fit.gram
    coefficients = fit.coefficients.copy()
    tables: dict[Subset, FloatArray] = {}
    for subset in sorted(design.subsets, key=len, reverse=True):
        own = design.columns[subset]
        below = [v for order in range(1, len(subset)) for v in combinations(subset, order)]
        lower = np.concatenate([[0], *(np.arange(design.width)[design.columns[v]] for v in below)]).astype(
            np.intp
        )
        moved = _solve(gram[np.ix_(lower, lower)], gram[lower, own] @ coefficients[own])
        coefficients[lower] += moved
        tables[subset] = design.table(subset, coefficients[own]) - moved[0]
        start = 1
        for v in below:
            size = design.columns[v].stop - design.columns[v].start
            part = design.table(v, moved[start : start + size])
            tables[subset] -= np.expand_dims(part, tuple(d for d, j in enumerate(subset) if j not in v))
            start += size
    return coefficients[0], {subset: tables[subset] for subset in design.subsets}


def _solve(gram: FloatArray, right: FloatArray) -> FloatArray:
    """The shortest solution of equations that may depend on each other, refined once."""
    if not len(gram):
        return np.zeros_like(right)
    scale = np.sqrt(np.maximum(np.diag(gram), 0.0))
    scale = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    values, vectors = np.linalg.eigh(gram * scale[:, None] * scale)
    kept = values > _RANK * max(values[-1], 0.0)
    inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T * scale[:, None] * scale
    found = inverse @ right
    return np.asarray(found + inverse @ (right - gram @ found))


def concurvity(fit: Fit) -> FloatArray:
    """For each feature the share of its main effect's variance that functions of the other features can say, ``(features,)``.

    Near one, the points do not tell which of the features a movement belongs to (Hastie and Tibshirani 1990).
    """
    design = fit.design
    gram = fit.gram - np.outer(fit.gram[0], fit.gram[0])
    mains = {
        subset[0]: np.arange(design.width)[where]
        for subset, where in design.columns.items()
        if len(subset) == 1
    }
    shares = np.zeros(len(mains))
    for j, own in mains.items():
        others = np.concatenate([np.empty(0), *(where for k, where in mains.items() if k != j)]).astype(
            np.intp
        )
        effect = fit.coefficients[own]
        size = (effect * (gram[np.ix_(own, own)] @ effect)).sum()
        cross = gram[np.ix_(others, own)] @ effect
        said = (cross * _solve(gram[np.ix_(others, others)], cross)).sum()
        shares[j] = said / size if size > 0 else 0.0
    return np.clip(shares, 0.0, 1.0)
