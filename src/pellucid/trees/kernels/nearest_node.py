"""One node of the search for the nearest row: what its players cost, which leaves it reaches, what these have in
common.
"""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.compiled import inner
from pellucid.trees.kernels.row_bits import first_bit

# places in `control`: where the search stands, the best cost, and the cost of the node's cheapest row
DEPTH, BEST, NODES, STATE, LEAST, VERDICT, PLAYER, CELL, RISING = 0, 1, 2, 3, 4, 5, 6, 7, 8


@inner
def cheapest(j, low, high, bits, own, words, word):
    """The cheapest of the cells that a player has left; -1 where it has none."""
    if words[j] == 0:
        return min(max(own[j], low[j]), high[j]) if low[j] <= high[j] else -1
    for w in range(word[j], word[j] + words[j]):
        if bits[w] != 0:
            return 64 * (w - word[j]) + first_bit(bits[w])
    return -1


@inner
def bound_players(players, rules, stack, scratch, control, depth):
    """Finds the node's cheapest row and drops what costs too much; returns what may still be spent, 0: nothing.

    A player that has to change leaves one change fewer to the others; one that would complete a forbidden set of
    changes has to stay.
    """
    own, offset, cost, words, word = players
    largest, most_changes, forbidden, step = rules
    low, high, bits = stack[0][depth], stack[1][depth], stack[2][depth]
    cell, least = scratch[0], scratch[1]
    p = len(own)
    total, forced = 0.0, 0
    for j in range(p):
        c = cheapest(j, low, high, bits, own, words, word)
        if c < 0:
            return 0.0
        cell[j], least[j] = c, cost[offset[j] + c]
        total = max(total, least[j]) if largest else total + least[j]
        forced += c != own[j]
    control[LEAST] = total
    slack = control[BEST] - step - total
    if slack <= 0 or forced > most_changes:
        return 0.0
    if forced == most_changes:
        for j in range(p):
            if cell[j] == own[j]:
                stay(j, low, high, bits, own, words, word)
    for f in range(len(forbidden)):
        free = np.int64(-1)  # typed: of a bare -1 `stay` would be compiled once more
        for j in range(p):
            if forbidden[f, j] and cell[j] == own[j]:
                free = j if free == -1 else p
        if free == -1:
            return 0.0
        if free < p:
            stay(free, low, high, bits, own, words, word)
    for j in range(p):
        limit = control[BEST] - step if largest else least[j] + slack
        cut_costs(j, limit, low, high, bits, players)
    return slack


@inner
def stay(j, low, high, bits, own, words, word):
    """Leaves a player its own cell alone."""
    if words[j] == 0:
        low[j], high[j] = own[j], own[j]
    else:
        bits[word[j]] = 1
        for w in range(word[j] + 1, word[j] + words[j]):
            bits[w] = 0


@inner
def cut_costs(j, limit, low, high, bits, players):
    """Takes from a player the cells that cost too much."""
    own, offset, cost, words, word = players
    if words[j] == 0:
        while high[j] > own[j] and high[j] > low[j] and cost[offset[j] + high[j]] >= limit:
            high[j] -= 1
        while low[j] < own[j] and high[j] > low[j] and cost[offset[j] + low[j]] >= limit:
            low[j] += 1
        return
    c = offset[j + 1] - offset[j] - 1
    while c > 0 and cost[offset[j] + c] >= limit:  # the cells are in the order of their costs
        bits[word[j] + c // 64] &= ~(np.uint64(1) << np.uint64(c % 64))
        c -= 1


@inner
def keep_leaves(trees, conditions, players, target, rules, stack, scratch, source, depth, slack):
    """The leaves that the node reaches with what may still be spent, and bounds of the sums; whether these can meet the
    target.
    """
    leaf_value, tree_sum, base = trees[0], trees[2], trees[3]
    first, who, from_cell, to_cell, masks = conditions
    own, offset, cost, words, word = players
    largest, most_changes = rules[0], rules[1]
    low, high, bits = stack[0][depth], stack[1][depth], stack[2][depth]
    live, live_first = stack[7], stack[8]
    cell, least, at = scratch[0], scratch[1], scratch[2]
    top, bottom, ends = scratch[3], scratch[4], scratch[5]
    n_sums = len(base)
    changes = most_changes
    for j in range(len(own)):
        changes -= cell[j] != own[j]
    for q in range(n_sums):
        ends[0, q], ends[1, q] = base[q], base[q]
    used = 0
    for t in range(len(tree_sum)):
        begin, end, start = live_first[source, t], live_first[source, t + 1], used
        at[t] = -1
        q0 = max(tree_sum[t], 0)
        q1 = n_sums if tree_sum[t] < 0 else q0 + 1
        for q in range(q0, q1):
            top[t, q], bottom[t, q] = -1, -1
        for i in range(begin, end):
            leaf = live[source, i]
            extra, more, inside = 0.0, 0, True
            reached = True
            for e in range(first[leaf], first[leaf + 1]):
                j = who[e]
                if words[j] == 0:
                    a, b = max(from_cell[e], low[j]), min(to_cell[e], high[j])
                    c = min(max(own[j], a), b) if a <= b else -1
                else:
                    c = -1
                    for w in range(words[j]):
                        both = masks[from_cell[e] + w] & bits[word[j] + w]
                        if both != 0:
                            c = 64 * w + first_bit(both)
                            break
                if c < 0:
                    reached = False
                    break
                if c != cell[j]:
                    inside = False
                    more += cell[j] == own[j]
                    if not largest:
                        extra += cost[offset[j] + c] - least[j]
                        if extra >= slack:
                            reached = False
                            break
            if not reached or more > changes:
                continue
            live[depth, used] = leaf
            used += 1
            if inside:
                at[t] = leaf
            for q in range(q0, q1):
                if top[t, q] < 0 or leaf_value[leaf, q] > leaf_value[top[t, q], q]:
                    top[t, q] = leaf
                if bottom[t, q] < 0 or leaf_value[leaf, q] < leaf_value[bottom[t, q], q]:
                    bottom[t, q] = leaf
        live_first[depth, t] = start
        if used == start:
            return False
        for q in range(q0, q1):
            ends[0, q] += leaf_value[bottom[t, q], q]
            ends[1, q] += leaf_value[top[t, q], q]
    live_first[depth, len(tree_sum)] = used
    return reachable(target, ends)


@inner
def reachable(target, ends):
    """Whether sums between these ends can meet the target."""
    lowest, highest, odds, tolerance = target
    above, below = 0.0, 0.0
    for q in range(len(lowest)):
        if ends[1, q] < lowest[q] - tolerance or ends[0, q] > highest[q] + tolerance:
            return False
        above += np.exp(-ends[1, q])
        below += np.exp(-ends[0, q])
    return above <= odds[1] and below >= odds[0]


@inner
def within(trees, target, scratch):
    """Whether the node's cheapest row meets the target; ``value`` holds its sums."""
    leaf_value, tree_sum, base = trees[0], trees[2], trees[3]
    lowest, highest, odds = target[0], target[1], target[2]
    at, bottom, value = scratch[2], scratch[4], scratch[6]
    for q in range(len(base)):
        value[q] = base[q]
    known = True
    for t in range(len(tree_sum)):
        q0 = max(tree_sum[t], 0)
        q1 = len(base) if tree_sum[t] < 0 else q0 + 1
        known &= at[t] >= 0  # its leaf was found to lead nowhere
        for q in range(q0, q1):
            value[q] += leaf_value[at[t] if at[t] >= 0 else bottom[t, q], q]
    if not known:
        return False
    total = 0.0
    for q in range(len(base)):
        if value[q] < lowest[q] or value[q] > highest[q]:
            return False
        total += np.exp(-value[q])
    return odds[0] <= total <= odds[1]


@inner
def keep_values(trees, conditions, players, target, stack, scratch, depth):
    """Drops leaves whose values are too small or large even with the best leaf of every other tree, then narrows the
    players to what the others have in common; -1: nothing is left, 1: something was narrowed, 0: nothing was.
    """
    leaf_value, tree_sum, base = trees[0], trees[2], trees[3]
    first, who, from_cell, to_cell, masks = conditions
    words, word = players[3], players[4]
    lowest, highest, tolerance = target[0], target[1], target[3]
    low, high, bits = stack[0][depth], stack[1][depth], stack[2][depth]
    live, live_first = stack[7], stack[8]
    top, bottom, ends, count = scratch[3], scratch[4], scratch[5], scratch[7]
    common_low, common_high, common_bits, touched = scratch[8], scratch[9], scratch[10], scratch[11]
    n_sums = len(base)
    used, narrowed = 0, 0
    for t in range(len(tree_sum)):
        begin, end, start = live_first[depth, t], live_first[depth, t + 1], used
        q0 = max(tree_sum[t], 0)
        q1 = n_sums if tree_sum[t] < 0 else q0 + 1
        n_touched = 0
        for i in range(begin, end):
            leaf = live[depth, i]
            kept = True
            for q in range(q0, q1):
                v = leaf_value[leaf, q]
                if (
                    v < leaf_value[top[t, q], q] - (ends[1, q] - lowest[q]) - tolerance
                    or v > leaf_value[bottom[t, q], q] + (highest[q] - ends[0, q]) + tolerance
                ):
                    kept = False
            if not kept:
                continue
            live[depth, used] = leaf
            used += 1
            for e in range(first[leaf], first[leaf + 1]):
                j = who[e]
                if count[j] == 0:
                    touched[n_touched] = j
                    n_touched += 1
                    common_low[j], common_high[j] = from_cell[e], to_cell[e]
                    for w in range(words[j]):
                        common_bits[word[j] + w] = masks[from_cell[e] + w]
                elif words[j] == 0:
                    common_low[j], common_high[j] = min(common_low[j], from_cell[e]), max(common_high[j], to_cell[e])
                else:
                    for w in range(words[j]):
                        common_bits[word[j] + w] |= masks[from_cell[e] + w]
                count[j] += 1
        live_first[depth, t] = start
        for i in range(n_touched):
            j = touched[i]
            if count[j] == used - start:
                if words[j] == 0:
                    if common_low[j] > low[j]:
                        low[j], narrowed = common_low[j], 1
                    if common_high[j] < high[j]:
                        high[j], narrowed = common_high[j], 1
                else:
                    for w in range(word[j], word[j] + words[j]):
                        if bits[w] & ~common_bits[w] != 0:
                            bits[w] &= common_bits[w]
                            narrowed = 1
            count[j] = 0
        if used == start:
            return -1
    live_first[depth, len(tree_sum)] = used
    return narrowed
