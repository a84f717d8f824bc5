"""Words on charts: titles, labels and tooltip texts, all literal strings."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from typing import Any

import numpy as np

from pellucid.explanations import Effect, Explanation
from pellucid.words import counted, number, quantity, value_name

_BINDING = re.compile(r"(?<=\d) pp\b|(?<= [=<>]) (?=\S)|(?<= [<>]=) (?=\S)")
_GLUE = "\u00a0"  # a space that is not broken at
_LETTER = 0.5  # mean width of a letter relative to the font size


def wrapped(text: str, pixels: float, size: float = 13.0) -> list[str]:
    """Lines of a title that fit into a width (or, for a vertical title, a height); white space is normalised.

    A number stays with its unit, a value with its equals sign, and a name with hyphens whole.
    """
    glued = _BINDING.sub(lambda found: found.group().replace(" ", _GLUE), " ".join(text.split()))
    lines = textwrap.wrap(glued, width=max(14, int(pixels / (_LETTER * size))), break_on_hyphens=False)
    return [line.replace(_GLUE, " ") for line in lines] or [""]


def level_names(values: Iterable[Any]) -> list[str]:
    """One label per level, all different, none invisible."""
    labels: dict[str, None] = {}
    for value in values:
        label = _level_name(value)
        while label in labels:
            label += "\u2032"  # prime: 1 the number and "1" the text stay two levels
        labels[label] = None
    return list(labels)


def _level_name(value: Any) -> str:
    if isinstance(value, bool | np.bool_ | np.datetime64) or value is None:
        return value_name(value)
    if isinstance(value, float | np.floating):
        return "missing" if np.isnan(value) else f"{float(value):.12g}"
    return " ".join(str(value).split()) or "(empty)"


def shown(value: float, scale: str, *, change: bool, sign: bool = True) -> str:
    """A value of the explained quantity in a tooltip: a probability in percent, a change with its sign (or without)."""
    return quantity(float(value), scale, change=change, sign=sign).replace(" pp", " percentage points")


def brief(value: float, scale: str, *, change: bool) -> str:
    """The same beside a mark: points as ``pp``."""
    return quantity(float(value), scale, change=change)


def rows_text(count: float) -> str:
    """A number of rows, or a sum of weights."""
    return "1 row" if count == 1 else f"{number(float(count))} rows"


def is_change(effect: Effect) -> bool:
    """Whether values are differences, to be read against zero, rather than predictions."""
    if effect.method in ("ale", "term"):
        return not effect.settings.get("total")
    return effect.settings.get("center") is not None or effect.derivative or bool(effect.settings.get("pure"))


def value_title(effect: Effect, output: str | None = None) -> str:
    """What the value axis shows and on which scale: ``average prediction (probability of Cancer)``."""
    return f"{_quantity(effect)}{scale_words(effect, output)}"


def scale_words(explanation: Explanation, output: str | None = None) -> str:
    """The scale in brackets, with the output's name where there is one to name."""
    only = explanation.output_names[0] if len(explanation.output_names) == 1 else None
    name = output if output is not None else only
    plain = {"response": "", "score": "score", "distance": "distance"}.get(explanation.scale, explanation.scale)
    if name is None or name in ("prediction", "output"):
        return f" ({plain})" if plain else ""
    if explanation.scale in ("probability", "log-odds"):
        return f" ({plain} of {name})"
    return f" ({name})"


def _quantity(effect: Effect) -> str:
    noun = "prediction" if effect.individual else "average prediction"
    if effect.derivative:
        return f"slope of the {noun}"
    if bool(effect.settings.get("pure")) or (
        effect.method in ("ale", "term") and len(effect.grids) > 1 and not effect.settings.get("total")
    ):
        return "joint effect on the prediction"
    if effect.method in ("ale", "term"):
        return "effect on the prediction" if not effect.settings.get("total") else noun
    if effect.settings.get("center") is None:
        return noun
    center = str(effect.settings["center"])
    if center == "mean":
        return f"{noun}, difference from its mean"
    anchor = "its lowest value" if center in ("True", "min") else center
    return f"change of the {noun} from {' and '.join(effect.feature_names)} at {anchor}"


def caveat_note(explanation: Explanation) -> str:
    """How many caveats there are, for the line below the title."""
    n = len(explanation.caveats)
    return "" if n == 0 else f"{counted(n, 'caveat')}: see .caveats"
