"""Words and colours on the charts of texts and images: where contributions start and lead to, and how strong each
is.
"""

from __future__ import annotations

from typing import Any, Literal

import altair as alt
import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.charts.attribution.entries import axis_title, change
from pellucid.charts.text import shown, wrapped
from pellucid.explanations import Attribution
from pellucid.explanations.attribution_words import start_name
from pellucid.parts.attribution import PartAttribution
from pellucid.parts.local import LocalPartAttribution
from pellucid.words import percent

# Light enough at both ends for black letters, and different to every kind of colour blindness.
RANGE = ("#4A97C9", "#A9CDE5", "#FFFFFF", "#F9C08F", "#EE8533")
_TOGETHER = ("probability", "log-odds")


def what_it_is(attribution: Attribution, part: str) -> str:
    """What the chart shows of each part."""
    local = ", in a local model" if isinstance(attribution, LocalPartAttribution) else ""
    return f"What each {part} contributes{local}"


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
    percents: dict[str, Any] = {"labelExpr": "format(100 * datum.value, '.2~g') + (datum.value ? ' pp' : '')"}
    legend = alt.Legend(
        **(percents if attribution.scale == "probability" else {"format": ".2~g"}),
        title=wrapped(title, max(pixels, 160.0), 12),
        orient="bottom",
        direction="horizontal",
        gradientLength=min(pixels, 200.0),
        gradientThickness=10,
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


def panel_name(attribution: PartAttribution, output: str) -> str:
    """The output with its base and its prediction, above a panel of its own."""
    return f"{output}: {_ends(attribution.for_output(output))}"


def ends_note(attribution: PartAttribution) -> str:
    """Base and prediction in full for one output; for several what the numbers above the panels are."""
    start = start_name(attribution)
    if len(attribution.output_names) > 1:
        end = "its prediction" if isinstance(attribution, LocalPartAttribution) else "prediction"
        return f"above each panel: {start} → {end}"
    base, prediction = float(attribution.base), float(attribution.prediction[0])
    if isinstance(attribution, LocalPartAttribution):
        local = float(attribution.local_prediction[0])
        return (
            f"{start}: {shown(base, attribution.scale, change=False)}, its prediction:"
            f" {shown(local, attribution.scale, change=False)}, the model's:"
            f" {shown(prediction, attribution.scale, change=False)}; R² of the local model"
            f" {percent(float(attribution.fidelity[0]))}"
        )
    return (
        f"{start}: {shown(base, attribution.scale, change=False)}, prediction:"
        f" {shown(prediction, attribution.scale, change=False)}, difference:"
        f" {change(prediction - base, attribution.scale)}"
    )


def _ends(one: PartAttribution) -> str:
    last = one.local_prediction if isinstance(one, LocalPartAttribution) else one.prediction
    ends = (float(one.base), float(last[0]))
    return " → ".join(shown(end, one.scale, change=False) for end in ends)
