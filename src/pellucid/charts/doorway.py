"""The doorway: which chart a result gets."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from pellucid.charts.agreement_options import AgreementOptions
from pellucid.charts.chart import Chart
from pellucid.charts.comparison_options import ClusterOptions, ComparisonOptions
from pellucid.charts.decomposition_options import DecompositionOptions
from pellucid.charts.interaction_options import InteractionOptions, NetworkOptions
from pellucid.charts.local_options import LocalOptions, PickOptions
from pellucid.charts.options import (
    AssociationsOptions,
    AttributionOptions,
    EffectOptions,
    ImportanceOptions,
    PanelOptions,
    SizeOptions,
    read_options,
)
from pellucid.charts.rule_options import RuleOptions
from pellucid.checks import flag, whole
from pellucid.errors import InputError
from pellucid.explanations import (
    Agreement,
    Anchor,
    Associations,
    Attribution,
    Clusters,
    Decomposition,
    Effect,
    Explanation,
    Importance,
    ImportanceComparison,
    Interactions,
    LocalAttribution,
    Network,
    Pick,
    Rules,
)

# Result, the module whose function `body` draws it (imported when needed: it loads Altair), and its options.
_CHARTS: dict[type[Explanation], tuple[str, type[SizeOptions]]] = {
    Effect: ("pellucid.charts.effect", EffectOptions),
    Importance: ("pellucid.charts.importance", ImportanceOptions),
    LocalAttribution: ("pellucid.charts.local", LocalOptions),
    Pick: ("pellucid.charts.local.pick", PickOptions),
    Attribution: ("pellucid.charts.attribution", AttributionOptions),
    Associations: ("pellucid.charts.associations", AssociationsOptions),
    Interactions: ("pellucid.charts.interactions", InteractionOptions),
    Network: ("pellucid.charts.network", NetworkOptions),
    Decomposition: ("pellucid.charts.decomposition", DecompositionOptions),
    ImportanceComparison: ("pellucid.charts.importance_comparison", ComparisonOptions),
    Clusters: ("pellucid.charts.clusters", ClusterOptions),
    Anchor: ("pellucid.charts.rule", RuleOptions),
    Rules: ("pellucid.charts.rule", RuleOptions),
    Agreement: ("pellucid.charts.agreement", AgreementOptions),
}


def register(kind: type[Explanation], module: str, options: type[SizeOptions]) -> None:
    """Charts of a result kind that is defined above the charts."""
    _CHARTS[kind] = (module, options)


def draw(explanation: Explanation, **options: Any) -> Chart:
    """The chart of an explanation; the same as ``explanation.plot(**options)``.

    All take ``width``, ``height`` and ``title``. Effects: ``colour``, ``max_lines``, ``distribution``,
    ``show_data``, ``kind``. Importance: ``max_display``, ``against``, ``labels``. Associations: ``order``.
    Interactions: ``kind`` ("bars", "matrix"), ``max_display``. Networks: ``max_display``. Compared importances:
    ``max_display``, ``agreement``. Clusters: ``max_display``. Explanations side by side: ``max_display``,
    ``every_name``. Contributions: ``kind`` ("waterfall", "force", "bar", "beeswarm", "stacked", "dependence",
    "interactions", "decision"), ``max_display``; ``aggregate`` (bar), ``order`` and ``clusters`` (stacked), ``feature``
    and
    ``colour`` (dependence). Local models: ``kind`` ("effects", "widths", "boundary", or a kind of contributions; of
    texts and images also "variants"),
    ``max_display``, ``max_rows``. Picked rows: ``max_display``. Rules of texts: ``max_lines``.
    Decompositions: ``kind`` ("shares", "components"), ``component`` (one of them), ``max_display``, ``output``.
    """
    for kind in type(explanation).__mro__:
        if kind in _CHARTS:
            module, known = _CHARTS[kind]
            return Chart(import_module(module).body(explanation, read_options(known, options)))
    names = ", ".join(kind.__name__ for kind in _CHARTS)
    raise InputError(f"there is no chart of a {type(explanation).__name__}; charts exist for {names}.")


def panel(effects: Sequence[Effect], *, columns: int = 3, overlay: bool = False, **options: Any) -> Chart:
    """Several effects of one feature each: side by side with common limits, or in one axis (``overlay=True``).

    An overlay compares methods (or models) on the same feature, such as PDP, M-plot and ALE; all curves are
    centred at their mean over the data, because only their shapes compare. ``labels`` names the curves.
    """
    known = read_options(PanelOptions, options)
    if not effects or not all(isinstance(effect, Effect) for effect in effects):
        raise InputError("panel() takes a list of effects, such as [explainer.pdp('a'), explainer.pdp('b')].")
    columns, overlay = whole("columns", columns), flag("overlay", overlay)
    module = "pellucid.charts.overlay" if overlay else "pellucid.charts.side_by_side"
    return Chart(import_module(module).body(list(effects), columns, known))
