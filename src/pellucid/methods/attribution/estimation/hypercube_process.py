"""The hypercube process: a Gaussian process on coalitions, that says what those not asked are likely worth.

A coalition S is a corner s of the cube, s_j = 1 for members and -1 for the others. A pair of S and its complement
splits the game into its odd part ``(v(S) - v(complement)) / 2``, which alone has Shapley values, and its even part
``(v(S) + v(complement)) / 2``, which alone has interactions of two players. Each part is modelled as a Gaussian
process on the cube (`hypercube_kernel`):

    odd:    a linear function of s  +  interactions of orders 3, 5, 7, ...  +  noise [s = t]
    even:   a constant              +  interactions of orders 2, 4, 6, ...  +  noise [s = t]

A free part, so that additive games are fitted exactly; interactions that weigh less the higher they are, and the less
the players of a set take part in interactions at all; and what is too crooked to be learned. The fitted game is linear
in what was asked and passes through all of it, also through the pair of nobody and everybody. (Universal kriging; the
errors when a pair is left out follow from the inverse: Dubrule 1983.)

Which players take part is seen in the other part of the game: players whose interactions of two are large (`activity`,
from the even part) have those of three. All games that are fitted together have the same kernel and one factorisation.

Which kernel fits: how fast the weights of interactions fall (the curve), and how much noise there is. Every curve and
noise is tried on some of the pairs. The free part has a prior that is nearly free: it belongs to the kernel, and one
decomposition ``V diag(d) V'`` of the kernel serves all noises,

    weights = V (d + noise)^-1 V' y,    errors = weights / diagonal of V (d + noise)^-1 V'

The choice is that of least squared error when a pair is left out. Others may do about as well, give other values and
leave more uncertain. `Choice.doubt` says how much larger the variance of the Shapley values is when each is believed by
its loss, ``loss^(-pairs / 2)`` as of independent errors, except that three pairs count as one (in trials, intervals
then held what they should):

    doubt = mean over curves and noises of (variance + (value - value chosen)^2)  /  variance chosen,    at least 1
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.methods.attribution.estimation.hypercube_kernel import (
    Parity,
    even_kernel_values,
    interaction_weights,
    kernel,
    noise_variance,
    odd_kernel_values,
    odd_kernel_variance,
    pair_weights,
)

CURVES = (0.5, 2.5)
NOISES = (1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
_AS_GOOD = 1.002
_NEARLY_FREE = 1e5  # prior variance of the free part
_CHOOSING = 128  # pairs that choose, besides those of single players
_TWOS = 60  # of them with two players, where there are as many
_ONE_OF = 3  # pairs count as one against another curve or noise: what they say overlaps
_FIRST = (0.6, 1e-3)  # curve and noise of the even part while looking for the players that take part
_ROUNDING = 1e-16  # squared interactions that are none
_STILL = 0.01  # of the most active player's activity, that of all others at least
_FOLDS = 8  # of the pairs, held out in turn
_USUAL = 2.0  # folds that moved as the process says
_MOST_MISFIT = 10.0  # of a variance
_UNDETERMINED = 1e-9  # of the variance of a pair before the linear part is learned: what is less is rounding
_ALL = 400  # pairs whose errors are all worked out exactly


@dataclass(frozen=True, eq=False)
class Regression:
    """The fitted games ``g(s) = <trend, s> + sum over the pairs t of weights[t] k(s, t)``; the first pair is everybody
    and nobody.

    ``errors`` say by how much each pair is missed when it is left out. Games are in columns. The trend of an even game
    is its constant. What the fit leaves uncertain is that of the process, times ``scale`` (games): with the kernel of
    the pairs L L' (``factor``) and the free functions F, ``free`` is L^-1 F and ``left`` (F' K^-1 F)^-1. ``bends`` and
    ``noise`` are those of the kernel (`hypercube_kernel`).
    """

    trend: FloatArray
    weights: FloatArray
    errors: FloatArray
    bends: FloatArray
    noise: float
    scale: FloatArray
    factor: FloatArray
    free: FloatArray
    left: FloatArray


class Choice(NamedTuple):
    """``doubt`` (games) is at least 1."""

    curve: float
    noise: float
    doubt: FloatArray


class _Trials(NamedTuple):
    """Of every curve and noise: the mean squared error ``(curves, noises, games)``, and the Shapley values and their
    variances ``(curves, noises, players, games)``.
    """

    losses: FloatArray
    values: FloatArray
    variances: FloatArray


def choose(halves: BoolArray, worth: FloatArray, shares: FloatArray, parity: Parity) -> Choice:
    """Curve and noise of least leave-one-out error, on some of the pairs; the games count relative to their best.

    Single players are among them, because what one of them does alone may be like nothing else. Of noises that do about
    as well the largest is taken: too little noise believes a single odd pair, too much loses little.
    """
    few = spread(halves.sum(axis=1))
    losses, values, variances = _try(halves[few], worth[few], np.outer(CURVES, shares), parity)
    rounding = (1e-13 * np.square(worth[few]).mean(axis=0)) + np.finfo(float).tiny
    relative = ((losses + rounding) / (losses.min(axis=(0, 1)) + rounding)).mean(axis=2)
    curve = int(relative.min(axis=1).argmin())
    good = np.flatnonzero(relative[curve] <= _AS_GOOD * relative[curve].min())
    noise = int(good[-1])
    belief = (relative / relative.min()) ** (-len(halves) / 2 / _ONE_OF)
    believed = variances + np.square(values - values[curve, noise])
    mean = np.tensordot(belief / belief.sum(), believed, axes=2).sum(axis=0)
    own = variances[curve, noise].sum(axis=0)
    doubt = np.maximum(mean / np.where(own > 0, own, np.inf), 1.0)
    return Choice(CURVES[curve], NOISES[noise], doubt)


def spread(sizes: IntArray) -> IntArray:
    """Some pairs of all sizes: everybody first, single players, and others with two players and with more."""
    size = sizes[1:]
    single, two, more = (np.flatnonzero(kind) + 1 for kind in (size == 1, size == 2, size > 2))
    twos = min(len(two), max(_TWOS, _CHOOSING - len(more)))
    chosen = [single[:_CHOOSING], _evenly(two, twos), _evenly(more, _CHOOSING - twos)]
    return np.unique(np.concatenate([[0], *chosen]))


def _evenly(places: IntArray, count: int) -> IntArray:
    """So many of them, evenly spaced."""
    return places[np.linspace(0, len(places) - 1, min(len(places), count)).astype(np.intp)]


def _try(halves: BoolArray, worth: FloatArray, bends: FloatArray, parity: Parity) -> _Trials:
    """The bends of all curves at once; one decomposition for each of them serves every noise."""
    corners = np.where(halves, 1.0, -1.0)
    free = corners if parity == "odd" else np.ones((len(halves), 1))
    prior = _NEARLY_FREE / free.shape[1]
    nearly_free = prior * (free @ free.T)
    found, vectors = np.linalg.eigh(np.stack([kernel(corners, each, parity) + nearly_free for each in bends]))
    turn = vectors.transpose(0, 2, 1)
    inverse = 1 / (np.maximum(found, 0.0)[:, None] + np.array(NOISES)[:, None])  # (curves, noises, pairs)
    turned = inverse[..., None] * (turn @ worth)[:, None]
    weights = vectors[:, None] @ turned
    errors = weights / (inverse @ np.square(vectors).transpose(0, 2, 1))[..., None]
    losses = _mean_product(errors, errors)
    if parity == "even":
        nothing = np.zeros((*losses.shape[:2], 1, 1))
        return _Trials(losses, nothing, nothing)
    p, noises = halves.shape[1], np.array(NOISES)[:, None]
    smooth = np.stack([odd_kernel_values(corners, each) for each in bends]) + 2 * prior * corners
    along = (turn @ smooth)[:, None] + noises[..., None] * (turn @ (2 * pair_weights(halves)))[:, None]
    before = np.stack([odd_kernel_variance(each) for each in bends])[:, None]
    known = (inverse[:, :, None] @ np.square(along))[:, :, 0]
    after = np.maximum(before + 4 * prior + noises * noise_variance(p) - known, 0.0)
    scale = _mean_product(weights, errors)
    return _Trials(losses, along.transpose(0, 1, 3, 2) @ turned, after[..., None] * scale[:, :, None])


def _mean_product(a: FloatArray, b: FloatArray) -> FloatArray:
    """The mean over the pairs, apart from that of everybody, which every fit passes through."""
    return np.asarray(np.einsum("cntg,cntg->cng", a[:, :, 1:], b[:, :, 1:]) / (a.shape[2] - 1))


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


# -- values of the fitted games --------------------------------------------------------------------------


def shapley_of(fit: Regression, halves: BoolArray) -> FloatArray:
    """Shapley values ``(players, games)`` of the odd games fitted to these pairs."""
    return np.asarray(2 * fit.trend + _values_of_kernels(fit, halves).T @ fit.weights)


def shapley_variance(fit: Regression, halves: BoolArray) -> FloatArray:
    """The variance ``(players, games)`` of the Shapley values of the process, given these pairs.

    With c the values of the kernels of the pairs, T the values of the free functions (2 for the player's own), it is

        variance of phi - c' K^-1 c + r' (F' K^-1 F)^-1 r,        r = T - F' K^-1 c

    The variance of phi is that before any pair is known.
    """
    from scipy.linalg import lapack  # on use: scipy is slow to import

    p = halves.shape[1]
    before = odd_kernel_variance(fit.bends) + fit.noise * noise_variance(p)
    along, _ = lapack.dtrtrs(fit.factor, _values_of_kernels(fit, halves), lower=1)
    rest = 2 * np.eye(p) - fit.free.T @ along
    after = before - np.square(along).sum(axis=0) + np.sum(rest * (fit.left @ rest), axis=0)
    return np.asarray(np.maximum(after, 0.0)[:, None] * fit.scale)


def moved(fit: Regression, halves: BoolArray, unasked: FloatArray) -> FloatArray:
    """The jackknife variance ``(players, players, games)`` of the interactions: the sum of the squares by which each
    moves when a fold of the pairs is left out.

    A fold F is then missed by ``e = P_FF^-1 weights_F``, and the weights are others by ``P_F e``. Pairs count by the
    share of their kind that was not asked.
    """
    from scipy.linalg import lapack  # on use: scipy is slow to import

    n, games = len(halves) - 1, fit.weights.shape[1]
    inverse = np.tril(lapack.dtrtri(fit.factor, lower=1)[0])
    free = inverse.T @ fit.free
    changes = []
    for f in range(_FOLDS):
        members = np.arange(1 + f, n + 1, _FOLDS)
        columns = inverse.T @ inverse[:, members] - free @ fit.left @ free[members].T
        missed = np.linalg.solve(columns[members], fit.weights[members])
        changes.append(columns @ (missed * np.sqrt(unasked[members - 1])[:, None]))
    found = interactions_of(replace(fit, weights=np.hstack(changes)), halves)
    return np.asarray(np.square(found.reshape(*found.shape[:2], _FOLDS, games)).sum(axis=2))


def misfit(fit: Regression, halves: BoolArray) -> FloatArray:
    """How much larger the variances ``(players, games)`` of the Shapley values are than the process says, by pairs held
    out; at least 1.

    The pairs are dealt into folds. Without a fold F, whose pairs are then missed by ``e = P_FF^-1 weights_F``, a value
    is another by ``a' e``, with a what it owes to each of them; the process expects ``scale a' P_FF^-1 a`` of its
    square. Where a rule of few players is not learned yet, these players' values move more than that: the mean of the
    ratio over the folds, with a weight of two folds on 1.
    """
    from scipy.linalg import lapack  # on use: scipy is slow to import

    n, p = len(halves) - 1, halves.shape[1]
    inverse, _ = lapack.dtrtri(fit.factor, lower=1)
    inverse = np.tril(inverse)
    along = inverse @ _values_of_kernels(fit, halves)
    free = inverse.T @ fit.free
    rest = 2 * np.eye(p) - fit.free.T @ along
    owed = inverse.T @ along + free @ (fit.left @ rest)
    expected = np.maximum(fit.scale, np.finfo(float).tiny)
    folds = max(_FOLDS, -(-2 * n // max(n - p, 1)))  # each leaves more pairs than players
    total, counted = np.zeros((p, fit.weights.shape[1])), 0
    for f in range(min(folds, n)):
        members = np.arange(1 + f, n + 1, folds)
        columns = inverse[:, members]
        whole = columns.T @ columns
        root, failed = lapack.dpotrf(whole - free[members] @ fit.left @ free[members].T, lower=1)
        if failed or np.any(np.square(np.diag(root)) < _UNDETERMINED * np.diag(whole)):
            continue  # without these pairs the linear part is not determined: how far they are missed is not known
        both, _ = lapack.dpotrs(root, np.hstack([fit.weights[members], owed[members]]), lower=1)
        missed, a = both[:, : len(expected)], owed[members]
        usual = np.sum(a * both[:, len(expected) :], axis=0)[:, None] * expected
        total += np.square(a.T @ missed) / np.maximum(usual, np.finfo(float).tiny)
        counted += 1
    return np.asarray(np.clip((total + _USUAL) / (counted + _USUAL), 1.0, _MOST_MISFIT))


def _values_of_kernels(fit: Regression, halves: BoolArray) -> FloatArray:
    """Shapley values ``(pairs, players)`` of the kernel of each pair, its noise included."""
    return odd_kernel_values(np.where(halves, 1.0, -1.0), fit.bends) + 2 * fit.noise * pair_weights(halves)


def interactions_of(fit: Regression, halves: BoolArray) -> FloatArray:
    """Half the Shapley interaction index ``(players, players, games)`` of the even games, zero on the diagonal."""
    p = halves.shape[1]
    alike, mixed, without = even_kernel_values(p, float(fit.bends.sum()))
    both, one, none = interaction_weights(p)
    size = halves.sum(axis=1)
    table = np.stack([without, mixed, alike])[:, size] + 2 * fit.noise * np.stack([none, one, both])[:, size]
    values = np.zeros((p, p, fit.weights.shape[1]))
    for i in range(p):  # a player at a time: all pairs at once would fill the memory
        together = halves[:, i : i + 1].astype(np.intp) + halves[:, :i]
        coefficient = np.take_along_axis(table, together.T.reshape(i, -1), axis=0) if i else table[:0]
        values[i, :i] = coefficient @ fit.weights
        values[:i, i] = values[i, :i]
    return values
