"""A result in a notebook: its finding as the title of its chart, what the chart is, and caveats that fold out."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from pellucid.errors import MissingExtra
from pellucid.explanations.caveat import Caveat
from pellucid.words import counted

if TYPE_CHECKING:
    from pellucid.charts import Chart
    from pellucid.explanations.explanation import Explanation

_PICTURE = 100_000  # bytes of the picture in a saved cell; in base64 a third more


def in_notebook(result: Explanation) -> dict[str, Any]:
    """What a cell shows and keeps: one page for every front end, with a picture that needs no script.

    ``result.plot()`` is the same chart with tooltips, for front ends that draw Vega-Lite. Where the libraries that
    draw are not installed, there is the plain text alone.
    """
    plain = {"text/plain": repr(result)}
    try:
        chart = result.plot()
    except MissingExtra:
        return plain
    try:
        return {**plain, "text/html": f"<div>{_picture(chart, result.headline())}{_folded(result.caveats)}</div>"}
    except MissingExtra:  # nothing makes pictures; the front end may draw the specification itself
        return {**chart._repr_mimebundle_(), **plain}


def _picture(chart: Chart, words: str) -> str:
    source, width = chart.picture(_PICTURE)
    return f'<img alt="{escape(words)}" src="{source}" width="{width}" style="max-width: 100%; height: auto">'


def _folded(caveats: Sequence[Caveat]) -> str:
    """The worst caveat in a line that folds out to all of them."""
    if not caveats:
        return ""
    more = f" (1 of {counted(len(caveats), 'caveat')})" if len(caveats) > 1 else ""
    lines = "".join(f"<li><b>{caveat.level}</b>: {escape(str(caveat))}</li>" for caveat in caveats)
    return (
        f"<details><summary><b>Read with care</b>: {escape(caveats[0].message)}{more}</summary>"
        f"<ul>{lines}</ul></details>"
    )
