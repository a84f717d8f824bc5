"""Which value stands for a cell: of the allowed values in it, the one nearest to the row's own."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.methods.counterfactual.search.constraints import Choices


def nearest_values(choices: Choices, edges: FloatArray, at: float, *, single: bool = False) -> FloatArray:
    """Of each interval between the edges, ``(edges[i - 1], edges[i]]``, the allowed value nearest to ``at``; NaN where
    it has none. ``single``: values are stored in single precision.
    """
    after, upto = np.concatenate([[-np.inf], edges]), np.concatenate([edges, [np.inf]])
    if choices.values is not None:
        values = choices.values[~np.isnan(choices.values)]
        first, last = _listed(values, after, upto)
        inside = values
    else:
        first, last = _stepped(choices, after, upto, single)
        inside = choices.snap(np.array([at]))
    found = np.where(after >= at, first, last)
    here = int(np.searchsorted(edges, at, side="left"))
    mine = inside[(inside > after[here]) & (inside <= upto[here])]
    if len(mine):
        found[here] = mine[np.argmin(np.abs(mine - at))]
    elif not np.isnan(first[here]):
        found[here] = first[here]
    return np.asarray(found)


def _listed(values: FloatArray, after: FloatArray, upto: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The first and last of some sorted values in each interval."""
    if not len(values):
        nothing = np.full(len(after), np.nan)
        return nothing, nothing
    start, end = np.searchsorted(values, after, side="right"), np.searchsorted(values, upto, side="right")
    some = start < end
    first = np.where(some, values[np.minimum(start, len(values) - 1)], np.nan)
    return first, np.where(some, values[np.maximum(end - 1, 0)], np.nan)


def _stepped(choices: Choices, after: FloatArray, upto: FloatArray, single: bool) -> tuple[FloatArray, FloatArray]:
    """The first and last value of each interval between ``low`` and ``high``, by the step of the feature."""
    low, high, step = choices.low, choices.high, choices.step
    upto, after = np.minimum(upto, high), np.maximum(after, np.nextafter(low, -np.inf))
    if step == 0.0:
        first, last = _next(after, single), _last(upto, single)
    else:
        k = np.floor(after / step + 1e-9)
        first = np.round(k * step, choices.decimals)
        for _ in range(2):
            first = np.where(first <= after, np.round((k + 1) * step, choices.decimals), first)
            k = np.where(first <= after, k + 1, k)
        k = np.floor(upto / step + 1e-9)
        last = np.round(k * step, choices.decimals)
        last = np.where(last > upto, np.round((k - 1) * step, choices.decimals), last)
    some = (first <= upto) & (last > after)
    return np.where(some, first, np.nan) + 0.0, np.where(some, last, np.nan) + 0.0


def _next(after: FloatArray, single: bool) -> FloatArray:
    if not single:
        return np.asarray(np.nextafter(after, np.inf))
    near = after.astype(np.float32)
    return np.where(near > after, near, np.nextafter(near, np.float32(np.inf))).astype(np.float64)


def _last(upto: FloatArray, single: bool) -> FloatArray:
    if not single:
        return upto
    near = upto.astype(np.float32)
    return np.where(near <= upto, near, np.nextafter(near, np.float32(-np.inf))).astype(np.float64)
