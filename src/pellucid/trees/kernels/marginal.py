"""Marginal (interventional) Shapley values from one small table per leaf pair.

For a leaf with the players J let h(b) be the share of background rows whose pattern is b. With the row's
pattern p, and every player taking part with probability t, the leaf is reached with probability

    H_t(p) = sum_b h(b) prod_j (t p_j + (1 - t) b_j)

which is a product of 2x2 matrices, one per player, applied to h: d 2^d operations for all p at once, whatever
the size of the background. As H_t is linear in p_i, the derivative for player i needs nothing new:

    sum_b h(b) (p_i - b_i) prod_{j != i} (...) = p_i (H_t(p_i=1) - H_t(p_i=0)) / t - H_t(p_i=0) / (1 - t)

and its integral over t, times the leaf's value, is the player's Shapley value for rows with that pattern. A row
then costs one table look-up per leaf pair. Two such steps, for i and for j, give the interaction index of a
pair.
"""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.blocks import COLUMN_BYTES, EVERY_LANE, ROWS
from pellucid.trees.kernels.categories import CATEGORY, decide_categories
from pellucid.trees.kernels.compiled import kernel
from pellucid.trees.kernels.marginal_program import (
    AGAIN,
    BEFORE,
    COLUMN,
    COUNT,
    HISTOGRAM,
    IS_PAIR,
    KIND,
    LEAF,
    MASK_LEFT,
    MASK_RIGHT,
    MISSING_LEFT,
    NAMES,
    PAIR,
    PATTERN,
    PATTERN_LEFT,
    PATTERN_RIGHT,
    PLAYERS,
    TABLE,
    VALUES,
)
from pellucid.trees.kernels.simd import VECTOR_BYTES, choose, choose_missing_yes, gather, load, number, splat, store


@kernel
def _goes_left(x, numbers, missing_left):
    if missing_left:
        return choose_missing_yes(load(x), number(numbers), splat(1.0), splat(0.0))
    return choose(load(x), number(numbers), splat(1.0), splat(0.0))


@kernel
def _split(step, numbers, x, w, lanes):
    """Patterns and masks of both children."""
    for q in range(len(lanes)):
        r = q * VECTOR_BYTES
        a = _goes_left(x + r, numbers, step[MISSING_LEFT])
        pattern = load(w + step[PATTERN] + r)
        bit = number(numbers + 8)
        if step[AGAIN]:
            before = load(w + step[BEFORE] + r)
            left = before * a
            right = before - left
            store(w + step[PATTERN_LEFT] + r, pattern - bit * right)
            store(w + step[PATTERN_RIGHT] + r, pattern - bit * left)
        else:
            left = a
            right = splat(1.0) - a
            store(w + step[PATTERN_LEFT] + r, pattern + bit * left)
            store(w + step[PATTERN_RIGHT] + r, pattern + bit * right)
        store(w + step[MASK_LEFT] + r, left)
        store(w + step[MASK_RIGHT] + r, right)


@kernel
def _pattern(step, numbers, x, w, r):
    """The pattern at a leaf, or at a pair of leaves below a new player's split."""
    pattern = load(w + step[PATTERN] + r)
    if step[KIND] == LEAF:
        return pattern
    return pattern + number(numbers + 8) * _goes_left(x + r, numbers, step[MISSING_LEFT])


@kernel
def _count(steps, numbers, first, end, sets, tables, block, weights, workspace, histogram):
    """Adds one block of background rows to the histograms of one tree."""
    x, w = block.ctypes.data, workspace.ctypes.data
    seen = workspace[-ROWS:]
    for n in range(first, end):
        step = steps[n]
        kind = step[KIND]
        at = numbers.ctypes.data + 16 * n
        if kind == CATEGORY:
            decide_categories(step, sets, block)
        elif kind in (LEAF, PAIR):
            for r in range(0, COLUMN_BYTES, VECTOR_BYTES):
                store(seen.ctypes.data + r, _pattern(step, at, x + step[COLUMN], w, r))
            start = tables[step[TABLE], HISTOGRAM]
            for r in range(ROWS):
                histogram[start + np.int64(seen[r])] += weights[r]
        else:
            _split(step, at, x + step[COLUMN], w, EVERY_LANE)


@kernel
def _one_player_in(h, bit, t):
    """Applies the matrix of one player: the pattern's bit 0 keeps (1-t) of b=1, bit 1 keeps t of b=0 and all of b=1."""
    for start in range(0, len(h), 2 * bit):
        for p in range(start, start + bit):
            without, having = h[p], h[p + bit]
            h[p] = (1 - t) * having
            h[p + bit] = t * without + having


@kernel
def _derivative(h, bit, t, w, out):
    """Adds w times the derivative for the player of that bit."""
    inside, outside = w / t, w / (1 - t)
    for start in range(0, len(h), 2 * bit):
        for p in range(start, start + bit):
            lost = outside * h[p]
            out[p] -= lost
            out[p + bit] += inside * (h[p + bit] - h[p]) - lost


@kernel
def _join_pair(h, half, t, first, second):
    """The last player's matrix for two leaves at once: the second leaf's bit is the opposite."""
    for p in range(half):
        low, high = h[p], h[p + half]
        h[p] = first * (1 - t) * high + second * (t * high + low)
        h[p + half] = first * (t * low + high) + second * (1 - t) * low


@kernel
def _reach(counts, players, t, h):
    """H_t before the leaf's value and, for a pair of leaves, before the last player."""
    h[:] = counts
    for j in range(players):
        _one_player_in(h, 1 << j, t)


@kernel
def _last_player(h, half, gain, out):
    """Adds the derivative for the last player of a pair of leaves."""
    for p in range(half):
        out[p] -= gain * h[p + half]
        out[p + half] += gain * h[p]


@kernel
def _fill_players(table, first, second, n_points, points, weights, counts, out, h):
    d, is_pair = table[PLAYERS], table[IS_PAIR]
    size = 1 << d
    others = d - 1 if is_pair else d
    for k in range(n_points[d]):
        t, w = points[d, k], weights[d, k]
        _reach(counts, others, t, h)
        if is_pair:
            _last_player(h, size >> 1, w * (first - second), out[others * size :])
            _join_pair(h, size >> 1, t, first, second)
        else:
            h *= first
        for j in range(others):
            _derivative(h, 1 << j, t, w, out[j * size : (j + 1) * size])


@kernel
def _fill_pairs(table, first, second, n_points, points, weights, counts, out, h, slope):
    d, is_pair = table[PLAYERS], table[IS_PAIR]
    size = 1 << d
    others = d - 1 if is_pair else d
    for k in range(n_points[d]):
        t, w = points[d, k], weights[d, k]
        _reach(counts, others, t, h)
        if is_pair:
            slope[:] = 0.0
            _last_player(h, size >> 1, first - second, slope)
            for i in range(others):
                column = (others * (others - 1) // 2 + i) * size
                _derivative(slope, 1 << i, t, w, out[column : column + size])
            _join_pair(h, size >> 1, t, first, second)
        else:
            h *= first
        _derive_pairs(h, others, t, w, out, slope)


@kernel
def _fill_triples(table, first, second, n_points, points, weights, counts, out, h, slope, bend):
    d, is_pair = table[PLAYERS], table[IS_PAIR]
    size = 1 << d
    others = d - 1 if is_pair else d
    for k in range(n_points[d]):
        t, w = points[d, k], weights[d, k]
        _reach(counts, others, t, h)
        if is_pair:
            bend[:] = 0.0
            _last_player(h, size >> 1, first - second, bend)
            _derive_pairs(bend, others, t, w, out[_before(others) * size :], slope)
            _join_pair(h, size >> 1, t, first, second)
        else:
            h *= first
        for j in range(2, others):
            bend[:] = 0.0
            _derivative(h, 1 << j, t, 1.0, bend)
            _derive_pairs(bend, j, t, w, out[_before(j) * size :], slope)


@kernel
def _before(j):
    """Triples whose highest member is below j."""
    return j * (j - 1) * (j - 2) // 6


@kernel
def _derive_pairs(h, players, t, w, out, slope):
    """Adds the derivatives for all pairs of the first players."""
    size = len(h)
    for i in range(1, players):
        slope[:] = 0.0
        _derivative(h, 1 << i, t, 1.0, slope)
        for m in range(i):
            column = (i * (i - 1) // 2 + m) * size
            _derivative(slope, 1 << m, t, w, out[column : column + size])


@kernel
def fill_tables(
    steps,
    numbers,
    starts,
    sets,
    tables,
    table_starts,
    leaf_values,
    X,
    weights,
    n_points,
    points,
    node_weights,
    workspace,
    histogram,
    values,
    order,
    first_tree,
    end_tree,
):
    """Histograms of the background ``X`` (blocks, columns + 1, ROWS) and, from them, the tables of some trees."""
    most = 0
    for table in range(table_starts[first_tree], table_starts[end_tree]):
        most = max(most, tables[table, PLAYERS])
    h, slope, bend = np.empty(1 << most), np.empty(1 << most), np.empty(1 << most)
    workspace[:ROWS] = 0.0
    for tree in range(first_tree, end_tree):
        for b in range(len(X)):
            _count(
                steps,
                numbers,
                starts[tree],
                starts[tree + 1],
                sets,
                tables,
                X[b].reshape(-1),
                weights[b],
                workspace,
                histogram,
            )
        for t in range(table_starts[tree], table_starts[tree + 1]):
            table = tables[t]
            first, second = leaf_values[t, 0], leaf_values[t, 1]
            size = 1 << table[PLAYERS]
            counts = histogram[table[HISTOGRAM] : table[HISTOGRAM] + size]
            out = values[table[VALUES] : table[VALUES] + table[COUNT] * size]
            if order == 1:
                _fill_players(table, first, second, n_points, points, node_weights, counts, out, h[:size])
            elif order == 3:
                _fill_triples(
                    table,
                    first,
                    second,
                    n_points,
                    points,
                    node_weights,
                    counts,
                    out,
                    h[:size],
                    slope[:size],
                    bend[:size],
                )
            else:
                _fill_pairs(table, first, second, n_points, points, node_weights, counts, out, h[:size], slope[:size])


@kernel
def read_tables(steps, numbers, starts, sets, tables, names, values, X, phi, workspace, lanes):
    """Adds the values of all trees to ``phi`` (blocks, players or pairs, ROWS)."""
    workspace[:ROWS] = 0.0
    w = workspace.ctypes.data
    for tree in range(len(starts) - 1):
        for b in range(len(X)):
            x = X.ctypes.data + b * X.shape[1] * COLUMN_BYTES
            out = phi.ctypes.data + b * phi.shape[1] * COLUMN_BYTES
            for n in range(starts[tree], starts[tree + 1]):
                step = steps[n]
                kind = step[KIND]
                at = numbers.ctypes.data + 16 * n
                if kind == CATEGORY:
                    decide_categories(step, sets, X[b].reshape(-1))
                elif kind in (LEAF, PAIR):
                    _look_up(step, at, x + step[COLUMN], w, tables[step[TABLE]], names, values.ctypes.data, out, lanes)
                else:
                    _split(step, at, x + step[COLUMN], w, lanes)


@kernel
def _look_up(step, numbers, x, w, table, names, values, phi, lanes):
    column = 8 << table[PLAYERS]
    for q in range(len(lanes)):
        r = q * VECTOR_BYTES
        pattern = _pattern(step, numbers, x, w, r)
        at = values + 8 * table[VALUES]
        for j in range(table[COUNT]):
            place = phi + names[table[NAMES] + j] * COLUMN_BYTES + r
            store(place, load(place) + gather(at + j * column, pattern))
