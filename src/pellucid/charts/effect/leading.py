"""The effects of the most important features, side by side."""

from __future__ import annotations

from altair.typing import ChartType

from pellucid.charts.effect import side_by_side
from pellucid.explanations import Effects
from pellucid.explanations.plot_options import PanelOptions

_COLUMNS = 3


def body(effects: Effects, options: PanelOptions) -> ChartType:
    """The Altair chart of several effects."""
    return side_by_side.body(list(effects), _COLUMNS, options, effects.headline())
