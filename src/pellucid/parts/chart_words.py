"""Words on the charts of texts and images: where the contributions start and lead to."""

from __future__ import annotations

from pellucid.charts.attribution.words import change
from pellucid.charts.text import shown
from pellucid.explanations.attribution_words import start_name
from pellucid.parts.attribution import PartAttribution
from pellucid.parts.local import LocalPartAttribution
from pellucid.words import percent


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
            f" {shown(prediction, attribution.scale, change=False)}; R2 of the local model"
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
