"""Which method answers a request about interactions, and what leaving them out would cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pellucid.checks import flag, one_of, optional, whole
from pellucid.data import Data
from pellucid.diagnostics.by_measure import interaction_caveats
from pellucid.errors import InputError
from pellucid.explanations import Interactions, changed
from pellucid.methods.interactions.exclusion import costs_of_exclusion, no_costs
from pellucid.methods.interactions.greenwell import greenwell
from pellucid.methods.interactions.h_statistic import h_statistic
from pellucid.methods.interactions.request import (
    Against,
    Method,
    Request,
    asked_about,
    chosen_sets,
    players_of,
    sets_of,
    too_many,
)
from pellucid.methods.interactions.shap_ranking import shap_ranking
from pellucid.models import Predictor
from pellucid.runner import Run

_SCREENED = 20  # features whose pairs are answered where there are too many

_METHODS: dict[str, Callable[[Request], Interactions]] = {
    "h": h_statistic,
    "greenwell": greenwell,
    "shap": shap_ranking,
}
_AGAINST: dict[str, tuple[Against, ...]] = {
    "h": ("pairs", "all", "triples"),
    "greenwell": ("pairs",),
    "shap": ("pairs", "all"),
}


def interactions(
    predictor: Predictor,
    data: Data,
    features: Any = None,
    *,
    background: Any,
    method: Method = "h",
    against: Against = "pairs",
    normalize: bool = True,
    p_values: bool = False,
    rows: int | None = None,
    network: bool = True,
    run: Run,
) -> Interactions:
    """How strongly features act together, and (for the ``network``) what leaving their interactions out would cost."""
    normalize, p_values, network = flag("normalize", normalize), flag("p_values", p_values), flag("network", network)
    rows = optional(whole, "rows", rows, least=2)
    _check(method, against, p_values)
    players = players_of(data)
    sets = chosen_sets(data, players, features, against)
    asked = None if sets is not None else asked_about(data, players, features)

    def request_of(sets: tuple[tuple[int, ...], ...], against: Against, p_values: bool = False) -> Request:
        return Request(predictor, data, background, players, sets, against, normalize, p_values, rows, run)

    screened = sets is None and asked is None and too_many(len(players), against)
    if screened:
        asked = _strongest(h_statistic(request_of(sets_of(None, len(players), "all"), "all")))
    request = request_of(sets_of(asked, len(players), against) if sets is None else sets, against, p_values)
    result = _METHODS[method](request)
    costs = costs_of_exclusion(request) if network else no_costs(request)
    result = changed(
        result,
        normalized=normalize,
        parts=costs.parts,
        costs=costs.share,
        cost_se=costs.se,
        additive=costs.additive,
        settings={
            **result.settings,
            "features": _named(request, asked, sets),
            **({"screened": len(players)} if screened else {}),
            "against": against,
            "normalize": normalize,
            "draws": costs.draws,
            "pairs": costs.pairs,
            "random_state": run.seed,
            **({"groups": list(data.schema.groups)} if data.schema.groups else {}),
        },
    )
    return run.finish(result, interaction_caveats(data, players, result, run))


def _strongest(total: Interactions) -> list[int]:
    """The players with the strongest interactions with all others together, in the order of the table."""
    return sorted(int(s) for s in total.ranking[:_SCREENED])


def _named(request: Request, asked: list[int] | None, sets: tuple[tuple[int, ...], ...] | None) -> list[Any] | None:
    """What was asked about, by names."""
    if sets is not None:
        return [[request.names[i] for i in members] for members in sets]
    return None if asked is None else [request.names[i] for i in asked]


def _check(method: Any, against: Any, p_values: bool) -> None:
    """The arguments by themselves; errors name the one that is wrong and what to give instead."""
    one_of("method", method, _METHODS)
    one_of("against", against, _AGAINST["h"])
    if against not in _AGAINST[method]:
        raise InputError(f"method={method!r} has no value for against={against!r}; use method='h', or against='pairs'.")
    if p_values and method != "h":
        raise InputError(f"p_values=True is answered by method='h', not by method={method!r}.")
