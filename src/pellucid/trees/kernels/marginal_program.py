"""A tree as steps for the marginal kernels: which conditions of each leaf does a row satisfy?

The distinct players on the path to a leaf are numbered in the order in which they occur; the *pattern* of a row
at the leaf is the number whose bit j says whether the row satisfies all conditions on player j. Patterns grow on
the way down, one vector operation per split. Two leaves below a player's first split share one *table*: the
second leaf's last bit is the opposite of the first's.
"""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.blocks import COLUMN_BYTES
from pellucid.trees.kernels.categories import HALF, write_category
from pellucid.trees.kernels.compiled import kernel

# what to do
SPLIT, LEAF, PAIR = 0, 1, 2
# columns of a step
KIND, COLUMN, MISSING_LEFT, PATTERN, TABLE, AGAIN, BEFORE = 0, 1, 2, 8, 9, 10, 11
PATTERN_LEFT, PATTERN_RIGHT, MASK_LEFT, MASK_RIGHT = 12, 13, 14, 15
STEP = 16
# columns of a table: its players, where its histogram and its values begin, and of what they are: which columns
# of the result (players, or pairs of players) from where on, and how many
PLAYERS, HISTOGRAM, VALUES, NAMES, IS_PAIR, COUNT = 0, 1, 2, 3, 4, 5
TABLE_COLUMNS = 6


@kernel
def workspace_bytes(depth):
    """Memory of the patterns and masks of one block."""
    return 4 * (depth + 2) * COLUMN_BYTES


@kernel
def sizes(feature, left, right, set_words, player, roots, n_players, order, most):
    """Of each tree: inner nodes, categorical nodes, tables, their columns, their patterns, and columns times patterns.

    The last two are -1 where a leaf has too many players for a table. A table has a column per coalition of
    that order.
    """
    out = np.zeros((len(roots), 6), np.int64)
    seen = np.zeros(n_players, np.int64)
    stack = np.empty(64, np.int64)
    for tree in range(len(roots)):
        top = 0
        stack[0] = roots[tree]
        distinct = 0
        while top >= 0:
            node = stack[top]
            top -= 1
            if node < 0:
                who = player[feature[~node]]
                seen[who] -= 1
                distinct -= seen[who] == 0
                continue
            if feature[node] < 0:
                _count_table(out[tree], distinct, order, most)
                continue
            out[tree, 0] += 1
            out[tree, 1] += set_words[node] > 0
            who = player[feature[node]]
            low, high = left[node], right[node]
            if seen[who] == 0 and feature[low] < 0 and feature[high] < 0:
                _count_table(out[tree], distinct + 1, order, most)
                continue
            distinct += seen[who] == 0
            seen[who] += 1
            if top + 4 > len(stack):
                stack = np.concatenate((stack, np.empty(len(stack), np.int64)))
            stack[top + 1] = ~node
            stack[top + 2] = high
            stack[top + 3] = low
            top += 3
    return out


@kernel
def _columns(players, order):
    """Coalitions of that order."""
    if order == 1:
        return players
    if order == 2:
        return players * (players - 1) // 2
    return players * (players - 1) * (players - 2) // 6


@kernel
def _count_table(out, players, order, most):
    columns = _columns(players, order)
    out[2] += 1
    out[3] += columns
    if players > most or out[4] < 0:
        out[4] = out[5] = -1
    else:
        out[4] += 1 << players
        out[5] += columns << players


@kernel
def pair(i, j):
    """The number of a pair of players."""
    low, high = min(i, j), max(i, j)
    return high * (high - 1) // 2 + low


@kernel
def triple(i, j, m):
    """The number of a triple of players."""
    high = max(i, j, m)
    low = min(i, j, m)
    middle = i + j + m - high - low
    return high * (high - 1) * (high - 2) // 6 + middle * (middle - 1) // 2 + low


@kernel
def write(nodes, player, value, roots, depth, order, steps, numbers, starts, tables, names, leaf_values, table_starts):
    """Fills the steps of some trees, their two numbers each (threshold, bit), and the list of their tables."""
    feature, threshold, left, right, missing_left, _, _, set_words, _ = nodes
    column = COLUMN_BYTES
    masks = 2 * (depth + 2) * column
    path = np.empty(depth + 2, np.int64)
    turn = np.empty(depth + 2, np.int64)
    again = np.zeros(depth + 2, np.bool_)
    position = np.empty(depth + 2, np.int64)  # of the node's player among the distinct ones
    present = np.empty(depth + 2, np.int64)  # the distinct players so far
    n, used, histogram, values, named = 0, 0, 0, 0, 0
    for tree in range(len(roots)):
        starts[tree] = n
        table_starts[tree] = used
        path[0] = roots[tree]
        turn[0] = -1
        d, distinct = 0, 0
        while d >= 0:
            node = path[d]
            side = turn[d - 1] if d > 0 else 0
            pattern = (2 * d + side) * column
            if feature[node] < 0:
                step = steps[n]
                step[KIND], step[PATTERN], step[TABLE] = LEAF, pattern, used
                n += 1
                used, histogram, values, named = _add_table(
                    tables,
                    names,
                    leaf_values,
                    present,
                    order,
                    distinct,
                    value[node],
                    0.0,
                    0,
                    used,
                    histogram,
                    values,
                    named,
                )
                d -= 1
                continue
            low, high = left[node], right[node]
            if turn[d] == -1:
                who = player[feature[node]]
                earlier = d - 1
                while earlier >= 0 and player[feature[path[earlier]]] != who:
                    earlier -= 1
                again[d] = earlier >= 0
                position[d] = position[earlier] if again[d] else distinct
                categorical = set_words[node] > 0
                if categorical:
                    write_category(steps[n], nodes, node, len(player))
                    n += 1
                step = steps[n]
                step[COLUMN] = (len(player) if categorical else feature[node]) * column
                step[MISSING_LEFT] = missing_left[node] and not categorical
                step[PATTERN] = pattern
                step[AGAIN] = again[d]
                step[PATTERN_LEFT] = 2 * (d + 1) * column
                step[PATTERN_RIGHT] = step[PATTERN_LEFT] + column
                step[MASK_LEFT] = masks + 2 * d * column
                step[MASK_RIGHT] = step[MASK_LEFT] + column
                step[BEFORE] = masks + (2 * earlier + turn[earlier]) * column if again[d] else 0
                numbers[n, 0] = HALF if categorical else threshold[node]
                numbers[n, 1] = np.float64(1 << position[d])
                if not again[d]:
                    present[distinct] = who
                if not again[d] and feature[low] < 0 and feature[high] < 0:
                    step[KIND], step[TABLE] = PAIR, used
                    n += 1
                    used, histogram, values, named = _add_table(
                        tables,
                        names,
                        leaf_values,
                        present,
                        order,
                        distinct + 1,
                        value[low],
                        value[high],
                        1,
                        used,
                        histogram,
                        values,
                        named,
                    )
                    d -= 1
                    continue
                step[KIND] = SPLIT
                n += 1
                distinct += not again[d]
                turn[d] = 0
                d += 1
                path[d] = low
                turn[d] = -1
            elif turn[d] == 0:
                turn[d] = 1
                d += 1
                path[d] = high
                turn[d] = -1
            else:
                distinct -= not again[d]
                d -= 1
    starts[len(roots)] = n
    table_starts[len(roots)] = used


@kernel
def _add_table(
    tables, names, leaf_values, present, order, players, first, second, is_pair, used, histogram, values, named
):
    table = tables[used]
    columns = _columns(players, order)
    table[PLAYERS], table[HISTOGRAM], table[VALUES], table[NAMES] = players, histogram, values, named
    table[IS_PAIR], table[COUNT] = is_pair, columns
    leaf_values[used, 0], leaf_values[used, 1] = first, second
    n = named
    for j in range(players):
        if order == 1:
            names[n] = present[j]
            n += 1
        elif order == 2:
            for i in range(j):
                names[n] = pair(present[i], present[j])
                n += 1
        else:
            for i in range(j):
                for m in range(i):
                    names[n] = triple(present[m], present[i], present[j])
                    n += 1
    return used + 1, histogram + (1 << players), values + (columns << players), n
