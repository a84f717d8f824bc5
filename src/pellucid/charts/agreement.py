"""One prediction in several ways: contributions, effects in the local model, and what each feature adds to the rule."""

from __future__ import annotations

import altair as alt
from altair.typing import ChartType

from pellucid.arrays import FloatArray
from pellucid.charts import theme
from pellucid.charts.attribution.entries import DOWN, UP, change, half_widths, short_names
from pellucid.charts.layout import Row, data, grid, layered, level_axis, limits_of, told, tooltips, value_axis
from pellucid.charts.local.bars import signed_bars
from pellucid.charts.marks import zero_line
from pellucid.charts.text import caveat_note, wrapped
from pellucid.explanations.agreement import Agreement, verdict
from pellucid.explanations.attribution import Attribution
from pellucid.explanations.attribution_words import labels_of, scale_of
from pellucid.explanations.plot_options import AgreementOptions
from pellucid.words import counted, number, percent

_STEP = 24.0
_PANEL = 190.0


def bar_data(one: Attribution, order: list[int], names: list[str]) -> list[Row]:
    """One bar for each feature shown: what one explanation gives it, with its 95% interval."""
    halves: FloatArray = half_widths(one)[0]
    rows: list[Row] = []
    for name, j in zip(names, order, strict=True):
        value, half = float(one.values[0, j]), float(halves[j])
        rows.append(
            {
                "feature": name,
                "value": value,
                "sort": UP if value >= 0 else DOWN,
                "low": value - half if half > 0 else None,
                "high": value + half if half > 0 else None,
                "label": change(value, one.scale, half),
            }
        )
    return rows


def rule_data(result: Agreement, order: list[int], names: list[str]) -> list[Row]:
    """What each feature of the rule adds to its precision, and its condition."""
    rule = result.rule
    if rule is None:
        return []
    said = {
        player: " AND ".join(item.words for item in rule.conditions if item.player == player) for player in rule.players
    }
    return [
        {
            "feature": name,
            "value": float(rule.values[j]),
            "condition": said[result.feature_names[j]],
            "label": f"{number(100 * float(rule.values[j]), sign=True)} percentage points",
        }
        for name, j in zip(names, order, strict=True)
        if result.feature_names[j] in said
    ]


def body(result: Agreement, options: AgreementOptions) -> ChartType:
    """Panels side by side over the same features."""
    order = result.order[: options.max_display]
    labels = labels_of(result.contributions, 0)
    names = short_names(labels[j] for j in order)
    height = options.height or max(40.0, _STEP * len(names))
    width = options.width or _PANEL
    ways: list[tuple[Attribution, str, str]] = [
        (result.contributions, "Shapley values", "contribution"),
        (result.local, "local model (LIME)", "effect"),
    ]
    views = [
        _bars(one, heading, what, bar_data(one, order, names), names, width, height, named=k == 0 or options.every_name)
        for k, (one, heading, what) in enumerate(ways)
    ]
    if result.rule is not None:
        views.append(_rule(rule_data(result, order, names), names, width, height, named=options.every_name))
    more = len(result.order) - len(order)
    notes = [
        f"cosine similarity {number(result.likeness)}: they {verdict(result.likeness)}",
        f"local R² {number(float(result.local.fidelity[0]))}",
        (
            ""
            if result.rule is None
            else f"rule: precision {percent(result.rule.precision)}, coverage {percent(result.rule.coverage)}"
        ),
        f"{counted(more, 'more feature')} not shown" if more > 0 else "",
        caveat_note(result),
    ]
    chart = grid(views, columns=len(views), column=14, one_legend=False)
    return told(chart, result, options, "The same prediction by several methods", notes, len(views) * width)


def _bars(
    one: Attribution,
    heading: str,
    what: str,
    rows: list[Row],
    names: list[str],
    width: float,
    height: float,
    *,
    named: bool,
) -> ChartType:
    ends = [row[end] for row in rows for end in ("value", "low", "high") if row[end] is not None]
    limits = limits_of(ends, zero=True)
    x = value_axis(f"{what}{scale_of(one)}", limits, width, scale=one.scale, change=True, tickCount=4)
    y = alt.Y("feature", **level_axis(None, names, height, labels=named, ticks=named))
    layers = signed_bars(rows, x, y, tooltips(("", "feature"), (what, "label")), limits)
    return _headed(layered(*layers), heading, width, height)


def _rule(rows: list[Row], names: list[str], width: float, height: float, *, named: bool) -> ChartType:
    limits = limits_of([row["value"] for row in rows], zero=True)
    x = value_axis("adds to precision", limits, width, tickCount=4, format="%")
    y = alt.Y("feature", **level_axis(None, names, height, labels=named, ticks=named))
    bars = alt.Chart(data(rows)).mark_bar(color=theme.CATEGORIES[2], opacity=0.85)
    tips = tooltips(("", "condition"), ("adds", "label"))
    layers = [bars.encode(x=alt.X("value", **x), x2=alt.X2Datum(0), y=y, tooltip=tips), *zero_line(limits, True, "x")]
    return _headed(layered(*layers), "rule (anchor)", width, height)


def _headed(view: ChartType, what: str, width: float, height: float) -> ChartType:
    title = alt.TitleParams(wrapped(what, width, 12), fontSize=12, fontWeight="normal")
    return view.properties(width=width, height=height, title=title)
