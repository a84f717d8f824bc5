"""Bars of words: how far each raises and lowers the predictions of its texts."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import (
    Limits,
    Row,
    by_output,
    data,
    layered,
    level_axis,
    limits_of,
    plain,
    told,
    tooltips,
    value_axis,
)
from pellucid.charts.text import caveat_note, level_names, scale_words, shown
from pellucid.errors import InputError
from pellucid.parts.chart_style import RANGE
from pellucid.parts.options import WordImportanceOptions
from pellucid.parts.word_importance import WordImportance, quoted
from pellucid.words import counted, percent

_COLUMNS = 3  # outputs side by side
_STEP = 22.0  # pixels for each word
_LOWERS, _RAISES = RANGE[0], RANGE[-1]


def word_data(found: WordImportance, output: str, words: list[int]) -> list[Row]:
    """One row per word: how far it raises and lowers predictions on average, whose difference is the importance and
    whose sum is the mean contribution.
    """
    one, names = found.for_output(output), _names(found, words)
    rows: list[Row] = []
    for j, name in zip(words, names, strict=True):
        size, mean = float(one.values[j]), float(one.mean[j])
        low, high = plain([one.mean_low[j], one.mean_high[j]])
        least, most = plain([one.low[j], one.high[j]])
        rows.append(
            {
                "word": name,
                "up": (size + mean) / 2,
                "down": (mean - size) / 2,
                "mean": mean,
                "low": low,
                "high": high,
                "size_text": _with_interval(size, least, most, one.scale, sign=False),
                "mean_text": _with_interval(mean, low, high, one.scale, sign=True),
                "opposite_text": f"{percent(float(one.opposite[j]))} of its texts",
                "texts_text": f"{int(one.texts[j]):,} ({counted(int(one.occurrences[j]), 'occurrence')})",
            }
        )
    return rows


def _with_interval(value: float, low: float | None, high: float | None, scale: str, *, sign: bool) -> str:
    said = shown(value, scale, change=True, sign=sign)
    if low is None or high is None:
        return said
    ends = (shown(end, scale, change=True, sign=sign).replace(" percentage points", "") for end in (low, high))
    return f"{said} ({' to '.join(ends)})"


def body(found: WordImportance, options: WordImportanceOptions) -> ChartType:
    """The Altair chart of word importance."""
    words = [int(j) for j in found.ranking if found.ranked[j]][: options.max_display]
    if not words:
        raise InputError(
            f"there is nothing to draw: no {found.unit} is in min_texts={found.min_texts} texts or more; give more"
            " texts, or a smaller min_texts."
        )
    outputs = _outputs(found, words, options.panels)
    limits = _limits(found, outputs, words)
    wide = options.width or (theme.WIDTH - 60 if len(outputs) == 1 else 200.0)
    height = options.height or max(40.0, _STEP * len(words))
    views = [
        _view(found, output, words, limits, (wide, height), labels=i % _COLUMNS == 0)
        for i, output in enumerate(outputs)
    ]
    chart = by_output(views, outputs, columns=_COLUMNS, column=16)
    return told(chart, found, options, "Word importance", _notes(found, outputs, words), wide + 150)


def _names(found: WordImportance, words: list[int]) -> list[str]:
    return level_names([quoted(found.feature_names[j]) for j in words])


def _outputs(found: WordImportance, words: list[int], most: int) -> list[str]:
    """At most so many outputs, in their order: those that these words move most."""
    sizes = found.stacked()[words].max(axis=0)
    return [found.output_names[k] for k in np.sort(np.argsort(-sizes, kind="stable")[:most])]


def _limits(found: WordImportance, outputs: list[str], words: list[int]) -> Limits:
    kept = [found.output_names.index(output) for output in outputs]
    size, mean = (found.stacked(name)[words][:, kept] for name in ("values", "mean"))
    ends = [found.stacked(name)[words][:, kept] for name in ("mean_low", "mean_high")]
    return limits_of((size + mean) / 2, (mean - size) / 2, *ends, zero=True)


def _view(
    found: WordImportance, output: str, words: list[int], limits: Limits, size: tuple[float, float], *, labels: bool
) -> ChartType:
    rows = word_data(found, output, words)
    side: dict[str, Any] = {} if labels else {"labels": False, "ticks": False}
    y = alt.Y("word", **level_axis(None, _names(found, words), size[1], **side))
    title = f"mean contribution{scale_words(found, output if len(found.output_names) > 1 else None)}"
    x = value_axis(title, limits, size[0], scale=found.scale, change=True)
    tips = tooltips(
        (found.unit, "word"),
        ("importance", "size_text"),
        ("mean contribution", "mean_text"),
        ("opposite sign in", "opposite_text"),
        ("texts", "texts_text"),
    )
    bars = [
        alt.Chart(data(rows)).mark_bar(color=colour).encode(y=y, x=alt.X(side, **x), x2=alt.X2Datum(0), tooltip=tips)
        for side, colour in (("up", _RAISES), ("down", _LOWERS))
    ]
    known = [row for row in rows if row["low"] is not None]
    line = alt.Chart(data(known)).mark_rule(color=theme.INK, strokeWidth=1.5)
    dot = alt.Chart(data(rows)).mark_point(filled=True, size=30, color=theme.INK, opacity=1)
    zero = alt.Chart(data([{}])).mark_rule(color=theme.MUTED).encode(x=alt.XDatum(0))
    return layered(
        *bars,
        zero,
        line.encode(y=y, x=alt.X("low", **x), x2="high", tooltip=tips),
        dot.encode(y=y, x=alt.X("mean", **x), tooltip=tips),
    ).properties(width=size[0], height=size[1])


def _notes(found: WordImportance, outputs: list[str], words: list[int]) -> list[str]:
    more, hidden = int(found.ranked.sum()) - len(words), len(found.output_names) - len(outputs)
    rare = int((~found.ranked).sum())
    left = [f"{counted(more, f'more {found.unit}')} not shown"] if more else []
    left += [f"{rare:,} in fewer than {counted(found.min_texts, 'text')} not ranked"] if rare else []
    left += [f"{counted(hidden, 'output')} not shown"] if hidden else []
    return [
        f"over the texts that contain the {found.unit}: orange raises, blue lowers the prediction (length in all:"
        " importance)",
        "dot: mean, with 95% interval",
        "; ".join(left),
        caveat_note(found),
    ]
