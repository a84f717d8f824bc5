"""Which leaves a row and a background row can reach together, and what each needs of the players.

Of a row let F be the players whose conditions on the way to a leaf it fails, a set of bits numbered in the order in
which the leaf meets its players. With the players of a coalition S taken from x and the others from z the leaf is
reached exactly when S has all players that z fails and none that x fails; if both fail the same player, never. So two
sets of bits per leaf tell all that a leaf adds to the worth of any coalition.
"""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.compiled import inner, kernel
from pellucid.trees.kernels.predict import in_set
from pellucid.trees.kernels.row_bits import WORD, apart_8, apart_32, first_bit

MOST_BITS = 32


@kernel
def number_players(feature, left, right, player, roots, room, known, bit, leaf_node, leaf_tree, first, who):
    """Of every split the bit of its player among those on the way; of every leaf its node, its tree and its players.

    Returns how many leaves there are and the most players of one; beyond `MOST_BITS` nothing is listed.
    ``room`` (3, nodes or players) is memory, ``known`` has -1 for every player.
    """
    path, depth, order = room[0], room[1], room[2]
    leaf, used, most = 0, 0, 0
    first[0] = 0
    for tree in range(len(roots)):
        top, count = 0, 0
        path[0], depth[0] = roots[tree], 0
        while top >= 0:
            node, before = path[top], depth[top]
            top -= 1
            while count > before:  # back to where this node branched off
                count -= 1
                known[order[count]] = -1
            if feature[node] < 0:
                most = max(most, count)
                if most <= MOST_BITS:
                    leaf_node[leaf], leaf_tree[leaf] = node, tree
                    for j in range(count):
                        who[used + j] = order[j]
                    used += count
                    leaf += 1
                    first[leaf] = used
                continue
            j = player[feature[node]]
            if known[j] < 0:
                known[j] = count
                order[count] = j
                count += 1
            bit[node] = np.uint64(1) << np.uint64(known[j] & 63)
            path[top + 1], depth[top + 1] = right[node], count
            path[top + 2], depth[top + 2] = left[node], count
            top += 2
        while count > 0:
            count -= 1
            known[order[count]] = -1
    return leaf, most


@kernel
def failed_players(nodes, sets, bit, leaf_node, X, failed, out):
    """For each row and leaf the bits of the players that fail; ``failed`` is room for one number per node."""
    # taken apart here, once: inside the loop every use of a tuple of arrays would count references
    feature, threshold, left, right, missing_left, _, set_start, set_words, other_left = nodes
    for r in range(len(X)):
        failed[:] = 0
        for node in range(len(feature)):  # children come after their parents
            if feature[node] >= 0:
                x = X[r, feature[node]]
                if set_words[node] > 0:
                    goes = in_set(x, missing_left[node], other_left[node], sets, set_start[node], set_words[node])
                else:
                    goes = x <= threshold[node] or (missing_left[node] and np.isnan(x))
                before, after = failed[node], failed[node] | bit[node]
                failed[left[node]] = before if goes else after
                failed[right[node]] = after if goes else before
        for leaf in range(len(leaf_node)):
            out[r, leaf] = failed[leaf_node[leaf]]


@inner
def common_leaves(x, z, live):
    """The leaves that fail no player for both rows, in their order; how many. ``x`` and ``z`` are contiguous."""
    n, size = np.int64(0), np.int64(x.itemsize)
    whole = len(x) - len(x) % WORD
    for start in range(0, whole, WORD):
        at, other = x.ctypes.data + start * size, z.ctypes.data + start * size
        word = apart_8(at, other) if size == 1 else apart_32(at, other)
        while word != 0:
            live[n] = start + first_bit(word)
            word &= word - np.uint64(1)
            n += 1
    for leaf in range(whole, len(x)):
        live[n] = leaf
        n += (x[leaf] & z[leaf]) == 0
    return n
