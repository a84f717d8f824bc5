"""Local effects summed up: the effect at every point, and its sampling variance."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.methods.effects.ale_axis import Axis, accumulate_1d, accumulate_2d
from pellucid.methods.effects.ale_local import LocalEffects

_REDRAWN = 30


def accumulate(axes: tuple[Axis, ...], local: LocalEffects) -> tuple[FloatArray, FloatArray]:
    """Effect at the points and its sampling variance, given the points.

    Two things vary from sample to sample: the mean change in every step, and how many rows fall into every
    cell, which decides what is subtracted as main effect and mean.
    """
    mean = fill_empty(axes, local)
    values = _sum_up(axes, local.counts, mean)
    return values, _variance(axes, local) + _centring_variance(axes, local, mean, values)


def _sum_up(axes: tuple[Axis, ...], counts: FloatArray, mean: FloatArray) -> FloatArray:
    if len(axes) == 1:
        return accumulate_1d(axes[0], counts, mean)
    return accumulate_2d(axes[0], axes[1], counts, mean)


def _centring_variance(
    axes: tuple[Axis, ...], local: LocalEffects, mean: FloatArray, values: FloatArray
) -> FloatArray:
    """Variance from the counts: in one dimension that of the mean subtracted, in two by redrawing the counts."""
    share = local.counts / local.counts.sum()
    if len(axes) == 1:
        return np.broadcast_to(share @ np.square(axes[0].to_cells(values)) / local.rows, values.shape)
    generator = np.random.default_rng(0)
    draws = generator.multinomial(max(round(local.rows), 1), share.ravel(), size=_REDRAWN)
    again = np.stack(
        [_sum_up(axes, counts.reshape(share.shape).astype(np.float64), mean) for counts in draws]
    )
    return np.asarray(again.var(axis=0, ddof=1))


def fill_empty(axes: tuple[Axis, ...], local: LocalEffects) -> FloatArray:
    """Steps without rows: no change in one dimension; the nearest cell with rows in two (as ALEPlot)."""
    empty = local.size == 0
    if not empty.any():
        return local.mean
    if len(axes) == 1:
        return np.where(empty[..., None], 0.0, local.mean)
    return np.asarray(local.mean[tuple(_nearest_filled(axes, empty))])


def _nearest_filled(axes: tuple[Axis, ...], empty: BoolArray, block: int = 256) -> list[IntArray]:
    """For every cell the position of the nearest cell that holds rows; of several at one distance the first."""
    places = [axis.places() for axis in axes]
    lacking, filled = np.argwhere(empty), np.argwhere(~empty)
    source = np.indices(empty.shape)
    for start in range(0, len(lacking), block):
        cells = lacking[start : start + block]
        gaps = [place[cells[:, d], None] - place[None, filled[:, d]] for d, place in enumerate(places)]
        distance = np.square(gaps).sum(axis=0)
        nearest = np.argmax(distance <= distance.min(axis=1, keepdims=True) * (1 + 1e-9), axis=1)
        source[:, cells[:, 0], cells[:, 1]] = filled[nearest].T
    return list(source)


def _variance(axes: tuple[Axis, ...], local: LocalEffects, block: int = 256) -> FloatArray:
    """Sum over steps of (derivative of the effect with respect to the step mean)^2 times its squared error."""
    shape = local.size.shape
    pooled = _pooled_variance(local)
    filled = np.isnan(local.sd)
    error = np.where(filled, pooled, np.square(local.sd)) / np.maximum(local.size, 1.0)[..., None]
    flat_error = error.reshape(-1, error.shape[-1])
    source = np.arange(flat_error.shape[0])
    if len(axes) == 2 and (local.size == 0).any():
        source = np.ravel_multi_index(_nearest_filled(axes, local.size == 0), shape).ravel()
    out = np.zeros((*(len(axis.points) for axis in axes), flat_error.shape[-1]))
    used = np.unique(source)
    for start in range(0, len(used), block):
        chunk = used[start : start + block]
        unit = (source[:, None] == chunk[None, :]).astype(np.float64).reshape(*shape, len(chunk))
        out += np.square(_sum_up(axes, local.counts, unit)) @ flat_error[chunk]
    return out


def _pooled_variance(local: LocalEffects) -> FloatArray:
    """Variance within steps, over all steps that have more than one row; NaN when none has."""
    known = np.isfinite(local.sd).all(axis=-1)
    if not known.any():
        return np.full(local.sd.shape[-1], np.nan)
    weights = local.size[known] - 1
    return np.asarray((weights[:, None] * np.square(local.sd[known])).sum(axis=0) / weights.sum())
