"""What a search found, as a rule to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.data import Data
from pellucid.explanations.caveat import Caveat
from pellucid.explanations.condition import Condition
from pellucid.explanations.rule import Anchor, Rules
from pellucid.methods.rules.bins import condition
from pellucid.methods.rules.coverage import TableSpace
from pellucid.methods.rules.gains import gains
from pellucid.methods.rules.place import Place
from pellucid.methods.rules.search import Candidate, Search
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import listed, value_name


def as_rule(
    predictor: Predictor, data: Data, place: Place, space: TableSpace, search: Search, asks: Mapping[str, Any], run: Run
) -> Anchor:
    """The best rule of a search."""
    best, i = search.best or Candidate((), 1.0, 0, 0), space.row
    trace = search.trace()
    players = tuple(space.names[space.predicates[q].player] for q in best.rule)
    running = np.array([step.precision for step in trace])
    running[-1] = best.precision
    names = tuple(data.schema.players())
    values, se = gains(len(names), [names.index(player) for player in players], trace, running)
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
        prediction=place.same.prediction(i),
        same=place.same.interval(i),
        reached=best.anchor,
        reason=_reason(search, asks),
        samples=best.n,
        rows=len(data),
        columns_of_data=data.schema.names,
        row=_cells(place, i),
        values=values,
        se=se,
        feature_names=names,
        output_names=predictor.output_names,
        scale="precision",
        cost=run.cost(),
        settings={**asks, "refined": search.level, "weighted": data.weighted},
        library=data.caller,
    )


def _conditions(data: Data, space: TableSpace, q: int) -> list[Condition]:
    predicate = space.predicates[q]
    name = space.names[predicate.player]
    return [condition(data.schema.features[j], name, cell) for j, cell in predicate.cells.items()]


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


def as_rules(rules: list[Anchor]) -> Rules:
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
        feature_names=first.feature_names,
        output_names=first.output_names,
        scale=first.scale,
        caveats=tuple(caveats.values()),
        cost=first.cost,
        settings=first.settings,
        library=first.library,
    )


def _said(caveat: Caveat, rules: list[Anchor]) -> Caveat:
    """A caveat with the numbers of the rules that have its kind, unless it is the same for all."""
    if all(caveat in rule.caveats for rule in rules):
        return caveat
    have = [str(i + 1) for i, rule in enumerate(rules) if caveat.code in {each.code for each in rule.caveats}]
    also = f" (also {listed(have[1:], 6)})" if have[1:] else ""
    return replace(caveat, message=f"Rule {have[0]}{also}: {caveat.message}")
