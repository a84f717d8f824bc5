"""Colours of individual curves: by the feature that best explains why they differ."""

from __future__ import annotations

from collections import Counter
from typing import Any

import altair as alt
import numpy as np

from pellucid.charts import theme
from pellucid.charts.layout import Row, limits_of, number_format, positions
from pellucid.charts.text import wrapped
from pellucid.data.frames.frame import is_missing
from pellucid.data.natural import in_order
from pellucid.explanations import Colouring, Effect
from pellucid.explanations.plot_options import EffectOptions
from pellucid.words import value_name

_MOST = 7  # categories with a colour of their own; the rest are "other"
OTHER = "(other)"


def row_colours(effect: Effect, options: EffectOptions) -> list[Row]:
    """Per curve ``colour`` (a number or a category) and its text; nothing for unknown values or when off."""
    colouring = effect.colouring
    if colouring is None or options.colour != "auto":
        return [{} for _ in effect.values]
    if is_nominal(colouring):
        kept = categories(colouring)
        names = [None if is_missing(value) else _name(value) for value in colouring.values]
        return [
            {} if name is None else {"colour": name if name in kept else OTHER, "colour_text": name} for name in names
        ]
    numbers = positions(colouring.values)
    return [
        {"colour": float(x), "colour_text": value_name(value)} if np.isfinite(x) else {}
        for x, value in zip(numbers, colouring.values, strict=True)
    ]


def is_nominal(colouring: Colouring) -> bool:
    """Whether the values are categories rather than numbers or dates."""
    return colouring.values.dtype.kind not in "fiuM"


def categories(colouring: Colouring) -> list[str]:
    """The most frequent categories, in order of their names, and "(other)" if there are more."""
    counts = Counter(_name(value) for value in colouring.values if not is_missing(value))
    if len(counts) <= _MOST + 1:
        return in_order(counts)
    return [*in_order(name for name, _ in counts.most_common(_MOST)), OTHER]


def colour_encoding(colouring: Colouring) -> alt.Color:
    """The colour channel with a legend that names the feature."""
    title: Any = wrapped(colouring.feature, 150, 12)
    if is_nominal(colouring):
        domain = categories(colouring)
        scale = alt.Scale(domain=domain, **theme.category_range(len(domain)))
        key = alt.Legend(title=title, symbolStrokeWidth=2)
        return alt.Color("colour", type="nominal", scale=scale, legend=key)
    numbers = positions(colouring.values)
    low, high = np.quantile(numbers[np.isfinite(numbers)], [0.02, 0.98])
    low, high = (float(low), float(high)) if high > low else limits_of(numbers)
    date = colouring.values.dtype.kind == "M"
    scale = alt.Scale(scheme=theme.SEQUENTIAL_LINES, domain=[low, high], clamp=True)
    # A date as a number: as a date the scale would be that of its calendar.
    words: dict[str, Any] = (
        {"labelExpr": "utcFormat(datum.value, '%Y-%m-%d')"} if date else {"format": number_format((low, high))}
    )
    return alt.Color("colour", type="quantitative", scale=scale, legend=alt.Legend(title=title, **words))


def _name(value: Any) -> str:
    return " ".join(value_name(value).split()) or "(empty)"
