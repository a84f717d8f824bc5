"""A tree as a short list of steps for the path-dependent kernel.

Each inner node becomes a step on the way down and one on the way up (see path.py for what they compute). A
step is a row of integers: what to do, and where in the block, the workspace and the constants its operands
lie (in bytes). A child that is a leaf is always put left. Nodes above one or two leaf pairs are fused with
them into one step. A categorical split is preceded by a step that writes its decisions into the block's
spare last column, where the split then finds them as numbers.
"""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.blocks import COLUMN_BYTES
from pellucid.trees.kernels.categories import HALF, write_category
from pellucid.trees.kernels.compiled import inner, kernel

# what to do
DOWN2, DOWN1, UP2, UP1, BOTTOM, GROUP2, GROUP1 = 0, 1, 2, 3, 4, 5, 6  # 7 is a categorical step
MIXED = 15  # a group in which a pair's player occurred before
AGAIN = 8  # added where an earlier split of the path has the same player
# columns of a step
KIND, COLUMN, MISSING_LEFT, PLAYER, PRODUCT, LEFT, RIGHT = 0, 1, 2, 3, 4, 5, 6
SUM, SUM_LEFT, SUM_RIGHT, GOES, BEFORE, MASK_RIGHT, CONSTANTS, KEEP_MASK = 7, 8, 9, 10, 11, 12, 13, 14
STEP = 15
# constants of a node, in bytes: five numbers, then six per quadrature point (each kind together)
THRESHOLD, YES, NO, SHARE, VALUE, JUMP, POINTS = 0, 8, 16, 24, 32, 40, 48


@kernel
def workspace_bytes(depth, k):
    """Memory of the running products, sums, decisions and masks of one block."""
    return (4 * k + 3) * (depth + 2) * COLUMN_BYTES


@inner
def _first_constants(c, h, k, t, z, jump, last):
    """A player's first split: its factor is z(1-t) + a t."""
    for i in range(k):
        c[h + i] = z * (1 - t[i])
        c[h + k + i] = t[i]
        c[h + 4 * k + i] = last + jump * z * (1 - t[i])
        c[h + 5 * k + i] = jump * t[i]


@inner
def again_constants(c, h, k, t, z, before):
    """A later split: the ratio of the new factor to the old, and the change of (a - z) / factor, times it.

    ``before`` is the player's share z so far; the row has passed all earlier splits (if it has not, the ratio
    is z and nothing changes).
    """
    after = before * z
    for i in range(k):
        old = before + t[i] * (1 - before)
        inside = (after + t[i] * (1 - after)) / old
        outside = after * (1 - t[i]) / old
        gain_inside = ((1 - after) - inside * (1 - before)) / old
        gain_outside = (-after - outside * (1 - before)) / old
        c[h + i] = outside - z
        c[h + k + i] = inside - outside
        c[h + 2 * k + i] = gain_outside
        c[h + 3 * k + i] = gain_inside - gain_outside


@kernel
def write(nodes, player, value, roots, t, depth, steps, constants, starts):
    """Fills steps, constants and starts (the first step of each tree; one more at the end)."""
    feature, threshold, left, right, missing_left, cover, _, set_words, _ = nodes
    k = len(t)
    column, product = COLUMN_BYTES, k * COLUMN_BYTES
    sums = 2 * (depth + 2) * product
    goes = 2 * sums
    masks = goes + (depth + 2) * column
    width = POINTS // 8 + 6 * k
    # the path to the node at hand, by depth
    path = np.empty(depth + 2, np.int64)  # node
    row = np.empty(depth + 2, np.int64)  # its step on the way down
    turn = np.empty(depth + 2, np.int64)  # 0 left, 1 right
    shares = np.empty(depth + 2)  # the player's share z after that turn
    before = np.empty(depth + 2)  # and before it
    again = np.zeros(depth + 2, np.bool_)
    n, used = 0, 0
    for tree in range(len(roots)):
        starts[tree] = n
        if feature[roots[tree]] < 0:
            continue
        path[0] = roots[tree]
        turn[0] = -1
        d = 0
        while d >= 0:
            node = path[d]
            low, high = left[node], right[node]
            flipped = feature[low] >= 0 and feature[high] < 0
            if flipped:
                low, high = high, low
            if turn[d] == -1:  # arriving
                who = player[feature[node]]
                total = cover[low] + cover[high]
                z = cover[low] / total if total > 0 else 0.5
                earlier = d - 1
                while earlier >= 0 and player[feature[path[earlier]]] != who:
                    earlier -= 1
                again[d] = earlier >= 0
                before[d] = shares[earlier] if again[d] else 1.0
                first_value = value[low] if feature[low] < 0 else 0.0
                last_value = value[high] if feature[high] < 0 else 0.0
                jump = first_value - last_value
                c = used * width
                used += 1
                categorical = set_words[node] > 0
                constants[c] = HALF if categorical else threshold[node]
                constants[c + 1] = 0.0 if flipped else 1.0
                constants[c + 2] = 1.0 if flipped else 0.0
                constants[c + 3] = z
                constants[c + 4] = first_value
                constants[c + 5] = jump
                h = c + POINTS // 8
                if again[d]:
                    again_constants(constants, h, k, t, z, before[d])
                else:
                    _first_constants(constants, h, k, t, z, jump, last_value)
                side = turn[d - 1] if d > 0 else 0
                if categorical:
                    write_category(steps[n], nodes, node, len(player))
                    n += 1
                step = steps[n]
                row[d] = n
                n += 1
                step[COLUMN] = (len(player) if categorical else feature[node]) * column
                step[MISSING_LEFT] = missing_left[node] and not categorical
                step[PLAYER] = who * column
                step[PRODUCT] = (2 * d + side) * product
                step[LEFT] = 2 * (d + 1) * product
                step[RIGHT] = step[LEFT] + product
                step[SUM] = sums + step[PRODUCT]
                step[SUM_LEFT] = sums + step[LEFT]
                step[SUM_RIGHT] = sums + step[RIGHT]
                step[GOES] = goes + d * column
                step[MASK_RIGHT] = masks + (2 * d + 1) * column
                step[CONSTANTS] = 8 * c
                step[KEEP_MASK] = 0
                step[BEFORE] = 0
                if again[d]:
                    steps[row[earlier], KEEP_MASK] = 1
                    if turn[earlier] == 1:
                        step[BEFORE] = masks + (2 * earlier + 1) * column
                    elif again[earlier]:
                        step[BEFORE] = masks + 2 * earlier * column
                    else:  # the mask of a first left turn is the decision itself
                        step[BEFORE] = goes + earlier * column
                shift = AGAIN if again[d] else 0
                if feature[low] < 0 and feature[high] < 0:
                    step[KIND] = BOTTOM + shift
                    d -= 1
                    continue
                one = feature[low] < 0
                step[KIND] = (DOWN1 if one else DOWN2) + shift
                turn[d] = 1 if one else 0
                shares[d] = before[d] * ((1 - z) if one else z)
                d += 1
                path[d] = high if one else low
                turn[d] = -1
            elif turn[d] == 0:  # back from the left child
                turn[d] = 1
                z = constants[steps[row[d], CONSTANTS] // 8 + 3]
                shares[d] = before[d] * (1 - z)
                d += 1
                path[d] = high
                turn[d] = -1
            else:  # back from the right child
                r = row[d]
                one = feature[low] < 0
                if not again[d] and one and n == r + 2 and steps[r + 1, KIND] == BOTTOM:
                    steps[r, KIND] = GROUP1
                elif (
                    not again[d]
                    and not one
                    and n == r + 3
                    and steps[r + 1, KIND] == BOTTOM
                    and steps[r + 2, KIND] == BOTTOM
                ):
                    steps[r, KIND] = GROUP2
                elif (
                    not again[d]
                    and not one
                    and n == r + 3
                    and steps[r + 1, KIND] % AGAIN == BOTTOM
                    and steps[r + 2, KIND] % AGAIN == BOTTOM
                ):
                    steps[r, KIND] = MIXED
                else:
                    for j in range(STEP):
                        steps[n, j] = steps[r, j]
                    steps[n, KIND] = (UP1 if one else UP2) + (AGAIN if again[d] else 0)
                    n += 1
                d -= 1
    starts[len(roots)] = n
