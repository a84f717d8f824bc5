"""Interaction indices of two players in the path-dependent game, and of three.

The same walk as in path.py. With c = (a - z) / F of a player at the node at hand, a leaf contributes Q c_i c_j to
the pair (i, j). That product changes only at splits on i or j, so a split on player g adds, for every other
player i of the path,

    I_gi += sum_k w_k P(t_k) e(t_k) D(t_k) c_i(t_k),      c_i = -1/(1-t)  or, inside,  (1-z_i) / (z_i + t (1-z_i))

Every split is treated alike here (a first split is one after which nothing came before: z = 1, all rows inside).

*Triples* are asked for rarely: the formula as it stands, one row at a time. A leaf with the factors
F_j = z_j + t (a_j - z_j) adds, for every triple of its players,

    value * sum_k w_k (a_i - z_i) (a_j - z_j) (a_l - z_l) * prod_{other m} F_m(t_k)
"""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.blocks import COLUMN_BYTES, ROWS
from pellucid.trees.kernels.categories import HALF, decide_categories, write_category
from pellucid.trees.kernels.compiled import inner, kernel
from pellucid.trees.kernels.marginal_program import pair, triple
from pellucid.trees.kernels.path_program import again_constants
from pellucid.trees.kernels.predict import goes_left
from pellucid.trees.kernels.simd import VECTOR_BYTES, choose, choose_missing_yes, fused, load, number, splat, store

LEAF, SPLIT, JOIN = 0, 1, 2
# columns of a step
KIND, COLUMN, MISSING_LEFT = 0, 1, 2
PRODUCT, SUM, LEFT, SUM_LEFT, GOES, BEFORE, MASK_LEFT, CONSTANTS, PARTNERS, PARTNERS_END = (
    8,
    9,
    10,
    11,
    12,
    13,
    14,
    15,
    16,
    17,
)
STEP = 18
# columns of a partner: the pair's column of the result, the partner's mask, its constants
PAIR, MASK, INSIDE = 0, 1, 2
PARTNER = 3
# constants of a split, in bytes: threshold, share, then four per quadrature point; of a leaf: its value
THRESHOLD, SHARE, POINTS = 0, 8, 16


@kernel
def workspace_bytes(depth, k):
    """Memory of products, sums, decisions and masks of one block, a column of ones and one row of products."""
    return ((4 * k + 3) * (depth + 2) + 1 + k) * COLUMN_BYTES


@kernel
def write(nodes, player, value, roots, t, depth, steps, constants, links, starts):
    """Fills steps, constants, links (the partners of each split) and starts."""
    feature, threshold, left, right, missing_left, cover, _, set_words, _ = nodes
    k = len(t)
    column, product = COLUMN_BYTES, k * COLUMN_BYTES
    sums = 2 * (depth + 2) * product
    goes = 2 * sums
    masks = goes + (depth + 2) * column
    ones = masks + 2 * (depth + 2) * column
    path = np.empty(depth + 2, np.int64)
    row = np.empty(depth + 2, np.int64)
    turn = np.empty(depth + 2, np.int64)
    shares = np.empty(depth + 2)
    before = np.empty(depth + 2)
    n, used, linked = 0, 0, 0
    for tree in range(len(roots)):
        starts[tree] = n
        path[0] = roots[tree]
        turn[0] = -1
        d = 0
        while d >= 0:
            node = path[d]
            side = turn[d - 1] if d > 0 else 0
            if feature[node] < 0:
                step = steps[n]
                n += 1
                step[KIND], step[SUM], step[CONSTANTS] = LEAF, sums + (2 * d + side) * product, 8 * used
                constants[used] = value[node]
                used += 1
                d -= 1
                continue
            low, high = left[node], right[node]
            if turn[d] == -1:
                who = player[feature[node]]
                total = cover[low] + cover[high]
                z = cover[low] / total if total > 0 else 0.5
                categorical = set_words[node] > 0
                if categorical:
                    write_category(steps[n], nodes, node, len(player))
                    n += 1
                step = steps[n]
                row[d] = n
                n += 1
                step[KIND] = SPLIT
                step[COLUMN] = (len(player) if categorical else feature[node]) * column
                step[MISSING_LEFT] = missing_left[node] and not categorical
                step[PRODUCT] = (2 * d + side) * product
                step[SUM] = sums + step[PRODUCT]
                step[LEFT] = 2 * (d + 1) * product
                step[SUM_LEFT] = sums + step[LEFT]
                step[GOES] = goes + d * column
                step[MASK_LEFT] = masks + 2 * d * column
                step[BEFORE] = ones
                step[CONSTANTS] = 8 * used
                before[d] = 1.0
                constants[used] = HALF if categorical else threshold[node]
                constants[used + 1] = z
                at = used + 2
                used += 2 + 4 * k
                step[PARTNERS] = linked
                for e in range(d - 1, -1, -1):  # the latest split of each player on the path
                    other = player[feature[path[e]]]
                    mask = masks + (2 * e + turn[e]) * column
                    later = False
                    for q in range(e + 1, d):
                        later = later or player[feature[path[q]]] == other
                    if later:
                        continue
                    if other == who:
                        before[d] = shares[e]
                        step[BEFORE] = mask
                        continue
                    links[linked, PAIR] = pair(who, other) * column
                    links[linked, MASK] = mask
                    links[linked, INSIDE] = 8 * used
                    linked += 1
                    share = shares[e]
                    for i in range(k):
                        inside = (1 - share) / (share + t[i] * (1 - share))
                        constants[used + i] = inside + 1 / (1 - t[i])
                    used += k
                step[PARTNERS_END] = linked
                again_constants(constants, at, k, t, z, before[d])
                turn[d] = 0
                shares[d] = before[d] * z
                d += 1
                path[d] = low
                turn[d] = -1
            elif turn[d] == 0:
                turn[d] = 1
                shares[d] = before[d] * (1 - constants[steps[row[d], CONSTANTS] // 8 + 1])
                d += 1
                path[d] = high
                turn[d] = -1
            else:
                for j in range(STEP):
                    steps[n, j] = steps[row[d], j]
                steps[n, KIND] = JOIN
                n += 1
                d -= 1
    starts[len(roots)] = n


@inner
def _ratio(c, before, now, k, i):
    h = c + POINTS
    return fused(now, number(h + 8 * (k + i)), fused(before, number(h + 8 * i), number(c + SHARE)))


@inner
def _split(steps, n, c, x, w, k, lanes):
    for q in range(len(lanes)):
        r = q * VECTOR_BYTES
        if steps[n, MISSING_LEFT]:
            a = choose_missing_yes(load(x + r), number(c + THRESHOLD), splat(1.0), splat(0.0))
        else:
            a = choose(load(x + r), number(c + THRESHOLD), splat(1.0), splat(0.0))
        before = load(w + steps[n, BEFORE] + r)
        now = before * a
        store(w + steps[n, GOES] + r, a)
        store(w + steps[n, MASK_LEFT] + r, now)
        store(w + steps[n, MASK_LEFT] + COLUMN_BYTES + r, before - now)
        for i in range(k):
            j = i * COLUMN_BYTES + r
            product = load(w + steps[n, PRODUCT] + j)
            first = product * _ratio(c, before, now, k, i)
            store(w + steps[n, LEFT] + j, first)
            store(w + steps[n, LEFT] + k * COLUMN_BYTES + j, product - first)


@inner
def _join(steps, n, c, base, outside, links, out, w, scratch, k, lanes):
    h = c + POINTS
    for q in range(len(lanes)):
        r = q * VECTOR_BYTES
        before = load(w + steps[n, BEFORE] + r)
        now = before * load(w + steps[n, GOES] + r)
        common = splat(0.0)
        for i in range(k):
            j = i * COLUMN_BYTES + r
            last = load(w + steps[n, SUM_LEFT] + k * COLUMN_BYTES + j)
            d = load(w + steps[n, SUM_LEFT] + j) - last
            gain = fused(now, number(h + 8 * (3 * k + i)), before * number(h + 8 * (2 * k + i)))
            change = load(w + steps[n, PRODUCT] + j) * d * gain
            store(scratch + j, change)
            common = fused(change, number(outside + 8 * i), common)
            store(w + steps[n, SUM] + j, fused(d, _ratio(c, before, now, k, i), last))
        for link in range(steps[n, PARTNERS], steps[n, PARTNERS_END]):
            inside = splat(0.0)
            for i in range(k):
                inside = fused(load(scratch + i * COLUMN_BYTES + r), number(base + links[link, INSIDE] + 8 * i), inside)
            place = out + links[link, PAIR] + r
            store(place, fused(load(w + links[link, MASK] + r), inside, load(place) + common))


@kernel
def path_pairs(steps, starts, constants, links, outside, sets, weights, X, out, workspace, points, lanes):
    """Adds the index of every pair to ``out`` (blocks, pairs, ROWS); ``outside`` is -1/(1-t)."""
    k = len(points)
    w = workspace.ctypes.data
    for i in range(k):
        workspace[i * ROWS : (i + 1) * ROWS] = weights[i]
    free = len(workspace) - (k + 1) * ROWS
    workspace[free : free + ROWS] = 1.0
    scratch = w + 8 * (free + ROWS)
    base = constants.ctypes.data
    for tree in range(len(starts) - 1):
        for b in range(len(X)):
            x = X.ctypes.data + b * X.shape[1] * COLUMN_BYTES
            result = out.ctypes.data + b * out.shape[1] * COLUMN_BYTES
            for n in range(starts[tree], starts[tree + 1]):
                kind = steps[n, KIND]
                c = base + steps[n, CONSTANTS]
                if kind == LEAF:
                    for i in range(k):
                        for q in range(len(lanes)):
                            store(w + steps[n, SUM] + i * COLUMN_BYTES + q * VECTOR_BYTES, number(c))
                elif kind == SPLIT:
                    _split(steps, n, c, x + steps[n, COLUMN], w, k, lanes)
                elif kind == JOIN:
                    _join(steps, n, c, base, outside.ctypes.data, links, result, w, scratch, k, lanes)
                else:
                    decide_categories(steps[n], sets, X[b].reshape(-1))


@inner
def _leaf(value, n, who, share, inside, t, w, out):
    """Adds one leaf; who, share and inside are its n players, their z and their a."""
    for i in range(n):
        for j in range(i):
            for m in range(j):
                total = 0.0
                for k in range(len(t)):
                    product = w[k]
                    for q in range(n):
                        if q not in (i, j, m):
                            product *= share[q] + t[k] * (inside[q] - share[q])
                    total += product
                change = (inside[i] - share[i]) * (inside[j] - share[j]) * (inside[m] - share[m])
                out[triple(who[i], who[j], who[m])] += value * change * total


@kernel
def path_triples(nodes, sets, value, player, roots, t, w, depth, X, out):
    """Adds the index of every triple to ``out`` (rows, triples)."""
    feature, _, left, right, _, cover, _, _, _ = nodes
    path = np.empty(depth + 2, np.int64)
    turn = np.empty(depth + 2, np.int64)
    slot = np.empty(depth + 2, np.int64)  # of the split's player
    share_before, inside_before = np.empty(depth + 2), np.empty(depth + 2)
    fresh = np.empty(depth + 2, np.bool_)
    who = np.empty(depth + 2, np.int64)
    share, inside = np.empty(depth + 2), np.empty(depth + 2)
    for r in range(len(X)):
        for tree in range(len(roots)):
            path[0], turn[0] = roots[tree], -1
            d, n = 0, 0
            while d >= 0:
                node = path[d]
                if feature[node] < 0:
                    _leaf(value[node], n, who, share, inside, t, w, out[r])
                    d -= 1
                    continue
                if turn[d] == -1:
                    s = 0
                    while s < n and who[s] != player[feature[node]]:
                        s += 1
                    slot[d], fresh[d] = s, s == n
                    if s == n:
                        who[s], share[s], inside[s] = player[feature[node]], 1.0, 1.0
                        n += 1
                    share_before[d], inside_before[d] = share[s], inside[s]
                turn[d] += 1
                s = slot[d]
                if turn[d] == 2:
                    share[s], inside[s] = share_before[d], inside_before[d]
                    n -= fresh[d]
                    d -= 1
                    continue
                low, high = left[node], right[node]
                total = cover[low] + cover[high]
                z = cover[low] / total if total > 0 else 0.5
                goes = goes_left(nodes, sets, node, X[r, feature[node]])
                first = turn[d] == 0
                share[s] = share_before[d] * (z if first else 1 - z)
                inside[s] = inside_before[d] * (1.0 if goes == first else 0.0)
                d += 1
                path[d], turn[d] = (low if first else high), -1
