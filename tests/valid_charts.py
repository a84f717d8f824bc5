"""Every chart that a test draws is checked against the schema of Vega-Lite, once for each shape of a specification.

pellucid itself leaves this out, because it takes longer than drawing.
"""

import json
from typing import Any

import altair as alt
from jsonschema import ValidationError

from pellucid.charts.chart import UNCHECKED, Chart

TEXTS = ("name", "text", "title", "field")
COMPOSED = {
    "layer": alt.LayerChart,
    "concat": alt.ConcatChart,
    "hconcat": alt.HConcatChart,
    "vconcat": alt.VConcatChart,
}
_valid: set[str] = set()
_unchecked: Any = vars(Chart)["spec"].fget


def checked(chart: Chart) -> dict[str, Any]:
    """The specification of a chart; an error where the schema does not allow it."""
    spec: dict[str, Any] = _unchecked(chart)
    view = {key: part for key, part in spec.items() if key != "datasets"}
    shape = json.dumps(_shape(view))
    if shape not in _valid:
        kind = next((kind for key, kind in COMPOSED.items() if key in view), alt.Chart)
        try:
            kind.validate(view)
        except ValidationError:
            with UNCHECKED:
                chart.altair.to_dict(validate=True)  # takes longer, and names what is wrong
            raise
        _valid.add(shape)
    return spec


def _shape(node: Any) -> Any:
    """The same without what the data say: numbers and texts as one of their kind, and of like items of a list one."""
    if isinstance(node, dict):
        return {key: "" if key in TEXTS and isinstance(part, str) else _shape(part) for key, part in node.items()}
    if isinstance(node, list):
        return list({json.dumps(_shape(part)): None for part in node})
    if isinstance(node, str):  # no word of the schema has a space, a digit or a letter of another script in it
        return node if node.isascii() and node.replace("-", "").isalpha() else ""
    if isinstance(node, bool) or node is None:
        return node
    return -0.5 if node < 0 else 0.5 if 0 < node <= 1 else 2 if node > 1 else 0
