"""Leaves as boxes: what each leaf asks of each player, and which of them a ball around a row can reach.

The cells of a player are what its splits tell apart. A box has one condition for each player that is met on the way to
the leaf: a run of cells ``[low, high)`` and a yes or no to missing values, or a set of cells, as bits.
"""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.compiled import kernel


@kernel
def list_conditions(players, roots_of_leaves, leaves, first, who, low, high, missing, bits):
    """Writes the conditions of each leaf, from the leaf up; returns how many there are.

    A leaf that no row reaches has the condition -1. ``players`` says of every node who decides it, which cells go left
    (the first ``cut``, or the bits from ``mask``) and where missing values go.
    """
    parent, is_left, decides, cut, mask, missing_left, masks, cells, words = players
    seen = np.full(len(cells), -1, np.int64)
    used = 0
    for i in range(len(leaves)):
        first[i] = used
        node = leaves[i]
        while node != roots_of_leaves[i]:
            above = parent[node]
            j = decides[above]
            e = seen[j]
            if e < first[i]:
                e = used
                seen[j] = e
                who[e], low[e], high[e], missing[e] = j, 0, cells[j], True
                bits[e] = ~np.uint64(0)
                used += 1
            if words[j] == 0:
                if is_left[node]:
                    high[e] = min(high[e], cut[above])
                else:
                    low[e] = max(low[e], cut[above])
                missing[e] = missing[e] and missing_left[above] == is_left[node]
            else:
                for w in range(words[j]):
                    own = masks[mask[above] + w]
                    bits[e, w] &= own if is_left[node] else ~own
            node = above
    first[len(leaves)] = used
    return used


@kernel
def leaf_costs(first, kind, kind_cost, largest, out):
    """The least that a row costs which reaches each leaf: the sum over its conditions, or the largest of them."""
    for leaf in range(len(first) - 1):
        total = 0.0
        for e in range(first[leaf], first[leaf + 1]):
            c = kind_cost[kind[e]]
            total = max(total, c) if largest else total + c
        out[leaf] = total


@kernel
def leaves_within(radius, cost, tree_first, tree_sum, boxes, kinds, whole, lists):
    """The leaves that cost less than the radius, tree by tree, with those of their conditions that say something there.

    Returns the numbers of trees, leaves and conditions; trees that add to no sum are left out. ``whole`` says of each
    kind of condition whether all of the ball meets it.
    """
    first, who, kind = boxes
    kind_low, kind_high = kinds
    trees, tree_kept, leaf_kept, condition_first, player, low, high = lists
    n_trees, n_leaves, n_conditions = 0, 0, 0
    for tree in range(len(tree_sum)):
        if tree_sum[tree] == -2:
            continue
        trees[n_trees], tree_kept[n_trees] = tree, n_leaves
        n_trees += 1
        for leaf in range(tree_first[tree], tree_first[tree + 1]):
            if cost[leaf] >= radius:
                continue
            leaf_kept[n_leaves], condition_first[n_leaves] = leaf, n_conditions
            n_leaves += 1
            for e in range(first[leaf], first[leaf + 1]):
                k = kind[e]
                if whole[k]:
                    continue
                player[n_conditions], low[n_conditions], high[n_conditions] = who[e], kind_low[k], kind_high[k]
                n_conditions += 1
    tree_kept[n_trees], condition_first[n_leaves] = n_leaves, n_conditions
    return n_trees, n_leaves, n_conditions
