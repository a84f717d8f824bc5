"""Anchors: rules that fix a prediction.

Reference. Ribeiro, Singh and Guestrin 2018, "Anchors: high-precision model-agnostic explanations".

Definition. A rule A is a set of conditions that the row x meets. Rows z are perturbed such that they meet A:

    precision(A) = P( f(z) = f(x) | z meets A )          coverage(A) = share of the data that meets A

An anchor has a precision of at least tau, with probability 1 - delta; the one sought covers most. For numbers f(z) =
f(x) means that f(z) lies in an interval around f(x) (``within``).

Estimator. `search`: a beam search in which all candidates of a round are judged (`certify`) and the most precise ones
extended (`bandit`); rows come from `perturbation`, conditions from `bins`. Of rows whose draws are shared by several
rules, or by several explained rows, the model is asked once. The coverage is counted, not estimated.

When it misleads:
1. the perturbation decides what "usually" means: rows that never occur count as much as others (caveat "off-data");
2. a prediction that nearly all perturbed rows get needs no condition, a rare one many (caveat "imbalance");
3. near a decision boundary rules are long and cover few rows (caveat "boundary"), and wide bins reach across it (caveat
   "bins");
4. a condition fixes the prediction together with the others; it is neither a cause nor needed: another rule may do as
   well.

Cost. O(B p) rules a round, at most p rounds; per rule about 40 to 1,500 draws, of which those are asked that are new.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pellucid.data import Data
from pellucid.diagnostics.by_method import anchor_caveats
from pellucid.diagnostics.general import general_caveats
from pellucid.diagnostics.rules import Checked
from pellucid.errors import InputError, nearest
from pellucid.explanations.rule import Anchor, Rules
from pellucid.methods.rules.bins import check_bins
from pellucid.methods.rules.certify import Goal
from pellucid.methods.rules.coverage import TableSpace, first_cells
from pellucid.methods.rules.options import check_goal, within_words
from pellucid.methods.rules.other_bins import at_other_bins
from pellucid.methods.rules.perturbation import Conditional, FromData, OwnRows, Perturbation
from pellucid.methods.rules.place import Place, find_place
from pellucid.methods.rules.result import as_rule, as_rules
from pellucid.methods.rules.search import Search
from pellucid.methods.rules.together import Answers, search_together
from pellucid.models import Predictor
from pellucid.runner import Run

PERTURB = ("data", "conditional", "balanced")


def anchor(
    predictor: Predictor,
    data: Data,
    rows: Any,
    *,
    precision: float = 0.95,
    delta: float = 0.05,
    epsilon: float = 0.05,
    beams: int = 4,
    batch: int = 32,
    bins: Any = "auto",
    perturb: Any = "data",
    max_conditions: int | None = None,
    budget: int | None = None,
    empty_evaluations: int = 1000,
    suboptimal: bool = True,
    within: Any = None,
    run: Run,
) -> Anchor | Rules:
    """The rule that fixes the prediction of a row; for several rows, one each."""
    goal = Goal(precision, delta, epsilon, beams, batch, max_conditions, suboptimal, empty_evaluations)
    check_goal(goal, budget)
    if not callable(perturb) and perturb not in PERTURB:
        raise InputError(f"perturb={perturb!r} is not known{nearest(str(perturb), PERTURB)}")
    wanted = check_bins(bins, data)
    place = find_place(predictor, data, data.rows(rows), perturb, within, goal, budget, run)
    spaces = _spaces(data, place, wanted, refine=isinstance(bins, str) and perturb in ("data", "balanced"))
    searches = [Search(space, goal, place.base(space.row)) for space in spaces]
    _search(predictor, data, place, spaces, searches, perturb, budget, run)
    asks = {
        "method": "anchor",
        "precision": float(precision),
        "delta": float(delta),
        "epsilon": float(epsilon),
        "beams": beams,
        "batch": batch,
        "bins": _bins_words(bins),
        "perturb": perturb if isinstance(perturb, str) else "function",
        "max_conditions": max_conditions,
        "budget": budget,
        "empty_evaluations": empty_evaluations,
        "suboptimal": suboptimal,
        "within": within_words(within),
        "random_state": run.seed,
    }
    rules = [
        as_rule(predictor, data, place, space, search, asks, run)
        for space, search in zip(spaces, searches, strict=True)
    ]
    if run.checks:
        other = at_other_bins(predictor, data, place, spaces, searches, wanted, perturb, run)
        general = general_caveats(predictor, data, run)
        measured = [Checked(place.common(i), *both) for i, both in enumerate(other)]
        rules = [
            replace(rule, caveats=(*general, *anchor_caveats(rule, data, checked, run)))
            for rule, checked in zip(rules, measured, strict=True)
        ]
    rules = [replace(rule, cost=run.cost()) for rule in rules]
    return rules[0] if len(rules) == 1 else as_rules(rules)


def _spaces(data: Data, place: Place, wanted: Mapping[int, Any], *, refine: bool) -> list[TableSpace]:
    """The predicates of each explained row; intervals are halved where they are ours to choose and can be filled with
    rows.
    """
    players, explained = place.sources.players, place.sources.codes[place.sources.n :]
    return [
        TableSpace(data, codes, players, first_cells(data, codes, players, wanted), row=row, refine=refine)
        for row, codes in enumerate(explained)
    ]


def _search(
    predictor: Predictor,
    data: Data,
    place: Place,
    spaces: list[TableSpace],
    searches: list[Search],
    perturb: Any,
    budget: int | None,
    run: Run,
) -> None:
    """Let all searches ask, together."""
    perturbations = [_perturbation(place, space, perturb, run) for space in spaces]
    for perturbation in perturbations:
        perturbation.prepare()
    answers = Answers(predictor, data, place.same, run, budget)
    if place.full is not None:
        answers.remember(place.sources.row_number[: place.sources.n], place.full)
    search_together(searches, perturbations, answers, run)


def _perturbation(place: Place, space: TableSpace, perturb: Any, run: Run) -> Perturbation:
    if callable(perturb):
        return OwnRows(perturb, place.sources, space, run)
    kind = Conditional if perturb == "conditional" else FromData
    return kind(place.sources, space, place.weights(space.row), place.rows, run)


def _bins_words(bins: Any) -> Any:
    if isinstance(bins, Mapping):
        return {str(name): given if isinstance(given, int) else [*given] for name, given in bins.items()}
    return bins
