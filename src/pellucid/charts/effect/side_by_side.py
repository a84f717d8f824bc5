"""Several effects side by side, with the same value limits so that they compare at a glance."""

from __future__ import annotations

import dataclasses

from altair.typing import ChartType

from pellucid.charts.effect import draw_effect
from pellucid.charts.effect.curve import curve_limits
from pellucid.charts.effect.individual import individual_limits
from pellucid.charts.effect.levels import draw_levels
from pellucid.charts.effect.log_axis import can_be_log
from pellucid.charts.layout import Limits, grid, titled, told
from pellucid.charts.text import is_change
from pellucid.errors import InputError
from pellucid.explanations import Effect
from pellucid.explanations.effect import TITLES
from pellucid.explanations.plot_options import PanelOptions

_WIDTH, _HEIGHT = 240.0, 190.0
_UPRIGHT = 12  # up to so many levels stand on the x axis, so that values share the y axis


def common_limits(effects: list[Effect], options: PanelOptions) -> Limits:
    """The smallest limits that hold all effects."""
    each = [individual_limits(effect, options) if effect.individual else curve_limits(effect) for effect in effects]
    return min(low for low, _ in each), max(high for _, high in each)


def body(effects: list[Effect], columns: int, options: PanelOptions, finding: str = "") -> ChartType:
    """The Altair chart of a panel, under its finding where there is one."""
    check_effects(effects)
    sized = dataclasses.replace(options, width=options.width or _WIDTH, height=options.height or _HEIGHT)
    # Predictions compare with predictions and changes with changes; a slope has units of its own.
    limits = {kind: common_limits([e for e in effects if _kind(e) == kind], options) for kind in map(_kind, effects)}
    views = [_view(effect, sized, limits[_kind(effect)]) for effect in effects]
    one_legend = not any(effect.individual for effect in effects)
    chart = grid(views, columns=min(columns, len(views)), one_legend=one_legend)
    methods = list(dict.fromkeys(TITLES[effect.method] for effect in effects))
    note = "all with the same value limits" if len(limits) == 1 else "the same quantity has the same limits"
    width = (sized.width or _WIDTH) * min(columns, len(views))
    what = ", ".join(methods)
    if options.title or not finding:
        return titled(chart, options.title or what, [note], width)
    return told(chart, effects[0], options, what, [note], width, finding=finding)


def _kind(effect: Effect) -> tuple[bool, bool]:
    return is_change(effect), effect.derivative


def check_effects(effects: list[Effect]) -> None:
    """Effects share an axis only if they are of one feature each and speak of the same thing."""
    first = effects[0]
    for effect in effects:
        if len(effect.grids) != 1:
            raise InputError(
                f"the effect of {' and '.join(effect.feature_names)} is a surface; panel() takes effects of one"
                " feature."
            )
        if (effect.scale, effect.output_names) != (first.scale, first.output_names):
            raise InputError(
                f"the effects of {first.feature_names[0]} and {effect.feature_names[0]} are on different scales or"
                " outputs; draw them one by one."
            )


def _view(effect: Effect, options: PanelOptions, limits: Limits) -> ChartType:
    # Of several features, those whose axis can be logarithmic, or those named.
    log = can_be_log(effect) if options.log is True else effect.feature_names[0] in (options.log or ())
    options = dataclasses.replace(options, log=log)
    if effect.nominal[0] and not effect.individual:
        upright = len(effect.grids[0]) <= _UPRIGHT
        fitted = options if upright else dataclasses.replace(options, height=None)
        return draw_levels(effect, fitted, limits, upright=upright)
    return draw_effect(effect, options, limits)
