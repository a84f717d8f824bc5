"""Influence: the most influential training rows as bars, and where they lie by leverage and residual."""

from __future__ import annotations

import altair as alt
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.influence.bars import bars
from pellucid.charts.influence.places import checked, leverage
from pellucid.charts.influence.view import View, view
from pellucid.charts.layout import concat, titled
from pellucid.charts.text import caveat_note
from pellucid.errors import InputError
from pellucid.explanations import Influence
from pellucid.explanations.plot_options import InfluenceOptions


def body(found: Influence, options: InfluenceOptions) -> ChartType:
    """The Altair chart of influence."""
    shown = view(found, options)
    known = shown_kinds(found)
    if options.kind not in ("auto", *known):
        raise InputError(f"kind must be one of {', '.join(['auto', *known])} for this result, got {options.kind!r}.")
    title = options.title or found.headline().removesuffix(".")
    width = options.width or theme.WIDTH
    if options.kind == "auto" and "leverage" in known:
        both = [_named(bars(shown, options), shown.title), _named(leverage(shown, options), "Leverage and residual")]
        return titled(concat(*both, columns=2, spacing=40), title, [caveat_note(found)], 2 * width)
    draw = {"auto": bars, "bar": bars, "leverage": leverage, "checked": checked}[options.kind]
    return titled(draw(shown, options), title, [caveat_note(found)], width)


def shown_kinds(found: Influence) -> list[str]:
    """The charts that this result has."""
    n = len(found)
    placed = len(found.residual) == n and len(found.leverage) == n
    return ["bar", *(["leverage"] if placed else []), *(["checked"] if len(found.checked.units) else [])]


def _named(chart: ChartType, title: str) -> ChartType:
    return chart.properties(title=alt.TitleParams([title], fontSize=13))


__all__ = ["View", "body", "shown_kinds"]
