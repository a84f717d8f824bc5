"""Masses of leaves by a walk that may go wrong a few times, and sums of rectangles at many points."""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.compiled import kernel
from pellucid.trees.kernels.predict import in_set


@kernel
def add_masses(nodes, sets, roots, slot, leaf, depth, X, weights, order, starts, tables):
    """Adds each row's weight to the mass of every leaf that it misses by at most ``order`` players.

    ``slot`` is, of a node, the place of its turn's player among those of the path; ``leaf`` numbers the leaves;
    ``starts`` and ``tables`` are the masses by the number of players.
    """
    feature, threshold, left, right, missing_left, _, set_start, set_words, other_left = nodes
    start_0, start_1, start_2, start_3 = starts
    table_0, table_1, table_2, table_3 = tables
    stack = np.empty((depth + 1, 5), dtype=np.int64)  # node, number of wrong players, their slots
    for tree in range(len(roots)):
        for r in range(len(X)):
            stack[0, 0], stack[0, 1] = roots[tree], 0
            height = 1
            while height > 0:
                height -= 1
                node, wrong = stack[height, 0], stack[height, 1]
                a, b, c = stack[height, 2], stack[height, 3], stack[height, 4]
                while feature[node] >= 0:
                    x = X[r, feature[node]]
                    if set_words[node] > 0:
                        goes = in_set(x, missing_left[node], other_left[node], sets, set_start[node], set_words[node])
                    else:
                        goes = x <= threshold[node] or (missing_left[node] and np.isnan(x))
                    mine = left[node] if goes else right[node]
                    other = right[node] if goes else left[node]
                    s = slot[mine]
                    before = (wrong > 0 and s == a) or (wrong > 1 and s == b) or (wrong > 2 and s == c)
                    if before or wrong < order:
                        stack[height, 0] = other
                        stack[height, 1] = wrong if before else wrong + 1
                        stack[height, 2] = s if not before and wrong == 0 else a
                        stack[height, 3] = s if not before and wrong == 1 else b
                        stack[height, 4] = s if not before and wrong == 2 else c
                        height += 1
                    node = mine
                at, w = leaf[node], weights[r]
                if wrong == 0:
                    table_0[start_0[at]] += w
                elif wrong == 1:
                    table_1[start_1[at] + a] += w
                elif wrong == 2:
                    low, high = min(a, b), max(a, b)
                    table_2[start_2[at] + low + high * (high - 1) // 2] += w
                else:
                    low, high = min(a, b, c), max(a, b, c)
                    middle = a + b + c - low - high
                    place = low + middle * (middle - 1) // 2 + high * (high - 1) * (high - 2) // 6
                    table_3[start_3[at] + place] += w


@kernel
def add_rectangles(edge, low, high, weight, points, first, second, size, out):
    """At each point the sum of the rectangles that hold it.

    Rectangles are pairs of events in ascending order of the first coordinate: from ``edge`` on, second coordinates
    from ``low`` to before ``high`` gain ``weight``. ``points`` are in ascending order of their coordinate ``first``.
    """
    tree = np.zeros(size + 1)  # Fenwick's: sums of gains up to a coordinate
    event = 0
    for p in range(len(points)):
        point = points[p]
        while event < len(edge) and edge[event] <= first[point]:
            i = low[event] + 1
            while i <= size:
                tree[i] += weight[event]
                i += i & -i
            i = high[event] + 1
            while i <= size:
                tree[i] -= weight[event]
                i += i & -i
            event += 1
        total = 0.0
        i = second[point] + 1
        while i > 0:
            total += tree[i]
            i -= i & -i
        out[point] += total
