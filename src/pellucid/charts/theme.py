"""How charts look: colours that colour-blind readers can tell apart, sizes, and the Vega-Lite configuration."""

from __future__ import annotations

from typing import Any

# Okabe and Ito 2008, the yellow last because it fades on white; wine for their black, which is the average's.
CATEGORIES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#F0E442")
MAIN = CATEGORIES[0]
SECOND = CATEGORIES[1]
INK = "#222222"
MUTED = "#666666"
FAINT = "#BBBBBB"
EMPTY = "#C8C8C8"  # cells without data
# Names of Vega schemes; Any because Altair types them as a literal union of its own version.
SEQUENTIAL: Any = "viridis"
SEQUENTIAL_LINES: Any = {"name": "viridis", "extent": [0, 0.9]}  # without the yellow that fades on white
STRENGTH: Any = "blues"  # 0 fades into the paper
DIVERGING: Any = "blueorange"

WIDTH, HEIGHT = 420, 260
SLANTED = 150  # pixels of a name below an axis that is not level: longer ones would be longer than the chart is high
STRIP = 44  # height of the histogram below a curve

CONFIG: dict[str, Any] = {
    "background": "white",
    "padding": 8,
    "font": "Helvetica, Arial, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelFontSize": 12,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelLimit": 0,
        "maxExtent": 4000,  # the title stays clear of labels of any length
        "labelSeparation": 6,
        "labelColor": INK,
        "titleColor": INK,
        "gridColor": "#E8E8E8",
        "domainColor": "#888888",
        "tickColor": "#888888",
    },
    "legend": {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 0,
        "titleLimit": 0,
        "gradientOpacity": 1,
        "symbolOpacity": 1,
        "labelColor": INK,
        "titleColor": INK,
    },
    "title": {
        "anchor": "start",
        "fontSize": 15,
        "fontWeight": 600,
        "color": INK,
        "subtitleFontSize": 12,
        "subtitleColor": MUTED,
        "subtitlePadding": 4,
        "offset": 12,
    },
}


def category_range(n: int) -> dict[str, Any]:
    """Scale properties that give ``n`` categories their colours."""
    return {"range": list(CATEGORIES[:n])} if n <= len(CATEGORIES) else {"scheme": "tableau20"}
