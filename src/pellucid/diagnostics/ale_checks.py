"""The caveats of accumulated local effects: number of bins, thin cells, noise, order of categories."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.diagnostics.general import general_caveats
from pellucid.diagnostics.support import support_caveat
from pellucid.explanations.caveat import Caveat
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import listed, number, percent, value_name

_ROWS = (400, 5000)  # a quick look, and a second one before anything is said: few rows make a curve shaky
_UNSTABLE = 0.25
_EMPTY = 0.1
_OUTSIDE = 0.001
_MANY = 20
_PRECISE = 0.02
_NOISY = 0.5
_ROUNDING = 1e-9

# Recomputes the curve on some rows with other settings, {"bins": n} or {"order": levels}: (points, values).
Recompute = Callable[[Data, dict[str, Any]], tuple[FloatArray, FloatArray]]
WithBins = Callable[[Data, Sequence[int]], list[tuple[FloatArray, FloatArray]]]


def ale_caveats(
    predictor: Predictor,
    data: Data,
    run: Run,
    *,
    chosen: tuple[int, ...],
    points: tuple[FloatArray, ...],
    counts: FloatArray,
    inside: BoolArray,
    values: FloatArray,
    se: FloatArray,
    bins: Any,
    recompute: Recompute,
    with_bins: WithBins,
    second_order: IntArray | None,
) -> tuple[Caveat, ...]:
    """Everything known against this effect on these data."""
    if not run.checks:
        return ()
    caveats = list(general_caveats(predictor, data, run))
    caveats.extend(_outside(data, chosen, inside))
    if len(chosen) > 1:
        caveats.extend(_empty_cells(data, chosen, counts))
    if len(chosen) > 2:
        with run.checking():
            size = np.ptp(run.predict(predictor, data.take(data.spread(_ROWS[0]))), axis=0)
        caveats.extend(_noise(data, chosen, counts, values, se, size))
    caveats.extend(support_caveat(data, chosen, points, counts))
    if len(chosen) == 1 and np.ndim(bins) == 0 and not data.schema.features[chosen[0]].nominal:
        with run.checking():
            caveats.extend(_bin_stability(data, chosen[0], points[0], values, se, with_bins))
    if second_order is not None:
        with run.checking():
            caveats.extend(_order_dependence(data, chosen[0], points[0], values, second_order, recompute))
    return tuple(caveats)


def _outside(data: Data, chosen: tuple[int, ...], inside: BoolArray) -> Iterator[Caveat]:
    present = np.all([~np.isnan(data.codes(j)) for j in chosen], axis=0)
    share = float(data.weights[present & ~inside].sum() / data.weights.sum())
    if share > _OUTSIDE:
        name = listed([data.schema.names[j] for j in chosen])
        yield Caveat(
            code="outside-bins",
            message=f"{percent(share)} of the rows lie outside the given bins of {name} and were left out.",
            value=share,
            threshold=_OUTSIDE,
            advice="Give edges that span the data.",
            feature=name,
        )


def _empty_cells(data: Data, chosen: tuple[int, ...], counts: FloatArray) -> Iterator[Caveat]:
    share = float((counts == 0).mean())
    if share > _EMPTY:
        name = listed([data.schema.names[j] for j in chosen])
        fewer = max(2, int((len(data) / 20) ** (1 / len(chosen)) + 1e-9))
        yield Caveat(
            code="empty-cells",
            message=(
                f"{percent(share)} of the cells of {name} hold no rows; they are marked, and filled from their"
                " neighbours only to add up."
            ),
            value=share,
            threshold=_EMPTY,
            advice=f"Look only at cells with rows, or use fewer bins (bins={fewer} gives about 20 rows a cell).",
            feature=name,
        )


def _noise(
    data: Data, chosen: tuple[int, ...], counts: FloatArray, values: FloatArray, se: FloatArray, size: FloatArray
) -> Iterator[Caveat]:
    """Share of the rows in whose cell the effect cannot be told from zero, of the output where it is largest.

    In a cell the effect and its error are the means of those at its corners.
    """
    real = np.abs(values).max(axis=tuple(range(len(chosen)))) > _ROUNDING * size
    effect, error = (_at_cells(array, counts.shape) for array in (values, se))
    lost = np.tensordot(counts / counts.sum(), ~(np.abs(effect) >= 2 * error), axes=counts.ndim)
    share = float(np.max(lost, where=real, initial=0.0))
    if share > _NOISY:
        name = listed([data.schema.names[j] for j in chosen])
        per_cell = len(data) * float(counts.sum() / data.weights.sum()) / counts.size
        yield Caveat(
            code="noise",
            message=(
                f"In cells with {percent(share)} of the rows the joint effect of {name} is smaller than twice its"
                f" standard error: {counts.size} cells share the rows, {number(per_cell)} each on average."
            ),
            value=share,
            threshold=_NOISY,
            advice="Read it as noise there; use fewer bins, more rows, or pairs of features.",
            feature=name,
        )


def _at_cells(array: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Values at points as values of cells: means over the corners; along levels the points are the cells."""
    for d, n in enumerate(shape):
        if array.shape[d] > n:
            array = (np.delete(array, 0, axis=d) + np.delete(array, -1, axis=d)) / 2
    return array


def _bin_stability(
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


def _order_dependence(
    data: Data, j: int, points: FloatArray, values: FloatArray, second: IntArray, recompute: Recompute
) -> Iterator[Caveat]:
    """The effect of each category under the second-best order."""
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
                f" ({number(float(np.abs(again - values).max()))})."
            ),
            value=change,
            threshold=_UNSTABLE,
            advice="Give an order that makes sense (order=[...]), or read neighbouring categories only.",
            feature=feature.name,
        )
