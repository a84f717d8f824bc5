"""Every chart that a test draws is checked against the schema of Vega-Lite.

pellucid itself leaves this out, because Altair's own check takes longer than drawing.
"""

from functools import cache
from typing import Any
from urllib.parse import quote

import altair as alt
import jsonschema_rs

from pellucid.charts.chart import UNCHECKED, Chart

DEFINITION = "#/definitions/"
_unchecked: Any = vars(Chart)["spec"].fget


def checked(chart: Chart) -> dict[str, Any]:
    """The specification of a chart; an error where the schema does not allow it."""
    spec: dict[str, Any] = _unchecked(chart)
    view = {key: part for key, part in spec.items() if key != "datasets"}
    if not _schema().is_valid(view):
        with UNCHECKED:
            chart.altair.to_dict(validate=True)  # takes longer, and says what is wrong in Altair's words
        _schema().validate(view)
    return spec


@cache
def _schema() -> Any:
    return jsonschema_rs.validator_for(_quoted(alt.core.load_schema()))


def _quoted(node: Any) -> Any:
    """The schema with references as the standard wants them: names of types have brackets."""
    if isinstance(node, dict):
        return {
            key: DEFINITION + quote(part.removeprefix(DEFINITION), safe="") if key == "$ref" else _quoted(part)
            for key, part in node.items()
        }
    return [_quoted(part) for part in node] if isinstance(node, list) else node
