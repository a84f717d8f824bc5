"""Where a node of the search for the nearest row is cut in two."""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.compiled import inner
from pellucid.trees.kernels.nearest_node import CELL, PLAYER, RISING
from pellucid.trees.kernels.row_bits import first_bit

_SHARE = 0.02  # of the best cost, for cuts that cost nothing to pass
_LITTLE = 1e-9  # gain of a leaf that adds nothing: any cut is better than none
# Arguments are typed: a bare number or truth is a type of its own, for which what takes it would be compiled once more.
# Of a tuple only what is needed is taken: every array taken out is counted, which takes long to compile.


@inner
def copy_node(stack, depth):
    """Two children like their parent, to be cut."""
    low, high, bits = stack[0], stack[1], stack[2]
    other_low, other_high, other_bits = stack[3], stack[4], stack[5]
    k = depth + 1
    for j in range(low.shape[1]):
        low[k, j], high[k, j] = low[depth, j], high[depth, j]
        other_low[k, j], other_high[k, j] = low[depth, j], high[depth, j]
    for w in range(bits.shape[1]):
        bits[k, w], other_bits[k, w] = bits[depth, w], bits[depth, w]


@inner
def cut(stack, depth, j, c, rising):
    """The other child has the cells from ``c`` on, or up to it; the first one the rest."""
    copy_node(stack, depth)
    if rising:
        stack[1][depth + 1, j], stack[3][depth + 1, j] = c - 1, c
    else:
        stack[0][depth + 1, j], stack[4][depth + 1, j] = c + 1, c


@inner
def choose_split(trees, conditions, players, target, stack, scratch, best, depth):
    """Cuts the player for which most is at stake: the gain that is out of reach if it may not pass a cut, times what
    passing costs. The first child stays, the other passes. False where every player has one cell.
    """
    own, offset, cost, words, word = players
    low, high, bits = stack[0][depth], stack[1][depth], stack[2][depth]
    cell, least = scratch[0], scratch[1]
    up, down, off = scratch[12], scratch[13], scratch[14]
    stakes(trees, conditions, players, target, stack, scratch, depth)
    score, player, where, rising = -1.0, np.int64(-1), np.int64(0), np.bool_(False)
    for j in range(len(own)):
        z, o = cell[j], offset[j]
        if words[j] > 0:
            c = next_cell(j, z, bits, words, word)
            if off[j] > 0 and c >= 0:
                s = off[j] * (cost[o + c] - least[j] + _SHARE * best)
                if s > score:
                    score, player = s, j
            off[j] = 0.0
            continue
        for side in range(2):
            gain, sums = 0.0, up if side == 0 else down
            c = high[j] if side == 0 else low[j]
            while c != z:
                if sums[o + c] > 0:
                    gain += sums[o + c]
                    s = gain * (max(cost[o + c] - least[j], 0.0) + _SHARE * best)
                    if s > score:
                        score, player, where, rising = s, j, c, side == 0
                c += 2 * side - 1
        for c in range(low[j], high[j] + 1):
            up[o + c], down[o + c] = 0.0, 0.0
    if player < 0:
        for j in range(len(own)):  # noqa: SIM110 - numba has no generators here
            if split_player(j, players, stack, scratch, depth):
                return True
        return False
    if words[player] > 0:
        set_apart(stack, depth, player, cell[player], words, word)
    else:
        cut(stack, depth, player, where, rising)
    return True


@inner
def stakes(trees, conditions, players, target, stack, scratch, depth):
    """What the cheapest row lacks in the sum that misses the target most, by the cells that the best leaf of each tree
    asks for: ``up``, ``down`` by cell, ``off`` for players with bits.
    """
    leaf_value, tree_sum = trees[0], trees[2]
    first, who, from_cell, to_cell, masks = conditions
    offset, words = players[1], players[3]
    low, high = stack[0], stack[1]
    cell, at, top, bottom, ends, value = scratch[0], scratch[2], scratch[3], scratch[4], scratch[5], scratch[6]
    up, down, off = scratch[12], scratch[13], scratch[14]
    worst, rising = missed_most(target, ends, value)
    for t in range(len(tree_sum)):
        if tree_sum[t] >= 0 and tree_sum[t] != worst:
            continue
        leaf = top[t, worst] if rising else bottom[t, worst]
        now = at[t] if at[t] >= 0 else bottom[t, worst]
        gain = max(abs(leaf_value[leaf, worst] - leaf_value[now, worst]), _LITTLE)
        for e in range(first[leaf], first[leaf + 1]):
            j = who[e]
            if words[j] > 0:
                if not (masks[from_cell[e] + cell[j] // 64] >> np.uint64(cell[j] % 64)) & np.uint64(1):
                    off[j] += gain
            elif from_cell[e] > cell[j]:
                if from_cell[e] <= high[depth, j]:
                    up[offset[j] + from_cell[e]] += gain
            elif to_cell[e] < cell[j] and to_cell[e] >= low[depth, j]:
                down[offset[j] + to_cell[e]] += gain


@inner
def missed_most(target, ends, value):
    """The sum that misses the target by the largest share of what is within reach, and whether it should rise."""
    lowest, highest, odds, _ = target
    worst, largest, rising = -1, 0.0, True
    for q in range(len(lowest)):
        reach = ends[1, q] - ends[0, q] + 1e-12
        if (lowest[q] - value[q]) / reach > largest:
            worst, largest, rising = q, (lowest[q] - value[q]) / reach, True
        if (value[q] - highest[q]) / reach > largest:
            worst, largest, rising = q, (value[q] - highest[q]) / reach, False
    if worst >= 0:
        return worst, rising
    total = 0.0
    for q in range(len(lowest)):  # each by itself is where it should be
        total += np.exp(-value[q])
        if worst < 0 or ends[1, q] - ends[0, q] > largest:
            worst, largest = q, ends[1, q] - ends[0, q]
    if odds[0] <= total <= odds[1]:
        return worst, ends[1, worst] - lowest[worst] < highest[worst] - ends[0, worst]
    return worst, total > odds[1]


@inner
def next_cell(j, z, bits, words, word):
    """The cheapest cell of a player with bits beside its cheapest one; -1: there is none."""
    for w in range(words[j]):
        left = bits[word[j] + w]
        if w == z // 64:
            left &= ~(np.uint64(1) << np.uint64(z % 64))
        if left != 0:
            return 64 * w + first_bit(left)
    return -1


@inner
def set_apart(stack, depth, j, z, words, word):
    """The first child has the one cell ``z`` of a player with bits, the other all the rest."""
    copy_node(stack, depth)
    for w in range(words[j]):
        only = np.uint64(0)
        if w == z // 64:
            only = np.uint64(1) << np.uint64(z % 64)
        stack[2][depth + 1, word[j] + w] &= only
        stack[5][depth + 1, word[j] + w] &= ~only


@inner
def split_player(j, players, stack, scratch, depth):
    """Sets the cheapest cell of a player apart, from one side; False where it has no other."""
    words, word = players[3], players[4]
    z = scratch[0][j]
    if words[j] > 0:
        if next_cell(j, z, stack[2][depth], words, word) < 0:
            return False
        set_apart(stack, depth, j, z, words, word)
    elif stack[1][depth, j] > z:
        cut(stack, depth, j, z + 1, np.bool_(True))
    elif stack[0][depth, j] < z:
        cut(stack, depth, j, z - 1, np.bool_(False))
    else:
        return False
    return True


@inner
def split_at(players, stack, scratch, control, depth):
    """Cuts the player that a caller names where it says; beside the cheapest cell if it says nothing that cuts."""
    j, c, rising = int(control[PLAYER]), int(control[CELL]), control[RISING] > 0
    low, high = stack[0][depth, j], stack[1][depth, j]
    inside = low < c <= high if rising else low <= c < high
    if c >= 0 and inside and players[3][j] == 0:
        cut(stack, depth, j, c, rising)
        return True
    return split_player(j, players, stack, scratch, depth)


@inner
def outside_region(conditions, players, stack, scratch, depth):
    """Cuts off some of the rows that do not share all leaves with the cheapest one, which was refused; False where no
    others are left.
    """
    first, who, from_cell, to_cell, masks = conditions
    _own, _offset, _cost, words, word = players
    low, high, bits = stack[0][depth], stack[1][depth], stack[2][depth]
    at = scratch[2]
    for t in range(len(at)):
        for e in range(first[at[t]], first[at[t] + 1]):
            j = who[e]
            if words[j] > 0:
                more = False
                for w in range(words[j]):
                    more |= bits[word[j] + w] & ~masks[from_cell[e] + w] != 0
                if more:
                    copy_node(stack, depth)
                    for w in range(words[j]):
                        stack[2][depth + 1, word[j] + w] &= masks[from_cell[e] + w]
                        stack[5][depth + 1, word[j] + w] &= ~masks[from_cell[e] + w]
                    return True
            elif to_cell[e] < high[j]:
                cut(stack, depth, j, to_cell[e] + 1, np.bool_(True))
                return True
            elif from_cell[e] > low[j]:
                cut(stack, depth, j, from_cell[e] - 1, np.bool_(False))
                return True
    return False
