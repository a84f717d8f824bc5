"""Indices of players and coalitions as integrals of one polynomial.

Let f(t) be the value of a game when every player takes part independently with probability t (its multilinear
extension on the diagonal), and d_T f(t) its mixed derivative for the players T. Then, for every game,

    Shapley value, Shapley interaction index      integral of d_T f(t)
    Banzhaf value, Banzhaf interaction index      d_T f(1/2)
    Shapley-Taylor index of order 2, pairs        integral of 2 (1 - t) d_T f(t);      single players: d_i f(0)
    Faithful Shapley index of order 2, pairs      integral of 6 t (1 - t) d_T f(t);    players: of (4 - 6 t) d_i f(t)

A leaf with d players makes d_T f a polynomial of degree d - |T|: Gauss-Legendre quadrature with as many points
as its degree needs is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.errors import InputError

Index = Literal["shapley", "taylor", "banzhaf", "faithful"]


@dataclass(frozen=True, eq=False)
class Quadrature:
    """Points t in [0, 1] and their weights."""

    points: FloatArray
    weights: FloatArray

    def __len__(self) -> int:
        return len(self.points)


@lru_cache(maxsize=256)
def quadrature(index: Index, order: int, players: int) -> Quadrature:
    """Points and weights that are exact for leaves with at most so many players."""
    if order > 2 and index not in ("shapley", "banzhaf"):
        raise InputError(f"the {index} index is known for players and pairs here; use 'shapley' or 'banzhaf'.")
    if index == "banzhaf":
        return Quadrature(np.array([0.5]), np.array([1.0]))
    if index == "taylor" and order == 1:
        return _value_at_zero(max(players, 1))
    extra = {"shapley": 0, "taylor": 1, "faithful": order}[index]
    degree = max(players - order, 0) + extra
    t, w = np.polynomial.legendre.leggauss(degree // 2 + 1)
    t, w = (t + 1) / 2, w / 2
    if index == "taylor":
        w = w * 2 * (1 - t)
    elif index == "faithful":
        w = w * (4 - 6 * t if order == 1 else 6 * t * (1 - t))
    return Quadrature(t, w)


def _value_at_zero(points: int) -> Quadrature:
    """Weights of the polynomial through so many Legendre points, at t = 0.

    At 0 itself a branch that no training row took has no factor to divide by. From Legendre points the step to
    the end of the interval magnifies rounding by the square root of their number only.
    """
    t, _ = np.polynomial.legendre.leggauss(points)
    t = (t + 1) / 2
    ratio = t[None, :] / (t[None, :] - t[:, None] + np.eye(points))
    np.fill_diagonal(ratio, 1.0)
    return Quadrature(t, ratio.prod(axis=1))
