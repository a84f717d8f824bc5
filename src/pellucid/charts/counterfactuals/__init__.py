"""Counterfactuals: what to change, as ranges, as a table and as parallel coordinates; how the answers compare; the
prediction around them; and how often each feature changes.
"""

from __future__ import annotations

from importlib import import_module

from altair.typing import ChartType

from pellucid.explanations.counterfactuals import Counterfactuals
from pellucid.explanations.plot_options import CounterfactualOptions


def body(result: Counterfactuals, options: CounterfactualOptions) -> ChartType:
    """The Altair chart."""
    kind = "changes" if options.kind == "auto" else options.kind
    if not len(result) and kind != "surface":
        kind = "changes"  # the row and the target: there is nothing to compare
    chart: ChartType = import_module(f"pellucid.charts.counterfactuals.{kind}").body(result, options)
    return chart
