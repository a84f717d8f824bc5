"""Rows that are worth asking about, by what they are expected to save: cost below the best answer's, times the chance
that the target is reached there, as a Gaussian process on what was asked so far says (`process`).

Expected improvement with an objective that is known and a constraint that is not (Schonlau, Welch and Jones 1998).
Candidates differ in one feature from what is known or from a candidate of the step before, so that several features
may come to change at once. Of the most promising, one after the other is chosen as if the ones before had been asked.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from pellucid.arrays import FloatArray, IntArray
from pellucid.methods.counterfactual.search.known import Known, radius
from pellucid.methods.counterfactual.search.problem import ALIKE
from pellucid.methods.counterfactual.search.process import NUGGET, Axis, Kernel, Process, choose

AT_ONCE, FEW = 40, 6  # rows between looking for candidates; rows in one call of the model
_KNOWN = 450  # rows that the process is fitted to, the cheapest
_VALUES = 400  # of a feature that are tried
_BASES, _STEPS = 12, 3
_LOOKED_AT, _KEPT = 5, 200  # values of a feature of a base that are looked at closely; candidates that are kept
_LEAST = 2e-4  # saving that is worth a row, as a share of what the best answer costs
_WORN = 1.6  # times as many rows as when the kernel was chosen: it is chosen again


class Expected:
    """What is expected of rows, given all that a search knows at the moment."""

    def __init__(self, search: Known, kernel: Kernel | None) -> None:
        problem = search.problem
        self.search, self.problem = search, problem
        rows = problem.so_far()
        rows = rows[np.argsort(problem.cost.total(rows), kind="stable")[:_KNOWN]]
        self.rows, full = rows, problem.score(rows)
        self.players = [columns for columns in problem.players if problem.free[list(columns)].any()]
        self.options = [self._options(columns) for columns in self.players]
        self.columns = [j for columns in self.players for j in columns]
        self.values = [np.unique(np.append(self._of(j), rows[:, j])) for j in self.columns]
        lines = [target.line(full) for target in search.targets]
        self.low, self.high = (np.array([line[i] for line in lines]) for i in (1, 2))
        axes = [self._axis(j, values) for j, values in zip(self.columns, self.values, strict=True)]
        places, outputs = self.places(rows), np.column_stack([line[0] for line in lines])
        self.kernel = choose(axes, places, outputs[:, 0]) if kernel is None else kernel
        self.usual = 0.02
        self.process = Process.fit(axes, places, outputs, self.kernel)

    def _options(self, columns: tuple[int, ...]) -> FloatArray:
        """What some columns that change together may become, (n, columns)."""
        search, problem = self.search, self.problem
        if len(columns) > 1:
            group = next(group for group in problem.groups if set(group.columns) == set(columns))
            found = group.combinations[:, [group.columns.index(j) for j in columns]]
            return found[:: -(-len(found) // _VALUES)]
        j = columns[0]
        values = np.concatenate([search.values(j), self.rows[:, j], search.x[j : j + 1]])
        if not (problem.nominal[j] or np.isnan(search.x[j])):
            values = np.concatenate([values, search.observed[j]])
            values = values[np.abs(values - search.x[j]) < radius(problem, j, search.reach)]
        rows = np.repeat(search.x[None], len(values), axis=0)
        rows[:, j] = values
        values = np.unique(problem.snap(rows)[:, j])
        if len(values) > _VALUES:
            order = np.argsort(np.abs(values - search.x[j]), kind="stable")
            values = values[order[np.unique((np.linspace(0, 1, _VALUES) ** 1.5 * (len(values) - 1)).astype(np.intp))]]
        return values[:, None]

    def _of(self, j: int) -> FloatArray:
        for columns, options in zip(self.players, self.options, strict=True):
            if j in columns:
                return options[:, columns.index(j)]
        raise KeyError(j)

    def _axis(self, j: int, values: FloatArray) -> Axis:
        """Values of a feature as the process sees them: half by their size, half by their place among the data."""
        observed = self.search.observed[j]
        wide = float(np.ptp(observed)) if len(observed) else 0.0
        if self.problem.nominal[j] or wide == 0.0:
            return Axis(values, nominal=bool(self.problem.nominal[j]))
        rank = np.searchsorted(observed, values, "left") + np.searchsorted(observed, values, "right")
        return Axis(np.where(np.isnan(values), np.nan, values / wide + rank / (2 * len(observed))) / 2, nominal=False)

    def places(self, rows: FloatArray) -> IntArray:
        """Where the values of rows are among all values of the features."""
        found = [np.searchsorted(values, rows[:, j]) for j, values in zip(self.columns, self.values, strict=True)]
        return np.column_stack(found)

    # -- what is expected ------------------------------------------------------------------------

    def chance(self, mean: FloatArray, variance: FloatArray) -> FloatArray:
        """Of reaching the target: of its regions, that with the best chance."""
        sd = np.sqrt(np.maximum(variance, 1e-9)[:, None] * self.process.variance)
        return np.asarray((ndtr((self.high - mean) / sd) - ndtr((self.low - mean) / sd)).max(axis=1))

    def saving(self, cost: FloatArray) -> FloatArray:
        """What rows that reach the target save; without an answer, any of them."""
        reach = self.search.reach
        return np.maximum(reach - cost, 0.0) if np.isfinite(reach) else 1.0 / (1.0 + cost)

    @property
    def least(self) -> float:
        """What is worth a row."""
        reach = self.search.reach
        return _LEAST * (reach if np.isfinite(reach) else 1.0)

    def ask(self, most: int) -> int:
        """Asks about at most so many rows, a few at a time, and learns from each time; how many it were."""
        rows = self._candidates()
        if not len(rows):
            return 0
        mean, covariance = self.process.together(self.places(rows))
        cost, asked = self.problem.cost.total(rows), 0
        while asked < most:
            some = self._few(mean, covariance, self.saving(cost), min(FEW, most - asked))
            if not some:
                break
            self.search.ask(rows[some])
            asked += len(some)
            outputs = self._outputs(rows[some])
            known = covariance[np.ix_(some, some)] + NUGGET * np.eye(len(some))
            along = np.linalg.solve(known, covariance[some])
            mean = mean + along.T @ (outputs - mean[some])
            covariance = covariance - covariance[:, some] @ along
            cost[some] = np.inf
        return asked

    def _outputs(self, rows: FloatArray) -> FloatArray:
        full = self.problem.score(rows)
        return np.column_stack([target.line(full)[0] for target in self.search.targets])

    def _candidates(self) -> FloatArray:
        """Rows that may be worth asking about, the most promising of those that were looked at."""
        kept, worth = self.rows[:0], np.empty(0)
        bases = self._bases()
        for _ in range(_STEPS):
            rows = self._looked_at(bases)
            if not len(rows):
                break
            mean, variance = self.process.alone(self.places(rows))
            new = self.saving(self.problem.cost.total(rows)) * self.chance(mean, variance)
            rows, first = np.unique(np.concatenate([kept, rows]), axis=0, return_index=True)
            worth = np.append(worth, new)[first]
            order = np.argsort(-worth, kind="stable")[:_KEPT]
            kept, worth = rows[order], worth[order]
            bases = self._unlike(kept, worth)
            self.usual = float(np.median(variance))
        return kept[worth > self.least]

    def _bases(self) -> FloatArray:
        """Known rows to build on: the cheap that nearly reach the target, the best answers and the row itself."""
        worth = self.saving(self.problem.cost.total(self.rows))
        worth *= self.chance(self._outputs(self.rows), np.full(len(worth), 0.1))
        return np.concatenate([self._unlike(self.rows, worth), self.search.best()[:1], self.search.x[None]])

    def _unlike(self, rows: FloatArray, worth: FloatArray) -> FloatArray:
        """A few rows that are worth most, each of which changes other features."""
        order = np.argsort(-worth, kind="stable")
        _, first = np.unique(self.problem.changed(rows[order]), axis=0, return_index=True)
        return np.asarray(rows[order[np.sort(first)[:_BASES]]])

    def _looked_at(self, bases: FloatArray) -> FloatArray:
        """Rows that differ from a base by one player, nearer than the best answer, that are best by their mean."""
        found = []
        places = self.places(bases)
        at = 0
        for columns, options in zip(self.players, self.options, strict=True):
            own = tuple(range(at, at + len(columns)))
            at += len(columns)
            among = np.column_stack([np.searchsorted(self.values[i], options[:, k]) for k, i in enumerate(own)])
            for base, place in zip(bases, places, strict=True):
                rows = np.repeat(base[None], len(options), axis=0)
                rows[:, list(columns)] = options
                saving = self.saving(self.problem.cost.total(rows))
                nearer = np.flatnonzero(saving > self.least)
                mean = self.process.replaced(place, own, among[nearer])
                worth = saving[nearer] * self.chance(mean, np.full(len(mean), self.usual))
                found.append(rows[nearer[np.argsort(-worth, kind="stable")[:_LOOKED_AT]]])
        return self.search.new(np.concatenate(found))

    def _few(self, mean: FloatArray, covariance: FloatArray, saving: FloatArray, most: int) -> list[int]:
        """Which to ask about: one after the other, each as if those before had been asked and missed."""
        chosen = list[int]()
        while len(chosen) < most:
            worth = saving * self.chance(mean, np.diag(covariance))
            worth[chosen] = 0.0
            i = int(np.argmax(worth))
            if worth[i] <= self.least:
                break
            chosen.append(i)
            mean, covariance = self._missed(i, mean, covariance)
        return chosen

    def _missed(self, i: int, mean: FloatArray, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and covariance of rows should row ``i`` miss every region (moments of a normal outside an interval)."""
        scale = np.sqrt(max(covariance[i, i], 1e-9))
        low, high = ((ends - mean[i]) / (scale * np.sqrt(self.process.variance)) for ends in (self.low, self.high))
        outside = np.maximum(1.0 - (ndtr(high) - ndtr(low)), 1e-3)
        shift = -(_density(low) - _density(high)) / outside
        left = 1.0 - (_moment(low) - _moment(high)) / outside - shift**2
        along = covariance[:, i] / scale
        mean = mean + np.outer(along, shift * np.sqrt(self.process.variance))
        return mean, covariance - np.outer(along, along) * (1.0 - min(max(float(left[0]), 0.0), 1.0))


def _density(z: FloatArray) -> FloatArray:
    """Of a standard normal; 0 at the ends."""
    return np.asarray(np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi))


def _moment(z: FloatArray) -> FloatArray:
    """z times its density; 0 at the ends."""
    return np.where(np.isfinite(z), z, 0.0) * _density(z)
