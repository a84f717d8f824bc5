"""What a search found, as a rule to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.explanations.caveat import Caveat
from pellucid.explanations.rule import Condition, Rule, Rules
from pellucid.explanations.words import value_name
from pellucid.methods.rules.bins import condition
from pellucid.methods.rules.coverage import TableSpace
from pellucid.methods.rules.place import Place
from pellucid.methods.rules.search import Candidate, Search
from pellucid.models import Predictor
from pellucid.runner import Run


def as_rule(
    predictor: Predictor, data: Data, place: Place, space: TableSpace, search: Search, asks: Mapping[str, Any], run: Run
) -> Rule:  # fmt: skip
    """The best rule of a search."""
    best, i = search.best or Candidate((), 1.0, 0, 0), space.row
    trace = search.trace()
    players = tuple(space.names[space.predicates[q].player] for q in best.rule)
    running = np.array([step.precision for step in trace])
    running[-1] = best.precision
    values, se = _gains(tuple(data.schema.players()), players, trace, running)
    low, high = min(best.low, best.precision), max(best.high, best.precision)
    return Rule(
        conditions=tuple(c for q in best.rule for c in _conditions(data, space, q)), players=players,
        precision=float(best.precision), interval=(float(low), float(high)), coverage=best.coverage,
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


def as_rules(rules: list[Rule]) -> Rules:
    """Several rules as one result, each kind of caveat once."""
    first = rules[0]
    caveats: dict[str, Caveat] = {}
    for number, rule in enumerate(rules):
        for caveat in rule.caveats:
            general = all(caveat in other.caveats for other in rules)
            said = caveat if general else replace(caveat, message=f"Rule {number + 1}: {caveat.message}")
            caveats.setdefault(caveat.code, said)
    return Rules(
        rules=tuple(rules), values=np.stack([rule.values for rule in rules]), se=np.stack([rule.se for rule in rules]),
        feature_names=first.feature_names, output_names=first.output_names, scale=first.scale,
        caveats=tuple(caveats.values()), cost=first.cost, settings=first.settings, library=first.library,
    )  # fmt: skip
