"""Categorical splits: a step of their own that turns categories into numbers.

Before a split on a set, the decisions of the block's rows are written into the block's spare last column, where the
split finds them as 0 (left) and 1 and compares them with one half like any number. The programs of all kernels share
this step.
"""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.blocks import COLUMN_BYTES, ROWS
from pellucid.trees.kernels.compiled import inner

CATEGORY = 7  # the kind of the step, distinct from those of every program
# columns of the step; the first three are those of every other step too
KIND, COLUMN, MISSING_LEFT, SET_START, SET_WORDS, OTHER_LEFT, SPARE = 0, 1, 2, 4, 5, 6, 7
HALF = 0.5  # the threshold of the split itself


@inner
def write_category(step, nodes, node, n_columns):
    """Fills the step of one categorical node."""
    feature, _, _, _, missing_left, _, set_start, set_words, other_left = nodes
    step[KIND] = CATEGORY
    step[COLUMN] = feature[node] * COLUMN_BYTES
    step[MISSING_LEFT] = missing_left[node]
    step[SET_START] = set_start[node]
    step[SET_WORDS] = set_words[node]
    step[OTHER_LEFT] = other_left[node]
    step[SPARE] = n_columns * COLUMN_BYTES


@inner
def decide_categories(step, sets, block):
    """Writes 0 for rows that go left and 1 for the others into the block's spare column."""
    column, spare = step[COLUMN] // 8, step[SPARE] // 8
    for r in range(ROWS):
        x = block[column + r]
        if np.isnan(x):
            goes = step[MISSING_LEFT] != 0
        elif x > -1 and x < 64 * step[SET_WORDS]:
            code = np.int64(x)
            goes = (sets[step[SET_START] + code // 64] >> np.uint64(code % 64)) & np.uint64(1) != 0
        else:
            goes = step[OTHER_LEFT] != 0
        block[spare + r] = 0.0 if goes else 1.0
