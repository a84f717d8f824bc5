"""Effects between the points of their grids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.errors import InputError, nearest
from pellucid.words import value_name

if TYPE_CHECKING:
    from pellucid.explanations.effect import Effect


def interpolated(effect: Effect, surface: FloatArray, points: Sequence[Any], *, beyond: bool = False) -> FloatArray:
    """``(points, outputs)``: a surface over the grid of an effect, outputs last, at points given feature by feature.

    A point outside the grid is an error, or NaN if it may lie ``beyond`` it.
    """
    values, rows = surface[None], np.arange(len(points[0]))
    for grid, nominal, column, name in zip(effect.grids, effect.nominal, points, effect.feature_names, strict=True):
        low, high, share = _neighbours(grid, nominal, column, name, beyond)
        first = np.zeros_like(rows) if len(values) == 1 else rows
        share = share.reshape(-1, *[1] * (values.ndim - 2))
        left, right = values[first, low], values[first, high]
        with np.errstate(invalid="ignore"):  # log-odds may be infinite
            between = (1 - share) * left + share * right
        values = np.where(share == 0, left, np.where(share == 1, right, between))
    return values


def _neighbours(
    grid: AnyArray, nominal: bool, points: Any, name: str, beyond: bool
) -> tuple[IntArray, IntArray, FloatArray]:
    """Of each value the grid points on either side and how far it is from the first towards the second.

    Outside the grid that is an error, or NaN if a value may lie ``beyond`` it.
    """
    if nominal:
        return _levels(grid, points, name, beyond)
    dates = grid.dtype.kind == "M"
    try:
        at = np.asarray(points, dtype="datetime64[us]" if dates else None).astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} = {points[0]!r} is no {'date' if dates else 'number'}; give one.") from None
    axis = (grid.astype("datetime64[us]") if dates else grid).astype(np.float64)
    outside = ~((axis.min() <= at) & (at <= axis.max()))
    if outside.any() and not beyond:
        raise InputError(
            f"{name} = {points[int(np.argmax(outside))]} lies outside the grid, {value_name(grid.min())} to"
            f" {value_name(grid.max())}; an effect is not extrapolated."
        )
    order = np.argsort(axis, kind="stable")
    right = np.clip(np.searchsorted(axis[order], at), min(1, len(axis) - 1), len(axis) - 1)
    left = np.maximum(right - 1, 0)
    width = axis[order][right] - axis[order][left]
    share = np.divide(at - axis[order][left], width, out=np.zeros_like(at), where=width > 0)
    return order[left], order[right], np.where(outside, np.nan, share)


def _levels(grid: AnyArray, points: Any, name: str, beyond: bool) -> tuple[IntArray, IntArray, FloatArray]:
    """The same for levels, each of which is a point of the grid or none."""
    labels = [str(label) for label in grid]
    position = {label: i for i, label in enumerate(labels)}
    at = np.array([position.get(str(point), -1) for point in points], dtype=np.intp)
    if (at < 0).any() and not beyond:
        unknown = points[int(np.argmin(at))]
        raise InputError(f"{unknown!r} is not a level of {name!r}{nearest(str(unknown), labels)}")
    return at, at, np.where(at < 0, np.nan, 0.0)
