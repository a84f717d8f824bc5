"""A line with its band: the effect of one numeric or date feature.

The band is the 95% interval. Where few rows support the line it is dashed. What happens at missing values stands
apart, at the right.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import AnyArray, FloatArray
from pellucid.charts import theme
from pellucid.charts.effect.distribution import lower_views
from pellucid.charts.effect.log_axis import log_axes
from pellucid.charts.layout import (
    Limits,
    Row,
    assemble,
    bounds,
    data,
    feature_axis,
    layered,
    limits_of,
    positions,
    span,
    tooltips,
    value_axis,
)
from pellucid.charts.marks import dash, output_colour, output_tip, zero_line
from pellucid.charts.text import brief, is_change, rows_text, shown, value_title
from pellucid.explanations import AtMissing, Effect
from pellucid.explanations.plot_options import EffectOptions
from pellucid.stats import interval
from pellucid.words import percent, value_name

_WIDER = 1.5  # how far a value at missing may stretch the axis


def curve_data(effect: Effect) -> list[Row]:
    """One row per output and grid point, in increasing order of the feature.

    ``value``, ``low`` and ``high`` are null where unknown; ``few`` says whether few rows support the line from
    this point to the next.
    """
    x = positions(effect.grids[0])
    order = np.argsort(x, kind="stable")
    support = segment_counts(effect)
    few = np.append(support < few_rows(support), False)
    near = point_counts(effect)
    rows: list[Row] = []
    for k, output in enumerate(effect.output_names):
        for place, i in enumerate(order):
            row: Row = {"output": output, "x": float(x[i]), "x_text": value_name(effect.grids[0][i])}
            if effect.ranges is not None:
                row |= _range_row(effect.ranges[i])
            row |= average_row(effect, int(i), k)
            rows.append(row | {"few": bool(few[place]), "rows_text": rows_text(float(near[place]))})
    return rows


def _range_row(ends: AnyArray) -> Row:
    """The values that a point is the mean of."""
    start, stop = positions(ends)
    return {"from": float(start), "to": float(stop), "x_text": " to ".join(value_name(end) for end in ends)}


def average_row(effect: Effect, i: int, k: int) -> Row:
    """The average at a grid point; of individual results its interval is not known."""
    value = effect.stacked("average")[i, k]
    low, high = (np.nan if effect.individual else effect.stacked(end)[i, k] for end in ("low", "high"))
    return interval_row(value, low, high, effect.scale, is_change(effect))


def interval_row(value: float, low: float, high: float, scale: str, change: bool) -> Row:
    """An estimate with its 95% interval, in numbers and in words."""
    value, low, high = float(value), float(low), float(high)
    least, most = bounds(scale, change=change) or (-np.inf, np.inf)
    low, high = max(low, min(value, least)), min(high, max(value, most))
    known = bool(np.isfinite(low) and np.isfinite(high))
    return {
        "value": value if np.isfinite(value) else None,
        "low": low if known else None,
        "high": high if known else None,
        "value_text": shown(value, scale, change=change),
        "interval_text": (
            f"{shown(low, scale, change=change)} to {shown(high, scale, change=change)}" if known else "unknown"
        ),
    }


def segment_counts(effect: Effect) -> FloatArray:
    """Rows that support the line between each two neighbouring grid points, in increasing order."""
    order = np.argsort(positions(effect.grids[0]), kind="stable")
    if len(effect.counts) != len(order):  # ALE: one count per interval
        return np.asarray(effect.counts, dtype=np.float64)
    at = effect.counts[order].astype(np.float64)
    return np.asarray((at[1:] + at[:-1]) / 2)


def point_counts(effect: Effect) -> FloatArray:
    """Rows nearest to each grid point, or for ALE in the intervals on both sides of it, in increasing order."""
    order = np.argsort(positions(effect.grids[0]), kind="stable")
    if len(effect.counts) == len(order):
        return np.asarray(effect.counts[order], dtype=np.float64)
    return np.append(effect.counts, 0.0) + np.append(0.0, effect.counts)


def few_rows(support: FloatArray) -> float:
    """Below how many rows a stretch counts as poorly supported: 5, or a quarter of the mean if that is less."""
    return min(5.0, float(support.mean()) / 4) if support.size else 0.0


def line_data(rows: list[Row]) -> list[Row]:
    """The rows cut into stretches (``run``) that are drawn in one stroke: no gaps, all solid or all dashed."""
    pieces: list[Row] = []
    run = 0
    for first, second in pairwise(rows):
        joined = first["output"] == second["output"] and None not in (first["value"], second["value"])
        if not joined:
            run += 1
            continue
        last = pieces[-1] if pieces else None
        if last is None or last["run"] != run or last["few"] != first["few"]:
            run += 1
            pieces.append({**_line_point(first), "run": run, "few": first["few"]})
        pieces.append({**_line_point(second), "run": run, "few": first["few"]})
    return pieces


def band_data(rows: list[Row]) -> list[Row]:
    """Points of the band, with a new ``run`` after every gap."""
    pieces: list[Row] = []
    run = 0
    for row in rows:
        if row["low"] is None:
            run += 1
        else:
            pieces.append({"output": row["output"], "x": row["x"], "low": row["low"], "high": row["high"], "run": run})
    return pieces


def curve_limits(effect: Effect) -> Limits:
    """Value limits of a curve: its band, its value at missing if that is near, and zero when values are changes."""
    known = not effect.individual
    parts = [effect.average, *(_within(effect, effect.average, effect.low, effect.high) if known else ())]
    return limits_with_missing(effect, parts)


def limits_with_missing(effect: Effect, parts: list[FloatArray]) -> Limits:
    """Limits of what is drawn; a value at missing may widen them by half, beyond that it stands at the edge.

    Among levels missing is one of them.
    """
    change = is_change(effect)
    within = bounds(effect.scale, change=change)
    limits = limits_of(*parts, zero=change, within=within)
    if effect.missing is None:
        return limits
    apart = [effect.missing.values, *_within(effect, effect.missing.values, *_missing_ends(effect.missing))]
    wider = limits_of(*parts, *apart, zero=change, within=within)
    near = wider[1] - wider[0] <= _WIDER * (limits[1] - limits[0])
    return wider if near or effect.nominal[0] else limits


def _share(effect: Effect) -> str:
    return "" if effect.missing is None else f"({percent(effect.missing.share)})"


def missing_data(effect: Effect) -> list[Row]:
    """One row per output with the effect where the feature is missing; none if it never is."""
    if effect.missing is None:
        return []
    values, low, high = map(np.atleast_1d, (effect.missing.values, *_missing_ends(effect.missing)))
    return [
        {"output": output, "label": f"missing {_share(effect)}"}
        | interval_row(values[k], low[k], high[k], effect.scale, is_change(effect))
        for k, output in enumerate(effect.output_names)
    ]


def draw_curve(effect: Effect, options: EffectOptions, limits: Limits | None = None) -> ChartType:
    """The chart without its title."""
    width, height = options.width or theme.WIDTH, options.height or theme.HEIGHT
    limits = limits or curve_limits(effect)
    ends = effect.grids[0] if effect.ranges is None else effect.ranges.ravel()
    x_limits = span(positions(ends), positions(effect.rug[0]), effect.kinds[0])
    below, rug = lower_views(effect, options, x_limits, effect.output_names)
    (log,) = log_axes(effect, options)
    x = feature_axis(effect.feature_names[0], effect.kinds[0], x_limits, width, labels=not below, log=log)
    y = value_axis(value_title(effect), limits, height, scale=effect.scale, change=is_change(effect))
    layers = [*zero_line(limits, is_change(effect)), *curve_layers(curve_data(effect), effect, x, y, options), *rug]
    main = layered(*layers).properties(width=width, height=height)
    return assemble(
        main, missing_view(missing_data(effect), effect, limits, options, output_colour(effect, options)), below
    )


def curve_layers(rows: list[Row], effect: Effect, x: Any, y: Any, options: EffectOptions) -> list[alt.Chart]:
    """Band, line and points of curves, coloured by output if there are several."""
    colour = output_colour(effect, options)
    across, up = alt.X("x", **x), alt.Y("value", **y)
    tips = tooltips(
        (effect.feature_names[0], "x_text"),
        *output_tip(effect),
        ("effect", "value_text"),
        ("95% interval", "interval_text"),
        ("data nearby", "rows_text"),
    )
    alone = isolated(rows)
    seen = rows if len(rows) <= 12 * len(effect.output_names) else alone
    band = alt.Chart(data(band_data(rows))).mark_area(opacity=1, fillOpacity=0.2)
    line = alt.Chart(data(line_data(rows))).mark_line(strokeWidth=2)
    rule = alt.Chart(data([row for row in alone if row["low"] is not None])).mark_rule(strokeWidth=2)
    dots = alt.Chart(data(_known(seen))).mark_point(filled=True, size=36, opacity=1)
    target = alt.Chart(data(_known(rows))).mark_point(filled=True, size=80, opacity=0)  # for the tooltips
    bins = alt.Chart(data(_known(rows))).mark_rule(strokeWidth=5, opacity=0.55)
    wide = [bins.encode(x=alt.X("from", **x), x2="to", y=up, color=colour)] if effect.ranges is not None else []
    return [
        *wide,
        band.encode(x=across, y=alt.Y("low", **y), y2=alt.Y2("high"), color=colour, detail=alt.Detail("run:N")),
        line.encode(x=across, y=up, color=colour, detail=alt.Detail("run:N"), strokeDash=dash()),
        rule.encode(x=across, y=alt.Y("low", **y), y2=alt.Y2("high"), color=colour),
        dots.encode(x=across, y=up, color=colour),
        target.encode(x=across, y=up, tooltip=tips),
    ]


def isolated(rows: list[Row]) -> list[Row]:
    """Points that no line reaches, because their neighbours are unknown or there are none."""
    joined = {(row["output"], row["x"]) for row in line_data(rows)}
    return [row for row in _known(rows) if (row["output"], row["x"]) not in joined]


def curve_notes(effect: Effect) -> list[str]:
    """What the reader has to know about the line."""
    if not np.isfinite(effect.average).any():
        return ["no value is known"]
    support = segment_counts(effect)
    few = bool((support < few_rows(support)).any())
    notes = ["dashed: few rows of data nearby"] if few else []
    return notes if effect.ranges is None else ["bars: the range of values that each mean is over", *notes]


def missing_view(
    rows: list[Row], effect: Effect, limits: Limits, options: EffectOptions, colour: Any
) -> ChartType | None:
    """The effect at missing as a narrow view with the value axis of the main one; None without rows."""
    if not rows:
        return None
    height = options.height or theme.HEIGHT
    title = ["missing", _share(effect)]
    x = alt.X("label", type="nominal", axis=alt.Axis(title=title, labels=False, ticks=False, titlePadding=6))
    y = value_axis(None, limits, height, labels=False, ticks=False, domain=False)
    tips = tooltips(*output_tip(effect), ("effect at missing", "value_text"), ("95% interval", "interval_text"))

    def marks(some: list[Row]) -> Any:
        return alt.Chart(data(some)).encode(x=x, color=colour, tooltip=tips)

    inside = [row for row in rows if row["value"] is not None and limits[0] <= row["value"] <= limits[1]]
    layers = [
        marks(inside).mark_rule(strokeWidth=2, clip=True).encode(y=alt.Y("low", **y), y2=alt.Y2("high")),
        marks(inside).mark_point(filled=True, size=60, opacity=1).encode(y=alt.Y("value", **y)),
    ]
    for edge, shape, shift in ((1, "triangle-up", 13), (0, "triangle-down", -13)):
        far = [row for row in rows if row["value"] is not None and (row["value"] - limits[edge]) * shift > 0]
        if far:
            place = alt.YDatum(limits[edge], **y)
            words = alt.Text("label", type="nominal")
            far = [row | {"label": brief(row["value"], effect.scale, change=is_change(effect))} for row in far]
            layers.append(marks(far).mark_point(filled=True, size=70, opacity=1, shape=shape).encode(y=place))
            layers.append(marks(far).mark_text(dy=shift, fontSize=11).encode(y=place, text=words))
    return layered(*zero_line(limits, is_change(effect)), *layers).properties(width=52, height=height)


def _missing_ends(missing: AtMissing) -> tuple[FloatArray, FloatArray]:
    with np.errstate(invalid="ignore"):  # log-odds may be infinite
        return interval(missing.values, missing.se)


def _within(effect: Effect, values: FloatArray, low: FloatArray, high: FloatArray) -> list[FloatArray]:
    least, most = bounds(effect.scale, change=is_change(effect)) or (-np.inf, np.inf)
    return [np.fmax(low, np.fmin(values, least)), np.fmin(high, np.fmax(values, most))]


def _line_point(row: Row) -> Row:
    return {"output": row["output"], "x": row["x"], "value": row["value"]}


def _known(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["value"] is not None]
