"""Fragile rows: the distance of each from another prediction, or the share of rows that flip within a distance."""

from __future__ import annotations

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import Row, data, layered, level_axis, told, tooltips, value_axis
from pellucid.charts.text import caveat_note
from pellucid.explanations import FragileRows
from pellucid.explanations.counterfactual_words import in_full
from pellucid.explanations.fragile_words import NORMS, distance_of
from pellucid.explanations.plot_options import FragileOptions
from pellucid.words import counted, number, percent

_SHOWN, _BAR = 3, 24  # changes in words beside a bar; its height
_PROVEN, _FOUND = "proven", "found, may be smaller"
_LETTERS = 60  # of the changes beside a bar


def body(result: FragileRows, options: FragileOptions) -> ChartType:
    """The Altair chart."""
    return _curve(result, options) if options.kind == "curve" else _rows(result, options)


def row_data(result: FragileRows, most: int) -> list[Row]:
    """One row per bar, the most fragile first; rows that do not flip have none."""
    order = result.ranking(most)
    names = _apart([f"row {result.row_labels.name(int(i))}" for i in order])
    return [
        {
            "row": name,
            "distance": float(result.values[i]),
            "distance_text": distance_of(result, int(i)),
            "flip": f"{result.said[i]} to {result.answer_said[i]}",
            "words": _beside(result, int(i)),
            "change": result.change(int(i)),
            "sure": _PROVEN if result.proven[i] else _FOUND,
        }
        for i, name in zip(order, names, strict=True)
        if result.flipped[i]
    ]


def curve_data(result: FragileRows) -> list[Row]:
    """The share of the rows that flip within each distance: steps, from 0 on."""
    asked = int((~np.isnan(result.values)).sum())
    sizes = np.sort(result.values[result.flipped])
    found, counts = np.unique(sizes, return_counts=True)
    shares = np.cumsum(counts) / max(asked, 1)
    steps = [(0.0, 0.0), *zip(found.tolist(), shares.tolist(), strict=True)]
    return [{"distance": x, "share": y, "words": f"{percent(y)} of the rows flip within {number(x)}"} for x, y in steps]


def _beside(result: FragileRows, i: int) -> str:
    """What the model would say, and with which changes."""
    changes = [f"{name} {in_full(now)} → {in_full(instead)}" for name, (now, instead) in result.changes(i).items()]
    fits = [k for k in range(1, _SHOWN + 1) if len(", ".join(changes[:k])) <= _LETTERS]
    words = changes[: max(fits, default=1)]
    more = f" and {len(changes) - len(words)} more" if len(changes) > len(words) else ""
    return f"{result.answer_said[i]}: {', '.join(words)}{more}"


def _apart(names: list[str]) -> list[str]:
    """Names with a number where a row stands twice."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


def _rows(result: FragileRows, options: FragileOptions) -> ChartType:
    rows = row_data(result, options.max_display)
    width, height = options.width or theme.WIDTH * 0.8, options.height or _BAR * max(len(rows), 2)
    most = max((row["distance"] for row in rows), default=1.0) or 1.0
    x = alt.X("distance", **value_axis(_axis(result), (0.0, 1.05 * most), width))
    y = alt.Y("row", **level_axis(None, [row["row"] for row in rows], height))
    kinds = [kind for kind in (_PROVEN, _FOUND) if any(row["sure"] == kind for row in rows)]
    inks = {_PROVEN: theme.MAIN, _FOUND: theme.CATEGORIES[5]}
    legend = alt.Legend(title=None, orient="top") if len(kinds) > 1 else None
    colour = alt.Color("sure:N", scale=alt.Scale(domain=kinds, range=[inks[kind] for kind in kinds]), legend=legend)
    tips = tooltips(
        ("row", "row"), ("distance", "distance_text"), ("prediction", "flip"), ("change", "change"), ("", "sure")
    )
    chart = alt.Chart(data(rows))
    bars = chart.mark_bar(height=_BAR * 0.62).encode(x=x, y=y, color=colour, tooltip=tips)
    words = chart.mark_text(align="left", baseline="middle", fontSize=11, color=theme.INK)
    beside = words.encode(x=alt.value(width + 8), y=y, text=alt.Text("words:N"), tooltip=tips)
    more = int(result.flipped.sum()) - len(rows)
    notes = [f"{counted(more, 'more row')}: see .frame()" if more else "", *_notes(result, kinds)]
    what = "How little has to change for another prediction; beside each bar, the new one and the change"
    return told(layered(bars, beside).properties(width=width, height=height), result, options, what, notes, width + 320)


def _curve(result: FragileRows, options: FragileOptions) -> ChartType:
    rows = curve_data(result)
    width, height = options.width or theme.WIDTH, options.height or theme.HEIGHT
    most = rows[-1]["distance"] or 1.0
    x = alt.X("distance", **value_axis(_axis(result), (0.0, 1.04 * most), width))
    y = alt.Y("share", **value_axis("share of the rows that flip", (0.0, 1.02), height, scale="probability"))
    line = alt.Chart(data(rows)).mark_line(interpolate="step-after", strokeWidth=2, color=theme.MAIN)
    points = alt.Chart(data(rows[1:])).mark_point(filled=True, size=30, opacity=1, color=theme.MAIN)
    chart = layered(line.encode(x=x, y=y), points.encode(x=x, y=y, tooltip=tooltips(("", "words"))))
    kinds = [_PROVEN if sure else _FOUND for sure in result.proven[result.flipped]]
    what = "Share of the rows that a change of so much predicts otherwise"
    finding = result.findings()[2] if int(result.flipped.sum()) > 3 else ""  # how the rows spread
    return told(
        chart.properties(width=width, height=height),
        result,
        options,
        what,
        _notes(result, sorted(set(kinds))),
        width,
        finding=finding,
    )


def _axis(result: FragileRows) -> str:
    words = {
        "linf": "largest change, in ranges of the features",
        "l1": "sum of changes, in ranges of the features",
        "l2": "L2 norm of the changes, in ranges of the features",
        "l0": "number of changes and Gower distance",
    }
    return words.get(result.norm, NORMS[result.norm])


def _notes(result: FragileRows, kinds: list[str]) -> list[str]:
    """How sure the distances are, and what is not drawn."""
    sure = {_PROVEN: "every distance is proven", _FOUND: "no distance is proven: true ones may be smaller"}
    beyond, already = int(np.isinf(result.values).sum()), int(np.isnan(result.values).sum())
    return [
        sure[kinds[0]] if len(kinds) == 1 else "",
        f"{counted(beyond, 'row')} without such a change" if beyond else "",
        f"{counted(already, 'row')} already predicted as wanted" if already else "",
        f"{len(result):,} of {result.sampled_from:,} rows, drawn at random" if result.sampled_from else "",
        caveat_note(result),
    ]
