"""Regression of a game on its coalitions: what the coalitions that were not asked are likely worth.

A coalition S is a corner s of the cube, s_j = 1 for members and -1 for the others. A pair of S and its complement
splits the game into its odd part ``(v(S) - v(complement)) / 2``, which alone has Shapley values, and its even part
``(v(S) + v(complement)) / 2``, which alone has interactions of two players. Each part is modelled as a Gaussian
process on the cube, whose kernel depends on how far two corners agree, u = <s, t> / p:

    odd:    a linear function of s  +  sinh(c u) / sinh(c)  +  noise [s = t]
    even:   a constant              +  cosh(c u) / cosh(c)  +  noise [s = t]

A free part, so that additive games are fitted exactly; interactions of orders 3, 5, 7, ... (2, 4, 6, ...) that weigh less
the higher they are, and the more so the smaller c is; and what is too crooked to be learned. The fitted game is
linear in what was asked and passes through all of it, also through the pair of nobody and everybody. c and the
noise are those of least leave-one-out error; these errors, each of a pair that the fit has not seen, also say how far
the process may be off. (Universal kriging; the errors when a pair is left out follow from the inverse: Dubrule 1983.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray

Parity = Literal["odd", "even"]
CURVES = (0.3, 1.2, 4.0)
NOISES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
_AS_GOOD = 1.002
_NEARLY_FREE = 100.0  # prior variance of the free part while choosing
_ALL = 400  # pairs whose errors are all worked out exactly
_CHOOSING = 128  # pairs that choose between the curves and noises


@dataclass(frozen=True, eq=False)
class Regression:
    """The fitted games ``g(s) = <trend, s> + sum over the pairs t of weights[t] k(s, t)``; the first pair is everybody and nobody.

    ``errors`` say by how much each pair is missed when it is left out. Games are in columns. The trend of an even game
    is its constant. What the fit leaves uncertain is that of the process, times ``scale`` (games): with the kernel of the
    pairs L L' (``factor``) and the free functions F, ``free`` is L^-1 F and ``left`` (F' K^-1 F)^-1.
    """

    trend: FloatArray
    weights: FloatArray
    errors: FloatArray
    curve: float
    noise: float
    scale: FloatArray
    factor: FloatArray
    free: FloatArray
    left: FloatArray


def regress(halves: BoolArray, worth: FloatArray, parity: Parity) -> Regression:
    """Fit the parts ``worth`` (pairs, games) of the pairs ``halves``."""
    sides = np.where(halves, 1.0, -1.0)
    scale = np.sqrt(np.mean(np.square(worth), axis=0))
    relative = worth / np.where(scale > 0, scale, 1.0)
    corners = sides.astype(np.float32)  # whole numbers are exact in it
    agreement = ((corners @ corners.T + halves.shape[1]) * 0.5).astype(np.intp)
    sizes = halves.sum(axis=1)
    curve, noise = _choose(agreement, relative, sizes, parity)
    free = sides if parity == "odd" else np.ones((len(sides), 1))
    curved = kernel(agreement, halves.shape[1], curve, parity)
    solved = _solve(curved, free, relative, noise, sizes)
    return Regression(
        solved.trend * scale, solved.weights * scale, solved.errors * scale, curve, noise,
        solved.scale * np.square(scale), solved.factor, solved.free, solved.left,
    )  # fmt: skip


def _choose(agreement: IntArray, worth: FloatArray, sizes: IntArray, parity: Parity) -> tuple[float, float]:
    """Curve and noise of least leave-one-out error, on some of the pairs; the games count relative to their best.

    Single players are among them, because what one of them does alone may be like nothing else. Of noises that do about as well
    the largest is taken: too little noise believes a single odd pair, too much loses little.
    """
    few = _spread(sizes)
    small, p = agreement[np.ix_(few, few)], int(agreement[0, 0])
    nearly_free = _NEARLY_FREE * (2 * small / p - 1 if parity == "odd" else np.ones(small.shape))
    losses = np.stack(
        [_losses(kernel(small, p, curve, parity) + nearly_free, worth[few]) for curve in CURVES]
    )
    best = losses.min(axis=(0, 1))
    rounding = (1e-13 * np.square(worth).mean(axis=0)) + np.finfo(float).tiny
    relative = ((losses + rounding) / (best + rounding)).mean(axis=2)
    curve = int(relative.min(axis=1).argmin())
    good = np.flatnonzero(relative[curve] <= _AS_GOOD * relative[curve].min())
    return CURVES[curve], NOISES[int(good[-1])]


def _spread(sizes: IntArray) -> IntArray:
    """Some pairs of all sizes: everybody first, single players, and others evenly spaced."""
    singles = np.flatnonzero(sizes == 1)[:_CHOOSING]
    others = np.flatnonzero(sizes != 1)
    places = np.linspace(0, len(others) - 1, min(len(others), max(_CHOOSING, len(singles)))).astype(np.intp)
    return np.unique(np.concatenate([[0], singles, others[places]]))


def _losses(smooth: FloatArray, worth: FloatArray) -> FloatArray:
    """Mean squared leave-one-out errors ``(noises, games)``: one decomposition serves every noise."""
    values, vectors = np.linalg.eigh(smooth)
    turned = vectors.T @ worth
    losses = np.empty((len(NOISES), worth.shape[1]))
    for k, noise in enumerate(NOISES):
        inverse = 1 / (np.maximum(values, 0.0) + noise)
        weights = vectors @ (inverse[:, None] * turned)
        errors = weights / (np.square(vectors) @ inverse)[:, None]
        losses[k] = np.square(errors[1:]).mean(axis=0)
    return losses


def kernel(agreement: IntArray, p: int, curve: float, parity: Parity) -> FloatArray:
    """The curved part of the kernel, of two corners that agree in so many of the p players."""
    u = np.linspace(-1, 1, p + 1)
    bent = np.sinh(curve * u) / np.sinh(curve) if parity == "odd" else np.cosh(curve * u) / np.cosh(curve)
    return np.asarray(bent[agreement])


class _Solved(NamedTuple):
    trend: FloatArray
    weights: FloatArray
    errors: FloatArray
    scale: FloatArray
    factor: FloatArray
    free: FloatArray
    left: FloatArray


def _solve(
    curved: FloatArray, free: FloatArray, worth: FloatArray, noise: float, sizes: IntArray
) -> _Solved:
    """The free part, the weights of the pairs, and by how much each pair is missed when it is left out.

    With K the kernel, F the free functions: trend = (F' K^-1 F)^-1 F' K^-1 y, weights = P y, errors = weights / diagonal of P,
    where P = K^-1 - K^-1 F (F' K^-1 F)^-1 F' K^-1. The process expects squared errors of 1 / diagonal of P; how much larger
    they are on average, with the degrees of freedom that the free part leaves, is the scale. The kernel is overwritten.
    """
    from scipy.linalg import lapack  # on use: scipy is slow to import

    curved.ravel()[:: len(curved) + 1] += noise
    # The kernel is symmetric: its transpose is what the Fortran routines overwrite without a copy.
    factor, _ = lapack.dpotrf(curved.T, lower=1, overwrite_a=1)
    both, _ = lapack.dtrtrs(factor, np.hstack([worth, free]), lower=1)
    y, f = both[:, : worth.shape[1]], both[:, worth.shape[1] :]
    inverse = np.linalg.pinv(f.T @ f, rcond=1e-12, hermitian=True)
    trend = inverse @ (f.T @ y)
    weights, _ = lapack.dtrtrs(factor, y - f @ trend, lower=1, trans=1)
    some = _some_of_each(sizes)
    units = np.zeros((len(curved), len(some)))
    units[some, np.arange(len(some))] = 1.0
    columns, _ = lapack.dtrtrs(factor, units, lower=1, overwrite_b=1)
    along = f.T @ columns
    diagonal = np.square(columns).sum(axis=0)
    unseen = np.maximum(diagonal - np.sum(along * (inverse @ along), axis=0), 1e-9 * diagonal)
    diagonal_of_p = _spread_out(unseen, some, sizes)[:, None]
    errors = weights / diagonal_of_p
    n = len(weights) - 1
    scale = (weights * errors)[1:].mean(axis=0) * n / max(n - free.shape[1], 1)
    return _Solved(trend, weights, errors, scale, factor, f, inverse)


def _some_of_each(sizes: IntArray) -> IntArray:
    """All pairs, or of many pairs some of each size."""
    if len(sizes) <= _ALL:
        return np.arange(len(sizes))
    kinds, which = np.unique(sizes, return_inverse=True)
    each = max(_ALL // 8 // len(kinds), 2)
    order = np.argsort(which, kind="stable")
    rank = np.empty(len(sizes), dtype=np.intp)
    rank[order] = np.arange(len(sizes)) - np.searchsorted(which[order], which[order])
    return np.flatnonzero(rank < each)


def _spread_out(found: FloatArray, some: IntArray, sizes: IntArray) -> FloatArray:
    """The values found for some pairs, and for the others the mean of those of the same size: they hardly differ."""
    totals, counts = (np.bincount(sizes[some], x, minlength=sizes.max() + 1) for x in (found, None))
    everywhere = (totals / np.maximum(counts, 1))[sizes]
    everywhere[some] = found
    return np.asarray(everywhere)
