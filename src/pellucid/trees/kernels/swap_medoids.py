"""Swaps of medoids for candidates, each as soon as it lowers the sum of distances (see `methods.examples.medoids`)."""

from __future__ import annotations

import numpy as np

from pellucid.trees.kernels.compiled import kernel


@kernel
def swap(block, squared, candidates, chosen, apart, first, second, place, other, w, least):
    """Tries each candidate, with distances ``block[candidate, row]``, in the place of the medoid that it serves best.

    Those of ``block`` may be ``squared``. ``apart[row, medoid]`` are the distances, ``first`` and ``second`` the two
    least, ``place`` and ``other`` their medoids. All change in place. Returns by how much the sum has fallen.
    """
    n, m = apart.shape
    removal, change, far, fallen = np.empty(m), np.empty(m), np.empty(n, dtype=block.dtype), 0.0
    anew = True
    for c in range(len(candidates)):
        if anew:
            removal[:] = 0.0
            for i in range(n):
                removal[place[i]] += w[i] * (second[i] - first[i])
                far[i] = second[i] * second[i] if squared else second[i]
            anew = False
        taken = False
        for k in range(m):
            taken |= chosen[k] == candidates[c]
        if taken:
            continue
        added = 0.0
        change[:] = removal
        for i in range(n):
            if block[c, i] >= far[i]:
                continue
            d = _distance(block[c, i], squared)
            if d < first[i]:
                added += w[i] * (d - first[i])
                change[place[i]] += w[i] * (first[i] - second[i])
            elif d < second[i]:
                change[place[i]] += w[i] * (d - second[i])
        out = 0
        for k in range(1, m):
            if change[k] < change[out]:
                out = k
        if change[out] + added >= -least:
            continue
        fallen -= change[out] + added
        chosen[out], anew = candidates[c], True
        for i in range(n):
            d = _distance(block[c, i], squared)
            apart[i, out] = d
            if place[i] != out and other[i] != out:
                if d < first[i]:
                    second[i], other[i], first[i], place[i] = first[i], place[i], d, out
                elif d < second[i]:
                    second[i], other[i] = d, out
                continue
            first[i], second[i], place[i], other[i] = np.inf, np.inf, -1, -1
            for k in range(m):
                e = apart[i, k]
                if e < first[i]:
                    second[i], other[i], first[i], place[i] = first[i], place[i], e, k
                elif e < second[i]:
                    second[i], other[i] = e, k
    return fallen


@kernel
def _distance(d, squared):
    return np.sqrt(max(np.float64(d), 0.0)) if squared else np.float64(d)
