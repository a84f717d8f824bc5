"""Anchors: rules that fix a prediction.

Reference. Ribeiro, Singh and Guestrin 2018, "Anchors: high-precision model-agnostic explanations".

Definition. A rule A is a set of conditions that the row x meets. Rows z are perturbed such that they meet A:

    precision(A) = P( f(z) = f(x) | z meets A )          coverage(A) = share of the data that meets A

An anchor has a precision of at least tau, with probability 1 - delta; the one sought covers most. For numbers f(z) =
f(x) means that f(z) lies in an interval around f(x) (``within``).

Estimator. `search.beam`: a beam search in which all candidates of a round are judged (`certify`) and the most precise
ones extended (`bandit`); rows come from `perturbation`, conditions from `bins`. Of rows whose draws are shared by
several rules, or by several explained rows, the model is asked once. The coverage is counted, not estimated.

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

import numpy as np

from pellucid.arrays import IntArray
from pellucid.checks import one_of, optional, whole
from pellucid.data import Data
from pellucid.data.row_labels import RowLabels
from pellucid.diagnostics.by_method import anchor_caveats
from pellucid.diagnostics.general import general_caveats
from pellucid.diagnostics.rules import Checked
from pellucid.explanations import Anchor, Caveat, Condition, Header, Rules, changed
from pellucid.methods.rules.search import screening
from pellucid.methods.rules.search.beam import Candidate, Search, precision_gains
from pellucid.methods.rules.search.bin_sensitivity import precision_at_other_bins
from pellucid.methods.rules.search.bins import check_bins, condition
from pellucid.methods.rules.search.certify import Goal
from pellucid.methods.rules.search.joint_search import Answers, Setting, search_jointly, shared_setting
from pellucid.methods.rules.search.perturbation import Conditional, FromData, OwnRows, Perturbation
from pellucid.methods.rules.search.predicates import TableSpace, first_cells
from pellucid.methods.rules.search.same_prediction import within_words
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import listed, value_name

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
    budget = optional(whole, "budget", budget)
    if not callable(perturb):
        one_of("perturb", perturb, PERTURB)
    wanted = check_bins(bins, data)
    explained = data.rows(rows)
    setting = shared_setting(predictor, data, explained, perturb, within, goal, budget, run)
    looked_at = _looked_at(predictor, setting, perturb, budget, run)
    spaces = _spaces(data, setting, wanted, looked_at, refine=isinstance(bins, str) and perturb in ("data", "balanced"))
    searches = [Search(space, goal, setting.base(space.row)) for space in spaces]
    _search(predictor, data, setting, spaces, searches, perturb, budget, run)
    asks: dict[str, Any] = {
        "method": "anchor",
        "precision": goal.tau,
        "delta": goal.delta,
        "epsilon": goal.epsilon,
        "beams": goal.beams,
        "batch": goal.batch,
        "bins": _bins_words(bins),
        "perturb": perturb if isinstance(perturb, str) else "function",
        "max_conditions": goal.most,
        "budget": budget,
        "empty_evaluations": goal.empty,
        "suboptimal": goal.suboptimal,
        "within": within_words(within),
        "random_state": run.seed,
    }
    if looked_at is not None:
        asks["screened"] = len(setting.sources.members)
    rules = [
        _as_rule(predictor, data, setting, space, search, asks, run)
        for space, search in zip(spaces, searches, strict=True)
    ]
    if run.checks:
        other = precision_at_other_bins(predictor, data, setting, spaces, searches, wanted, perturb, run)
        general = general_caveats(predictor, data, run)
        measured = [Checked(setting.common(i), *both) for i, both in enumerate(other)]
        rules = [
            changed(rule, caveats=(*general, *anchor_caveats(rule, data, explained.take(np.array([i])), checked, run)))
            for i, (rule, checked) in enumerate(zip(rules, measured, strict=True))
        ]
    rules = [run.finish(rule) for rule in rules]
    return rules[0] if len(rules) == 1 else _as_rules(rules, explained.row_labels)


def _spaces(
    data: Data, setting: Setting, wanted: Mapping[int, Any], looked_at: list[IntArray] | None, *, refine: bool
) -> list[TableSpace]:
    """The predicates of each explained row; intervals are halved where they are ours to choose and can be filled with
    rows.
    """
    players, explained = setting.sources.players, setting.sources.codes[setting.sources.n :]
    return [
        TableSpace(
            data,
            codes,
            players,
            first_cells(data, codes, players, wanted, None if looked_at is None else looked_at[row]),
            row=row,
            refine=refine,
        )
        for row, codes in enumerate(explained)
    ]


def _looked_at(
    predictor: Predictor, setting: Setting, perturb: Any, budget: int | None, run: Run
) -> list[IntArray] | None:
    """The players that rules may be about, for each row; None for all."""
    sources = setting.sources
    rows = screening.ROWS if budget is None else min(screening.ROWS, budget // (16 * len(sources.explained)))
    if len(sources.members) <= screening.MOST or callable(perturb) or rows < screening.MOST:
        return None
    return [
        screening.mattering(predictor, sources, setting.same, setting.weights(i), i, run, rows)
        for i in range(len(sources.explained))
    ]


def _search(
    predictor: Predictor,
    data: Data,
    setting: Setting,
    spaces: list[TableSpace],
    searches: list[Search],
    perturb: Any,
    budget: int | None,
    run: Run,
) -> None:
    """Let all searches ask, together."""
    perturbations = [_perturbation(setting, space, perturb, run) for space in spaces]
    for perturbation in perturbations:
        perturbation.prepare()
    answers = Answers(predictor, data, setting.same, run, budget)
    if setting.full is not None:
        answers.remember(setting.sources.row_number[: setting.sources.n], setting.full)
    search_jointly(searches, perturbations, answers, run)


def _perturbation(setting: Setting, space: TableSpace, perturb: Any, run: Run) -> Perturbation:
    if callable(perturb):
        return OwnRows(perturb, setting.sources, space, run)
    kind = Conditional if perturb == "conditional" else FromData
    return kind(setting.sources, space, setting.weights(space.row), setting.rows, run)


def _bins_words(bins: Any) -> Any:
    if isinstance(bins, Mapping):
        return {str(name): given if isinstance(given, int) else [*given] for name, given in bins.items()}
    return bins


def _as_rule(
    predictor: Predictor,
    data: Data,
    setting: Setting,
    space: TableSpace,
    search: Search,
    asks: Mapping[str, Any],
    run: Run,
) -> Anchor:
    """The best rule of a search."""
    best, i = search.best or Candidate((), 1.0, 0, 0), space.row
    trace = search.trace()
    players = tuple(space.names[space.predicates[q].player] for q in best.rule)
    running = np.array([step.precision for step in trace])
    running[-1] = best.precision
    names = tuple(data.schema.players())
    values, se = precision_gains(len(names), [names.index(player) for player in players], trace, running)
    low, high = min(best.low, best.precision), max(best.high, best.precision)
    return Anchor(
        conditions=tuple(c for q in best.rule for c in _conditions(data, space, q)),
        players=players,
        precision=float(best.precision),
        interval=(float(low), float(high)),
        coverage=best.coverage,
        base=float(running[0]),
        running_precision=running,
        running_coverage=np.array([step.coverage for step in trace]),
        prediction=setting.same.prediction(i),
        same=setting.same.interval(i),
        reached=best.anchor,
        reason=_reason(search, asks),
        samples=best.n,
        rows=len(data),
        columns_of_data=data.schema.columns,
        row=_cells(setting, i),
        values=values,
        se=se,
        header=Header(
            feature_names=names,
            output_names=predictor.output_names,
            scale="precision",
            cost=run.cost(),
            settings={**asks, "refined": search.level, "weighted": data.weighted},
            library=data.caller,
            row_labels=setting.sources.explained.row_labels.take([i]),
            readable=data.schema.readable,
        ),
    )


def _conditions(data: Data, space: TableSpace, q: int) -> list[Condition]:
    predicate = space.predicates[q]
    name = space.names[predicate.player]
    features = data.schema.features
    return [
        replace(condition(features[j], name, cell), column=features[j].column) for j, cell in predicate.cells.items()
    ]


def _reason(search: Search, asks: Mapping[str, Any]) -> str:
    if search.best is not None and search.best.anchor:
        return search.stopped
    if asks["perturb"] == "conditional" and search.why in ("unreachable", "search"):
        return "rows"
    return "screened" if "screened" in asks and search.why == "unreachable" else search.why


def _cells(setting: Setting, i: int) -> tuple[str, ...]:
    explained = setting.sources.explained
    return tuple(
        value_name(None if np.isnan(explained.codes(j)[i]) else feature.decode(explained.codes(j)[[i]])[0])
        for j, feature in enumerate(explained.schema.features)
    )


def _as_rules(rules: list[Anchor], row_labels: RowLabels) -> Rules:
    """Several rules as one result, each kind of caveat once: in the words of the first rule that has it, with the
    others named.
    """
    first = rules[0]
    caveats: dict[str, Caveat] = {}
    for rule in rules:
        for caveat in rule.caveats:
            caveats.setdefault(caveat.code, _said(caveat, rules))
    return Rules(
        rules=tuple(rules),
        values=np.stack([rule.values for rule in rules]),
        se=np.stack([rule.se for rule in rules]),
        header=Header(
            feature_names=first.feature_names,
            output_names=first.output_names,
            scale=first.scale,
            caveats=tuple(caveats.values()),
            cost=first.cost,
            settings=first.settings,
            library=first.library,
            row_labels=row_labels,
        ),
    )


def _said(caveat: Caveat, rules: list[Anchor]) -> Caveat:
    """A caveat with the numbers of the rules that have its kind, unless it is the same for all."""
    if all(caveat in rule.caveats for rule in rules):
        return caveat
    have = [str(i + 1) for i, rule in enumerate(rules) if caveat.code in {each.code for each in rule.caveats}]
    also = f" (also {listed(have[1:], 6)})" if have[1:] else ""
    return replace(caveat, message=f"Rule {have[0]}{also}: {caveat.message}")
