"""Anchors: rules that fix a prediction.

Reference. Ribeiro, Singh and Guestrin 2018, "Anchors: high-precision model-agnostic explanations".

Definition. A rule A is a set of conditions that the row x meets. Rows z are perturbed such that they meet A:

    precision(A) = P( f(z) = f(x) | z meets A )          coverage(A) = share of the data that meets A

An anchor has a precision of at least tau, with probability 1 - delta; the one sought covers most. For numbers f(z) = f(x)
means that f(z) lies in an interval around f(x) (``within``).

Estimator. `search`: a beam search in which all candidates of a round are judged (`certify`) and the most precise ones extended
(`bandit`); rows come from `perturbation`, conditions from `bins`. Of rows whose draws are shared by several rules, or by several
explained rows, the model is asked once. The coverage is counted, not estimated.

When it misleads:
1. the perturbation decides what "usually" means: rows that never occur count as much as others (caveat "off-data");
2. a prediction that nearly all perturbed rows get needs no condition, a rare one many (caveat "imbalance");
3. near a decision boundary rules are long and cover few rows (caveat "boundary"), and wide bins reach across it (caveat "bins");
4. a condition fixes the prediction together with the others; it is neither a cause nor needed: another rule may do as well.

Cost. O(B p) rules a round, at most p rounds; per rule about 40 to 1,500 draws, of which those are asked that are new.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray, weighted_mean
from pellucid.data import Data
from pellucid.diagnostics.anchor_checks import Checked, anchor_caveats
from pellucid.diagnostics.general import general_caveats
from pellucid.errors import InputError, nearest
from pellucid.explanations.rule import Condition, Rule, Rules
from pellucid.explanations.words import value_name
from pellucid.methods.rules.bins import check_bins, condition
from pellucid.methods.rules.certify import Goal
from pellucid.methods.rules.coverage import TableSpace
from pellucid.methods.rules.narrower import at_other_bins
from pellucid.methods.rules.perturbation import (
    Conditional,
    FromData,
    OwnRows,
    Perturbation,
    Sources,
    balanced,
)
from pellucid.methods.rules.sameness import Sameness, sameness
from pellucid.methods.rules.search import Candidate, Search
from pellucid.methods.rules.together import Answers, search_together
from pellucid.models import Predictor
from pellucid.runner import Run

PERTURB = ("data", "conditional", "balanced")
_MOST, _CELLS = 20_000, 40_000_000  # rows of the data (and their cells) that perturbed rows are made of
_KEY = 62


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
) -> Rule | Rules:
    """The rule that fixes the prediction of a row; for several rows, one each."""
    goal = Goal(precision, delta, epsilon, beams, batch, max_conditions, suboptimal, empty_evaluations)
    _check(goal, budget, perturb)
    wanted = check_bins(bins, data)
    explained = data.rows(rows)
    place = _place(predictor, data, explained, perturb, within, goal, budget, run)
    spaces = [
        TableSpace(
            data,
            place.sources.codes[place.sources.n + i],
            place.sources.players,
            wanted,
            row=i,
            refine=_refines(bins, perturb),
        )
        for i in range(len(explained))
    ]
    perturbations = [_perturbation(place, space, i, perturb, run) for i, space in enumerate(spaces)]
    for space, own in zip(spaces, perturbations, strict=True):
        space.paired = own.paired
        own.prepare()
    searches = [Search(space, goal, place.base(i)) for i, space in enumerate(spaces)]
    answers = Answers(predictor, data, place.same, run, budget)
    if place.full is not None:
        answers.remember(place.sources.row_number[: place.sources.n], place.full)
    search_together(searches, perturbations, answers, run)
    asks = {
        "method": "anchor", "precision": float(precision), "delta": float(delta), "epsilon": float(epsilon), "beams": beams,
        "batch": batch, "bins": _bins_words(bins), "perturb": perturb if isinstance(perturb, str) else "function",
        "max_conditions": max_conditions, "budget": budget, "empty_evaluations": empty_evaluations,
        "suboptimal": suboptimal, "within": _within_words(within), "random_state": run.seed,
    }  # fmt: skip
    rules = [
        _rule(predictor, data, place, space, search, asks, run)
        for space, search in zip(spaces, searches, strict=True)
    ]
    if run.checks:
        other = at_other_bins(predictor, data, place, spaces, searches, wanted, perturb, run)
        general = general_caveats(predictor, data, run)
        rules = [
            replace(
                rule,
                caveats=(
                    *general,
                    *anchor_caveats(rule, data, Checked(place.base_share(i), *other[i]), run),
                ),
            )
            for i, rule in enumerate(rules)
        ]
    rules = [replace(rule, cost=run.cost()) for rule in rules]
    return rules[0] if len(rules) == 1 else _joined(rules, run)


# -- the place of the search -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Place:
    """What the searches of all rows share: where values come from, how predictions compare, and weights of the rows drawn.

    ``rows`` are the positions of the source rows in the data; ``full`` their predictions, where they were asked for.
    """

    sources: Sources
    rows: IntArray
    same: Sameness
    full: FloatArray | None
    even: bool
    own: bool

    def base_share(self, i: int) -> float:
        """The share of the data with the prediction of explained row ``i``; NaN where it is not known."""
        if self.full is None:
            return float("nan")
        same = self.same.same(self.same.answers(self.full), i)
        return float(weighted_mean(same.astype(np.float64), self.sources.data.weights))

    def weights(self, i: int) -> FloatArray:
        """How often each source row is drawn for the perturbations of explained row ``i``."""
        weights = self.sources.data.weights
        if not self.even or self.full is None:
            return weights
        answers = self.same.answers(self.full)
        classes = not len(self.same.interval(i))
        return balanced(weights, answers[:, 0] if classes else self.same.same(answers, i))

    def base(self, i: int) -> float | None:
        """The exact precision of the empty rule, where all rows were asked for."""
        if self.full is None or self.own:
            return None
        same = self.same.same(self.same.answers(self.full), i)
        return float(weighted_mean(same.astype(np.float64), self.weights(i)))


def _place(
    predictor: Predictor, data: Data, explained: Data, perturb: Any, within: Any, goal: Goal, budget: int | None, run: Run
) -> Place:  # fmt: skip
    rows = np.arange(len(data))
    most = min(_MOST, max(500, _CELLS // len(data.schema.features)))
    if len(data) > most:
        rows = np.sort(run.generator(_KEY).choice(len(data), most, replace=False))
    some = data if len(rows) == len(data) else data.take(rows)
    players = dict(sorted(data.schema.players().items()))
    full = None
    cheap = len(some) <= goal.empty and (budget is None or 4 * len(some) <= budget)
    if perturb == "balanced" or (cheap and not callable(perturb)):
        full = run.predict(predictor, some, full=True)
    own = run.predict(predictor, explained, full=True)
    same = sameness(predictor, within, own, lambda: _spread(predictor, some, full, run))
    return Place(
        Sources(some, explained, players), rows, same, full, perturb == "balanced", callable(perturb)
    )


def _spread(predictor: Predictor, some: Data, full: FloatArray | None, run: Run) -> FloatArray:
    """The standard deviation of each explained output over the data."""
    few = some if full is not None else some.take(some.spread(1000))
    outputs = predictor.restrict(run.predict(predictor, few, full=True) if full is None else full)
    centre = weighted_mean(outputs, few.weights)
    return np.sqrt(weighted_mean(np.square(outputs - centre), few.weights))


def _perturbation(place: Place, space: TableSpace, i: int, perturb: Any, run: Run) -> Perturbation:
    if callable(perturb):
        return OwnRows(perturb, place.sources, space, i, run)
    kind = Conditional if perturb == "conditional" else FromData
    return kind(place.sources, space, i, place.weights(i), place.rows, run)


def _refines(bins: Any, perturb: Any) -> bool:
    """Intervals are halved where they are ours to choose and narrower ones can be filled with rows."""
    return isinstance(bins, str) and perturb in ("data", "balanced")


# -- the result --------------------------------------------------------------------------------------


def _rule(
    predictor: Predictor, data: Data, place: Place, space: TableSpace, search: Search, asks: Mapping[str, Any], run: Run
) -> Rule:  # fmt: skip
    best, i = search.best or Candidate((), 1.0, 0, 0), space.row
    trace = search.trace()
    players = tuple(space.names[space.predicates[q].player] for q in best.rule)
    running = np.array([step.precision for step in trace])
    running[-1] = best.precision
    values, se = _gains(tuple(data.schema.players()), players, trace, running)
    precise = (
        {"low": min(best.low, best.precision), "high": max(best.high, best.precision)}
        if best.n or best.exact is not None
        else {"low": 0.0, "high": 1.0}
    )
    return Rule(
        conditions=tuple(c for q in best.rule for c in _conditions(data, space, q)), players=players,
        precision=float(best.precision), interval=(float(precise["low"]), float(precise["high"])), coverage=best.coverage,
        base=float(running[0]), running_precision=running, running_coverage=np.array([step.coverage for step in trace]),
        prediction=place.same.prediction(i), same=place.same.interval(i), reached=best.anchor,
        reason=_reason(search, asks), samples=best.n, rows=len(data), columns_of_data=data.schema.names,
        row=_cells(place, i), values=values, se=se, feature_names=tuple(data.schema.players()),
        output_names=predictor.output_names, scale="precision", cost=run.cost(),
        settings={**asks, "refined": search.level}, library=data.caller,
    )  # fmt: skip


def _conditions(data: Data, space: TableSpace, q: int) -> list[Condition]:
    predicate = space.predicates[q]
    name = space.names[predicate.player]
    return [condition(data.schema.features[j], name, cell) for j, cell in predicate.cells.items()]


def _gains(
    names: tuple[str, ...], players: tuple[str, ...], trace: list[Candidate], running: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """What each player adds to the precision when it joins, and its standard error."""
    values, se = np.zeros(len(names)), np.zeros(len(names))
    before, error = running[0], _error(trace[0])
    for player, precision, step in zip(players, running[1:].tolist(), trace[1:], strict=True):
        if np.isfinite(precision):  # unknown where a search was stopped: the next known step has it all
            own = _error(step)
            values[names.index(player)] = precision - before
            se[names.index(player)] = np.hypot(own, error)
            before, error = precision, own
    return values, se


def _error(step: Candidate) -> float:
    """The standard error of a share, of which both sides have been seen once more (never 0)."""
    if step.exact is not None or not step.n:
        return 0.0
    share = (step.hits + 1) / (step.n + 2)
    return float(np.sqrt(share * (1 - share) / step.n))


def _reason(search: Search, asks: Mapping[str, Any]) -> str:
    if search.best is not None and search.best.anchor:
        return search.stopped
    rows = asks["perturb"] == "conditional" and search.why in ("unreachable", "search")
    return "rows" if rows else search.why


def _cells(place: Place, i: int) -> tuple[str, ...]:
    explained = place.sources.explained
    return tuple(
        value_name(None if np.isnan(explained.codes(j)[i]) else feature.decode(explained.codes(j)[[i]])[0])
        for j, feature in enumerate(explained.schema.features)
    )


def _joined(rules: list[Rule], run: Run) -> Rules:
    first = rules[0]
    caveats = {}
    for number, rule in enumerate(rules):
        for caveat in rule.caveats:
            general = all(caveat in other.caveats for other in rules)
            said = caveat if general else replace(caveat, message=f"Rule {number + 1}: {caveat.message}")
            caveats.setdefault(caveat.code, said)
    return Rules(
        rules=tuple(rules), values=np.stack([rule.values for rule in rules]), se=np.stack([rule.se for rule in rules]),
        feature_names=first.feature_names, output_names=first.output_names, scale=first.scale,
        caveats=tuple(caveats.values()), cost=run.cost(), settings=first.settings, library=first.library,
    )  # fmt: skip


def _bins_words(bins: Any) -> Any:
    if isinstance(bins, Mapping):
        return {str(name): given if isinstance(given, int) else [*given] for name, given in bins.items()}
    return bins


def _within_words(within: Any) -> Any:
    return [float(end) for end in within] if isinstance(within, tuple | list) else within


# -- checks of the options ---------------------------------------------------------------------------


def _check(goal: Goal, budget: int | None, perturb: Any) -> None:
    for name, value in (("delta", goal.delta), ("epsilon", goal.epsilon)):
        if not _number(value) or not 0 < value < 1:
            raise InputError(
                f"{name}={value!r} is no probability; give a number between 0 and 1, such as 0.05."
            )
    if not _number(goal.tau) or not 0 < goal.tau <= 1:
        raise InputError(
            f"precision={goal.tau!r} is no precision; give a number above 0, at most 1, such as 0.95."
        )
    wholes = {"beams": goal.beams, "batch": goal.batch, "empty_evaluations": goal.empty}
    wholes |= {
        name: value
        for name, value in (("max_conditions", goal.most), ("budget", budget))
        if value is not None
    }
    for name, value in wholes.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise InputError(f"{name}={value!r}: give a whole number, at least 1.")
    if not callable(perturb) and perturb not in PERTURB:
        raise InputError(f"perturb={perturb!r} is not known{nearest(str(perturb), PERTURB)}")


def _number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
