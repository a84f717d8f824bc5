"""Shapley values of a link of a sum with one term per player: logistic and Poisson regression on the scale of their
predictions, for any number of players.

For one background row let the sum be c and let player j change it by d_j, so that v(S) = g(c + sum of d_j over S). With
everybody in S with probability t (Owen 1972),

    phi_i  =  integral over t of  E [ g(c + d_i + X) - g(c + X) ],     X the sum of d_j over the others in S

For g = exp the expectation is a product over the players. The logistic function is a sum of waves,

    1 / (1 + exp(-x))  =  1/2  +  integral over w > 0 of  sin(w x) / sinh(pi w),

whose expectation is again a product: that of (1 - t + t exp(i w d_j)). Evenly spaced waves of distance h are as good as
all of them up to exp(R - 2 pi / h) for sums between -R and R, and a wave is as small as exp(-pi w): some twenty plus R
of them leave 1e-8. In t the integrand is a polynomial, taken by Gauss and Legendre. Nothing is sampled.

With s = 2 t - 1 a factor is exp(i w d_j / 2) (cos(w d_j / 2) + i s sin(w d_j / 2)), and its bracket at -s is the
conjugate: opposite points together are twice a real part, half of them suffice (`_compiled_waves`):

    phi_i  =  sum over w of  2 size(w) sin(w d_i / 2) cos(w (c + sum of d_j / 2))
              times the mean over s of  Re prod over j != i of (cos(w d_j / 2) + i s sin(w d_j / 2))
"""

from __future__ import annotations

from functools import lru_cache
from math import pi

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.trees.plain.choice import can_compile

_DIGITS = 19.0  # the error is about exp(-this)
_BLOCK = 8  # background rows


def poisson_effects(start: FloatArray, steps: FloatArray, share: FloatArray) -> FloatArray:
    """``(players,)`` of exp of a sum: ``start`` (background,), ``steps`` (background, players)."""
    points, weights = _times(steps.shape[1])
    factors = 1 + points[:, None, None] * np.expm1(steps)  # (times, background, players)
    others = _products_of_others(factors)
    return np.asarray(np.einsum("b,q,qbi,bi->i", share * np.exp(start), weights, others, np.expm1(steps)))


def logistic_effects(
    start: FloatArray, steps: FloatArray, share: FloatArray, *, compiled: bool | None = None
) -> FloatArray:
    """The same of the logistic function of a sum; compiled where that can be."""
    low, high = start + np.minimum(steps, 0).sum(axis=1), start + np.maximum(steps, 0).sum(axis=1)
    reach = float(max(-low.min(), high.max(), 0.0))
    distance = 2 * pi / (reach + _DIGITS)
    angle = distance * np.arange(1, int(np.ceil(_DIGITS / pi / distance)) + 1)
    size = distance / np.sinh(pi * angle)
    waves = _compiled_waves if compiled or (compiled is None and can_compile()) else _waves
    return np.asarray(share @ (waves(start, steps, distance, size) + steps * distance / (2 * pi)))


def _compiled_waves(start: FloatArray, steps: FloatArray, distance: float, size: FloatArray) -> FloatArray:
    from pellucid.trees.kernels.logistic_sums import add_waves

    n, players = steps.shape
    blocks = -(-n // _BLOCK)
    angles = np.zeros((blocks * _BLOCK, players + 1))
    angles[:n, :players] = steps * (distance / 2)
    angles[:n, players] = (start + steps.sum(axis=1) / 2) * distance
    angles = angles.reshape(blocks, _BLOCK, players + 1).transpose(0, 2, 1)
    turn = np.ascontiguousarray(np.stack([np.cos(angles), np.sin(angles)], axis=2))
    out = np.zeros((blocks, players, _BLOCK))
    add_waves(turn, size, *_later_half(players), out)
    return np.asarray(out.transpose(0, 2, 1).reshape(-1, players)[:n])


def _waves(start: FloatArray, steps: FloatArray, distance: float, size: FloatArray) -> FloatArray:
    """The same in plain numpy."""
    points, weights = _times(steps.shape[1])
    found = np.zeros(steps.shape)
    for n, wave in enumerate(size, 1):
        turns = np.expm1(1j * n * distance * steps)
        others = _products_of_others(1 + points[:, None, None] * turns)
        mean = np.einsum("q,qbi->bi", weights, others)
        found += wave * (np.exp(1j * n * distance * start)[:, None] * turns * mean).imag
    return found


def _products_of_others(factors: np.ndarray) -> np.ndarray:
    """Along the last axis the product of all but one."""
    before, after = np.ones_like(factors), np.ones_like(factors)
    np.cumprod(factors[..., :-1], axis=-1, out=before[..., 1:])
    after[..., :-1] = np.cumprod(factors[..., :0:-1], axis=-1)[..., ::-1]
    return before * after


@lru_cache(maxsize=64)
def _times(players: int) -> tuple[FloatArray, FloatArray]:
    """Enough for a polynomial of as many players, or for 1e-8."""
    nodes, weights = np.polynomial.legendre.leggauss(min(-(-players // 2), 8 + players // 16))
    return (nodes + 1) / 2, weights / 2


@lru_cache(maxsize=64)
def _later_half(players: int) -> tuple[FloatArray, FloatArray]:
    """Of as many times, or one more, those after one half, from -1 to 1, each for itself and for its opposite."""
    nodes, weights = np.polynomial.legendre.leggauss(2 * -(-len(_times(players)[0]) // 2))
    return nodes[nodes > 0], weights[nodes > 0]
