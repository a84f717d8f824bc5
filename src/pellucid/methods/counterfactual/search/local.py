"""A seeded local search for the nearest answer to a model that can only be asked.

1. Start from the nearest rows of the data that reach the target, and walk them back.
2. Ask about single changes within reach of the best answer so far (dense near the row, and at observed values).
3. Guess which two or three changes do it together, taking effects as additive (`progress`); ask about the cheapest.
4. Exchange: move any one feature while another change is undone or shortened.

Every step is one call of the model, nothing dearer than the best answer so far is asked, and whatever helps is walked
back at once. It has no certificate: on the tree models of the tests it is at the optimum in most cases.
"""

from __future__ import annotations

import itertools

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.methods.counterfactual.search.pool import all_codes, unlike
from pellucid.methods.counterfactual.search.problem import ALIKE, Problem
from pellucid.methods.counterfactual.search.progress import Progress, progress
from pellucid.methods.counterfactual.search.walk_back import walk_back

PER_SIDE = 8  # values of a number on each side of the row's own
OBSERVED = 12  # observed values on each side
STARTS = 5
AT_ONCE = 100  # combinations asked in a round


def nearest(problem: Problem, seeds: FloatArray | None = None, rounds: int = 6) -> FloatArray:
    """Answers ``(k, features)``, the nearest first; empty where none was found."""
    generator = problem.run.generator("counterfactuals.local")
    search = _Local(problem, unlike(problem, STARTS) if seeds is None else seeds)
    search.singles()
    search.climb()
    for _ in range(rounds):
        if not search.combine():
            break
    search.exchange()
    search.spread(generator)
    search.exchange()
    return search.best()


class _Local:
    """What is known: the answers so far, and what single changes gain."""

    def __init__(self, problem: Problem, seeds: FloatArray) -> None:
        self.problem, self.x = problem, problem.x
        self.targets = progress(problem)
        self.observed = [np.unique(column[~np.isnan(column)]) for column in all_codes(problem.data).T]
        self.known = np.empty((0, len(self.x)))
        self.single: dict[tuple[int, float], FloatArray] = {}
        self.share, self.misses = 1.0, 0
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

    def ask(self, rows: FloatArray, most: int | None = None) -> bool:
        """Asks about rows that are allowed, nearer than the best answer and new; whether one of them is better."""
        rows = np.unique(self.problem.snap(rows), axis=0)
        cost = self.problem.cost.total(rows)
        rows = rows[(cost < self.reach - ALIKE) & self.problem.changed(rows).any(axis=1)]
        rows = rows[self.problem.allowed(rows)]
        known = self.problem.asked.known
        rows = rows[[row.tobytes() not in known for row in rows]]
        if most is not None and len(rows) > most:
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

    def values(self, j: int) -> FloatArray:
        """Values of a feature worth trying: levels; numbers dense near the row's own, and observed ones."""
        choices, x = self.problem.choices[j], self.x[j]
        if not self.problem.free[j]:
            return np.empty(0)
        if choices.nominal or np.isnan(x):
            values = choices.values if choices.values is not None else self.observed[j]
            if len(values) > 4 * OBSERVED:
                values = values[np.linspace(0, len(values) - 1, 4 * OBSERVED).astype(np.intp)]
            return values[values != x]
        within = _radius(self.problem, j, self.reach)
        found = []
        for sign, whole in ((1.0, choices.high - x), (-1.0, x - choices.low)):
            room = min(whole, within)
            if room <= 0 or room < choices.step - 1e-12:
                continue
            found.append(x + sign * np.geomspace(max(choices.step, room / 512), room, PER_SIDE))
            apart = (self.observed[j] - x) * sign
            seen = self.observed[j][(apart > 0) & (apart <= room)]
            if len(seen) > OBSERVED:
                seen = seen[np.unique(np.linspace(0, len(seen) - 1, OBSERVED).astype(np.intp))]
            found.append(seen)
        return np.concatenate(found) if found else np.empty(0)

    def _moves(self) -> FloatArray:
        """Every single change: one row for each value of each player."""
        rows = []
        for j in range(len(self.x)):
            values = self.values(j)
            moved = np.repeat(self.x[None], len(values), axis=0)
            moved[:, j] = values
            rows.append(moved)
        for group in self.problem.groups:
            moved = np.repeat(self.x[None], len(group.combinations), axis=0)
            moved[:, list(group.columns)] = group.combinations
            rows.append(moved[:: max(1, len(moved) // (4 * OBSERVED))])
        return np.concatenate(rows)

    def singles(self) -> None:
        """Asks about single changes; where nothing reaches the target yet, about all of them."""
        self.ask(self._moves())

    def climb(self, rounds: int = 8) -> None:
        """Where nothing reaches the target yet: the best single change on top of the best row so far, again and again."""
        best = np.inf
        for _ in range(rounds):
            rows = self.problem.so_far()
            rows = rows[self.problem.allowed(rows)]
            if len(self.known) or not len(rows):
                return
            gains = np.max([target.gain(self.problem.score(rows)) - target.need for target in self.targets], axis=0)
            start = rows[int(np.argmax(gains))]
            if -gains.max() >= best - 1e-12:
                return
            best = -float(gains.max())
            moves = self._moves()
            self.ask(np.where(self.problem.changed(moves), moves, start), most=2 * AT_ONCE)

    def combine(self) -> bool:
        """A round of single changes within reach, and of two or three changes that should do it together."""
        self.ask(_refined(self), most=AT_ONCE // 2)
        guesses = [self._moves(), *(_together(self, k, target) for k, target in enumerate(self.targets))]
        better = self.ask(np.concatenate(guesses), most=3 * AT_ONCE)
        if not better:
            self.misses += 1
            self.share *= 0.85
        return self.misses < 3

    def spread(self, generator: np.random.Generator, rounds: int = 4, size: int = 80, quiet: int = 2) -> None:
        """Draws of a few changes that share a cost within reach, more often of those that helped (cross-entropy)."""
        free = np.flatnonzero(self.problem.free)
        if not len(free):
            return
        draws = _Draws(self, free)
        for _ in range(rounds):
            rows = draws.rows(generator, size, self.reach)
            better = self.ask(rows)
            draws.sharpen(rows)
            quiet -= not better
            if quiet <= 0:
                return

    def exchange(self, rounds: int = 5, steps: int = 6) -> None:
        """Moves one feature of the best answer while another change is undone or shortened."""
        for _ in range(rounds):
            if not len(self.known) or not self.ask(_exchanges(self, self.best()[0], steps), most=2 * AT_ONCE):
                return


class _Draws:
    """Chances of each feature and, for numbers, of each direction; learnt from what single changes gained."""

    def __init__(self, search: _Local, free: IntArray) -> None:
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
                room = _radius(problem, j, part * left)
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


def _radius(problem: Problem, j: int, reach: float) -> float:
    """How far a number may move within a cost; without bound where costs have no parts."""
    cost = problem.cost
    if not cost.separable or not np.isfinite(reach) or cost.weights[j] <= 0:
        return np.inf
    return float((max(reach - cost.per_change, 0.0) / cost.weights[j]) ** (1.0 / cost.power) * cost.distance.unit[j])


def _together(search: _Local, k: int, target: Progress) -> FloatArray:
    """The cheapest pairs and triples whose gains, added up, reach target ``k``."""
    problem = search.problem
    items = _frontier(search, k)
    if len(items[0]) < 2:
        return np.empty((0, len(problem.x)))
    which, value, price, gain = items
    need = target.need * search.share
    a, b = np.triu_indices(len(which), 1)
    apart = which[a] != which[b]
    a, b = a[apart], b[apart]
    cost, sums = price[a] + price[b], gain[a] + gain[b]
    within = cost < search.reach
    pairs = np.flatnonzero(within & (sums >= need))
    pairs = pairs[np.argsort(cost[pairs], kind="stable")[:AT_ONCE]]
    out = [_rows(problem.x, which, value, np.column_stack([a[pairs], b[pairs]]))]
    near = np.flatnonzero(within & (sums >= 0.4 * target.need) & (sums < need))
    near = near[np.argsort(cost[near], kind="stable")[:400]]
    if len(near):
        three = cost[near, None] + price[None]
        fits = (three < search.reach) & (sums[near, None] + gain[None] >= need)
        fits &= (which[a[near], None] != which[None]) & (which[b[near], None] != which[None])
        i, c = np.nonzero(fits)
        order = np.argsort(three[i, c], kind="stable")[:AT_ONCE]
        i, c = near[i[order]], c[order]
        out.append(_rows(problem.x, which, value, np.column_stack([a[i], b[i], c])))
    return np.concatenate(out)


def _refined(search: _Local, most: int = AT_ONCE // 2) -> FloatArray:
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


def _frontier(search: _Local, k: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Single changes of which none gains as much for less: feature, value, cost and gain of each."""
    found: list[tuple[float, float, float, float]] = []
    problem = search.problem
    for j in range(len(problem.x)):
        known = [(value, gain[k]) for (feature, value), gain in search.single.items() if feature == j]
        if not known:
            continue
        values, gains = np.array(known).T
        rows = np.repeat(problem.x[None], len(values), axis=0)
        rows[:, j] = values
        prices, best = problem.cost.total(rows), 0.0
        for i in np.lexsort((-gains, prices)):
            if gains[i] > best + 1e-9 and prices[i] < search.reach:
                found.append((j, values[i], prices[i], gains[i]))
                best = gains[i]
    which, value, price, gain = np.array(found).reshape(-1, 4).T
    return which, value, price, gain


def _rows(x: FloatArray, which: FloatArray, value: FloatArray, sets: FloatArray) -> FloatArray:
    rows = np.repeat(x[None], len(sets), axis=0)
    for column in sets.T:
        rows[np.arange(len(sets)), which[column].astype(np.intp)] = value[column]
    return rows


def _exchanges(search: _Local, best: FloatArray, steps: int) -> FloatArray:
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
            radius = min(_radius(problem, j, search.reach), problem.choices[j].high - problem.choices[j].low)
            values = x[j] + np.linspace(-1, 1, 2 * steps + 1) * radius
        moved = np.repeat(base, len(values), axis=0)
        moved[:, j] = np.tile(values, len(base))
        out.append(moved)
    return np.concatenate(out) if out else np.empty((0, len(x)))
