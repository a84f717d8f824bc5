"""Few borders that matter: the bins of numbers between which rules compare.

Half of the borders of a number part its rows into sets of equal weight; the other half are the splits of a tree that
sees this number alone, which is where the outcome changes. Besides there are those of a tree that sees all columns.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.glassbox.rules.bins import MISSING, Bins
from pellucid.glassbox.rules.growing import Grown, grown


def coarse(bins: Bins, targets: FloatArray, weight: FloatArray, tree: Grown, most: int, least: float) -> Bins:
    """Bins joined to about ``most`` for each number; ``tree`` is one that was grown on all of them."""
    of, low, high = bins.of.copy(), list(bins.low), list(bins.high)
    for j in range(len(of)):
        if bins.nominal[j] or bins.number[j] <= 2:
            continue
        own = np.flatnonzero(bins.of[j] != MISSING)
        cuts = {int(np.searchsorted(bins.high[j], t, side="right")) for t in tree.threshold[tree.feature == j].tolist()}
        if bins.number[j] <= most:
            cuts |= set(range(1, int(bins.number[j])))
        else:
            cuts |= _alone(bins, j, own, targets, weight, most // 2 + 1, least)
            mass = np.bincount(bins.of[j, own], weight[own], int(bins.number[j]))
            up_to = np.cumsum(mass) / mass.sum()
            cuts |= {int(k) + 1 for k in np.searchsorted(up_to, np.arange(1, most // 2 + 1) / (most // 2 + 1) - 1e-12)}
        starts = np.array(sorted({0, *(cut for cut in cuts if 0 < cut < bins.number[j])}))
        group = np.searchsorted(starts, np.arange(int(bins.number[j])), side="right") - 1
        of[j, own] = group[bins.of[j, own]]
        low[j] = bins.low[j][starts]
        high[j] = bins.high[j][np.append(starts[1:] - 1, bins.number[j] - 1)]
    number = np.array([len(each) for each in low], dtype=np.int64)
    return replace(bins, of=of, number=number, low=tuple(low), high=tuple(high))


def _alone(
    bins: Bins, j: int, rows: IntArray, targets: FloatArray, weight: FloatArray, leaves: int, least: float
) -> set[int]:
    """The bins that begin right of a split of a tree that sees one column."""
    one = Bins(
        bins.of[j : j + 1],
        bins.number[j : j + 1],
        bins.nominal[j : j + 1],
        bins.dates[j : j + 1],
        (bins.low[j],),
        (bins.high[j],),
    )
    tree = grown(one, targets, weight, leaves=leaves, least=least, rows=rows)
    splits = tree.threshold[tree.feature >= 0]
    return {int(np.searchsorted(bins.high[j], t, side="right")) for t in splits[np.isfinite(splits)].tolist()}
