"""Functional ANOVA from averages over scrambled Sobol samples of the uniform measure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pellucid.data import Data
from pellucid.explanations.component import Component
from pellucid.methods.decomposition.averages import asked, over_grids
from pellucid.methods.decomposition.build import Variances, at_rows, beyond_rounding
from pellucid.methods.decomposition.grids import BUDGET, knot_grids
from pellucid.methods.decomposition.measure import (
    Measures,
    axioms,
    between_knots,
    centred,
    draw,
    function_variance,
    product_mean,
    range_knots,
)
from pellucid.methods.decomposition.parts import Grids, Made, component, components_of, entries_of
from pellucid.methods.decomposition.subsets import Subset
from pellucid.models import Predictor
from pellucid.runner import Run

_POWERS = (5, 11)  # of two: fewest and most points of each of the two samples
_JUDGED = 12  # power of two: points at which function and components are compared
_NEAR = 0.02


def of_sample(predictor: Predictor, data: Data, wanted: Sequence[Subset], grid: int | None, run: Run) -> Made:
    """The mean of the components of two samples; half of their difference is the error of the shares."""
    grids = knot_grids(data, wanted, grid, range_knots)
    power = int(np.clip(np.log2(BUDGET / 2 / entries_of(grids)), *_POWERS))
    measures = {
        subset: tuple(between_knots(data.schema.features[j], own) for j, own in zip(subset, grids[subset], strict=True))
        for subset in wanted
    }
    first, second = (_of_one(predictor, data, grids, measures, power, key, run) for key in (0, 1))
    constant = (first[0] + second[0]) / 2
    components = [component(a.axes, (a.table + b.table) / 2) for a, b in zip(first[1], second[1], strict=True)]
    variances = _variances(predictor, data, constant, components, (first[1], second[1]), measures, run)
    checks = axioms(components, [measures[subset] for subset in wanted], variances, _NEAR)
    settings = {"engine": "sample", "points": 2 ** (power + 1)}
    return Made(constant, components, run.predict(predictor, data), variances, checks, settings)


def _of_one(
    predictor: Predictor, data: Data, grids: Grids, measures: Measures, power: int, key: int, run: Run
) -> tuple[np.ndarray, list[Component]]:
    sample = draw(data, power, run, key)
    constant = run.predict(predictor, sample).mean(axis=0)
    components = components_of(constant, grids, over_grids(asked(run, predictor, sample)))
    return constant, [
        component(part.axes, centred(part.table, measured))
        for part, measured in zip(components, measures.values(), strict=True)
    ]


def _variances(
    predictor: Predictor,
    data: Data,
    constant: np.ndarray,
    components: Sequence[Component],
    both: tuple[Sequence[Component], Sequence[Component]],
    measures: Measures,
    run: Run,
) -> Variances:
    """Variances of components as integrals of the product of the two estimates, whose errors are independent.

    The variance of the function and of what is left over are those at a third sample (see `function_variance`).
    """
    judged = draw(data, _JUDGED, run, 2)
    f = run.predict(predictor, judged)
    rest = f - constant
    first, second = (sum((at_rows(part, judged) for part in half), np.zeros(f.shape)) for half in both)
    parts, se = np.zeros((2, len(components), len(constant)))
    for k, (part, a, b, measured) in enumerate(zip(components, *both, measures.values(), strict=True)):
        rest = rest - at_rows(part, judged)
        parts[k] = np.maximum(product_mean(a.table, b.table, measured), 0.0)
        se[k] = np.abs(product_mean(a.table, a.table, measured) - product_mean(b.table, b.table, measured)) / 2
    residual = rest.var(axis=0)
    total = np.maximum(function_variance(f, first, second, parts), residual)
    found = Variances(total, parts, parts, residual, se / np.where(total > 0, total, np.inf))
    return beyond_rounding(found, f)
