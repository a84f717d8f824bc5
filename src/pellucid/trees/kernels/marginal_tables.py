"""Marginal (interventional) Shapley values: one small table per leaf pair.

For a leaf with the players J let h(b) be the share of background rows whose pattern is b. With the row's
pattern p, and every player taking part with probability t, the leaf is reached with probability

    H_t(p) = sum_b h(b) prod_j (t p_j + (1 - t) b_j)

which is a product of 2x2 matrices, one per player, applied to h: d 2^d operations for all p at once, whatever
the size of the background. As H_t is linear in p_i, the derivative for player i needs nothing new:

    sum_b h(b) (p_i - b_i) prod_{j != i} (...) = p_i (H_t(p_i=1) - H_t(p_i=0)) / t - H_t(p_i=0) / (1 - t)

and its integral over t, times the leaf's value, is the player's Shapley value for rows with that pattern. A row
then costs one table look-up per leaf pair. Two such steps, for i and for j, give the interaction index of a
pair.
"""

from __future__ import annotations

from pellucid.trees.kernels.compiled import inner, kernel
from pellucid.trees.kernels.marginal_program import HISTOGRAM, IS_PAIR, PLAYERS, VALUES

# Three kernels, for players, pairs and triples: only the one that is asked for is compiled. Numbers are found by their
# place in the whole array: a part of an array as an array of its own takes longer to compile, and not less to run.


@inner
def _reach(histogram, start, size, players, t, h):
    """H_t before the leaf's value and, for a pair of leaves, before the last player.

    The matrix of one player: the pattern's bit 0 keeps (1-t) of b=1, bit 1 keeps t of b=0 and all of b=1.
    """
    for p in range(size):
        h[p] = histogram[start + p]
    for j in range(players):
        bit = 1 << j
        for block in range(0, size, 2 * bit):
            for p in range(block, block + bit):
                without, having = h[p], h[p + bit]
                h[p] = (1 - t) * having
                h[p + bit] = t * without + having


@inner
def _derivative(h, size, j, t, w, out, at):
    """Adds w times the derivative for player j to ``out``, from a place on."""
    bit = 1 << j
    inside, outside = w / t, w / (1 - t)
    for block in range(0, size, 2 * bit):
        for p in range(block, block + bit):
            lost = outside * h[p]
            out[at + p] -= lost
            out[at + p + bit] += inside * (h[p + bit] - h[p]) - lost


@inner
def _join_pair(h, size, t, first, second, is_pair):
    """The leaf's value; or the last player's matrix for two leaves at once: the second leaf's bit is the opposite."""
    if not is_pair:
        for p in range(size):
            h[p] *= first
        return
    half = size >> 1
    for p in range(half):
        low, high = h[p], h[p + half]
        h[p] = first * (1 - t) * high + second * (t * high + low)
        h[p + half] = first * (t * low + high) + second * (1 - t) * low


@inner
def _last_player(h, half, gain, out, at):
    """Adds the derivative for the last player of a pair of leaves."""
    for p in range(half):
        out[at + p] -= gain * h[p + half]
        out[at + p + half] += gain * h[p]


@inner
def _derive_pairs(h, size, players, t, w, out, at, slope):
    """Adds the derivatives for all pairs of the first players."""
    for i in range(1, players):
        slope[:size] = 0.0
        _derivative(h, size, i, t, 1.0, slope, 0)
        for m in range(i):
            _derivative(slope, size, m, t, w, out, at + (i * (i - 1) // 2 + m) * size)


@kernel
def fill_players(tables, leaf_values, n_points, points, weights, histogram, room, values, first_table, end_table):
    """The tables of single players, from the histograms of the background; ``room`` for one more."""
    h = room[0]
    for n in range(first_table, end_table):
        d, is_pair, at = tables[n, PLAYERS], tables[n, IS_PAIR], tables[n, VALUES]
        first, second = leaf_values[n, 0], leaf_values[n, 1]
        size = 1 << d
        others = d - 1 if is_pair else d
        for k in range(n_points[d]):
            t, w = points[d, k], weights[d, k]
            _reach(histogram, tables[n, HISTOGRAM], size, others, t, h)
            if is_pair:
                _last_player(h, size >> 1, w * (first - second), values, at + others * size)
            _join_pair(h, size, t, first, second, is_pair)
            for j in range(others):
                _derivative(h, size, j, t, w, values, at + j * size)


@kernel
def fill_pairs(tables, leaf_values, n_points, points, weights, histogram, room, values, first_table, end_table):
    """The tables of pairs of players; ``room`` for two histograms."""
    h, slope = room[0], room[1]
    for n in range(first_table, end_table):
        d, is_pair, at = tables[n, PLAYERS], tables[n, IS_PAIR], tables[n, VALUES]
        first, second = leaf_values[n, 0], leaf_values[n, 1]
        size = 1 << d
        others = d - 1 if is_pair else d
        for k in range(n_points[d]):
            t, w = points[d, k], weights[d, k]
            _reach(histogram, tables[n, HISTOGRAM], size, others, t, h)
            if is_pair:
                slope[:size] = 0.0
                _last_player(h, size >> 1, first - second, slope, 0)
                for i in range(others):
                    _derivative(slope, size, i, t, w, values, at + (others * (others - 1) // 2 + i) * size)
            _join_pair(h, size, t, first, second, is_pair)
            _derive_pairs(h, size, others, t, w, values, at, slope)


@kernel
def fill_triples(tables, leaf_values, n_points, points, weights, histogram, room, values, first_table, end_table):
    """The tables of triples of players; ``room`` for three histograms."""
    h, slope, bend = room[0], room[1], room[2]
    for n in range(first_table, end_table):
        d, is_pair, at = tables[n, PLAYERS], tables[n, IS_PAIR], tables[n, VALUES]
        first, second = leaf_values[n, 0], leaf_values[n, 1]
        size = 1 << d
        others = d - 1 if is_pair else d
        for k in range(n_points[d]):
            t, w = points[d, k], weights[d, k]
            _reach(histogram, tables[n, HISTOGRAM], size, others, t, h)
            if is_pair:
                bend[:size] = 0.0
                _last_player(h, size >> 1, first - second, bend, 0)
                _derive_pairs(bend, size, others, t, w, values, at + _before(others) * size, slope)
            _join_pair(h, size, t, first, second, is_pair)
            for j in range(2, others):
                bend[:size] = 0.0
                _derivative(h, size, j, t, 1.0, bend, 0)
                _derive_pairs(bend, size, j, t, w, values, at + _before(j) * size, slope)


@inner
def _before(j):
    """Triples whose highest member is below j."""
    return j * (j - 1) * (j - 2) // 6
