"""Shapley values by going through all coalitions.

Shapley 1953; Strumbelj and Kononenko 2014; interaction values: Lundberg et al. 2018.

Definition. For a game v of p players, over the coalitions S that lack i (and j):

    phi_i   = sum of |S|! (p-|S|-1)! / p!       (v(S+i) - v(S))
    phi_ij  = sum of |S|! (p-|S|-2)! / 2(p-1)!  (v(S+ij) - v(S+i) - v(S+j) + v(S))
    phi_ii  = phi_i - sum over j of phi_ij

Estimator. The definition itself.

When it misleads:
1. features that go together: the model is asked about rows that do not occur (see `caveats`);
2. a contribution compares with the average prediction; it is not what happens when a feature is taken away
   from the model or changed in the world;
3. all features share the prediction, none is left out: long lists of small numbers.

Cost. (2^players - 2) coalitions in each row, each at the game's price.
"""

from __future__ import annotations

from math import factorial

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.games import Game, all_coalitions
from pellucid.games.game import sizes
from pellucid.methods.attribution.estimation.estimate import Estimate


def shapley_exact(game: Game, *, interactions: bool = False) -> Estimate:
    """Contributions of the players in each row; the game is asked for every coalition."""
    v = np.empty((game.rows, 2**game.players, game.outputs))
    v[:, 0], v[:, -1] = game.ends()
    if game.players > 1:
        v[:, 1:-1] = game.worth(all_coalitions(game.players)[1:-1])
    return Estimate.exact("exact", shapley_values(v), interaction_values(v) if interactions else None)


# -- the values of a game ----------------------------------------------------------------------------


def shapley_values(v: FloatArray) -> FloatArray:
    """``phi[row, player]`` of games ``v[row, coalition]``, outputs last; coalitions are numbered by their bits."""
    p = v.shape[1].bit_length() - 1
    masks = np.arange(v.shape[1])
    size = sizes(all_coalitions(p))
    weight = np.array([factorial(s) * factorial(p - s - 1) / factorial(p) for s in range(p)])
    phi = np.empty((v.shape[0], p, v.shape[2]))
    for i in range(p):
        without = masks[masks >> i & 1 == 0]
        gain = v[:, without | 1 << i] - v[:, without]
        phi[:, i] = np.einsum("s,rsk->rk", weight[size[without]], gain)
    return phi


def interaction_values(v: FloatArray) -> FloatArray:
    """``phi[row, i, j]``: half the Shapley interaction index off the diagonal; rows sum to the Shapley values."""
    p = v.shape[1].bit_length() - 1
    masks = np.arange(v.shape[1])
    size = sizes(all_coalitions(p))
    weight = np.array([factorial(s) * factorial(p - s - 2) / (2 * factorial(p - 1)) for s in range(p - 1)])
    phi = np.zeros((v.shape[0], p, p, v.shape[2]))
    for i in range(p):
        for j in range(i):
            S = masks[(masks >> i & 1 == 0) & (masks >> j & 1 == 0)]
            both = v[:, S | 1 << i | 1 << j] - v[:, S | 1 << i] - v[:, S | 1 << j] + v[:, S]
            phi[:, i, j] = phi[:, j, i] = np.einsum("s,rsk->rk", weight[size[S]], both)
    own = np.arange(p)
    phi[:, own, own] = shapley_values(v) - phi.sum(axis=2)
    return phi
