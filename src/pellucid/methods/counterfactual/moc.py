"""Multi-objective counterfactuals.

Reference. Dandl, Molnar, Binder and Bischl 2020, "Multi-objective counterfactual explanations"; Deb et al. 2002.

Definition. Of all allowed rows z, those that no other row beats in all four objectives, less being better:

    o1 = how far f(z) is from the target (0: reached)      o2 = distance of z from x (Gower's, unless told)
    o3 = number of changed features                        o4 = Gower's distance of z from the nearest row of the data

Estimator. NSGA-II on mixed variables: numbers are mixed, levels are crossed, mutation takes values of observed rows
that are near (so that features stay consistent) and returns some features to those of x; one call of the model per
generation. The first population holds the nearest rows of the data that reach the target, what a local search makes
of them (unless ``polish=False``), and random changes of features, the more often the more the prediction varies with
them (ICE). Only rows with o1 = 0 are answers.

When it misleads:
1. the answers are many and contradict each other: they are trade-offs, not a ranking (caveat "rashomon");
2. the search is random and has no certificate: there may be nearer answers (``lower`` is unknown);
3. o4 speaks of one nearest row: an answer may lie beside an outlier (see its plausibility).

Cost. ``population`` model rows per generation, as far as the budget goes, and a few hundred for the local search.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.checks import whole
from pellucid.data.distance import RowDistance
from pellucid.methods.counterfactual.search.local import nearest
from pellucid.methods.counterfactual.search.pareto import crowding, fronts, hypervolume, non_dominated
from pellucid.methods.counterfactual.search.pool import NearestObserved, unlike
from pellucid.methods.counterfactual.search.problem import Found, Problem
from pellucid.methods.counterfactual.search.progress import progress

POPULATION, GENERATIONS = 30, 8
_SPARED = 4  # generations for which the local search leaves rows
_KEPT_ROWS = 1_000  # of the data: mutation and o4 look at so many
_BACK, _MUTATED, _SHORTENED = 0.2, 1.4, 0.15


def moc(
    problem: Problem, *, polish: bool = True, population: int = POPULATION, generations: int = GENERATIONS
) -> Found:
    """The trade-offs that reach the target, the nearest first."""
    population, generations = whole("population", population, least=4), whole("generations", generations, least=0)
    seeds = nearest(problem, spared=_spared(problem, population)) if polish else unlike(problem, 5)
    evolution = _Evolution(problem, population, seeds[: population // 2])
    done = 0
    while done < generations and (problem.left is None or problem.left >= population):
        evolution.generation()
        done += 1
    # So many generations as usual are as many as the budget has room for after the local search.
    early = done < min(generations, 1) or done < generations != GENERATIONS
    return front(problem, evolution.observed, {"ended": "early"} if early else {})


def _spared(problem: Problem, population: int) -> int:
    """The rows that the local search leaves."""
    return _SPARED * population if problem.left is None else min(_SPARED * population, problem.left // 4)


def front(problem: Problem, observed: NearestObserved | None = None, notes: Mapping[str, Any] | None = None) -> Found:
    """The non-dominated rows of all that were asked and reach the target, with the volume that they dominate."""
    rows = problem.answers()
    if not len(rows):
        return Found(rows, notes=notes or {})
    found = objectives(problem, rows, observed or NearestObserved(problem.data, _KEPT_ROWS))[:, 1:]
    kept = non_dominated(found)
    reference = np.array([1.0, len(problem.players) + 1.0, 1.0])
    found[:, 0] = _gower(problem, rows)  # whatever the distance: its box has ends
    told = {"hypervolume": hypervolume(found[kept], reference), "trade_offs": int(kept.sum())}
    return Found(rows[kept], notes={**told, **(notes or {})})


def objectives(problem: Problem, rows: FloatArray, observed: NearestObserved) -> FloatArray:
    """o1 to o4 of rows of codes; the model is asked."""
    return np.column_stack([problem.miss(rows), problem.cost.total(rows), problem.changes(rows), observed(rows)])


def _gower(problem: Problem, rows: FloatArray) -> FloatArray:
    return np.asarray(RowDistance.learn(problem.data, "gower").between(rows, problem.x[None])[:, 0])


class _Evolution:
    """A population that is joined with its children and cut to its best half, again and again."""

    def __init__(self, problem: Problem, population: int, seeds: FloatArray) -> None:
        self.problem, self.size = problem, population
        self.generator = problem.run.generator("counterfactuals.moc")
        self.observed = NearestObserved(problem.data, _KEPT_ROWS)
        self.gower = RowDistance.learn(problem.data, "gower")
        names = problem.data.schema.names
        # Draws belong to names, not to places: the order of columns does not matter.
        self.place = np.argsort(np.argsort(names))
        self.rows = self._first(seeds)
        self.scores = objectives(problem, self.rows, self.observed)

    def _uniform(self, n: int) -> FloatArray:
        return np.asarray(self.generator.random((n, len(self.problem.x)))[:, self.place])

    def _first(self, seeds: FloatArray) -> FloatArray:
        """Random changes of features, more often of those that the prediction varies with; and the seeds."""
        chance = 0.05 + 0.9 * self._importance()
        rows = np.repeat(self.problem.x[None], self.size, axis=0)
        values = self.observed.rows[self.generator.integers(0, len(self.observed.rows), self.size)]
        rows = np.where(self._uniform(self.size) < chance, values, rows)
        return self._allowed(np.concatenate([seeds, rows])[: self.size])

    def _importance(self) -> FloatArray:
        """By how much what is known of single changes moves the prediction, from 0 to 1."""
        rows = self.problem.so_far()
        changed = self.problem.changed(rows)
        one = changed.sum(axis=1) == 1
        spread = np.zeros(len(self.problem.x))
        if one.any():
            gains = progress(self.problem, 1)[0].gain(self.problem.score(rows[one]))
            which = changed[one].argmax(axis=1)
            for j in np.unique(which):
                spread[j] = np.abs(gains[which == j]).max()
        return spread / spread.max() if spread.max() > 0 else np.full(len(spread), 0.5)

    def _allowed(self, rows: FloatArray) -> FloatArray:
        """Rows on the choices that keep every constraint; what breaks one is walked half way back to the row, twice."""
        rows = self.problem.snap(rows)
        for _ in range(2):
            broken = np.flatnonzero(~self.problem.allowed(rows))
            if not len(broken):
                break
            back = self._uniform(len(broken)) < 0.5
            rows[broken] = self.problem.snap(np.where(back, self.problem.x, rows[broken]))
        rows = rows[self.problem.allowed(rows)]
        return rows if len(rows) else self.problem.x[None].copy()

    def generation(self) -> None:
        """Children of parents chosen by tournament, joined with them and cut down."""
        children = self._allowed(self._mutated(self._crossed()))
        known = {row.tobytes() for row in self.rows}
        children = np.unique(children, axis=0)
        children = children[[row.tobytes() not in known for row in children]]
        if not len(children):
            return
        self.rows = np.concatenate([self.rows, children])
        self.scores = np.concatenate([self.scores, objectives(self.problem, children, self.observed)])
        rank, alone = self._fitness()
        kept = np.lexsort((-alone, rank))[: self.size]
        self.rows, self.scores = self.rows[kept], self.scores[kept]

    def _fitness(self) -> tuple[IntArray, FloatArray]:
        rank = fronts(self.scores)
        return rank, crowding(self.scores, rank, self.gower.between(self.rows, self.rows))

    def _crossed(self) -> FloatArray:
        """Numbers of two parents mixed, levels taken from one of them."""
        rank, alone = self._fitness()
        one, two = (self._winners(rank, alone) for _ in range(2))
        crossed = self._uniform(self.size) < 0.5
        share = self.generator.random((self.size, 1))
        mixed = np.where(self.problem.nominal, two, share * one + (1 - share) * two)
        return np.where(crossed & ~np.isnan(mixed), mixed, one)

    def _winners(self, rank: IntArray, alone: FloatArray) -> FloatArray:
        a, b = self.generator.integers(0, len(self.rows), (2, self.size))
        better: BoolArray = (rank[a] < rank[b]) | ((rank[a] == rank[b]) & (alone[a] >= alone[b]))
        return np.asarray(self.rows[np.where(better, a, b)])

    def _mutated(self, rows: FloatArray) -> FloatArray:
        """Some features as in an observed row that is near, some shortened, some returned to the row's own."""
        n, x = len(rows), self.problem.x
        near = self.observed.rows[self.generator.integers(0, len(self.observed.rows), (n, 16))]
        apart = np.stack([self.gower.between(rows[[i]], near[i])[0] for i in range(n)])
        donors = near[np.arange(n), apart.argmin(axis=1)]
        mutated = self._uniform(n) < _MUTATED / max(int(self.problem.free.sum()), 1)
        rows = np.where(mutated & ~np.isnan(donors), donors, rows)
        shorter = (self._uniform(n) < _SHORTENED) & ~self.problem.nominal & ~np.isnan(x)
        part = 0.3 + 0.8 * self._uniform(n)
        rows = np.where(shorter, x + (rows - x) * part, rows)
        return np.where(self._uniform(n) < _BACK, x, rows)
