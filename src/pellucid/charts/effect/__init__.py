"""The chart of an effect: a curve, levels, individual curves, a surface or slices, by what the effect is."""

from __future__ import annotations

from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.effect.curve import curve_notes, draw_curve
from pellucid.charts.effect.individual import draw_individual, individual_notes
from pellucid.charts.effect.isometric import draw_isometric, isometric_notes
from pellucid.charts.effect.levels import draw_levels, level_order
from pellucid.charts.effect.log_axis import log_axes
from pellucid.charts.effect.slices import draw_slices, slice_notes
from pellucid.charts.effect.surface import draw_surface, surface_notes
from pellucid.charts.layout import Limits, told
from pellucid.charts.text import caveat_note
from pellucid.explanations import Effect
from pellucid.explanations.effect import TITLES
from pellucid.explanations.plot_options import EffectOptions
from pellucid.words import listed


def body(effect: Effect, options: EffectOptions) -> ChartType:
    """The Altair chart of an effect."""
    return told(
        draw_effect(effect, options),
        effect,
        options,
        f"{TITLES[effect.method]} of {listed(effect.feature_names)}",
        effect_notes(effect, options),
        (options.width or theme.WIDTH) + (0, 100, 300)[len(effect.grids) - 1],
    )


def draw_effect(effect: Effect, options: EffectOptions, limits: Limits | None = None) -> ChartType:
    """The chart without its title, if wanted with given value limits."""
    log_axes(effect, options)  # what cannot be logarithmic is refused, whatever is drawn
    if options.kind == "surface":
        return draw_isometric(effect, options)
    if len(effect.grids) == 3:
        return draw_slices(effect, options)
    if len(effect.grids) == 2:
        return draw_surface(effect, options)
    if effect.individual:
        return draw_individual(effect, options, limits)
    if effect.nominal[0]:
        return draw_levels(effect, options, limits)
    return draw_curve(effect, options, limits)


def effect_notes(effect: Effect, options: EffectOptions) -> list[str]:
    """The lines below the title."""
    if options.kind == "surface":
        notes = isometric_notes(effect)
    elif len(effect.grids) == 3:
        notes = slice_notes(effect, options)
    elif len(effect.grids) == 2:
        notes = surface_notes(effect, options)
    elif effect.individual:
        notes = individual_notes(effect, options)
    elif effect.nominal[0]:
        notes = []
    else:
        notes = curve_notes(effect)
    if len(effect.grids) == 1 and effect.nominal[0]:
        _, order = level_order(effect, options.order)
        notes = [*notes, f"order: {order}" if order else ""]
    return [*notes, caveat_note(effect)]
