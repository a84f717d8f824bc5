"""Which features have a logarithmic axis, where that was asked for and can be."""

from __future__ import annotations

import numpy as np

from pellucid.charts.layout import positions
from pellucid.errors import InputError, nearest
from pellucid.explanations import Effect
from pellucid.explanations.plot_options import EffectOptions


def log_axes(effect: Effect, options: EffectOptions) -> tuple[bool, ...]:
    """Per feature of an effect whether its axis is logarithmic; ``log=True`` means all that are numbers."""
    numeric = [kind in ("numeric", "integer") for kind in effect.kinds]
    if options.log is True or options.log is False:
        wanted = [bool(options.log) and number for number in numeric]
    else:
        wanted = [name in _asked(options) for name in effect.feature_names]
        for name in _asked(options):
            if name not in effect.feature_names:
                raise InputError(f"log={name!r} is no feature of this effect{nearest(name, effect.feature_names)}")
    for name, points, number, log in zip(effect.feature_names, effect.grids, numeric, wanted, strict=True):
        if log and not number:
            raise InputError(f"log={name!r}: only numbers have a logarithmic axis, and {name} has none.")
        if log and not float(np.nanmin(positions(points))) > 0:
            raise InputError(
                f"log= needs positive numbers, but {name} goes down to {float(np.nanmin(positions(points))):g}; leave"
                " log= out."
            )
    return tuple(wanted)


def can_be_log(effect: Effect) -> bool:
    """Whether the only feature of an effect has positive numbers."""
    numeric = effect.kinds[0] in ("numeric", "integer")
    return numeric and float(np.nanmin(positions(effect.grids[0]))) > 0


def _asked(options: EffectOptions) -> tuple[str, ...]:
    return () if isinstance(options.log, bool) else tuple(options.log)
