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
averages over two scrambled Sobol samples, centred; their difference is the error of the shares.

When it misleads:
1. features that go together: the uniform measure weighs combinations that never occur like any other (see the caveats;
   use "generalized" or "ale");
2. the ends of the ranges count as much as the middle, however few rows are there: one outlier stretches a range;
3. a product is no pure interaction: x1 x2 on positive numbers has main effects;
4. the terms of a formula (of a GAM, say) are its components only up to their means over the ranges.

Cost. The number of points of the product (at most 120,000), or entries of all components times sample points.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pellucid.data import Data
from pellucid.diagnostics.decomposition_checks import decomposition_caveats
from pellucid.explanations.decomposition import Decomposition
from pellucid.methods.decomposition.anova_product import of_product, product_nodes
from pellucid.methods.decomposition.anova_sample import of_sample
from pellucid.methods.decomposition.anova_trees import of_trees
from pellucid.methods.decomposition.build import build
from pellucid.methods.decomposition.subsets import subsets
from pellucid.methods.decomposition.tree_cells import tree_cells
from pellucid.models import Predictor
from pellucid.runner import Run


def anova(
    predictor: Predictor, data: Data, *, order: int = 2, features: Any = None, grid: int | None = None, run: Run
) -> Decomposition:
    """The function in parts by functional ANOVA."""
    wanted = subsets(data, features, order)
    trees = tree_cells(predictor, data, run)
    rules = None if trees is not None else product_nodes(data, grid)
    if trees is not None:
        made = of_trees(trees, wanted, grid, run)
    elif rules is not None:
        made = of_product(predictor, data, wanted, rules, run)
    else:
        made = of_sample(predictor, data, wanted, grid, run)
    chosen = sorted({j for subset in wanted for j in subset})
    found = build(
        "anova",
        predictor,
        data,
        run,
        order=order,
        density="uniform",
        constant=made.constant,
        components=made.components,
        predictions=made.predictions,
        variances=made.variances,
        checks=made.checks,
        settings={"features": [data.schema.names[j] for j in chosen], "grid": grid, **made.settings},
    )
    caveats = decomposition_caveats(predictor, data, run, found, mixed=chosen, lost=made.lost)
    return replace(found, caveats=caveats, cost=run.cost())
