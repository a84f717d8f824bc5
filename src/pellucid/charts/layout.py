"""How a chart is laid out: axes that fit the data, views beside and below each other, and titles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, Self

import altair as alt
import numpy as np
from altair.typing import ChartType
from altair.utils.schemapi import SchemaBase

from pellucid.arrays import AnyArray, FloatArray
from pellucid.charts import theme
from pellucid.charts.text import wrapped
from pellucid.explanations import Explanation
from pellucid.explanations.option import PlotOptions
from pellucid.words import may_be_year

FEW_INTEGERS = 30
_FEW_TICKS = 6  # whole numbers that all have a tick: Vega would put some between
Limits = tuple[float, float]
Row = dict[str, Any]


def limits_of(*arrays: Any, zero: bool = False, within: Limits | None = None) -> Limits:
    """Least and greatest finite number of the arrays, with a margin (not beyond ``within``); never of zero width."""
    parts = [np.asarray(array, dtype=np.float64).ravel() for array in arrays]
    numbers = np.concatenate([*parts, [0.0]] if zero else parts) if parts or zero else np.empty(0)
    numbers = numbers[np.isfinite(numbers)]
    if numbers.size == 0:
        return (0.0, 1.0)
    low, high = float(numbers.min()), float(numbers.max())
    size = max(abs(low), abs(high))
    margin = 0.04 * (high - low) if high - low > 1e-9 * size else 0.1 * size or 1.0
    least, most = within or (-np.inf, np.inf)
    return max(low - margin, min(low, least)), min(high + margin, max(high, most))


def bounds(scale: str, *, change: bool) -> Limits | None:
    """Between which numbers a quantity lies whatever the model: a probability between 0 and 1."""
    return (0.0, 1.0) if scale == "probability" and not change else None


def number_format(limits: Limits) -> Any:
    """Vega's own adaptive format, but powers of ten where zeros would fill the axis."""
    size = max(abs(limits[0]), abs(limits[1]))
    return alt.Undefined if 1e-3 <= size < 1e7 else ".3~g"


def value_labels(limits: Limits, scale: str, *, change: bool) -> dict[str, Any]:
    """How an axis or a legend writes the explained quantity: probabilities in percent, their changes in points.

    An axis may have room beyond 0 and 100% for words; no probability is written there.
    """
    if scale != "probability":
        return {"format": number_format(limits)}
    if change:
        return {"labelExpr": "format(100 * datum.value, '.3~g') + (datum.value ? ' pp' : '')"}
    return {"format": "%", "labelExpr": "datum.value < -1e-9 || datum.value > 1 + 1e-9 ? '' : datum.label"}


def positions(grid: AnyArray) -> FloatArray:
    """Feature values as numbers on a continuous axis: dates as milliseconds since 1970."""
    if grid.dtype.kind == "M":
        return np.asarray(grid.astype("datetime64[us]").astype(np.int64) / 1000.0)
    return grid.astype(np.float64)


def span(grid: FloatArray, data: FloatArray, kind: str) -> Limits:
    """What a continuous feature axis covers: the grid, or the data when the grid is one point.

    A few integers get half a unit on both sides, so that the histogram has a whole bar for each.
    """
    known = grid[np.isfinite(grid)]
    if known.size and known.max() > known.min():
        half = 0.5 if kind == "integer" and known.max() - known.min() < FEW_INTEGERS else 0.0
        return float(known.min()) - half, float(known.max()) + half
    return limits_of(np.concatenate([known, data]))


def plain(array: Any) -> list[Any]:
    """Numbers as JSON can hold them: unknown and infinite ones are null."""
    numbers = np.asarray(array, dtype=np.float64)
    return [float(x) if np.isfinite(x) else None for x in numbers.ravel()]


def data(rows: list[Row]) -> alt.InlineData:
    """Rows as the data of a chart."""
    inline = alt.InlineData(values=[])
    # Set afterwards, because the constructor would check every row; a tuple, because a list would be copied
    # row by row at each step of composing.
    inline.values = tuple(rows)
    return inline


def feature_axis(
    name: str, kind: str, limits: Limits, pixels: float, *, labels: bool = True, log: bool = False
) -> dict[str, Any]:
    """Properties of the x or y channel of a continuous feature."""
    axis: dict[str, Any] = {"title": wrapped(name, pixels), "tickCount": max(2, round(pixels / 70))}
    if kind == "integer" and not log:
        axis |= _whole_ticks(limits)
    if log and limits[1] < 1000 * limits[0]:  # else powers of ten are enough
        axis["values"] = log_ticks(limits)
    if kind != "date":
        years = kind == "integer" and may_be_year(limits[0]) and may_be_year(limits[1])
        axis["format"] = "d" if years else number_format(limits)
    if not labels:
        axis |= {"title": None, "labels": False, "ticks": False}
    # Dates are shown as they were given, not in the reader's time zone.
    scale = {"type": "utc"} if kind == "date" else {"type": "log"} if log else {"zero": False}
    return {
        "type": "temporal" if kind == "date" else "quantitative",
        "axis": alt.Axis(**axis),
        "scale": alt.Scale(domain=list(limits), nice=False, **scale),
    }


def _whole_ticks(limits: Limits) -> dict[str, Any]:
    """Ticks at whole numbers only: each of a few, of more those that Vega chooses."""
    least, most = math.ceil(limits[0]), math.floor(limits[1])
    return {"values": list(range(least, most + 1))} if most - least < _FEW_TICKS else {"tickMinStep": 1}


def log_ticks(limits: Limits) -> list[float]:
    """1, 2 and 5 times the powers of ten within the limits."""
    powers = range(math.floor(math.log10(limits[0])), math.ceil(math.log10(limits[1])) + 1)
    return [tick for power in powers for tick in (k * 10.0**power for k in (1, 2, 5)) if limits[0] <= tick <= limits[1]]


def value_axis(
    title: str | None, limits: Limits, pixels: float, *, scale: str = "response", change: bool = False, **more: Any
) -> dict[str, Any]:
    """Properties of the x or y channel of the explained quantity, or of a ``change`` of it."""
    words = None if title is None else wrapped(title, pixels)
    labels = value_labels(limits, scale, change=change)
    letters = len(f"{max(abs(limits[0]), abs(limits[1])):,.0f}")  # large numbers need more room
    ticks = max(3, round(pixels / max(50.0, 7.0 * letters + 24.0)))
    axis = alt.Axis(**{"title": words, **labels, "tickCount": ticks, **more})
    return {"type": "quantitative", "axis": axis, "scale": alt.Scale(domain=list(limits), zero=False, nice=False)}


def level_axis(
    name: str | None, levels: list[str], pixels: float, *, cells: bool = False, **more: Any
) -> dict[str, Any]:
    """Properties of the x or y channel of levels, in the order given; ``cells`` lets them touch, nearly."""
    words = None if name is None else wrapped(name, pixels)
    room = theme.SLANTED if more.get("labelAngle") else 0  # tooltips have the whole name
    axis = alt.Axis(**{"title": words, "grid": False, "labelOverlap": False, "labelLimit": room, **more})
    gaps: dict[str, Any] = {"paddingInner": 0.04, "paddingOuter": 0} if cells else {}
    return {"type": "nominal", "axis": axis, "scale": alt.Scale(domain=levels, **gaps), "sort": None}


def tooltips(*pairs: tuple[str, str]) -> list[alt.Tooltip]:
    """Tooltip lines ``(title, field)``; titles become keys of an expression, so they are cleaned and kept apart."""
    lines: list[alt.Tooltip] = []
    seen: set[str] = set()
    for title, field in pairs:
        key = " ".join(title.replace("\\", "\u2216").split())
        while key in seen:
            key += " "
        seen.add(key)
        lines.append(alt.Tooltip(field, type="nominal", title=key))
    return lines


class _Composed:
    """Several views in one, or one of them, copied as it stands.

    Altair composes every copy anew, which copies all the parts again at each level, down to the last property of an
    axis; and it copies at every step. What it changes in a copy is the views and their own properties, never what these
    hold, so that copies can share it.
    """

    _args: tuple[Any, ...]
    _kwds: dict[str, Any]

    def copy(self, deep: bool | Iterable[Any] = True, ignore: list[str] | None = None) -> Self:
        anew = self._kwds.keys() - set(ignore or ()) if deep is True else set(deep or ())
        twin = object.__new__(type(self))
        object.__setattr__(twin, "_args", self._args)
        copied = {name: _copied(value) if name in anew else value for name, value in self._kwds.items()}
        object.__setattr__(twin, "_kwds", copied)
        return twin

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()


def _copied(value: Any) -> Any:
    if isinstance(value, list):
        return [_copied(item) for item in value]
    if isinstance(value, dict):
        return {name: _copied(item) for name, item in value.items()}
    return value.copy() if isinstance(value, SchemaBase) and isinstance(value, alt.TopLevelMixin) else value


def altairs_own(view: Any) -> Any:
    """The same view, and all its parts, in Altair's own classes."""
    if isinstance(view, list):
        return [altairs_own(part) for part in view]
    if not isinstance(view, _Composed):
        return view
    own = next(kind for kind in type(view).__mro__ if kind.__module__ != __name__)
    return own(**{name: altairs_own(value) for name, value in view._kwds.items()})


class Chart(_Composed, alt.Chart):
    """One view."""

    @classmethod
    def of(cls, view: ChartType) -> ChartType:
        """The view, copied as it stands from now on, if it is a single one."""
        if type(view) is not alt.Chart:
            return view
        twin = object.__new__(cls)
        object.__setattr__(twin, "_args", view._args)
        object.__setattr__(twin, "_kwds", dict(view._kwds))
        return twin


class LayerChart(_Composed, alt.LayerChart):
    """Views over each other."""


class ConcatChart(_Composed, alt.ConcatChart):
    """Views in rows and columns."""


class HConcatChart(_Composed, alt.HConcatChart):
    """Views beside each other."""


class VConcatChart(_Composed, alt.VConcatChart):
    """Views below each other."""


def layered(*views: ChartType, **more: Any) -> alt.LayerChart:
    """The views over each other, the first at the bottom."""
    return LayerChart(layer=[Chart.of(view) for view in views], **more)


def concat(*views: ChartType, **more: Any) -> alt.ConcatChart:
    """The views in rows and columns."""
    return ConcatChart(concat=[Chart.of(view) for view in views], **more)


def hconcat(*views: ChartType, **more: Any) -> alt.HConcatChart:
    """The views beside each other."""
    return HConcatChart(hconcat=[Chart.of(view) for view in views], **more)


def vconcat(*views: ChartType, **more: Any) -> alt.VConcatChart:
    """The views below each other."""
    return VConcatChart(vconcat=[Chart.of(view) for view in views], **more)


def assemble(main: ChartType, right: ChartType | None, below: Sequence[ChartType]) -> ChartType:
    """The main view, a narrow view at its right and views of the same width below, with axes lined up."""
    if right is None and not below:
        return main
    if right is None:
        return grid([main, *below], columns=1, row=6)
    blank = alt.Chart(alt.InlineData(values=[])).mark_point().properties(width=1, height=1)
    parts: list[ChartType] = [main, right]
    for view in below:
        parts += [view, blank]
    # Flush: only the plots line up, so the words below the narrow view do not push the next row down.
    return grid(parts[: -1 if below else None], columns=2, row=12, column=12, bounds="flush")


def grid(
    parts: Sequence[ChartType],
    *,
    columns: int,
    row: int = 24,
    column: int = 24,
    one_legend: bool = True,
    bounds: Literal["full", "flush"] = "full",
) -> ChartType:
    """Views in rows of ``columns``; every row and column is as large as its largest view."""
    body = concat(*parts, columns=columns, spacing={"row": row, "column": column}, align="each", bounds=bounds)
    colours: Literal["shared", "independent"] = "shared" if one_legend else "independent"
    return body.resolve_scale(color=colours, x="independent", y="independent")


def by_output(views: Sequence[ChartType], outputs: Sequence[str], *, columns: int = 2, column: int = 24) -> ChartType:
    """The only view, or one view per output with the output's name above it."""
    if len(views) == 1:
        return views[0]
    named = [
        view.properties(title=alt.TitleParams(wrapped(output, 240), fontSize=13))
        for view, output in zip(views, outputs, strict=True)
    ]
    return grid(named, columns=min(columns, len(named)), column=column)


def told(
    body: ChartType,
    found: Explanation,
    options: PlotOptions,
    what: str,
    notes: Sequence[str],
    pixels: float,
    *,
    finding: str = "",
) -> ChartType:
    """The chart under its finding (that of the result, unless another is given) and, below, what it is and the notes.

    A title that was asked for stands for both.
    """
    if options.title:
        return titled(body, options.title, notes, pixels)
    return titled(
        body, (found.so_far(finding) if finding else found.headline()).removesuffix("."), [what, *notes], pixels
    )


def titled(body: ChartType, title: str, notes: Sequence[str], pixels: float) -> ChartType:
    """The chart with a title and, below it, the notes."""
    room = max(pixels, 400.0) + 60.0  # the axis stands beside the plot
    words: dict[str, Any] = {"text": wrapped(title, room, 15)}
    if any(notes):
        words["subtitle"] = wrapped(" · ".join(note for note in notes if note), room, 12)
    return body.properties(title=alt.TitleParams(**words))
