"""Shapley values by going through all coalitions.

Shapley 1953; Strumbelj and Kononenko 2014; interaction values: Lundberg et al. 2018 and `interaction_indices`.

Definition. For a game v of p players, over the coalitions S that lack i (and j):

    phi_i   = sum of |S|! (p-|S|-1)! / p!       (v(S+i) - v(S))
    phi_ij  = sum of |S|! (p-|S|-2)! / 2(p-1)!  (v(S+ij) - v(S+i) - v(S+j) + v(S))
    phi_ii  = phi_i - sum over j of phi_ij

Estimator. The definition itself.

When it misleads:
1. correlated features: the model is evaluated at rows that do not occur (see `caveats`);
2. a contribution compares with the average prediction; it is not what happens when a feature is taken away
   from the model or changed in the world;
3. all features share the prediction, none is left out: long lists of small numbers.

Cost. (2^players - 2) coalitions in each row, each at the game's price.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.games import Game, all_coalitions
from pellucid.methods.attribution.estimation.estimate import Estimate
from pellucid.methods.attribution.interaction_indices import Index, index_values, interaction_matrix, triple_values


def shapley_exact(game: Game, *, interactions: Index | None = None, order: int = 2) -> Estimate:
    """Contributions of the players in each row; the game is asked for every coalition.

    ``interactions`` adds the matrix of an index, ``order=3`` its triples (see `interaction_indices`).
    """
    v = np.empty((game.rows, 2**game.players, game.outputs))
    v[:, 0], v[:, -1] = game.ends()
    if game.players > 1:
        v[:, 1:-1] = game.worth(all_coalitions(game.players)[1:-1])
    pairs = None if interactions is None else interaction_matrix(v, interactions, order)
    triples = triple_values(v, interactions) if interactions is not None and order == 3 else None
    return replace(Estimate.exact("exact", shapley_values(v), pairs), triples=triples)


def shapley_values(v: FloatArray) -> FloatArray:
    """``phi[row, player]`` of games ``v[row, coalition]``, outputs last; coalitions are numbered by their bits."""
    return index_values(v, "shapley", 1, 1)
