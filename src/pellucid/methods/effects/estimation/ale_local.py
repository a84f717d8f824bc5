"""Local effects: how predictions change when each row is moved to a neighbouring point, averaged per step."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.errors import InputError
from pellucid.methods.effects.estimation.ale_axis import Axis
from pellucid.models import Predictor
from pellucid.reading import answer
from pellucid.runner import Intervention, Run
from pellucid.stats import GroupMoments, effective_size


@dataclass(frozen=True, eq=False)
class LocalEffects:
    """Mean, standard deviation, third central moment and effective number of the differences in every step or
    combination of steps.

    ``counts`` is the weight of the rows in each cell (bin, level or combination of them), ``rows`` their effective
    number.
    """

    mean: FloatArray
    sd: FloatArray
    third: FloatArray
    size: FloatArray
    counts: FloatArray
    rows: float


def local_effects(
    run: Run, predictor: Predictor, data: Data, chosen: tuple[int, ...], axes: tuple[Axis, ...]
) -> LocalEffects:
    """Differences of predictions between neighbouring points, averaged over the rows between them."""
    inside = np.flatnonzero(_inside(axes))
    everywhere = len(inside) == len(data)
    stops = [axis.stops() if everywhere else axis.stops()[:, inside] for axis in axes]
    shape = tuple(len(s) for s in stops)
    index = np.stack(_combinations(stops), axis=-1)
    pools = tuple(data.pool(j, axis.points) for j, axis in zip(chosen, axes, strict=True))
    intervention = Intervention(chosen, pools, index, None if everywhere else inside)
    predictions = answer(run, predictor, data, intervention).collect().reshape(*shape, len(inside), -1)
    steps, differences, weights = _differences(axes, inside, predictions, data.weights)
    return _summarise(axes, steps, differences, weights, data.weights)


def _inside(axes: tuple[Axis, ...]) -> BoolArray:
    """The rows that lie in some cell of every axis."""
    inside = axes[0].cell >= 0
    for axis in axes[1:]:
        inside &= axis.cell >= 0
    return inside


def _combinations(stops: list[IntArray]) -> list[IntArray]:
    """Per feature the stop of each row in every combination of stops, ``(combinations, rows)``."""
    if len(stops) == 1:
        return stops
    each = np.indices([len(s) for s in stops]).reshape(len(stops), -1)
    return [stop[choice] for stop, choice in zip(stops, each, strict=True)]


def gradient_effects(
    run: Run, predictor: Predictor, data: Data, chosen: tuple[int, ...], axes: tuple[Axis, ...]
) -> LocalEffects:
    """The model's own derivative at each row, times the width of the row's bin."""
    (axis, *more), (j, *_) = axes, chosen
    if more or axis.nominal:
        raise InputError("gradient=True needs one numeric feature.")
    derivative = run.gradient(predictor, data)[:, j]
    inside = axis.cell >= 0
    step = axis.cell[inside]
    change = derivative[inside] * np.diff(axis.points)[step][:, None]
    return _summarise(axes, step, change, data.weights[inside], data.weights)


def _differences(
    axes: tuple[Axis, ...], inside: IntArray, predictions: FloatArray, weights: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Every single or mixed difference with the (flat) step it belongs to and its weight."""
    steps, differences, masses = [], [], []
    for moves in product(*(axis.moves() for axis in axes)):
        step, change = np.zeros(len(inside), dtype=np.intp), predictions
        for axis, move in zip(axes, moves, strict=True):
            step = step * axis.n_steps + move.step[inside]
            change = change[move.stop] - change[move.start]
        part = np.all([move.taking_part[inside] for move in moves], axis=0)
        everyone = bool(part.all())
        steps.append(step if everyone else step[part])
        differences.append(change if everyone else change[part])
        masses.append(weights[inside] if everyone else weights[inside][part])
    return _joined(steps), _joined(differences), _joined(masses)


def _joined(parts: list[AnyArray]) -> AnyArray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _summarise(
    axes: tuple[Axis, ...], steps: IntArray, differences: FloatArray, weights: FloatArray, row_weights: FloatArray
) -> LocalEffects:
    """Weighted moments and effective size per step."""
    shape = tuple(axis.n_steps for axis in axes)
    found = GroupMoments.of(steps, int(np.prod(shape)), differences, weights)
    outputs = differences.shape[-1]
    mean, sd, third = (part.reshape(*shape, outputs) for part in (found.mean, found.sd, found.third))
    return LocalEffects(
        mean=mean,
        sd=sd,
        third=third,
        size=found.size.reshape(shape),
        counts=_cell_counts(axes, row_weights),
        rows=effective_size(row_weights[_inside(axes)]),
    )


def _cell_counts(axes: tuple[Axis, ...], weights: FloatArray) -> FloatArray:
    if len(axes) == 1:
        return axes[0].mass(weights)
    inside = _inside(axes)
    shape = tuple(axis.n_cells for axis in axes)
    flat = np.ravel_multi_index([axis.cell[inside] for axis in axes], shape)
    mass = np.bincount(flat, weights=weights[inside], minlength=int(np.prod(shape)))
    return np.asarray(mass, dtype=np.float64).reshape(shape)
