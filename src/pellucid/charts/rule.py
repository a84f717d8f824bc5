"""Bars of rules: how the precision grows condition by condition; the more data the rule covers so far, the thicker."""

from __future__ import annotations

from collections import Counter
from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import rule_steps, theme
from pellucid.charts.attribution.entries import shortened
from pellucid.charts.layout import Row, data, layered, told, tooltips
from pellucid.charts.text import caveat_note
from pellucid.explanations.plot_options import RuleOptions
from pellucid.explanations.rule import Anchor, Rules
from pellucid.explanations.rule_words import marks, predicted
from pellucid.words import counted, percent

_BAR = 30.0  # pixels of a bar that covers everything; thickness goes with the square root, so that little stays visible
_THINNEST = 5.0
_BELOW = 5.0  # between a bar and its interval
_LINE = 15.0  # of text above a bar
_BASE = "#9A9A9A"
_BEWARE = "#B34700"  # dark enough to be read
_MOST = 110  # letters of a line
_LEGEND = 36  # letters of a name in the legend
_NO_CONDITION, _OTHERS = "no condition", "other features"


def rule_data(rules: list[Anchor]) -> list[Row]:
    """One row per rule and step: from which precision to which, and how much is covered after it."""
    rows: list[Row] = []
    shades = feature_colours(rules)
    for i, rule in enumerate(rules):
        said = ["base", *_conditions(rule)]
        start = 0.0
        for step, words in enumerate(said):
            precision = float(rule.running_precision[step])
            if not np.isfinite(precision):
                continue
            covered = float(rule.running_coverage[step])
            rows.append(
                {
                    "rule": i,
                    "step": step,
                    "condition": words,
                    "x": start,
                    "x2": precision,
                    "precision_text": percent(precision),
                    "coverage_text": percent(covered),
                    "thick": _thick(covered),
                    "feature": _NO_CONDITION if step == 0 else named(rule.players[step - 1], shades),
                }
            )
            start = precision
    return rows


def feature_colours(rules: list[Anchor]) -> dict[str, str]:
    """The colour of each feature, the same in every rule: those in most rules first, while there are colours."""
    often = Counter(_short(player) for rule in rules for player in rule.players)
    return {name: shade for (name, _), shade in zip(often.most_common(), theme.CATEGORIES, strict=False)}


def named(player: str, shades: dict[str, str]) -> str:
    """A feature as the legend names it: by its name, if it has a colour of its own."""
    return _short(player) if _short(player) in shades else _OTHERS


def _short(player: str) -> str:
    return shortened(player, _LEGEND)


def _legend(bars: list[Row], rules: list[Anchor]) -> alt.Color:
    """The colour channel of the pieces: one colour a feature."""
    shades = {_NO_CONDITION: _BASE, **feature_colours(rules), _OTHERS: theme.FAINT}
    shown = [name for name in shades if any(row["feature"] == name for row in bars)]
    scale = alt.Scale(domain=shown, range=[shades[name] for name in shown])
    columns = 2 if max(map(len, shown), default=0) > _LEGEND / 2 else 4
    legend = alt.Legend(title=None, orient="top", columns=columns, symbolType="square", offset=2)
    return alt.Color("feature", type="nominal", scale=scale, legend=legend)


def _conditions(rule: Anchor) -> list[str]:
    return [
        " AND ".join(condition.words for condition in rule.conditions if condition.player == player)
        for player in rule.players
    ]


def _heads(rules: list[Anchor], room: int) -> list[Row]:
    """The words above each bar; in colour what to beware of."""
    rows: list[Row] = []
    for i, rule in enumerate(rules):
        beware = " · ".join(marks(rule))
        name = [(f"row {rule.row_labels.name(0)}", theme.MUTED)] * (len(rules) > 1 and bool(rule.row_labels.of_row()))
        lines = [*name, *((words, theme.INK) for words in _words(rule, room)), *[(beware, _BEWARE)] * bool(beware)]
        rows += [{"rule": i, "line": k, "words": words, "shade": ink} for k, (words, ink) in enumerate(lines)]
    return rows


def _words(rule: Anchor, room: int) -> list[str]:
    """``IF a AND b`` and ``THEN PREDICT ...``, broken into lines."""
    parts = [condition.words for condition in rule.conditions]
    lines, line = [], "IF " + parts[0] if parts else ""
    for part in parts[1:]:
        if len(line) + len(part) + 5 > room:
            lines.append(line)
            line = "      AND " + part
        else:
            line += " AND " + part
    lines += [line] if line else []
    verb = "THEN PREDICT" if parts else "ALWAYS PREDICT"
    return [
        *lines,
        f"{verb} {predicted(rule)} · precision {percent(rule.precision)} · coverage {percent(rule.coverage)}",
    ]


def body(result: Anchor | Rules, options: RuleOptions) -> ChartType:
    """The Altair chart of one rule, a bar for each condition, or of several, a bar for each rule."""
    if isinstance(result, Anchor):
        width = options.width or theme.WIDTH
        chart = rule_steps.view(result, rule_data([result]), width, options.height)
        row = result.row_labels.of_row()
        what = f"What fixes the prediction{row}" if row else "What fixes this prediction"
        notes = [*rule_steps.notes(result), caveat_note(result)]
        return told(chart, result, options, what, notes, width + 150, finding=rule_steps.finding(result))
    return _of_several(result, options)


def _of_several(result: Rules, options: RuleOptions) -> ChartType:
    every = list(result.rules)
    rules = every[: options.max_display]
    width = options.width or 560.0
    room = int(min(_MOST, width / 6.8))
    heads = _heads(rules, room)
    tops, height = _places(rules, heads)
    stretch = 1.0 if options.height is None else options.height / height
    place: dict[str, Any] = {
        "type": "quantitative",
        "axis": None,
        "scale": alt.Scale(domain=[0, height], reverse=True, nice=False),
    }
    bars = rule_data(rules)
    for row in bars:
        middle = tops[row["rule"]] + _BAR / 2
        row["y"], row["y2"] = middle - row["thick"] / 2, middle + row["thick"] / 2
    for row in heads:
        row["y"] = (
            tops[row["rule"]]
            - _LINE * (sum(head["rule"] == row["rule"] for head in heads) - row["line"])
            + _LINE / 2
            - 3
        )
    x = alt.X(
        "x",
        type="quantitative",
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=alt.Axis(title="precision", format=".0%", tickCount=5, grid=False),
    )
    tips = tooltips(
        ("condition", "condition"), ("precision with it", "precision_text"), ("coverage with it", "coverage_text")
    )
    pieces = (
        alt.Chart(data(bars))
        .mark_rect(opacity=0.85)
        .encode(x=x, x2=alt.X2("x2"), y=alt.Y("y", **place), y2=alt.Y2("y2"), tooltip=tips, color=_legend(bars, rules))
    )
    text = (
        alt.Chart(data(heads))
        .mark_text(align="left", baseline="middle", fontSize=12)
        .encode(
            x=alt.value(0),
            y=alt.Y("y", **place),
            text=alt.Text("words", type="nominal"),
            color=alt.Color("shade", type="nominal", scale=None),
        )
    )
    chart = layered(pieces, *_ends(rules, tops, place), _goal(rules), text)
    chart = chart.resolve_scale(color="independent").properties(width=width, height=height * stretch)
    more = len(every) - len(rules)
    notes = [
        (
            "one piece for each condition, in the rule's order; thickness: how much of the data is covered; below:"
            " interval of the precision; dashed: required precision"
        ),
        f"{counted(more, 'more rule')} not shown" if more else "",
        caveat_note(result),
    ]
    return told(chart, result, options, "What fixes these predictions", notes, width)


def _places(rules: list[Anchor], heads: list[Row]) -> tuple[list[float], float]:
    """The top of each bar, and the height of the whole."""
    tops, at = [], 6.0
    for i in range(len(rules)):
        at += _LINE * sum(head["rule"] == i for head in heads)
        tops.append(at)
        at += _BAR + 12.0
    return tops, at


def _ends(rules: list[Anchor], tops: list[float], place: dict[str, Any]) -> list[alt.Chart]:
    """The interval of the final precision."""
    rows = [
        {
            "x": rule.interval[0],
            "x2": rule.interval[1],
            "y": tops[i] + _BAR / 2 + _thick(rule.coverage) / 2 + _BELOW,
            "text": f"{percent(rule.interval[0])} to {percent(rule.interval[1])}",
        }
        for i, rule in enumerate(rules)
    ]
    tips = tooltips(("interval of the precision", "text"))
    y = alt.Y("y", **place)
    line = alt.Chart(data(rows)).mark_rule(color=theme.INK, strokeWidth=1.5)
    ends = [alt.Chart(data(rows)).mark_tick(color=theme.INK, height=8, thickness=1.5, orient="vertical")] * 2
    return [
        line.encode(x=alt.X("x", type="quantitative"), x2=alt.X2("x2"), y=y, tooltip=tips),
        *(
            end.encode(x=alt.X(field, type="quantitative"), y=y, tooltip=tips)
            for end, field in zip(ends, ("x", "x2"), strict=True)
        ),
    ]


def _thick(covered: float) -> float:
    return max(_THINNEST, _BAR * covered**0.5)


def _goal(rules: list[Anchor]) -> alt.Chart:
    """Where the precision asked for lies."""
    wanted = float(rules[0].settings["precision"])
    rule = alt.Chart(data([{}])).mark_rule(color=theme.MUTED, strokeDash=[5, 4])
    return rule.encode(x=alt.XDatum(wanted))
