"""Components from averages, and a decomposition from its components: how much each varies, and how well they reproduce
the predictions.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.explanations import Decomposition, Header, squeeze_outputs
from pellucid.explanations.component import Axis, Check, Component
from pellucid.methods.decomposition.estimation.axes import Grid, Grids, Subset
from pellucid.methods.decomposition.estimation.tree_cells import TreeCells
from pellucid.methods.effects.estimation.effect import plain_setting
from pellucid.models import Predictor
from pellucid.reading import answer
from pellucid.runner import Intervention, Run
from pellucid.stats import Moments, weighted_mean
from pellucid.words import number, percent

# The features that are set, the codes of each, and for each point which of them it has: (points, outputs).
Averager = Callable[[Subset, tuple[FloatArray, ...], IntArray], FloatArray]


@dataclass(frozen=True, eq=False)
class Variances:
    """Variances under the measure of a method; outputs last everywhere.

    ``total`` (outputs) of the function, ``parts`` (components, outputs) of the components, ``covariances`` of these
    with the function, ``residual`` (outputs) of what is left over, ``se`` (components, outputs) the errors of the
    shares, zero where they are exact.
    """

    total: FloatArray
    parts: FloatArray
    covariances: FloatArray
    residual: FloatArray
    se: FloatArray


def rounding(numbers: FloatArray) -> FloatArray:
    """The variance that numbers ``(.., outputs)`` of this size can have by rounding alone: ``(outputs,)``."""
    return 1e-24 * np.square(np.abs(numbers).reshape(-1, numbers.shape[-1]).max(axis=0, initial=0.0))


def beyond_rounding(found: Variances, f: FloatArray) -> Variances:
    """Zero for outputs that vary no more than by rounding; ``f`` are values of the function ``(.., outputs)``."""
    varies = found.total > rounding(f)
    return Variances(
        *(
            np.where(varies, part, 0.0)
            for part in (found.total, found.parts, found.covariances, found.residual, found.se)
        )
    )


def at_rows(component: Component, data: Data) -> FloatArray:
    """A component at the rows of the data: ``(rows, outputs)``."""
    return component.at([data.codes(data.schema.index(name)) for name in component.features])


def variances_at(
    constant: FloatArray, components: Sequence[Component], data: Data, predictions: FloatArray
) -> Variances:
    """Variances over the rows of the data, by their weights."""
    weights = data.weights
    f = predictions - weighted_mean(predictions, weights)
    rest = predictions - constant
    parts, covariances = np.zeros((2, len(components), predictions.shape[1]))
    for k, component in enumerate(components):
        g = at_rows(component, data)
        rest = rest - g
        g = g - weighted_mean(g, weights)
        parts[k] = weighted_mean(np.square(g), weights)
        covariances[k] = weighted_mean(g * f, weights)
    residual = weighted_mean(np.square(rest - weighted_mean(rest, weights)), weights)
    total = weighted_mean(np.square(f), weights)
    return beyond_rounding(Variances(total, parts, covariances, residual, np.zeros(parts.shape)), predictions)


def fidelity(constant: FloatArray, components: Sequence[Component], data: Data, predictions: FloatArray) -> FloatArray:
    """R2 of constant and components against the predictions at the rows; 1 where both are constant and agree."""
    rest = predictions - constant
    for component in components:
        rest = rest - at_rows(component, data)
    lost = weighted_mean(np.square(rest), data.weights)
    f = predictions - weighted_mean(predictions, data.weights)
    total = weighted_mean(np.square(f), data.weights)
    flat = total <= rounding(predictions)
    share = 1.0 - lost / np.where(flat, 1.0, total)
    agree = lost <= 1e8 * rounding(np.vstack([predictions, constant]))
    return np.where(flat, np.where(agree, 1.0, 0.0), share)


@dataclass(frozen=True, eq=False)
class Components:
    """A constant and components as a method finds them, with the predictions (rows, outputs) at the rows of the data,
    variances, the properties measured, how they were found, and the share of the variance lost by merging cells.
    """

    constant: FloatArray
    components: list[Component]
    predictions: FloatArray
    variances: Variances
    checks: tuple[Check, ...]
    settings: dict[str, Any]
    lost: float = 0.0


def build(
    method: str, predictor: Predictor, data: Data, run: Run, found: Components, *, order: int, density: str
) -> Decomposition:
    """A `Decomposition` from a constant and components, whose ``variance`` is filled in, without caveats."""
    variances = found.variances

    def share(part: FloatArray) -> FloatArray:
        return squeeze_outputs(part / np.where(variances.total > 0, variances.total, np.inf))

    return Decomposition(
        method=method,
        order=order,
        density=density,
        constant=squeeze_outputs(np.asarray(found.constant, dtype=np.float64)),
        components=tuple(replace(c, variance=v) for c, v in zip(found.components, variances.parts, strict=True)),
        values=share(variances.parts),
        se=squeeze_outputs(variances.se),
        covariance=share(variances.covariances),
        variance=squeeze_outputs(variances.total),
        residual=share(variances.residual),
        r2=squeeze_outputs(fidelity(found.constant, found.components, data, found.predictions)),
        checks=found.checks,
        header=Header.of(
            predictor,
            data,
            run,
            {
                "method": method,
                "order": order,
                "density": density,
                "random_state": run.seed,
                **{key: plain_setting(value) for key, value in found.settings.items()},
            },
            feature_names=tuple(component.name for component in found.components),
        ),
        inputs=data.schema.columns,
    )


def axiom_checks(
    tolerance: float, mean: float, product: float, missed: float, *, far: str = "one", pair: str = "two", most: str = ""
) -> tuple[Check, ...]:
    """Zero means, orthogonality and the sum of the variances, as measured; ``far`` and ``pair`` name the worst."""
    return (
        Check(
            "zero means",
            mean,
            tolerance,
            f"Components do not all average to zero: {far} is off by {number(mean)} standard deviations of the"
            " prediction.",
        ),
        Check(
            "orthogonality",
            product,
            tolerance,
            f"Components overlap: the product of {pair} averages to {most}{percent(product)} of the variance of the"
            " prediction.",
        ),
        Check(
            "variance sum",
            missed,
            tolerance,
            "The variances of the components and of the residual miss the variance of the prediction by"
            f" {percent(missed)} of it.",
        ),
    )


# -- components from averages ----------------------------------------------------------------------
#
# The one formula that marginal decomposition and functional ANOVA share.
#
# With E_S(x_S) the prediction averaged over all features but those in S, the components are
#
#     f_S(x_S) = E_S(x_S) - sum over proper subsets T of S of f_T(x_T),        f_{} = E_{}.
#
# What is averaged over (rows of the data, the uniform distribution) is the method's business.


Average = Callable[[Subset, tuple[Grid, ...]], FloatArray]  # -> (entries.., outputs)


def components_of(
    constant: FloatArray, grids: Grids, average: Average, zero: Container[Subset] = ()
) -> list[Component]:
    """The components f_S, those of fewer features first; ``grids`` must hold the subsets of every S in it.

    Those in ``zero`` are known to be zero and are not asked for.
    """
    found: dict[Subset, Component] = {}
    for subset in sorted(grids, key=len):
        axes = tuple(grid.axis for grid in grids[subset])
        if subset in zero:
            found[subset] = component(axes, np.zeros((*(axis.size for axis in axes), len(constant))))
            continue
        table = average(subset, grids[subset]) - constant
        for size in range(1, len(subset)):
            for smaller in combinations(subset, size):
                table = table - spread(found[smaller], subset, smaller, grids[subset])
        found[subset] = component(axes, table)
    return [found[subset] for subset in grids]


def component(axes: Sequence[Axis], table: FloatArray) -> Component:
    """A component whose variance is not known yet."""
    return Component(
        features=tuple(axis.name for axis in axes), axes=tuple(axes), table=table, variance=np.zeros(table.shape[-1])
    )


def spread(smaller: Component, subset: Subset, own: Subset, grids: tuple[Grid, ...]) -> FloatArray:
    """A component of some features of a subset over the grids of all of them: ``(entries.., outputs)``."""
    mine = [subset.index(j) for j in own]
    mesh = np.meshgrid(*(grids[place].codes for place in mine), indexing="ij")
    values = smaller.at([codes.ravel() for codes in mesh])
    shape = [grid.size if place in mine else 1 for place, grid in enumerate(grids)]
    return values.reshape(*shape, -1)


def halved(components: Sequence[Component]) -> tuple[list[Component], list[Component], list[Component]]:
    """Components whose outputs are estimated twice, side by side: their means, the first and the second."""
    first, second = (
        [component(part.axes, np.split(part.table, 2, axis=-1)[half]) for part in components] for half in (0, 1)
    )
    means = [component(a.axes, (a.table + b.table) / 2) for a, b in zip(first, second, strict=True)]
    return means, first, second


# -- who averages the prediction over rows: the model, asked for every point and row, or its trees, read


def asked(run: Run, predictor: Predictor, background: Data, *, halves: bool = False) -> Averager:
    """The mean prediction over the rows of the background.

    With ``halves`` the means over every second row and over the others are given side by side, as twice as many
    outputs.
    """

    def average(subset: Subset, codes: tuple[FloatArray, ...], index: IntArray) -> FloatArray:
        pools = tuple(background.pool(j, own) for j, own in zip(subset, codes, strict=True))
        means = [Moments(len(index), len(predictor.output_names)) for _ in range(1 + halves)]
        for batch in answer(run, predictor, background, Intervention(subset, pools, index)).stream():
            weights, first = background.weights[batch.rows], batch.rows.start
            for k, mean in enumerate(means):
                mine = slice((k - first) % len(means), None, len(means))
                mean.add(batch.variants, batch.predictions[:, mine], weights[mine])
        return np.concatenate([mean.mean for mean in means], axis=-1)

    return average


def read_off(run: Run, trees: TreeCells, background: Data) -> Averager:
    """The same mean from one walk of the background over the trees."""
    from pellucid.trees.partial_dependence import partial_dependence  # on use: it loads a compiler

    matrix = trees.explained.trees.encode(trees.predictor.dressed(background.frame))

    def average(subset: Subset, codes: tuple[FloatArray, ...], index: IntArray) -> FloatArray:
        columns = np.concatenate([trees.columns(j) for j in subset])
        seen = [trees.encoded(j, own)[at] for j, own, at in zip(subset, codes, index.T, strict=True)]
        return partial_dependence(trees.ensemble, columns, np.column_stack(seen), matrix, background.weights, watch=run)

    return average


def over_grids(average: Averager) -> Average:
    """The averages at every combination of the entries of some grids."""

    def tabulated(subset: Subset, grids: tuple[Grid, ...]) -> FloatArray:
        shape = tuple(grid.size for grid in grids)
        index = np.indices(shape).reshape(len(shape), -1).T
        return average(subset, tuple(grid.codes for grid in grids), index).reshape(*shape, -1)

    return tabulated
