"""Reading the tables of the marginal (interventional) game: which pattern of each leaf does a row have?

Patterns grow on the way down the tree (see `marginal_program`). Counted over the background they are what tables are
made from (`marginal_tables`); a row that is explained looks its own up, once per leaf pair.
"""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.blocks import COLUMN_BYTES, EVERY_LANE, ROWS
from pellucid.trees.kernels.categories import CATEGORY, decide_categories
from pellucid.trees.kernels.compiled import inner, kernel
from pellucid.trees.kernels.marginal_program import (
    AGAIN,
    BEFORE,
    COLUMN,
    COUNT,
    HISTOGRAM,
    KIND,
    LEAF,
    MASK_LEFT,
    MASK_RIGHT,
    MISSING_LEFT,
    NAMES,
    PATTERN,
    PATTERN_LEFT,
    PATTERN_RIGHT,
    PLAYERS,
    SPLIT,
    TABLE,
    VALUES,
)
from pellucid.trees.kernels.simd import VECTOR_BYTES, choose, choose_missing_yes, gather, load, number, splat, store


@inner
def _goes_left(x, numbers, missing_left):
    if missing_left:
        return choose_missing_yes(load(x), number(numbers), splat(1.0), splat(0.0))
    return choose(load(x), number(numbers), splat(1.0), splat(0.0))


@inner
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


@inner
def _pattern(step, numbers, x, w, r):
    """The pattern at a leaf, or at a pair of leaves below a new player's split."""
    pattern = load(w + step[PATTERN] + r)
    if step[KIND] == LEAF:
        return pattern
    return pattern + number(numbers + 8) * _goes_left(x + r, numbers, step[MISSING_LEFT])


@kernel
def count_background(steps, numbers, starts, sets, tables, X, weights, workspace, histogram, first_tree, end_tree):
    """Histograms of the background ``X`` (blocks, columns + 1 times ROWS) at the tables of some trees."""
    for r in range(ROWS):
        workspace[r] = 0.0
    w, seen = workspace.ctypes.data, len(workspace) - ROWS
    for tree in range(first_tree, end_tree):
        for b in range(len(X)):
            x = X.ctypes.data + b * X.shape[1] * 8
            for n in range(starts[tree], starts[tree + 1]):
                step = steps[n]
                kind = step[KIND]
                at = numbers.ctypes.data + 16 * n
                if kind == CATEGORY:
                    decide_categories(step, sets, X[b])
                elif kind == SPLIT:
                    _split(step, at, x + step[COLUMN], w, EVERY_LANE)
                else:
                    for r in range(0, COLUMN_BYTES, VECTOR_BYTES):
                        store(w + 8 * seen + r, _pattern(step, at, x + step[COLUMN], w, r))
                    start = tables[step[TABLE], HISTOGRAM]
                    for r in range(ROWS):
                        histogram[start + np.int64(workspace[seen + r])] += weights[b, r]


@kernel
def read_tables(steps, numbers, starts, sets, tables, names, values, X, phi, workspace, lanes):
    """Adds the values of all trees to ``phi`` (blocks, players or pairs, ROWS)."""
    for r in range(ROWS):
        workspace[r] = 0.0
    w = workspace.ctypes.data
    for tree in range(len(starts) - 1):
        for b in range(len(X)):
            x = X.ctypes.data + b * X.shape[1] * 8
            out = phi.ctypes.data + b * phi.shape[1] * COLUMN_BYTES
            for n in range(starts[tree], starts[tree + 1]):
                step = steps[n]
                kind = step[KIND]
                at = numbers.ctypes.data + 16 * n
                if kind == CATEGORY:
                    decide_categories(step, sets, X[b])
                elif kind == SPLIT:
                    _split(step, at, x + step[COLUMN], w, lanes)
                else:
                    _look_up(step, at, x + step[COLUMN], w, tables[step[TABLE]], names, values.ctypes.data, out, lanes)


@inner
def _look_up(step, numbers, x, w, table, names, values, phi, lanes):
    column = 8 << table[PLAYERS]
    for q in range(len(lanes)):
        r = q * VECTOR_BYTES
        pattern = _pattern(step, numbers, x, w, r)
        at = values + 8 * table[VALUES]
        for j in range(table[COUNT]):
            place = phi + names[table[NAMES] + j] * COLUMN_BYTES + r
            store(place, load(place) + gather(at + j * column, pattern))
