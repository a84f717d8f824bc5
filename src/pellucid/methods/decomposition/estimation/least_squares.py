"""Parts of one, two and three features fitted to predictions at points, all at once.

The model is ``f(x) = constant + sum over S of sum over steps of beta * product of the steps of the features in S``. Its
normal equations are added up over blocks of points, so that the matrix of all steps at all points is never needed.
Coefficients of parts of several features are mixed rises of the function from one cell of knots to the next; a ridge on
them pulls cells with few points towards no interaction. How strongly is chosen by generalised cross-validation (Golub,
Heath and Wahba 1979).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.methods.decomposition.estimation.basis import Basis
from pellucid.runner.intervention import blocks

Subset = tuple[int, ...]  # positions in the list of bases

_BLOCK = 4 * 2**20  # numbers in one block of the matrix of steps
_LEAST = 1e-7  # ridge in rows: it only makes the equations solvable
_RIDGES = (1e-4, 1e-2, 0.1, 1.0, 10.0)
_UNDOING = 4
_EXACT = 600  # up to so many coefficients the trace is worked out
_PROBES = 16
_RANK = 1e-11  # directions below this share of the largest are none: the points cannot tell them apart
_RIDGE = 1e-9  # makes equations that depend on each other solvable


@dataclass(frozen=True, eq=False)
class Design:
    """Which columns of the normal equations belong to which part; column 0 is the constant."""

    bases: Sequence[Basis]
    subsets: tuple[Subset, ...]

    @cached_property
    def columns(self) -> dict[Subset, slice]:
        """The columns of every part, in the order of ``subsets``."""
        where, start = {}, 1
        for subset in self.subsets:
            where[subset] = slice(start, start + self.size(subset))
            start += self.size(subset)
        return where

    def size(self, subset: Subset) -> int:
        """Number of columns of a part."""
        return int(np.prod([self.bases[j].steps[len(subset) - 1].shape[1] for j in subset]))

    @property
    def width(self) -> int:
        """Number of columns, the constant included."""
        return 1 + sum(where.stop - where.start for where in self.columns.values())

    def block(self, rows: slice) -> FloatArray:
        """All columns at some of the points."""
        n = rows.stop - rows.start
        out = np.ones((n, self.width))
        steps: dict[tuple[int, int], FloatArray] = {}
        for subset, where in self.columns.items():
            product = np.ones((n, 1))
            for j in subset:
                key = (j, len(subset))
                if key not in steps:
                    steps[key] = self.bases[j].columns(len(subset), rows)
                product = (product[:, :, None] * steps[key][:, None, :]).reshape(n, -1)
            out[:, where] = product
        return out

    def table(self, subset: Subset, coefficients: FloatArray) -> FloatArray:
        """A part's function at every combination of places, ``(places, ..., outputs)``."""
        steps = [self.bases[j].steps[len(subset) - 1] for j in subset]
        table = coefficients.reshape(*(step.shape[1] for step in steps), coefficients.shape[-1])
        for axis, step in enumerate(steps):
            table = np.moveaxis(np.tensordot(step, table, axes=(1, axis)), 0, axis)
        return np.asarray(table)


@dataclass(frozen=True, eq=False)
class Fit:
    """Coefficients ``(columns, outputs)``, the matrix of weighted inner products of columns, and what was used up.

    ``ridge`` is in rows; ``parameters`` the effective number of coefficients.
    """

    design: Design
    gram: FloatArray
    coefficients: FloatArray
    ridge: float
    parameters: float


def fit(
    design: Design, f: FloatArray, weights: FloatArray, *, rows: int, smooth: bool, generator: np.random.Generator
) -> Fit:
    """Weighted least squares of predictions ``(points, outputs)``; ``rows`` is the number of different points.

    With ``smooth`` the ridge is chosen; without it, it is as small as possible.
    """
    share = weights / weights.sum()
    gram, moments = _normal_equations(design, f, share)
    means, centre = gram[0], moments[0]
    inner = gram[1:, 1:] - np.outer(means[1:], means[1:])
    right = moments[1:] - np.outer(means[1:], centre)
    spread = share @ np.square(f - centre)
    several = np.repeat(
        [len(subset) > 1 for subset in design.columns], [where.stop - where.start for where in design.columns.values()]
    )
    solved = []
    for ridge in _RIDGES if smooth and several.any() else (_LEAST,):
        penalty = np.where(several, ridge, _LEAST) / rows
        found, parameters = _ridge(inner, right, penalty, generator, undo=ridge == _LEAST)
        error = spread - 2 * (found * right).sum(axis=0) + (found * (inner @ found)).sum(axis=0)
        solved.append((_cross_validated(error, spread, (1.0 + parameters) / rows, rows), ridge, found, parameters))
    _, ridge, found, parameters = min(solved, key=lambda each: each[0])
    coefficients = np.vstack([centre - means[1:] @ found, found])
    return Fit(design, gram, coefficients, ridge, parameters)


def _cross_validated(error: FloatArray, spread: FloatArray, used: float, rows: int) -> float:
    """Generalised cross-validation, summed over outputs as shares of their variance; ``used`` is parameters per row."""
    shares = np.divide(np.maximum(error, 0.0), spread, out=np.zeros_like(spread), where=spread > 0)
    return float(shares.sum()) / max(1.0 - used, 1.0 / rows) ** 2


def _normal_equations(design: Design, f: FloatArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    width = design.width
    gram, moments = np.zeros((width, width)), np.zeros((width, f.shape[1]))
    for rows in blocks(len(f), max(1, _BLOCK // width)):
        columns = design.block(rows)
        weighted = columns * share[rows, None]
        gram += weighted.T @ columns
        moments += weighted.T @ f[rows]
    return gram, moments


def _ridge(
    inner: FloatArray, right: FloatArray, ridge: FloatArray, generator: np.random.Generator, *, undo: bool
) -> tuple[FloatArray, float]:
    """Coefficients, and their effective number, the trace of ``inner (inner + ridge)^-1``.

    With ``undo`` the ridge is taken back wherever the points say anything: what it left over is fitted again and again.
    """
    from scipy.linalg import cho_factor, cho_solve  # on use: scipy.linalg is slow to import

    if not len(ridge):
        return np.zeros_like(right), 0.0
    factor = cho_factor(inner + np.diag(ridge))
    found = cho_solve(factor, right)
    for _ in range(_UNDOING if undo else 1):
        pull = 0.0 if undo else ridge[:, None] * found
        found += cho_solve(factor, right - inner @ found - pull)  # the rounding is put right, too
    if len(ridge) <= _EXACT:
        lost = float(ridge @ np.diag(cho_solve(factor, np.eye(len(ridge)))))
    else:  # random signs give the trace on average (Hutchinson 1990)
        signs = generator.choice([-1.0, 1.0], size=(len(ridge), _PROBES))
        lost = float((signs * ridge[:, None] * cho_solve(factor, signs)).sum()) / _PROBES
    return np.asarray(found), float(np.clip(len(ridge) - lost, 0.0, len(ridge)))


def inner_products(design: Design, values: FloatArray, share: FloatArray) -> FloatArray:
    """Weighted inner products ``(columns, values)`` of all columns with functions given at the points."""
    products = np.zeros((design.width, values.shape[1]))
    for rows in blocks(len(values), max(1, _BLOCK // design.width)):
        products += design.block(rows).T @ (share[rows, None] * values[rows])
    return products


# -- hierarchical orthogonality --------------------------------------------------------------------
#
# Parts made hierarchically orthogonal: what fewer features can say is said by the parts of fewer features.
#
# From the parts of most features down: each is projected (weighted least squares at the points) on the functions
# allowed in all parts of some of its features, the projection is taken out of it and added to those parts. The sum does
# not change, and afterwards every part has mean zero and is uncorrelated with every function allowed in a part of some
# of its features. For a given sum this is the only way to be so, unless features determine each other at the points.


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
