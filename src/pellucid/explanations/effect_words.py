"""Effects in words: where the prediction is highest and lowest, for the class that changes most first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray
from pellucid.explanations.interpolation import interpolated
from pellucid.words import counted, listed, percent, quantity, value_name

if TYPE_CHECKING:
    from pellucid.explanations.effect import Effect

_CLASSES = 3  # told about one by one
_DIFFER = 0.05  # share of the movement that is not common to all rows: worth a headline
_NEARLY = 0.0025  # effects that differ by 5% between rows
_PARALLEL = 1e-6
_ROWS = 5  # at a point of a curve, by weight: what fewer vouch for is not told where others are
_UNKNOWN = "Nothing is known: no prediction was made."


def findings(effect: Effect) -> list[str]:
    """What is shown, the curve of each output, what is missing and how rows differ."""
    readable = _readable(effect)
    order = _by_movement(effect, readable)
    lines = [f"{effect.heading}.", *(_of_output(effect, k, readable) for k in order[:_CLASSES])]
    if len(order) > _CLASSES:
        lines.append(f"It changes less for the other {counted(len(order) - _CLASSES, 'output')}.")
    if effect.individual and np.isfinite(effect.interaction):
        lines.append(_parallel(effect))
    return lines + _at_missing(effect, order[:_CLASSES], readable)


def headline(effect: Effect) -> str:
    """The curve of the output that changes most, and whether rows differ."""
    readable = _readable(effect)
    said = _of_output(effect, _by_movement(effect, readable)[0], readable)
    differ = effect.individual and np.isfinite(effect.interaction) and effect.interaction >= _DIFFER
    return f"{said} {_parallel(effect)}" if differ else said


def _of_output(effect: Effect, k: int, readable: BoolArray) -> str:
    curve = effect.stacked("average")[..., k]
    if not np.isfinite(curve).any():
        return _UNKNOWN
    return _curve(effect, k, curve, readable) if len(effect.grids) == 1 else _surface(effect, k, curve, readable)


# -- one feature -------------------------------------------------------------------------------------


def _curve(effect: Effect, k: int, curve: FloatArray, readable: BoolArray) -> str:
    name, noun, shape = effect.feature_names[0], _noun(effect, k), effect.shape[k]
    signed = _is_change(effect)
    known = np.flatnonzero(np.isfinite(curve) & readable)
    known = known if known.size else np.flatnonzero(np.isfinite(curve))
    top, bottom = known[np.argmax(curve[known])], known[np.argmin(curve[known])]
    high, low = _number(effect, curve[top]), _number(effect, curve[bottom])
    if shape == "flat" or (high == low and not signed):
        return (
            f"{name} has no {noun}."
            if signed and not effect.derivative
            else f"The {noun} is {high} whatever the value of {name}."
        )
    if shape in ("linear", "increasing", "decreasing"):
        first, last = sorted((top, bottom))
        rises = bool(curve[last] >= curve[first])
        start, end = (low, high) if rises else (high, low)
        line = " in a straight line," if shape == "linear" else ""
        return (
            f"The {noun} {'rises' if rises else 'falls'}{line} from {start} {_place(effect, first, name)} to"
            f" {end} {_place(effect, last)}."
        )
    highest = f"{_place(effect, top, name)} ({high})"
    lowest = f"{_place(effect, bottom)} ({low})"
    side = _extreme_when_missing(effect, k, curve[known])
    where = f"where {name} is missing ({_missing_value(effect, k)}; {_missing_share(effect)})"
    highest, lowest = (where if side > 0 else highest), (where if side < 0 else lowest)
    peak = not effect.nominal[0] and side <= 0 and known[0] < top < known[-1]
    return f"The {noun} {'peaks' if peak else 'is highest'} {highest} and {'is ' if peak else ''}lowest {lowest}."


def _place(effect: Effect, i: int, name: str = "") -> str:
    """Where a point of the curve is: ``at temp = 3``, ``for color = red``, of the mean over a bin ``for temp between 2
    and 4``.
    """
    low, high = (None, None) if effect.ranges is None else effect.ranges[i]
    if low != high:
        return f"{f'for {name} ' if name else ''}between {value_name(low)} and {value_name(high)}"
    at = value_name(effect.grids[0][i])
    return f"{'for' if effect.nominal[0] else 'at'} {f'{name} = ' if name else ''}{at}"


def _is_change(effect: Effect) -> bool:
    """Whether values are differences, told with their sign."""
    told = effect.settings
    return (effect.method in ("ale", "term") and not told.get("total")) or told.get("center") is not None


def _number(effect: Effect, value: float) -> str:
    """A value of the curve: a probability in percent, a change of one in points; a slope has units of its own."""
    scale = "slope" if effect.derivative else effect.scale
    return quantity(float(value), scale, change=_is_change(effect))


def _noun(effect: Effect, k: int) -> str:
    """What the curve of an output shows: ``average prediction``, ``effect on the probability of yes``."""
    output = effect.output_names[k]
    said = effect.scale if effect.scale in ("probability", "log-odds") else "prediction"
    named = output not in ("prediction", "output") and (said != "prediction" or len(effect.output_names) > 1)
    what = f"{said} of {output}" if named else said
    if effect.derivative:
        return f"slope of the {what}"
    if _is_change(effect):
        return f"effect on the {what}"
    return f"average {what}"


# -- missing -----------------------------------------------------------------------------------------


def _extreme_when_missing(effect: Effect, k: int, known: FloatArray) -> int:
    """1 if the effect at missing is above that at every value, -1 if below, otherwise 0."""
    if effect.missing is None:
        return 0
    value = float(np.atleast_1d(effect.missing.values)[k])
    return int(value > known.max()) - int(value < known.min())


def _missing_value(effect: Effect, k: int) -> str:
    return "" if effect.missing is None else _number(effect, np.atleast_1d(effect.missing.values)[k])


def _missing_share(effect: Effect) -> str:
    return "" if effect.missing is None else f"{percent(effect.missing.share)} of the rows"


def _at_missing(effect: Effect, order: list[int], readable: BoolArray) -> list[str]:
    """The effect where the feature is missing, unless it was told as the highest or the lowest."""
    if effect.missing is None:
        return []
    said = []
    for k in order:
        curve = effect.stacked("average")[..., k]
        known = curve[np.isfinite(curve) & readable]
        side = _extreme_when_missing(effect, k, known if known.size else curve[np.isfinite(curve)])
        told = effect.shape[k] not in ("flat", "linear", "increasing", "decreasing")
        if side and told:
            continue
        beyond = {1: ", more than at any value", -1: ", less than at any value"}.get(side, "")
        named = f" ({effect.output_names[k]})" if len(effect.output_names) > 1 else ""
        said.append(f"{_missing_value(effect, k)}{named}{beyond}")
    name = listed(effect.feature_names)
    return [f"Where {name} is missing ({_missing_share(effect)}), it is {listed(said)}."] if said else []


# -- several features, several rows ------------------------------------------------------------------


def _surface(effect: Effect, k: int, surface: FloatArray, readable: BoolArray) -> str:
    signed = effect.method in ("ale", "term") and not effect.settings.get("total")
    noun = f"{'joint ' if signed else ''}{_noun(effect, k)}"
    fit = readable & np.isfinite(surface)
    surface = np.where(fit, surface, np.nan) if fit.any() else surface

    if signed and not np.nanmax(np.abs(surface)) > 0:
        return f"{listed(effect.feature_names)} have no {noun}."
    if np.nanmax(surface) == np.nanmin(surface):
        return f"The {noun} is {_number(effect, np.nanmax(surface))} everywhere."
    values, places, start = _told_of(effect, surface)

    def where(at: int) -> str:
        place = (f"{n} = {value_name(v[at])}" for n, v in zip(effect.feature_names, places, strict=True))
        return f"{', '.join(place)} ({_number(effect, values[at])})"

    highest, lowest = where(int(np.nanargmax(values))), where(int(np.nanargmin(values)))
    return f"{start} {noun} is highest at {highest} and lowest at {lowest}."


def _told_of(effect: Effect, surface: FloatArray) -> tuple[FloatArray, list[AnyArray], str]:
    """The values among which the highest and the lowest are told, where they are, and how the sentence starts.

    Those at the grid points; of ALE, where corners of a cell may lie far from the rows in it, those at rows of data.
    """
    if effect.method == "ale" and not all(effect.nominal):
        values = interpolated(effect, surface[..., None], effect.rug, beyond=True)[:, 0]
        if np.isfinite(values).any():
            return values, list(effect.rug), "Among rows of data, the"
    position = np.unravel_index(np.arange(surface.size), surface.shape)
    return surface.ravel(), [grid[i] for grid, i in zip(effect.grids, position, strict=True)], "The"


def _parallel(effect: Effect) -> str:
    if effect.interaction < _PARALLEL:
        return "The curves of all rows are parallel, so the average describes every row."
    if effect.interaction < _NEARLY:
        return (
            f"The curves of the rows are nearly parallel: {percent(effect.interaction)} of their variation is"
            " interaction."
        )
    by = f", most of all by {effect.colouring.feature}" if effect.colouring else ""
    return (
        f"The effect differs between rows{by}: {percent(effect.interaction)} of the curves' variation is interaction."
    )


# -- which points, which output ----------------------------------------------------------------------


def _by_movement(effect: Effect, readable: BoolArray) -> list[int]:
    """Positions of the outputs, the one that changes most first."""
    values = np.where(readable[..., None], effect.stacked("average"), np.nan)
    if not np.isfinite(values).any():
        values = effect.stacked("average")
    flat = values.reshape(-1, values.shape[-1])
    known = np.isfinite(flat)
    ranges = np.where(known, flat, -np.inf).max(axis=0) - np.where(known, flat, np.inf).min(axis=0)
    if 0 < ranges.max() < np.inf:
        ranges = np.round(ranges / ranges.max(), 9)  # so that rounding does not order equal ones
    return [int(k) for k in np.argsort(-ranges, kind="stable")]


def _readable(effect: Effect) -> BoolArray:
    """Points of the grid at or beside rows enough: of a curve those with few rows are left out, of several features the
    cells without any (ALE), and what a caveat says not to read.
    """
    shape = tuple(len(points) for points in effect.grids)
    fit = np.ones(effect.counts.shape, dtype=bool)
    if effect.method == "ale" and len(shape) > 1:
        fit = effect.counts > 0
    elif len(shape) == 1:
        fit = effect.counts >= _ROWS
    for caveat in effect.caveats:
        if fit.any() and caveat.code == "few-data":  # the share of the places with the fewest rows
            thin = round(caveat.value * effect.counts.size)
            fewest = np.sort(effect.counts[fit] if len(shape) > 1 else effect.counts)
            fit &= effect.counts > fewest[min(max(thin, 1), fewest.size) - 1]
    places: tuple[int, ...] = effect.counts.shape
    fit = np.pad(fit, [(0, n - have) for n, have in zip(shape, places, strict=True)])
    for axis, (n, have) in enumerate(zip(shape, places, strict=True)):
        if have < n:  # bins: a point is the end of one and the start of the next
            fit = fit | np.roll(fit, 1, axis=axis)
    return fit
