"""By how much a list of rules can be beaten: branch and bound over all lists of the antecedents.

Reference. Angelino, Larus-Stone, Alabi, Seltzer and Rudin 2018 (CORELS); here for several classes and for numbers.

Definition. For a list that begins with (a_1, ..., a_k), with R as in `list_search`:

- it is no better than sum_{j <= k} loss(s_j) + the loss within cells of all other rows, with one more rule to pay for:
  rows that no antecedent tells apart get one prediction (equivalent points);
- beginnings that leave the same rows over are alike from there on: only the best is followed (permutations);
- of a best list every rule predicts at least ``penalty * scale`` of the weight rightly, or it would not pay (classes).

Beginnings are taken in the order of their bound. When the smallest bound is no better than the best list, that is the
proof; when the budget ends before, the difference is the gap.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.glassbox.rules.list_search import Problem
from pellucid.glassbox.rules.losses import loss

_TIE = 1e-10


@dataclass(frozen=True, eq=False)
class Certified:
    """The best list, its R, and by how much any other list can lie below it."""

    order: tuple[int, ...]
    objective: float
    gap: float


@dataclass(frozen=True, eq=False)
class _Branch:
    """A beginning whose lists with one more rule are followed one after the other, those with the least bound first."""

    order: tuple[int, ...]
    rest: BoolArray
    rules: IntArray
    bounds: FloatArray
    losses: FloatArray


def certified(problem: Problem, order: tuple[int, ...], budget: float) -> Certified:
    """The best list and its gap; ``budget`` is how many cells times antecedents are looked at."""
    proof = _Proof(problem, order)
    bound = proof.run(max(1, int(budget / max(1, problem.pool.holds.size))))
    gap = max(0.0, proof.best - bound)
    return Certified(proof.order, proof.best, 0.0 if gap <= _TIE else gap)


class _Proof:
    """The search: the best list so far and the beginnings that are open."""

    def __init__(self, problem: Problem, order: tuple[int, ...]) -> None:
        self._problem, self.order, self.best = problem, order, problem.objective(order)
        pool = problem.pool
        self._masks = pool.holds > 0
        self._within = loss(pool.sums, problem.squared)
        self._open: list[tuple[float, int, _Branch, int]] = []
        self._number = count()
        self._reached: dict[bytes, list[tuple[float, int]]] = {}

    def run(self, most: int) -> float:
        """Follow at most so many beginnings; the smallest R that a list can still have."""
        if self._problem.most == 0 or not len(self._problem.pool):
            return self.best
        self._follow((), np.ones(len(self._within), dtype=np.bool_), 0.0)
        for _ in range(most):
            if not self._open or self._open[0][0] >= self.best - _TIE:
                return self.best
            _, _, branch, at = heapq.heappop(self._open)
            self._push(branch, at + 1)
            rule = int(branch.rules[at])
            rest = branch.rest & ~self._masks[rule]
            self._follow((*branch.order, rule), rest, float(branch.losses[at]))
        return min(self.best, self._open[0][0]) if self._open else self.best

    def _follow(self, order: tuple[int, ...], rest: BoolArray, lost: float) -> None:
        """Look at all lists with one rule more: close them, and keep those that could become the best one."""
        if not self._is_new(rest, lost, len(order)):
            return
        problem, pool = self._problem, self._problem.pool
        sums = np.where(rest[:, None], pool.sums, 0.0)
        within = np.where(rest, self._within, 0.0)
        inside = pool.holds @ np.column_stack([sums, within])
        taken, outside = inside[:, :-1], sums.sum(axis=0) - inside[:, :-1]
        if not problem.squared:
            outside = np.maximum(outside, 0.0)
        losses = lost + loss(taken, problem.squared)
        closed = (losses + loss(outside, problem.squared)) / problem.scale + problem.penalty * (len(order) + 1)
        first = int(closed.argmin())
        if closed[first] < self.best - _TIE:
            self.order, self.best = (*order, first), float(closed[first])
        if len(order) + 1 >= problem.most:
            return
        left = np.maximum(within.sum() - inside[:, -1], 0.0)
        bounds = (losses + left) / problem.scale + problem.penalty * (len(order) + 2)
        pays = (taken[:, 0] if problem.squared else taken.sum(axis=1)) > 0
        if not problem.squared:
            pays &= taken.max(axis=1) >= problem.penalty * problem.scale - _TIE
        rules = np.flatnonzero(pays & (bounds < self.best - _TIE))
        rules = rules[np.argsort(bounds[rules], kind="stable")]
        self._push(_Branch(order, rest, rules, bounds[rules], losses[rules]), 0)

    def _push(self, branch: _Branch, at: int) -> None:
        if at < len(branch.rules) and branch.bounds[at] < self.best - _TIE:
            heapq.heappush(self._open, (float(branch.bounds[at]), next(self._number), branch, at))

    def _is_new(self, rest: BoolArray, lost: float, rules: int) -> bool:
        """Whether no beginning as short left the same rows over for as little."""
        key = np.packbits(rest).tobytes()
        known = self._reached.setdefault(key, [])
        if any(other <= lost + _TIE * self._problem.scale and length <= rules for other, length in known):
            return False
        known.append((lost, rules))
        return True
