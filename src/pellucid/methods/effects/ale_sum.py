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
    shares,
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


def _centring_variance(axes: tuple[Axis, ...], local: LocalEffects, mean: FloatArray, values: FloatArray) -> FloatArray:
    """Variance from the counts: in one dimension that of the mean subtracted, in more by redrawing the counts."""
    share = local.counts / local.counts.sum()
    if len(axes) == 1:
        return np.broadcast_to(share @ np.square(axes[0].to_cells(values)) / local.rows, values.shape)
    generator = np.random.default_rng(0)
    draws = generator.multinomial(max(round(local.rows), 1), share.ravel(), size=_REDRAWN)
    counts = np.moveaxis(draws.reshape(-1, *share.shape), 0, -1).astype(np.float64)
    surface = added_up(mean, len(axes))
    if len(axes) == 2:  # all draws at once
        again = without_lower_orders(axes, counts[..., None], surface[..., None, :])
    else:
        one_by_one = (without_lower_orders(axes, counts[..., d], surface) for d in range(_REDRAWN))
        again = np.stack(list(one_by_one), axis=-2)
    return np.asarray(again.var(axis=-2, ddof=1))


def _variance(axes: tuple[Axis, ...], local: LocalEffects) -> FloatArray:
    """Sum over steps of (derivative of the effect with respect to the step mean)^2 times its squared error."""
    unknown = np.isnan(local.sd)
    error = np.where(unknown, _pooled_variance(local), np.square(local.sd))
    error = error / np.maximum(local.size, 1.0)[..., None]
    flat_error = error.reshape(-1, error.shape[-1])
    source = np.arange(flat_error.shape[0])
    if len(axes) > 1 and (local.size == 0).any():
        source = np.ravel_multi_index(nearest_filled(axes, local.size == 0), local.size.shape).ravel()
    uses = np.bincount(source, minlength=len(source))
    used = np.flatnonzero(uses)
    if len(axes) == 2:  # steps of a pair that stand only for themselves have a short formula
        alone = np.where(uses.reshape(*local.size.shape, 1) == 1, error, 0.0)
        by_formula = _variance_2d(axes[0], axes[1], local.counts, alone)
        return by_formula + _variance_by_steps(axes, local, flat_error, source, used[uses[used] > 1])
    if len(axes) > 2 and len(used) * np.prod([len(axis.points) for axis in axes]) > _MOST:
        return _variance_by_signs(axes, local, flat_error, source)
    return _variance_by_steps(axes, local, flat_error, source, used)


def _variance_by_steps(
    axes: tuple[Axis, ...], local: LocalEffects, error: FloatArray, source: IntArray, used: IntArray, block: int = 256
) -> FloatArray:
    """Every derivative worked out: the effect of a change by one in one step."""
    out = np.zeros((*(len(axis.points) for axis in axes), error.shape[-1]))
    for start in range(0, len(used), block):
        chunk = used[start : start + block]
        unit = (source[:, None] == chunk[None, :]).astype(np.float64).reshape(*local.size.shape, len(chunk))
        out += np.square(highest_order(axes, local.counts, unit)) @ error[chunk]
    return out


def _variance_by_signs(axes: tuple[Axis, ...], local: LocalEffects, error: FloatArray, source: IntArray) -> FloatArray:
    """The mean square of the effect of errors with random signs: the same sum on average, to about 10%."""
    generator = np.random.default_rng(0)
    out = np.zeros((*(len(axis.points) for axis in axes), error.shape[-1]))
    for _ in range(_SIGNS):
        signs = generator.choice(np.array([-1.0, 1.0]), size=len(source))
        drawn = (signs[:, None] * np.sqrt(error))[source].reshape(*local.size.shape, -1)
        out += np.square(highest_order(axes, local.counts, drawn)) / _SIGNS
    return out


def _variance_2d(first: Axis, second: Axis, mass: FloatArray, error: FloatArray) -> FloatArray:
    """The same sum for a pair, where the derivative is known: see `without_lower_orders` for what is taken out.

    Raising the change in steps (k, l) by one raises the surface by one beyond both steps; one main effect by
    ``one[k, l]`` beyond k, the other by ``two[k, l]`` beyond l, and the mean by ``level[k, l]``.
    """
    beyond_k, beyond_l = _beyond(first), _beyond(second)
    cells_k, cells_l = first.to_cells(beyond_k), second.to_cells(beyond_l)
    share = mass / mass.sum()
    one = shares(first.to_steps(mass)) @ cells_l
    two = (shares(second.to_steps(mass.T)) @ cells_k).T
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
