"""The search for a short list of rules: rules are put in, exchanged and taken out until nothing helps any more.

Definition. A list d = (a_1, ..., a_K) of antecedents parts the rows into segments: s_k, those for which a_k is the
first that holds, and s_{K+1}, those for which none does. It is to have a small

    R(d) = sum_k loss(s_k) / scale + penalty * K

Estimator. Loss is a function of sums over rows. So one product of matrices, antecedents times the sums by segment,
gives the loss of every list with one rule more, for every antecedent at every place:

    R of a before s_i:   loss(s_1), ..., loss(s_{i-1}), loss(sum_{j >= i} s_j and a), loss(s_j without a), j >= i

From the empty list the best rule is put in as long as that pays; then each rule in turn is taken out, and the best one
put in wherever it fits best, until the list is the best of all its neighbours. Lists that are given start a search as
well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.glassbox.rules.antecedents import Pool
from pellucid.glassbox.rules.losses import loss

_TIE = 1e-10  # of R: no better than that is not better
_SWEEPS = 100


@dataclass(frozen=True, eq=False)
class Problem:
    """What is searched: the antecedents, the loss, what it is divided by, and what a rule costs."""

    pool: Pool
    squared: bool
    scale: float
    penalty: float
    most: int

    def segments(self, order: Sequence[int]) -> IntArray:
        """The segment of every cell."""
        found = np.full(len(self.pool.sums), len(order), dtype=np.intp)
        for k in range(len(order) - 1, -1, -1):
            found[self.pool.holds[order[k]] > 0] = k
        return found

    def sums(self, order: Sequence[int]) -> FloatArray:
        """The sums of the segments ``(K + 1, channels)``."""
        sums = np.zeros((len(order) + 1, self.pool.sums.shape[1]))
        np.add.at(sums, self.segments(order), self.pool.sums)
        return sums

    def objective(self, order: Sequence[int]) -> float:
        """R of a list."""
        return float(loss(self.sums(order), self.squared).sum()) / self.scale + self.penalty * len(order)


def searched(problem: Problem, starts: Sequence[Sequence[int]] = ()) -> tuple[int, ...]:
    """The best list that was found, from the empty one and from others."""
    best: tuple[int, ...] = ()
    for start in ((), *starts):
        found = _settled(problem, tuple(start)[: problem.most])
        if problem.objective(found) < problem.objective(best) - _TIE:
            best = found
    return best


def _settled(problem: Problem, order: tuple[int, ...]) -> tuple[int, ...]:
    """The list that no exchange of a rule makes better."""
    value = problem.objective(order)
    for _ in range(_SWEEPS):
        before = value
        if len(order) < problem.most:
            order, value = _better(problem, order, order, value)
        for k in range(len(order)):
            if k < len(order):
                order, value = _better(problem, order, order[:k] + order[k + 1 :], value)
        if value >= before - _TIE:
            break
    return order


def _better(
    problem: Problem, order: tuple[int, ...], without: tuple[int, ...], value: float
) -> tuple[tuple[int, ...], float]:
    """A list itself, or what is better: it without a rule, or that with another rule somewhere."""
    shorter = problem.objective(without)
    if len(without) < len(order) and shorter <= value + _TIE:
        return without, shorter
    values = _with_one_more(problem, without)
    at, rule = np.unravel_index(int(values.argmin()), values.shape) if values.size else (0, 0)
    if values.size and values[at, rule] < value - _TIE:
        order = (*without[:at], int(rule), *without[at:])
        return order, float(values[at, rule])
    return order, value


def _with_one_more(problem: Problem, order: Sequence[int]) -> FloatArray:
    """R of the list with each antecedent before each of its segments ``(K + 1, antecedents)``."""
    pool, parts = problem.pool, len(order) + 1
    channels = pool.sums.shape[1]
    by_segment = np.zeros((len(pool.sums), parts, channels))
    by_segment[np.arange(len(pool.sums)), problem.segments(order)] = pool.sums
    inside = (pool.holds @ by_segment.reshape(len(pool.sums), -1)).reshape(len(pool), parts, channels)
    whole = problem.sums(order)
    own = loss(whole, problem.squared)
    left = loss(np.maximum(whole - inside, 0.0) if not problem.squared else whole - inside, problem.squared)
    before = np.concatenate([[0.0], np.cumsum(own)[:-1]])
    after = np.cumsum(left[:, ::-1], axis=1)[:, ::-1]
    taken = loss(np.cumsum(inside[:, ::-1], axis=1)[:, ::-1], problem.squared)
    return np.asarray((before + after + taken).T / problem.scale + problem.penalty * parts)
