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
features have no nearest value behind an open end: the next number that the table can hold is taken. (4) Where the time
ends first, the best so far is given with the bound that was proven (``lower``), and relations of features with too many
values to list, as well as feasible=, leave a bound instead of a proof.

Cost. No model rows for the search; one per answer, to predict it as emitted, and a few where sums are within rounding
of the target. Time: milliseconds for some hundred trees, up to minutes for deep ones over many numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.errors import InputError
from pellucid.methods.counterfactual.search.judge import Judge, Rounding
from pellucid.methods.counterfactual.search.problem import Found, Problem
from pellucid.methods.counterfactual.search.sums_wanted import NotInSums, ends_of_sums
from pellucid.methods.counterfactual.search.tree_cells import Cells, NotInCells, TreeCells, cells_of
from pellucid.reading.trees import Refusal, read_trees
from pellucid.trees.nearest import Nearest
from pellucid.trees.plain.choice import can_compile


def exact(problem: Problem, n: int = 5, *, seconds: float = 60.0, polish: bool = True) -> Found:  # noqa: ARG001
    """The ``n`` nearest answers that change different features; after ``seconds`` the best so far with a bound."""
    question = _question(problem)
    if isinstance(question, str):
        raise InputError(f"method='exact' needs a model that can be read: {question}; use method='moc'.")
    end = time.monotonic() + seconds
    return question.nearest(n, lambda: time.monotonic() < end)


def why_not(problem: Problem) -> str | None:
    """Why a problem cannot be solved exactly; None: it can."""
    question = _question(problem)
    return question if isinstance(question, str) else None


def _question(problem: Problem) -> _Question | str:
    if not problem.cost.separable:
        return "a distance that is a function of whole rows has no bounds"
    if not can_compile():
        return "numba, which compiles the search, is missing"
    trees = read_trees(problem.run, problem.predictor, problem.data)
    if isinstance(trees, Refusal):
        return trees.reason
    known = problem.run.keep("cells of trees", trees.model, lambda: TreeCells(trees, problem.predictor, problem.data))
    apart = frozenset(j for relation in problem.relations for j in relation.columns)
    try:
        cells = cells_of(known, problem, apart)
        return _Question(problem, cells, _roundings(problem, known))
    except (NotInCells, NotInSums) as reason:
        return str(reason)


def _roundings(problem: Problem, known: TreeCells) -> list[Rounding]:
    """The sums that each region of the target asks for."""
    model, link = known.trees.model, known.trees.link
    nodes = model.ensemble.nodes
    leaves = nodes.value[nodes.feature < 0]
    single = bool((leaves.astype(np.float32) == leaves).all())
    size = float(
        np.abs(leaves).max(initial=0.0) * len(model.ensemble.roots) + np.abs(model.ensemble.base).max(initial=0.0)
    )
    found = []
    for region in problem.target.regions:
        ends = ends_of_sums(
            problem.target,
            region,
            problem.predictor,
            link,
            model.ensemble.n_outputs,
            probability=model.scale == "probability",
        )
        found.append(Rounding(ends, size, single))
    return found


@dataclass(eq=False)
class _Question:
    """The search for one row: an answer for each round, over all regions of the target."""

    problem: Problem
    cells: Cells
    regions: list[Rounding]
    nodes: int = 0
    rows: list[FloatArray] = field(default_factory=list)

    def nearest(self, n: int, go_on: Callable[[], bool]) -> Found:
        """Answers, the nearest first."""
        changed: list[list[bool]] = []
        bound, proven, first = 0.0, True, None
        while len(self.rows) < n and proven:
            best, lower, proven = self._round(
                np.array(changed, dtype=np.bool_).reshape(-1, len(self.cells.players)), bound, go_on
            )
            if first is None:
                first = (lower, proven)
            if best is None:
                break
            self.rows.append(self.cells.row(best))
            changed.append([cell != player.own for cell, player in zip(best, self.cells.players, strict=True)])
            if not any(changed[-1]):
                break  # the row itself
            bound = lower
        assert first is not None
        lower, proven = self._without_relations(*first, go_on)
        notes: dict[str, Any] = {"ordered": True, "nodes": self.nodes}
        rows = np.array(self.rows).reshape(-1, len(self.problem.x))
        return Found(rows, proven=proven, lower=lower, notes=notes)

    def _round(self, forbidden: Any, bound: float, go_on: Callable[[], bool]) -> tuple[Any, float, bool]:
        """The cheapest row of cells beyond a bound, over all regions; the bound then, and whether it is proven."""
        best, cost, lowers, proven = None, np.inf, [], True
        for rounding in self.regions:
            search = self._search(rounding, forbidden, bound, cost, go_on)
            lowers.append(search.lower)
            proven &= search.proven
            if search.cells is not None:
                best, cost = search.cells, search.cost
        return best, float(min(*lowers, cost)), proven

    def _search(
        self, rounding: Rounding, forbidden: Any, bound: float, cost: float, go_on: Callable[[], bool]
    ) -> Nearest:
        for wary in (False, True):
            judge = Judge(self.cells, rounding, self.problem.relations, wary=wary)
            search = self._make(rounding, judge, forbidden, bound, cost).run(go_on)
            self.nodes += search.nodes
            if search.cells is None or self.problem.valid(self.cells.row(search.cells)[None])[0]:
                break  # what the leaves add up to is what the model predicts, as nearly always
        return search

    def _make(self, rounding: Rounding, judge: Judge, forbidden: Any, bound: float, cost: float) -> Nearest:
        players = self.cells.players
        return Nearest(
            self.cells.boxes,
            [player.cost for player in players],
            np.array([player.own for player in players]),
            rounding.wanted,
            largest=self.problem.cost.norm == "max",
            most_changes=self.problem.max_changes,
            forbidden=forbidden,
            judge=judge,
            lower=bound,
            cost=cost,
        )

    def _without_relations(self, lower: float, proven: bool, go_on: Callable[[], bool]) -> tuple[float, bool]:
        """Where not all values can be told apart, the bound is that of the problem without what depends on them."""
        x = self.problem.x
        listed = all(
            self.problem.choices[j].values is not None and not np.isnan(x[j])
            for relation in self.problem.relations
            for j in relation.columns
        )
        if listed and self.problem.feasible is None:
            return lower, proven
        found = []
        for rounding in self.regions:
            judge = Judge(self.cells, rounding, (), constrained=False)
            search = self._make(rounding, judge, None, 0.0, np.inf).run(go_on)
            self.nodes += search.nodes
            found.append(search.lower)
        free = min(found)
        reached = bool(self.rows) and self.problem.cost.total(self.rows[0][None])[0] <= free * (1 + 1e-12)
        return free, proven and (reached or free == np.inf)
