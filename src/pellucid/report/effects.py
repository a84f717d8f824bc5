"""Which effect of a feature is shown, and how.

Partial dependence with some individual curves, unless the feature is correlated with others: then
accumulated local effects, which do not ask the model about rows that do not occur.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.explanations import Effect, Importance, changed
from pellucid.report.cards import Plain, card
from pellucid.runner import Run
from pellucid.words import number

if TYPE_CHECKING:
    from pellucid.data.schema import Feature
    from pellucid.explainer import Explainer

_CURVES = 40  # individual curves below an average
_LEVELS = 25  # categories that a chart has room for
_ROUNDING = 1e-9  # importances below this share of the greatest are noise of the arithmetic
_SMALL: dict[str, Any] = {"half": True, "width": 220.0, "colour": None, "max_lines": 15}
_HEIGHT, _LINE = 100.0, 13.0  # of a small chart, and of a category in it
_FEW_LEVELS = 10
_BRIEF = 1  # sentences of a brief card
_SEEN = {"heterogeneous": "The individual rows in this chart show it."}


def top_features(explainer: Explainer, importance: Importance, top: int, *, all_that_vary: bool = False) -> list[int]:
    """Columns of the most important features, those of a group one by one.

    Left out are features that never change, and those without importance unless there is no other or they are asked
    for.
    """
    schema = explainer.data.schema
    members = importance.members or tuple((name,) for name in importance.feature_names)
    values = importance.values if importance.values.ndim == 1 else importance.values.max(axis=-1)
    least = importance.neutral + _ROUNDING * max(float(np.nanmax(values)) - importance.neutral, 0.0)
    ranked = [(schema.index(name), values[j]) for j in importance.ranking for name in members[j]]
    changing = [(j, value) for j, value in ranked if schema.features[j].distinct > 1]
    useful = [j for j, value in changing if value > least or all_that_vary]
    return (useful or [j for j, _ in changing[:1]])[:top]


def effect_card(
    explainer: Explainer, j: int, *, place: int, run: Run, brief: bool = False
) -> tuple[Plain, list[Effect]]:
    """The card of one feature, and the results it was made from; a ``brief`` one has half the width."""
    feature = explainer.data.schema.features[j]
    most = _FEW_LEVELS if brief else _LEVELS
    many = feature.nominal and feature.distinct > most
    why = None if many else explainer._off_data(j, run)
    name = f"effect-{place}"
    shape = _small(feature) if brief else {"max_lines": _CURVES}
    said = _BRIEF if brief else None
    if why is not None:
        effect = explainer.ale(j)
        head, *sentences = effect.findings()
        reason = f"Correlated with {why[0]} ({number(why[1])})." if brief else staying_near(feature.name, *why)
        head = "Accumulated local effect (ALE)" if brief else head
        made = card(name, feature.name, effect, subtitle=head, sentences=sentences[:said], why=reason, **shape)
        return {**made, "note": "" if brief else made["note"]}, [effect]
    at = frequent(explainer, j, most) if many else None
    average = explainer.pdp(j, at=at)
    parts, shown = _with_curves(explainer, j, average, at)
    head, *sentences = average.findings()
    head, sentences = "Partial dependence (PDP)" if brief else head, sentences[:said]
    if many:
        sentences.append(f"Shown are the {most} most frequent of {feature.distinct:,} categories.")
    advice = _SEEN if len(parts) > 1 else None
    made = card(name, feature.name, shown, subtitle=head, sentences=sentences, advice=advice, **shape)
    return made, parts


def _small(feature: Feature) -> dict[str, Any]:
    """Options of a chart beside others: categories in lines of their own, without bars of how frequent they are."""
    if feature.nominal or feature.kind == "boolean":
        return {**_SMALL, "height": max(_HEIGHT, _LINE * min(feature.distinct, _FEW_LEVELS)), "distribution": None}
    return {**_SMALL, "height": _HEIGHT}


def _with_curves(explainer: Explainer, j: int, average: Effect, at: Any) -> tuple[list[Effect], Effect]:
    """The results used, and the average over all rows with the individual curves of some of them."""
    if len(average.output_names) > 1:
        return [average], average
    rows = explainer.data.spread(_CURVES).tolist()
    curves = explainer.ice(j, rows=rows, at=at)
    both = changed(curves, method="pdp", average=average.average, missing=average.missing, caveats=average.caveats)
    return [average, curves], both


def frequent(explainer: Explainer, j: int, most: int) -> list[Any]:
    """The most frequent categories of a feature, in their order."""
    feature = explainer.data.schema.features[j]
    codes = explainer.data.codes(j)
    counts = Counter(codes[~np.isnan(codes)].tolist())
    chosen = np.array(sorted(code for code, _ in counts.most_common(most)))
    return list(feature.decode(chosen))


def staying_near(name: str, partner: str, association: float) -> str:
    """Why accumulated local effects are shown."""
    related = f"{name} is correlated with {partner} (association {number(association)})"
    return f"{related}: accumulated local effects (ALE) stay near the data."
