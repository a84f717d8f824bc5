"""The nearest counterfactual of a model that is read, with a proof that there is no nearer one.

Definition. Of all rows z that keep the constraints and whose prediction reaches the target, the one with the least cost
d(x, z): what Karimi et al. (2020, "Model-agnostic counterfactual explanations", MACE) ask of a solver. Further answers
are the nearest ones that leave alone at least one of the features that each earlier answer changes, so that every
answer is another way out and none is an earlier one with something added.

Estimator. A model made of trees tells values apart only as far as its splits do: each feature has finitely many *cells*
(intervals between thresholds, levels), each stands for its allowed value nearest to the row, and a row of cells is as
good as any row. The cells are searched by branch and bound (`pellucid.trees.nearest`): what each tree can still reach
bounds the prediction, what the cells cost bounds the distance. Sums over features (linear and additive models) are
trees of one feature each. Links are undone, so that a probability is an interval of log-odds. Relations between columns
tell the values of their columns apart one by one.

When it misleads. (1) The proof is about this model and this distance; a near answer may be far from any real row.
(2) The nearest answer stands right behind a threshold: a slightly different model may not honour it. (3) Continuous
features have no nearest value behind an open end: the next number that the table can hold is taken; of a number with
more than 200,000 steps, sums over features are proven up to one step. (4) Where the time
ends first, the best so far is given with the bound that was proven (``lower``), and relations of features with too many
values to list, as well as feasible=, leave a bound instead of a proof.

Cost. No model rows for the search; one per answer, to predict it as emitted, and a few where sums are within rounding
of the target; some hundred for a local search where the proof takes long. Time: milliseconds for some hundred trees,
up to minutes for deep ones over many numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.errors import InputError
from pellucid.methods.counterfactual.search import local
from pellucid.methods.counterfactual.search.cell_values import Cells, NotInCells
from pellucid.methods.counterfactual.search.judge import Judge, Rounding
from pellucid.methods.counterfactual.search.knapsack import Knapsack
from pellucid.methods.counterfactual.search.problem import Found, OutOfBudget, Problem
from pellucid.methods.counterfactual.search.robustness import ask_with_surroundings
from pellucid.methods.counterfactual.search.sum_options import SumTerms, is_smooth, options_of
from pellucid.methods.counterfactual.search.sums_wanted import NotInSums, ends_of_sums
from pellucid.methods.counterfactual.search.tree_cells import TreeCells, cells_of
from pellucid.models.linear import Unlike
from pellucid.reading.additive import read_additive
from pellucid.reading.trees import Refusal, read_trees
from pellucid.trees.nearest import Nearest, is_compiled
from pellucid.trees.plain.choice import can_compile

_CLOSE = 1e-7  # a bound that an answer meets up to this share of it, where numbers are continuous
# How often the search is looked at before a local search is asked for a first answer: some tenths of a second, counted,
# so that a busy machine gives the same answer. The unit of ``effort``.
_LOOKS_AT_TREES, _LOOKS_AT_SUMS = 30, 2000
_COARSE = 1e-3  # how near the best of the numbers that stand for others is looked for


def exact(
    problem: Problem,
    n: int = 5,
    *,
    seconds: float = 60.0,
    effort: int | None = None,
    polish: bool = True,  # noqa: ARG001
) -> Found:
    """The ``n`` nearest answers that change different features; after ``seconds`` or this ``effort`` the best so far.

    That comes with a bound on how near a better one could be.
    """
    question = _question(problem)
    if isinstance(question, str):
        raise InputError(f"method='exact' needs a model that can be read: {question}; use method='moc'.")
    question.compile()
    question.end = time.monotonic() + seconds
    question.most = np.inf if effort is None else effort * question.quick
    return question.nearest(n)


def why_not(problem: Problem) -> str | None:
    """Why a problem cannot be solved exactly; None: it can."""
    question = _question(problem)
    return question if isinstance(question, str) else None


Make = Callable[[Rounding, Judge, BoolArray | None, float, float], "Nearest | Knapsack"]


def _question(problem: Problem) -> _Question | str:
    """The problem in cells of trees, or in options of a sum; else why it is neither."""
    if not problem.cost.separable:
        return "a distance that is a function of whole rows has no bounds"
    try:
        trees = _of_trees(problem)
        if isinstance(trees, _Question):
            return trees
        sums = _of_sums(problem)
        return sums if isinstance(sums, _Question) or "coef_" not in sums else trees
    except (NotInCells, NotInSums) as reason:
        return str(reason)


def _of_trees(problem: Problem) -> _Question | str:
    if not can_compile():
        return "numba, which compiles the search, is missing"
    run, data = problem.run, problem.data
    trees = read_trees(run, problem.predictor, data)
    if isinstance(trees, Refusal):
        return trees.reason
    known = run.keep("cells of trees", trees.model, lambda: TreeCells(trees, problem.predictor, data))
    cells, boxes = cells_of(known, problem, frozenset(j for relation in problem.relations for j in relation.columns))
    ensemble, link = trees.model.ensemble, trees.link
    leaves = ensemble.nodes.value[ensemble.nodes.feature < 0]
    single = bool((leaves.astype(np.float32) == leaves).all())
    size = np.abs(leaves).max(initial=0.0) * len(ensemble.roots) + np.abs(ensemble.base).max(initial=0.0)
    probability = trees.model.scale == "probability"
    own = np.array([player.own for player in cells.players])

    def make(rounding: Rounding, judge: Judge, forbidden: BoolArray | None, bound: float, cost: float) -> Nearest:
        return Nearest(
            boxes,
            [player.cost for player in cells.players],
            own,
            rounding.wanted,
            largest=problem.cost.norm == "max",
            most_changes=problem.max_changes,
            forbidden=forbidden,
            judge=judge,
            lower=bound,
            cost=cost,
        )

    regions = _regions(problem, link, ensemble.n_outputs, float(size), probability=probability, single=single)
    return _Question(problem, cells, regions, make, _LOOKS_AT_TREES, compiled=is_compiled())


def _of_sums(problem: Problem) -> _Question | str:
    additive = read_additive(problem.run, problem.predictor)
    if isinstance(additive, Unlike):
        return additive.reason
    known = problem.run.keep("terms of a sum", additive, lambda: SumTerms(additive, problem.predictor, problem.data))
    cells, options, sums = options_of(known, problem)
    weights = additive.form.weights
    size = float(np.abs(sums).max() + sum(np.abs(part.gain).max(initial=0.0) for part in options))
    single = bool((weights.astype(np.float32) == weights).all())

    smooth = frozenset(j for j, choices in enumerate(problem.choices) if is_smooth(choices))
    largest = problem.cost.norm == "max"
    if largest and (smooth or problem.max_changes is not None):
        return "the largest change of a sum over features is bounded for listed values and any number of changes only"

    def make(rounding: Rounding, judge: Judge, forbidden: BoolArray | None, bound: float, cost: float) -> Knapsack:
        wanted = rounding.wanted
        lined = [type(part)(part.cost, part.gain @ wanted.matrix.T, part.own) for part in options]
        return Knapsack(
            lined,
            wanted.matrix @ sums,
            wanted.low,
            wanted.high,
            wanted.odds,
            most_changes=problem.max_changes,
            forbidden=forbidden,
            judge=judge,
            lower=bound,
            cost=cost,
            tolerance=_COARSE if smooth else 1e-12,
            largest=largest,
        )

    regions = _regions(problem, additive.link, weights.shape[1], size, probability=False, single=single)
    if largest and any(len(region.wanted.low) > 1 for region in regions):
        return "the largest change is bounded for one sum over features only"
    return _Question(problem, cells, regions, make, _LOOKS_AT_SUMS, smooth)


def _regions(
    problem: Problem, link: str, n_sums: int, size: float, *, probability: bool, single: bool
) -> list[Rounding]:
    """The sums that each region of the target asks for."""
    target, predictor = problem.target, problem.predictor
    ends = [ends_of_sums(target, region, predictor, link, n_sums, probability=probability) for region in target.regions]
    return [Rounding(each, size, single) for each in ends]


def _beyond(at: float, way: float, step: float) -> FloatArray:
    """Values at and just beyond a place: by parts of the way, or by single steps."""
    if step == 0.0:
        return at + np.array([0.0, 1e-12, 1e-10, 1e-9, 1e-8]) * way
    return (np.floor(at / step) + np.array([0.0, 1.0, 2.0])[:: 1 if way > 0 else -1] - (way < 0)) * step


@dataclass(frozen=True)
class _Best:
    """The best row of one round (None: none), the bound on its cost, and whether nothing better can be."""

    row: FloatArray | None
    lower: float
    proven: bool


@dataclass(eq=False)
class _Question:
    """The search for one row: an answer for each round, over all regions of the target.

    ``quick``: after how many looks a local search is asked; ``smooth``: the features that may be any number, of which a
    few stand for the others. The search goes on until ``end`` or for the ``most`` looks.
    """

    problem: Problem
    cells: Cells
    regions: list[Rounding]
    make: Make
    quick: int
    smooth: frozenset[int] = frozenset()
    compiled: bool = True
    nodes: int = 0
    end: float = np.inf
    looks: int = 0
    most: float = np.inf

    def compile(self) -> None:
        """Has the search compiled, where it is not yet; what that takes is no part of the time for the search, and the
        model is not asked.
        """
        if not self.compiled:
            none = np.zeros((0, len(self.cells.players)), dtype=np.bool_)
            judge = Judge(self.cells, self.regions[0], self.problem.relations, wary=False)
            self.make(self.regions[0], judge, none, 0.0, np.inf).run(lambda: False)

    def nearest(self, n: int) -> Found:
        """Answers, the nearest first."""

        def go_on() -> bool:
            self.looks += 1
            return self.looks <= self.most and time.monotonic() < self.end

        changed = np.zeros((0, len(self.cells.players)), dtype=np.bool_)
        found, others = self._first(go_on)
        rows = [] if found.row is None else [found.row]
        best = found
        while best.row is not None and best.proven and len(rows) < n:
            changed = np.vstack([changed, self._changed(best.row)])
            if not changed[-1].any():
                break  # the row itself reaches the target
            best = self._round(changed, best.lower, np.inf, go_on)
            rows += [] if best.row is None else [best.row]
        first = self._without_relations(found, go_on)
        notes: dict[str, Any] = {"ordered": not len(others), "nodes": self.nodes}
        every = np.array([*rows, *others]).reshape(-1, len(self.problem.x))
        return Found(every, first.proven, first.lower, notes)

    def _first(self, go_on: Callable[[], bool]) -> tuple[_Best, FloatArray]:
        """The nearest answer; where it takes long, a local search says first what is worth looking for, and may have
        the last word if the time ends.
        """
        none = np.zeros((0, len(self.cells.players)), dtype=np.bool_)
        looks = count(1)
        found = self._round(none, 0.0, np.inf, lambda: go_on() and next(looks) < self.quick)
        if found.proven or not go_on():
            return found, np.empty((0, len(self.problem.x)))
        others = self._asked()
        if not len(others):
            return self._round(none, found.lower, np.inf, go_on), others
        cost = float(self.problem.cost.total(others[:1])[0])
        better = self._round(none, found.lower, cost, go_on)
        if better.row is None:
            return _Best(others[0], better.lower, better.proven), others[1:]
        return better, others

    def _asked(self) -> FloatArray:
        """Answers of a local search, the nearest first."""
        asked = self.problem.asked
        asked.end = self.end
        try:
            return local.nearest(self.problem)
        except OutOfBudget:
            return self.problem.answers()
        finally:
            asked.end = None

    def _changed(self, row: FloatArray) -> BoolArray:
        changed = self.problem.changed(row[None])[0]
        return np.array([changed[list(player.features)].any() for player in self.cells.players])

    def _round(self, forbidden: BoolArray, bound: float, cost: float, go_on: Callable[[], bool]) -> _Best:
        """The cheapest row beyond a bound and below a cost, over all regions."""
        row, lowers, proven = None, [], True
        for rounding in self.regions:
            best = self._in_region(rounding, forbidden, bound, cost, go_on)
            lowers.append(best.lower)
            proven &= best.proven
            if best.row is not None:
                row, cost = best.row, float(self.problem.cost.total(best.row[None])[0])
        return _Best(row, min(*lowers, cost), proven)

    def _in_region(
        self, rounding: Rounding, forbidden: BoolArray, bound: float, cost: float, go_on: Callable[[], bool]
    ) -> _Best:
        row: FloatArray | None = None
        for wary in (False, True):
            judge = Judge(self.cells, rounding, self.problem.relations, wary=wary)
            search = self.make(rounding, judge, forbidden, bound, cost).run(go_on)
            self.nodes += search.nodes
            row = None if search.cells is None else self.cells.row(search.cells)
            if row is None or self._reaches(row):
                break  # what is added up is what the model predicts, as nearly always
        if self.smooth and isinstance(search, Knapsack):
            return self._smoothed(search, row, forbidden)
        return _Best(row, search.lower, search.proven)

    def _reaches(self, row: FloatArray) -> bool:
        """Whether the model says so, too; what is asked around an answer later on is asked with it."""
        if self.problem.scored and not self.smooth:
            ask_with_surroundings(self.problem, row)
        return bool(self.problem.valid(row[None])[0])

    def _smoothed(self, search: Knapsack, row: FloatArray | None, forbidden: BoolArray) -> _Best:
        """The relaxed problem's own answer, where the one number that it mixes may be anything; its bound holds in any
        case.
        """
        mixture = search.mixture
        if mixture is None:
            return _Best(row, search.lower, search.proven)
        player = self.cells.players[mixture.player]
        first, second = player.codes[list(mixture.options), 0]
        j, step_cost = player.features[0], 0.0
        if j in self.smooth:
            step = self.problem.choices[j].step
            for value in _beyond(first + mixture.share * (second - first), second - first, step):
                mixed = self.cells.row(mixture.row)
                mixed[j] = value
                mixed = self.problem.snap(mixed[None])[0]
                kept = not len(forbidden) or not (self._changed(mixed) | ~forbidden).all(axis=1).any()
                if kept and self.problem.allowed(mixed[None])[0] and self.problem.valid(mixed[None])[0]:
                    row = mixed
                    break
            step_cost = abs(float(np.diff(self.problem.cost.of(j, np.array([second - step, second])))[0]))
        proven = row is not None and self.problem.cost.total(row[None])[0] <= mixture.bound * (1 + _CLOSE) + step_cost
        return _Best(row, mixture.bound, bool(proven))

    def _without_relations(self, found: _Best, go_on: Callable[[], bool]) -> _Best:
        """Where not all values can be told apart, the bound is that of the problem without what depends on them."""
        x, choices = self.problem.x, self.problem.choices
        columns = {j for relation in self.problem.relations for j in relation.columns}
        listed = all(choices[j].values is not None and not np.isnan(x[j]) for j in columns)
        if (listed and self.problem.feasible is None) or found.lower == 0.0:
            return found
        lowers = []
        for rounding in self.regions:
            judge = Judge(self.cells, rounding, (), constrained=False)
            search = self.make(rounding, judge, None, 0.0, np.inf).run(go_on)
            self.nodes += search.nodes
            lowers.append(search.lower)
        free = min(lowers)
        reached = found.row is not None and self.problem.cost.total(found.row[None])[0] <= free * (1 + _CLOSE)
        return _Best(found.row, free, found.proven and (reached or free == np.inf))
