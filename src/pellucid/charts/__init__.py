"""Charts: pure functions from an explanation to a Vega-Lite chart.

Importing this package loads no chart library; drawing does.
"""

from pellucid.charts.chart import Chart
from pellucid.charts.doorway import draw, panel

__all__ = ["Chart", "draw", "panel"]
