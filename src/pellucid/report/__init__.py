"""Reports: explanations -> a plain dict -> a template -> one HTML file that needs no network.

Importing this package loads neither a chart library nor a template engine; building and writing do.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pellucid.report.build import Document, build
from pellucid.report.page import check_path, render, write
from pellucid.report.work import Step

if TYPE_CHECKING:
    from pellucid.explainer import Explainer

__all__ = ["Document", "Step", "build", "check_path", "render", "report", "write"]


def report(
    explainer: Explainer,
    path: str | Path,
    *,
    title: str | None = None,
    top: int = 6,
    rows: Sequence[int] | None = None,
    detail: str = "short",
) -> Path:
    """Write what is worth knowing about a model to one HTML file, and return its path.

    ``top`` is the number of features whose effects are shown, ``rows`` are positions of rows to explain besides the
    typical and the extreme ones, ``detail`` is ``"short"`` (two to three printed pages) or ``"full"``. The same
    model, data and seed give the same bytes: there is no date in the file, and its cost is given in model rows, not
    in seconds. The exception is a slow model (some ten thousand rows a second or less): how much it is asked depends
    on how long it has taken so far, and the page says what was left out for that reason, with the call that has it.
    """
    target = check_path(path)
    return write(build(explainer, title=title, top=top, rows=rows, detail=detail), target)
