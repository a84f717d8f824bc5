"""Local models of texts and images: the text or image itself, the variants behind it, and the other charts of local
models.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid import words
from pellucid.charts import attribution as contributions
from pellucid.charts import theme
from pellucid.charts.layout import Row, data, hconcat, told, tooltips
from pellucid.charts.local import effects, widths, with_rest
from pellucid.charts.text import caveat_note, level_names, shown
from pellucid.explanations.plot_options import AttributionOptions, LocalOptions
from pellucid.parts import image_chart, text_chart
from pellucid.parts.local import LocalImageAttribution, LocalPartAttribution, LocalTextAttribution, counted
from pellucid.parts.options import LocalImageOptions, LocalTextOptions
from pellucid.words import number

_CHARTS = {"effects": effects.body, "widths": widths.body}
_CELL = 26.0
_MOST_WORDS = 12


def body(result: LocalPartAttribution, options: LocalTextOptions | LocalImageOptions) -> ChartType:
    """The text or image with the parts of the local model coloured, or another chart."""
    if options.kind == "variants":
        return variants(result, options)
    fields = {field.name: getattr(options, field.name) for field in dataclasses.fields(AttributionOptions)}
    if options.kind in _CHARTS:
        return _CHARTS[options.kind](result, LocalOptions(**fields))
    if options.kind != "auto":
        return contributions.body(adding_up(result), AttributionOptions(**fields))
    if isinstance(result, LocalTextAttribution) and isinstance(options, LocalTextOptions):
        return text_chart.body(result, options)
    assert isinstance(result, LocalImageAttribution)
    assert isinstance(options, LocalImageOptions)
    return image_chart.body(result, options)


def adding_up(result: LocalPartAttribution) -> LocalPartAttribution:
    """The weights as contributions that add up to the model's prediction: what the local model misses is one of
    them.
    """
    rest = np.asarray(result.residual)[:, None]
    if np.abs(rest).max(initial=0.0) <= 1e-9 * np.abs(result.prediction).max(initial=0.0):
        return result
    return with_rest(result, range(len(result.feature_names)), rest)


# -- variants ----------------------------------------------------------------------------------------


def variant_data(result: LocalPartAttribution, max_rows: int, max_words: int) -> tuple[list[Row], list[Row]]:
    """Cells (variant, part, there or not) and lines (answer, weight) of some variants, from those that count most to
    least.

    Of many parts those with the largest weights are shown, in their own order; variants that are alike there are shown
    once.
    """
    sizes = np.abs(result.stacked("weights")[0]).max(axis=1)
    some = np.sort(np.argsort(-sizes, kind="stable")[:max_words])
    some = some[sizes[some] > 0] if len(sizes) > max_words else some
    order = np.argsort(-result.counts, kind="stable")
    order = order[result.counts[order] > 0]
    _, first = np.unique(result.there[order][:, some], axis=0, return_index=True)
    order = order[np.sort(first)]
    order = order[np.unique(np.linspace(0, len(order) - 1, min(max_rows, len(order))).round().astype(np.intp))]
    names = level_names(result.players[j] for j in some)
    answers = result.answers.reshape(len(result.counts), -1)
    cells: list[Row] = []
    lines: list[Row] = []
    for line, i in enumerate(order):
        cells += [
            {"line": line, "part": name, "there": "there" if result.there[i, j] else "absent"}
            for j, name in zip(some, names, strict=True)
        ]
        told = [shown(float(value), result.answer_scale, change=False) for value in answers[i]]
        lines.append(
            {
                "line": line,
                "weight": number(float(result.counts[i])),
                **dict(zip(result.output_names, told, strict=True)),
            }
        )
    return cells, lines


def variants(result: LocalPartAttribution, options: LocalTextOptions | LocalImageOptions) -> ChartType:
    """Which parts are there in each variant, what the model says of it, and how much it counts."""
    outputs = result.leading(4)
    most = min(options.max_display, _MOST_WORDS) if options.max_display else _MOST_WORDS
    cells, lines = variant_data(result, options.max_rows, most)
    names = list(dict.fromkeys(cell["part"] for cell in cells))
    height = options.height or _CELL * len(lines)
    width = options.width or 2.2 * _CELL * max(len(names), 1)
    y: dict[str, Any] = {"type": "ordinal", "axis": None}
    head = alt.Axis(orient="top", labelAngle=-40, labelLimit=140, title=None, ticks=False, domain=False)
    table = (
        alt.Chart(data(cells))
        .mark_rect(stroke="white", strokeWidth=2)
        .encode(
            x=alt.X("part", type="nominal", sort=names, axis=head),
            y=alt.Y("line", **y),
            color=alt.Color(
                "there",
                type="nominal",
                scale=alt.Scale(domain=["there", "absent"], range=[theme.MAIN, "#EEEEEE"]),
                legend=alt.Legend(title=None, orient="bottom"),
            ),
            tooltip=tooltips((result.vocabulary.part, "part"), ("", "there")),
        )
        .properties(width=width, height=height)
    )
    columns = [
        *((name, "prediction" if len(result.output_names) == 1 else name) for name in outputs),
        ("weight", "weight"),
    ]
    sides = [
        alt.Chart(data([{"line": row["line"], "said": row[field], "head": title} for row in lines]))
        .mark_text(color=theme.INK)
        .encode(x=alt.X("head", type="nominal", axis=head), y=alt.Y("line", **y), text=alt.Text("said", type="nominal"))
        .properties(width=64, height=height)
        for field, title in columns
    ]
    left_out = len(result.players) - len(names)
    notes = [
        f"{len(lines)} of {len(result.counts):,} variants, from those that count most to those that count least",
        f"variants {counted(result)}",
        f"{words.counted(left_out, result.vocabulary.part)} with smaller weights not shown" if left_out else "",
        caveat_note(result),
    ]
    what, pixels = f"Variants of the {result.vocabulary.whole} behind the local model", width + 70 * len(sides)
    return told(hconcat(table, *sides, spacing=4), result, options, what, notes, max(pixels, 420))
