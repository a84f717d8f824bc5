"""Which kernel fits: how fast the weights of interactions fall, and how much noise there is.

Every curve and noise is tried on some of the pairs. The free part has a prior that is nearly free: it belongs to the
kernel, and one decomposition ``V diag(d) V'`` of the kernel serves all noises,

    weights = V (d + noise)^-1 V' y,    errors = weights / diagonal of V (d + noise)^-1 V'

The choice is that of least squared error when a pair is left out. Others may do about as well, give other values and
leave more uncertain. `Choice.doubt` says how much larger the variance of the Shapley values is when each is believed by
its loss,
``loss^(-pairs / 2)`` as of independent errors, except that three pairs count as one (in trials, intervals then held
what they should):

    doubt = mean over curves and noises of (variance + (value - value chosen)^2)  /  variance chosen,    at least 1
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.methods.attribution.cube_kernel import Parity, kernel
from pellucid.methods.attribution.cube_shapley import (
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
