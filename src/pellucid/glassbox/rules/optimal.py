"""The best of all trees of a depth, proven: branch and bound with a solver for depth two.

Reference. The depth-two solver is that of MurTree (Demirovic et al. 2022) and STreeD (van der Linden et al. 2023), on
bins in place of yes-no features; the bound over thresholds is that of ConTree (Brita et al. 2025).

Definition. Among the trees of at most the given depth whose splits are "x <= a threshold between two bins" or
"x = a level", the one with the fewest errors (classification, by weight) or the smallest sum of squares (regression).

Depth two. All that is needed to know the best tree of depth two is, for each pair of columns, the sums of y in each
pair of bins: rows are read once per pair of columns, and every choice of splits costs one addition.

Deeper. A subset of rows never has a larger loss than the rows it is part of. So between two thresholds a < b of a
column whose halves are solved, no threshold can do better than loss(x <= a) + loss(x > b): the gap is closed without
looking inside, unless that is less than the best so far. Gaps are halved in the order of their bound.

When it misleads. (1) It is the optimum on the rows that it was fitted to. (2) Columns with more distinct values than
bins are compared at the borders of their bins only. (3) A budget that runs out leaves a gap, which is stated.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.trees.kernels.compiled import inner, kernel

_TIE = 1e-9  # of the loss without splits: no better than that is not better


class Split(NamedTuple):
    """``x <= bin`` of an ordered column goes left, ``x = bin`` of a nominal one."""

    column: int
    bin: int
    left: Split | None
    right: Split | None


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best tree that was found, its loss, and how much less any other tree can have: 0 once that is proven."""

    tree: Split | None
    loss: float
    gap: float
    solved: int


def optimum(
    bins: IntArray, number: IntArray, nominal: BoolArray, sums: FloatArray, *, depth: int, squared: bool, budget: int
) -> Optimum:
    """The best tree for rows of bins (columns, rows), none missing.

    ``sums`` (rows, channels) are the weights by class or, of squared losses, weight, weighted y and weighted y².
    ``budget`` is how many sets of rows are solved to depth two at most.
    """
    same, place = np.unique(bins.T, axis=0, return_inverse=True)
    merged = np.zeros((len(same), sums.shape[1]))
    np.add.at(merged, place.ravel(), sums)
    search = _Search(np.ascontiguousarray(same.T, dtype=np.int32), number, nominal, merged, squared, budget)
    loss, tree, bound = search.solve(np.arange(len(same)), depth, np.inf)
    return Optimum(tree, loss, max(0.0, loss - bound) if bound < loss - search.tie else 0.0, search.solved)


class _Search:
    """One search: the rows, and how many sets of them were solved to depth two."""

    def __init__(
        self, bins: AnyArray, number: IntArray, nominal: BoolArray, sums: FloatArray, squared: bool, budget: int
    ) -> None:
        self._bins, self._number, self._nominal, self._sums = bins, number, nominal, sums
        self._squared, self._budget = squared, budget
        self.solved = 0
        self.tie = _TIE * _loss(sums.sum(axis=0), squared)

    def solve(self, rows: IntArray, depth: int, below: float) -> tuple[float, Split | None, float]:
        """The smallest loss found, its tree, and a bound below which no tree is; only what is ``below`` is wanted."""
        alone = float(_loss(self._sums[rows].sum(axis=0), self._squared))
        if depth == 0 or alone <= self.tie or not len(rows):
            return alone, None, alone
        if depth <= 2:
            self.solved += 1
            loss, splits = _depth_two(
                self._bins, self._number, self._nominal, self._sums, rows, depth == 1, self._squared, self.tie
            )
            return loss, _as_split(splits), loss
        return self._halve(rows, depth, below)

    def _halve(self, rows: IntArray, depth: int, below: float) -> tuple[float, Split | None, float]:
        """Halve gaps between thresholds, that with the smallest bound first."""
        best, tree, _ = self.solve(rows, 2, below)
        gaps = self._gaps(rows)
        closed = np.inf  # the smallest bound of what was closed for being no better than wanted
        while gaps:
            bound, _, j, low, high, loss_low, loss_high = heapq.heappop(gaps)
            if bound >= min(best, below) - self.tie:
                return best, tree, min(best, closed, bound)
            if self.solved >= self._budget:
                return best, tree, min(best, closed, bound)
            middle = (low + high) // 2
            left = self._bins[j, rows] == middle if self._nominal[j] else self._bins[j, rows] <= middle
            wanted = min(best, below)
            first = self.solve(rows[left], depth - 1, wanted - loss_high)
            second = self.solve(rows[~left], depth - 1, wanted - first[2])
            total = first[0] + second[0]
            if total < best - self.tie:
                best, tree = total, Split(j, middle, first[1], second[1])
            if first[2] + second[2] < min(total, wanted) - self.tie:  # a half was left unsolved
                closed = min(closed, first[2] + second[2])
            if self._nominal[j]:
                continue
            for a, b, la, lb in ((low, middle - 1, loss_low, second[2]), (middle + 1, high, first[2], loss_high)):
                if a <= b:
                    heapq.heappush(gaps, (la + lb, len(gaps), j, a, b, la, lb))
        return best, tree, min(best, closed)

    def _gaps(self, rows: IntArray) -> list[tuple[float, int, int, int, int, float, float]]:
        """All thresholds of each column as one gap; each level of a nominal column as one."""
        gaps: list[tuple[float, int, int, int, int, float, float]] = []
        for j in range(len(self._bins)):
            own = np.unique(self._bins[j, rows])
            if len(own) < 2:
                continue
            if self._nominal[j]:
                gaps += [(0.0, len(gaps) + k, j, int(b), int(b), 0.0, 0.0) for k, b in enumerate(own)]
            else:
                gaps.append((0.0, len(gaps), j, int(own[0]), int(own[-1]) - 1, 0.0, 0.0))
        heapq.heapify(gaps)
        return gaps


def _loss(sums: FloatArray, squared: bool) -> float:
    if squared:
        return float(max(sums[2] - sums[1] ** 2 / sums[0], 0.0)) if sums[0] > 0 else 0.0
    return float(sums.sum() - sums.max(initial=0.0))


def _as_split(splits: IntArray) -> Split | None:
    root, left, right = ((int(j), int(b)) for j, b in splits)
    if root[0] < 0:
        return None
    sides = [Split(*side, None, None) if side[0] >= 0 else None for side in (left, right)]
    return Split(*root, *sides)


@kernel
def _depth_two(bins, number, nominal, sums, rows, single, squared, tie):  # type: ignore[no-untyped-def]  # noqa: C901
    """The smallest loss of a tree of depth two (or one, if ``single``), and its splits: root, left, right."""
    p, channels, widest = bins.shape[0], sums.shape[1], number.max()
    alone = np.zeros((p, widest, channels))
    total = np.zeros(channels)
    for i in rows:
        total += sums[i]
        for j in range(p):
            alone[j, bins[j, i]] += sums[i]
    # the best loss of the left and of the right side for each split of the root, and its own split
    best = np.full((2, p, widest), np.inf)
    inner_split = np.full((2, p, widest, 2), -1, np.int64)
    side, part, other = np.zeros((widest, channels)), np.zeros(channels), np.zeros(channels)
    kept = np.zeros(channels)
    for i in range(p):
        kept[:] = 0.0
        for a in range(number[i]):
            kept = alone[i, a].copy() if nominal[i] else kept + alone[i, a]
            best[0, i, a], best[1, i, a] = _leaf(kept, squared), _leaf(total - kept, squared)
    if not single:
        pair = np.zeros((widest, widest, channels))
        for i in range(p):
            for j in range(i, p):
                pair[: number[i], : number[j]] = 0.0
                for row in rows:
                    pair[bins[i, row], bins[j, row]] += sums[row]
                _children(pair, i, j, number, nominal, alone, squared, tie, best, inner_split, side, part, other)
                if j > i:
                    turned = pair.transpose(1, 0, 2)
                    _children(turned, j, i, number, nominal, alone, squared, tie, best, inner_split, side, part, other)
    splits = np.full((3, 2), -1, np.int64)
    loss = _leaf(total, squared)
    for i in range(p):
        for a in range(number[i]):
            if best[0, i, a] + best[1, i, a] < loss - tie:
                loss = best[0, i, a] + best[1, i, a]
                splits[0, 0], splits[0, 1] = i, a
                splits[1], splits[2] = inner_split[0, i, a], inner_split[1, i, a]
    return loss, splits


@inner
def _children(pair, i, j, number, nominal, alone, squared, tie, best, split, side, part, other):  # type: ignore[no-untyped-def]  # noqa: C901
    """Split both sides of every split of column i by column j."""
    channels = pair.shape[2]
    side[:] = 0.0
    for a in range(number[i]):
        for b in range(number[j]):
            for c in range(channels):
                side[b, c] = pair[a, b, c] + (0.0 if nominal[i] else side[b, c])
        for which in range(2):
            for c in range(channels):
                other[c] = 0.0
            for b in range(number[j]):
                for c in range(channels):
                    other[c] += side[b, c] if which == 0 else alone[j, b, c] - side[b, c]
            part[:] = 0.0
            for b in range(number[j]):
                for c in range(channels):
                    here = side[b, c] if which == 0 else alone[j, b, c] - side[b, c]
                    part[c] = here + (0.0 if nominal[j] else part[c])
                loss = _two(part, other, squared)
                if loss < best[which, i, a] - tie:
                    best[which, i, a] = loss
                    split[which, i, a, 0], split[which, i, a, 1] = j, b


@inner
def _two(part, whole, squared):  # type: ignore[no-untyped-def]
    """The loss of two leaves: a part, and the rest of the whole."""
    if squared:
        loss = whole[2]
        if part[0] > 1e-12:
            loss -= part[1] * part[1] / part[0]
        if whole[0] - part[0] > 1e-12:
            loss -= (whole[1] - part[1]) ** 2 / (whole[0] - part[0])
        return max(loss, 0.0)
    first, second, total = 0.0, 0.0, 0.0
    for c in range(len(part)):
        first, second = max(first, part[c]), max(second, whole[c] - part[c])
        total += whole[c]
    return total - first - second


@inner
def _leaf(sums, squared):  # type: ignore[no-untyped-def]
    """The loss of a leaf."""
    if squared:
        return max(sums[2] - sums[1] * sums[1] / sums[0], 0.0) if sums[0] > 1e-12 else 0.0
    return sums.sum() - sums.max()
