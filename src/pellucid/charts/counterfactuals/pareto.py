"""Answers as trade-offs: distance against another objective, the number of changes as colour.

Filled answers are on the Pareto front: no other is as good in target, distance, changes and distance from the data and
better in one of them. The line joins those that are best in the two objectives drawn.
"""

from __future__ import annotations

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.counterfactuals.columns import predicted
from pellucid.charts.layout import Row, data, layered, limits_of, told, tooltips, value_axis
from pellucid.charts.text import caveat_note
from pellucid.explanations.counterfactuals import Counterfactuals
from pellucid.explanations.plot_options import CounterfactualOptions
from pellucid.words import counted, number

_WORDS = {
    "nearest": "distance from the nearest row of the data (Gower)",
    "changes": "number of changed features",
    "target": "distance of the prediction from the target",
}
_DISTANCES = {"gower": "Gower distance", "manhattan": "Manhattan distance", "changes": "number of changes and Gower"}
_NAMED = 8  # answers that all have their number
_SIZE, _POINT = 11, 7  # of a label, and the radius of a point, in pixels
_SIDES = ((0, -15), (0, 15), (1, -10), (1, 10), (-1, -10), (-1, 10), (1, 0), (-1, 0), (0, -28), (0, 28))


def answer_data(result: Counterfactuals, against: str) -> list[Row]:
    """One row per answer: its scores, and whether it is on the front."""
    front = result.front
    return [
        {
            "answer": str(i + 1),
            "distance": float(result.scores["distance"][i]),
            "score": float(result.scores[against][i]),
            "changes": int(result.scores["changes"][i]),
            "nearest": number(float(result.scores["nearest"][i])),
            "distance_text": number(float(result.scores["distance"][i])),
            "front": bool(front[i]),
            "said": predicted(result, i),
        }
        for i in range(len(result))
    ]


def stair_data(rows: list[Row]) -> list[Row]:
    """Corners of the line below which no answer lies in the two objectives drawn, from left to right."""
    best = np.inf
    stairs: list[Row] = []
    for row in sorted(rows, key=lambda row: (row["distance"], row["score"])):
        if row["score"] < best:
            if stairs:
                stairs.append({"distance": row["distance"], "score": best})
            stairs.append({"distance": row["distance"], "score": row["score"]})
            best = row["score"]
    return [{**row, "order": k} for k, row in enumerate(stairs)]


def placed(
    rows: list[Row], named: list[Row], across: tuple[float, float], up: tuple[float, float], width: float, height: float
) -> dict[tuple[int, int], list[Row]]:
    """The labels of some points by where they stand, in pixels beside their point: clear of points and of each other
    where there is room; answers that nearly cover each other share a label.
    """

    def pixels(row: Row) -> tuple[float, float]:
        right = (row["distance"] - across[0]) / (across[1] - across[0])
        return right * width, (up[1] - row["score"]) / (up[1] - up[0]) * height

    taken = [(x - _POINT, x + _POINT, y - _POINT, y + _POINT) for x, y in map(pixels, rows)]
    groups: list[list[Row]] = []
    for row in named:
        near = [some for some in groups if any(_near(pixels(row), pixels(other)) for other in some)]
        groups = [some for some in groups if some not in near] + [[*(one for some in near for one in some), row]]
    found: dict[tuple[int, int], list[Row]] = {}
    for some in groups:
        label = runs(sorted(int(row["answer"]) for row in some))
        x, y = np.mean([pixels(row) for row in some], axis=0).tolist()
        half = 0.32 * _SIZE * len(label)
        best, least = (0, -15), np.inf
        for side, dy in _SIDES:
            dx = round(side * (_POINT + 6 + half))
            box = (x + dx - half, x + dx + half, y + dy - _SIZE / 2, y + dy + _SIZE / 2)
            outside = min(box[0], width - box[1], box[2], height - box[3]) < 0
            hidden = sum(_shared(box, other) for other in taken) + 3 * outside
            if hidden < least:
                best, least, chosen = (dx, dy), hidden, box
        taken.append(chosen)
        middle = {key: float(np.mean([row[key] for row in some])) for key in ("distance", "score")}
        found.setdefault(best, []).append({**middle, "label": label})
    return found


def runs(numbers: list[int]) -> str:
    """Numbers in order, three and more in a row by their ends.

    >>> runs([1, 2, 3, 4, 6, 7])
    '1-4, 6, 7'
    """
    found: list[list[int]] = []
    for one in numbers:
        if found and found[-1][-1] == one - 1:
            found[-1].append(one)
        else:
            found.append([one])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in found)


def _near(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two points nearly cover each other."""
    return abs(one[0] - other[0]) <= 1.5 * _POINT and abs(one[1] - other[1]) <= 1.5 * _POINT


def _shared(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Whether two boxes (left, right, top, bottom) overlap."""
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def finding(result: Counterfactuals) -> str:
    """How many answers are worth a thought."""
    n, kept = len(result), int(result.front.sum())
    if n < 2 or not result.changed.any():
        return ""
    if kept == n:
        return f"None of the {n} answers is beaten by another: each trades distance, changes and nearness to the data"
    others = "the other is" if n - kept == 1 else f"each of the other {n - kept} is"
    return f"{kept} of {n} answers {'is' if kept == 1 else 'are'} on the Pareto front; {others} beaten by one of these"


def body(result: Counterfactuals, options: CounterfactualOptions) -> ChartType:
    """The Altair chart."""
    rows = answer_data(result, options.against)
    width, height = options.width or theme.WIDTH, options.height or theme.HEIGHT
    asked = str(result.settings.get("distance"))
    across = limits_of([row["distance"] for row in rows])
    up = limits_of([row["score"] for row in rows])
    x = alt.X("distance", **value_axis(_DISTANCES.get(asked, "distance") + " from the row", across, width, tickCount=6))
    whole: Row = (
        {"values": list(range(1, int(up[1]) + 1)), "format": "d"} if options.against == "changes" else {"tickCount": 6}
    )
    y = alt.Y("score", **value_axis(_WORDS[options.against], up, height, **whole))
    counts = sorted({row["changes"] for row in rows})
    ink = alt.Scale(domain=counts, scheme=theme.SEQUENTIAL_LINES)
    colour = alt.Color("changes:O", scale=ink, legend=alt.Legend(title="changed features") if rows else None)
    tips = tooltips(
        ("answer", "answer"),
        ("prediction", "said"),
        ("distance", "distance_text"),
        ("changed features", "changes"),
        ("distance from the data", "nearest"),
    )
    line = alt.Chart(data(stair_data(rows))).mark_line(color=theme.FAINT, strokeWidth=1.5)
    layers: list[ChartType] = [line.encode(x=x, y=y, order=alt.Order("order:Q"))]
    for on_front in (True, False):
        some = alt.Chart(data([row for row in rows if row["front"] is on_front]))
        layers.append(
            some.mark_point(size=130, filled=on_front, opacity=1, strokeWidth=2).encode(
                x=x, y=y, color=colour, tooltip=tips
            )
        )
    named = [row for row in rows if row["front"] or len(rows) <= _NAMED]
    for (dx, dy), labels in placed(rows, named, across, up, width, height).items():
        words = alt.Chart(data(labels)).mark_text(dx=dx, dy=dy, fontSize=_SIZE, color=theme.INK)
        layers.append(words.encode(x=x, y=y, text=alt.Text("label:N")))
    chart = layered(*layers).properties(width=width, height=height)
    hollow = counted(len(rows) - int(result.front.sum()), "answer") if len(rows) else ""
    notes = [
        "numbers: the answers; filled: on the Pareto front"
        + (f", hollow: {hollow} beaten" if hollow[:2] != "0 " else ""),
        f"target: {result.target}",
        caveat_note(result),
    ]
    what = f"Trade-offs between the answers{result.row_labels.of_row()}"
    return told(chart, result, options, what, notes, width, finding=finding(result))
