"""Accumulated local effects.

Apley and Zhu 2020.

Definition. ``ALE_S(x) = integral from z0 to x of E[ df/dx_S | X_S = z ] dz - constant``: only changes at
values that rows really have are averaged, so effects of correlated features do not mix.
Estimator. In each quantile bin, the mean over its rows of ``f(upper edge, x_-j) - f(lower edge, x_-j)``,
summed up over bins and centred. For two features the mean over the rows of each cell of the double
difference ``(f22 - f12) - (f21 - f11)``, summed in both directions, main effects taken out, centred. For
three the triple difference over the eight corners, summed in all directions, then the effects of the three
pairs, the three main effects and the mean taken out (`accumulation`).

When it misleads:
1. bins with few rows, and few bins: shaky or coarse (see the stability caveat);
2. read it locally: under strong correlation a difference across distant bins compares different rows;
3. under correlation with interaction the curve of a linear effect need not be straight;
4. for categories it depends on their order;
5. the effect of a pair or of three features must be read together with those of lower order (or ``total=True``);
6. cells multiply with the features: three need many rows, or their effect is mostly noise and empty cells (see
   the caveats).

Cost. Two predictions per row (three for categories), four to nine for a pair, eight to 27 for three features,
whatever the bins; nothing where a large table is answered by a model that is a sum (see `pellucid.reading`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray, group_sums
from pellucid.checks import flag
from pellucid.data import Data
from pellucid.diagnostics.by_method import ale_caveats
from pellucid.explanations import AtMissing, Effect, squeeze_outputs
from pellucid.methods.effects.estimation.accumulated import Accumulated, accumulate
from pellucid.methods.effects.estimation.accumulation import highest_order
from pellucid.methods.effects.estimation.ale_axis import Axis, level_orders, make_axes
from pellucid.methods.effects.estimation.ale_local import gradient_effects, local_effects
from pellucid.methods.effects.estimation.effect import Estimate, build_effect
from pellucid.models import Predictor
from pellucid.reading import answer
from pellucid.runner import Intervention, Run, constant_intervention
from pellucid.stats import effective_size, skewed_interval, skewness, standard_error, weighted_mean, weighted_quantiles

_QUARTERS = 4  # bins wide enough that their changes are more than the steps of a forest
_ROWS_PER_BIN = 10
_ROWS_PER_CELL = 20


def ale(
    predictor: Predictor,
    data: Data,
    features: Any,
    *,
    bins: Any = None,
    total: bool = False,
    order: Sequence[Any] | None = None,
    gradient: bool = False,
    run: Run,
) -> Effect:
    """ALE of one feature, or the effect of two or three together (``total=True``: with all lower orders)."""
    chosen = data.schema.indices(features, most=3)
    total, gradient = flag("total", total), flag("gradient", gradient)
    bins = _usual_bins(data, chosen) if bins is None else bins
    axes = make_axes(data, chosen, bins, order)
    points = tuple(axis.points for axis in axes)
    local = (
        gradient_effects(run, predictor, data, chosen, axes)
        if gradient
        else local_effects(run, predictor, data, chosen, axes)
    )
    found = accumulate(axes, local)
    centred, se = found.values, found.se
    level = np.full(centred.shape[-1], np.nan)
    if total:
        level, found = _total(run, predictor, data, chosen, axes, found)

    def recompute(some: Data, what: dict[str, Any]) -> tuple[FloatArray, FloatArray]:
        again = make_axes(some, chosen, what.get("bins", bins), what.get("order", order))
        return again[0].points, accumulate(again, local_effects(run, predictor, some, chosen, again)).values

    def with_bins(some: Data, counts: Sequence[int]) -> list[tuple[FloatArray, FloatArray]]:
        return curves_with_bins(run, predictor, some, chosen[0], counts)

    def changes(some: Data) -> tuple[FloatArray, IntArray, FloatArray]:
        return wide_changes(run, predictor, some, chosen[0])

    caveats = ale_caveats(
        predictor,
        data,
        run,
        chosen=chosen,
        points=points,
        counts=local.counts,
        values=centred,
        se=se,
        bins=bins,
        inside=np.all([axis.cell >= 0 for axis in axes], axis=0),
        recompute=recompute,
        with_bins=with_bins,
        second_order=_second_order(data, chosen, order) if run.checks else None,
        changes=changes if len(chosen) == 1 and not axes[0].nominal else None,
    )
    return build_effect(
        "ale",
        predictor,
        data,
        run,
        Estimate(chosen, points, found.values, found.se, found.low, found.high, found.values, local.counts, local.sd),
        level=level,
        missing=_at_missing(run, predictor, data, chosen, axes),
        caveats=caveats,
        settings={"bins": bins, "total": total, "gradient": gradient, "order": None if order is None else list(order)},
    )


def _usual_bins(data: Data, chosen: tuple[int, ...]) -> int:
    """Of one feature a bin for ten rows, but 5 to 40; of several as many as leave some twenty rows per cell, but 3 to
    40, or 10 of three.
    """
    if len(chosen) == 1:
        return int(np.clip(len(data) // _ROWS_PER_BIN, 5, 40))
    features = [data.schema.features[j] for j in chosen]
    cells = len(data) / _ROWS_PER_CELL / prod(max(f.distinct, 1) for f in features if f.nominal)
    numeric = sum(not feature.nominal for feature in features)
    return int(np.clip(cells ** (1 / max(numeric, 1)) + 1e-9, 3, 40 if len(chosen) == 2 else 10))


def curves_with_bins(
    run: Run, predictor: Predictor, data: Data, j: int, counts: Sequence[int]
) -> list[tuple[FloatArray, FloatArray]]:
    """Points and effect of a numeric feature at several numbers of bins, in one call: shared edges are asked once."""
    data = data.take(np.flatnonzero(~np.isnan(data.codes(j)) & (data.weights > 0)))
    axes = [make_axes(data, (j,), count)[0] for count in counts]
    if any(axis.nominal for axis in axes):  # one value only
        return []
    points = np.unique(np.concatenate([axis.points for axis in axes]))
    stops = np.stack([np.searchsorted(points, axis.points)[axis.stops()] for axis in axes])
    asked, found = np.unique(stops * len(data) + np.arange(len(data)), return_inverse=True)
    position, rows = np.divmod(asked, len(data))
    intervention = Intervention((j,), (data.pool(j, points),), position[None, :, None], rows)
    predictions = answer(run, predictor, data, intervention).collect()[0][found.reshape(stops.shape)]
    curves = []
    for axis, (low, high) in zip(axes, predictions, strict=True):
        mass = axis.mass(data.weights)
        mean = group_sums(axis.cell, axis.n_steps, data.weights[:, None] * (high - low)) / mass[:, None]
        curves.append((axis.points, highest_order((axis,), mass, mean)))
    return curves


def wide_changes(run: Run, predictor: Predictor, data: Data, j: int) -> tuple[FloatArray, IntArray, FloatArray]:
    """How the prediction of each row changes across its own quarter of the data, the quarter, and the spread of all."""
    data = data.take(np.flatnonzero(~np.isnan(data.codes(j)) & (data.weights > 0)))
    axis = make_axes(data, (j,), _QUARTERS)[0]
    intervention = Intervention((j,), (data.pool(j, axis.points),), axis.stops()[:, :, None])
    asked = answer(run, predictor, data, intervention)
    low, high = asked.collect()
    return high - low, axis.cell, np.asarray(asked.itself().std(axis=0))


def _second_order(data: Data, chosen: tuple[int, ...], order: Sequence[Any] | None) -> IntArray | None:
    """The next best order of a category that was ordered by similarity."""
    if len(chosen) != 1 or not data.schema.features[chosen[0]].nominal:
        return None
    return level_orders(data, chosen[0], order)[1]


def _total(
    run: Run, predictor: Predictor, data: Data, chosen: tuple[int, ...], axes: tuple[Axis, ...], effect: Accumulated
) -> tuple[FloatArray, Accumulated]:
    """Mean prediction, and the effect with all lower orders added back: for a pair f0 + f1 + f2 + the effect.

    The parts come from the same rows, so the sum of their standard errors bounds that of the total.
    """
    every = range(len(axes))
    predictions = run.predict(predictor, data)
    level, error = weighted_mean(predictions, data.weights), standard_error(predictions, data.weights)
    ends = skewed_interval(level, error, skewness(predictions, data.weights), effective_size(data.weights))
    whole = effect.plus(Accumulated(level, error, *ends))
    for order in range(1, len(axes)):
        for subset in combinations(every, order):
            some = tuple(chosen[d] for d in subset), tuple(axes[d] for d in subset)
            lower = accumulate(some[1], local_effects(run, predictor, data, *some))
            whole = whole.plus(lower, tuple(d for d in every if d not in subset))
    return level, whole


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
        values = weighted_quantiles(codes, (np.arange(20) + 0.5) / 20, data.weights)
        mass = np.ones(len(values))
    asked = answer(run, predictor, some, constant_intervention(data, chosen, (values,)))
    difference = asked.itself() - np.tensordot(mass / mass.sum(), asked.collect(), axes=(0, 0))
    share = float(data.weights[~present].sum() / data.weights.sum())
    mean = squeeze_outputs(weighted_mean(difference, some.weights))
    return AtMissing(np.asarray(mean), np.asarray(squeeze_outputs(standard_error(difference, some.weights))), share)
