"""Every index of a game, by its definition, in the columns of the tree engine."""

from itertools import combinations

import numpy as np

from reference.indices import (
    banzhaf,
    banzhaf_interaction,
    faithful_shapley,
    n_players,
    shapley,
    shapley_interaction,
    shapley_taylor,
)

# of sets; the last two give sets of all sizes up to two
SETS = {
    "shapley": shapley_interaction,
    "banzhaf": banzhaf_interaction,
    "taylor": shapley_taylor,
    "faithful": faithful_shapley,
}
PLAYERS = {"shapley": shapley, "banzhaf": banzhaf}


def enumerated(game, index, order):
    """``(coalitions of that order, outputs)``: by their highest member, then the next."""
    if order == 1 and index in PLAYERS:
        return PLAYERS[index](game)
    known = SETS[index](game, max(order, 2))
    sets = sorted(combinations(range(n_players(game)), order), key=lambda members: members[::-1])
    return np.array([known[members] for members in sets]).reshape(len(sets), game.shape[1])
