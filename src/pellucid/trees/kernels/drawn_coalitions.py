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

from pellucid.trees.kernels.compiled import kernel
from pellucid.trees.kernels.lattice import LANE_PLAYERS
from pellucid.trees.kernels.links import apply_link
from pellucid.trees.kernels.live_leaves import common_leaves
from pellucid.trees.kernels.simd import LANES, VECTOR_BYTES, lane_sum, load, splat, store


@kernel
def _conditions(leaves, x, z, live, n, lane, start, asks, lanes, active):
    """Of every live leaf which players must be in S (2 player + 1) and out of it (2 player), and its set of lanes.

    Returns the number of players that matter, who are listed.
    """
    first, who = leaves[0], leaves[1]
    seen = np.zeros(len(lane), np.bool_)
    used, players = 0, 0
    start[0] = 0
    for i in range(n):
        leaf = live[i]
        code = 0
        for j in range(first[leaf + 1] - first[leaf]):
            fails_z, fails_x = (z[leaf] >> j) & 1, (x[leaf] >> j) & 1
            if fails_z | fails_x:
                player = who[first[leaf] + j]
                if not seen[player]:
                    seen[player] = True
                    active[players] = player
                    players += 1
                if lane[player] >= 0:
                    code += (2 if fails_z else 1) * 3 ** lane[player]
                else:
                    asks[used] = 2 * player + np.int64(fails_z)
                    used += 1
        lanes[i] = code
        start[i + 1] = used
    return players


@kernel
def _pass(leaves, live, n, start, asks, lanes, lane_sets, inside, reached, around):
    """The sums at S, and what moving each player changes; eight coalitions each."""
    _, _, value, output = leaves
    width, outputs = value.shape[1], len(around) // (len(inside) * LANES)
    here, moved = reached.ctypes.data, around.ctypes.data
    masks = lane_sets.ctypes.data
    for i in range(n):
        missed, last = 0, np.int64(0)
        for q in range(start[i], start[i + 1]):
            player = asks[q] >> 1
            if inside[player] != (asks[q] & 1):
                missed += 1
                last = player
                if missed == 2:
                    break
        if missed == 2:
            continue
        leaf = live[i]
        mask = load(masks + lanes[i] * VECTOR_BYTES)
        for k in range(width):
            o = (output[leaf] + k) * VECTOR_BYTES
            v = splat(value[leaf, k]) * mask
            if missed == 1:
                at = moved + last * outputs * VECTOR_BYTES + o
                store(at, load(at) + v)
            else:
                store(here + o, load(here + o) + v)
                for q in range(start[i], start[i + 1]):
                    at = moved + (asks[q] >> 1) * outputs * VECTOR_BYTES + o
                    store(at, load(at) - v)


@kernel
def _effects(link, t, players, active, lane, inside, reached, around, predicted, out):
    """Adds half of every active player's effect at S, its lanes weighted by t."""
    outputs = len(reached) // LANES
    row = outputs * VECTOR_BYTES
    here, moved, there = reached.ctypes.data, around.ctypes.data, predicted.ctypes.data + row
    weights, room = np.empty(LANES), np.empty(LANES)
    for c in range(LANES):
        weights[c] = 0.5
        for j in range(LANE_PLAYERS):
            weights[c] *= t if c >> j & 1 else 1 - t
    w = load(weights.ctypes.data)
    apply_link(link, here, VECTOR_BYTES, outputs, predicted.ctypes.data)
    for a in range(players):
        player = active[a]
        if lane[player] < 0:
            at = moved + player * row
            for o in range(0, row, VECTOR_BYTES):
                store(at + o, load(at + o) + load(here + o))
            apply_link(link, at, VECTOR_BYTES, outputs, there)
            for k in range(outputs):
                o = k * VECTOR_BYTES
                effect = lane_sum(w * (load(there + o) - load(predicted.ctypes.data + o)))
                out[player, k] += -effect if inside[player] else effect
            continue
        bit = 1 << lane[player]
        for k in range(outputs):
            store(room.ctypes.data, load(predicted.ctypes.data + k * VECTOR_BYTES))
            for c in range(LANES):
                if c & bit == 0:
                    out[player, k] += weights[c] / (1 - t) * (room[c | bit] - room[c])


@kernel
def drawn_values(link, leaves, x, background, base, lane, lane_sets, uniform, times, room, out):
    """The effects of one row's players at every drawn coalition and its complement: ``(background, draws, players,
    outputs)``, to which they are added.

    ``uniform`` (background, draws, players) are in S where below ``times`` (background, draws); ``lane`` has the three
    players that are averaged out, and -1 for the others; ``room`` is memory.
    """
    outputs, players = len(base), len(lane)
    live, start, asks, lanes = room
    active, inside = np.empty(players, np.int64), np.zeros(players, np.int64)
    reached, predicted = np.empty(outputs * LANES), np.empty(2 * outputs * LANES)
    around = np.empty(players * outputs * LANES)
    for b in range(len(background)):
        n = common_leaves(x, background[b], live)
        count = _conditions(leaves, x, background[b], live, n, lane, start, asks, lanes, active)
        for draw in range(times.shape[1]):
            t = times[b, draw]
            for j in range(players):
                inside[j] = uniform[b, draw, j] < t
            for _ in range(2):
                for k in range(outputs):
                    reached[k * LANES : (k + 1) * LANES] = base[k]
                around[:] = 0.0
                _pass(leaves, live, n, start, asks, lanes, lane_sets, inside, reached, around)
                _effects(link, t, count, active, lane, inside, reached, around, predicted, out[b, draw])
                t = 1 - t
                for j in range(players):
                    inside[j] = 1 - inside[j]


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
