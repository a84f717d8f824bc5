"""Slow twins of surrogates: every pruning of a tree, and R2 by plain loops."""

import itertools


def prunings(left, right, node=0):
    """All sets of nodes that can be the leaves of a subtree."""
    found = [frozenset([node])]
    if left[node] >= 0:
        for a, b in itertools.product(prunings(left, right, left[node]), prunings(left, right, right[node])):
            found.append(a | b)
    return found


def least_error(left, right, cost, size):
    """The least sum of node costs over all subtrees with so many leaves."""
    return min(sum(cost[node] for node in ends) for ends in prunings(left, right) if len(ends) == size)


def r_squared(f, g, w):
    mean = sum(a * c for a, c in zip(f, w, strict=True)) / sum(w)
    missed = sum(c * (a - b) ** 2 for a, b, c in zip(f, g, w, strict=True))
    return 1 - missed / sum(c * (a - mean) ** 2 for a, c in zip(f, w, strict=True))
