"""Reports: explanations -> a plain dict -> a template -> one HTML file that needs no network.

Importing this package loads neither a chart library nor a template engine; building and writing do.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pellucid.report.build import Document, Step, build
from pellucid.report.page import check_path, render, write

if TYPE_CHECKING:
    from pellucid.explainer import Explainer

__all__ = ["Document", "Step", "build", "check_path", "render", "report", "write"]


def report(explainer: Explainer, path: str | Path, *, title: str | None = None, top: int = 6) -> Path:
    """Write everything worth knowing about a model to one HTML file, and return its path.

    ``top`` is the number of features whose effects are shown. The same model, data and seed give the same
    bytes: there is no date in the file, and its cost is given in model rows, not in seconds.
    """
    target = check_path(path)
    return write(build(explainer, title=title, top=top), target)
