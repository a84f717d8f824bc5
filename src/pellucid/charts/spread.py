"""The standard deviation of the slopes along the feature: high where rows react differently."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.marks import output_colour, output_tip
from pellucid.charts.scales import Limits, Row, data, feature_axis, number_format, positions, tooltips
from pellucid.explanations import Effect
from pellucid.explanations.plot_options import EffectOptions
from pellucid.words import number, value_name


def spread_data(effect: Effect, outputs: Sequence[str]) -> list[Row]:
    """One row per output and grid point whose spread is known, in increasing order of the feature."""
    x = positions(effect.grids[0])
    order = np.argsort(x, kind="stable")
    return [
        {
            "output": output,
            "x": float(x[i]),
            "value": float(spread),
            "x_text": value_name(effect.grids[0][i]),
            "value_text": number(float(spread)),
        }
        for output in outputs
        for i in order
        if np.isfinite(spread := effect.stacked("spread")[i, effect.output_names.index(output)])
    ]


def spread_view(
    effect: Effect, outputs: Sequence[str], limits: Limits, options: EffectOptions, *, labels: bool
) -> ChartType:
    """A low chart for below the slopes; ``labels`` says whether it carries the feature axis."""
    rows = spread_data(effect, outputs)
    width = options.width or theme.WIDTH
    top = max([row["value"] for row in rows], default=0.0) * 1.08 or 1.0
    x = feature_axis(effect.feature_names[0], effect.kinds[0], limits, width, labels=labels)
    axis = alt.Axis(title=["SD of", "slopes"], titleFontSize=11, tickCount=3, format=number_format((0.0, top)))
    y = alt.Y("value", type="quantitative", axis=axis, scale=alt.Scale(domain=[0, top], nice=False))
    tips = tooltips((effect.feature_names[0], "x_text"), *output_tip(effect), ("SD of slopes", "value_text"))
    colour = output_colour(effect, options) if len(outputs) > 1 else alt.value(theme.SECOND)
    base = alt.Chart(data(rows)).encode(x=alt.X("x", **x), y=y, color=colour)
    dots = base.mark_point(filled=True, opacity=0).encode(tooltip=tips)
    return alt.layer(base.mark_line(strokeWidth=2), dots).properties(width=width, height=70)
