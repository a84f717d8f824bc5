"""The kernels of the hypercube process: how far two coalitions are expected to be worth the same.

A coalition is a corner s of the cube, 1 for members and -1 for the others. With ``bends`` a_i >= 0, one for each
player, and corners s and t,

    odd:    ( sinh(sum of a_i s_i t_i) - its linear part )   / the same at s = t
    even:   ( cosh(sum of a_i s_i t_i) - its constant part ) / the same at s = t

Because exp(a s t) = cosh(a) (1 + s t tanh(a)), the first is a sum over the odd sets of three players and more, each
with the weight ``product of cosh(a) over all players * product of tanh(a_i) over the set``: a player that bends little
takes part in few interactions, and large sets weigh less the smaller the bends are.

Shapley values of the kernels are exact. The game ``exp(sum of a_j s_j t_j)`` of s is a product over the players. When
everybody joins with chance (1 + x) / 2, s_j is x on average, and Shapley's average over orders is the mean over x from
-1 to 1 of the others' product times the player's own step (Owen 1972). Of the kernel of t, player i has

    2 w_i t_i ( mean over x of the product over the others of (1 + x t_j tanh(a_j))  -  1 ) / the kernel's scale

with w the weights of its linear part (`scales`): a polynomial in x, so that Gauss-Legendre nodes give it exactly.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, comb
from typing import Literal

import numpy as np

from pellucid.arrays import BoolArray, FloatArray

Parity = Literal["odd", "even"]
_NOTHING = 1e-12
_BLOCK = 128  # corners
_NODES = 20  # beyond the order of 40 interactions weigh less than rounding
_AT_ONCE = 1_000_000  # numbers in the memory


def kernel(corners: FloatArray, bends: FloatArray, parity: Parity) -> FloatArray:
    """The kernel ``(n, n)`` of all pairs of corners ``(n, players)``."""
    lowest, most = scales(bends, parity)
    n = len(corners)
    bent, left_out = corners * bends, corners * (lowest / most) if parity == "odd" else lowest / most
    curved, room = np.empty((n, n)), np.empty((min(n, _BLOCK), n))
    for start in range(0, n, _BLOCK):  # what is worked on stays in the caches
        rows = slice(start, start + _BLOCK)
        grown = np.matmul(bent[rows], corners.T, out=curved[rows])
        np.exp(grown, out=grown)
        shrunk = np.reciprocal(grown, out=room[: len(grown)])
        if parity == "odd":
            grown -= shrunk
            grown *= 0.5 / most
            grown -= np.matmul(left_out[rows], corners.T, out=shrunk)
        else:
            grown += shrunk
            grown *= 0.5 / most
            grown -= left_out
    return curved


def scales(bends: FloatArray, parity: Parity) -> tuple[FloatArray, float]:
    """The weights of what is left out, the linear part (players) or the constant, and what remains where corners are
    the same.

    Where nothing remains, as of the odd part of two players, the kernel is nothing.
    """
    together = float(np.prod(np.cosh(bends)))
    lowest = np.asarray(together * np.tanh(bends) if parity == "odd" else together, dtype=np.float64)
    whole = np.sinh(bends.sum()) if parity == "odd" else np.cosh(bends.sum())
    remains = float(whole - lowest.sum())
    return lowest, remains if remains > _NOTHING * whole else float(whole)


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
