"""Like rows as a table: the row, its neighbours and the nearest unlike row, with what differs marked."""

from __future__ import annotations

from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import Row, told
from pellucid.charts.prototypes.cells import PLAIN, cell_table, line_names
from pellucid.charts.prototypes.gallery import measured_by, neighbor_gallery
from pellucid.charts.text import caveat_note
from pellucid.explanations.counterfactual_words import in_full
from pellucid.explanations.plot_options import NeighborOptions
from pellucid.explanations.prototype_words import prediction_words, same
from pellucid.explanations.prototypes import Neighbors
from pellucid.words import TABLE, counted, number

_DIFFERS = "#DCEBF5"


def neighbor_data(result: Neighbors, most: int, features: int) -> tuple[list[Row], list[str], list[str]]:
    """The cells, the lines and the columns of the table."""
    near = result.places("neighbour")[:most].tolist()
    places = [0, *near, *result.places("nearest unlike").tolist()]
    lines = line_names(result, places)
    changes = [sum(not same(cells[0], cells[i]) for i in places) for cells in result.cells]
    shown = sorted(sorted(range(len(changes)), key=lambda j: -changes[j])[:features])
    apart = {0: 0.0} | dict(zip(near, result.values.tolist(), strict=False))
    rows: list[Row] = []
    for line, i in zip(lines, places, strict=True):
        rows.append(_cell(line, "distance", number(apart.get(i, result.unlike)) if i else "", differs=False))
        for j in shown:
            cells = result.cells[j]
            differs = i > 0 and result.vocabulary == TABLE and not same(cells[0], cells[i])
            rows.append(_cell(line, result.column_names[j], in_full(cells[i]), differs=differs))
        rows.append(_cell(line, "prediction ", prediction_words(result, i), differs=False))
        if len(result.outcomes):
            outcome = result.outcomes[i]
            rows.append(_cell(line, "outcome ", "" if outcome is None else in_full(outcome), differs=False))
    return rows, lines, list(dict.fromkeys(row["column"] for row in rows))


def _cell(line: str, column: str, value: str, *, differs: bool) -> Row:
    look = _DIFFERS if differs else PLAIN
    return {"line": line, "column": column, "value": value, "shade": look, "ink": theme.INK, "tip": ""}


def body(result: Neighbors, options: NeighborOptions) -> ChartType:
    """The Altair chart."""
    if result.images:
        return neighbor_gallery(result, options)
    rows, lines, columns = neighbor_data(result, options.max_display, options.max_features)
    texts = "text" if result.vocabulary.whole == "text" else None
    chart, width = cell_table(rows, lines, columns, options.width, texts)
    if options.height:
        chart = chart.properties(height=options.height)
    hidden = len(result.column_names) - min(options.max_features, len(result.column_names))
    notes = [
        "blue: differs from the row" if texts is None else "",
        f"{counted(hidden, 'more feature')} not shown" if hidden else "",
        caveat_note(result),
    ]
    return told(
        chart,
        result,
        options,
        f"{result.vocabulary.whole.capitalize()}s most like it, by {measured_by(result)}",
        notes,
        max(width, 420.0),
    )
