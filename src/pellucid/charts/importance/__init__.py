"""Bars: how much the model relies on each feature, and two results compared."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import AnyArray, FloatArray
from pellucid.charts import theme
from pellucid.charts.layout import (
    Limits,
    Row,
    by_output,
    data,
    layered,
    level_axis,
    limits_of,
    plain,
    told,
    tooltips,
    value_axis,
)
from pellucid.charts.text import caveat_note, level_names
from pellucid.errors import InputError
from pellucid.explanations import Importance
from pellucid.explanations.plot_options import ImportanceOptions
from pellucid.words import counted, number

_COLUMNS = 4  # outputs side by side
_SIGNIFICANT = 0.05
_ROOM = 0.18  # of the axis, for p-values beside the bars
Sets = list[tuple[str, Importance]]  # results to draw with the name of the data each comes from


def importance_data(
    importance: Importance, max_display: int = 20, *, label: str = "", names: list[str] | None = None
) -> list[Row]:
    """One row per output and feature shown, most important first; ``names`` fixes which features and their order."""
    names = importance.top(max_display) if names is None else names
    wanted = dict(zip(names, level_names(names), strict=True))
    rows: list[Row] = []
    for k, output in enumerate(importance.output_names if importance.values.ndim == 2 else importance.output_names[:1]):
        for name, shown in wanted.items():
            if name not in importance.feature_names:
                continue
            j = importance.feature_names.index(name)
            value, low, high = plain([_of(part, k)[j] for part in (importance.values, importance.low, importance.high)])
            known = low is not None and high is not None
            rows.append(
                {
                    "set": label,
                    "output": output,
                    "feature": shown,
                    "value": value,
                    "low": low if known else None,
                    "high": high if known else None,
                    "neutral": importance.neutral,
                    "value_text": number(np.nan if value is None else value),
                    "interval_text": f"{number(low)} to {number(high)}" if known else "unknown",
                    "members_text": _members(importance, j),
                    **_more(importance, j, k),
                }
            )
    return rows


def _more(importance: Importance, j: int, k: int) -> Row:
    """The part of a feature alone and its p-value, where they are known."""
    row: Row = {}
    if importance.first is not None:
        (alone,) = plain([_of(importance.first, k)[j]])
        row |= {"first": alone, "first_text": number(np.nan if alone is None else alone)}
    if importance.p_values is not None:
        p = float(_of(importance.p_values, k)[j] if importance.p_values.ndim == 2 else importance.p_values[j])
        dots = _of_repeats(importance, k)[j] if importance.folds else []
        end = np.nanmax([_of(importance.high, k)[j], _of(importance.values, k)[j], importance.neutral, *dots])
        row |= {"p_text": f"p = {number(p)}", "chance": bool(not p < _SIGNIFICANT), "end": float(end)}
    return row


def repeat_data(importance: Importance, label: str, names: list[str]) -> list[Row]:
    """One row per output, feature shown and repetition."""
    wanted = dict(zip(names, level_names(names), strict=True))
    outputs = importance.output_names if importance.values.ndim == 2 else importance.output_names[:1]
    return [
        {
            "set": label,
            "output": output,
            "feature": wanted[name],
            "value": float(value),
            "value_text": number(float(value)),
        }
        for k, output in enumerate(outputs)
        for j, name in enumerate(importance.feature_names)
        if name in wanted
        for value in _of_repeats(importance, k)[j]
        if np.isfinite(value)
    ]


def body(importance: Importance, options: ImportanceOptions) -> ChartType:
    """The Altair chart of an importance."""
    sets = _sets(importance, options)
    names = _names(sets, options.max_display)
    outputs = list(importance.output_names) if importance.values.ndim == 2 else [importance.output_names[0]]
    limits = _limits(sets, names)
    wide = options.width or (theme.WIDTH - 60 if len(outputs) == 1 else 200.0)
    views = [
        _view(sets, names, output, limits, (wide, options.height), labels=i % _COLUMNS == 0)
        for i, output in enumerate(outputs)
    ]
    chart = by_output(views, outputs, columns=_COLUMNS, column=16)
    grouped = any(len(members) > 1 for members in importance.members)
    what = f"{'Group' if grouped else 'Feature'} importance"
    return told(chart, importance, options, what, _notes(importance, sets, names), wide + 150)


def _sets(importance: Importance, options: ImportanceOptions) -> Sets:
    other = options.against
    if other is None:
        return [("", importance)]
    if not isinstance(other, Importance):
        raise InputError("against= takes the result of another importance().")
    for field in ("measure", "compare", "output_names"):
        if getattr(other, field) != getattr(importance, field):
            raise InputError(
                f"against= has {field} {getattr(other, field)!r}, this result {getattr(importance, field)!r}; compare"
                " like with like."
            )
    return [(options.labels[0], importance), (options.labels[1], other)]


def _names(sets: Sets, most: int) -> list[str]:
    """Features shown: the most important of the first result, then those only the second has."""
    ranked = [name for _, result in sets for name in result.top(len(result.feature_names))]
    return list(dict.fromkeys(ranked))[:most]


def _view(
    sets: Sets, names: list[str], output: str, limits: Limits, size: tuple[float, float | None], *, labels: bool
) -> ChartType:
    step = 22.0 if len(sets) == 1 else 38.0
    width, height = size[0], size[1] or max(40.0, step * len(names))
    first = sets[0][1]
    side: dict[str, Any] = {} if labels else {"labels": False, "ticks": False}
    y = alt.Y("feature", **level_axis(None, level_names(names), height, **side))
    x = value_axis(_value_title(first), limits, width)
    rows = [
        row
        for label, result in sets
        for row in importance_data(result, label=label, names=names)
        if row["output"] == output
    ]
    neutral = alt.Chart(data([{}])).mark_rule(color=theme.MUTED).encode(x=alt.XDatum(first.neutral))
    layers = (
        _bars(rows, first, x, y, _fold_dots(first, names, output))
        if len(sets) == 1
        else _points(sets, rows, names, output, x, y)
    )
    return layered(*layers, neutral).properties(width=width, height=height)


def _fold_dots(importance: Importance, names: list[str], output: str) -> list[Row]:
    """The values of single folds, where models were fitted to folds."""
    found = repeat_data(importance, "", names) if importance.folds else []
    return [row for row in found if row["output"] == output]


def _bars(rows: list[Row], importance: Importance, x: Any, y: alt.Y, dots: list[Row]) -> list[alt.Chart]:
    tips = _tips(importance, [])
    known = alt.Chart(data([row for row in rows if row["value"] is not None])).encode(y=y, tooltip=tips)
    sure = alt.Chart(data([row for row in rows if row["low"] is not None])).encode(y=y, tooltip=tips)
    pale = 0.75 if importance.first is None else 0.35
    layers = [
        known.mark_bar(color=theme.MAIN).encode(
            x=alt.X("value", **x), x2=alt.X2("neutral"), opacity=_opacity(importance, pale)
        )
    ]
    if importance.first is not None:
        alone = alt.Chart(data([row for row in rows if row["first"] is not None])).encode(y=y, tooltip=tips)
        layers.append(
            alone.mark_bar(color=theme.MAIN, opacity=0.9, height={"band": 0.45}).encode(
                x=alt.X("first", **x), x2="neutral"
            )
        )
    layers.append(sure.mark_rule(color=theme.INK, strokeWidth=1.5).encode(x=alt.X("low", **x), x2=alt.X2("high")))
    if dots:
        single = alt.Chart(data(dots)).mark_point(filled=True, size=16, color=theme.INK, opacity=0.55)
        layers.append(single.encode(y=y, x=alt.X("value", **x), tooltip=tooltips(("one fold", "value_text"))))
    if importance.p_values is not None:
        tested = alt.Chart(data(rows)).mark_text(align="left", dx=5, fontSize=11, color=theme.MUTED)
        layers.append(tested.encode(y=y, x=alt.X("end", **x), text=alt.Text("p_text", type="nominal"), tooltip=tips))
    return layers


def _opacity(importance: Importance, usual: float) -> Any:
    """Bars that may be chance are pale."""
    if importance.p_values is None:
        return alt.OpacityValue(usual)
    return alt.Opacity(
        "chance", type="nominal", scale=alt.Scale(domain=[False, True], range=[usual, 0.25]), legend=None
    )


def _points(sets: Sets, rows: list[Row], names: list[str], output: str, x: Any, y: alt.Y) -> list[alt.Chart]:
    labels = [label for label, _ in sets]
    colour = alt.Color(
        "set",
        type="nominal",
        scale=alt.Scale(domain=labels, range=[theme.MAIN, theme.SECOND]),
        legend=alt.Legend(title=None),
    )
    beside = alt.YOffset("set", type="nominal", sort=labels)
    tips = _tips(sets[0][1], [("data", "set")])
    repeats = [row for label, result in sets for row in repeat_data(result, label, names) if row["output"] == output]
    place: dict[str, Any] = {"y": y, "yOffset": beside, "color": colour}
    sure = alt.Chart(data([row for row in rows if row["low"] is not None])).encode(**place, tooltip=tips)
    known = alt.Chart(data([row for row in rows if row["value"] is not None])).encode(**place, tooltip=tips)
    single = alt.Chart(data(repeats)).encode(
        **place, tooltip=tooltips(("data", "set"), ("one repetition", "value_text"))
    )
    return [
        sure.mark_bar(size=8, opacity=0.3).encode(x=alt.X("low", **x), x2=alt.X2("high")),
        single.mark_point(filled=True, size=14, opacity=0.6).encode(x=alt.X("value", **x)),
        known.mark_tick(thickness=3, size=14).encode(x=alt.X("value", **x)),
    ]


def _tips(importance: Importance, more: list[tuple[str, str]]) -> list[alt.Tooltip]:
    pairs = [("feature", "feature"), *more, ("importance", "value_text"), ("95% interval", "interval_text")]
    pairs += [("alone", "first_text")] if importance.first is not None and not more else []
    pairs += [("test", "p_text")] if importance.p_values is not None and not more else []
    return tooltips(*pairs, *([("consists of", "members_text")] if importance.members else []))


def _value_title(importance: Importance) -> str:
    return importance.measured if importance.compares_losses else f"importance: {importance.measure}"


def _notes(importance: Importance, sets: Sets, names: list[str]) -> list[str]:
    more = len({name for _, result in sets for name in result.feature_names}) - len(names)
    ways = {result.way for _, result in sets}
    notes = [f"by {importance.way}"] if importance.way and len(ways) == 1 else []
    notes += [f"{counted(more, 'more feature')} not shown"] if more else []
    if importance.folds and len(sets) == 1:
        notes.append("dots: single folds")
    if importance.first is not None and len(sets) == 1:
        notes.append("dark: the feature alone, pale: with its interactions")
    if importance.p_values is not None and len(sets) == 1:
        notes.append(f"faint: may be chance (p of {_SIGNIFICANT} or more)")
    if len(sets) == 2:
        notes.append("line: mean; dots: repetitions; bar: 95% interval")
    return ["; ".join(notes), caveat_note(importance)]


def _limits(sets: Sets, names: list[str]) -> Limits:
    parts: list[FloatArray] = []
    for label, result in sets:
        kept = [j for j, name in enumerate(result.feature_names) if name in names]
        parts += [part[kept] for part in (result.values, result.low, result.high)]
        if label or result.folds:
            parts.append(result.repeats[kept])
        if not label and result.first is not None:
            parts.append(result.first[kept])
    low, high = limits_of(*parts, [sets[0][1].neutral])
    tested = len(sets) == 1 and sets[0][1].p_values is not None
    return low, high + _ROOM * (high - low) if tested else high


def _members(importance: Importance, j: int) -> str:
    return ", ".join(importance.members[j]) if importance.members else ""


def _of(part: FloatArray, k: int) -> FloatArray:
    return part if part.ndim == 1 else part[:, k]


def _of_repeats(importance: Importance, k: int) -> AnyArray:
    return importance.repeats if importance.repeats.ndim == 2 else importance.repeats[..., k]
