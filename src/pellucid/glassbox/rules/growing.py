"""Growing a tree: always the split that lowers the loss most, wherever it is (best first).

The loss of a leaf is the weighted sum of squares about its mean, summed over the columns of y. With one column that is
regression (CART, Breiman et al. 1984); with one column of 0 and 1 per class it is the Gini impurity times the weight.

    gain = sum over columns (S_left² / W_left + S_right² / W_right - S² / W)

A number splits between two bins. Levels are put in the order of their mean of each column of y, and split there, which
for one column and for two classes is the best of all their subsets (Fisher 1958). Missing values go to the side where
they lower the loss more; where a node saw none, to the heavier side, and so do levels that it has not seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.glassbox.rules.bins import Bins
from pellucid.trees.kernels.compiled import inner, kernel

_TIE = 1e-10  # of the loss at the root: gains that differ by less are equal, and the first is taken


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree in flat arrays, one entry per node, children after their parent.

    ``feature`` is -1 at a leaf, ``threshold`` what a number is compared with, ``goes_left`` (nodes, levels) which
    levels of a nominal feature go left. ``value`` (nodes, columns of y) are means, ``loss`` the sum of squares about
    them, ``step`` at which the node was split (-1: never).
    """

    feature: IntArray
    threshold: FloatArray
    goes_left: BoolArray
    missing_left: BoolArray
    other_left: BoolArray
    left: IntArray
    right: IntArray
    depth: IntArray
    weight: FloatArray
    value: FloatArray
    loss: FloatArray

    def __len__(self) -> int:
        return len(self.feature)


def grown(
    bins: Bins,
    y: FloatArray,
    weight: FloatArray,
    *,
    leaves: int,
    depth: int | None = None,
    least: float = 1.0,
    rows: IntArray | None = None,
) -> Grown:
    """A tree of at most so many leaves and so deep, each leaf with at least the weight ``least``."""
    y = np.ascontiguousarray(y, dtype=np.float64).reshape(bins.of.shape[1], -1)
    rows = np.arange(len(y)) if rows is None else rows
    widest = int(max(1, np.where(bins.nominal, bins.number, 0).max(initial=0)))
    nodes, goes, numbers, value = _grow(
        bins.of, bins.number, bins.nominal, y, weight, rows.astype(np.int64), leaves, depth or 1 << 30, least, widest
    )
    feature = nodes[:, 0]
    threshold = np.full(len(nodes), np.nan)
    for node in np.flatnonzero((feature >= 0) & ~bins.nominal[feature]):
        j, below, above = nodes[node, 0], nodes[node, 1], nodes[node, 2]
        threshold[node] = np.inf if above < 0 else bins.between(j, below, above)
    return Grown(
        feature=feature,
        threshold=threshold,
        goes_left=goes,
        missing_left=nodes[:, 3].astype(np.bool_),
        other_left=nodes[:, 4].astype(np.bool_),
        left=nodes[:, 5],
        right=nodes[:, 6],
        depth=nodes[:, 7],
        weight=numbers[:, 0],
        value=value,
        loss=numbers[:, 1],
    )


@kernel
def _grow(bins, number, nominal, y, weight, order, leaves, deepest, least, widest):  # type: ignore[no-untyped-def]
    """Best-first growth; the rows of a node lie side by side in ``order``."""
    most, columns = 2 * leaves - 1, y.shape[1]
    # feature, bin below, bin above, missing left, others left, left child, right child, depth
    nodes = np.full((most, 8), -1, np.int64)
    goes = np.zeros((most, widest), np.bool_)
    numbers, value = np.zeros((most, 2)), np.zeros((most, columns))
    begin, end = np.zeros(most, np.int64), np.zeros(most, np.int64)
    gain, plan = np.full(most, -1.0), np.full((most, 5), -1, np.int64)
    hist, sums, spare = np.zeros((max(1, number.max()), columns + 1)), np.zeros(columns + 1), order.copy()
    end[0], nodes[0, 7], used, held, tie = len(order), 0, 1, 1, 0.0
    while True:
        for node in range(max(used - 2, 0), used):  # those just made
            rows = order[begin[node] : end[node]]
            numbers[node, 1] = _leaf(rows, y, weight, sums)
            numbers[node, 0] = sums[0]
            value[node] = sums[1:] / sums[0]
            if node == 0:
                tie = _TIE * numbers[0, 1]
            if nodes[node, 7] < deepest and sums[0] >= 2 * least and numbers[node, 1] > tie:
                gain[node] = _best(bins, nominal, y, weight, rows, sums, least, tie, hist, plan[node], goes[node])
        node = -1
        for each in range(used):
            if gain[each] > 0.0 and (node < 0 or gain[each] > gain[node] + tie):
                node = each
        if node < 0 or held >= leaves:
            break
        j = plan[node, 0]
        middle = begin[node] + _part(bins[j], nominal[j], order[begin[node] : end[node]], spare, plan[node], goes[node])
        nodes[node, :5] = plan[node]
        nodes[node, 5], nodes[node, 6] = used, used + 1
        nodes[used, 7] = nodes[used + 1, 7] = nodes[node, 7] + 1
        begin[used], end[used], begin[used + 1], end[used + 1] = begin[node], middle, middle, end[node]
        gain[node], used, held = -1.0, used + 2, held + 1
    return nodes[:used], goes[:used], numbers[:used], value[:used]


@inner
def _leaf(rows, y, weight, sums):  # type: ignore[no-untyped-def]
    """The weight and the weighted sums of y (into ``sums``), and the sum of squares about the means."""
    sums[:] = 0.0
    loss = 0.0
    for i in rows:
        sums[0] += weight[i]
        for k in range(y.shape[1]):
            sums[k + 1] += weight[i] * y[i, k]
    for i in rows:
        for k in range(y.shape[1]):
            loss += weight[i] * (y[i, k] - sums[k + 1] / sums[0]) ** 2
    return loss


@inner
def _best(bins, nominal, y, weight, rows, sums, least, tie, hist, plan, goes):  # type: ignore[no-untyped-def]  # noqa: C901
    """The gain of the best split of a node, which is written to ``plan`` and ``goes``; -1 where there is none."""
    columns, best, score = y.shape[1], -1.0, 0.0
    gone, kept = np.zeros(columns + 1), np.zeros(columns + 1)
    for k in range(columns):
        score += sums[k + 1] ** 2 / sums[0]
    for j in range(bins.shape[0]):
        seen = _histogram(bins[j], y, weight, rows, hist, gone)
        count, missing = len(seen), gone[0] > 0.0
        for turn in range(columns if nominal[j] and columns > 2 else 1):
            line = seen
            if nominal[j]:
                line = seen[np.argsort(hist[seen, turn + 1] / hist[seen, 0], kind="mergesort")]
            kept[:] = 0.0
            for c in range(count if missing else count - 1):
                for k in range(columns + 1):
                    kept[k] += hist[line[c], k]
                for side in range(2 if missing and c < count - 1 else 1):  # of missing values: right, left
                    w = kept[0] + side * gone[0]
                    if w < least or sums[0] - w < least:
                        continue
                    better = -score
                    for k in range(columns):
                        s = kept[k + 1] + side * gone[k + 1]
                        better += s * s / w + (sums[k + 1] - s) ** 2 / (sums[0] - w)
                    if better > max(best, 0.0) + tie:
                        best = better
                        heavier = 2 * w > sums[0]
                        plan[0], plan[1], plan[2] = j, line[c], line[c + 1] if c + 1 < count else -1
                        plan[3], plan[4] = side if missing else heavier, heavier
                        goes[:] = heavier and nominal[j]
                        if nominal[j]:
                            goes[line[: c + 1]] = True
                            goes[line[c + 1 :]] = False
    return best


@inner
def _histogram(bins, y, weight, rows, hist, gone):  # type: ignore[no-untyped-def]
    """Weight and sums of y by bin and, in ``gone``, where missing; the bins that occur, in order."""
    columns, count = y.shape[1], 0
    seen = np.empty(len(rows), np.int64)
    gone[:] = 0.0
    for i in rows:
        if bins[i] >= 0:
            hist[bins[i], 0] = 0.0
    for i in rows:
        b = bins[i]
        if b < 0:
            gone[0] += weight[i]
            for k in range(columns):
                gone[k + 1] += weight[i] * y[i, k]
            continue
        if hist[b, 0] == 0.0:
            seen[count] = b
            count += 1
            hist[b, 1:] = 0.0
        hist[b, 0] += weight[i]
        for k in range(columns):
            hist[b, k + 1] += weight[i] * y[i, k]
    return np.sort(seen[:count])


@inner
def _part(bins, nominal, rows, spare, plan, goes):  # type: ignore[no-untyped-def]
    """Put the rows that go left before the others, both in their order; how many they are."""
    a, b = 0, 0
    for i in rows:
        left = plan[3] == 1 if bins[i] < 0 else goes[bins[i]] if nominal else bins[i] <= plan[1]
        if left:
            rows[a] = i
            a += 1
        else:
            spare[b] = i
            b += 1
    rows[a:] = spare[:b]
    return a
