"""The variance of trees under a product measure, by pairs of leaves (see `pellucid.trees.product_measure`)."""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.compiled import kernel


@kernel
def add_pairs(program, measure, w, first, end, row_variance, row_total):
    """Adds for each leaf from ``first`` on its pairs with itself and all later leaves.

    A leaf asks something of the players ``player[start[l]:start[l + 1]]``. Of a run of cells, ``low`` and ``high`` are
    its ends and the player's table holds cumulated masses; of a set (``size`` > 0) ``low`` is its number and the table
    holds the masses that each two sets share.
    """
    start, player, low, high, missing, inverse = program
    table, offset, size, missing_mass = measure
    place = np.full(row_total.shape[1], -1, np.int64)
    shared = np.empty(row_total.shape[1], np.int64)
    ratio = np.empty(row_total.shape[1])
    for l in range(first, end):  # noqa: E741
        for a in range(start[l], start[l + 1]):
            place[player[a]] = a
        for m in range(l, len(w)):
            count, zeros, zero_at, product = 0, 0, -1, 1.0
            for b in range(start[m], start[m + 1]):
                p = player[b]
                a = place[p]
                if a < 0:
                    continue
                if size[p] > 0:
                    both = table[offset[p] + low[a] * size[p] + low[b]]
                else:
                    at, to = max(low[a], low[b]), min(high[a], high[b])
                    both = table[offset[p] + to] - table[offset[p] + at] if to > at else 0.0
                    if missing[a] and missing[b]:
                        both += missing_mass[p]
                r = both * inverse[a] * inverse[b]
                if r > 0:
                    product *= r
                else:
                    zeros += 1
                    zero_at = p
                    if zeros > 1:
                        break
                shared[count] = p
                ratio[count] = r
                count += 1
            if count == 0:
                continue
            ww = w[l] * w[m] if l == m else 2.0 * w[l] * w[m]
            if zeros == 0:
                row_variance[l] += ww * (product - 1.0)
                for i in range(count):
                    row_total[l, shared[i]] += ww * product * (1.0 - 1.0 / ratio[i])
            else:
                row_variance[l] -= ww
                if zeros == 1:
                    row_total[l, zero_at] -= ww * product
        for a in range(start[l], start[l + 1]):
            place[player[a]] = -1
