"""Interaction indices: what players add together, beyond what they add apart.

Grabisch and Roubens 1999 (Shapley and Banzhaf interaction); Lundberg et al. 2018 (the matrix); Sundararajan, Dhamdhere
and Agarwal 2020 (Shapley-Taylor); Tsai, Yeh and Ravikumar 2023 (faithful Shapley).

Definition. With the discrete derivative ``D_T v(S) = sum over L within T of (-1)^(|T|-|L|) v(S + L)``, an index of a
set T of t players is a weighted sum over the coalitions S of the n = p - t others. k is the highest order:

    I(T) = sum of w(|S|) D_T v(S),        w(s) =

    shapley           s! (n-s)! / (n+1)!
    banzhaf           1 / 2^n
    taylor    t = k   k / p / C(p-1, s)                                             t < k   1 for nobody, else 0
    faithful  t = k   (2k-1)! / (k-1)!^2  (s+k-1)! (n-s+k-1)! / (n+2k-1)!           t < k   see `_FAITHFUL`

- Shapley: T enters as one player, in all orders; Banzhaf: all coalitions count the same. Neither depends on k.
- Shapley-Taylor: the expansion of the game at nobody, whose last term takes the rest.
- Faithful Shapley: the coefficients of the polynomial of degree k that is nearest to the game by the weights of
  KernelSHAP, and right for nobody and everybody.

The matrix of an index (k = 2) has half of I(ij) at both places of a pair. Of Shapley, Shapley-Taylor and faithful
Shapley its rows sum to the Shapley values, of Banzhaf to the Banzhaf values. What is left for the diagonal is, of
Shapley-Taylor, what the player adds alone; of faithful Shapley and Banzhaf the player's own coefficient in the nearest
polynomial of degree two (of Banzhaf: by plain least squares). With k = 3 the pairs and players of Shapley-Taylor and
faithful Shapley are others, and the row of a player and a third of its triples sum to the Shapley value; triples of
Shapley and Banzhaf are in no sum.

Estimator. The definition itself, over all coalitions.

When it misleads: as `shapley_exact`. Indices answer different questions, and may differ in sign: Shapley-Taylor lays
all that more than k players do together at the door of sets of k.

Cost. As `shapley_exact`: every coalition once, whatever the index.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from math import comb, factorial
from typing import Any, get_args

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.checks import is_flag, one_of
from pellucid.games import all_coalitions
from pellucid.games.game import sizes
from pellucid.trees.engine import square
from pellucid.trees.plain import coalitions
from pellucid.trees.quadrature import Index as Index

INDICES: tuple[Index, ...] = get_args(Index)

# Of faithful Shapley, by t and k: w(s) = integral of x^s (1-x)^(n-s) x^(t-1) (1-x)^(t-1) q(x), coefficients of q. That
# of t < k is the polynomial of degree k - t which picks, of every polynomial of that degree, its value at 0.
_FAITHFUL = {(1, 1): (1,), (1, 2): (4, -6), (1, 3): (9, -36, 30), (2, 2): (6,), (2, 3): (36, -60), (3, 3): (30,)}


def index_of(interactions: Any) -> Index | None:
    """The index that is asked for: True is that of Shapley, False none."""
    if is_flag(interactions):
        return "shapley" if interactions else None
    return one_of("interactions", interactions, INDICES)


def index_weights(index: Index, size: int, order: int, others: int) -> FloatArray:
    """w(s) for sets of ``size`` players, s = 0 ... others."""
    n, p = others, others + size
    if index == "banzhaf":
        return np.full(n + 1, 0.5**n)
    if index == "shapley":
        return np.array([1 / ((n + 1) * comb(n, s)) for s in range(n + 1)])
    if index == "taylor":
        return np.array([order / p / comb(p - 1, s) if size == order else float(s == 0) for s in range(n + 1)])
    q = _FAITHFUL[size, order]
    exact = [sum(c * _beta(s + size + j, n - s + size) for j, c in enumerate(q)) for s in range(n + 1)]
    return np.array([float(weight) for weight in exact])


def _beta(a: int, b: int) -> Fraction:
    """The integral of x^(a-1) (1-x)^(b-1) from 0 to 1."""
    return Fraction(factorial(a - 1) * factorial(b - 1), factorial(a + b - 1))


def index_values(v: FloatArray, index: Index, size: int, order: int) -> FloatArray:
    """``(rows, sets, outputs)`` of games ``v[row, coalition]``, outputs last: of the sets of ``size`` players in the
    order of `coalitions`. Coalitions are numbered by their bits.
    """
    p = v.shape[1].bit_length() - 1
    found = np.zeros((v.shape[0], comb(p, size), v.shape[2]))
    if size <= p:
        weights = index_weights(index, size, order, p - size)[sizes(all_coalitions(p - size))]
        for number, derivative in enumerate(_derivatives(v, size, p)):
            found[:, number] = np.einsum("s,rsk->rk", weights, derivative)
    return found


def _derivatives(v: FloatArray, size: int, below: int) -> Iterator[FloatArray]:
    """D_T v ``(rows, coalitions of the others, outputs)`` of all sets of players below a number, by their highest
    member, then the next.
    """
    if size == 0:
        yield v
        return
    for i in range(size - 1, below):
        pairs = v.reshape(v.shape[0], -1, 2, 1 << i, v.shape[2])  # without and with player i, whose bit is between
        gain = (pairs[:, :, 1] - pairs[:, :, 0]).reshape(v.shape[0], v.shape[1] // 2, v.shape[2])
        yield from _derivatives(gain, size - 1, i)


def interaction_matrix(v: FloatArray, index: Index = "shapley", order: int = 2) -> FloatArray:
    """``(rows, players, players, outputs)``: half of each pair's index off the diagonal, on it what is left."""
    sums = index_values(v, "banzhaf" if index == "banzhaf" else "shapley", 1, 1)
    if order == 3 and index in ("taylor", "faithful"):
        sums -= triple_values(v, index).sum(axis=(2, 3)) / 6  # every triple of a player stands at two of these places
    return square(index_values(v, index, 2, max(order, 2)), sums)


def triple_values(v: FloatArray, index: Index) -> FloatArray:
    """``(rows, players, players, players, outputs)``: the index of each triple at all its places, else zero."""
    p = v.shape[1].bit_length() - 1
    found = index_values(v, index, 3, 3)
    cube = np.zeros((len(v), p, p, p, v.shape[2]))
    for along in permutations(coalitions(p, 3).T):
        cube[(slice(None), *along)] = found
    return cube
