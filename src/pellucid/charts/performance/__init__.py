"""How good predictions are: one chart of each kind, or all that fit what is predicted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import altair as alt
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import grid, titled
from pellucid.charts.performance.calibration import calibration
from pellucid.charts.performance.classes import precision_recall, roc, thresholds
from pellucid.charts.performance.confusion import confusion
from pellucid.charts.performance.numbers import predicted, residuals
from pellucid.charts.text import caveat_note, wrapped
from pellucid.errors import InputError
from pellucid.explanations import Performance, changed
from pellucid.explanations.plot_options import PerformanceOptions

_NUMBERS: dict[str, Callable[[Performance, PerformanceOptions], ChartType]] = {
    "predicted": predicted,
    "residuals": residuals,
}
_CLASSES: dict[str, Callable[[Performance, PerformanceOptions], ChartType]] = {
    "confusion": confusion,
    "calibration": calibration,
    "roc": roc,
    "precision-recall": precision_recall,
    "thresholds": thresholds,
}
_TITLES = {
    "predicted": "Predicted against actual values",
    "residuals": "Residuals: outcome minus prediction",
    "confusion": "Confusion matrix: share of each true class",
    "calibration": "Calibration of the probabilities",
    "roc": "ROC: recall against false alarms",
    "precision-recall": "Precision and recall",
    "thresholds": "What a threshold does",
}


def shown_kinds(found: Performance) -> list[str]:
    """The charts that fit what is predicted, in reading order."""
    if found.is_regression:
        return list(_NUMBERS)
    there = {
        "confusion": True,
        "calibration": bool(found.bins),
        "roc": bool(found.rankings),
        "precision-recall": bool(found.rankings),
        "thresholds": len(found.rankings) == 1 and found.scale == "probability",
    }
    return [kind for kind in _CLASSES if there[kind]]


def chosen(found: Performance, name: str | None) -> Performance:
    """The same with one output only."""
    if name is None:
        return found
    if name not in found.output_names:
        raise InputError(f"output must be one of {', '.join(found.output_names)}, got {name!r}.")
    k = found.output_names.index(name)
    columns = slice(k, k + 1)
    rest = {"off": found.off[:, columns], "actual": found.actual[:, columns], "predicted": found.predicted[:, columns]}
    return changed(
        found,
        output_names=(name,),
        bins=found.bins[columns],
        rankings=tuple(one for one in found.rankings if one.name == name),
        **(rest if found.is_regression else {}),
    )


def body(found: Performance, options: PerformanceOptions) -> ChartType:
    """The Altair chart of performance."""
    found = chosen(found, options.output)
    known = shown_kinds(found)
    charts = {**_NUMBERS, **_CLASSES}
    if options.kind == "auto":
        views = [_named(charts[kind](found, options), _TITLES[kind]) for kind in known]
        chart = grid(views, columns=2, row=30, column=40, one_legend=False)
        return titled(chart, options.title or _headline(found), [caveat_note(found)], 2 * theme.WIDTH)
    if options.kind not in known:
        raise InputError(f"kind must be one of {', '.join(['auto', *known])} for this model, got {options.kind!r}.")
    chart = charts[options.kind](found, options)
    width = options.width or theme.WIDTH
    return titled(chart, options.title or _TITLES[options.kind], [caveat_note(found)], width)


def _headline(found: Performance) -> str:
    return found.findings()[0].removesuffix(".")


def _named(view: ChartType, title: str) -> ChartType:
    lines: Sequence[str] = wrapped(title, 300, 13)
    return view.properties(title=alt.TitleParams(list(lines), fontSize=13))
