"""The caveats that all measures of interaction share: rows that do not occur, and costs that are not sharp."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from pellucid.data import Data
from pellucid.diagnostics.general import interrupted
from pellucid.diagnostics.off_data import off_data_caveat
from pellucid.explanations.caveat import Caveat
from pellucid.explanations.interactions import Interactions
from pellucid.runner import Run
from pellucid.words import number, percent

_TOP = 3  # features whose place among the data is looked at
_COSTLY = 0.01
_UNSHARP = 0.3
_DEAR = 0.05
_UNSEEN = 0.1  # of the standard deviation that the interaction has


def interaction_caveats(
    data: Data, players: Mapping[str, tuple[int, ...]], result: Interactions, run: Run
) -> tuple[Caveat, ...]:
    """Those of the method, and what all methods share."""
    if not run.checks:
        return result.caveats
    known = {(caveat.code, caveat.feature) for caveat in result.caveats}
    more = [*interrupted(run)]
    if not run.interrupted:
        leading = dict.fromkeys(name for names in result.top(_TOP) for name in names)
        for name in list(leading)[:_TOP]:
            if len(players[name]) == 1:
                more.extend(off_data_caveat(data, players[name][0], run, method="this measure"))
        more.extend(_unsharp(result))
        more.extend(_turned(result))
    new = {(caveat.code, caveat.feature): caveat for caveat in more}
    return (*result.caveats, *(caveat for key, caveat in new.items() if key not in known))


def _unsharp(result: Interactions) -> Iterator[Caveat]:
    """The most costly pair is known only roughly: few draws meet what makes it costly."""
    costs, errors = result.pooled_costs()
    pairs = [k for k, part in enumerate(result.parts) if len(part) == 2 and costs[k] >= _COSTLY]
    if not pairs:
        return
    k = max(pairs, key=lambda k: costs[k])
    doubt = float(errors[k] / costs[k])
    if doubt > _UNSHARP and np.isfinite(doubt):
        names = " and ".join(result.parts[k])
        yield Caveat(
            code="costs-uncertain",
            message=(
                f"What it costs to leave out the interaction of {names} is known only roughly:"
                f" {percent(float(costs[k]))} of the variance, with a standard error of {percent(float(errors[k]))};"
                " few rows make most of it."
            ),
            value=doubt,
            threshold=_UNSHARP,
            advice="Do not choose a network by small differences of cost; look for outliers in the predictions.",
            feature=result.parts[k][0],
        )


def _turned(result: Interactions) -> Iterator[Caveat]:
    """A costly pair without a value: sizes of effects do not tell an effect from its opposite."""
    if result.method != "greenwell" or not result.normalized:
        return
    costs, errors = result.pooled_costs()
    value = dict(zip(map(frozenset, result.sets), result.overall, strict=True))
    unseen = {
        part: float(cost)
        for part, cost, error in zip(result.parts, costs, errors, strict=True)
        if cost - 2 * error > _DEAR and value.get(frozenset(part), np.inf) < _UNSEEN * np.sqrt(cost)
    }
    if unseen:
        worst = max(unseen, key=lambda part: unseen[part])
        yield Caveat(
            code="turned-effects",
            message=(
                f"The value of {' and '.join(worst)} is {number(float(value[frozenset(worst)]))}, but without their"
                f" interaction {percent(unseen[worst])} of the variance would be lost: it turns effects round without"
                " changing their size, which this measure does not see."
            ),
            value=unseen[worst],
            threshold=_DEAR,
            advice="Use interactions(method='h').",
            feature=worst[0],
        )
