"""Accumulated local effects.

Apley and Zhu 2020.

Definition. ``ALE_S(x) = integral from z0 to x of E[ df/dx_S | X_S = z ] dz - constant``: only changes at
values that rows really have are averaged, so features that go together do not mix.
Estimator. In each quantile bin, the mean over its rows of ``f(upper edge, x_-j) - f(lower edge, x_-j)``,
summed up over bins and centred. For two features the mean over the rows of each cell of the double
difference ``(f22 - f12) - (f21 - f11)``, summed in both directions, main effects taken out, centred.

When it misleads:
1. bins with few rows, and few bins: shaky or coarse (see the stability caveat);
2. read it locally: under strong correlation a difference across distant bins compares different rows;
3. under correlation with interaction the curve of a linear effect need not be straight;
4. for categories it depends on their order;
5. a pair's second-order effect must be read together with the two main effects (or ``total=True``).

Cost. Two predictions per row (three for categories; four to nine for a pair), whatever the bins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray, group_sums, standard_error, weighted_mean
from pellucid.data import Data
from pellucid.data.grid import bin_index, given_codes, quantile_edges
from pellucid.diagnostics.ale_checks import ale_caveats
from pellucid.errors import InputError
from pellucid.explanations import AtMissing, Effect
from pellucid.explanations.explanation import squeeze_outputs
from pellucid.methods.effects.ale_axis import Axis, accumulate_1d, accumulate_2d
from pellucid.methods.effects.category_order import level_orders
from pellucid.methods.effects.support import build_effect
from pellucid.models import Predictor
from pellucid.runner import Run, Sweep, constant_sweep


def ale(
    predictor: Predictor,
    data: Data,
    features: Any,
    *,
    bins: Any = 40,
    total: bool = False,
    order: Sequence[Any] | None = None,
    gradient: bool = False,
    run: Run,
) -> Effect:
    """ALE of one feature, or the second-order (``total=True``: total) ALE of a pair."""
    chosen = data.schema.indices(features)
    axes = make_axes(data, chosen, bins, order)
    local = (
        _gradients(run, predictor, data, chosen, axes)
        if gradient
        else local_effects(run, predictor, data, chosen, axes)
    )
    centred, variance = accumulate(axes, local)
    level, values = (
        _total(run, predictor, data, chosen, axes, centred)
        if total
        else (np.full(centred.shape[-1], np.nan), centred)
    )

    def recompute(some: Data, what: dict[str, Any]) -> tuple[FloatArray, FloatArray]:
        again = make_axes(some, chosen, what.get("bins", bins), what.get("order", order))
        return again[0].points, accumulate(again, local_effects(run, predictor, some, chosen, again))[0]

    caveats = ale_caveats(
        predictor, data, run,
        chosen=chosen, points=tuple(axis.points for axis in axes), counts=local.counts, values=centred, bins=bins,
        inside=np.all([axis.cell >= 0 for axis in axes], axis=0), recompute=recompute,
        second_order=level_orders(data, chosen[0], order)[1] if len(chosen) == 1 and axes[0].nominal else None,
    )  # fmt: skip
    return build_effect(
        "ale", predictor, data, run,
        features=chosen, codes=tuple(axis.points for axis in axes),
        values=values, se=np.sqrt(variance), average=values, counts=local.counts, spread=local.sd, level=level, total=total,
        missing=_at_missing(run, predictor, data, chosen, axes),
        caveats=caveats,
        settings={
            "features": [data.schema.names[j] for j in chosen], "bins": bins, "total": total, "gradient": gradient,
            "order": None if order is None else list(order),
        },
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class LocalEffects:
    """Mean, standard deviation and effective number of the differences in every step or pair of steps.

    ``counts`` is the weight of the rows in each cell (bin, level or pair of them).
    """

    mean: FloatArray
    sd: FloatArray
    size: FloatArray
    counts: FloatArray


def make_axes(
    data: Data, chosen: tuple[int, ...], bins: Any, order: Sequence[Any] | None = None
) -> tuple[Axis, ...]:
    """One axis per feature: quantile bins, the given edges, or categories in order."""
    per_feature = (
        list(bins)
        if len(chosen) == 2 and isinstance(bins, tuple | list) and len(bins) == 2
        else [bins] * len(chosen)
    )
    axes = tuple(_axis(data, j, b, order) for j, b in zip(chosen, per_feature, strict=True))
    if not data.weights[np.all([axis.cell >= 0 for axis in axes], axis=0)].any():
        names = " and ".join(repr(data.schema.names[j]) for j in chosen)
        raise InputError(f"no row has a value of {names} inside the bins; give edges that span the data.")
    return axes


def _axis(data: Data, j: int, bins: Any, order: Sequence[Any] | None) -> Axis:
    feature, codes = data.schema.features[j], data.codes(j)
    if feature.distinct == 0:
        raise InputError(
            f"feature {feature.name!r} is missing in every row; there is no value to show an effect at."
        )
    if feature.nominal:
        levels, _ = level_orders(data, j, order)
        position = np.full(int(levels.max()) + 1, -1)
        position[levels] = np.arange(len(levels))
        cell = np.where(np.isnan(codes), -1, position[np.nan_to_num(codes).astype(np.intp)])
        return Axis(levels.astype(np.float64), cell.astype(np.intp), True)
    if np.ndim(bins) == 0:
        edges = quantile_edges(codes, int(bins), data.weights)
        if len(edges) < 2:  # a constant: one level, no steps
            return Axis(edges, np.where(np.isnan(codes), -1, 0), True)
    else:
        edges = given_codes(feature, bins)
        if len(edges) < 2 or (np.diff(edges) <= 0).any():
            raise InputError(f"bins= for feature {feature.name!r} must be at least two increasing edges.")
    return Axis(edges, bin_index(codes, edges), False)


def local_effects(
    run: Run, predictor: Predictor, data: Data, chosen: tuple[int, ...], axes: tuple[Axis, ...]
) -> LocalEffects:
    """Differences of predictions between neighbouring points, averaged over the rows between them."""
    inside = np.flatnonzero(np.all([axis.cell >= 0 for axis in axes], axis=0))
    stops = [axis.stops()[:, inside] for axis in axes]
    shape = tuple(len(s) for s in stops)
    index = np.stack(
        [
            np.stack([s[v] for s, v in zip(stops, np.unravel_index(k, shape), strict=True)], axis=-1)
            for k in range(int(np.prod(shape)))
        ]
    )
    pools = tuple(data.pool(j, axis.points) for j, axis in zip(chosen, axes, strict=True))
    sweep = Sweep(chosen, pools, index, None if len(inside) == len(data) else inside)
    predictions = run.collect(predictor, data, sweep).reshape(*shape, len(inside), -1)
    steps, differences, weights = _differences(axes, inside, predictions, data.weights)
    return _summarise(axes, steps, differences, weights, data.weights)


def _differences(
    axes: tuple[Axis, ...], inside: IntArray, predictions: FloatArray, weights: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Every single or double difference with the (flat) step it belongs to and its weight."""
    steps, differences, masses = [], [], []
    last = axes[-1].moves()
    for a in axes[0].moves():
        for b in last if len(axes) == 2 else [None]:
            part = a.taking_part[inside] if b is None else a.taking_part[inside] & b.taking_part[inside]
            if b is None:
                step = a.step[inside]
                change = predictions[a.stop] - predictions[a.start]
            else:
                step = a.step[inside] * axes[1].n_steps + b.step[inside]
                upper = predictions[a.stop, b.stop] - predictions[a.start, b.stop]
                change = upper - (predictions[a.stop, b.start] - predictions[a.start, b.start])
            steps.append(step[part])
            differences.append(change[part])
            masses.append(weights[inside][part])
    return np.concatenate(steps), np.concatenate(differences), np.concatenate(masses)


def _summarise(
    axes: tuple[Axis, ...],
    steps: IntArray,
    differences: FloatArray,
    weights: FloatArray,
    row_weights: FloatArray,
) -> LocalEffects:
    """Weighted mean, standard deviation and effective size per step."""
    shape = tuple(axis.n_steps for axis in axes)
    n = int(np.prod(shape))
    outputs = differences.shape[-1]
    mass = np.bincount(steps, weights=weights, minlength=n)
    squares = np.bincount(steps, weights=np.square(weights), minlength=n)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = group_sums(steps, n, weights[:, None] * differences) / mass[:, None]
        size = np.square(mass) / squares
        centred = differences - mean[steps]
        variance = (
            group_sums(steps, n, weights[:, None] * np.square(centred))
            / mass[:, None]
            * (size / (size - 1))[:, None]
        )
    sd = np.where((size > 1 + 1e-9)[:, None], np.sqrt(np.maximum(variance, 0.0)), np.nan)
    counts = _cell_counts(axes, row_weights)
    size = np.where(mass > 0, size, 0.0)
    return LocalEffects(
        mean.reshape(*shape, outputs), sd.reshape(*shape, outputs), size.reshape(shape), counts
    )


def _cell_counts(axes: tuple[Axis, ...], weights: FloatArray) -> FloatArray:
    inside = np.all([axis.cell >= 0 for axis in axes], axis=0)
    shape = tuple(axis.n_cells for axis in axes)
    flat = np.ravel_multi_index([axis.cell[inside] for axis in axes], shape)
    mass = np.bincount(flat, weights=weights[inside], minlength=int(np.prod(shape)))
    return np.asarray(mass, dtype=np.float64).reshape(shape)


def accumulate(axes: tuple[Axis, ...], local: LocalEffects) -> tuple[FloatArray, FloatArray]:
    """Effect at the points and its sampling variance (steps independent, weights of cells fixed)."""
    mean = fill_empty(axes, local)
    if len(axes) == 1:
        values = accumulate_1d(axes[0], local.counts, mean)
    else:
        values = accumulate_2d(axes[0], axes[1], local.counts, mean)
    return values, _variance(axes, local)


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
    out = np.zeros((*(len(axis.points) for axis in axes), flat_error.shape[-1]))
    used = np.unique(source)
    for start in range(0, len(used), block):
        chunk = used[start : start + block]
        unit = (source[:, None] == chunk[None, :]).astype(np.float64).reshape(*shape, len(chunk))
        if len(axes) == 1:
            weight = accumulate_1d(axes[0], local.counts, unit)
        else:
            weight = accumulate_2d(axes[0], axes[1], local.counts, unit)
        out += np.square(weight) @ flat_error[chunk]
    return out


def _pooled_variance(local: LocalEffects) -> FloatArray:
    """Variance within steps, over all steps that have more than one row; NaN when none has."""
    known = np.isfinite(local.sd).all(axis=-1)
    if not known.any():
        return np.full(local.sd.shape[-1], np.nan)
    weights = local.size[known] - 1
    return np.asarray((weights[:, None] * np.square(local.sd[known])).sum(axis=0) / weights.sum())


def _total(
    run: Run,
    predictor: Predictor,
    data: Data,
    chosen: tuple[int, ...],
    axes: tuple[Axis, ...],
    values: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Mean prediction, and the effect with all lower orders added back: f0 (+ f1 + f2) + the effect."""
    level = np.average(run.predict(predictor, data), axis=0, weights=data.weights)
    if len(axes) == 1:
        return level, values + level
    mains = [
        accumulate((axis,), local_effects(run, predictor, data, (j,), (axis,)))[0]
        for j, axis in zip(chosen, axes, strict=True)
    ]
    return level, values + mains[0][:, None] + mains[1][None, :] + level


def _gradients(
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


def _at_missing(
    run: Run, predictor: Predictor, data: Data, chosen: tuple[int, ...], axes: tuple[Axis, ...]
) -> AtMissing | None:
    """How the rows without the value differ from themselves with a value drawn from the others.

    For every row where the feature is missing: its prediction minus its mean prediction over twenty
    observed values (or all levels), averaged. Like the curve, it is relative to the average value.
    """
    codes = data.codes(chosen[0])
    rows = np.flatnonzero(np.isnan(codes) & (data.weights > 0))
    if len(chosen) != 1 or not len(rows):
        return None
    some = data.take(rows)
    present = ~np.isnan(codes)
    if axes[0].nominal:
        values, mass = axes[0].points, axes[0].mass(data.weights)
    else:
        order = np.sort(codes[present])
        values = order[np.linspace(0, len(order) - 1, 41).astype(int)[1::2]]
        mass = np.ones(len(values))
    itself = run.predict(predictor, some)
    others = run.collect(predictor, some, constant_sweep(data, chosen, (values,)))
    difference = itself - np.tensordot(mass / mass.sum(), others, axes=(0, 0))
    share = float(data.weights[~present].sum() / data.weights.sum())
    mean = squeeze_outputs(weighted_mean(difference, some.weights))
    return AtMissing(
        np.asarray(mean), np.asarray(squeeze_outputs(standard_error(difference, some.weights))), share
    )
