"""Decomposition by partial dependence: what features do alone, and together beyond that.

Reference. Friedman 2001 (partial dependence); Hiabu, Meyer and Wright 2023, Unifying local and global model
explanations by functional decomposition of low dimensional structures (these components and their sum).

Definition. With PD_S(x_S) = E[f(x_S, X_-S)], the average over the rows of the data with the features in S set to x_S,

    f_{} = PD_{} = E[f(X)],        f_S(x_S) = PD_S(x_S) - sum over proper subsets T of S of f_T(x_T),

so f_12 = PD_12 - PD_1 - PD_2 + PD_{}. All 2^p components add up to f exactly; up to ``order`` features they leave a
residual.

Estimator. The average over the rows of the background, by their weights. For trees that add up to the prediction the
components are constant between the thresholds of the trees and exact: order d is complete for trees that ask of at most
d features on a path. Other models are asked at points spread over the ranges and the data, with straight lines between;
along single features there are more points where lines miss the average, down to neighbouring values of the data, and
what lines may still miss is in the error of the share.
Variances and R2 are taken over the rows of the data.

When it misleads:
1. correlated features: averages include combinations that do not occur (use "generalized" or "ale"), and
   components overlap, so that their variances do not add up (read the covariances);
2. a product is no pure interaction: x1 x2 on positive numbers has main effects;
3. other constraints give other components: a decomposition is a way to look, not the only one;
4. the terms of a formula (of a GAM, say) are its components only where features are independent.

Cost. Entries of all components times background rows; for trees one walk of the background per component.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.diagnostics.by_method import decomposition_caveats
from pellucid.explanations.component import Check, Component
from pellucid.explanations.decomposition import Decomposition
from pellucid.games.marginal import background_rows
from pellucid.methods.decomposition.estimation.axes import (
    BUDGET,
    FEWEST,
    Grids,
    Subset,
    entries_of,
    knot_grids,
    subsets,
)
from pellucid.methods.decomposition.estimation.components import (
    Averager,
    Components,
    Variances,
    asked,
    at_rows,
    axiom_checks,
    build,
    components_of,
    halved,
    over_grids,
    read_off,
    variances_at,
)
from pellucid.methods.decomposition.estimation.refinement import Ask, Refined, line_error, refined
from pellucid.methods.decomposition.estimation.tree_cells import CELLS, TreeCells, TreeGrids, cell_grids, tree_cells
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.stats import weighted_mean
from pellucid.trees.plain.choice import can_compile

_COMPARED = 100  # rows at which thinned components are compared with exact ones
_JUDGED = 6  # one in so many components
_ROWS = 2_000
_BLOCK = 256  # components whose products are formed at once
_NEAR = 0.1  # rows are a sample: even independent features are not orthogonal over them


def marginal(
    predictor: Predictor,
    data: Data,
    *,
    background: Any,
    order: int = 2,
    features: Any = None,
    grid: int | None = None,
    run: Run,
) -> Decomposition:
    """The function in parts by partial dependence."""
    wanted = subsets(data, features, order)
    trees = tree_cells(predictor, data, run)
    if trees is None:
        parts = _of_model(predictor, data, background, wanted, grid, run)
    else:
        parts = _of_trees(trees, background, wanted, grid, run)
    chosen = sorted({j for subset in wanted for j in subset})
    settings = {"features": [data.schema.names[j] for j in chosen], "grid": grid, **parts.settings}
    found = build("marginal", predictor, data, run, replace(parts, settings=settings), order=order, density="data")
    caveats = decomposition_caveats(predictor, data, run, found, mixed=chosen, lost=parts.lost)
    return run.finish(found, caveats)


def _of_model(
    predictor: Predictor, data: Data, background: Any, wanted: list[Subset], grid: int | None, run: Run
) -> Components:
    """Components between knots, from averages over rows; where these are a sample, in two halves."""
    grids = knot_grids(data, wanted, grid)
    rows = background_rows(data, background, run, most=max(FEWEST, BUDGET // entries_of(grids)))
    drawn = background is None or isinstance(background, int | np.integer)
    sampled = drawn and 1 < len(rows) < int(np.count_nonzero(data.weights))
    average = asked(run, predictor, rows, halves=sampled)
    predictions = run.predict(predictor, data)
    own = predictions if rows is data else run.predict(predictor, rows)
    steps = 1 + sampled
    constant = np.concatenate([weighted_mean(own[k::steps], rows.weights[k::steps]) for k in range(steps)])
    alone = _alone(data, grids, average, np.tile(predictions, steps)) if grid is None else {}
    grids = {subset: alone[subset].grids if subset in alone else made for subset, made in grids.items()}
    tabulated = over_grids(average)
    components = components_of(
        constant, grids, lambda subset, made: alone[subset].table if subset in alone else tabulated(subset, made)
    )
    settings = {"engine": "model", "background": len(rows)}
    both: list[list[Component]] = []
    if sampled:
        components, *both = halved(components)
        constant = np.mean(np.split(constant, 2), axis=0)
    variances = variances_at(constant, components, data, predictions)
    total = np.where(variances.total > 0, variances.total, np.inf)
    se = variances.se
    if sampled:
        first, second = (variances_at(constant, half, data, predictions).parts for half in both)
        se = np.abs(first - second) / 2 / total
    exact = np.zeros((steps, len(total)))
    lines = np.stack([alone[S].error.reshape(exact.shape) if S in alone else exact for S in grids]).mean(axis=1)
    variances = replace(variances, se=np.hypot(se, line_error(variances.parts, lines) / total))
    checks = axioms_at_rows(components, data, variances)
    return Components(constant, components, predictions, variances, checks, settings)


def _alone(data: Data, grids: Grids, average: Averager, predictions: FloatArray) -> dict[Subset, Refined]:
    """The components of single features, with as many knots as they need."""
    variance = weighted_mean(np.square(predictions - weighted_mean(predictions, data.weights)), data.weights)

    def ask(subset: Subset) -> Ask:
        return lambda codes: average(subset, (codes,), np.arange(len(codes))[:, None])

    return {S: refined(data, S[0], made[0], ask(S), variance) for S, made in grids.items() if len(S) == 1}


def _of_trees(
    trees: TreeCells, background: Any, wanted: list[Subset], grid: int | None, run: Run, *, cells: int = CELLS
) -> Components:
    """Components between the thresholds of the trees."""
    predictor, data, predictions = trees.predictor, trees.data, trees.explained.prediction
    rows = background_rows(data, background, run)
    made = cell_grids(trees, wanted, grid, cells) if can_compile() else _few_cells(trees, wanted, grid, len(rows))
    work = entries_of(made.grids) * len(rows) * len(trees.ensemble.roots)
    compiled = can_compile() and work >= run.limits.worth_components
    average = read_off(run, trees, rows) if compiled else asked(run, predictor, rows)
    own = predictions if rows is data else run.predict(predictor, rows)
    constant = weighted_mean(own, rows.weights)
    components = components_of(constant, made.grids, over_grids(average), made.zero)
    variances = variances_at(constant, components, data, predictions)
    lost = 0.0
    if made.thinned is not None and run.checks:
        with run.checking():
            lost = _lost(trees, wanted, constant, components, average, variances.total)
    settings = {"engine": "trees", "background": len(rows), "thinned": made.thinned}
    checks = axioms_at_rows(components, data, variances)
    return Components(constant, components, predictions, variances, checks, settings, lost)


def _few_cells(trees: TreeCells, wanted: list[Subset], grid: int | None, rows: int) -> TreeGrids:
    """As many cells as the model itself can be asked about."""
    return cell_grids(trees, wanted, grid, most=max(BUDGET // rows, 1_000))


def _lost(
    trees: TreeCells,
    wanted: list[Subset],
    constant: FloatArray,
    components: Sequence[Component],
    average: Averager,
    total: FloatArray,
) -> float:
    """The mean squared difference between thinned and exact components, as a share of the variance.

    Measured for the sum of some of the components that vary most, and increased as much as all vary more than these.
    """
    rows = trees.data.take(trees.data.spread(_COMPARED))
    weights = rows.weights if rows.weights.any() else np.ones(len(rows))
    thin = {subset: at_rows(component, rows) for subset, component in zip(wanted, components, strict=True)}
    size = {S: float(weighted_mean(np.square(part), weights).max()) for S, part in thin.items() if len(S) > 1}
    chosen = sorted(size, key=lambda S: -size[S])[: max(3, len(size) // _JUDGED)]
    exact: dict[Subset, FloatArray] = {S: part for S, part in thin.items() if len(S) == 1}

    def known(S: Subset) -> FloatArray:
        if S not in exact:
            codes, index = tuple(rows.codes(j) for j in S), np.repeat(np.arange(len(rows))[:, None], len(S), axis=1)
            below = [known(T) for k in range(1, len(S)) for T in combinations(S, k)]
            exact[S] = average(S, codes, index) - constant - sum(below)
        return exact[S]

    apart = weighted_mean(np.square(sum(thin[S] - known(S) for S in chosen)), weights)
    seen = sum(size[S] for S in chosen)
    more = sum(size.values()) / seen if seen > 0 else 1.0
    return float((more * apart / np.where(total > 0, total, np.inf)).max())


# -- the properties that components should have, measured ------------------------------------------
#
# The properties that components should have, measured.
#
# Zero means: every component averages to zero. Orthogonality: the product of two components averages to zero. Variance
# sum: the variances of the components and of what they leave over add up to that of the function. The first is measured
# against the standard deviation of the function, the others against its variance.


def axioms_at_rows(
    components: Sequence[Component], data: Data, variances: Variances, tolerance: float = _NEAR
) -> tuple[Check, ...]:
    """The three properties over rows of the data, by their weights."""
    some = data.take(data.spread(_ROWS))
    some = some if some.weights.any() else data
    values = np.stack([at_rows(component, some) for component in components])
    return axioms(components, values, some.weights / some.weights.sum(), variances, tolerance)


def axioms(
    components: Sequence[Component], values: FloatArray, weights: FloatArray, variances: Variances, tolerance: float
) -> tuple[Check, ...]:
    """The three properties from the values of components ``(components, points, outputs)`` at weighted points."""
    means = np.einsum("cpo,p->co", values, weights)
    total = np.where(variances.total > 0, variances.total, np.inf)
    largest = np.abs(means).max(axis=0) / np.sqrt(total)
    worst, product = _products(values, weights, total)
    added = np.abs(variances.parts.sum(axis=0) + variances.residual - variances.total) / total
    names = [component.name for component in components]
    mean, off = (names[int(np.abs(means / np.sqrt(total)).max(axis=1).argmax())], " and ".join(names[k] for k in worst))
    return axiom_checks(tolerance, float(largest.max()), product, float(added.max()), far=mean, pair=off)


def _products(values: FloatArray, weights: FloatArray, total: FloatArray) -> tuple[tuple[int, ...], float]:
    """The two components whose product averages farthest from zero, and how far that is."""
    worst: tuple[int, ...] = (0,)
    most = 0.0
    for k in range(values.shape[2]):
        plain = np.ascontiguousarray(values[:, :, k])
        for start in range(0, len(plain), _BLOCK):
            part = plain[start : start + _BLOCK]
            gram = np.abs(part * weights @ plain.T) / total[k]
            gram[np.arange(len(part)), start + np.arange(len(part))] = 0.0
            if gram.max(initial=0.0) > most:
                place = np.unravel_index(int(gram.argmax()), gram.shape)
                worst, most = (start + int(place[0]), int(place[1])), float(gram.max())
    return worst, most
