"""Which rows satisfy a leaf's conditions on some of the columns: one walk per tree and chunk of rows.

The columns in question are *followed*: a split on one of them sends each row to its side. A split on any other
column sends all rows both ways. So a leaf is reached by exactly the rows that satisfy its conditions on the
followed columns.

Rows are a set of bits, 64 to a word, as long as they are many: a split then costs one comparison of vectors for
all rows of the chunk, whoever reaches it. Few rows are a list, which costs a comparison for each of them. A node
without rows is not visited. All orders of rows are kept, so that sums do not depend on how rows are cut up.

Three walks: the weight that reaches each leaf (`leaf_mass`), the points that reach it as a step function
(`leaf_steps`), and leaf values added to the rows that reach them (`add_leaves`).
"""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.compiled import inner, kernel
from pellucid.trees.kernels.row_bits import WORD, add_where, at_most, count_bits, first_bit, missing

# One node: a line of the cache.
PLACE, THRESHOLD, LEFT, RIGHT, MISSING_LEFT, SET_START, SET_WORDS, OTHER_LEFT = range(8)
FIELDS = 8
LEAF, BOTH_WAYS = -1, -2  # instead of the place of a followed column

# One entry of the stack: a node, its rows (a word of `masks`, or ~position in `lists`), how many, what is free.
NODE, ROWS, COUNT, FREE_MASK, FREE_LIST = range(5)
ENTRY = 5

_WORD_BYTES = 8 * WORD


@kernel
def fill_table(feature, left, right, missing_left, set_start, set_words, other_left, place, first, table):
    """Writes nodes, of which the earliest is `first`; returns the number of splits on the longest path.

    ``place`` is for each column its place among the followed, or `BOTH_WAYS`. Thresholds are written elsewhere.
    """
    depth = np.zeros(len(table), np.int64)
    most = 0
    for node in range(len(table)):
        entry, i = table[node], first + node
        entry[PLACE] = LEAF
        if feature[i] < 0:
            continue
        entry[PLACE] = place[feature[i]]
        entry[LEFT], entry[RIGHT] = left[i] - first, right[i] - first
        entry[MISSING_LEFT], entry[OTHER_LEFT] = missing_left[i], other_left[i]
        entry[SET_START], entry[SET_WORDS] = set_start[i], set_words[i]
        below = depth[node] + 1
        depth[entry[LEFT]] = below
        depth[entry[RIGHT]] = below
        most = max(most, below)
    return most


@kernel
def collapse(table, values):
    """A split that sends all rows both ways, to two leaves, is itself a leaf worth their sum."""
    for node in range(len(table) - 1, -1, -1):
        if table[node, PLACE] == BOTH_WAYS:
            left, right = table[node, LEFT], table[node, RIGHT]
            if table[left, PLACE] == LEAF and table[right, PLACE] == LEAF:
                table[node, PLACE] = LEAF
                for v in range(values.shape[1]):
                    values[node, v] = values[left, v] + values[right, v]


@kernel
def contract(table, roots, reached):
    """Takes out the splits that send all rows both ways where only one of the ways leads to a reached leaf.

    ``reached`` is about leaves, and is completed for the nodes above them.
    """
    target = np.arange(len(table))
    for node in range(len(table) - 1, -1, -1):
        if table[node, PLACE] == LEAF:
            continue
        left, right = table[node, LEFT], table[node, RIGHT]
        table[node, LEFT], table[node, RIGHT] = target[left], target[right]
        reached[node] = reached[left] or reached[right]
        if table[node, PLACE] == BOTH_WAYS and reached[left] != reached[right]:
            target[node] = target[left] if reached[left] else target[right]
    for t in range(len(roots)):
        roots[t] = target[roots[t]]


@inner
def _in_set(entry, sets, x):
    """Whether a value goes left at a categorical split."""
    if np.isnan(x):
        return entry[MISSING_LEFT] != 0
    if x > -1 and x < 64 * entry[SET_WORDS]:
        code = np.int64(x)
        return (sets[entry[SET_START] + code // 64] >> np.uint64(code % 64)) & np.uint64(1) != 0
    return entry[OTHER_LEFT] != 0


@inner
def _categories(entry, sets, column, word, start):
    """Bits of the rows of a word that go left."""
    bits = np.uint64(0)
    while word != 0:
        r = first_bit(word)
        word &= word - np.uint64(1)
        if _in_set(entry, sets, column[start + r]):
            bits |= np.uint64(1) << np.uint64(r)
    return bits


@inner
def _split_mask(entry, threshold, sets, column, masks, here, left, right, words):
    """Parts a set of rows; returns how many go left."""
    x = column.ctypes.data
    numeric, missing_left = entry[SET_WORDS] == 0, entry[MISSING_LEFT] != 0
    count = 0
    for w in range(words):
        rows = masks[here + w]
        bits = np.uint64(0)
        if numeric:
            bits = at_most(x + w * _WORD_BYTES, threshold)
            if missing_left:
                bits |= missing(x + w * _WORD_BYTES)
        else:
            bits = _categories(entry, sets, column, rows, w * WORD)
        bits &= rows
        masks[left + w] = bits
        masks[right + w] = rows ^ bits
        count += count_bits(bits)
    return count


@inner
def _split_list(entry, threshold, sets, column, lists, here, count, left, right):
    """Parts a list of rows; returns how many go left."""
    numeric, missing_left = entry[SET_WORDS] == 0, entry[MISSING_LEFT] != 0
    if count == 1:
        x = column[lists[here]]
        goes = x <= threshold or (missing_left and np.isnan(x)) if numeric else _in_set(entry, sets, x)
        return 1 if goes else 0
    n, m = 0, 0
    for i in range(here, here + count):
        r = lists[i]
        x = column[r]
        goes = x <= threshold or (missing_left and np.isnan(x)) if numeric else _in_set(entry, sets, x)
        lists[left + n] = r
        lists[right + m] = r
        n += 1 if goes else 0
        m += 0 if goes else 1
    return n


@inner
def _enlist(masks, at, words, lists, to):
    """A set of rows as a list."""
    for w in range(words):
        word = masks[at + w]
        while word != 0:
            lists[to] = w * WORD + first_bit(word)
            to += 1
            word &= word - np.uint64(1)


@inner
def _push(stack, top, node, rows, count, free_mask, free_list):
    entry = stack[top]
    entry[NODE], entry[ROWS], entry[COUNT] = node, rows, count
    entry[FREE_MASK], entry[FREE_LIST] = free_mask, free_list
    return top + 1


@inner
def _descend_list(table, thresholds, sets, X, first, lists, stack, top):
    """Follows a list of rows down to a leaf, which is put on the stack after the nodes that branched off."""
    top -= 1
    node, here, count = stack[top, NODE], ~stack[top, ROWS], stack[top, COUNT]
    free_mask, free = stack[top, FREE_MASK], stack[top, FREE_LIST]
    while table[node, PLACE] != LEAF:
        entry = table[node]
        if entry[PLACE] == BOTH_WAYS:
            top = _push(stack, top, entry[RIGHT], ~here, count, free_mask, free)
            node = entry[LEFT]
            continue
        column, left = X[entry[PLACE], first:], free + count
        n = _split_list(entry, thresholds[node, THRESHOLD], sets, column, lists, here, count, left, free)
        if n == 0:
            node = entry[RIGHT]
            continue
        node = entry[LEFT]
        if n < count:
            top = _push(stack, top, entry[RIGHT], ~free, count - n, free_mask, left - n)
            here, count, free = left, n, left + n
    return _push(stack, top, node, ~here, count, free_mask, free)


@inner
def _descend(table, thresholds, sets, X, first, words, few, masks, lists, stack, top):
    """Puts the children of an inner node in its place on the stack; those without rows are left out.

    The right child's rows lie below the left child's, whose space is free again when its turn comes.
    """
    if stack[top - 1, ROWS] < 0:
        return _descend_list(table, thresholds, sets, X, first, lists, stack, top)
    top -= 1
    node, rows, count = stack[top, NODE], stack[top, ROWS], stack[top, COUNT]
    free_mask, free_list = stack[top, FREE_MASK], stack[top, FREE_LIST]
    entry = table[node]
    if entry[PLACE] == BOTH_WAYS:
        top = _push(stack, top, entry[RIGHT], rows, count, free_mask, free_list)
        return _push(stack, top, entry[LEFT], rows, count, free_mask, free_list)
    column, threshold = X[entry[PLACE], first:], thresholds[node, THRESHOLD]
    left, right = free_mask + words, free_mask
    n = _split_mask(entry, threshold, sets, column, masks, rows, left, right, words)
    if count - n > few:
        top = _push(stack, top, entry[RIGHT], right, count - n, left, free_list)
    elif n < count:
        _enlist(masks, right, words, lists, free_list)
        top = _push(stack, top, entry[RIGHT], ~free_list, count - n, left, free_list + count - n)
        free_list += count - n
    if n > few:
        return _push(stack, top, entry[LEFT], left, n, left + words, free_list)
    if n > 0:
        _enlist(masks, left, words, lists, free_list)
        top = _push(stack, top, entry[LEFT], ~free_list, n, left, free_list + n)
    return top


@inner
def _begin(masks, words, n, root, stack):
    """All n rows at the root."""
    for w in range(words):
        masks[w] = ~np.uint64(0)
    if n % WORD:
        masks[words - 1] = (np.uint64(1) << np.uint64(n % WORD)) - np.uint64(1)
    return _push(stack, 0, root, 0, n, words, 0)


@inner
def workspace(depth, n, few):
    """A chunk's words, sets of rows, lists of rows, and stack."""
    words = (n + WORD - 1) // WORD
    masks = np.empty((2 * depth + 3) * words, np.uint64)
    lists = np.empty(2 * (depth + 2) * (few + 1), np.int64)
    return words, masks, lists, np.empty((depth + 2, ENTRY), np.int64)


@inner
def _mass(masks, lists, rows, count, words, weights):
    """The weight of some rows, added up in their order."""
    total = 0.0
    if rows < 0:
        for i in range(~rows, ~rows + count):
            total += weights[lists[i]]
        return total
    for w in range(words):
        word = masks[rows + w]
        while word != 0:
            total += weights[w * WORD + first_bit(word)]
            word &= word - np.uint64(1)
    return total


@kernel
def leaf_mass(table, thresholds, sets, roots, depth, X, first, n, weights, weighted, few, mass):
    """Adds to each leaf the weight of the rows that reach it.

    ``X`` is (followed columns, rows up to a whole word), of which n from ``first`` on are taken; they count one
    each unless ``weighted``.
    """
    words, masks, lists, stack = workspace(depth, n, few)
    for root in roots:
        top = _begin(masks, words, n, root, stack)
        same, known = -1, 0.0  # leaves below splits that part nobody are reached by the same rows
        while top > 0:
            node, rows, count = stack[top - 1, NODE], stack[top - 1, ROWS], stack[top - 1, COUNT]
            if table[node, PLACE] != LEAF:
                if table[node, PLACE] != BOTH_WAYS:
                    same = -1
                top = _descend(table, thresholds, sets, X, first, words, few, masks, lists, stack, top)
                continue
            top -= 1
            if not weighted:
                mass[node] += count
                continue
            if rows < 0 or rows != same:
                known = _mass(masks, lists, rows, count, words, weights)
                same = rows
            mass[node] += known


@inner
def _note(steps, total, step, n):
    """Writes a step down where there is space; there is none at the end of the points."""
    if step == n:
        return total
    if total < len(steps):
        steps[total] = step
    return total + 1


@inner
def _steps_of(masks, lists, rows, count, words, n, steps, total):
    """Where runs of rows begin and end."""
    if rows < 0:
        end = -1
        for i in range(~rows, ~rows + count):
            if lists[i] != end:
                total = total if end < 0 else _note(steps, total, end, n)
                total = _note(steps, total, lists[i], n)
            end = lists[i] + 1
        return _note(steps, total, end, n)
    before = np.uint64(0)
    for w in range(words):
        word = masks[rows + w]
        change = word ^ (word << np.uint64(1) | before)
        before = word >> np.uint64(63)
        while change != 0:
            total = _note(steps, total, w * WORD + first_bit(change), n)
            change &= change - np.uint64(1)
    return total


@kernel
def leaf_steps(table, thresholds, sets, roots, depth, X, n, few, starts, ends, steps):
    """Where, along the n points, the points begin and cease to reach each leaf, alternately.

    Leaf i's are ``steps[starts[i]:ends[i]]``, none if no point reaches it. Returns how many there are in all; if
    that is more than there is space for in ``steps``, the rest is not written.
    """
    words, masks, lists, stack = workspace(depth, n, few)
    total = 0
    for root in roots:
        top = _begin(masks, words, n, root, stack)
        while top > 0:
            node, rows, count = stack[top - 1, NODE], stack[top - 1, ROWS], stack[top - 1, COUNT]
            if table[node, PLACE] != LEAF:
                top = _descend(table, thresholds, sets, X, 0, words, few, masks, lists, stack, top)
                continue
            top -= 1
            starts[node] = total
            total = _steps_of(masks, lists, rows, count, words, n, steps, total)
            ends[node] = total
    return total


@kernel
def step_sums(table, outputs, starts, ends, steps, values, sums):
    """Adds the leaves' values to the differences ``sums`` (outputs, points) between neighbouring points."""
    for node in range(len(table)):
        if table[node, PLACE] == LEAF:
            for v in range(values.shape[1]):
                value = values[node, v]
                for s in range(starts[node], ends[node]):
                    sums[outputs[node] + v, steps[s]] += value
                    value = -value


@inner
def _add_rows(masks, lists, rows, count, words, target, value):
    """Adds a number to some rows of a column."""
    if rows < 0:
        for i in range(~rows, ~rows + count):
            target[lists[i]] += value
        return
    address = target.ctypes.data
    for w in range(words):
        word = masks[rows + w]
        if count_bits(word) > 6:
            for b in range(0, WORD, 8):
                add_where(address + 8 * (w * WORD + b), word >> np.uint64(b), value)
            continue
        while word != 0:
            target[w * WORD + first_bit(word)] += value
            word &= word - np.uint64(1)


@kernel
def add_leaves(table, thresholds, sets, roots, outputs, depth, X, first, n, starts, ends, steps, values, few, sums):
    """Adds leaf values to the differences ``sums`` (outputs, points, rows) of the rows that reach the leaves.

    ``X`` and ``sums`` have rows up to a whole word, of which n from ``first`` on are taken. Tree t, with leaves of one
    number, adds to ``outputs[t]``.
    """
    words, masks, lists, stack = workspace(depth, n, few)
    for t in range(len(roots)):
        top = _begin(masks, words, n, roots[t], stack)
        while top > 0:
            node, rows, count = stack[top - 1, NODE], stack[top - 1, ROWS], stack[top - 1, COUNT]
            if table[node, PLACE] != LEAF:
                top = _descend(table, thresholds, sets, X, first, words, few, masks, lists, stack, top)
                continue
            top -= 1
            for v in range(values.shape[1]):
                value = values[node, v]
                for s in range(starts[node], ends[node]):
                    _add_rows(masks, lists, rows, count, words, sums[outputs[t] + v, steps[s], first:], value)
                    value = -value
