"""Local effects summed up: the effect at every point, and its sampling variance."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.methods.effects.ale_axis import Axis, accumulate_1d, accumulate_2d, step_shares
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
    counts = draws.T.reshape(*share.shape, _REDRAWN, 1).astype(np.float64)
    again = accumulate_2d(axes[0], axes[1], counts, mean[:, :, None])
    return np.asarray(again.var(axis=2, ddof=1))


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
    used, shared = np.unique(source, return_counts=True)
    out = np.zeros((*(len(axis.points) for axis in axes), flat_error.shape[-1]))
    if len(axes) == 2:  # pairs of steps that stand for themselves only have a short formula
        alone = np.bincount(source, minlength=len(source)).reshape(shape) == 1
        out += _variance_2d(axes[0], axes[1], local.counts, np.where(alone[..., None], error, 0.0))
        used = used[shared > 1]
    for start in range(0, len(used), block):
        chunk = used[start : start + block]
        unit = (source[:, None] == chunk[None, :]).astype(np.float64).reshape(*shape, len(chunk))
        out += np.square(_sum_up(axes, local.counts, unit)) @ flat_error[chunk]
    return out


def _variance_2d(first: Axis, second: Axis, mass: FloatArray, error: FloatArray) -> FloatArray:
    """The same sum for a pair, where the derivative is known: see `accumulate_2d` for what is taken out.

    Raising the change in steps (k, l) by one raises the surface by one beyond both steps; one main effect by
    ``one[k, l]`` beyond k, the other by ``two[k, l]`` beyond l, and the mean by ``level[k, l]``.
    """
    beyond_k, beyond_l = _beyond(first), _beyond(second)
    cells_k, cells_l = first.to_cells(beyond_k), second.to_cells(beyond_l)
    share = mass / mass.sum()
    one = step_shares(first, mass) @ cells_l
    two = (step_shares(second, mass.T) @ cells_k).T
    level = cells_k.T @ share @ cells_l
    level = level - (share.sum(axis=1) @ cells_k)[:, None] * one - (share.sum(axis=0) @ cells_l) * two
    variance = np.zeros((error.shape[-1], len(first.points), len(second.points)))
    for rows, columns, derivative in (
        (beyond_k, beyond_l, 1.0 - one - two - level),
        (beyond_k, 1.0 - beyond_l, -one - level),
        (1.0 - beyond_k, beyond_l, -two - level),
        (1.0 - beyond_k, 1.0 - beyond_l, -level),
    ):
        variance += rows @ (np.square(derivative) * np.moveaxis(error, -1, 0)) @ columns.T
    return np.moveaxis(variance, 0, -1)


def _beyond(axis: Axis) -> FloatArray:
    """Whether each point lies beyond each step, as 1 or 0, ``(points, steps)``."""
    return np.tri(len(axis.points), axis.n_steps, -1)


def _pooled_variance(local: LocalEffects) -> FloatArray:
    """Variance within steps, over all steps that have more than one row; NaN when none has."""
    known = np.isfinite(local.sd).all(axis=-1)
    if not known.any():
        return np.full(local.sd.shape[-1], np.nan)
    weights = local.size[known] - 1
    return np.asarray((weights[:, None] * np.square(local.sd[known])).sum(axis=0) / weights.sum())
