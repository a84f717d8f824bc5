"""How sure an accumulated effect is, given its points.

Apley and Zhu 2020 for the effect (`accumulation`). Its errors are sums over steps: of the derivative of the effect with
respect to the mean change in a step, times the error of that mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.methods.effects.estimation.accumulation import (
    added_up,
    bridge,
    filled,
    highest_order,
    nearest_filled,
    shares,
    without_lower_orders,
)
from pellucid.methods.effects.estimation.ale_axis import Axis
from pellucid.methods.effects.estimation.ale_local import LocalEffects
from pellucid.stats import tilted_interval

_REDRAWN = 30
_SIGNS = 200
_MOST = 20_000_000  # derivatives (points times cells) of three features that are all worked out


@dataclass(frozen=True, eq=False)
class Accumulated:
    """An effect at the points, its standard errors and the ends of its 95% intervals."""

    values: FloatArray
    se: FloatArray
    low: FloatArray
    high: FloatArray

    def plus(self, other: Accumulated, across: tuple[int, ...] = ()) -> Accumulated:
        """The sum with another effect, which is the same all along the axes ``across``; errors may be of one sign."""
        names = ("values", "se", "low", "high")
        return Accumulated(*(getattr(self, name) + np.expand_dims(getattr(other, name), across) for name in names))


def accumulate(axes: tuple[Axis, ...], local: LocalEffects, most: int = _MOST) -> Accumulated:
    """Effect at the points and how sure it is, given the points.

    Two things vary from sample to sample: the mean change in every step, and how many rows fall into every
    cell, which decides what is subtracted as main effect and mean. Changes with a long tail make the sum skewed, and
    the variance of a step is that of its few rows (Satterthwaite): the intervals allow for both.
    """
    mean = filled(axes, local.size == 0, local.mean)
    values = highest_order(axes, local.counts, mean)
    variance, third, doubt = _of_steps(axes, local, most)
    variance = variance + _centring_variance(axes, local, mean, values)
    if len(axes) == 1:
        variance = variance + _bridge_variance(axes[0], local)
    se = np.sqrt(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        tilt = np.where(variance > 0, third / variance**1.5, 0.0)
        freedom = np.where(doubt > 0, np.square(variance) / doubt, np.inf)
    return Accumulated(values, se, *tilted_interval(values, se, tilt, np.maximum(freedom, 1.0)))


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


def _bridge_variance(axis: Axis, local: LocalEffects) -> FloatArray:
    """What bridging may be wrong by: in each gap half the difference between the slopes on both sides of it.

    Outside all rows, where there is one side only, half the difference between the two nearest slopes. All steps of a
    gap are wrong together.
    """
    empty = local.size == 0
    known = np.flatnonzero(~empty)
    if axis.nominal or not empty.any() or len(known) < 2:
        return np.zeros((len(axis.points), local.mean.shape[-1]))
    width = np.diff(axis.points)
    slope = local.mean[known] / width[known, None]
    behind = np.clip(np.searchsorted(known, np.arange(len(empty))), 1, len(known) - 1)
    doubt = np.abs(slope[behind] - slope[behind - 1]) / 2 * np.where(empty, width, 0.0)[:, None]
    gap = np.searchsorted(known, np.arange(len(empty)))
    out = np.zeros((len(axis.points), local.mean.shape[-1]))
    for one in np.unique(gap[empty]):
        out += np.square(highest_order((axis,), local.counts, np.where((gap == one)[:, None], doubt, 0.0)))
    return out


def _of_steps(axes: tuple[Axis, ...], local: LocalEffects, most: int) -> FloatArray:
    """What the errors of the step means make of the effect: its variance, its third cumulant, and by how much the
    square of the variance is doubted; ``(3, points, outputs)``.

    Sums over steps of the 2nd, 3rd and 4th power of the derivative of the effect with respect to the step mean, times
    the variance and the third cumulant of that mean, and the square of its variance over its degrees of freedom.
    """
    errors = _step_errors(local)
    flat = errors.reshape(3, -1, errors.shape[-1])
    source = np.arange(flat.shape[1])
    if len(axes) == 1:
        known = local.size > 0
        unit = bridge(axes[0], ~known)[:, known]
        return _products(highest_order(axes, local.counts, unit), flat[:, known])
    if (local.size == 0).any():
        source = np.ravel_multi_index(nearest_filled(axes, local.size == 0), local.size.shape).ravel()
    uses = np.bincount(source, minlength=len(source))
    used = np.flatnonzero(uses)
    if len(axes) == 2:  # steps of a pair that stand only for themselves have a short formula
        alone = np.where(uses.reshape(*local.size.shape, 1) == 1, errors, 0.0)
        by_formula = _of_steps_2d(axes[0], axes[1], local.counts, alone)
        return by_formula + _step_by_step(axes, local, flat, source, used[uses[used] > 1])
    if len(used) * np.prod([len(axis.points) for axis in axes]) > most:
        variance = _variance_by_signs(axes, local, flat[0], source)
        return np.stack([variance, *np.zeros((2, *variance.shape))])
    return _step_by_step(axes, local, flat, source, used)


def _step_errors(local: LocalEffects) -> FloatArray:
    """Variance and third cumulant of the mean of every step, and the square of that variance over its degrees of
    freedom; ``(3, steps, outputs)``. A step with too few rows to know has the moments of all steps together.
    """
    size = np.maximum(local.size, 1.0)[..., None]
    variance, third = np.square(local.sd), local.third
    unknown = np.isnan(variance)
    pooled = _pooled(variance, local.size - 1), _pooled(third, local.size - 2)
    freedom = np.where(unknown, np.maximum(local.size - 1, 0.0).sum(), size - 1)
    variance = np.where(unknown, pooled[0], variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        skew = np.where(pooled[0] > 0, pooled[1] / pooled[0] ** 1.5, 0.0)
    third = np.where(np.isnan(third), np.where(np.isfinite(skew), skew, 0.0) * variance**1.5, third)
    return np.stack([variance / size, third / size**2, np.square(variance / size) / np.maximum(freedom, 1.0)])


def _products(derivative: FloatArray, errors: FloatArray) -> FloatArray:
    """Powers 2, 3 and 4 of derivatives ``(points, steps)`` times errors ``(3, steps, outputs)``."""
    square = np.square(derivative)
    powers = (square, square * derivative, np.square(square))
    return np.stack([power @ error for power, error in zip(powers, errors, strict=True)])


def _step_by_step(
    axes: tuple[Axis, ...], local: LocalEffects, errors: FloatArray, source: IntArray, used: IntArray, block: int = 256
) -> FloatArray:
    """Every derivative worked out: the effect of a change by one in one step."""
    out = np.zeros((3, *(len(axis.points) for axis in axes), errors.shape[-1]))
    for start in range(0, len(used), block):
        chunk = used[start : start + block]
        unit = (source[:, None] == chunk[None, :]).astype(np.float64).reshape(*local.size.shape, len(chunk))
        out += _products(highest_order(axes, local.counts, unit), errors[:, chunk])
    return out


def _variance_by_signs(axes: tuple[Axis, ...], local: LocalEffects, error: FloatArray, source: IntArray) -> FloatArray:
    """The mean square of the effect of errors with random signs: the variance on average, to about 10%."""
    generator = np.random.default_rng(0)
    out = np.zeros((*(len(axis.points) for axis in axes), error.shape[-1]))
    for _ in range(_SIGNS):
        signs = generator.choice(np.array([-1.0, 1.0]), size=len(source))
        drawn = (signs[:, None] * np.sqrt(error))[source].reshape(*local.size.shape, -1)
        out += np.square(highest_order(axes, local.counts, drawn)) / _SIGNS
    return out


def _of_steps_2d(first: Axis, second: Axis, mass: FloatArray, errors: FloatArray) -> FloatArray:
    """The same sums for a pair, where the derivative is known: see `without_lower_orders` for what is taken out.

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
    sums = np.zeros((3, errors.shape[-1], len(first.points), len(second.points)))
    for rows, columns, derivative in (
        (beyond_k, beyond_l, 1.0 - one - two - level),
        (beyond_k, 1.0 - beyond_l, -one - level),
        (1.0 - beyond_k, beyond_l, -two - level),
        (1.0 - beyond_k, 1.0 - beyond_l, -level),
    ):
        powers = derivative ** np.arange(2, 5)[:, None, None, None]
        sums += rows @ (powers * np.moveaxis(errors, -1, 1)) @ columns.T
    return np.moveaxis(sums, 1, -1)


def _beyond(axis: Axis) -> FloatArray:
    """Whether each point lies beyond each step, as 1 or 0, ``(points, steps)``."""
    return np.tri(len(axis.points), axis.n_steps, -1)


def _pooled(moment: FloatArray, freedom: FloatArray) -> FloatArray:
    """Mean of a moment within steps over all steps that know it; NaN where none does."""
    known = np.isfinite(moment).all(axis=-1) & (freedom > 0)
    if not known.any():
        return np.full(moment.shape[-1], np.nan)
    weights = freedom[known]
    return np.asarray((weights[:, None] * moment[known]).sum(axis=0) / weights.sum())
