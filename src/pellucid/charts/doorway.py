"""The doorway: which chart a result gets."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from pellucid.charts.chart import UNCHECKED, Chart
from pellucid.checks import flag, whole
from pellucid.errors import InputError
from pellucid.explanations import (
    Agreement,
    Anchor,
    Associations,
    Attribution,
    Audit,
    Clusters,
    Coefficients,
    Counterfactuals,
    DecisionList,
    Decomposition,
    Effect,
    Effects,
    Explanation,
    FragileRows,
    Importance,
    ImportanceComparison,
    Influence,
    Interactions,
    LocalAttribution,
    Neighbors,
    Network,
    Performance,
    Pick,
    Poisoning,
    Prototypes,
    RobustFit,
    Rules,
    Surrogate,
    Surrogates,
    Triage,
)
from pellucid.explanations.option import read_options
from pellucid.explanations.plot_options import PanelOptions
from pellucid.words import kind_of

# Result, and the module whose function `body` draws it (imported when needed: it loads Altair).
_CHARTS: dict[type[Explanation], str] = {
    Effect: "pellucid.charts.effect",
    Effects: "pellucid.charts.effect.leading",
    Importance: "pellucid.charts.importance",
    LocalAttribution: "pellucid.charts.local",
    Pick: "pellucid.charts.local.pick",
    Attribution: "pellucid.charts.attribution",
    Associations: "pellucid.charts.associations",
    Audit: "pellucid.charts.audit",
    Performance: "pellucid.charts.performance",
    Interactions: "pellucid.charts.interactions",
    Network: "pellucid.charts.interactions.network",
    DecisionList: "pellucid.charts.decision_list",
    Decomposition: "pellucid.charts.decomposition",
    ImportanceComparison: "pellucid.charts.importance.comparison",
    Clusters: "pellucid.charts.associations.clusters",
    Coefficients: "pellucid.charts.coefficients",
    Anchor: "pellucid.charts.rule",
    Rules: "pellucid.charts.rule",
    Agreement: "pellucid.charts.agreement",
    Counterfactuals: "pellucid.charts.counterfactuals",
    FragileRows: "pellucid.charts.counterfactuals.fragile",
    Influence: "pellucid.charts.influence",
    Poisoning: "pellucid.charts.influence.poisoning",
    RobustFit: "pellucid.charts.influence.robust",
    Triage: "pellucid.charts.influence.triage",
    Surrogate: "pellucid.charts.surrogate",
    Surrogates: "pellucid.charts.surrogate.side_by_side",
    Prototypes: "pellucid.charts.prototypes",
    Neighbors: "pellucid.charts.prototypes.neighbors",
}


def register(kind: type[Explanation], module: str) -> None:
    """Charts of a result kind that is defined above the charts."""
    _CHARTS[kind] = module


def draw(explanation: Explanation, **options: Any) -> Chart:
    """The chart of an explanation; the same as ``explanation.plot(**options)``, whose docstring has its options."""
    for kind in type(explanation).__mro__:
        if kind in _CHARTS:
            read = read_options(explanation._options, options)
            module = import_module(_CHARTS[kind])
            with UNCHECKED:
                return Chart(module.body(explanation, read))
    names = ", ".join(kind.__name__ for kind in _CHARTS)
    raise InputError(f"there is no chart of {kind_of(explanation)}; charts exist for {names}.")


def panel(effects: Sequence[Effect], *, columns: int = 3, overlay: bool = False, **options: Any) -> Chart:
    """Several effects of one feature each: side by side with common limits, or in one axis (``overlay=True``).

    An overlay compares methods (or models) on the same feature, such as PDP, M-plot and ALE; all curves are
    centred at their mean over the data, because only their shapes compare. ``labels`` names the curves.
    """
    known = read_options(PanelOptions, options)
    if not effects or not all(isinstance(effect, Effect) for effect in effects):
        raise InputError("panel() takes a list of effects, such as [explainer.pdp('a'), explainer.pdp('b')].")
    columns, overlay = whole("columns", columns), flag("overlay", overlay)
    module = import_module(f"pellucid.charts.effect.{'overlay' if overlay else 'side_by_side'}")
    with UNCHECKED:
        return Chart(module.body(list(effects), columns, known))
