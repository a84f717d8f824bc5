"""Functional ANOVA: the function in parts that are orthogonal when every combination of values is equally likely.

Reference. Hooker 2004, Discovering additive structure in black box functions; Sobol 1993 for the shares.

Definition. Under the uniform measure over the ranges of the features (see `measure`), recursively

    f_{} = E[f],        f_S(x_S) = E[f | x_S] - sum over proper subsets T of S of f_T(x_T).

f_12 = E[f | x_1, x_2] - f_1 - f_2 - f_{}, with f_1 and f_2 centred. Every component averages to zero along each of its
features, any two are orthogonal, and the variances add up to that of f: their shares are Sobol's indices under this
measure.

Estimator. Where the product of all points of Gauss and Legendre (whole numbers, levels) is not too large, f at every
one of them: exact for polynomials, with straight lines between the points. Trees that add up to the prediction: each
leaf is a product of intervals, so all integrals are exact and components constant between the thresholds. Otherwise
averages over two scrambled Sobol samples, centred; their difference is the error of the shares. With points of one's
own (``at``) these are the values of a feature, each as likely.

When it misleads:
1. correlated features: the uniform measure weighs combinations that never occur like any other (see the caveats;
   use "generalized" or "ale");
2. the ends of the ranges count as much as the middle, however few rows are there: one outlier stretches a range;
3. a product is no pure interaction: x1 x2 on positive numbers has main effects;
4. the terms of a formula (of a GAM, say) are its components only up to their means over the ranges.

Cost. The number of points of the product (at most 120,000), or entries of all components times sample points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.data.grid import given_grids
from pellucid.diagnostics.by_method import decomposition_caveats
from pellucid.errors import InputError
from pellucid.explanations import Component, Decomposition
from pellucid.methods.decomposition.estimation import measure
from pellucid.methods.decomposition.estimation.anova_trees import of_trees
from pellucid.methods.decomposition.estimation.axes import BUDGET, Grid, Grids, Subset, entries_of, knot_grids, subsets
from pellucid.methods.decomposition.estimation.components import (
    Components,
    Variances,
    asked,
    at_rows,
    beyond_rounding,
    build,
    component,
    components_of,
    over_grids,
)
from pellucid.methods.decomposition.estimation.tree_cells import tree_cells
from pellucid.models import Predictor
from pellucid.runner import Run

_MOST = 120_000  # combinations
_SIZES = (64, 48, 32, 24, 20, 16, 12)
_EXACT = 1e-6
_POWERS = (5, 11)  # of two: fewest and most points of each of the two samples
_JUDGED = 12  # power of two: points at which function and components are compared
_NEAR = 0.02

Rule = list[measure.Measured]


def anova(
    predictor: Predictor,
    data: Data,
    *,
    order: int = 2,
    features: Any = None,
    grid: int | None = None,
    at: Any = None,
    run: Run,
) -> Decomposition:
    """The function in parts by functional ANOVA."""
    wanted = subsets(data, features, order)
    own = given_grids(data.schema, at)
    trees = None if own else tree_cells(predictor, data, run)
    rules = None if trees is not None else product_nodes(data, grid, own)
    if trees is not None:
        parts = of_trees(trees, wanted, grid, run)
    elif rules is not None:
        parts = of_product(predictor, data, wanted, rules, run)
    else:
        parts = of_sample(predictor, data, wanted, grid, run)
    chosen = sorted({j for subset in wanted for j in subset})
    settings = {"features": [data.schema.names[j] for j in chosen], "grid": grid, **parts.settings}
    if own:
        settings["at"] = {data.schema.names[j]: data.schema.features[j].decode(own[j]).tolist() for j in own}
    found = build("anova", predictor, data, run, replace(parts, settings=settings), order=order, density="uniform")
    caveats = decomposition_caveats(predictor, data, run, found, mixed=chosen, lost=parts.lost)
    return run.finish(found, caveats)


# -- the function at every combination of points of a quadrature rule ------------------------------


def product_nodes(data: Data, grid: int | None, own: Mapping[int, FloatArray]) -> tuple[Rule, Rule] | None:
    """Points of every feature, its ``own`` where they are given, as many as make no more combinations than can be asked
    for, and about half as many.

    None if that would be too few.
    """
    for size in _SIZES if grid is None else (int(grid),):
        rule = _rule(data, size, own)
        if _combinations(rule) <= _MOST:
            return rule, _rule(data, max(size // 2, 2), own)
    if own:
        raise InputError(
            f"at= and the other features make {_combinations(rule):,.0f} combinations, more than the {_MOST:,} that are"
            " asked for; give fewer points."
        )
    return None


def _rule(data: Data, size: int, own: Mapping[int, FloatArray]) -> Rule:
    return [
        measure.given_nodes(data, j, own[j]) if j in own else measure.nodes(data, j, size)
        for j in range(len(data.schema.features))
    ]


def _combinations(rule: Rule) -> float:
    return float(np.prod([float(own.grid.size) for own in rule]))


def of_product(
    predictor: Predictor, data: Data, wanted: Sequence[Subset], rules: tuple[Rule, Rule], run: Run
) -> Components:
    """The components, and as the error of their shares the difference to those from half as many points."""
    full, half = rules
    predictions = run.predict(predictor, data)
    made = _of_rule(predictor, data, wanted, full, predictions, run)
    if _combinations(half) == _combinations(full):  # every value that there is
        return made
    other = _of_rule(predictor, data, wanted, half, predictions, run)
    shares = [
        part.variances.parts / np.where(part.variances.total > 0, part.variances.total, 1.0) for part in (made, other)
    ]
    return replace(made, variances=replace(made.variances, se=np.abs(shares[0] - shares[1])))


def _of_rule(
    predictor: Predictor, data: Data, wanted: Sequence[Subset], rule: Rule, predictions: FloatArray, run: Run
) -> Components:
    mesh = np.meshgrid(*(own.grid.codes for own in rule), indexing="ij")
    points = data.of_codes(np.column_stack([codes.ravel() for codes in mesh]))
    f = run.predict(predictor, points).reshape(*mesh[0].shape, -1)

    def average(subset: Subset, grids: tuple[Grid, ...]) -> FloatArray:
        """E[f | x_S] at the points of S."""
        table = f
        for j in range(len(rule)):
            table = table if j in subset else measure.mean_along(table, j, rule[j])
        return table.reshape(*(grid.size for grid in grids), -1)

    constant = average((), ())
    grids = {subset: tuple(rule[j].grid for j in subset) for subset in wanted}
    components = components_of(constant, grids, average)
    measures = [tuple(rule[j] for j in subset) for subset in wanted]
    rest = f - constant
    parts = np.zeros((len(wanted), f.shape[-1]))
    for k, (subset, part) in enumerate(zip(wanted, components, strict=True)):
        shape = [own.grid.size if j in subset else 1 for j, own in enumerate(rule)]
        table = part.table.reshape(*shape, -1)
        rest = rest - table
        parts[k] = _mean(np.square(table), [rule[j] if j in subset else None for j in range(len(rule))])
    total, residual = _mean(np.square(f - constant), rule), _mean(np.square(rest), rule)
    variances = beyond_rounding(Variances(total, parts, parts, residual, np.zeros(parts.shape)), f)
    checks = measure.axioms(components, measures, variances, _EXACT)
    settings = {"engine": "product", "points": int(_combinations(rule))}
    return Components(constant, components, predictions, variances, checks, settings)


def _mean(table: FloatArray, rule: Sequence[measure.Measured | None]) -> FloatArray:
    """The integral over all features of a table; axes without a rule have a single entry."""
    for axis, own in enumerate(rule):
        table = table if own is None else measure.mean_along(table, axis, own)
    return np.asarray(table.reshape(-1))


# -- averages over scrambled Sobol samples of the uniform measure ----------------------------------


def of_sample(predictor: Predictor, data: Data, wanted: Sequence[Subset], grid: int | None, run: Run) -> Components:
    """The mean of the components of two samples; half of their difference is the error of the shares."""
    grids = knot_grids(data, wanted, grid, measure.range_knots)
    power = int(np.clip(np.log2(BUDGET / 2 / entries_of(grids)), *_POWERS))
    measures = {
        subset: tuple(
            measure.between_knots(data.schema.features[j], own) for j, own in zip(subset, grids[subset], strict=True)
        )
        for subset in wanted
    }
    first, second = (_of_one(predictor, data, grids, measures, power, key, run) for key in (0, 1))
    constant = (first[0] + second[0]) / 2
    components = [component(a.axes, (a.table + b.table) / 2) for a, b in zip(first[1], second[1], strict=True)]
    variances = _sampled_variances(predictor, data, constant, components, (first[1], second[1]), measures, run)
    checks = measure.axioms(components, [measures[subset] for subset in wanted], variances, _NEAR)
    settings = {"engine": "sample", "points": 2 ** (power + 1)}
    return Components(constant, components, run.predict(predictor, data), variances, checks, settings)


def _of_one(
    predictor: Predictor, data: Data, grids: Grids, measures: measure.Measures, power: int, key: int, run: Run
) -> tuple[np.ndarray, list[Component]]:
    sample = measure.draw(data, power, run, key)
    constant = run.predict(predictor, sample).mean(axis=0)
    components = components_of(constant, grids, over_grids(asked(run, predictor, sample)))
    return constant, [
        component(part.axes, measure.centred(part.table, measured))
        for part, measured in zip(components, measures.values(), strict=True)
    ]


def _sampled_variances(
    predictor: Predictor,
    data: Data,
    constant: np.ndarray,
    components: Sequence[Component],
    both: tuple[Sequence[Component], Sequence[Component]],
    measures: measure.Measures,
    run: Run,
) -> Variances:
    """Variances of components as integrals of the product of the two estimates, whose errors are independent.

    The variance of the function and of what is left over are those at a third sample (see `function_variance`).
    """
    judged = measure.draw(data, _JUDGED, run, 2)
    f = run.predict(predictor, judged)
    rest = f - constant
    first, second = (sum((at_rows(part, judged) for part in half), np.zeros(f.shape)) for half in both)
    parts, se = np.zeros((2, len(components), len(constant)))
    for k, (part, a, b, measured) in enumerate(zip(components, *both, measures.values(), strict=True)):
        rest = rest - at_rows(part, judged)
        parts[k] = np.maximum(measure.product_mean(a.table, b.table, measured), 0.0)
        se[k] = (
            np.abs(measure.product_mean(a.table, a.table, measured) - measure.product_mean(b.table, b.table, measured))
            / 2
        )
    residual = rest.var(axis=0)
    total = np.maximum(measure.function_variance(f, first, second, parts), residual)
    found = Variances(total, parts, parts, residual, se / np.where(total > 0, total, np.inf))
    return beyond_rounding(found, f)
