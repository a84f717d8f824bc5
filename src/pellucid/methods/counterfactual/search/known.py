"""What a local search knows: the answers so far, what single changes gain, and which values are worth trying."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.methods.counterfactual.search.pool import all_codes
from pellucid.methods.counterfactual.search.problem import ALIKE, Problem
from pellucid.methods.counterfactual.search.progress import progress
from pellucid.methods.counterfactual.search.walk_back import walk_back

PER_SIDE = 8  # values of a number on each side of the row's own
OBSERVED = 12  # observed values on each side


class Known:
    """Answers, and gains of single changes by feature and value.

    Of the rows that the budget has left, ``spared`` are not asked once there is an answer.
    """

    def __init__(self, problem: Problem, seeds: FloatArray, spared: int = 0) -> None:
        self.problem, self.x, self.spared = problem, problem.x, spared
        self.targets = progress(problem)
        self.observed = [np.sort(column[~np.isnan(column)]) for column in all_codes(problem.data).T]
        self.known = np.empty((0, len(self.x)))
        self.single: dict[tuple[int, float], FloatArray] = {}
        self.share = 1.0
        self.keep(seeds, walk=len(seeds))

    # -- answers ---------------------------------------------------------------------------------

    @property
    def reach(self) -> float:
        """What the best answer costs: nothing dearer is of use."""
        return float(self.problem.cost.total(self.known).min()) if len(self.known) else np.inf

    def best(self) -> FloatArray:
        """The answers, the nearest first."""
        rows = np.unique(self.known, axis=0)
        return rows[np.argsort(self.problem.cost.total(rows), kind="stable")]

    def keep(self, rows: FloatArray, walk: int = 4) -> bool:
        """Adds valid rows after walking the nearest of them back; whether the best answer became nearer."""
        if not len(rows):
            return False
        before = self.reach
        order = np.argsort(self.problem.cost.total(rows), kind="stable")[:walk]
        self.known = np.concatenate([self.known, walk_back(self.problem, rows[order], rounds=10)])
        return self.reach < before - ALIKE

    def new(self, rows: FloatArray) -> FloatArray:
        """Rows on the choices: those that are allowed, nearer than the best answer and not asked yet."""
        rows = np.unique(self.problem.snap(rows), axis=0)
        cost = self.problem.cost.total(rows)
        rows = rows[(cost < self.reach - ALIKE) & self.problem.changed(rows).any(axis=1)]
        rows = rows[self.problem.allowed(rows)]
        known = self.problem.asked.known
        return rows[[row.tobytes() not in known for row in rows]]

    @property
    def left(self) -> int | None:
        """How many rows this search may still ask about; None: any number."""
        left = self.problem.left
        return left if left is None or not len(self.known) else max(left - self.spared, 0)

    def ask(self, rows: FloatArray, most: int | None = None) -> bool:
        """Asks about rows that are worth it (`new`), at most so many; whether one of them is better."""
        rows = self.new(rows)
        most = len(rows) if most is None else most
        most = most if self.left is None else min(most, self.left)
        if len(rows) > most:
            rows = rows[np.argsort(self.problem.cost.total(rows), kind="stable")[:most]]
        if not len(rows):
            return False
        valid = self.problem.valid(rows)
        self._learn(rows)
        return self.keep(rows[valid])

    def _learn(self, rows: FloatArray) -> None:
        """Notes what single changes gain."""
        changed = self.problem.changed(rows)
        one = np.flatnonzero(changed.sum(axis=1) == 1)
        if not len(one):
            return
        full = self.problem.score(rows[one])
        gains = np.column_stack([target.gain(full) for target in self.targets])
        for i, gain in zip(one, gains, strict=True):
            j = int(np.flatnonzero(changed[i])[0])
            self.single[j, float(rows[i, j])] = gain

    # -- moves -----------------------------------------------------------------------------------

    def values(self, j: int, share: float = 1.0) -> FloatArray:
        """Values of a feature worth trying: levels; numbers dense near the row's own, and observed ones, that cost at
        most a share of the best answer.
        """
        choices, x = self.problem.choices[j], self.x[j]
        if not self.problem.free[j]:
            return np.empty(0)
        if choices.nominal or np.isnan(x):
            values = choices.values if choices.values is not None else np.unique(self.observed[j])
            if len(values) > 4 * OBSERVED:
                values = values[np.linspace(0, len(values) - 1, 4 * OBSERVED).astype(np.intp)]
            return values[values != x]
        within = radius(self.problem, j, share * self.reach)
        found = []
        for sign, whole in ((1.0, choices.high - x), (-1.0, x - choices.low)):
            room = min(whole, within)
            if room <= 0 or room < choices.step - 1e-12:
                continue
            found.append(x + sign * np.geomspace(max(choices.step, room / 512), room, PER_SIDE))
            apart = (self.observed[j] - x) * sign
            seen = self.observed[j][(apart > 0) & (apart <= room)]
            if len(np.unique(seen)) > OBSERVED:
                seen = seen[np.unique(np.linspace(0, len(seen) - 1, OBSERVED).astype(np.intp))]
            found.append(np.unique(seen))
        return np.concatenate(found) if found else np.empty(0)


def radius(problem: Problem, j: int, reach: float) -> float:
    """How far a number may move within a cost; without bound where costs have no parts."""
    cost = problem.cost
    if not cost.separable or not np.isfinite(reach) or cost.weights[j] <= 0:
        return np.inf
    return float((max(reach - cost.per_change, 0.0) / cost.weights[j]) ** (1.0 / cost.power) * cost.distance.unit[j])
