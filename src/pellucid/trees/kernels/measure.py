"""How large trees are: what is needed to make room for their programs and tables, and to choose between them."""

from __future__ import annotations

from pellucid.trees.kernels.compiled import kernel

# Of each tree: its depth, the most distinct players on a path, its nodes, inner nodes, categorical nodes, pairs of a
# split and another player above it; and, from `TABLES` on, how many tables of the marginal game have so many players
# (the last: so many or more).
DEPTH, MOST, NODES, INNER, SETS, PARTNERS, TABLES = 0, 1, 2, 3, 4, 5, 6


@kernel
def measure(feature, left, right, set_words, player, roots, seen, stack, out):
    """Fills ``out`` (trees, columns); ``seen`` (zeros) and ``stack`` are room, of players and of nodes."""
    last = out.shape[1] - TABLES - 1
    for tree in range(len(roots)):
        top = 0
        stack[0] = roots[tree]
        depth, distinct = 0, 0
        # a node is pushed again, as ~node, to be left after its children
        while top >= 0:
            node = stack[top]
            top -= 1
            if node < 0:
                who = player[feature[~node]]
                seen[who] -= 1
                distinct -= seen[who] == 0
                depth -= 1
                continue
            out[tree, NODES] += 1
            if feature[node] < 0:
                out[tree, DEPTH] = max(out[tree, DEPTH], depth)
                out[tree, MOST] = max(out[tree, MOST], distinct)
                out[tree, TABLES + min(distinct, last)] += 1
                continue
            who = player[feature[node]]
            out[tree, INNER] += 1
            out[tree, SETS] += set_words[node] > 0
            out[tree, PARTNERS] += distinct - (seen[who] > 0)
            low, high = left[node], right[node]
            if seen[who] == 0 and feature[low] < 0 and feature[high] < 0:  # two leaves that share a table
                out[tree, NODES] += 2
                out[tree, DEPTH] = max(out[tree, DEPTH], depth + 1)
                out[tree, MOST] = max(out[tree, MOST], distinct + 1)
                out[tree, TABLES + min(distinct + 1, last)] += 1
                continue
            distinct += seen[who] == 0
            seen[who] += 1
            depth += 1
            stack[top + 1] = ~node
            stack[top + 2] = high
            stack[top + 3] = low
            top += 3
