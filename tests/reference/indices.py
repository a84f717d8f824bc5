"""Values and interactions of a game, each from its defining sum or its defining least squares.

A game is a table ``v[mask]`` over all coalitions of p players (bit i of `mask`: player i is present); further axes
are outputs. An index of sets is a dict from sorted tuples of players to arrays of outputs.
"""

from itertools import combinations
from math import comb, factorial

import numpy as np


def n_players(v):
    return (len(v) - 1).bit_length()


def mask_of(players):
    return sum(1 << i for i in players)


def sets_up_to(p, order):
    """All sets of at most `order` players, the empty one first."""
    return [T for size in range(order + 1) for T in combinations(range(p), size)]


def subsets(players):
    return [S for size in range(len(players) + 1) for S in combinations(players, size)]


def derivative(v, T, S):
    """What the players T add together, beyond what fewer of them add, to a coalition S without them."""
    return sum((-1) ** (len(T) - len(L)) * v[mask_of(L) | mask_of(S)] for L in subsets(T))


def weighted_derivatives(v, T, weight):
    """Sum over all S without T of weight(|S|) times the derivative."""
    rest = [i for i in range(n_players(v)) if i not in T]
    return sum(weight(len(S)) * derivative(v, T, S) for S in subsets(rest))


def shapley(v):
    """Shapley values ``(p, outputs)``."""
    p = n_players(v)

    def weight(s):
        return factorial(s) * factorial(p - s - 1) / factorial(p)

    return np.array([weighted_derivatives(v, (i,), weight) for i in range(p)])


def shapley_interaction(v, order=2):
    """Shapley interaction index of Grabisch and Roubens (1999) of all sets of exactly `order` players."""
    p = n_players(v)

    def weight(s):
        return factorial(s) * factorial(p - s - order) / factorial(p - order + 1)

    return {T: weighted_derivatives(v, T, weight) for T in combinations(range(p), order)}


def interaction_matrix(v):
    """Lundberg et al. (2018), ``(p, p, outputs)``: half the pair's index at both its places; rows sum to Shapley."""
    phi = shapley(v)
    matrix = np.zeros((len(phi), *phi.shape))
    for (i, j), index in shapley_interaction(v, 2).items():
        matrix[i, j] = matrix[j, i] = index / 2
    for i in range(len(phi)):
        matrix[i, i] = phi[i] - sum(matrix[i, j] for j in range(len(phi)) if j != i)
    return matrix


def shapley_taylor(v, order=2):
    """Shapley-Taylor index (Sundararajan et al. 2020) of all sets of 1 to `order` players."""
    p = n_players(v)

    def weight(s):
        return order / p / comb(p - 1, s)

    sets = sets_up_to(p, order)[1:]
    return {T: weighted_derivatives(v, T, weight) if len(T) == order else derivative(v, T, ()) for T in sets}


def banzhaf(v):
    """Banzhaf values ``(p, outputs)``."""
    return np.array(list(banzhaf_interaction(v, 1).values()))


def banzhaf_interaction(v, order=2):
    """Banzhaf interaction index of all sets of exactly `order` players: the plain mean of derivatives."""
    p = n_players(v)
    return {T: weighted_derivatives(v, T, lambda s: 1 / 2 ** (p - order)) for T in combinations(range(p), order)}


def membership(p, sets):
    """``[mask, T]``: 1 if all of T are in the coalition."""
    return np.array([[float(mask & mask_of(T) == mask_of(T)) for T in sets] for mask in range(2**p)])


def faithful_shapley(v, order=2):
    """Faithful Shapley interactions (Tsai et al. 2023) of all sets of 0 to `order` players.

    Among all E with ``sum of E[T], T inside S`` equal to v(S) for nobody and for everybody, the one with the least
    squared error over the other S, weighted by ``(p - 1) / (comb(p, |S|) |S| (p - |S|))``; by Lagrange multipliers.
    """
    p = n_players(v)
    sets = sets_up_to(p, order)
    inside = membership(p, sets)
    between, ends = inside[1:-1], inside[[0, -1]]
    sizes = [mask.bit_count() for mask in range(1, 2**p - 1)]
    weights = np.array([(p - 1) / (comb(p, s) * s * (p - s)) for s in sizes])
    outputs = v.reshape(len(v), -1)
    normal = between.T @ (weights[:, None] * between)
    system = np.block([[normal, ends.T], [ends, np.zeros((2, 2))]])
    target = np.concatenate([between.T @ (weights[:, None] * outputs[1:-1]), outputs[[0, -1]]])
    solved = np.linalg.solve(system, target)[: len(sets)]
    return dict(zip(sets, solved.reshape(-1, *v.shape[1:]), strict=True))


def faithful_banzhaf(v, order=2):
    """Faithful Banzhaf interactions of all sets of 0 to `order` players: plain least squares over all coalitions."""
    p = n_players(v)
    sets = sets_up_to(p, order)
    solved = np.linalg.lstsq(membership(p, sets), v.reshape(len(v), -1), rcond=None)[0]
    return dict(zip(sets, solved.reshape(-1, *v.shape[1:]), strict=True))
