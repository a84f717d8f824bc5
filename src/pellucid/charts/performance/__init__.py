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
from pellucid.explanations.performance_titles import chart_title
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
_SHOWN = {
    "predicted": "Predicted against actual values; orange: mean of each bin of predictions",
    "residuals": "Residuals (actual minus predicted); orange: bin means with 95% intervals; shaded: the middle 80%",
    "confusion": "Confusion matrix; colour: share of the true class",
    "calibration": "Calibration: observed share by predicted probability, with 95% intervals",
    "roc": "ROC curve; dashed: chance",
    "precision-recall": "Precision-recall curve; dashed: chance, the share of the class",
    "thresholds": "What each threshold flags",
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
        views = [_named(charts[kind](found, options), chart_title(found, kind), _SHOWN[kind]) for kind in known]
        chart = grid(views, columns=2, row=30, column=40, one_legend=False)
        return titled(chart, options.title or _headline(found), [caveat_note(found)], 2 * theme.WIDTH)
    if options.kind not in known:
        raise InputError(f"kind must be one of {', '.join(['auto', *known])} for this model, got {options.kind!r}.")
    chart = charts[options.kind](found, options)
    width = options.width or theme.WIDTH
    notes = [_SHOWN[options.kind], caveat_note(found)]
    return titled(chart, options.title or chart_title(found, options.kind), notes, width)


def _headline(found: Performance) -> str:
    return found.findings()[0].removesuffix(".")


def _named(view: ChartType, title: str, shown: str) -> ChartType:
    lines: Sequence[str] = wrapped(title, 380, 13)
    return view.properties(title=alt.TitleParams(list(lines), fontSize=13, subtitle=wrapped(shown, 380, 11)))
