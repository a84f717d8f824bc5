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
from pellucid.trees.kernels.compiled import inner, kernel

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


def workspace_bytes(depth: int) -> int:
    """Memory of the patterns and masks of one block."""
    return 4 * (depth + 2) * COLUMN_BYTES


@inner
def pair(i, j):
    """The number of a pair of players."""
    low, high = min(i, j), max(i, j)
    return high * (high - 1) // 2 + low


@inner
def triple(i, j, m):
    """The number of a triple of players."""
    high = max(i, j, m)
    low = min(i, j, m)
    middle = i + j + m - high - low
    return high * (high - 1) * (high - 2) // 6 + middle * (middle - 1) // 2 + low


@kernel
def write(nodes, player, value, roots, room, steps, numbers, starts, tables, members, leaf_values, table_starts):
    """Fills the steps of some trees, their two numbers each (threshold, bit), and the list of their tables.

    Of a table its players (their number; their names are in ``members``, one table after the other) and whether it is
    of a pair of leaves; the rest follows from these.
    """
    feature, threshold, left, right, missing_left, _, _, set_words, _ = nodes
    column = COLUMN_BYTES
    masks = 2 * room.shape[1] * column
    # nodes, whether their left (0) or right (1) branch is written, whether their players occurred before, and as the
    # how manyth distinct one; then the distinct players so far
    path, turn, again, position, present = room[0], room[1], room[2], room[3], room[4]
    # typed: a bare 0 is a type of its own, for which what takes it would be compiled once more
    n, used, listed, distinct, single, twin = (
        np.int64(0),
        np.int64(0),
        np.int64(0),
        np.int64(0),
        np.int64(0),
        np.int64(1),
    )
    for tree in range(len(roots)):
        starts[tree] = n
        table_starts[tree] = used
        path[0] = roots[tree]
        turn[0] = -1
        d, distinct = 0, np.int64(0)
        while d >= 0:
            node = path[d]
            side = turn[d - 1] if d > 0 else 0
            pattern = (2 * d + side) * column
            if feature[node] < 0:
                step = steps[n]
                step[KIND], step[PATTERN], step[TABLE] = LEAF, pattern, used
                n += 1
                _add_table(tables, leaf_values, members, present, used, listed, distinct, value[node], 0.0, single)
                used, listed = used + 1, listed + distinct
                d -= 1
                continue
            low, high = left[node], right[node]
            if turn[d] == -1:
                who = player[feature[node]]
                earlier = d - 1
                while earlier >= 0 and player[feature[path[earlier]]] != who:
                    earlier -= 1
                again[d] = 1 if earlier >= 0 else 0
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
                    _add_table(
                        tables, leaf_values, members, present, used, listed, distinct + 1, value[low], value[high], twin
                    )
                    used, listed = used + 1, listed + distinct + 1
                    d -= 1
                    continue
                step[KIND] = SPLIT
                n += 1
                distinct += 1 - again[d]
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
                distinct -= 1 - again[d]
                d -= 1
    starts[len(roots)] = n
    table_starts[len(roots)] = used


@inner
def _add_table(tables, leaf_values, members, present, used, listed, players, first, second, is_pair):
    tables[used, PLAYERS], tables[used, IS_PAIR] = players, is_pair
    leaf_values[used, 0], leaf_values[used, 1] = first, second
    for j in range(players):
        members[listed + j] = present[j]
