"""Which search answers, with which options; and, where none finds an answer, what stands in the way."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.data.distance import RowDistance
from pellucid.errors import InputError, nearest
from pellucid.methods.counterfactual.adversarial import adversarial
from pellucid.methods.counterfactual.diverse import diverse
from pellucid.methods.counterfactual.exact import exact, why_not
from pellucid.methods.counterfactual.exhaustive import exhaustive
from pellucid.methods.counterfactual.moc import moc
from pellucid.methods.counterfactual.neighbours import neighbours
from pellucid.methods.counterfactual.prototype import prototype
from pellucid.methods.counterfactual.random import random
from pellucid.methods.counterfactual.search.local import nearest as nearest_answers
from pellucid.methods.counterfactual.search.problem import Found, OutOfBudget, Problem, make_problem
from pellucid.methods.counterfactual.spheres import spheres
from pellucid.methods.counterfactual.wachter import wachter
from pellucid.models import Predictor
from pellucid.runner import Run

Method = Literal[
    "auto",
    "exact",
    "moc",
    "wachter",
    "spheres",
    "diverse",
    "prototype",
    "neighbours",
    "random",
    "exhaustive",
    "adversarial",
]
SEARCHES: dict[str, Callable[..., Found]] = {
    "exact": exact,
    "moc": moc,
    "wachter": wachter,
    "spheres": spheres,
    "diverse": diverse,
    "prototype": prototype,
    "neighbours": neighbours,
    "random": random,
    "exhaustive": exhaustive,
    "adversarial": adversarial,
}
METHODS = ("auto", *SEARCHES)
# Model rows where the caller sets no budget; with the 50 around each of five answers moc's are 1,200 in all.
BUDGETS = {"moc": 950, "diverse": 950, "neighbours": 1_200, "random": 2_000, "spheres": 3_000, "prototype": 2_000}
BUDGETS |= {"adversarial": 2_000, "wachter": 10_000, "exhaustive": 200_000}
_EVERYWHERE = ("problem", "n", "polish", "seconds", "effort")  # are no options of a search
_PER_OBSTACLE, _MOST_OBSTACLES = 300, 8


@dataclass(frozen=True, eq=False)
class Request:
    """What a user asks: a row, a target and the constraints, as they were said."""

    predictor: Predictor
    data: Data
    row: Data
    target: Any
    run: Run
    said: Mapping[str, Any] = field(default_factory=dict)

    def problem(self, budget: int | None, **changes: Any) -> Problem:
        """The problem, with some constraints said otherwise."""
        return make_problem(
            self.predictor, self.data, self.row, self.target, self.run, budget=budget, **{**self.said, **changes}
        )


def choose(method: Any, problem: Problem, options: Mapping[str, Any], otherwise: str) -> str:
    """The search that answers: "auto" is exact where the model can be read; with an option of another search, that."""
    if method != "auto":
        return str(method)
    return "exact" if not options and why_not(problem) is None else otherwise


def check_options(method: str, options: Mapping[str, Any]) -> None:
    """Refuse options that the search does not have."""
    known = [name for name in inspect.signature(SEARCHES[method]).parameters if name not in _EVERYWHERE]
    for name in options:
        if name not in known:
            words = nearest(name, known) if known else "; it has none."
            raise InputError(f"{name}= is no option of method={method!r}{words}")


def search(
    problem: Problem,
    method: str,
    n: int,
    options: Mapping[str, Any],
    *,
    polish: bool,
    seconds: float | None = None,
    effort: int | None = None,
) -> Found:
    """What the search finds; where the budget, the time or the user ends it, the best so far."""
    found: Found | None = None
    known = inspect.signature(SEARCHES[method]).parameters
    taken: dict[str, Any] = {name: value for name, value in (("n", n), ("effort", effort)) if name in known}
    if "seconds" in known:
        taken |= {} if seconds is None else {"seconds": seconds}
    else:
        problem.asked.end = None if seconds is None else time.monotonic() + seconds
    with problem.run.until_interrupted(), suppress(OutOfBudget):
        found = SEARCHES[method](problem, polish=polish, **taken, **options)
    problem.asked.end = None  # the answers are asked about as they are emitted, whatever the time
    return Found(problem.answers(), notes={"ended": "early"}) if found is None else found


def pick(problem: Problem, found: Found, n: int) -> FloatArray:
    """At most ``n`` answers: the nearest, the nearest that change other features, and those that differ most."""
    rows = found.rows
    if not len(rows):
        return rows
    _, first = np.unique(rows, axis=0, return_index=True)
    rows = rows[np.sort(first)]
    if found.notes.get("ordered"):
        return rows[:n]
    cost = np.round(problem.cost.total(rows), 12)
    sets = [tuple(changed) for changed in problem.changed(rows)]
    order = np.lexsort((problem.changes(rows), cost))
    kept: list[int] = []
    seen: set[tuple[bool, ...]] = set()
    for i in order:
        if sets[i] not in seen:
            seen.add(sets[i])
            kept.append(int(i))
    kept = _filled(problem, rows, kept[:n], n)
    return rows[sorted(kept, key=lambda i: (cost[i], kept.index(i)))]


def _filled(problem: Problem, rows: FloatArray, kept: list[int], n: int) -> list[int]:
    """The chosen rows and, where they are too few, those that are farthest from all that are chosen."""
    apart = RowDistance.learn(problem.data, "gower").between(rows, rows)
    while len(kept) < min(n, len(rows)):
        far = np.round(apart[:, kept].min(axis=1), 12)
        far[kept] = -1.0
        kept.append(int(np.argmax(far)))
    return kept


def nearest_miss(problem: Problem) -> tuple[FloatArray, float]:
    """Of the allowed rows that were asked, the one whose prediction is nearest to the target, and how near."""
    rows = problem.so_far()
    rows = rows[problem.allowed(rows)]
    if not len(rows):
        return rows, float("nan")
    miss = problem.miss(rows)
    best = np.lexsort((problem.cost.total(rows), miss))[0]
    return rows[[best]], float(miss[best])


@dataclass(frozen=True, eq=False)
class Relaxed:
    """A constraint without which the target can be reached, the answer then, and what it costs."""

    constraint: str
    row: FloatArray
    distance: float


def obstacles(request: Request, budget: int | None = None, seconds: float | None = None) -> list[Relaxed]:
    """Each constraint left out in turn (then all of them): with which the target can be reached, the nearest first.

    All of them together take at most as many model rows, and as long, as the search itself may.
    """
    found, relaxed = [], _relaxations(request.said)
    each = _PER_OBSTACLE if budget is None else min(_PER_OBSTACLE, budget // max(len(relaxed), 1))
    with request.run.checking():
        for words, changes in relaxed:
            problem = request.problem(each, **changes)
            problem.asked.end = None if seconds is None else time.monotonic() + seconds / len(relaxed)
            rows = search_quickly(problem)
            if len(rows):
                found.append(Relaxed(words, rows[0], float(problem.cost.shown(problem.cost.total(rows[:1]))[0])))
    return sorted(found, key=lambda each: each.distance)


def search_quickly(problem: Problem) -> FloatArray:
    """Answers of a short local search, the nearest first."""
    try:
        return nearest_answers(problem, rounds=2)
    except OutOfBudget:
        return problem.answers()


def _relaxations(said: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Each constraint with the arguments that leave it out."""
    found: list[tuple[str, dict[str, Any]]] = []
    fixed = [said["fixed"]] if isinstance(said["fixed"], str) else list(said["fixed"])
    found += [(f"fixed={name!r}", {"fixed": [other for other in fixed if other != name]}) for name in fixed]
    for what in ("ranges", "monotone"):
        given = dict(said[what] or {})
        found += [
            (f"{what}[{name!r}]", {what: {other: value for other, value in given.items() if other != name}})
            for name in given
        ]
    relations = [said["relations"]] if isinstance(said["relations"], str) else list(said["relations"])
    found += [(f"the relation {text!r}", {"relations": [r for r in relations if r != text]}) for text in relations]
    if said["max_changes"] is not None:
        found.append((f"max_changes={said['max_changes']}", {"max_changes": None}))
    if said["feasible"] is not None:
        found.append(("feasible=", {"feasible": None}))
    if len(found) > 1:
        none = {"fixed": (), "ranges": None, "monotone": None, "relations": (), "max_changes": None, "feasible": None}
        found = [*found[: _MOST_OBSTACLES - 1], ("any of the constraints", none)]
    return found
