"""Rules from boosting: every node below the root of many small trees is a rule (Friedman and Popescu 2008).

Each tree is grown on a draw of the rows, to what the trees before it left unexplained, and has 2 + an exponential
number of leaves, so that short rules and long ones come up. Trees add little each (shrinkage), such that many of them
have something to find.

Rules that hold for the same rows, or for exactly the others, are one and the same term: the shortest is kept, and the
first of these. So is, of two rules that are nearly the same (correlation above ``overlap``), the earlier one.

Identical rows are drawn together, so that a row of weight two is the row twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.glassbox.base import Training
from pellucid.glassbox.rules.bins import Bins
from pellucid.glassbox.rules.clauses import Clause, holds, paths
from pellucid.glassbox.rules.growing import grown

_SHRINKAGE = 0.1
_MOST_TREES = 500
_LEAST_SHARE = 0.01  # of the drawn weight, in a leaf


@dataclass(frozen=True, eq=False)
class Grove:
    """How rules are grown: ``rules`` at most, ``leaves`` on average, at most ``depth`` long, none overlapping more."""

    rules: int
    leaves: float
    depth: int
    overlap: float
    logistic: bool


def boosted_rules(
    grove: Grove, training: Training, bins: Bins, levels: list[int], same: IntArray, seed: int
) -> tuple[list[Clause], BoolArray]:
    """The rules, and for which rows they hold ``(rows, rules)``; ``same`` numbers the distinct rows."""
    rng, kept = np.random.default_rng(seed), _Kept(training.weights, grove)
    y, w = training.y.astype(np.float64), training.weights
    mean = float(w @ y / w.sum())
    score = np.full(len(y), np.log(mean / (1 - mean)) if grove.logistic else mean)
    distinct = int(same.max()) + 1
    for _ in range(_MOST_TREES):
        size = 2 + int(rng.exponential(max(grove.leaves - 2, 0.0)))
        rows = _drawn(rng, same, distinct)
        left = y - (expit(score) if grove.logistic else score)
        least = max(float(w[rows].sum()) * _LEAST_SHARE, 1e-12)
        tree = grown(bins, left[:, None], w, leaves=size, depth=grove.depth, least=least, rows=rows)
        clauses = paths(tree, levels)
        masks = [holds(clause, training.codes) for clause in clauses]
        for node in range(1, len(tree)):
            kept.add(clauses[node], masks[node])
        for node in np.flatnonzero(tree.feature < 0).tolist():
            own = masks[node]
            score[own] += _SHRINKAGE * _step(float(tree.value[node, 0]), score[own], left[own], w[own], grove.logistic)
        if kept.full:
            break
    return kept.clauses, kept.columns()


def _step(mean: float, score: FloatArray, left: FloatArray, w: FloatArray, logistic: bool) -> float:
    """What a leaf adds: its mean, or of log-odds one Newton step."""
    if not logistic or not len(w):
        return mean
    p = expit(score)
    return float(np.clip(w @ left / max(float(w @ (p * (1 - p))), 1e-12), -4.0, 4.0))


def _drawn(rng: np.random.Generator, same: IntArray, distinct: int) -> IntArray:
    """Half of the distinct rows, of many fewer, with all that are like them."""
    size = min(max(distinct // 2, min(distinct, 100)), int(2000 + 20 * np.sqrt(distinct)))
    chosen = np.zeros(distinct, dtype=np.bool_)
    chosen[rng.choice(distinct, size, replace=False)] = True
    return np.flatnonzero(chosen[same])


class _Kept:
    """Rules that differ from each other."""

    def __init__(self, weights: FloatArray, grove: Grove) -> None:
        self._w, self._most, self._overlap = weights / weights.sum(), grove.rules, grove.overlap
        self.clauses: list[Clause] = []
        self._masks: list[BoolArray] = []
        self._place: dict[bytes, int] = {}
        self._scaled = np.empty((grove.rules, len(weights)), dtype=np.float32)

    @property
    def full(self) -> bool:
        """Whether there are as many as were asked for."""
        return len(self.clauses) >= self._most

    def add(self, clause: Clause, mask: BoolArray) -> None:
        """Keep a rule unless there is one like it; of two that hold for the same rows, the shorter."""
        support = float(self._w @ mask)
        if not 1e-9 < support < 1 - 1e-9:
            return
        key, n = np.packbits(mask != mask[0]).tobytes(), len(self.clauses)
        if key in self._place:
            at = self._place[key]
            if len(clause) < len(self.clauses[at]):
                self.clauses[at], self._masks[at] = clause, mask
            return
        scaled = (np.sqrt(self._w) * (mask - support) / np.sqrt(support * (1 - support))).astype(np.float32)
        if self.full or np.abs(self._scaled[:n] @ scaled).max(initial=0.0) > self._overlap:
            return
        self._scaled[n], self._place[key] = scaled, n
        self.clauses.append(clause)
        self._masks.append(mask)

    def columns(self) -> BoolArray:
        """For which rows the kept rules hold."""
        return np.stack(self._masks, axis=1) if self._masks else np.empty((len(self._w), 0), dtype=np.bool_)
