"""Regression of a game on its coalitions: what the coalitions that were not asked are likely worth.

A coalition S is a corner s of the cube, s_j = 1 for members and -1 for the others. A pair of S and its complement
splits the game into its odd part ``(v(S) - v(complement)) / 2``, which alone has Shapley values, and its even part
``(v(S) + v(complement)) / 2``, which alone has interactions of two players. Each part is modelled as a Gaussian
process on the cube (kernels: `cube_kernel`):

    odd:    a linear function of s  +  interactions of orders 3, 5, 7, ...  +  noise [s = t]
    even:   a constant              +  interactions of orders 2, 4, 6, ...  +  noise [s = t]

A free part, so that additive games are fitted exactly; interactions that weigh less the higher they are, and the less
the players of a set take part in interactions at all; and what is too crooked to be learned. The fitted game is linear
in what was asked and passes through all of it, also through the pair of nobody and everybody. How fast the weights fall
(c) and the noise are those of least leave-one-out error; these errors, each of a pair that the fit has not seen, also
say how far the process may be off. (Universal kriging; the errors when a pair is left out follow from the inverse:
Dubrule 1983.)

Which players take part is seen in the other part of the game: players whose interactions of two are large (`activity`,
from the even part) have those of three. All games that are fitted together have the same kernel and one factorisation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.methods.attribution.cube_choice import choose, spread
from pellucid.methods.attribution.cube_fit import Regression
from pellucid.methods.attribution.cube_kernel import Parity, kernel

_FIRST = (0.6, 1e-3)  # curve and noise of the even part while looking for the players that take part
_ROUNDING = 1e-16  # squared interactions that are none
_STILL = 0.01  # of the most active player's activity, that of all others at least
_ALL = 400  # pairs whose errors are all worked out exactly


def regress(halves: BoolArray, worth: FloatArray, parity: Parity, active: FloatArray | None = None) -> Regression:
    """Fit the parts ``worth`` (pairs, games) of the pairs ``halves``; ``active`` says how much each player takes
    part.
    """
    corners, p = np.where(halves, 1.0, -1.0), halves.shape[1]
    scale = np.sqrt(np.mean(np.square(worth), axis=0))
    relative = worth / np.where(scale > 0, scale, 1.0)
    sizes = halves.sum(axis=1)
    shares = np.full(p, 1 / p) if active is None else active / active.sum()
    chosen = choose(halves, relative, shares, parity)
    free = corners if parity == "odd" else np.ones((len(corners), 1))
    bends = chosen.curve * shares
    solved = _solve(kernel(corners, bends, parity), free, relative, chosen.noise, sizes)
    n = len(halves) - 1
    # Wider for what was fitted: the kernel, or the free part.
    wider = np.maximum(chosen.doubt, n / max(n - free.shape[1], 1))
    return Regression(
        solved.trend * scale,
        solved.weights * scale,
        solved.errors * scale,
        bends,
        chosen.noise,
        solved.scale * np.square(scale) * wider,
        solved.factor,
        solved.free,
        solved.left,
    )


def activity(halves: BoolArray, even: FloatArray) -> FloatArray:
    """How much each player takes part in interactions of two, over all games; about 1 for the one that does most.

    A first regression of the even parts, with players alike, expects the interaction of i and j to be
    ``b_ij = sum over the pairs t of weights[t] t_i t_j`` (times a constant); the activity of i is the root of the sum
    of b_ij^2 over j and all games, each counting the same.
    """
    from scipy.linalg import lapack  # on use: scipy is slow to import

    few = spread(halves.sum(axis=1))
    corners, p = np.where(halves[few], 1.0, -1.0), halves.shape[1]
    curve, noise = _FIRST
    curved = kernel(corners, np.full(p, curve / p), "even")
    curved.ravel()[:: len(few) + 1] += noise
    scale = np.sqrt(np.mean(np.square(even[few]), axis=0))
    both = np.column_stack([even[few] / np.where(scale > 0, scale, 1.0), np.ones(len(few))])
    _, solved, _ = lapack.dposv(curved.T, both, overwrite_a=1)
    constant = solved[:, -1:]
    weights = solved[:, :-1] - constant * (solved[:, :-1].sum(axis=0) / constant.sum())
    agreement = corners @ corners.T
    own = np.sum(weights * (np.square(agreement) @ weights), axis=0)  # of each game, all its b_ij^2
    alike = weights * np.where(own > _ROUNDING, 1 / np.sqrt(np.maximum(own, _ROUNDING)), 0.0)
    squares = np.sum(corners * ((alike @ alike.T * agreement) @ corners), axis=0)
    most = squares.max()
    return np.sqrt(np.maximum(squares, 0.0) / most + _STILL) if most > 0 else np.ones(p)


class _Solved(NamedTuple):
    trend: FloatArray
    weights: FloatArray
    errors: FloatArray
    scale: FloatArray
    factor: FloatArray
    free: FloatArray
    left: FloatArray


def _solve(curved: FloatArray, free: FloatArray, worth: FloatArray, noise: float, sizes: IntArray) -> _Solved:
    """The free part, the weights of the pairs, and by how much each pair is missed when it is left out.

    With K the kernel, F the free functions: trend = (F' K^-1 F)^-1 F' K^-1 y, weights = P y, errors = weights /
    diagonal of P, where P = K^-1 - K^-1 F (F' K^-1 F)^-1 F' K^-1. The process expects squared errors of 1 / diagonal of
    P; how much larger they are on average is the scale. The kernel is overwritten.
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
    scale = (weights * errors)[1:].mean(axis=0)
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
