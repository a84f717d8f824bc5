"""Generalised functional ANOVA.

Hooker 2007, Generalized functional ANOVA diagnostics for high-dimensional functions of dependent variables.

Definition. Parts ``g_S`` of at most ``order`` features that together come nearest to the function,
``min over g of integral (f(x) - sum over S of g_S(x_S))^2 w(x) dx``, and of which none holds what fewer features can
say:
``integral g_S(x_S) h_V(x_V) w(x) dx = 0`` for every function ``h_V`` of some of the features of S (hierarchical
orthogonality). Where features are independent under w these are the parts of functional ANOVA. Estimator. ``w`` is
given by points (`density`): the rows, a uniform sample, or that sample without the regions that hold no data. Every
part is piecewise linear between quantiles, with a value of its own for each level and for missing (`basis`). All parts
are fitted to the predictions at the points at once (`least_squares`); then, from parts of most features down, what
fewer features can say is moved to where it belongs (`purified`), which keeps the sum and is exact at the points.
Shares. Parts of different features may be correlated. ``values`` are the variances of the parts, ``covariance`` their
covariances with the function, both as shares of its variance: the first is what a part moves by itself (structural),
the rest of the second what it moves in step with others (correlative). The covariances add up to one with that of the
residual.

When it misleads:
1. under strong dependence the points cannot tell which of two features a movement belongs to, and main effects may mix
   (see the caveat);
2. few rows allow few knots: the function between them is a straight line, and the residual holds what that misses;
3. a part says nothing where there are no rows: there it is only carried on;
4. with ``density="uniform"`` the model is asked about combinations that do not occur.

Cost. One prediction per row; with ``density="uniform"`` or ``"support"`` 8,192 more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Any, Literal

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.diagnostics.by_method import generalized_caveats
from pellucid.errors import InputError
from pellucid.explanations.component import Axis, Check, Component
from pellucid.explanations.decomposition import Decomposition
from pellucid.methods.decomposition.estimation.axes import make_axis, subsets
from pellucid.methods.decomposition.estimation.basis import Basis, make_basis
from pellucid.methods.decomposition.estimation.components import (
    Components,
    Variances,
    at_rows,
    build,
    component,
    variances_at,
)
from pellucid.methods.decomposition.estimation.density import Density, different, points_of
from pellucid.methods.decomposition.estimation.least_squares import (
    Design,
    Fit,
    concurvity,
    fit,
    inner_products,
    purified,
)
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.stats import weighted_mean

_ROWS = 4  # different points per coefficient
_COLUMNS = 2_500  # coefficients that are fitted in seconds
_MOST_COLUMNS = 6_000
_MOST_ENTRIES = 20_000_000  # of all tables together
_FEW = 8  # values of a feature that are kept apart
_LARGEST = (19, 7, 3)  # steps along one feature in parts of one, two and three
_TOLERANCE = 1e-6


def generalized(
    predictor: Predictor,
    data: Data,
    *,
    order: int = 2,
    features: Any = None,
    grid: int | None = None,
    density: Density = "data",
    run: Run,
) -> Decomposition:
    """The function in hierarchically orthogonal parts under a density.

    ``grid`` is the number of knots along each feature in every part; by default there are as many as the rows allow.
    """
    chosen = subsets(data, features, order)
    columns = tuple(subset[0] for subset in chosen if len(subset) == 1)
    given, data = data, data.take(np.flatnonzero(data.weights > 0))
    points = points_of(data, density, run)
    rows = different(points, columns)
    sizes = _sizes(rows, len(columns), max(map(len, chosen)), grid)
    complete = grid is None and _complete(data, columns)
    own = dict.fromkeys(columns, sizes) if grid is not None else _unpooled(data, chosen, rows, sizes, complete)
    bases = [make_basis(data, points, j, own[j], even=density != "data") for j in columns]
    design = Design(bases, tuple(tuple(columns.index(j) for j in subset) for subset in chosen))
    _refuse_too_many(design)

    predictions = run.predict(predictor, data)
    rows_are_points = len(points) == len(data) and density == "data"
    f = predictions if rows_are_points else run.predict(predictor, points)
    found = fit(
        design,
        f,
        points.weights,
        rows=rows,
        smooth=grid is None and not complete,
        generator=run.generator("decompose.rows"),
    )
    constant, tables = purified(found)
    axes = [_axis(data, j, basis) for j, basis in zip(columns, bases, strict=True)]
    components = [_component(design, axes, subset, tables[subset]) for subset in design.subsets]
    if density == "data":
        variances = variances_at(constant, components, data, predictions)
    else:
        variances = _sampled_variances(constant, components, points, f)
    settings = {
        "features": None if features is None else [data.schema.names[j] for j in columns],
        "grid": grid,
        "points": len(points),
        "steps": list(sizes),
        "coefficients": design.width,
        "effective_coefficients": 1.0 + found.parameters,
        "ridge_rows": found.ridge,
    }
    parts = Components(constant, components, predictions, variances, _checks(found, components, points, f), settings)
    result = build("generalized", predictor, data, run, parts, order=order, density=density)
    caveats = generalized_caveats(
        predictor,
        given,
        run,
        found=result,
        columns=columns,
        rows=rows,
        parameters=1.0 + found.parameters,
        mixing=lambda k: concurvity(found, design.subsets[k], rows),
    )
    return run.finish(result, caveats)


def _sizes(rows: int, p: int, order: int, grid: int | None) -> tuple[int, ...]:
    """Steps along one feature in parts of one, two and three: as asked, or so that there are enough rows for each
    coefficient.
    """
    if grid is not None:
        return (int(grid) - 1,) * order
    budget = min(rows / _ROWS, _COLUMNS)
    share = (1 / 3, 2 / 3, 1.0) if order < 3 else (1 / 4, 1 / 4, 1 / 2)
    sizes = [
        int(np.clip((budget * share[d] / max(comb(p, d + 1), 1)) ** (1 / (d + 1)) + 1e-9, 1, _LARGEST[d]))
        for d in range(order)
    ]
    if order > 1:  # an interaction shifts the mean at every knot by chance, the more the fewer rows are near it
        sizes[0] = max(1, min(sizes[0], int(np.sqrt(rows) / 4)))
    if order > 2:  # tables of three features have as many entries as the first size to the third
        sizes[0] = min(sizes[0], 9)
    return tuple(sizes)


def _complete(data: Data, columns: tuple[int, ...]) -> bool:
    """Whether the rows are a complete table of few values: there are no others to be wrong about."""
    if any(np.isnan(data.codes(j)).any() or data.schema.features[j].distinct > _FEW for j in columns):
        return False
    return different(data, columns) == np.prod([float(data.schema.features[j].distinct) for j in columns])


def _unpooled(
    data: Data, subsets: Sequence[tuple[int, ...]], rows: int, sizes: tuple[int, ...], complete: bool
) -> dict[int, tuple[int, ...]]:
    """The steps of each feature. One with few values keeps them apart, in parts of as many features as there are rows
    for, or in all where the rows are a complete table.
    """
    columns = [subset[0] for subset in subsets if len(subset) == 1]
    values = {j: data.schema.features[j].distinct for j in columns}
    few = {j: values[j] - 1 for j in columns if values[j] <= _FEW}
    for order in range(len(sizes), 0, -1):
        own = {
            j: tuple(max(size, few.get(j, 0)) if d < order else size for d, size in enumerate(sizes)) for j in columns
        }
        steps = {j: [min(size, values[j] - 1) for size in own[j]] for j in columns}
        width = sum(float(np.prod([steps[j][len(subset) - 1] for j in subset])) for subset in subsets)
        if width <= (rows if complete else min(rows / _ROWS, _COLUMNS)):
            return own
    return dict.fromkeys(columns, sizes)


def _refuse_too_many(design: Design) -> None:
    entries = sum(np.prod([float(len(design.bases[j].places)) for j in subset]) for subset in design.subsets)
    if design.width > _MOST_COLUMNS or entries > _MOST_ENTRIES:
        raise InputError(
            f"{len(design.subsets):,} parts need {design.width:,} coefficients at once; give fewer features"
            " (features=[...]), a lower order or a smaller grid."
        )


def _axis(data: Data, j: int, basis: Basis) -> Axis:
    gone = np.isnan(basis.places)
    kind: Literal["levels", "knots"] = "levels" if basis.nominal else "knots"
    return make_axis(data.schema.features[j], kind, basis.places[~gone], missing=bool(gone.any()))


def _component(design: Design, axes: Sequence[Axis], subset: tuple[int, ...], table: FloatArray) -> Component:
    """A part; where no point is missing, a missing value adds nothing."""
    table = table.copy()
    for d, j in enumerate(subset):
        basis = design.bases[j]
        if axes[j].missing and not (basis.left == len(basis.places) - 1).any():
            np.moveaxis(table, d, 0)[-1] = 0.0
    some = tuple(axes[j] for j in subset)
    return component(some, table)


def _sampled_variances(constant: FloatArray, components: Sequence[Component], points: Data, f: FloatArray) -> Variances:
    """Variances over sampled points, with the errors of the shares (as if the points were drawn independently)."""
    found = variances_at(constant, components, points, f)
    spread = np.square(f - f.mean(axis=0))
    varies = found.total > 0
    total = np.where(varies, found.total, 1.0)
    se = np.zeros(found.parts.shape)
    for k, part in enumerate(components):
        deviation = np.square(at_rows(part, points)) - found.parts[k] / total * spread
        se[k] = np.where(varies, deviation.std(axis=0) / np.sqrt(len(f)) / total, 0.0)
    return replace(found, se=se)


def _checks(found: Fit, components: Sequence[Component], points: Data, f: FloatArray) -> tuple[Check, ...]:
    """Means and hierarchical orthogonality, measured anew at the points from the finished tables."""
    share, design = points.weights / points.weights.sum(), found.design
    sd = np.sqrt(share @ np.square(f - weighted_mean(f, points.weights)))
    parts = np.stack([at_rows(part, points) for part in components], axis=1)
    parts = np.divide(parts, sd, out=np.zeros_like(parts), where=sd > 1e-12 * np.abs(f).max(axis=0))
    inner = np.abs(inner_products(design, parts.reshape(len(f), -1), share)).reshape(design.width, len(components), -1)
    size = np.sqrt(np.diag(found.gram))
    inner = np.divide(inner, size[:, None, None], out=np.zeros_like(inner), where=size[:, None, None] > 0)
    overlap = 0.0
    for k, subset in enumerate(design.subsets):
        for v in (v for order in range(1, len(subset)) for v in combinations(subset, order)):
            overlap = max(overlap, float(inner[design.columns[v], k].max(initial=0.0)))
    return (
        Check("zero means", float(inner[0].max(initial=0.0)), _TOLERANCE, "The means of the components are not zero."),
        Check(
            "hierarchical orthogonality",
            overlap,
            _TOLERANCE,
            "Some components hold what fewer features can say: the points hardly tell their features apart.",
        ),
    )
