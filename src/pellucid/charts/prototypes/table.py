"""The examples as a table: what share of the rows each stands for, what is typical of these, what the model says."""

from __future__ import annotations

import numpy as np
from altair.typing import ChartType

from pellucid.arrays import IntArray
from pellucid.charts import theme
from pellucid.charts.layout import Row, told
from pellucid.charts.prototypes.cells import PLAIN, cell_table, line_names, shade
from pellucid.charts.text import caveat_note
from pellucid.explanations.counterfactual_words import in_full
from pellucid.explanations.plot_options import PrototypeOptions
from pellucid.explanations.prototype_words import prediction_words
from pellucid.explanations.prototypes import Prototypes
from pellucid.words import counted, number, percent


def shown_features(result: Prototypes, most: int) -> IntArray:
    """The features in which prototypes differ most, in the order of the table."""
    size = np.abs(result.contrast).max(axis=0) if len(result.contrast) else np.zeros(len(result.column_names))
    return np.sort(np.argsort(-size, kind="stable")[:most])


def table_data(result: Prototypes, most: int, features: int) -> tuple[list[Row], list[str], list[str]]:
    """The cells, the lines and the columns of the table."""
    places = [int(i) for role in ("prototype", "criticism") for i in result.places(role)[:most]]
    lines, columns = line_names(result, places), shown_features(result, features)
    counts = result.settings.get("method") == "weighted" and result.discrepancy is not None
    weights = result.discrepancy.weights if counts and result.discrepancy is not None else None
    heads = [result.column_names[j] for j in columns]
    rows: list[Row] = []
    for line, i in zip(lines, places, strict=True):
        chosen = i < len(result.values)
        rows.append(_cell(line, "share", percent(float(result.values[i])) if chosen else ""))
        if weights is not None:
            rows.append(_cell(line, "weight", percent(float(weights[i])) if chosen else ""))
        if len(result.places("criticism")):
            rows.append(_cell(line, "witness", number(float(result.witness[i]), sign=True)))
        if any(result.groups):
            rows.append(_cell(line, "group", result.groups[i]))
        for name, j in zip(heads, columns, strict=True):
            contrast = float(result.contrast[i, j]) if chosen else 0.0
            tip = f"{number(contrast, sign=True)} standard deviations" if chosen and contrast else ""
            rows.append(_cell(line, name, in_full(result.cells[j][i]), shade(contrast), tip))
        rows.append(_cell(line, "prediction ", prediction_words(result, i)))
        if len(result.outcomes):
            wrong = bool(result.header.classes) and result.errors[i] > 0
            rows.append(
                _cell(line, "outcome ", in_full(result.outcomes[i]), ("#FBE3D6" if wrong else PLAIN, theme.INK))
            )
    return rows, lines, list(dict.fromkeys(row["column"] for row in rows))


def _cell(line: str, column: str, value: str, look: tuple[str, str] = (PLAIN, theme.INK), tip: str = "") -> Row:
    return {"line": line, "column": column, "value": value, "shade": look[0], "ink": look[1], "tip": tip}


def table(result: Prototypes, options: PrototypeOptions) -> ChartType:
    """One line per example."""
    rows, lines, columns = table_data(result, options.max_display, options.max_features)
    texts = "text" if result.vocabulary.whole == "text" else None
    chart, width = cell_table(rows, lines, columns, options.width, texts)
    if options.height:
        chart = chart.properties(height=options.height)
    hidden = len(result.column_names) - min(options.max_features, len(result.column_names))
    more = len(result.roles) - len(lines)
    whole = result.vocabulary.whole
    notes = [
        "orange: higher (or more frequent) among its rows than among all, blue: lower" if texts is None else "",
        f"{counted(hidden, 'more feature')} not shown" if hidden else "",
        f"{counted(more, 'more example')} not shown" if more > 0 else "",
        caveat_note(result),
    ]
    return told(chart, result, options, f"Typical {whole}s and what is typical of them", notes, max(width, 420.0))
