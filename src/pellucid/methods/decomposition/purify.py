"""Parts made hierarchically orthogonal: what fewer features can say is said by the parts of fewer features.

From the parts of most features down: each is projected (weighted least squares at the points) on the functions allowed
in all parts of some of its features, the projection is taken out of it and added to those parts. The sum does not
change, and afterwards every part has mean zero and is uncorrelated with every function allowed in a part of some of its
features. For a given sum this is the only way to be so, unless features determine each other at the points.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.methods.decomposition.least_squares import Fit, Subset

_RANK = 1e-11  # directions below this share of the largest are none: the points cannot tell them apart
_RIDGE = 1e-9  # makes equations that depend on each other solvable


def purified(fit: Fit) -> tuple[FloatArray, dict[Subset, FloatArray]]:
    """The constant ``(outputs,)`` and the table of every part at its places, ``(places, ..., outputs)``."""
    design, gram = fit.design, fit.gram
    coefficients = fit.coefficients.copy()
    tables: dict[Subset, FloatArray] = {}
    for subset in sorted(design.subsets, key=len, reverse=True):
        own = design.columns[subset]
        below = [v for order in range(1, len(subset)) for v in combinations(subset, order)]
        lower = np.concatenate([[0], *(np.arange(design.width)[design.columns[v]] for v in below)]).astype(np.intp)
        moved = _solve(gram[np.ix_(lower, lower)], gram[lower, own] @ coefficients[own])
        coefficients[lower] += moved
        tables[subset] = design.table(subset, coefficients[own]) - moved[0]
        start = 1
        for v in below:
            size = design.size(v)
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


def concurvity(fit: Fit, subset: Subset, rows: int) -> float:
    """The share of a part's variance, beyond what its own features can say in fewer, that parts of other features can
    say.

    Near one, the points do not tell what a movement belongs to (Hastie and Tibshirani 1990): these features, another
    one, or others together, as the year and the month give the day to within a few weeks. What as many columns say of
    so many different
    ``rows`` by chance is taken off, as in an adjusted R2.
    """
    own, every = set(subset), fit.design.subsets
    fewer = [v for v in every if set(v) < own]
    foreign = [v for v in every if not set(v) <= own and not set(v) >= own]
    alone = _unsaid(fit, subset, fewer)
    if not alone > 0:
        return 0.0
    used = [sum(fit.design.size(v) for v in parts) for parts in (fewer, foreign)]
    free = rows - 1 - used[0]
    if free <= used[1]:
        return 0.0
    unsaid = _unsaid(fit, subset, [*fewer, *foreign]) * free / (free - used[1])
    return float(np.clip(1.0 - unsaid / alone, 0.0, 1.0))


def _unsaid(fit: Fit, subset: Subset, others: Sequence[Subset]) -> float:
    """The variance of a part, summed over outputs, that no function allowed in others can say."""
    from scipy.linalg import cho_factor, cho_solve  # on use: scipy.linalg is slow to import

    gram = fit.gram - np.outer(fit.gram[0], fit.gram[0])
    position = np.arange(fit.design.width)
    own = position[fit.design.columns[subset]]
    rest = [i for v in others for i in position[fit.design.columns[v]] if gram[i, i] > 0]
    effect = fit.coefficients[own]
    size = float((effect * (gram[np.ix_(own, own)] @ effect)).sum())
    if not rest:
        return size
    scale = 1.0 / np.sqrt(np.diag(gram)[rest])
    cross = scale[:, None] * (gram[np.ix_(rest, own)] @ effect)
    inner = gram[np.ix_(rest, rest)] * scale[:, None] * scale + _RIDGE * np.eye(len(rest))
    said = float((cross * cho_solve(cho_factor(inner), cross)).sum())
    return size - said if said < (1.0 - 1e-9) * size else 0.0
