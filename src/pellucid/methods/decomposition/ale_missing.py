"""Accumulated local effects of one feature, among all rows and apart by whether another feature is missing.

A part of two features has no step from a value to no value, so local effects cannot tell what such a step does. But the
effect of one feature can differ between the rows that have the other and those that lack it. That difference belongs to
the two together: the part of (j, k) holds, where k is known, how the effect of j among these rows differs from that
among all, and where k is missing the same for the rows that lack it. Averaged over all rows the two cancel, so the part
still has no effect of j alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray, group_sums, weighted_mean
from pellucid.data import Data
from pellucid.methods.decomposition.local_tables import Placed, at_rows
from pellucid.methods.effects.accumulation import added_up
from pellucid.methods.effects.ale_axis import Axis
from pellucid.models import Predictor
from pellucid.runner import Intervention, Run


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
