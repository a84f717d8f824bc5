"""Shapley and interaction values of the games that `cube_regression` fits, exactly.

The game ``exp(c u)`` of s, for a corner t, is a product over the players: with a = c / p, a player counts e^a where s and
t agree and e^-a where not. When everybody joins with chance q, a player of t is on average worth
``q e^a + (1-q) e^-a``, any other ``q e^-a + (1-q) e^a``, and Shapley's average over orders is the integral over q from 0 to 1
of the others' product times the player's own step (Owen 1972): a polynomial, so that Gauss-Legendre nodes give it
exactly. It depends on t only through its size and through whether the player belongs to it.
"""

from __future__ import annotations

from math import ceil, comb

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.methods.attribution.cube_regression import Regression


def shapley_of(fit: Regression, halves: BoolArray) -> FloatArray:
    """Shapley values ``(players, games)`` of the odd games fitted to these pairs."""
    return np.asarray(2 * fit.trend + _values_of_kernels(fit, halves).T @ fit.weights)


def shapley_variance(fit: Regression, halves: BoolArray) -> FloatArray:
    """The variance ``(players, games)`` of the Shapley values of the process, given these pairs.

    With c the values of the kernels of the pairs, T the values of the free functions (2 for the player's own), it is

        variance of phi - c' K^-1 c + r' (F' K^-1 F)^-1 r,        r = T - F' K^-1 c

    Before any pair is known the variance of phi is, for all players, the value of the kernels' values: a mean over the
    sizes; and the sum of the squared weights for the noise, which is independent from pair to pair.
    """
    from scipy.linalg import lapack  # on use: scipy is slow to import

    p = halves.shape[1]
    inside, outside = odd_curve_values(p, fit.curve)
    squares = 4 / p * sum(1 / (k * comb(p, k)) for k in range(1, p + 1))
    before = (inside[1:].sum() - outside[:-1].sum()) / p + fit.noise * squares
    along, _ = lapack.dtrtrs(fit.factor, _values_of_kernels(fit, halves), lower=1)
    rest = 2 * np.eye(p) - fit.free.T @ along
    after = before - np.square(along).sum(axis=0) + np.sum(rest * (fit.left @ rest), axis=0)
    return np.asarray(np.maximum(after, 0.0)[:, None] * fit.scale)


def _values_of_kernels(fit: Regression, halves: BoolArray) -> FloatArray:
    """Shapley values ``(pairs, players)`` of the kernel of each pair, its noise included."""
    inside, outside = odd_curve_values(halves.shape[1], fit.curve)
    size = halves.sum(axis=1)
    curved = np.where(halves, inside[size][:, None], outside[size][:, None])
    return np.asarray(curved + 2 * fit.noise * pair_weights(halves))


def interactions_of(fit: Regression, halves: BoolArray) -> FloatArray:
    """Half the Shapley interaction index ``(players, players, games)`` of the even games, zero on the diagonal."""
    p = halves.shape[1]
    alike, mixed, without = even_curve_values(p, fit.curve)
    both, one, none = interaction_weights(p)
    size = halves.sum(axis=1)
    table = (
        np.stack([without, mixed, alike])[:, size] + 2 * fit.noise * np.stack([none, one, both])[:, size]
    )
    values = np.zeros((p, p, fit.weights.shape[1]))
    for i in range(p):  # a player at a time: all pairs at once would fill the memory
        together = halves[:, i : i + 1].astype(np.intp) + halves[:, :i]
        coefficient = np.take_along_axis(table, together.T.reshape(i, -1), axis=0) if i else table[:0]
        values[i, :i] = coefficient @ fit.weights
        values[:i, i] = values[i, :i]
    return values


def _likeness(p: int, curve: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What a player of t, and another, is worth on average at the nodes; and the weights of the nodes."""
    nodes, weights = np.polynomial.legendre.leggauss(ceil(p / 2) + 1)
    q, a = (nodes + 1) / 2, curve / p
    return q * np.exp(a) + (1 - q) * np.exp(-a), q * np.exp(-a) + (1 - q) * np.exp(a), weights / 2


def odd_curve_values(p: int, curve: float) -> tuple[FloatArray, FloatArray]:
    """Shapley values of ``sinh(c u) / sinh(c)`` for players inside and outside of t, by the size of t."""
    like, unlike, w = _likeness(p, curve)
    size = np.arange(p + 1)[:, None]
    step = 2 * np.sinh(curve / p) / np.sinh(curve)
    inside = step * (like ** np.maximum(size - 1, 0) * unlike ** (p - size)) @ w
    outside = -step * (like**size * unlike ** np.maximum(p - size - 1, 0)) @ w
    # sinh is half of exp(c u) minus exp(-c u), and the latter belongs to the complement of t.
    return (inside - outside[::-1]) / 2, (outside - inside[::-1]) / 2


def even_curve_values(p: int, curve: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Half the interaction index of ``cosh(c u) / cosh(c)`` for two players inside, one inside, none, by the size of t."""
    like, unlike, w = _likeness(p, curve)
    size = np.arange(p + 1)[:, None]
    step = (2 * np.sinh(curve / p)) ** 2 / np.cosh(curve) / 2
    alike = step * (like ** np.maximum(size - 2, 0) * unlike ** (p - size)) @ w
    mixed = -step * (like ** np.maximum(size - 1, 0) * unlike ** np.maximum(p - size - 1, 0)) @ w
    without = step * (like**size * unlike ** np.maximum(p - size - 2, 0)) @ w
    return (alike + without[::-1]) / 2, (mixed + mixed[::-1]) / 2, (without + alike[::-1]) / 2


# -- the definitions, as weights of coalitions ---------------------------------------------------------


def pair_weights(halves: BoolArray, *, of_stratum: bool = False) -> FloatArray:
    """The weight of ``v(S) - v(complement)`` in each player's Shapley value; times the coalitions of that size if ``of_stratum``."""
    p = halves.shape[1]
    size = halves.sum(axis=1)
    one_of = np.array([1 / (1 if of_stratum else comb(p, s)) for s in range(p + 1)])
    s = np.arange(p + 1.0)
    inside, outside = one_of / np.maximum(s, 1), -one_of / np.maximum(p - s, 1)
    return np.where(halves, inside[size][:, None], outside[size][:, None])


def interaction_weights(p: int, *, of_stratum: bool = False) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The weight of a coalition, by its size, in half the interaction index of two members, a member and another, two others."""
    s = np.arange(p + 1.0)
    half = np.array([(1 / (1 if of_stratum else comb(p, k))) * p / 2 for k in range(p + 1)])
    both = np.where(s >= 2, half / np.maximum(s * (s - 1), 1), 0.0)
    one = np.where((s >= 1) & (s <= p - 1), -half / np.maximum(s * (p - s), 1), 0.0)
    none = np.where(s <= p - 2, half / np.maximum((p - s) * (p - s - 1), 1), 0.0)
    return both, one, none
