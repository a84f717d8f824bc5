"""Plain walks: the prediction of each row, and the mean over the leaves by training weight."""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.compiled import inner, kernel


@inner
def in_set(x, missing_left, other_left, sets, start, words):
    """Whether a category goes left at a categorical split."""
    if np.isnan(x):
        return missing_left
    if x > -1 and x < 64 * words:
        code = np.int64(x)
        return (sets[start + code // 64] >> np.uint64(code % 64)) & np.uint64(1) != 0
    return other_left


@inner
def goes_left(nodes, sets, node, x):
    """Whether a value goes left at a node."""
    _, threshold, _, _, missing_left, _, set_start, set_words, other_left = nodes
    if set_words[node] > 0:
        return in_set(x, missing_left[node], other_left[node], sets, set_start[node], set_words[node])
    return x <= threshold[node] or (missing_left[node] and np.isnan(x))


@kernel
def add_predictions(nodes, sets, value, roots, output, X, out):
    """Adds the trees' values to ``out`` (rows, outputs); tree by tree, so that each tree stays in the cache."""
    # taken apart here, once: inside the loop every use of a tuple of arrays would count references
    feature, threshold, left, right, missing_left, _, set_start, set_words, other_left = nodes
    width = value.shape[1]
    for tree in range(len(roots)):
        for r in range(len(X)):
            node = roots[tree]
            while feature[node] >= 0:
                x = X[r, feature[node]]
                if set_words[node] > 0:
                    goes = in_set(x, missing_left[node], other_left[node], sets, set_start[node], set_words[node])
                else:
                    goes = x <= threshold[node] or (missing_left[node] and np.isnan(x))
                node = left[node] if goes else right[node]
            for v in range(width):
                out[r, output[tree] + v] += value[node, v]


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
