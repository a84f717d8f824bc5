"""Which pairs of features are worth a surface: a test of what the functions of one feature leave over.

Definition. Along each feature rows fall into a few cells. With R the sums of the residuals in the cells of two
features, what a sum of two functions of one feature could still say taken out, and w the weights of the cells,

    Q = tr(R' K_1 R K_2),        E Q = tr(P K),        Var Q = 2 tr(P K P K),

where K_1, K_2 are Brownian kernels along numbers and the identity for levels, K their product, and P the covariance of
R if there is no interaction: the score test of a smooth surface (Lin 1997). Q is compared with a scaled chi-squared of
the same mean and variance. Of all pairs those are kept that pass Benjamini and Hochberg's rule: the share of pairs that
are none is then at most ``false`` on average.

When it misleads. (1) A pattern that the coarse cells average out is not seen. (2) Correlated features: the pair of a
stand-in may be found instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import chi2

from pellucid.arrays import FloatArray, IntArray
from pellucid.glassbox.additive import kernels
from pellucid.glassbox.additive.axes import Axis

_CELLS = 6  # along a feature, at most; the rarest levels of a category share one


@dataclass(frozen=True)
class Candidate:
    """A pair, the chance of so much evidence without interaction, and the evidence in standard deviations."""

    features: tuple[int, int]
    p_value: float
    evidence: float


@dataclass(frozen=True, eq=False)
class Cells:
    """Of one feature: the cell of every row, how many there are, and the kernel along them."""

    at: IntArray
    count: int
    kernel: FloatArray

    @staticmethod
    def of(axis: Axis, codes: FloatArray, weights: FloatArray) -> Cells:
        """A few cells along an axis."""
        coarse = axis.coarser(codes, weights, _CELLS)
        index, share = coarse.place(codes)
        at = np.where(share > 0.5, index + 1, index).astype(np.int64)
        if axis.nominal and coarse.size > _CELLS:
            order = np.argsort(-np.bincount(at, weights, coarse.size), kind="stable")
            rank = np.empty(coarse.size, dtype=np.int64)
            rank[order] = np.arange(coarse.size)
            at = np.minimum(rank[at], _CELLS - 1)
        _, at = np.unique(at, return_inverse=True)
        count = int(at.max()) + 1
        return Cells(at, count, np.eye(count) if axis.nominal else _brownian(count))


def candidates(cells: list[Cells], weights: FloatArray, residuals: FloatArray, allowed: list[int]) -> list[Candidate]:
    """Every pair of the allowed features, the strongest evidence first.

    ``weights`` and ``residuals`` are ``(rows, sums)``: working weights, and residuals times these, over the square root
    of phi.
    """
    found = [
        Candidate((j, k), *_evidence(cells[j], cells[k], weights, residuals))
        for j, k in combinations(allowed, 2)
        if cells[j].count > 1 and cells[k].count > 1
    ]
    return sorted(found, key=lambda each: (-each.evidence, each.features))


def significant(found: list[Candidate], false: float) -> list[Candidate]:
    """Those that pass Benjamini and Hochberg's rule, in their order."""
    ranked = np.sort([each.p_value for each in found])
    below = np.flatnonzero(ranked <= false * np.arange(1, len(ranked) + 1) / max(len(ranked), 1))
    largest = ranked[below[-1]] if len(below) else -1.0
    return [each for each in found if each.p_value <= largest]


def _evidence(first: Cells, second: Cells, weights: FloatArray, residuals: FloatArray) -> tuple[float, float]:
    """The chance of so much evidence, and how many standard deviations it is above what chance gives."""
    total, mean, variance = 0.0, 0.0, 0.0
    for mass, sums in _summed(first, second, weights, residuals):
        q, trace, square = _score(mass, sums, first.kernel, second.kernel)
        total, mean, variance = total + q, mean + trace, variance + square
    if mean <= 0.0 or variance <= 0.0:
        return 1.0, 0.0
    freedom = 2.0 * mean * mean / variance
    return float(chi2.sf(total * freedom / mean, freedom)), (total - mean) / float(np.sqrt(variance))


def _summed(
    first: Cells, second: Cells, weights: FloatArray, residuals: FloatArray
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Weights and sums of residuals of the cells, for each sum."""
    for k in range(weights.shape[1]):
        mass, sums = np.zeros(first.count * second.count), np.zeros(first.count * second.count)
        kernels.cell_sums(first.at, second.at, second.count, weights[:, k], residuals[:, k], mass, sums)
        yield mass.reshape(first.count, second.count), sums.reshape(first.count, second.count)


def _score(mass: FloatArray, sums: FloatArray, K1: FloatArray, K2: FloatArray) -> tuple[float, float, float]:
    """Q, its mean and its variance without interaction."""
    a, b = mass.shape
    X = np.hstack([np.repeat(np.eye(a), b, axis=0), np.tile(np.eye(b), (a, 1))])
    w = mass.ravel()
    WX = w[:, None] * X
    inverse = np.linalg.pinv(X.T @ WX, rcond=1e-10, hermitian=True)
    R = (sums.ravel() - WX @ (inverse @ (X.T @ sums.ravel()))).reshape(a, b)
    P = np.diag(w) - WX @ inverse @ WX.T
    PK = P @ np.kron(K1, K2)
    return float((R * (K1 @ R @ K2)).sum()), float(np.trace(PK)), float(2.0 * (PK * PK.T).sum())


def _brownian(count: int) -> FloatArray:
    """The covariance of a random walk over the cells, centred."""
    walk = np.minimum.outer(np.arange(1.0, count + 1), np.arange(1.0, count + 1)) / count
    centre = np.eye(count) - 1.0 / count
    return np.asarray(centre @ walk @ centre)
