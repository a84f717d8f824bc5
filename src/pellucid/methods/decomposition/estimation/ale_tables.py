"""Accumulated local effects of functions that are known at the points of a grid.

A table holds a function of a few features at every combination of the points of their axes (`ale_axis`); along numeric
axes it runs straight between points. Such a function can be moved from point to point at every row like a model, but
without asking one. So what belongs to fewer features is taken out of a part with the rows themselves: afterwards its
accumulated local effects of fewer features are zero to rounding, not only as far as rows stand in the middle of their
cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray, group_sums
from pellucid.data import Data
from pellucid.methods.effects.estimation.accumulation import added_up, filled
from pellucid.methods.effects.estimation.ale_axis import Axis
from pellucid.models import Predictor
from pellucid.runner import Intervention, Run
from pellucid.stats import weighted_mean

Corner = tuple[IntArray, FloatArray]  # per row a position on an axis, and how much the value there counts


@dataclass(frozen=True, eq=False)
class Placed:
    """An axis, and for each row how far it stands from the lower edge of its bin, as a share of the bin."""

    axis: Axis
    share: FloatArray

    @classmethod
    def of(cls, axis: Axis, codes: FloatArray) -> Placed:
        """Rows with the given codes on an axis."""
        if axis.nominal:
            return cls(axis, np.zeros(len(codes)))
        low, high = axis.points[axis.stops()]
        return cls(axis, np.where(axis.cell >= 0, (codes - low) / (high - low), 0.0))

    def corners(self) -> list[Corner]:
        """Where to read a table, and with what weights, for its value at each row; missing counts nothing."""
        cell, inside = np.maximum(self.axis.cell, 0), (self.axis.cell >= 0).astype(np.float64)
        if self.axis.nominal:
            return [(cell, inside)]
        return [(cell, inside * (1.0 - self.share)), (cell + 1, inside * self.share)]


Lower = Mapping[tuple[int, ...], Sequence[Placed]]  # by the places of features among those of a table


def at_rows(axes: Sequence[Placed], table: FloatArray) -> FloatArray:
    """The function at every row, ``(rows, outputs)``; zero where a feature is missing."""
    return _read(table, [axis.corners() for axis in axes])


def _read(table: FloatArray, corners: Sequence[Sequence[Corner]]) -> FloatArray:
    total = np.zeros((len(corners[0][0][0]), table.shape[-1]))
    for choice in product(*corners):
        weight = np.prod([weight for _, weight in choice], axis=0)
        total += weight[:, None] * table[tuple(position for position, _ in choice)]
    return total


def complete(axes: Sequence[Placed]) -> BoolArray:
    """Which rows have a value on every axis."""
    return np.asarray(np.all([placed.axis.cell >= 0 for placed in axes], axis=0))


def accumulated(axes: Sequence[Placed], table: FloatArray, subset: tuple[int, ...], weights: FloatArray) -> FloatArray:
    """The operator L of Apley and Zhu: mean changes along the axes of ``subset`` over the rows of each step, added up.

    Rows in which a feature of the function is missing take no part: the function does not depend on the others there.
    """
    some = tuple(axes[d].axis for d in subset)
    n_steps = int(np.prod([axis.n_steps for axis in some]))
    change, mass = np.zeros((n_steps, table.shape[-1])), np.zeros(n_steps)
    stops = {d: axes[d].axis.stops() for d in subset}
    known = complete(axes)
    for moves in product(*(axis.moves() for axis in some)):
        part = np.flatnonzero(np.all([known, *(move.taking_part for move in moves)], axis=0))
        step = np.zeros(len(part), dtype=np.intp)
        corners = [[(place[part], weight[part]) for place, weight in axis.corners()] for axis in axes]
        for d, move in zip(subset, moves, strict=True):
            step = step * axes[d].axis.n_steps + move.step[part]
            one = np.ones(len(part))
            corners[d] = [(stops[d][move.stop][part], one), (stops[d][move.start][part], -one)]
        change += group_sums(step, n_steps, weights[part, None] * _read(table, corners))
        mass += np.bincount(step, weights=weights[part], minlength=n_steps)
    mean = np.divide(change, mass[:, None], out=np.zeros_like(change), where=mass[:, None] > 0)
    shape = tuple(axis.n_steps for axis in some)
    if not mass.any():
        return np.zeros((*(len(axis.points) for axis in some), table.shape[-1]))
    mean = filled(some, (mass == 0).reshape(shape), mean.reshape(*shape, -1))
    return added_up(mean, len(some))


def own_part(axes: Sequence[Placed], table: FloatArray, weights: FloatArray, lower: Lower) -> FloatArray:
    """A table less the effects of fewer features that it contains, and less its mean over the rows.

    ``lower`` has the axes of the parts of fewer features, where these are not the axes of the table: what is taken out
    here must be what those parts hold, or the sum of all would lack the difference.
    """
    every, known = tuple(range(len(axes))), weights * complete(axes)
    if not known.any():
        return np.zeros_like(table)
    for order in range(len(axes) - 1, 0, -1):
        for subset in combinations(every, order):
            effect = contained(axes, table, subset, weights, lower)
            table = table - np.expand_dims(effect, tuple(d for d in every if d not in subset))
    return np.asarray(table - weighted_mean(at_rows(axes, table), known))


def contained(
    axes: Sequence[Placed], table: FloatArray, subset: tuple[int, ...], weights: FloatArray, lower: Lower
) -> FloatArray:
    """The effect of a subset in a table, with steps along the axes of ``lower``, at the points of the table's own
    axes.
    """
    fine = [axes[d] for d in subset]
    few = lower.get(subset, fine)
    stepping = list(axes)
    for d, placed in zip(subset, few, strict=True):
        table = np.take(table, _positions(placed.axis, axes[d].axis), axis=d)
        stepping[d] = placed
    effect = accumulated(stepping, table, subset, weights)
    return refined(effect, [placed.axis for placed in few], [placed.axis for placed in fine])


def _positions(few: Axis, many: Axis) -> IntArray:
    """Where the points of an axis stand among those of one that contains them."""
    if many.nominal:
        return np.arange(len(few.points))
    return np.searchsorted(many.points, few.points)


def refined(table: FloatArray, coarse: Sequence[Axis], fine: Sequence[Axis]) -> FloatArray:
    """A table on axes with fewer points, at the points of axes that contain them."""
    for d, (few, many) in enumerate(zip(coarse, fine, strict=True)):
        if len(few.points) < len(many.points):
            hats = np.stack([np.interp(many.points, few.points, row) for row in np.eye(len(few.points))], axis=1)
            table = np.moveaxis(np.tensordot(hats, table, axes=(1, d)), 0, d)
    return table


# -- apart by whether another feature is missing ---------------------------------------------------
#
# Accumulated local effects of one feature, among all rows and apart by whether another feature is missing.
#
# A part of two features has no step from a value to no value, so local effects cannot tell what such a step does. But
# the effect of one feature can differ between the rows that have the other and those that lack it. That difference
# belongs to the two together: the part of (j, k) holds, where k is known, how the effect of j among these rows differs
# from that among all, and where k is missing the same for the rows that lack it. Averaged over all rows the two cancel,
# so the part still has no effect of j alone.


@dataclass(frozen=True, eq=False)
class Moved:
    """How predictions change when rows move along one axis: per difference its row, its step and the change
    ``(outputs,)``.
    """

    axis: Axis
    row: IntArray
    step: IntArray
    change: FloatArray

    def mean(self, weights: FloatArray, otherwise: FloatArray) -> FloatArray:
        """Mean change in every step over rows with these weights, ``(steps, outputs)``; ``otherwise`` without such
        rows.
        """
        own = weights[self.row]
        mass = np.bincount(self.step, weights=own, minlength=self.axis.n_steps)[:, None]
        total = group_sums(self.step, self.axis.n_steps, own[:, None] * self.change)
        return np.where(mass > 0, total / np.where(mass > 0, mass, 1.0), otherwise)

    def overall(self, weights: FloatArray) -> FloatArray:
        """Mean change in every step over all rows; no change without rows."""
        return self.mean(weights, np.zeros(self.change.shape[1]))


def moved(run: Run, predictor: Predictor, data: Data, j: int, axis: Axis) -> Moved:
    """Every row moved to the neighbouring points of feature ``j``."""
    inside = np.flatnonzero(axis.cell >= 0)
    if not len(inside) or not axis.n_steps:
        nothing = np.empty(0, dtype=np.intp)
        return Moved(axis, nothing, nothing, np.empty((0, len(predictor.output_names))))
    index = axis.stops()[:, inside, None]
    intervention = Intervention((j,), (data.pool(j, axis.points),), index, None if len(inside) == len(data) else inside)
    predictions = run.collect(predictor, data, intervention)
    rows, steps, changes = [], [], []
    for move in axis.moves():
        part = move.taking_part[inside]
        rows.append(inside[part])
        steps.append(move.step[inside][part])
        changes.append((predictions[move.stop] - predictions[move.start])[part])
    return Moved(axis, np.concatenate(rows), np.concatenate(steps), np.concatenate(changes))


def split(effect: Moved, placed: Placed, gone: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How the effect differs from that among all rows: where the other feature is known, and where it is ``gone``."""
    everywhere = effect.overall(weights)
    tables = []
    for some in (weights * (1.0 - gone), weights * gone):
        table = added_up(effect.mean(some, everywhere) - everywhere, 1)
        present = some * (placed.axis.cell >= 0)
        if present.any():
            table = table - weighted_mean(at_rows([placed], table), present)
        tables.append(table)
    return tables[0], tables[1]
