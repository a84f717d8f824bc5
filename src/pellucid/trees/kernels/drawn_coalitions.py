"""Shapley values of a link of a sum of trees, from some coalitions, for more players than a lattice has room for.

With every player in the coalition S with probability t, a player's Shapley value is its mean effect over t and S:

    phi_j  =  integral over t of  E [ v(S + j) - v(S - j) ]

One pass over the leaves that a row and a background row can reach together (see `live_leaves`) gives the sum at S and
at all its neighbours at once: a leaf that S reaches is lost by moving any of its players, a leaf that one player alone
keeps S from is won by moving that one. The pass is made for eight coalitions in the lanes of a vector, all subsets of
the three players that matter most, with the others as in S: these three are averaged out exactly. S is followed by its
complement at 1 - t, which takes away what is linear in it.
"""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.compiled import inner, kernel
from pellucid.trees.kernels.lattice import LANE_PLAYERS
from pellucid.trees.kernels.links import apply_link
from pellucid.trees.kernels.live_leaves import common_leaves
from pellucid.trees.kernels.simd import LANES, VECTOR_BYTES, lane_sum, load, lowest_bit, splat, store


@inner
def _conditions(leaves, x, z, live, n, lane, label, names, needs, asks, lanes):
    """Of every live leaf which players must be in S (``needs``), which must be in or out (``asks``), and its lanes.

    Players get labels, in the order in which they are met: bits of one word or several. Returns how many there are.
    """
    first, who = leaves[0], leaves[1]
    words = asks.shape[1]
    label[:] = -1
    players = 0
    for i in range(n):
        leaf = live[i]
        own, bits = np.int64(z[leaf]), np.int64(z[leaf] | x[leaf])
        code = 0
        for w in range(words):
            needs[i, w] = asks[i, w] = 0
        while bits:
            j = lowest_bit(bits)
            bits &= bits - 1
            player = who[first[leaf] + j]
            must = own >> j & 1
            if lane[player] >= 0:
                code += (1 + must) * 3 ** lane[player]
                continue
            if label[player] < 0:
                label[player] = players
                names[players] = player
                players += 1
            at = label[player]
            needs[i, at >> 6] |= must << (at & 63)
            asks[i, at >> 6] |= np.int64(1) << (at & 63)
        lanes[i] = code
    return players


@inner
def _pass(leaves, live, n, needs, asks, lanes, lane_sets, inside, reached, around):
    """The sums at S, and what moving each player changes; eight coalitions each."""
    _, _, value, output = leaves
    width, words, row = value.shape[1], len(inside), len(reached) * 8
    here, moved, sets = reached.ctypes.data, around.ctypes.data, lane_sets.ctypes.data
    for i in range(n):
        missed, last = np.int64(0), np.int64(0)
        for w in range(words):
            wrong = (inside[w] ^ needs[i, w]) & asks[i, w]
            if wrong:
                missed += 1 if wrong & (wrong - 1) == 0 else 2
                last = 64 * w + lowest_bit(wrong)
        if missed > 1:
            continue
        leaf = live[i]
        mask = load(sets + lanes[i] * VECTOR_BYTES)
        for k in range(width):
            o = (output[leaf] + k) * VECTOR_BYTES
            v = splat(value[leaf, k]) * mask
            if missed == 1:
                at = moved + last * row + o
                store(at, load(at) + v)
                continue
            store(here + o, load(here + o) + v)
            for w in range(words):
                bits = asks[i, w]
                while bits:
                    at = moved + (64 * w + lowest_bit(bits)) * row + o
                    bits &= bits - 1
                    store(at, load(at) - v)


@inner
def _effects(link, t, players, names, lane, inside, reached, around, predicted, out):
    """Adds half of every player's effect at S, its lanes weighted by t."""
    outputs = len(reached) // LANES
    row = outputs * VECTOR_BYTES
    here, moved, there = reached.ctypes.data, around.ctypes.data, predicted.ctypes.data + row
    weights = np.empty(LANES)
    for c in range(LANES):
        weights[c] = 0.5
        for j in range(LANE_PLAYERS):
            weights[c] *= t if c >> j & 1 else 1 - t
    w = load(weights.ctypes.data)
    apply_link(link, here, VECTOR_BYTES, outputs, predicted.ctypes.data)
    for a in range(players):
        at = moved + a * row
        for o in range(0, row, VECTOR_BYTES):
            store(at + o, load(at + o) + load(here + o))
        apply_link(link, at, VECTOR_BYTES, outputs, there)
        present = inside[a >> 6] >> (a & 63) & 1
        for k in range(outputs):
            o = k * VECTOR_BYTES
            effect = lane_sum(w * (load(there + o) - load(predicted.ctypes.data + o)))
            out[names[a], k] += -effect if present else effect
    for player in range(len(lane)):
        if lane[player] >= 0:
            bit = 1 << lane[player]
            for k in range(outputs):
                for c in range(LANES):
                    if c & bit == 0:
                        gain = predicted[k * LANES + (c | bit)] - predicted[k * LANES + c]
                        out[player, k] += weights[c] / (1 - t) * gain


@kernel
def drawn_values(link, leaves, x, background, base, lane, lane_sets, uniform, times, room, out):
    """The effects of one row's players at every drawn coalition and its complement: ``(background, draws, players,
    outputs)``, to which they are added.

    ``uniform`` (background, draws, players) are in S where below ``times`` (background, draws); ``lane`` has the three
    players that are averaged out, and -1 for the others; ``room`` is memory.
    """
    outputs, players = len(base), len(lane)
    live, needs, asks, lanes = room
    words = asks.shape[1]
    label, names, inside = np.empty(players, np.int64), np.empty(players, np.int64), np.empty(words, np.int64)
    reached, predicted = np.empty(outputs * LANES), np.empty(2 * outputs * LANES)
    around = np.empty(players * outputs * LANES)
    for b in range(len(background)):
        n = common_leaves(x, background[b], live)
        count = _conditions(leaves, x, background[b], live, n, lane, label, names, needs, asks, lanes)
        for draw in range(times.shape[1]):
            t = times[b, draw]
            inside[:] = 0
            for a in range(count):
                inside[a >> 6] |= np.int64(uniform[b, draw, names[a]] < t) << (a & 63)
            for _ in range(2):
                for k in range(outputs):
                    reached[k * LANES : (k + 1) * LANES] = base[k]
                around[: count * outputs * LANES] = 0.0
                _pass(leaves, live, n, needs, asks, lanes, lane_sets, inside, reached, around)
                _effects(link, t, count, names, lane, inside, reached, around, predicted, out[b, draw])
                t = 1 - t
                for w in range(words):
                    inside[w] = ~inside[w]


@kernel
def sizes_of_effects(leaves, x, background, coefficients, room, out):
    """Adds every player's absolute Shapley value of the sums of the trees, background row by background row."""
    first, who, value, _ = leaves
    live, _, _, _ = room
    phi = np.empty(len(out))
    for b in range(len(background)):
        z = background[b]
        n = common_leaves(x, z, live)
        phi[:] = 0.0
        for i in range(n):
            leaf = live[i]
            count = first[leaf + 1] - first[leaf]
            own, other = 0, 0
            for j in range(count):
                own += (z[leaf] >> j) & 1
                other += (x[leaf] >> j) & 1
            for j in range(count):
                player = who[first[leaf] + j]
                for k in range(value.shape[1]):
                    if (z[leaf] >> j) & 1:
                        phi[player] += value[leaf, k] * coefficients[own - 1, other]
                    elif (x[leaf] >> j) & 1:
                        phi[player] -= value[leaf, k] * coefficients[other - 1, own]
        for j in range(len(out)):
            out[j] += abs(phi[j])
