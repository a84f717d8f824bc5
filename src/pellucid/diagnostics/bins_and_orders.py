"""Accumulated local effects depend on two choices: the number of bins and the order of categories."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.explanations import Caveat
from pellucid.words import listed, percent, quantity, value_name

# Recomputes the curve on some rows with other settings, {"bins": n} or {"order": levels}: (points, values).
Recompute = Callable[[Data, dict[str, Any]], tuple[FloatArray, FloatArray]]
WithBins = Callable[[Data, Sequence[int]], list[tuple[FloatArray, FloatArray]]]
_ROWS = (400, 5000)  # a quick look, and a second one before anything is said: few rows make a curve shaky
_UNSTABLE = 0.25
_MANY = 20
_PRECISE = 0.02


def bin_stability(
    data: Data, j: int, points: FloatArray, values: FloatArray, se: FloatArray, with_bins: WithBins
) -> Iterator[Caveat]:
    """The curve at half and at double the bins, on a sample of rows."""
    used = len(points) - 1
    steep = _bend(points, values) > _UNSTABLE / 2
    if used < 4 or (_precise(values, se) and not steep):
        return
    for rows in _ROWS[1:] if steep else _ROWS:
        change = _change(with_bins(data.take(data.spread(rows)), (max(2, used // 2), used, used * 2)))
        if change <= _UNSTABLE:
            return
        if rows >= len(data):
            break
    name = data.schema.names[j]
    yield Caveat(
        code="bins",
        message=(
            f"The curve of {name} changes by up to {percent(change)} of its height with half or twice the {used} bins."
        ),
        value=change,
        threshold=_UNSTABLE,
        advice="Read only what stays the same with other numbers of bins (bins=).",
        feature=name,
    )


def _precise(values: FloatArray, se: FloatArray) -> bool:
    """Many bins, and errors far below the height of the curve."""
    return len(values) > _MANY and bool((np.nanmax(se, axis=0) < _PRECISE * np.ptp(values, axis=0)).all())


def _bend(points: FloatArray, values: FloatArray) -> float:
    """How far a point is off the line between its neighbours at most, as a share of the height.

    That is about how far it would move with half the bins.
    """
    if len(points) < 3:
        return 0.0
    place = (points[1:-1] - points[:-2]) / (points[2:] - points[:-2])
    off = values[1:-1] - values[:-2] - place[:, None] * (values[2:] - values[:-2])
    return float((np.abs(off).max(axis=0) / np.maximum(np.ptp(values, axis=0), 1e-300)).max())


def _change(curves: list[tuple[FloatArray, FloatArray]]) -> float:
    """Largest distance of the first and the last curve from the middle one, as a share of its height."""
    if not curves:
        return 0.0
    axis = curves[1][0]
    values = [np.stack([np.interp(axis, points, v[:, k]) for k in range(v.shape[1])], axis=1) for points, v in curves]
    if np.ptp(values[1]) <= 1e-12 * max(1.0, float(np.abs(values[1]).max())):
        return 0.0
    fewer, used, more = (v - v.mean(axis=0) for v in values)
    span = np.maximum(np.ptp(used, axis=0), 1e-300)
    farthest = np.maximum(np.abs(fewer - used), np.abs(more - used)).max(axis=0)
    return float((farthest / span).max())


def order_dependence(
    data: Data, j: int, points: FloatArray, values: FloatArray, second: IntArray, recompute: Recompute, scale: str
) -> Iterator[Caveat]:
    """The effect of each category under the second-best order; effects are changes on a ``scale``."""
    feature = data.schema.features[j]
    order, other = recompute(data, {"order": feature.decode(second.astype(np.float64)).tolist()})
    place = {float(code): k for k, code in enumerate(order)}
    again = np.stack([other[place[float(code)]] for code in points])
    span = np.maximum(np.ptp(values, axis=0), 1e-300)
    change = float((np.abs(again - values).max(axis=0) / span).max())
    if change > _UNSTABLE:
        shown = listed([value_name(level) for level in feature.decode(points)], 12)
        yield Caveat(
            code="category-order",
            message=(
                f"The effect of {feature.name} depends on the order of its categories ({shown}): under the next best"
                f" order it changes by up to {percent(change)} of its height"
                f" ({quantity(float(np.abs(again - values).max()), scale, change=True, sign=False)})."
            ),
            value=change,
            threshold=_UNSTABLE,
            advice="Give an order that makes sense (order=[...]), or read neighbouring categories only.",
            feature=feature.name,
        )
