"""Words on the charts of contributions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pellucid.charts.text import level_names, shown
from pellucid.explanations import Attribution

_LETTERS = 46  # of a label; the tooltip has it in full


def title(attribution: Attribution, kind: str, feature: str) -> str:
    """What the picture shows."""
    start = attribution.starting_point
    some = f"{len(attribution):,} prediction{'s' if len(attribution) != 1 else ''}"
    one = f"From {start} to this prediction" if len(attribution) == 1 else f"From {start} to predictions"
    titles = {
        "waterfall": one,
        "force": one,
        "decision": one,
        "stacked": f"Contributions to {some}, row by row",
        "dependence": f"Contribution of {feature} and its value",
        "interactions": f"Interactions in {some}",
    }
    return titles.get(kind, f"Contributions to {some}")


def view_name(attribution: Attribution, output: str) -> str:
    """The name above the view of one of several outputs; for one row with its numbers."""
    if len(attribution) > 1:
        return output
    return f"{output}, {_numbers(attribution.for_output(output))}"


def who_and_where(attribution: Attribution) -> list[str]:
    """Prediction, base and difference of one row, or the base alone; and the game."""
    if len(attribution) == 1 and len(attribution.output_names) == 1:
        notes = [_numbers(attribution)]
    else:
        bases = [shown(float(base), attribution.scale, change=False) for base in np.ravel(attribution.base)]
        notes = [f"{start_name(attribution)}: {', '.join(bases[:4])}{', ...' if len(bases) > 4 else ''}"]
    if attribution.game:
        notes.append(f"{attribution.game} game")
    if attribution.hidden is not None:
        hidden = shown(float(attribution.hidden.mean()), "probability", change=False)
        notes.append(f"{hidden} of the absolute contributions are in {attribution.feature_names[-1]}")
    return notes


def _numbers(one: Attribution) -> str:
    prediction, base = float(one.prediction[0]), float(one.base)
    return (
        f"prediction: {shown(prediction, one.scale, change=False)}, {start_name(one)}: "
        f"{shown(base, one.scale, change=False)}, difference: {change(prediction - base, one.scale)}"
    )


def start_name(attribution: Attribution) -> str:
    """What the contributions start from, without its article."""
    return attribution.starting_point.removeprefix("the ")


def change(value: float, scale: str, half: float = 0.0) -> str:
    """A contribution with its sign, and half its interval where it is an estimate."""
    points = " percentage points"
    text = shown(value, scale, change=True)
    if half > 0:
        text = f"{text.removesuffix(points)} ± {shown(half, scale, change=True).lstrip('+')}"
    return text.replace(points, " pp")


def axis_title(attribution: Attribution, output: str) -> str:
    """The contributions and their scale."""
    return f"contribution to the prediction{attribution.scale_of(output)}"


def prediction_title(attribution: Attribution, output: str) -> str:
    """The prediction and its scale."""
    return f"prediction{attribution.scale_of(output)}"


def not_shown(attribution: Attribution, max_display: int) -> list[str]:
    """How many features are left out, if any are."""
    hidden = len(attribution.feature_names) - max_display
    return [f"{hidden} more feature{'s' if hidden > 1 else ''} not shown"] if hidden > 0 else []


def rows_note(drawn: int, attribution: Attribution, what: str = "") -> list[str]:
    """How many of the rows are drawn, if not all."""
    n = len(attribution)
    return [f"{what}{drawn:,} of {n:,} rows"] if drawn < n else []


def short_names(labels: Iterable[str]) -> list[str]:
    """Labels that are all different and none of which fills the page."""
    return level_names(shortened(label) for label in labels)


def shortened(label: str, most: int = _LETTERS) -> str:
    """A label of bounded length, cut in the middle: names often differ at their end, where the value stands too."""
    words = " ".join(label.split())
    if len(words) <= most:
        return words
    tail = (most - 1) // 3
    return f"{words[: most - 1 - tail].rstrip()}\u2026{words[len(words) - tail :].lstrip()}"
