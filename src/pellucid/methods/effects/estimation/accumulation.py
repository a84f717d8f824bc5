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
