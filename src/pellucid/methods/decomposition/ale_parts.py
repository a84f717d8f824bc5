"""Decomposition into accumulated local effects.

Apley and Zhu 2020, section 3 and appendix: ``f = f0 + sum of f_j + sum of f_jk + ...`` with f0 the mean prediction, f_j
the accumulated local effect of one feature, f_jk the second-order effect of two.

Definition. ``f_S = H_S f``: the changes of the function along all features of S at once, averaged over the rows with
such values, added up (L_S), less all that belongs to fewer features, ``g - sum over v of L_v g``, from the largest v
down to single ones and the mean. The parts are pseudo-orthogonal: ``H_S(f_S) = f_S`` and ``H_U(f_S) = 0`` for U other
than S. Effects of correlated features do not mix, and the model is asked only about values near those of real rows.
Estimator. The local effects of `ale`, at the edges of quantile bins; pairs and triples on fewer of the same edges, so
that their cells hold rows. What belongs to fewer features is taken out with the rows themselves (`ale_tables`), so
that pseudo-orthogonality is exact for the estimator, and parts have mean zero over the rows (`ale` has the mean at
midpoints of bins as zero: its curves differ by a constant). Where a feature is missing, its main effect is what such
rows have on average beyond their other parts; parts of two features say how the effect of one differs where the other
is missing (`ale_tables`), parts of three nothing.

When it misleads:
1. parts add up to the function exactly only with narrow bins and rows in all cells; what is left is the residual;
2. cells without rows take over the change in the nearest cell;
3. parts are not orthogonal, so their variances do not add up: read ``covariance``;
4. categories are put in an order, and their parts depend on it;
5. two and three features need many rows: see the caveat.

Cost. Two predictions per row and feature (three for categories), four to nine for a pair, eight to 27 for three, and
one per row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import prod
from typing import Any, Literal

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.data.grid import bin_index
from pellucid.diagnostics.by_method import ale_parts_caveats
from pellucid.errors import InputError
from pellucid.explanations.component import Axis, Check, Component
from pellucid.explanations.decomposition import Decomposition
from pellucid.methods.decomposition.estimation import ale_tables
from pellucid.methods.decomposition.estimation.axes import Subset, make_axis, subsets
from pellucid.methods.decomposition.estimation.basis import evenly
from pellucid.methods.decomposition.estimation.components import Components, at_rows, build, component, variances_at
from pellucid.methods.decomposition.estimation.density import different
from pellucid.methods.effects.estimation.accumulation import added_up, filled
from pellucid.methods.effects.estimation.ale_axis import Axis as StepAxis
from pellucid.methods.effects.estimation.ale_axis import make_axes
from pellucid.methods.effects.estimation.ale_local import local_effects
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.stats import weighted_mean

_BINS = (40, 24, 10)  # along one feature, by the order of the decomposition
_ROWS = 20  # per cell of a pair or triple
_MOST = 1_000_000_000  # model rows
_TOLERANCE = 1e-6

Grids = Mapping[int, ale_tables.Placed]


def ale_parts(
    predictor: Predictor, data: Data, *, order: int = 2, features: Any = None, grid: int | None = None, run: Run
) -> Decomposition:
    """The function as mean prediction plus accumulated local effects.

    ``grid`` is the number of edges of bins along each feature in every part; by default there are up to 41, and in
    parts of several features as many as leave some twenty rows per cell.
    """
    chosen = subsets(data, features, order)
    columns = tuple(subset[0] for subset in chosen if len(subset) == 1)
    given, data = data, data.take(np.flatnonzero(data.weights > 0))
    _refuse_too_dear(data, chosen)
    fine = {j: _placed(data, j, _BINS[max(map(len, chosen)) - 1] if grid is None else grid - 1) for j in columns}
    rows = different(data, columns)
    coarse = {
        subset: {j: _fewer(data, j, fine[j], _cells(data, subset, rows) if grid is None else grid - 1) for j in subset}
        for subset in chosen
        if len(subset) > 1
    }
    predictions = run.predict(predictor, data)
    effects = {j: ale_tables.moved(run, predictor, data, j, fine[j].axis) for j in columns}
    tables: dict[Subset, FloatArray] = {
        (j,): ale_tables.own_part([fine[j]], added_up(effects[j].overall(data.weights), 1), data.weights, {})
        for j in columns
    }
    tables |= {subset: _part(run, predictor, data, subset, coarse, fine) for subset in coarse}
    axes = {j: _axis(data, j, fine[j].axis) for j in columns}
    components = [_component(subset, tables[subset], axes) for subset in chosen]
    components = [_beside_missing(part, data, effects, fine) for part in components]
    constant = weighted_mean(predictions, data.weights)
    components = _at_missing(constant, components, data, predictions)
    parts = Components(
        constant,
        components,
        predictions,
        variances_at(constant, components, data, predictions),
        _checks(tables, coarse, fine, data, predictions),
        {"features": None if features is None else [data.schema.names[j] for j in columns], "grid": grid},
    )
    result = build("ale", predictor, data, run, parts, order=order, density="data")
    cells = {subset: tuple(own[j].axis for j in subset) for subset, own in coarse.items()}
    caveats = ale_parts_caveats(predictor, given, run, found=result, cells=cells)
    return run.finish(result, caveats)


# -- axes --------------------------------------------------------------------------------------------


def _placed(data: Data, j: int, bins: int) -> ale_tables.Placed:
    """The axis of a feature; one without a single value has one point that no row is at."""
    if np.isnan(data.codes(j)).all():
        axis = StepAxis(np.zeros(1), np.full(len(data), -1), True)
    else:
        (axis,) = make_axes(data, (j,), bins)
    return ale_tables.Placed.of(axis, data.codes(j))


def _cells(data: Data, subset: Subset, rows: int) -> int:
    """Bins along each numeric feature of a part, at least two, that leave some twenty rows per cell."""
    features = [data.schema.features[j] for j in subset]
    numeric = sum(not feature.nominal for feature in features)
    cells = rows / _ROWS / prod(max(feature.distinct, 1) for feature in features if feature.nominal)
    return max(2, int(cells ** (1 / max(numeric, 1)) + 1e-9))


def _fewer(data: Data, j: int, fine: ale_tables.Placed, bins: int) -> ale_tables.Placed:
    """The axis with some of its edges, evenly spread."""
    if fine.axis.nominal:
        return fine
    points = fine.axis.points[evenly(len(fine.axis.points), bins)]
    return ale_tables.Placed.of(StepAxis(points, bin_index(data.codes(j), points), False), data.codes(j))


def _axis(data: Data, j: int, axis: StepAxis) -> Axis:
    feature, gone = data.schema.features[j], np.isnan(data.codes(j))
    kind: Literal["levels", "knots"] = "levels" if feature.nominal else "knots"
    return make_axis(feature, kind, axis.points[: 0 if gone.all() else None], missing=bool(gone.any()))


def _refuse_too_dear(data: Data, chosen: Sequence[Subset], most: int = _MOST) -> None:
    asked = len(data) * sum(2 ** len(subset) for subset in chosen)
    if asked > most:
        raise InputError(
            f"the accumulated local effects of {len(chosen):,} parts need about {asked:,} predictions; give fewer"
            " features (features=[...]), fewer rows or a lower order."
        )


# -- parts -------------------------------------------------------------------------------------------


def _part(
    run: Run, predictor: Predictor, data: Data, subset: Subset, coarse: Mapping[Subset, Grids], fine: Grids
) -> FloatArray:
    """H_S f of several features at the points of the fine axes: local effects added up, less what belongs to fewer
    features.
    """
    many = [fine[j] for j in subset]
    steps = tuple(coarse[subset][j].axis for j in subset)
    inside = np.all([axis.cell >= 0 for axis in steps], axis=0)
    if not inside.any() or any(axis.n_steps == 0 for axis in steps):
        return np.zeros((*(len(placed.axis.points) for placed in many), len(predictor.output_names)))
    local = local_effects(run, predictor, data, subset, steps)
    surface = added_up(filled(steps, local.size == 0, local.mean), len(steps))
    surface = ale_tables.refined(surface, steps, [placed.axis for placed in many])
    return ale_tables.own_part(many, surface, data.weights, _lower(subset, coarse))


def _lower(subset: Subset, coarse: Mapping[Subset, Grids]) -> ale_tables.Lower:
    """The axes of the parts of some features of a subset, and its own, by their places in it; single features have fine
    ones.
    """
    return {
        places: [coarse[some][j] for j in some]
        for order in range(2, len(subset) + 1)
        for places in combinations(range(len(subset)), order)
        if (some := tuple(subset[d] for d in places)) in coarse
    }


def _component(subset: Subset, table: FloatArray, axes: Mapping[int, Axis]) -> Component:
    """A part with a place for missing values, where it adds nothing."""
    some = tuple(axes[j] for j in subset)
    for d, axis in enumerate(some):
        pad = [(0, int(axis.missing) if e == d else 0) for e in range(table.ndim)]
        table = np.pad(np.take(table, np.arange(axis.present), axis=d), pad)
    return component(some, table)


def _beside_missing(
    component: Component, data: Data, effects: Mapping[int, ale_tables.Moved], fine: Grids
) -> Component:
    """A part of two features with how the effect of one differs where the other is missing (`ale_tables`)."""
    if len(component.axes) != 2 or not any(axis.missing for axis in component.axes):
        return component
    table = component.table.copy()
    for d, axis in enumerate(component.axes):
        j, k = (data.schema.index(component.features[e]) for e in (1 - d, d))
        if not axis.missing or not axis.present or not effects[j].axis.n_steps or not len(effects[j].row):
            continue
        known, gone = ale_tables.split(effects[j], fine[j], np.isnan(data.codes(k)).astype(np.float64), data.weights)
        along = np.moveaxis(table, 1 - d, 0)[: len(known)]  # (points of j, entries of k, outputs)
        along[:, :-1] += known[:, None]
        along[:, -1] = gone
    return replace(component, table=table)


def _at_missing(
    constant: FloatArray, components: Sequence[Component], data: Data, predictions: FloatArray
) -> list[Component]:
    """Main effects where their feature is missing: what such rows have on average beyond their other parts."""
    lacking = [k for k, part in enumerate(components) if len(part.axes) == 1 and part.axes[0].missing]
    if not lacking:
        return list(components)
    rest = predictions - constant - sum(at_rows(part, data) for part in components)
    gone = np.column_stack([np.isnan(data.codes(data.schema.index(components[k].name))) for k in lacking]).astype(
        np.float64
    )
    root = np.sqrt(data.weights / data.weights.sum())[:, None]
    against_known = gone - weighted_mean(gone, data.weights)  # parts are centred below
    beyond = np.linalg.lstsq(root * against_known, root * rest, rcond=None)[0]
    finished = list(components)
    for k, value in zip(lacking, beyond, strict=True):
        table = components[k].table.copy()
        table[-1] = value
        mean = weighted_mean(at_rows(replace(components[k], table=table), data), data.weights)
        finished[k] = replace(components[k], table=table - mean)
    return finished


# -- checks ------------------------------------------------------------------------------------------


def _checks(
    tables: Mapping[Subset, FloatArray],
    coarse: Mapping[Subset, Grids],
    fine: Grids,
    data: Data,
    predictions: FloatArray,
) -> tuple[Check, ...]:
    """Pseudo-orthogonality: the estimator applied to the parts themselves, relative to the spread of the
    predictions.
    """
    sd = np.sqrt(weighted_mean(np.square(predictions - weighted_mean(predictions, data.weights)), data.weights))
    sd = np.where(sd > 1e-12 * np.abs(predictions).max(axis=0), sd, np.inf)
    kept, foreign = 0.0, 0.0
    for subset, own in coarse.items():
        if any(own[j].axis.n_steps == 0 for j in subset):
            continue
        many = [fine[j] for j in subset]
        table, lower = tables[subset], _lower(subset, coarse)
        for order in range(1, len(subset)):
            for v in combinations(range(len(subset)), order):
                effect = ale_tables.contained(many, table, v, data.weights, lower)
                foreign = max(foreign, float(np.abs(effect / sd).max()))
        whole = ale_tables.contained(many, table, tuple(range(len(subset))), data.weights, lower)
        again = ale_tables.own_part(many, whole, data.weights, lower)
        kept = max(kept, float(np.abs((again - table) / sd).max()))
    return (
        Check(
            "parts are kept",
            kept,
            _TOLERANCE,
            "The accumulated local effect of a component differs from the component itself.",
        ),
        Check(
            "no foreign effects",
            foreign,
            _TOLERANCE,
            "Components of several features have accumulated local effects of fewer features.",
        ),
    )
