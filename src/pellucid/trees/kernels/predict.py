"""Plain walks: the prediction of each row, and the mean over the leaves by training weight."""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.compiled import kernel


@kernel
def goes_left(nodes, sets, node, x):
    """Whether a value goes left at a node."""
    _, threshold, _, _, missing_left, _, set_start, set_words, other_left = nodes
    if set_words[node] > 0:
        if np.isnan(x):
            return missing_left[node]
        if x > -1 and x < 64 * set_words[node]:
            code = np.int64(x)
            return (sets[set_start[node] + code // 64] >> np.uint64(code % 64)) & np.uint64(1) != 0
        return other_left[node]
    return x <= threshold[node] or (missing_left[node] and np.isnan(x))


@kernel
def leaf_of(nodes, sets, root, row):
    """The leaf that a row reaches in one tree."""
    feature, left, right = nodes[0], nodes[2], nodes[3]
    node = root
    while feature[node] >= 0:
        node = left[node] if goes_left(nodes, sets, node, row[feature[node]]) else right[node]
    return node


@kernel
def add_predictions(nodes, sets, value, roots, output, X, out):
    """Adds the trees' values to ``out`` (rows, outputs); tree by tree, so that each tree stays in the cache."""
    width = value.shape[1]
    for tree in range(len(roots)):
        for r in range(len(X)):
            leaf = leaf_of(nodes, sets, roots[tree], X[r])
            for v in range(width):
                out[r, output[tree] + v] += value[leaf, v]


@kernel
def expectations(feature, left, right, cover, value):
    """Of each node the mean of the leaves below it, by the training weight that went each way."""
    mean = value.copy()
    for node in range(len(feature) - 1, -1, -1):  # children come after their parents
        if feature[node] >= 0:
            low, high = left[node], right[node]
            total = cover[low] + cover[high]
            share = cover[low] / total if total > 0 else 0.5
            for v in range(value.shape[1]):
                mean[node, v] = share * mean[low, v] + (1 - share) * mean[high, v]
    return mean
