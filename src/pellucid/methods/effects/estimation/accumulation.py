"""From mean steps to an effect: add up, and take out all that belongs to fewer features.

Apley and Zhu 2020. For features J let L_J add up the mean changes over the axes of J. The effect of J is
``L_J f`` less the effects of its subsets that are contained in it: first of all subsets v with one feature
fewer (``g - sum of L_v g``), then of those with two fewer, and so on down to single features and the mean.
For one feature that is centring; for two, both main effects and the mean; for three, the pairs come first.
What is left has no lower-order effect of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import prod
from string import ascii_letters

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.methods.effects.estimation.ale_axis import Axis
from pellucid.methods.effects.estimation.ale_local import LocalEffects

_REDRAWN = 30
_SIGNS = 200
_MOST = 20_000_000  # derivatives (points times cells) of three features that are all worked out


def highest_order(axes: tuple[Axis, ...], mass: FloatArray, delta: FloatArray) -> FloatArray:
    """The effect that belongs to all axes together, at their points.

    ``mass`` is the weight of the rows in every cell, ``delta`` the mean change in every step; axes of ``delta``
    behind those of the steps are carried along, so the map is linear in it.
    """
    return without_lower_orders(axes, mass, added_up(delta, len(axes)))


def added_up(delta: FloatArray, n_axes: int) -> FloatArray:
    """Sums over all steps before each point, along the first axes; zero at the first points."""
    surface = np.zeros((*(size + 1 for size in delta.shape[:n_axes]), *delta.shape[n_axes:]))
    for d in range(n_axes):
        delta = delta.cumsum(axis=d)
    surface[(slice(1, None),) * n_axes] = delta
    return surface


def without_lower_orders(axes: tuple[Axis, ...], mass: FloatArray, surface: FloatArray) -> FloatArray:
    """A surface less the effects of all subsets of its axes that are contained in it, and less its mean.

    With one or two axes several masses can be given at once: the axes behind the cells are broadcast with those
    behind the points.
    """
    every = tuple(range(len(axes)))
    for order in range(len(axes) - 1, 0, -1):
        # One subset after the other is the same as all at once: the effect of one is constant along a
        # feature of any other subset of the same size.
        for subset in combinations(every, order):
            lower = _lower_order(axes, subset, mass, surface)
            surface = surface - lower[tuple(slice(None) if d in subset else None for d in every)]
    cells = _along(every, surface, [axis.to_cells for axis in axes])
    share = mass / mass.sum(axis=every)
    each = ascii_letters[: len(axes)]
    mean = np.einsum(f"{each}...,{each}...->...", share, cells, optimize=True)
    return np.asarray(surface - mean)


def _lower_order(axes: tuple[Axis, ...], subset: tuple[int, ...], mass: FloatArray, surface: FloatArray) -> FloatArray:
    """L_v of a surface: its changes along the axes v, averaged over the rows along the others, added up."""
    k = len(axes)
    others = tuple(d for d in range(k) if d not in subset)
    change = _along(subset, surface, [_steps] * len(subset))
    change = _along(others, change, [axes[d].to_cells for d in others])
    weight = _along(subset, mass, [axes[d].to_steps for d in subset])
    steps = tuple(axes[d].n_steps for d in subset)
    flat = (prod(steps), prod(axes[d].n_cells for d in others))
    weight, change = (
        a.transpose(*subset, *others, *range(k, a.ndim)).reshape(*flat, *a.shape[k:]) for a in (weight, change)
    )
    mean = np.einsum("sc...,sc...->s...", shares(weight), change)
    mean = mean.reshape(*steps, *mean.shape[1:])
    if len(subset) > 1:  # along one axis a step without rows is no change, and its shares are zero
        empty = (weight.sum(axis=1) == 0).reshape(steps)
        mean = filled(tuple(axes[d] for d in subset), empty, mean)
    return added_up(mean, len(steps))


def shares(weight: FloatArray) -> FloatArray:
    """Weights of cells (second axis) as shares of those of their step (first axis); zero without rows."""
    total = weight.sum(axis=1, keepdims=True)
    return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)


def _steps(values: FloatArray) -> FloatArray:
    return np.asarray(values[1:] - values[:-1])


def _along(
    dimensions: Sequence[int], values: FloatArray, changes: Sequence[Callable[[FloatArray], FloatArray]]
) -> FloatArray:
    """Functions that act on the first axis of an array, applied to each of the given ones."""
    for d, change in zip(dimensions, changes, strict=True):
        values = change(values.swapaxes(0, d)).swapaxes(0, d)
    return values


# -- steps without rows ------------------------------------------------------------------------------


def filled(axes: tuple[Axis, ...], empty: BoolArray, mean: FloatArray) -> FloatArray:
    """Steps without rows: bridged in one dimension; the nearest cell with rows in more (as ALEPlot)."""
    if not empty.any():
        return mean
    if len(axes) == 1:
        return np.tensordot(bridge(axes[0], empty), np.where(_as(mean, empty), 0.0, mean), axes=(1, 0))
    return np.asarray(mean[nearest_filled(axes, empty)])


def bridge(axis: Axis, empty: BoolArray) -> FloatArray:
    """How the change in every step follows from those in the steps with rows, ``(steps, steps)``.

    A step with rows is its own. In a gap the slope goes in a straight line from the one before to the one behind,
    taken in the middle of the step; outside all rows it is the nearest. Levels have no slope: no change.
    """
    known = np.flatnonzero(~empty)
    out = np.diag((~empty).astype(np.float64))
    if axis.nominal or not len(known):
        return out
    middle, width = axis.to_cells(axis.points), np.diff(axis.points)
    lacking = np.flatnonzero(empty)
    behind = np.searchsorted(known, lacking)
    left, right = known[np.maximum(behind - 1, 0)], known[np.minimum(behind, len(known) - 1)]
    span = np.where(left == right, 1.0, middle[right] - middle[left])
    part = np.clip((middle[lacking] - middle[left]) / span, 0.0, 1.0)
    out[lacking, left] += (1 - part) * width[lacking] / width[left]
    out[lacking, right] += part * width[lacking] / width[right]
    return out


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


def _as(values: FloatArray, steps: BoolArray) -> BoolArray:
    """Steps along the first axis, to be broadcast with values."""
    return steps.reshape(-1, *(1,) * (values.ndim - 1))


def nearest_filled(axes: tuple[Axis, ...], empty: BoolArray, block: int = 256) -> tuple[IntArray, ...]:
    """For every cell the position of the nearest cell that holds rows; of several at one distance the first."""
    places = [axis.places() for axis in axes]
    lacking, known = np.argwhere(empty), np.argwhere(~empty)
    source = np.indices(empty.shape)
    for start in range(0, len(lacking), block):
        cells = lacking[start : start + block]
        gaps = [place[cells[:, d], None] - place[None, known[:, d]] for d, place in enumerate(places)]
        distance = np.square(gaps).sum(axis=0)
        nearest = np.argmax(distance <= distance.min(axis=1, keepdims=True) * (1 + 1e-9), axis=1)
        source[(slice(None), *cells.T)] = known[nearest].T
    return tuple(source)


# -- the sampling variance -------------------------------------------------------------------------


def accumulate(axes: tuple[Axis, ...], local: LocalEffects, most: int = _MOST) -> tuple[FloatArray, FloatArray]:
    """Effect at the points and its sampling variance, given the points.

    Two things vary from sample to sample: the mean change in every step, and how many rows fall into every
    cell, which decides what is subtracted as main effect and mean.
    """
    mean = filled(axes, local.size == 0, local.mean)
    values = highest_order(axes, local.counts, mean)
    variance = _variance(axes, local, most) + _centring_variance(axes, local, mean, values)
    if len(axes) == 1:
        variance = variance + _bridge_variance(axes[0], local)
    return values, variance


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


def _variance(axes: tuple[Axis, ...], local: LocalEffects, most: int) -> FloatArray:
    """Sum over steps of (derivative of the effect with respect to the step mean)^2 times its squared error."""
    unknown = np.isnan(local.sd)
    error = np.where(unknown, _pooled_variance(local), np.square(local.sd))
    error = error / np.maximum(local.size, 1.0)[..., None]
    flat_error = error.reshape(-1, error.shape[-1])
    source = np.arange(flat_error.shape[0])
    if len(axes) == 1:
        known = local.size > 0
        unit = bridge(axes[0], ~known)[:, known]
        return np.asarray(np.square(highest_order(axes, local.counts, unit)) @ flat_error[known])
    if (local.size == 0).any():
        source = np.ravel_multi_index(nearest_filled(axes, local.size == 0), local.size.shape).ravel()
    uses = np.bincount(source, minlength=len(source))
    used = np.flatnonzero(uses)
    if len(axes) == 2:  # steps of a pair that stand only for themselves have a short formula
        alone = np.where(uses.reshape(*local.size.shape, 1) == 1, error, 0.0)
        by_formula = _variance_2d(axes[0], axes[1], local.counts, alone)
        return by_formula + _variance_by_steps(axes, local, flat_error, source, used[uses[used] > 1])
    if len(axes) > 2 and len(used) * np.prod([len(axis.points) for axis in axes]) > most:
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
