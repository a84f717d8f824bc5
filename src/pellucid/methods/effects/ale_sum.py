"""Local effects summed up: the effect at every point, and its sampling variance."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.methods.effects.ale_axis import Axis
from pellucid.methods.effects.ale_local import LocalEffects
from pellucid.methods.effects.ale_orders import (
    added_up,
    filled,
    highest_order,
    nearest_filled,
    without_lower_orders,
)

_REDRAWN = 30
_SIGNS = 200
_MOST = 20_000_000  # derivatives (points times cells) of three features that are all worked out


def accumulate(axes: tuple[Axis, ...], local: LocalEffects) -> tuple[FloatArray, FloatArray]:
    """Effect at the points and its sampling variance, given the points.

    Two things vary from sample to sample: the mean change in every step, and how many rows fall into every
    cell, which decides what is subtracted as main effect and mean.
    """
    mean = filled(axes, local.size == 0, local.mean)
    values = highest_order(axes, local.counts, mean)
    return values, _variance(axes, local) + _centring_variance(axes, local, mean, values)


def _centring_variance(
    axes: tuple[Axis, ...], local: LocalEffects, mean: FloatArray, values: FloatArray
) -> FloatArray:
    """Variance from the counts: in one dimension that of the mean subtracted, in more by redrawing the counts."""
    share = local.counts / local.counts.sum()
    if len(axes) == 1:
        return np.broadcast_to(share @ np.square(axes[0].to_cells(values)) / local.rows, values.shape)
    generator = np.random.default_rng(0)
    draws = generator.multinomial(max(round(local.rows), 1), share.ravel(), size=_REDRAWN)
    surface = added_up(mean, len(axes))
    again = np.stack(
        [
            without_lower_orders(axes, counts.reshape(share.shape).astype(np.float64), surface)
            for counts in draws
        ]
    )
    return np.asarray(again.var(axis=0, ddof=1))


def _variance(axes: tuple[Axis, ...], local: LocalEffects) -> FloatArray:
    """Sum over steps of (derivative of the effect with respect to the step mean)^2 times its squared error."""
    unknown = np.isnan(local.sd)
    error = np.where(unknown, _pooled_variance(local), np.square(local.sd))
    error = error / np.maximum(local.size, 1.0)[..., None]
    flat_error = error.reshape(-1, error.shape[-1])
    source = np.arange(flat_error.shape[0])
    if len(axes) > 1 and (local.size == 0).any():
        source = np.ravel_multi_index(nearest_filled(axes, local.size == 0), local.size.shape).ravel()
    used = np.unique(source)
    if len(axes) > 2 and len(used) * np.prod([len(axis.points) for axis in axes]) > _MOST:
        return _variance_by_signs(axes, local, flat_error, source)
    return _variance_by_steps(axes, local, flat_error, source, used)


def _variance_by_steps(
    axes: tuple[Axis, ...],
    local: LocalEffects,
    error: FloatArray,
    source: IntArray,
    used: IntArray,
    block: int = 256,
) -> FloatArray:
    """Every derivative worked out: the effect of a change by one in one step."""
    out = np.zeros((*(len(axis.points) for axis in axes), error.shape[-1]))
    for start in range(0, len(used), block):
        chunk = used[start : start + block]
        unit = (source[:, None] == chunk[None, :]).astype(np.float64).reshape(*local.size.shape, len(chunk))
        out += np.square(highest_order(axes, local.counts, unit)) @ error[chunk]
    return out


def _variance_by_signs(
    axes: tuple[Axis, ...], local: LocalEffects, error: FloatArray, source: IntArray
) -> FloatArray:
    """The mean square of the effect of errors with random signs: the same sum on average, to about 10%."""
    generator = np.random.default_rng(0)
    out = np.zeros((*(len(axis.points) for axis in axes), error.shape[-1]))
    for _ in range(_SIGNS):
        signs = generator.choice([-1.0, 1.0], size=len(source))
        drawn = (signs[:, None] * np.sqrt(error))[source].reshape(*local.size.shape, -1)
        out += np.square(highest_order(axes, local.counts, drawn)) / _SIGNS
    return out


def _pooled_variance(local: LocalEffects) -> FloatArray:
    """Variance within steps, over all steps that have more than one row; NaN when none has."""
    known = np.isfinite(local.sd).all(axis=-1)
    if not known.any():
        return np.full(local.sd.shape[-1], np.nan)
    weights = local.size[known] - 1
    return np.asarray((weights[:, None] * np.square(local.sd[known])).sum(axis=0) / weights.sum())
