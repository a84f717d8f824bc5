"""The chart of a decomposition: how much of the variance each component has, and what the largest look like.

Components of one feature share their value limits and those of two their colours, so that sizes compare.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.decomposition.components import colour_limit, curve_limits, main_view, pair_view
from pellucid.charts.layout import Row, data, grid, hconcat, layered, level_axis, limits_of, told, tooltips, value_axis
from pellucid.charts.text import caveat_note, level_names, scale_words, wrapped
from pellucid.errors import InputError, nearest
from pellucid.explanations.component import Axis, Component
from pellucid.explanations.decomposition import RESIDUAL, Decomposition
from pellucid.explanations.decomposition_words import TITLES, headline
from pellucid.explanations.plot_options import DecompositionOptions
from pellucid.stats import Z95
from pellucid.words import counted, number, percent, value_name

_COLUMNS = 3
_PANEL = (190.0, 130.0)
_SINGLE = (380.0, 260.0)
_BARS = 220.0
_STEP = 22.0
_DIFFER = 0.005  # between variance and covariance shares: less cannot be seen
_SLICES = 3
_SMALL = 0.001  # shares that are not worth a panel or a bar
_FEWEST = 3


def body(found: Decomposition, options: DecompositionOptions) -> ChartType:
    """The Altair chart of a decomposition."""
    k = _output(found, options)
    if options.component is not None:
        return _single(found, k, options)
    notes, finding = _notes(found, k, options), headline(found, k)
    of = partial(told, found=found, options=options, what=f"Decomposition by {TITLES[found.method]}", notes=notes)
    if options.kind == "shares":
        size = (options.width or theme.WIDTH - 60.0, options.height)
        return of(_shares(found, k, options.max_display, size), pixels=size[0] + 150, finding=finding)
    panels = _panels(found, k, options)
    columns = min(_COLUMNS, max(len(panels), 1))
    wide = columns * (_PANEL[0] + 60)
    if options.kind == "components":
        return of(grid(panels, columns=columns), pixels=wide, finding=finding)
    bars = _shares(found, k, options.max_display, (_BARS, None))
    if not panels:
        return of(bars, pixels=_BARS + 150, finding=finding)
    chart = hconcat(bars, grid(panels, columns=columns), spacing=40).resolve_scale(color="independent")
    return of(chart, pixels=wide + _BARS, finding=finding)


def share_rows(found: Decomposition, output: int, most: int) -> list[Row]:
    """One row per component worth showing, the largest share first, then all others together and the residual."""
    shares, errors = found.stacked()[:, output], found.stacked("se")[:, output]
    covariances = found.stacked("covariance")[:, output]
    sizes = np.maximum(shares, np.abs(covariances))
    order = np.argsort(-sizes, kind="stable")
    most = min(most, max(int((sizes > _SMALL).sum()), _FEWEST))
    rows = [_share(found.feature_names[j], "component", shares[j], covariances[j], errors[j]) for j in order[:most]]
    rest = order[most:]
    if len(rest):
        name = counted(len(rest), "other")
        rows.append(_share(name, "others", shares[rest].sum(), covariances[rest].sum(), 0.0))
    left = 1.0 - covariances.sum() if float(found.stacked("variance")[output]) > 0 else 0.0
    rows.append(_share(RESIDUAL, RESIDUAL, float(found.stacked("residual")[output]), left, 0.0))
    for row, label in zip(rows, level_names([row["component"] for row in rows]), strict=True):
        row["component"] = label
    return rows


def _share(name: str, kind: str, share: float, covariance: float, error: float) -> Row:
    share, covariance, error = float(share), float(covariance), float(error)
    return {
        "component": name,
        "kind": kind,
        "value": share,
        "zero": 0.0,
        "covariance": covariance,
        "low": share - Z95 * error,
        "high": share + Z95 * error,
        "share_text": percent(share),
        "covariance_text": percent(covariance),
        "label": percent(share),
    }


def overlapping(found: Decomposition, output: int) -> bool:
    """Whether variances and covariances differ so that it shows."""
    gap = found.stacked()[:, output] - found.stacked("covariance")[:, output]
    return bool((np.abs(gap) > _DIFFER).any())


def _shares(found: Decomposition, k: int, most: int, size: tuple[float, float | None]) -> ChartType:
    rows = share_rows(found, k, most)
    width, height = size[0], size[1] or _STEP * len(rows)
    y = alt.Y("component", **level_axis(None, [row["component"] for row in rows], height))
    overlap = overlapping(found, k)
    parts = [row[key] for row in rows for key in ("low", "high", *(["covariance"] if overlap else []))]
    limits = limits_of(parts, zero=True) if any(parts) else (0.0, 1.0)
    x = value_axis("share of the variance", limits, width, format="%")
    colour = alt.Color(
        "kind",
        type="nominal",
        legend=None,
        scale=alt.Scale(domain=["component", "others", RESIDUAL], range=[theme.MAIN, theme.CATEGORIES[5], theme.FAINT]),
    )
    pairs = [
        ("component", "component"),
        ("its variance", "share_text"),
        ("its covariance with the prediction", "covariance_text"),
    ]
    base = alt.Chart(data(rows)).encode(y=y, tooltip=tooltips(*pairs))
    layers: list[Any] = [
        base.mark_bar(opacity=0.8).encode(x=alt.X("value", **x), x2=alt.X2("zero"), color=colour),
        alt.Chart(data([{}])).mark_rule(color=theme.MUTED).encode(x=alt.XDatum(0)),
    ]
    if overlap:
        layers.append(base.mark_tick(color=theme.INK, thickness=2, size=14).encode(x=alt.X("covariance", **x)))
    sure = [row for row in rows if row["high"] > row["low"]]
    if sure:
        rule = alt.Chart(data(sure)).mark_rule(color=theme.INK, strokeWidth=1.5)
        layers.append(rule.encode(y=y, x=alt.X("low", **x), x2=alt.X2("high")))
    return layered(*layers).properties(width=width, height=height)


def _panels(found: Decomposition, k: int, options: DecompositionOptions) -> list[ChartType]:
    """The largest components of one and two features: curves first, then maps, each kind by size."""
    size = (options.width or _PANEL[0], options.height or _PANEL[1])
    drawn = shown_components(found, k, options.max_display)
    shares = dict(zip(found.feature_names, found.stacked()[:, k], strict=True))
    mains = [component for component in drawn if len(component.axes) == 1]
    pairs = [component for component in drawn if len(component.axes) == 2]
    limits, far = curve_limits(mains, k), colour_limit(pairs, k)
    views: list[ChartType] = []
    for i, component in enumerate(mains):
        value_title = f"effect{scale_words(found)}" if i % _COLUMNS == 0 else None
        views.append(_named(main_view(component, k, found.scale, size, limits, value_title), component, shares))
    views += [
        _named(pair_view(component, k, found.scale, size, far, "effect"), component, shares) for component in pairs
    ]
    return views


def shown_components(found: Decomposition, output: int, most: int) -> list[Component]:
    """Components that get a panel: the largest of at most two features that are worth it."""
    shares = found.stacked()[:, output]
    order = [j for j in np.argsort(-shares, kind="stable") if shares[j] > _SMALL and len(found.sets[j]) < 3]
    kept = order[:most] or [j for j in np.arange(len(shares))[:1] if len(found.sets[j]) < 3]
    return [found.components[j] for j in kept]


def _named(view: ChartType, component: Component, shares: dict[str, float]) -> ChartType:
    words = wrapped(f"{component.name} ({percent(float(shares[component.name]))})", _PANEL[0] + 20, 12)
    return view.properties(title=alt.TitleParams(words, fontSize=12, offset=6))


def _single(found: Decomposition, k: int, options: DecompositionOptions) -> ChartType:
    """One component by itself; of three features as maps of the first two at three values of the third."""
    names = (options.component,) if isinstance(options.component, str) else tuple(options.component or ())
    component = found.component(*names)
    share = percent(float(found.stacked()[found.position(*names), k]))
    value_title = f"effect{scale_words(found)}"
    size = (options.width or _SINGLE[0], options.height or _SINGLE[1])
    if len(component.axes) == 1:
        chart: ChartType = main_view(component, k, found.scale, size, curve_limits([component], k), value_title)
    elif len(component.axes) == 2:
        chart = pair_view(component, k, found.scale, size, colour_limit([component], k), value_title)
    else:
        size = (options.width or _PANEL[0], options.height or _PANEL[1])
        far = colour_limit([component], k)
        views = [
            pair_view(component, k, found.scale, size, far, value_title, np.array([code])).properties(
                title=alt.TitleParams(wrapped(f"{component.axes[2].name}: {text}", size[0], 12), fontSize=12, offset=6)
            )
            for code, text in _slices(component.axes[2])
        ]
        chart = grid(views, columns=_COLUMNS)
    notes, finding = [_output_note(found, k), caveat_note(found)], f"{component.name} holds {share} of the variance"
    return told(chart, found, options, f"Component of {component.name}", notes, size[0] + 80, finding=finding)


def _slices(axis: Axis) -> list[tuple[float, str]]:
    """A few codes along an axis, from low to high, with their names."""
    if axis.kind == "cells":
        low, high = axis.low, axis.high
        codes = np.linspace(low, high, 2 * _SLICES + 1)[1::2]
    else:
        n = axis.present
        codes = axis.points[np.unique(np.linspace(0, n - 1, min(n, _SLICES + 2)).round().astype(int))]
        codes = codes[1:-1] if len(codes) == _SLICES + 2 and axis.kind == "knots" else codes[:_SLICES]
    return [(float(code), value_name(value)) for code, value in zip(codes, axis.feature.decode(codes), strict=True)]


def _output(found: Decomposition, options: DecompositionOptions) -> int:
    if options.output is None:
        return 0
    names = [str(name) for name in found.output_names]
    if str(options.output) not in names:
        raise InputError(f"there is no output {options.output!r}{nearest(str(options.output), names)}")
    return names.index(str(options.output))


def _output_note(found: Decomposition, k: int) -> str:
    several = len(found.output_names) > 1
    return f"output {found.output_names[k]!s} of {len(found.output_names)} (output= chooses)" if several else ""


def _notes(found: Decomposition, k: int, options: DecompositionOptions) -> list[str]:
    r2 = float(found.stacked("r2")[k])
    notes = [_output_note(found, k), f"R² {number(100 * r2)}%" if np.isfinite(r2) else ""]
    if options.kind != "components" and overlapping(found, k):
        notes.append("bars: variance of a component; marks: its covariance with the prediction, which adds up")
    drawn = len(shown_components(found, k, options.max_display))
    if options.kind != "shares" and len(found.components) > drawn:
        notes.append(f"{drawn} of {len(found.components)} components drawn")
    return [*notes, caveat_note(found)]
