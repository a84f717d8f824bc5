"""Functional ANOVA from the function at every combination of points of a quadrature rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.methods.decomposition.axes import Grid
from pellucid.methods.decomposition.build import Variances, beyond_rounding
from pellucid.methods.decomposition.measure import Measured, axioms, mean_along, nodes
from pellucid.methods.decomposition.parts import Made, components_of
from pellucid.methods.decomposition.subsets import Subset
from pellucid.models import Predictor
from pellucid.runner import Run

_MOST = 120_000  # combinations
_SIZES = (64, 48, 32, 24, 20, 16, 12)
_EXACT = 1e-6

Rule = list[Measured]


def product_nodes(data: Data, grid: int | None) -> tuple[Rule, Rule] | None:
    """Points of every feature, as many as make no more combinations than can be asked for, and about half as many.

    None if that would be too few.
    """
    for size in _SIZES if grid is None else (int(grid),):
        rule = _rule(data, size)
        if _combinations(rule) <= _MOST:
            return rule, _rule(data, max(size // 2, 2))
    return None


def _rule(data: Data, size: int) -> Rule:
    return [nodes(data, j, size) for j in range(len(data.schema.features))]


def _combinations(rule: Rule) -> float:
    return float(np.prod([float(own.grid.size) for own in rule]))


def of_product(predictor: Predictor, data: Data, wanted: Sequence[Subset], rules: tuple[Rule, Rule], run: Run) -> Made:
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
) -> Made:
    mesh = np.meshgrid(*(own.grid.codes for own in rule), indexing="ij")
    points = data.of_codes(np.column_stack([codes.ravel() for codes in mesh]))
    f = run.predict(predictor, points).reshape(*mesh[0].shape, -1)

    def average(subset: Subset, grids: tuple[Grid, ...]) -> FloatArray:
        """E[f | x_S] at the points of S."""
        table = f
        for j in range(len(rule)):
            table = table if j in subset else mean_along(table, j, rule[j])
        return table.reshape(*(grid.size for grid in grids), -1)

    constant = average((), ())
    grids = {subset: tuple(rule[j].grid for j in subset) for subset in wanted}
    components = components_of(constant, grids, average)
    measures = [tuple(rule[j] for j in subset) for subset in wanted]
    rest = f - constant
    parts = np.zeros((len(wanted), f.shape[-1]))
    for k, (subset, component) in enumerate(zip(wanted, components, strict=True)):
        shape = [own.grid.size if j in subset else 1 for j, own in enumerate(rule)]
        table = component.table.reshape(*shape, -1)
        rest = rest - table
        parts[k] = _mean(np.square(table), [rule[j] if j in subset else None for j in range(len(rule))])
    total, residual = _mean(np.square(f - constant), rule), _mean(np.square(rest), rule)
    variances = beyond_rounding(Variances(total, parts, parts, residual, np.zeros(parts.shape)), f)
    checks = axioms(components, measures, variances, _EXACT)
    settings = {"engine": "product", "points": int(_combinations(rule))}
    return Made(constant, components, predictions, variances, checks, settings)


def _mean(table: FloatArray, rule: Sequence[Measured | None]) -> FloatArray:
    """The integral over all features of a table; axes without a rule have a single entry."""
    for axis, own in enumerate(rule):
        table = table if own is None else mean_along(table, axis, own)
    return np.asarray(table.reshape(-1))
