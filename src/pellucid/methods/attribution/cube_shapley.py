"""Shapley and interaction values of the games that `cube_regression` fits, exactly.

The game ``exp(sum of a_j s_j t_j)`` of s, for a corner t, is a product over the players of cosh(a_j) (1 + s_j t_j
tanh(a_j)). When everybody joins with chance (1 + x) / 2, s_j is x on average, and Shapley's average over orders is the
mean over x from -1 to 1 of the others' product times the player's own step (Owen 1972). Of the kernel of t, player i
has

    2 w_i t_i ( mean over x of the product over the others of (1 + x t_j tanh(a_j))  -  1 ) / the kernel's scale

with w the weights of its linear part (`cube_kernel.scales`): a polynomial in x, so that Gauss-Legendre nodes give it
exactly.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, comb

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.methods.attribution.cube_fit import Regression
from pellucid.methods.attribution.cube_kernel import scales

_NODES = 20  # beyond the order of 40 interactions weigh less than rounding
_AT_ONCE = 1_000_000  # numbers in the memory


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


def _values_of_kernels(fit: Regression, halves: BoolArray) -> FloatArray:
    """Shapley values ``(pairs, players)`` of the kernel of each pair, its noise included."""
    return odd_kernel_values(np.where(halves, 1.0, -1.0), fit.bends) + 2 * fit.noise * pair_weights(halves)


def odd_kernel_values(corners: FloatArray, bends: FloatArray) -> FloatArray:
    """Shapley values ``(corners, players)`` of the odd kernel of each corner."""
    linear, most = scales(bends, "odd")
    nodes, weights = _nodes(corners.shape[1])
    blocks = np.array_split(corners * np.tanh(bends), 1 + corners.size * len(nodes) // _AT_ONCE)
    mean = np.concatenate([np.tensordot(weights, _product_of_others(nodes, steps), 1) for steps in blocks])
    return np.asarray(2 / most * linear * corners * (mean - 1))


def odd_kernel_variance(bends: FloatArray) -> FloatArray:
    """The variance (players) of the Shapley values of the odd process: the values of the kernels' values, with the
    product of two nodes for x.
    """
    linear, most = scales(bends, "odd")
    nodes, weights = _nodes(len(bends))
    others = _product_of_others(np.outer(nodes, nodes).ravel(), np.tanh(bends)[None])[:, 0]
    return np.asarray(4 / most * linear * (np.outer(weights, weights).ravel() @ others - 1))


def noise_variance(p: int) -> float:
    """The variance of a Shapley value of independent noise in the odd part: the sum of the squared weights."""
    return 4 / p * sum(1 / (k * comb(p, k)) for k in range(1, p + 1))


def _product_of_others(x: FloatArray, steps: FloatArray) -> FloatArray:
    """``(x, corners, players)``: the product over all other players of 1 + x step."""
    factors = 1 + x[:, None, None] * steps
    return np.asarray(factors.prod(axis=2, keepdims=True) / factors)


@lru_cache(maxsize=64)
def _nodes(p: int) -> tuple[FloatArray, FloatArray]:
    """Nodes x between -1 and 1 and weights of a mean."""
    nodes, weights = np.polynomial.legendre.leggauss(min(ceil(p / 2) + 1, _NODES))
    return nodes, weights / 2


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


def even_kernel_values(p: int, curve: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Half the interaction index of the even kernel of t, with players alike, for two players inside, one inside, none,
    by the size of t.
    """
    x, w = _nodes(p)
    step = np.tanh(curve / p)
    together, most = scales(np.full(p, curve / p), "even")
    size = np.arange(p + 1)[:, None]

    def rest(inside: int, outside: int) -> FloatArray:
        """The mean of the product over the others, without so many inside and outside of t."""
        like, unlike = np.maximum(size - inside, 0), np.maximum(p - size - outside, 0)
        return np.asarray(((1 + x * step) ** like * (1 - x * step) ** unlike) @ w)

    whole = 2 * together * step**2 / most
    return whole * rest(2, 0), -whole * rest(1, 1), whole * rest(0, 2)


# -- the definitions, as weights of coalitions ---------------------------------------------------------


def pair_weights(halves: BoolArray, *, of_stratum: bool = False) -> FloatArray:
    """The weight of ``v(S) - v(complement)`` in each player's Shapley value; times the coalitions of that size if
    ``of_stratum``.
    """
    p = halves.shape[1]
    size = halves.sum(axis=1)
    one_of = np.array([1 / (1 if of_stratum else comb(p, s)) for s in range(p + 1)])
    s = np.arange(p + 1.0)
    inside, outside = one_of / np.maximum(s, 1), -one_of / np.maximum(p - s, 1)
    return np.where(halves, inside[size][:, None], outside[size][:, None])


def interaction_weights(p: int, *, of_stratum: bool = False) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The weight of a coalition, by its size, in half the interaction index of two members, a member and another, two
    others.
    """
    s = np.arange(p + 1.0)
    half = np.array([(1 / (1 if of_stratum else comb(p, k))) * p / 2 for k in range(p + 1)])
    both = np.where(s >= 2, half / np.maximum(s * (s - 1), 1), 0.0)
    one = np.where((s >= 1) & (s <= p - 1), -half / np.maximum(s * (p - s), 1), 0.0)
    none = np.where(s <= p - 2, half / np.maximum((p - s) * (p - s - 1), 1), 0.0)
    return both, one, none
