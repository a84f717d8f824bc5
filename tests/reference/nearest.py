"""The cheapest row whose sums are where they should be, by trying every combination of values."""

import itertools

import numpy as np


def nearest_by_enumeration(predict, values, costs, own, meets, *, largest=False, most_changes=None, forbidden=()):
    """Cost of the cheapest row of ``values[j][i]`` (costs[j][i]) that meets the target, inf where there is none, and
    all rows of that cost.

    ``own[j]`` is the place of the row's own value. At most so many changes; no row may change all of a forbidden set.
    """
    best, rows = np.inf, []
    for places in itertools.product(*[range(len(own_values)) for own_values in values]):
        changed = {j for j, place in enumerate(places) if place != own[j]}
        if most_changes is not None and len(changed) > most_changes:
            continue
        if any(set(some) <= changed for some in forbidden):
            continue
        parts = [costs[j][place] for j, place in enumerate(places)]
        total = max(parts) if largest else sum(parts)
        if total > best + 1e-9 or not np.isfinite(total):
            continue
        row = np.array([values[j][place] for j, place in enumerate(places)])
        if meets(predict(row)):
            rows = [row] if total < best - 1e-9 else [*rows, row]
            best = min(best, total)
    return best, rows
