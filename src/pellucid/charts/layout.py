"""Putting parts together: a main view with something to its right and below it, and titles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import altair as alt
from altair.typing import ChartType

from pellucid.charts.text import wrapped


def assemble(main: ChartType, right: ChartType | None, below: Sequence[ChartType]) -> ChartType:
    """The main view, a narrow view at its right and views of the same width below, with axes lined up."""
    if right is None and not below:
        return main
    if right is None:
        return grid([main, *below], columns=1, row=6)
    blank = alt.Chart(alt.InlineData(values=[])).mark_point().properties(width=1, height=1)
    parts: list[ChartType] = [main, right]
    for view in below:
        parts += [view, blank]
    # Flush: only the plots line up, so the words below the narrow view do not push the next row down.
    return grid(parts[: -1 if below else None], columns=2, row=12, column=12, bounds="flush")


def grid(
    parts: Sequence[ChartType],
    *,
    columns: int,
    row: int = 24,
    column: int = 24,
    one_legend: bool = True,
    bounds: Literal["full", "flush"] = "full",
) -> ChartType:
    """Views in rows of ``columns``; every row and column is as large as its largest view."""
    body = alt.concat(*parts, columns=columns, spacing={"row": row, "column": column}, align="each", bounds=bounds)
    colours: Literal["shared", "independent"] = "shared" if one_legend else "independent"
    return body.resolve_scale(color=colours, x="independent", y="independent")


def by_output(views: Sequence[ChartType], outputs: Sequence[str], *, columns: int = 2, column: int = 24) -> ChartType:
    """The only view, or one view per output with the output's name above it."""
    if len(views) == 1:
        return views[0]
    named = [
        view.properties(title=alt.TitleParams(wrapped(output, 240), fontSize=13))
        for view, output in zip(views, outputs, strict=True)
    ]
    return grid(named, columns=min(columns, len(named)), column=column)


def titled(body: ChartType, title: str, notes: Sequence[str], pixels: float) -> ChartType:
    """The chart with a title and, below it, the notes."""
    room = max(pixels, 400.0) + 60.0  # the axis stands beside the plot
    words: dict[str, Any] = {"text": wrapped(title, room, 15)}
    if any(notes):
        words["subtitle"] = wrapped(" · ".join(note for note in notes if note), room, 12)
    return body.properties(title=alt.TitleParams(**words))
