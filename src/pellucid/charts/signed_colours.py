"""Contributions as colours: blue pulls down, orange pushes up, white is nothing."""

from __future__ import annotations

from typing import Literal

import altair as alt
import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.charts.attribution.words import axis_title
from pellucid.charts.text import wrapped
from pellucid.explanations import Attribution

# Light enough at both ends for black letters, and different to every kind of colour blindness.
RANGE = ("#4A97C9", "#A9CDE5", "#FFFFFF", "#F9C08F", "#EE8533")
_TOGETHER = ("probability", "log-odds")


def colour_scales(attribution: Attribution) -> Literal["shared", "independent"]:
    """Whether the outputs share one scale: those of a classifier do, others may have different units."""
    return "shared" if attribution.scale in _TOGETHER else "independent"


def largest(attribution: Attribution, output: str) -> float:
    """The contribution with the full colour."""
    shown = attribution if colour_scales(attribution) == "shared" else attribution.for_output(output)
    others = shown.entries.others
    values = shown.values if others is None else np.delete(shown.values, others, axis=1)
    return float(np.abs(values).max(initial=0.0)) or 1.0


def signed_colour(attribution: Attribution, output: str, pixels: float) -> alt.Color:
    """The colour channel of the field ``value``, with a legend below."""
    most = largest(attribution, output)
    shared = colour_scales(attribution) == "shared" and len(attribution.output_names) > 1
    title = f"contribution to the {attribution.scale}" if shared else axis_title(attribution, output)
    legend = alt.Legend(
        title=wrapped(title, max(pixels, 160.0), 12),
        orient="bottom",
        direction="horizontal",
        gradientLength=min(pixels, 200.0),
        gradientThickness=10,
        format=".2~g",
        values=[-most, 0, most],
    )
    stops = [-most, -most / 2, 0, most / 2, most]
    scale = alt.Scale(domain=stops, range=list(RANGE), interpolate="rgb", clamp=True)
    return alt.Color("value", type="quantitative", scale=scale, legend=legend)


def painted(values: FloatArray, most: float) -> AnyArray:
    """The colours ``(..., 3)`` of contributions, as bytes: the same as those of the legend."""
    stops = np.array([-1.0, -0.5, 0.0, 0.5, 1.0]) * most
    anchors = np.array([[int(colour[k : k + 2], 16) for k in (1, 3, 5)] for colour in RANGE])
    channels = [np.interp(values, stops, anchors[:, c]) for c in range(3)]
    return np.rint(np.stack(channels, axis=-1)).astype(np.uint8)
