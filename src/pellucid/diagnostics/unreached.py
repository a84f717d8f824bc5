"""The caveat of a rule whose precision is not as large as it was asked for: of tables, texts and images alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pellucid.arrays import FloatArray
from pellucid.explanations.caveat import Caveat
from pellucid.words import percent

_ADVICE = {
    "budget": "Raise budget=, or ask for less precision.",
    "interrupted": "Run it again to the end.",
    "most": "Allow more conditions (max_conditions=), or ask for less precision.",
}
_OTHERWISE = "Widen the beam (beams=), or ask for less precision."


def unreached(
    settings: Mapping[str, Any],
    reason: str,
    words: str,
    precision: float,
    interval: FloatArray | tuple[float, float],
    advice: Mapping[str, str],
) -> Caveat:
    """``reason`` is the code of why, ``words`` say it; ``advice`` by reason comes before that for all kinds of
    rules.
    """
    wanted = float(settings["precision"])
    return Caveat(
        code="anchor-unreached",
        message=(
            f"No rule was sure to have a precision of {percent(wanted)}: {words}. This one has {percent(precision)}, at"
            f" least {percent(float(interval[0]))}."
        ),
        value=1.0 - float(interval[0]),
        threshold=1.0 - wanted,
        advice={**_ADVICE, **advice}.get(reason, _OTHERWISE),
    )
