"""Interaction indices of three players in the path-dependent game, leaf by leaf.

A leaf with the factors F_j = z_j + t (a_j - z_j) adds, for every triple of its players,

    value * sum_k w_k (a_i - z_i) (a_j - z_j) (a_l - z_l) * prod_{other m} F_m(t_k)

Triples are asked for rarely; this is the formula as it stands, one row at a time.
"""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.compiled import kernel
from pellucid.trees.kernels.marginal_program import triple
from pellucid.trees.kernels.predict import goes_left


@kernel
def _leaf(value, n, who, share, inside, t, w, out):
    """Adds one leaf; who, share and inside are its n players, their z and their a."""
    for i in range(n):
        for j in range(i):
            for m in range(j):
                total = 0.0
                for k in range(len(t)):
                    product = w[k]
                    for q in range(n):
                        if q not in (i, j, m):
                            product *= share[q] + t[k] * (inside[q] - share[q])
                    total += product
                change = (inside[i] - share[i]) * (inside[j] - share[j]) * (inside[m] - share[m])
                out[triple(who[i], who[j], who[m])] += value * change * total


@kernel
def path_triples(nodes, sets, value, player, roots, t, w, depth, X, out):
    """Adds the index of every triple to ``out`` (rows, triples)."""
    feature, _, left, right, _, cover, _, _, _ = nodes
    path = np.empty(depth + 2, np.int64)
    turn = np.empty(depth + 2, np.int64)
    slot = np.empty(depth + 2, np.int64)  # of the split's player
    share_before, inside_before = np.empty(depth + 2), np.empty(depth + 2)
    fresh = np.empty(depth + 2, np.bool_)
    who = np.empty(depth + 2, np.int64)
    share, inside = np.empty(depth + 2), np.empty(depth + 2)
    for r in range(len(X)):
        for tree in range(len(roots)):
            path[0], turn[0] = roots[tree], -1
            d, n = 0, 0
            while d >= 0:
                node = path[d]
                if feature[node] < 0:
                    _leaf(value[node], n, who, share, inside, t, w, out[r])
                    d -= 1
                    continue
                if turn[d] == -1:
                    s = 0
                    while s < n and who[s] != player[feature[node]]:
                        s += 1
                    slot[d], fresh[d] = s, s == n
                    if s == n:
                        who[s], share[s], inside[s] = player[feature[node]], 1.0, 1.0
                        n += 1
                    share_before[d], inside_before[d] = share[s], inside[s]
                turn[d] += 1
                s = slot[d]
                if turn[d] == 2:
                    share[s], inside[s] = share_before[d], inside_before[d]
                    n -= fresh[d]
                    d -= 1
                    continue
                low, high = left[node], right[node]
                total = cover[low] + cover[high]
                z = cover[low] / total if total > 0 else 0.5
                goes = goes_left(nodes, sets, node, X[r, feature[node]])
                first = turn[d] == 0
                share[s] = share_before[d] * (z if first else 1 - z)
                inside[s] = inside_before[d] * (1.0 if goes == first else 0.0)
                d += 1
                path[d], turn[d] = (low if first else high), -1
