"""Rows that are worth asking about, by what they are expected to save: cost below the best answer's, times the chance
that the target is reached there, as a Gaussian process on what was asked so far says (`process`).

Expected improvement where the objective is known and the constraint is not (Schonlau, Welch and Jones 1998). Candidates
differ in one feature from what is known, or from a candidate of the step before, so that several come to change at
once; each base that is built on changes other features. A few of the most promising are asked at once, chosen one after
the other as if those before had been asked and missed; then the process learns from them, and the next few are chosen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, stdtr

from pellucid.arrays import FloatArray, IntArray
from pellucid.methods.counterfactual.search.known import Known, radius
from pellucid.methods.counterfactual.search.process import NUGGET, Axis, Kernel, Process, choose

_FEW = 6  # rows in one call of the model
_KNOWN, _FARTHER = 350, 100  # rows that the process is fitted to: the cheapest, and of the others
_VALUES, _EVEN = 400, 65  # of a number that are tried at most; of these evenly spaced
_BASES, _STEPS = 12, 3
_LOOKED_AT, _KEPT = 5, 200  # values of a feature of a base that are looked at closely; candidates that are kept
_LEAST = 2e-4  # saving that is worth a row, as a share of what the best answer costs
_TAILS = 5.0  # degrees of freedom of Student's t: models have steps where the process sees none
_BROAD, _USUAL = 0.1, 0.02  # variances of rows, in units of the process, before any is known


class _Player(NamedTuple):
    """Columns that change together, where they are among the axes, and what they may become (n, columns)."""

    columns: tuple[int, ...]
    axes: tuple[int, ...]
    options: FloatArray


class Expected:
    """What is expected of rows, given all that a search knows at the moment."""

    def __init__(self, search: Known, kernel: Kernel | None = None) -> None:
        self.search, self.problem = search, search.problem
        self.rows = self._known()
        self.players = list[_Player]()
        for columns in self.problem.players:
            if self.problem.free[list(columns)].any():
                at = sum(len(player.columns) for player in self.players)
                own = tuple(range(at, at + len(columns)))
                self.players.append(_Player(columns, own, self._options(columns)))
        self.columns = [j for player in self.players for j in player.columns]
        options = [player.options[:, k] for player in self.players for k in range(len(player.columns))]
        both = zip(self.columns, options, strict=True)
        self.values = [np.unique(np.append(some, self.rows[:, j])) for j, some in both]
        axes = [self._axis(j, values) for j, values in zip(self.columns, self.values, strict=True)]
        lines = [target.line(self.problem.score(self.rows)) for target in search.targets]
        self.outputs = np.column_stack([line[0] for line in lines])
        self.low, self.high = (np.array([line[i] for line in lines]) for i in (1, 2))
        places = self.places(self.rows)
        self.kernel = choose(axes, places, self.outputs[:, 0]) if kernel is None else kernel
        self.process = Process.fit(axes, places, self.outputs, self.kernel)
        self.usual = _USUAL

    def _known(self) -> FloatArray:
        """The cheapest rows that were asked and some others, with the row itself and the best answer."""
        rows = self.problem.so_far()
        rows = rows[np.argsort(self.problem.cost.total(rows), kind="stable")]
        rows = np.concatenate([rows[:_KNOWN], rows[_KNOWN:][:: max(1, (len(rows) - _KNOWN) // _FARTHER)]])
        return np.unique(np.concatenate([rows, self.search.best()[:1], self.search.x[None]]), axis=0)

    def _options(self, columns: tuple[int, ...]) -> FloatArray:
        """What some columns that change together may become, (n, columns)."""
        search, problem, j = self.search, self.problem, columns[0]
        if len(columns) > 1:
            found = next(group.combinations for group in problem.groups if group.columns == columns)
            return found[:: -(-len(found) // _VALUES)]
        values = np.concatenate([search.values(j), self.rows[:, j]])
        if not (problem.nominal[j] or np.isnan(search.x[j])):
            near = radius(problem, j, search.reach)
            ends = max(problem.choices[j].low, search.x[j] - near), min(problem.choices[j].high, search.x[j] + near)
            between = np.linspace(*ends, _EVEN) if np.isfinite(ends).all() else np.empty(0)
            values = np.concatenate([values, search.observed[j], between])
            values = values[np.abs(values - search.x[j]) < near]
        values = np.unique(problem.choices[j].snap(np.append(values, search.x[j])))
        if len(values) > _VALUES:  # dense near the row's own
            order = np.argsort(np.abs(values - search.x[j]), kind="stable")
            values = values[order[(np.linspace(0, 1, _VALUES) ** 1.5 * (len(values) - 1)).astype(np.intp)]]
        return np.unique(values)[:, None]

    def _axis(self, j: int, values: FloatArray) -> Axis:
        """Values of a feature as the process sees them: half by their size, half by their place among the data."""
        observed = self.search.observed[j]
        wide = float(np.ptp(observed)) if len(observed) else 0.0
        if self.problem.nominal[j] or wide == 0.0:
            return Axis(values, bool(self.problem.nominal[j]))
        rank = np.searchsorted(observed, values, "left") + np.searchsorted(observed, values, "right")
        place = np.where(np.isnan(values), np.nan, rank / (2 * len(observed)))
        return Axis((values / wide + place) / 2, nominal=False)

    def places(self, rows: FloatArray) -> IntArray:
        """Where the values of rows are on the axes."""
        both = zip(self.columns, self.values, strict=True)
        return np.column_stack([np.searchsorted(values, rows[:, j]) for j, values in both])

    # -- what is expected ------------------------------------------------------------------------

    def chance(self, mean: FloatArray, variance: FloatArray) -> FloatArray:
        """Of reaching the target: of its regions, that with the best chance."""
        sd = np.sqrt(np.maximum(variance, 1e-9)[:, None] * self.process.variance)
        return np.asarray((stdtr(_TAILS, (self.high - mean) / sd) - stdtr(_TAILS, (self.low - mean) / sd)).max(axis=1))

    def saving(self, cost: FloatArray) -> FloatArray:
        """What rows that reach the target save; without an answer so far, the more the cheaper they are."""
        reach = self.search.reach
        return np.maximum(reach - cost, 0.0) if np.isfinite(reach) else 1.0 / (1.0 + cost)

    @property
    def least(self) -> float:
        """What is worth a row."""
        return _LEAST * (self.search.reach if np.isfinite(self.search.reach) else 1.0)

    def ask(self, most: int) -> int:
        """Asks about at most so many rows, a few at a time, and learns from each time; how many they were."""
        rows = self._candidates()
        if not len(rows):
            return 0
        mean, covariance = self.process.together(self.places(rows))
        cost, asked = self.problem.cost.total(rows), 0
        while asked < most:
            some = self._few(mean, covariance, self.saving(cost), min(_FEW, most - asked))
            if not some or not self._answered(rows[some]):
                break
            asked += len(some)
            line = [target.line(self.problem.score(rows[some]))[0] for target in self.search.targets]
            known = covariance[np.ix_(some, some)] + NUGGET * np.eye(len(some))
            along = np.linalg.solve(known, covariance[some])
            mean = mean + along.T @ (np.column_stack(line) - mean[some])
            covariance = covariance - covariance[:, some] @ along
            cost[some] = np.inf
        return asked

    def _answered(self, rows: FloatArray) -> bool:
        """Asks about rows; whether there was room for all of them."""
        self.search.ask(rows)
        return self.problem.knows(rows)

    # -- candidates ------------------------------------------------------------------------------

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
            bases, self.usual = self._unlike(kept, worth), float(np.median(variance))
        return kept[worth > self.least]

    def _bases(self) -> FloatArray:
        """Known rows to build on: the cheap that nearly reach the target, the best answer and the row itself."""
        worth = self.saving(self.problem.cost.total(self.rows))
        worth *= self.chance(self.outputs, np.full(len(worth), _BROAD))
        return np.concatenate([self._unlike(self.rows, worth), self.search.best()[:1], self.search.x[None]])

    def _unlike(self, rows: FloatArray, worth: FloatArray) -> FloatArray:
        """A few rows that are worth most, each of which changes other features."""
        order = np.argsort(-worth, kind="stable")
        _, first = np.unique(self.problem.changed(rows[order]), axis=0, return_index=True)
        return np.asarray(rows[order[np.sort(first)[:_BASES]]])

    def _looked_at(self, bases: FloatArray) -> FloatArray:
        """Rows that differ from a base by one player: of each pair, those that are best by their mean."""
        moved = [self._moved(base, player) for base in bases for player in self.players]
        saving = self.saving(self.problem.cost.total(np.concatenate(moved)))
        saved = np.split(saving, np.cumsum([len(rows) for rows in moved])[:-1])
        found, least = [], self.least
        for i, place in enumerate(self.places(bases)):
            for q, player in enumerate(self.players):
                k = i * len(self.players) + q
                nearer = np.flatnonzero(saved[k] > least)
                places = [
                    np.searchsorted(self.values[a], moved[k][nearer, j]) for j, a in zip(*player[:2], strict=True)
                ]
                mean = self.process.replaced(place, player.axes, np.column_stack(places))
                worth = saved[k][nearer] * self.chance(mean, np.full(len(mean), self.usual))
                found.append(moved[k][nearer[np.argsort(-worth, kind="stable")[:_LOOKED_AT]]])
        return self.search.new(np.concatenate(found))

    def _moved(self, base: FloatArray, player: _Player) -> FloatArray:
        rows = np.repeat(base[None], len(player.options), axis=0)
        rows[:, list(player.columns)] = player.options
        return rows

    # -- which of them ---------------------------------------------------------------------------

    def _few(self, mean: FloatArray, covariance: FloatArray, saving: FloatArray, most: int) -> list[int]:
        """Which to ask about: one after the other, each as if those before had been asked and missed."""
        chosen, least = list[int](), self.least
        while len(chosen) < most:
            worth = saving * self.chance(mean, np.diag(covariance))
            worth[chosen] = 0.0
            i = int(np.argmax(worth))
            if worth[i] <= least:
                break
            chosen.append(i)
            mean, covariance = self._missed(i, mean, covariance)
        return chosen

    def _missed(self, i: int, mean: FloatArray, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and covariance of rows should row ``i`` miss every region (moments of a normal outside an interval)."""
        scale = np.sqrt(max(covariance[i, i], 1e-9))
        low, high = ((ends - mean[i]) / (scale * np.sqrt(self.process.variance)) for ends in (self.low, self.high))
        outside = np.maximum(1.0 - (ndtr(high) - ndtr(low)), 1e-3)
        shift = (_density(high) - _density(low)) / outside
        left = 1.0 + (_moment(high) - _moment(low)) / outside - shift**2
        along = covariance[:, i] / scale
        mean = mean + np.outer(along, shift * np.sqrt(self.process.variance))
        return mean, covariance - np.outer(along, along) * (1.0 - min(max(float(left[0]), 0.0), 1.0))


def _density(z: FloatArray) -> FloatArray:
    """Of a standard normal; 0 at the ends."""
    return np.asarray(np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi))


def _moment(z: FloatArray) -> FloatArray:
    """z times its density; 0 at the ends."""
    return np.where(np.isfinite(z), z, 0.0) * _density(z)
