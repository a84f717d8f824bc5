"""The cheapest choice of one option per player whose gains add up to at least what is needed: one sum, one direction.

Player by player, all sums of gains that nothing cheaper reaches are kept (dynamic programming over Pareto fronts). What
is left of the need costs at least as much as mixtures of the other players' options do (the hull of the relaxed
problem), so that only sets near the optimum survive. The player with the most options comes last and is looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray

_SAME = 1e-12
Envelope = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class Front:
    """The options of a player that nothing cheaper gains as much as: its own first, then dearer and better ones."""

    cost: FloatArray
    gain: FloatArray
    option: IntArray

    @classmethod
    def of(cls, cost: FloatArray, gain: FloatArray, own: int) -> Front:
        """Of all options that may be taken."""
        order = np.lexsort((-gain, cost))
        order = order[np.isfinite(cost[order]) & (gain[order] > 0)]
        best = np.maximum.accumulate(np.append(0.0, gain[order]))
        order = np.append(own, order[gain[order] > best[:-1]])
        return cls(np.append(0.0, cost[order[1:]]), np.append(0.0, gain[order[1:]]), order)

    def up_to(self, dearest: float) -> Front:
        """The options that cost at most so much."""
        n = int(np.searchsorted(self.cost, dearest, side="right"))
        return Front(self.cost[:n], self.gain[:n], self.option[:n])

    def only_own(self) -> Front:
        """The player, left as it is."""
        return Front(self.cost[:1], self.gain[:1], self.option[:1])


def cheapest(fronts: Sequence[Front], need: float, most: int | None = None) -> IntArray | None:
    """The option of each player, with at most so many of them changed; None where the need cannot be met."""
    need *= 1 - _SAME
    if sum(front.gain[-1] for front in fronts) < need:
        return None
    order = sorted(range(len(fronts)), key=lambda i: len(fronts[i].cost))
    hulls = [_hull(front) for front in fronts]
    limit = np.inf if most is not None else _rounded_up(hulls, need) * (1 + 1e-9)
    cost, gain, chosen = np.zeros(1), np.zeros(1), np.zeros((1, 0), dtype=np.intp)
    changes = np.zeros(1, dtype=np.intp)
    for k, i in enumerate(order[:-1]):
        front = fronts[i]
        size = len(front.cost)
        cost, gain = np.add.outer(cost, front.cost).ravel(), np.add.outer(gain, front.gain).ravel()
        changes = np.add.outer(changes, np.arange(size) > 0).ravel()
        chosen = np.column_stack([np.repeat(chosen, size, axis=0), np.tile(np.arange(size), len(chosen))])
        rest = _envelope([hulls[j] for j in order[k + 1 :]])
        good = cost + rest(need - gain) <= limit
        good &= changes <= (len(fronts) if most is None else most)
        kept = np.flatnonzero(good)
        kept = kept[_undominated(cost[kept], gain[kept], changes[kept] if most is not None else None)]
        cost, gain, changes, chosen = cost[kept], gain[kept], changes[kept], chosen[kept]
    last = fronts[order[-1]]
    place = np.searchsorted(last.gain, need - gain)
    full = place < len(last.gain)
    full &= changes + (place > 0) <= (len(fronts) if most is None else most)
    if not full.any():
        return None
    total = np.where(full, cost + last.cost[np.minimum(place, len(last.cost) - 1)], np.inf)
    best = int(np.argmin(total))
    found = np.empty(len(fronts), dtype=np.int64)
    for i, at in zip(order, np.append(chosen[best], place[best]), strict=True):
        found[i] = fronts[i].option[at]
    return found


def least_largest(fronts: Sequence[Front], need: float) -> float:
    """The least t for which options that cost at most t each meet the need; infinite where none do."""
    costs = np.unique(np.concatenate([front.cost for front in fronts]))
    reached = np.sum([front.gain[np.searchsorted(front.cost, costs, side="right") - 1] for front in fronts], axis=0)
    enough = np.flatnonzero(reached >= need * (1 - _SAME))
    return float(costs[enough[0]]) if len(enough) else np.inf


def _undominated(cost: FloatArray, gain: FloatArray, changes: IntArray | None) -> IntArray:
    """Places of what nothing cheaper (with as many changes) gains as much as."""
    if changes is None:
        order = np.lexsort((-gain, cost))
        best = np.maximum.accumulate(np.append(-np.inf, gain[order]))
        return order[gain[order] > best[:-1]]
    groups = [np.flatnonzero(changes == count) for count in np.unique(changes)]
    return np.concatenate([group[_undominated(cost[group], gain[group], None)] for group in groups])


def _hull(front: Front) -> FloatArray:
    """Cost and gain of the steps up the lower convex hull of a player's options."""
    corners = np.column_stack([front.cost, front.gain])
    while len(corners) > 2:  # what is no cheaper than a mixture of its neighbours is no corner
        step = np.diff(corners, axis=0)
        above = step[:-1, 0] * step[1:, 1] >= step[1:, 0] * step[:-1, 1] * (1 - _SAME)
        if not above.any():
            break
        corners = corners[~np.concatenate([[False], above, [False]])]
    return np.diff(corners, axis=0)


def _climb(hulls: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Cost and gain, added up, along the steps of several players, the cheapest gain first."""
    every = np.concatenate([np.zeros((1, 2)), *hulls])
    order = np.argsort(every[1:, 0] / every[1:, 1], kind="stable")
    cost, gain = np.cumsum(every[np.append(0, 1 + order)], axis=0).T
    return cost, gain


def _envelope(hulls: Sequence[FloatArray]) -> Envelope:
    """What mixtures of options cost at least, by what they have to gain."""
    cost, gain = _climb(hulls)
    return lambda need: np.where(need > gain[-1] * (1 + 1e-9), np.inf, np.interp(need, gain, cost)) * (1 - 1e-9)


def _rounded_up(hulls: Sequence[FloatArray], need: float) -> float:
    """The cost of the relaxed problem's answer with the step that it takes in part taken in full."""
    cost, gain = _climb(hulls)
    return float(cost[min(int(np.searchsorted(gain, need)), len(cost) - 1)])
