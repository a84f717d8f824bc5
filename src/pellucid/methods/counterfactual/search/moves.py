"""Moves of a local search: rows that are worth asking about, given what is known. None of them asks the model."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.methods.counterfactual.search.known import Known, radius
from pellucid.methods.counterfactual.search.progress import Progress

AT_ONCE = 100  # combinations asked in a round
_LEVELS, _PER_LEVEL = 64, 4  # of gain, up to what is needed; sets of changes that are kept of each


def together(search: Known, target: Progress, base: FloatArray | None = None) -> FloatArray:
    """The cheapest sets of changes, on top of those of ``base``, whose gains, added up, reach the target.

    A knapsack, feature by feature: of the sets so far whose gains are about the same, the few cheapest are kept.
    """
    problem = search.problem
    base = problem.x if base is None else base
    price, gain = float(problem.cost.total(base[None])[0]), float(target.gain(problem.score(base[None]))[0])
    need = (target.need - gain) * search.share
    steps = _frontier(search, target, base)
    start = np.zeros(1, dtype=np.intp) + problem.changes(base[None])
    sets = _Sets(base[None].copy(), np.array([price]), np.zeros(1), start)
    for j in np.unique(steps.which):
        own = steps.which == j
        sets = sets.joined(int(j), steps.value[own], steps.price[own], steps.gain[own])
        within = sets.price < search.reach
        if problem.max_changes is not None:
            within &= sets.changes <= problem.max_changes
        sets = sets.at(np.flatnonzero(within)).thinned(need)
    good = np.flatnonzero((sets.gain >= need) & (sets.changes > 1))
    return sets.at(good[np.argsort(sets.price[good], kind="stable")[:AT_ONCE]]).rows


@dataclass(frozen=True, eq=False)
class _Sets:
    """Rows with some changes, what these cost and gain if both add up, and how many they are."""

    rows: FloatArray
    price: FloatArray
    gain: FloatArray
    changes: IntArray

    def joined(self, j: int, values: FloatArray, price: FloatArray, gain: FloatArray) -> _Sets:
        """These sets, and each of them with each of some changes of feature ``j`` added."""
        rows = np.repeat(self.rows, len(values), axis=0)
        rows[:, j] = np.tile(values, len(self.rows))
        return _Sets(
            np.concatenate([self.rows, rows]),
            np.concatenate([self.price, np.add.outer(self.price, price).ravel()]),
            np.concatenate([self.gain, np.add.outer(self.gain, gain).ravel()]),
            np.concatenate([self.changes, np.repeat(self.changes + 1, len(values))]),
        )

    def thinned(self, need: float) -> _Sets:
        """The cheapest few of each level of gain; half as much again as is needed is enough."""
        level = np.minimum(self.gain / max(need, 1e-12), 1.5) * _LEVELS
        level = level.astype(np.intp)
        order = np.lexsort((self.price, level))
        place = np.arange(len(order)) - np.searchsorted(level[order], level[order])
        return self.at(order[place < _PER_LEVEL])

    def at(self, places: IntArray) -> _Sets:
        """Some of these sets."""
        return _Sets(self.rows[places], self.price[places], self.gain[places], self.changes[places])


def refined(search: Known, most: int = AT_ONCE // 2) -> FloatArray:
    """Numbers half way between a value that gains and the next nearer one that gains less, the largest steps first.

    The prediction of trees jumps: this finds where.
    """
    problem, found = search.problem, []
    for j in np.flatnonzero(problem.free & ~problem.nominal & ~np.isnan(search.x)):
        known = sorted((value, float(gain.max())) for (feature, value), gain in search.single.items() if feature == j)
        values, gains = np.array([(search.x[j], 0.0), *known]).T
        for side in (values >= search.x[j], values <= search.x[j]):
            order = np.flatnonzero(side)[np.argsort(np.abs(values[side] - search.x[j]), kind="stable")]
            least = max(
                problem.choices[j].step * 1.01, 0.02 * float(np.abs(values[order] - search.x[j]).max(initial=0))
            )
            for a, b in itertools.pairwise(order):
                if gains[b] > gains[a] + 1e-9 and abs(values[b] - values[a]) > least:
                    found.append((gains[b] - gains[a], j, (values[a] + values[b]) / 2))
    found = sorted(found, key=lambda each: -each[0])[:most]
    rows = np.repeat(search.x[None], len(found), axis=0)
    for row, (_, j, value) in zip(rows, found, strict=True):
        row[j] = value
    return rows


def bracketed(search: Known, most: int = 3) -> FloatArray:
    """Half way to either side of the value that comes nearest to the target, for the features that come nearest."""
    problem, found = search.problem, []
    need = np.array([target.need for target in search.targets])
    for j in np.flatnonzero(problem.free & ~problem.nominal & ~np.isnan(search.x)).tolist():
        known = sorted(
            [(value, float((gain - need).max())) for (feature, value), gain in search.single.items() if feature == j]
            + [(float(search.x[j]), float(-need.min()))]
        )
        values, slack = np.array(known).T
        best, least = int(np.argmax(slack)), max(problem.choices[j].step * 1.01, 1e-9 * float(np.ptp(values)))
        found += [
            (-slack[best], j, (values[other] + values[best]) / 2)
            for other in (best - 1, best + 1)
            if 0 <= other < len(values) and abs(values[other] - values[best]) > least
        ]
    found = sorted(found)[: 2 * most]
    rows = np.repeat(search.x[None], len(found), axis=0)
    for row, (_, j, value) in zip(rows, found, strict=True):
        row[j] = value
    return rows


class _Steps(NamedTuple):
    """Single changes of a row: of which feature, to which value, what each costs more and gains."""

    which: IntArray
    value: FloatArray
    price: FloatArray
    gain: FloatArray


def _steps(search: Known, target: Progress, base: FloatArray) -> _Steps:
    """All that the model was asked about that differs from ``base`` in one feature."""
    problem, rows = search.problem, search.problem.so_far()
    differ = (rows != base) & ~(np.isnan(rows) & np.isnan(base))
    one = np.flatnonzero(differ.sum(axis=1) == 1)
    rows, which = rows[one], differ[one].argmax(axis=1)
    price = problem.cost.total(rows) - problem.cost.total(base[None])
    gain = target.gain(problem.score(rows)) - target.gain(problem.score(base[None]))
    return _Steps(which, rows[np.arange(len(rows)), which], price, gain)


def _frontier(search: Known, target: Progress, base: FloatArray) -> _Steps:
    """The single changes of a row of which none gains as much for less."""
    steps = _steps(search, target, base)
    kept = []
    for j in np.unique(steps.which):
        best, paid = -np.inf, False
        own = np.flatnonzero(steps.which == j)
        for i in own[np.lexsort((-steps.gain[own], steps.price[own]))]:
            if not paid and steps.price[i] >= 0:
                best, paid = max(best, 0.0), True  # no change at all
            if steps.gain[i] > best + 1e-9:
                kept.append(i)
                best = steps.gain[i]
    return _Steps(steps.which[kept], steps.value[kept], steps.price[kept], steps.gain[kept])


def promising(search: Known, target: Progress, used: set[bytes]) -> FloatArray | None:
    """Of the rows that fall short, the one that lacks least for what may still be spent on it; None: none is left."""
    problem = search.problem
    rows = problem.so_far()
    cost, gain = problem.cost.total(rows), target.gain(problem.score(rows))
    lacks, room = target.need - gain, search.reach - cost
    able = (lacks > 0) & (room > 0) & (gain > 0) & problem.changed(rows).any(axis=1) & problem.allowed(rows)
    able &= [changed.tobytes() not in used for changed in problem.changed(rows)]
    rate = np.where(able, lacks / np.where(np.isfinite(room) & (room > 0), room, 1.0), np.inf)
    if not len(rows) or not able.any():
        return None
    return np.asarray(rows[int(np.argmin(rate))])


def on_top(search: Known, target: Progress, base: FloatArray, per_side: int = 4) -> FloatArray:
    """Single changes of a row: to what is known to gain by itself, and to a few values within reach."""
    problem, x = search.problem, search.x
    spent = problem.cost.total(base[None])[0]
    known = _frontier(search, target, x)
    out = []
    for j in np.flatnonzero(problem.free).tolist():
        values = [known.value[known.which == j]]
        if problem.nominal[j] or np.isnan(x[j]):
            values.append(search.values(j))
        else:
            back = base.copy()
            back[j] = x[j]
            room = radius(problem, j, search.reach - spent + (spent - problem.cost.total(back[None])[0]))
            for sign, whole in ((1.0, problem.choices[j].high - x[j]), (-1.0, x[j] - problem.choices[j].low)):
                far = min(whole, room)
                if far > 0:
                    values.append(x[j] + sign * np.geomspace(max(problem.choices[j].step, far / 64), far, per_side))
            values.append(x[j : j + 1])
        some = np.concatenate(values)
        moved = np.repeat(base[None], len(some), axis=0)
        moved[:, j] = some
        out.append(moved)
    return np.concatenate(out) if out else np.empty((0, len(x)))


def exchanges(search: Known, best: FloatArray, steps: int) -> FloatArray:
    """The best answer with any one feature elsewhere and another change undone, halved or shortened."""
    problem, x = search.problem, search.x
    changed = np.flatnonzero(problem.changed(best[None])[0])
    starts = [best]
    for q in changed:
        parts = (0.0,) if problem.nominal[q] or np.isnan(x[q]) else (0.0, 0.5, 0.8)
        for part in parts:
            start = best.copy()
            start[q] = x[q] if part == 0.0 else x[q] + part * (best[q] - x[q])
            starts.append(start)
    base = np.array(starts)
    out = []
    for j in np.flatnonzero(problem.free).tolist():
        if problem.nominal[j] or np.isnan(x[j]):
            values = search.values(j)
        else:
            room = min(radius(problem, j, search.reach), problem.choices[j].high - problem.choices[j].low)
            values = x[j] + np.linspace(-1, 1, 2 * steps + 1) * room
        moved = np.repeat(base, len(values), axis=0)
        moved[:, j] = np.tile(values, len(base))
        out.append(moved)
    return np.concatenate(out) if out else np.empty((0, len(x)))


class Draws:
    """Chances of each feature and, for numbers, of each direction; learnt from what single changes gained."""

    def __init__(self, search: Known, free: IntArray) -> None:
        self.search, self.free = search, free
        gain = np.zeros((len(search.x), 2))
        for (j, value), gained in search.single.items():
            row = search.x.copy()
            row[j] = value
            price = float(search.problem.cost.total(row[None])[0])
            side = int(value > search.x[j])
            gain[j, side] = max(gain[j, side], float(gained.max()) / max(price, 1e-9))
        self.up = (gain[:, 1] + 1e-9) / (gain.sum(axis=1) + 2e-9)
        best = gain.max(axis=1)[free]
        self.chance = 0.7 * (best + 1e-9) / (best + 1e-9).sum() + 0.3 / len(free)

    def rows(self, generator: np.random.Generator, size: int, reach: float) -> FloatArray:
        """Rows with one to five changes that cost 60% to 100% of what is within reach."""
        problem, x = self.search.problem, self.search.x
        out = np.repeat(x[None], size, axis=0)
        most = min(5, len(self.free), problem.max_changes or 5)
        for row in out:
            picked = generator.choice(len(self.free), generator.integers(1, most + 1), replace=False, p=self.chance)
            left = min(reach, 1.0 * len(x)) * generator.uniform(0.6, 1.0)
            numbers = []
            for j in self.free[picked]:
                if not (problem.nominal[j] or np.isnan(x[j])):
                    numbers.append(int(j))
                    continue
                values = self.search.values(j)
                value = generator.choice(values) if len(values) else x[j]
                price = float(problem.cost.of(j, np.array([value]))[0])
                if price < left:
                    row[j], left = value, left - price
            for j, part in zip(numbers, generator.dirichlet(np.ones(len(numbers))) if numbers else (), strict=True):
                room = radius(problem, j, part * left)
                room = room if np.isfinite(room) else problem.cost.distance.unit[j] * generator.random()
                row[j] = x[j] + (1.0 if generator.random() < self.up[j] else -1.0) * room
        return problem.snap(out)

    def sharpen(self, rows: FloatArray) -> None:
        """Moves the chances towards what came nearest to the target."""
        problem = self.search.problem
        rows = rows[[row.tobytes() in problem.asked.known for row in rows]]
        if not len(rows):
            return
        best = np.argsort(problem.miss(rows), kind="stable")[: max(5, len(rows) // 6)]
        share = problem.changed(rows[best])[:, self.free].mean(axis=0) + 1e-3
        self.chance = 0.9 * (0.6 * self.chance + 0.4 * share / share.sum()) + 0.1 / len(self.free)
