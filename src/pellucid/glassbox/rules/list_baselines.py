"""The two simplest ways to a list of rules: sequential covering, and all rules about one feature.

Sequential covering (Cohen 1995; Clark and Boswell 1991). Again and again the antecedent whose rows are purest among the
rows that no rule holds for yet: the largest (S + 1) / (W + classes), with S the weight of the commonest class among its
weight W. Of numbers the one that lowers the sum of squares most. Until no rule lowers the loss, or there are enough.

One rule (Holte 1993). For each feature the list that predicts from its bins or levels alone; that with the smallest
loss.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.glassbox.rules.bins import MISSING, Bins
from pellucid.glassbox.rules.clauses import Clause, Part, missing_of
from pellucid.glassbox.rules.list_search import Problem
from pellucid.glassbox.rules.losses import loss


def covered(problem: Problem) -> tuple[int, ...]:
    """The list of sequential covering."""
    order: list[int] = []
    pool = problem.pool
    left = np.ones(len(pool.sums), dtype=np.bool_)
    while len(order) < problem.most and len(pool):
        sums = pool.sums * left[:, None]
        inside = pool.holds @ sums
        rest = sums.sum(axis=0) - inside
        saved = loss(sums.sum(axis=0), problem.squared) - loss(inside, problem.squared) - loss(rest, problem.squared)
        purity = saved
        if not problem.squared:
            purity = (inside.max(axis=1) + 1) / (inside.sum(axis=1) + inside.shape[1])
        pays = saved > problem.penalty * problem.scale + 1e-12
        if not pays.any():
            break
        best = int(np.where(pays, purity, -np.inf).argmax())
        order.append(best)
        left &= pool.holds[best] == 0
    return tuple(order)


def one_rule(bins: Bins, sums: FloatArray, squared: bool) -> tuple[Clause, ...]:
    """The list about one feature; the heaviest of its groups is what is left for the end."""
    best: tuple[Clause, ...] = ()
    least = np.inf
    for j in range(len(bins.of)):
        groups = _groups(bins, j, sums, squared)
        total = float(sum(loss(own, squared) for _, own in groups))
        if total < least - 1e-12:
            mass = [float(own[0] if squared else own.sum()) for _, own in groups]
            last = int(np.argmax(mass))
            best, least = tuple((part,) for k, (part, _) in enumerate(groups) if k != last), total
    return best


def _groups(bins: Bins, j: int, sums: FloatArray, squared: bool) -> list[tuple[Part, FloatArray]]:
    """What the values of a feature predict: neighbours, and levels, of one class are one group."""
    n, gone = int(bins.number[j]), bins.of[j] == MISSING
    by_bin = np.zeros((n + 1, sums.shape[1]))
    np.add.at(by_bin, np.where(gone, n, bins.of[j]), sums)
    seen = np.flatnonzero((by_bin[:n, 0] if squared else by_bin[:n].sum(axis=1)) > 0)
    of = _joined(by_bin[seen], squared, nominal=bool(bins.nominal[j]))
    groups = [_part(bins, j, seen, of == k) for k in range(int(of.max(initial=-1)) + 1)]
    found = [(part, by_bin[seen[of == k]].sum(axis=0)) for k, part in enumerate(groups)]
    if gone.any():
        found.append((missing_of(j, n if bins.nominal[j] else 0), by_bin[n]))
    return found


def _joined(sums: FloatArray, squared: bool, *, nominal: bool) -> IntArray:
    """The group of each bin."""
    if squared or not len(sums):
        return np.arange(len(sums))
    label = sums.argmax(axis=1)
    return np.unique(label, return_inverse=True)[1] if nominal else np.cumsum(np.diff(label, prepend=label[0]) != 0)


def _part(bins: Bins, j: int, seen: IntArray, own: BoolArray) -> Part:
    mine = seen[own]
    if bins.nominal[j]:
        return Part(j, levels=tuple(mine.tolist()), known=int(bins.number[j]))
    first, last = np.flatnonzero(own)[[0, -1]]
    low = -np.inf if first == 0 else bins.between(j, int(seen[first - 1]), int(seen[first]))
    high = np.inf if last == len(seen) - 1 else bins.between(j, int(seen[last]), int(seen[last + 1]))
    return Part(j, low=low, high=high)
