"""What stands below a curve: the spread of slopes and the distribution of the data."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.distribution import histogram_data, histogram_view, rug_layer
from pellucid.charts.scales import Limits
from pellucid.charts.spread import spread_view
from pellucid.explanations import Effect
from pellucid.explanations.plot_options import EffectOptions


def lower_views(
    effect: Effect, options: EffectOptions, limits: Limits, outputs: Sequence[str]
) -> tuple[list[ChartType], list[alt.Chart]]:
    """Views for below the main one, of which the last carries the feature axis, and layers for on it."""
    width, height = options.width or theme.WIDTH, options.height or theme.HEIGHT
    bars = histogram_data(effect, limits) if options.distribution == "histogram" else []
    below: list[ChartType] = []
    if effect.derivative:
        below.append(spread_view(effect, outputs, limits, options, labels=not bars))
    if bars:
        below.append(histogram_view(bars, effect, limits, width))
    rug = [rug_layer(effect, limits, width, height)] if options.distribution == "rug" else []
    return below, rug
