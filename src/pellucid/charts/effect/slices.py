"""Slices: the effect of three features, as heat maps of the first two for parts of the third.

A slice is a level or a bin of the third feature; six are drawn at most, all with one colour scale. Rows of
data are shown in the slice they belong to. Contour lines are left out: with few rows per cell they would make
noise look like a landscape.
"""

from __future__ import annotations

import dataclasses

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import BoolArray
from pellucid.charts.effect.surface import cell_places, cells_along, heat_map, surface_notes, value_range
from pellucid.charts.layout import grid, positions
from pellucid.charts.text import rows_text, wrapped
from pellucid.explanations import Effect, changed
from pellucid.explanations.plot_options import EffectOptions

_MOST = 6
_WIDTH, _HEIGHT = 200.0, 160.0


def draw_slices(effect: Effect, options: EffectOptions) -> ChartType:
    """The chart without its title: the views of every output, in rows of two or three."""
    limits = value_range(effect)
    small = _sized(effect, options)
    parts = slices(effect)
    views = []
    for output in effect.output_names:
        prefix = f"{output}, " if len(effect.output_names) > 1 else ""
        for name, part in parts:
            view = heat_map(part, output, small, limits, contours=False)
            lines = wrapped(prefix + name, small.width or _WIDTH, 12)
            views.append(view.properties(title=alt.TitleParams(lines, fontSize=12, offset=6)))
    return grid(views, columns=2 if len(parts) in (2, 4) else min(3, len(parts)))


def slice_notes(effect: Effect, options: EffectOptions) -> list[str]:
    """How many slices are left out, and what the marks mean."""
    parts, name = slices(effect), effect.feature_names[2]
    n = len(cell_places(effect, 2))
    notes = {f"{len(parts)} of {n} slices of {name}": None} if n > len(parts) else {}
    for _, part in parts:
        notes |= dict.fromkeys(note for line in surface_notes(part, options) for note in line.split("; "))
    return ["; ".join(note for note in notes if note)]


def slices(effect: Effect) -> list[tuple[str, Effect]]:
    """The parts of the third feature that are drawn: a name with the rows in it, and the effect of the first two."""
    places = cell_places(effect, 2)
    averages = cells_along(effect, 2, effect.stacked("average"))
    named = []
    for k in _drawn(effect, len(places)):
        average = averages[:, :, k] if len(effect.output_names) > 1 else averages[:, :, k, 0]
        counts = effect.counts[:, :, k]
        inside = _inside(effect, k)
        part = changed(
            effect,
            grids=effect.grids[:2],
            kinds=effect.kinds[:2],
            feature_names=effect.feature_names[:2],
            values=average,
            average=average,
            **dict.fromkeys(("se", "low", "high"), np.full(average.shape, np.nan)),
            counts=counts,
            spread=np.full(average.shape, np.nan),
            rug=tuple(column[inside] for column in effect.rug[:2]),
        )
        words = f"{effect.feature_names[2]}: {places[k]['text']} ({rows_text(float(counts.sum()))})"
        named.append((words, part))
    return named


def _drawn(effect: Effect, n: int) -> list[int]:
    """Six slices at most: the levels with most rows, or bins evenly from the first to the last."""
    if n <= _MOST:
        return list(range(n))
    if effect.nominal[2]:
        rows = effect.counts.sum(axis=(0, 1))
        return sorted(np.argsort(-rows, kind="stable")[:_MOST].tolist())
    return [int(k) for k in np.linspace(0, n - 1, _MOST).round()]


def _inside(effect: Effect, k: int) -> BoolArray:
    """Which of the rows of data shown lie in a slice."""
    shown = effect.rug[2]
    if effect.nominal[2]:
        return np.array([str(value) == str(effect.grids[2][k]) for value in shown], dtype=bool)
    at, edges = positions(shown), positions(effect.grids[2])
    if len(edges) == 1:
        return np.ones(len(at), dtype=bool)
    above = at >= edges[0] if k == 0 else at > edges[k]
    return np.asarray(above & (at <= edges[k + 1]))


def _sized(effect: Effect, options: EffectOptions) -> EffectOptions:
    """Small views along numbers; along levels their number decides."""
    return dataclasses.replace(
        options,
        width=options.width or (None if effect.nominal[0] else _WIDTH),
        height=options.height or (None if effect.nominal[1] else _HEIGHT),
    )
