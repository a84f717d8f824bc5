"""Shapley values of a link of a sum of trees, from the worths of all coalitions.

For a row x and a background row z every leaf that they can reach together adds its value to the coalitions that have
the players A that z fails and lack the players B that x fails (see `live_leaves`):

    [A in S][no B in S]  =  sum over T in B of (-1)^|T| [A + T in S]

So the sums of all 2^d coalitions of the d players that matter for the pair are one Moebius-to-zeta transform of a few
signed terms per leaf. The link makes worths of them, eight at a time. With w(s) = s! (d-1-s)! / d!,

    phi_j  =  sum over S with j of (w(|S|-1) + w(|S|)) v(S)  -  sum over all S of w(|S|) v(S)

and the first sums, for all players, come from folding the lattice in halves: 2^(d+1) additions.
"""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.compiled import inner, kernel
from pellucid.trees.kernels.links import apply_link
from pellucid.trees.kernels.live_leaves import common_leaves
from pellucid.trees.kernels.row_bits import count_bits, first_bit
from pellucid.trees.kernels.simd import (
    LANES,
    VECTOR_BYTES,
    from_without_1,
    from_without_2,
    from_without_4,
    lane_sum,
    load,
    splat,
    store,
)

LANE_PLAYERS = 3  # of a vector of eight coalitions


@inner
def _scatter(leaves, x, z, live, n, label, sums, stride):
    """Signed terms of the live leaves; how many players take part, which get their labels here."""
    first, who, value, output = leaves
    width = value.shape[1]
    d = 0
    for i in range(n):
        leaf = live[i]
        start = first[leaf]
        own, other = np.int64(0), np.int64(0)
        fails_x, either = np.uint64(x[leaf]), np.uint64(x[leaf] | z[leaf])
        while either != 0:
            j = first_bit(either)
            either &= either - np.uint64(1)
            player = who[start + j]
            if label[player] < 0:
                label[player] = d
                d += 1
            if (fails_x >> np.uint64(j)) & np.uint64(1):  # then z does not
                other |= np.int64(1) << label[player]
            else:
                own |= np.int64(1) << label[player]
        for k in range(width):
            at, v, terms = (output[leaf] + k) * stride, value[leaf, k], other
            while True:  # all subsets of `other`
                sums[at + (own | terms)] += -v if count_bits(np.uint64(terms)) & 1 else v
                if terms == 0:
                    break
                terms = (terms - 1) & other
    return d


@inner
def _zeta(address, size):
    """Of every coalition the sum over its subsets."""
    end = address + 8 * size
    for at in range(address, end, VECTOR_BYTES):
        x = load(at)
        x = x + from_without_1(x)
        x = x + from_without_2(x)
        store(at, x + from_without_4(x))
    h = VECTOR_BYTES
    while 4 * h <= 8 * size:  # two players at a time
        for block in range(address, end, 4 * h):
            for at in range(block, block + h, VECTOR_BYTES):
                nobody, other = load(at), load(at + 2 * h)
                one = load(at + h) + nobody
                store(at + h, one)
                store(at + 2 * h, other + nobody)
                store(at + 3 * h, load(at + 3 * h) + other + one)
        h *= 4
    while h < 8 * size:
        for block in range(address, end, 2 * h):
            for at in range(block, block + h, VECTOR_BYTES):
                store(at + h, load(at + h) + load(at))
        h *= 2


@inner
def _weighted(address, size, own, lacking):
    """Multiplies every worth by the weight of its size; the sum of all with the weights of what they lack."""
    total = splat(0.0)
    for block in range(size // LANES):
        count = count_bits(np.uint64(block)) * VECTOR_BYTES
        at = address + block * VECTOR_BYTES
        v = load(at)
        total = total + v * load(lacking + count)
        store(at, v * load(own + count))
    return lane_sum(total)


@inner
def _fold(sums, at, d, out):
    """Of every player the sum over the coalitions that have it; the lattice is used up."""
    for j in range(d - 1, LANE_PLAYERS - 1, -1):
        h = 8 << j
        high, address = splat(0.0), sums.ctypes.data + 8 * at
        for place in range(address, address + h, VECTOR_BYTES):
            upper = load(place + h)
            high = high + upper
            store(place, load(place) + upper)
        out[j] = lane_sum(high)
    for j in range(LANE_PLAYERS):
        out[j] = 0.0
        for lane in range(LANES):
            if lane >> j & 1:
                out[j] += sums[at + lane]


@kernel
def exact_values(link, leaves, x, background, share, base, weights, sums, live, phi):
    """Adds the Shapley values of one row to ``phi`` (players, outputs).

    ``x`` and the rows of ``background`` are the players that fail at each leaf; ``weights[d]`` has for each number of
    players the weights ``own`` and ``lacking`` of every size, laid out for vectors; ``sums`` is room for the lattice.
    """
    outputs = len(base)
    label = np.empty(len(phi), np.int64)
    size_of = len(sums) // outputs
    folded = np.empty(64)
    for b in range(len(background)):
        if share[b] == 0.0:
            continue
        n = common_leaves(x, background[b], live)
        for player in range(len(phi)):
            label[player] = -1
        d = _scatter(leaves, x, background[b], live, n, label, sums, size_of)
        size = max(1 << d, LANES)
        address = sums.ctypes.data
        for k in range(outputs):
            sums[k * size_of] += base[k]
            _zeta(address + 8 * k * size_of, size)
        for at in range(address, address + 8 * size, VECTOR_BYTES):
            apply_link(link, at, 8 * size_of, outputs, at)
        own, lacking = weights[d, 0].ctypes.data, weights[d, 1].ctypes.data
        for k in range(outputs):
            without = _weighted(address + 8 * k * size_of, size, own, lacking)
            _fold(sums, k * size_of, max(d, LANE_PLAYERS), folded)
            for player in range(len(phi)):
                if label[player] >= 0:
                    phi[player, k] += share[b] * (folded[label[player]] - without)
            sums[k * size_of : k * size_of + size] = 0.0


@kernel
def lattice_worths(link, leaves, x, background, share, base, sums, live, out):
    """Adds the worths of all coalitions of all players to ``out`` (outputs, coalitions), numbered by their bits."""
    outputs, size = out.shape
    label = np.arange(64)
    for b in range(len(background)):
        n = common_leaves(x, background[b], live)
        _scatter(leaves, x, background[b], live, n, label, sums, size)
        address = sums.ctypes.data
        for k in range(outputs):
            sums[k * size] += base[k]
            _zeta(address + 8 * k * size, size)
        for at in range(address, address + 8 * size, VECTOR_BYTES):
            apply_link(link, at, 8 * size, outputs, at)
        for k in range(outputs):
            for s in range(size):
                out[k, s] += share[b] * sums[k * size + s]
        sums[:] = 0.0
