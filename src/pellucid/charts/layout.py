"""Putting parts together: a main view with something to its right and below it, and titles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Self

import altair as alt
from altair.typing import ChartType
from altair.utils.schemapi import SchemaBase

from pellucid.charts.text import wrapped


class _Composed:
    """Several views in one, copied as it stands.

    Altair composes every copy anew, which copies all the parts again at each level; and it copies at every step.
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
    return value.copy() if isinstance(value, SchemaBase) else value


def altairs_own(view: Any) -> Any:
    """The same view, and all its parts, in Altair's own classes."""
    if isinstance(view, list):
        return [altairs_own(part) for part in view]
    if not isinstance(view, _Composed):
        return view
    own = next(kind for kind in type(view).__mro__ if kind.__module__ != __name__)
    return own(**{name: altairs_own(value) for name, value in view._kwds.items()})


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
    return LayerChart(layer=views, **more)


def concat(*views: ChartType, **more: Any) -> alt.ConcatChart:
    """The views in rows and columns."""
    return ConcatChart(concat=views, **more)


def hconcat(*views: ChartType, **more: Any) -> alt.HConcatChart:
    """The views beside each other."""
    return HConcatChart(hconcat=views, **more)


def vconcat(*views: ChartType, **more: Any) -> alt.VConcatChart:
    """The views below each other."""
    return VConcatChart(vconcat=views, **more)


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


def titled(body: ChartType, title: str, notes: Sequence[str], pixels: float) -> ChartType:
    """The chart with a title and, below it, the notes."""
    room = max(pixels, 400.0) + 60.0  # the axis stands beside the plot
    words: dict[str, Any] = {"text": wrapped(title, room, 15)}
    if any(notes):
        words["subtitle"] = wrapped(" · ".join(note for note in notes if note), room, 12)
    return body.properties(title=alt.TitleParams(**words))
