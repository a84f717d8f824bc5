"""Effects of the same feature in one axis: PDP, M-plot and ALE, or several models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import FloatArray
from pellucid.charts import layout, theme
from pellucid.charts.effect.distribution import histogram_data, histogram_view
from pellucid.charts.effect.levels import extents
from pellucid.charts.effect.log_axis import log_axes
from pellucid.charts.effect.side_by_side import check_effects
from pellucid.charts.marks import zero_line
from pellucid.charts.text import level_names, scale_words, shown
from pellucid.errors import InputError
from pellucid.explanations import Effect
from pellucid.explanations.effect import TITLES
from pellucid.explanations.plot_options import PanelOptions
from pellucid.words import value_name


def centred(effect: Effect) -> FloatArray:
    """The average curve ``(grid, outputs)`` minus its mean over the data."""
    curve = effect.stacked("average")
    return np.asarray(curve - _mean_over_data(effect, curve))


def overlay_data(effects: list[Effect], labels: list[str]) -> list[layout.Row]:
    """One row per curve, output and grid point, centred, in increasing order of the feature."""
    rows: list[layout.Row] = []
    for label, effect in zip(labels, effects, strict=True):
        curve, nominal = centred(effect), effect.nominal[0]
        names = level_names(effect.grids[0]) if nominal else []
        x = np.arange(len(names)) if nominal else layout.positions(effect.grids[0])
        for k, output in enumerate(effect.output_names):
            for i in np.argsort(x, kind="stable"):
                if not np.isfinite(curve[i, k]):
                    continue
                place = (
                    {"level": names[i], "x_text": names[i]}
                    if nominal
                    else {"x": float(x[i]), "x_text": value_name(effect.grids[0][i])}
                )
                text = shown(curve[i, k], effect.scale, change=True)
                rows.append(
                    {"curve": label, "output": output, **place, "value": float(curve[i, k]), "value_text": text}
                )
    return rows


def body(effects: list[Effect], columns: int, options: PanelOptions) -> ChartType:
    """The Altair chart of an overlay; several outputs get a view each."""
    check_effects(effects)
    _check_same_feature(effects)
    labels = curve_labels(effects, options.labels)
    rows = overlay_data(effects, labels)
    limits = layout.limits_of([row["value"] for row in rows], zero=True)
    first = effects[0]
    draw = _levels_view if first.nominal[0] else _curves_view
    views = [
        draw([row for row in rows if row["output"] == output], effects, labels, limits, options)
        for output in first.output_names
    ]
    chart = layout.by_output(views, first.output_names, columns=columns)
    title = options.title or f"Effects of {first.feature_names[0]} compared"
    return layout.titled(
        chart, title, ["every curve is centred at its mean over the data"], options.width or theme.WIDTH
    )


def curve_labels(effects: list[Effect], given: Sequence[str] | None) -> list[str]:
    """Names of the curves: as given, or their methods."""
    if given is None:
        return level_names(TITLES[effect.method] for effect in effects)
    if isinstance(given, str) or len(given) != len(effects) or len(set(given)) != len(given):
        raise InputError(f"labels={given!r}: give {len(effects)} different names, one for each effect.")
    return [str(label) for label in given]


def _mean_over_data(effect: Effect, curve: FloatArray) -> FloatArray:
    """Per output the mean of the curve at the values of the data; over the grid if they are not known."""
    if effect.nominal[0]:
        weights = effect.counts if len(effect.counts) == len(curve) and effect.counts.sum() > 0 else np.ones(len(curve))
        known = np.where(np.isfinite(curve), weights[:, None], 0.0)
        return np.asarray(
            np.nansum(np.where(known > 0, curve, 0.0) * known, axis=0) / np.maximum(known.sum(axis=0), 1e-300)
        )
    x = layout.positions(effect.grids[0])
    at = layout.positions(effect.rug[0])
    at = at[(at >= x.min()) & (at <= x.max())]
    at = x if at.size == 0 else at
    order = np.argsort(x, kind="stable")
    means = []
    for values in curve[order].T:
        known = np.isfinite(values)
        means.append(float(np.interp(at, x[order][known], values[known]).mean()) if known.any() else 0.0)
    return np.array(means)


def _check_same_feature(effects: list[Effect]) -> None:
    first = effects[0]
    for effect in effects:
        if effect.feature_names != first.feature_names or effect.nominal != first.nominal:
            raise InputError(
                f"an overlay compares effects of one feature, not of {first.feature_names[0]!r} and"
                f" {effect.feature_names[0]!r}; use overlay=False."
            )
        if effect.derivative != first.derivative:
            raise InputError("slopes and effects do not share an axis; overlay one kind at a time.")


def _colour(labels: list[str]) -> alt.Color:
    scale = alt.Scale(domain=labels, **theme.category_range(len(labels)))
    return alt.Color("curve", type="nominal", scale=scale, legend=alt.Legend(title=None, orient="top", columns=3))


def _tips(effect: Effect) -> list[alt.Tooltip]:
    return layout.tooltips((effect.feature_names[0], "x_text"), ("curve", "curve"), ("centred effect", "value_text"))


def _title(effect: Effect) -> str:
    return f"{'slope' if effect.derivative else 'effect on the prediction'}, centred{scale_words(effect)}"


def _curves_view(
    rows: list[layout.Row], effects: list[Effect], labels: list[str], limits: layout.Limits, options: PanelOptions
) -> ChartType:
    first = effects[0]
    width, height = options.width or theme.WIDTH, options.height or theme.HEIGHT
    grids = np.concatenate([layout.positions(effect.grids[0]) for effect in effects])
    x_limits = (float(grids.min()), float(grids.max())) if np.ptp(grids) > 0 else layout.limits_of(grids)
    (log,) = log_axes(first, options)
    bars = histogram_data(first, x_limits, log=log) if options.distribution == "histogram" else []
    place = layout.feature_axis(first.feature_names[0], first.kinds[0], x_limits, width, labels=not bars, log=log)
    x = alt.X("x", **place)
    y = alt.Y("value", **layout.value_axis(_title(first), limits, height, scale=first.scale, change=True))
    base = alt.Chart(layout.data(rows)).encode(x=x, y=y, color=_colour(labels))
    main = layout.layered(
        *zero_line(limits, True),
        base.mark_line(strokeWidth=2.2),
        base.mark_point(filled=True, opacity=0).encode(tooltip=_tips(first)),
    ).properties(width=width, height=height)
    return layout.assemble(main, None, [histogram_view(bars, first, x_limits, width, log=log)] if bars else [])


def _levels_view(
    rows: list[layout.Row], effects: list[Effect], labels: list[str], limits: layout.Limits, options: PanelOptions
) -> ChartType:
    first = effects[0]
    names = level_names(first.grids[0])
    height, width = extents(len(names), len(effects), options, upright=False)
    place: dict[str, Any] = {
        "y": alt.Y("level", **layout.level_axis(first.feature_names[0], names, height)),
        "yOffset": alt.YOffset("curve", type="nominal", sort=labels),
        "x": alt.X("value", **layout.value_axis(_title(first), limits, width, scale=first.scale, change=True)),
    }
    dots = alt.Chart(layout.data(rows)).mark_point(filled=True, size=60, opacity=1)
    encoded = dots.encode(**place, color=_colour(labels), tooltip=_tips(first))
    return layout.layered(*zero_line(limits, True, "x"), encoded).properties(width=width, height=height)
