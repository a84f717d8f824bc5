"""Functional ANOVA of trees, exactly: under independence a leaf is a product of conditions on single features.

With a_jl(x_j) = 1 where x_j fulfils what leaf l asks of feature j and s_jl = E[a_jl], the share that does, a leaf of
value v adds

    f_S(x_S) = sum over leaves of v_l  prod_{j in S} (a_jl(x_j) - s_jl)  prod_{j not in S} s_jl,

which is zero unless the leaf asks something of every feature in S. The variance of f is the sum over pairs of leaves of
v_l v_m prod_j E[a_jl a_jm], less the squared mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.explanations.component import Component
from pellucid.methods.decomposition.estimation import measure
from pellucid.methods.decomposition.estimation.axes import Subset
from pellucid.methods.decomposition.estimation.components import (
    Components,
    Variances,
    at_rows,
    beyond_rounding,
    component,
)
from pellucid.methods.decomposition.estimation.tree_cells import CELLS, TreeCells, cell_grids
from pellucid.runner import Run

_WORK = 5_000_000_000  # leaves times entries
_PAIRED = 2_000  # leaves of which all pairs are looked at
_BLOCK = 1_000  # leaves at once
_JUDGED = 12  # power of two: points at which function and components are compared
_COMPARED = 256  # of these, at which merged and exact components are compared
_NEAR = 0.02

Full = Mapping[int, measure.Measured]


@dataclass(frozen=True, eq=False)
class _Block:
    """Some leaves: their values (leaves, outputs), and by feature a_jl at its entries (leaves, entries) and s_jl
    (leaves).
    """

    place: slice
    values: FloatArray
    allowed: dict[int, FloatArray]
    share: dict[int, FloatArray]

    def others(self, subset: Subset) -> FloatArray:
        """v_l times the product of s_jl over the features that are not in S."""
        kept = [share for j, share in self.share.items() if j not in subset]
        return self.values * np.prod(kept, axis=0)[:, None] if kept else self.values


def of_trees(
    trees: TreeCells, wanted: Sequence[Subset], grid: int | None, run: Run, *, cells: int = CELLS, paired: int = _PAIRED
) -> Components:
    """The components between the thresholds of the trees; where there are too many, their means over merged cells."""
    made = cell_grids(trees, wanted, grid, most=min(cells, max(_WORK // max(len(trees.leaves.values), 1), 10_000)))
    features = trees.data.schema.features
    used = np.unique(trees.asked[trees.asked >= 0]).tolist()
    full = {j: measure.in_cells(features[j], trees.grid(j, trees.asking((j,)))) for j in used}
    measures = {
        subset: tuple(measure.in_cells(features[j], own) for j, own in zip(subset, made.grids[subset], strict=True))
        for subset in wanted
    }
    alive = [subset for subset in wanted if subset not in made.zero]
    constant, tables = _tables(trees, wanted, alive, full, measures)
    components = [component([own.grid.axis for own in measures[subset]], tables[subset]) for subset in wanted]
    parts = np.array(
        [measure.product_mean(c.table, c.table, measures[s]) for s, c in zip(wanted, components, strict=True)]
    )
    judged = measure.draw(trees.data, _JUDGED, run, 2)
    f = run.predict(trees.predictor, judged)
    said = sum((at_rows(c, judged) for c in components), np.zeros(f.shape))
    seen = Variances(
        measure.function_variance(f, said, said, parts), parts, parts, (f - said).var(axis=0), np.zeros(parts.shape)
    )
    total = (
        _variance(trees, full, constant) if len(trees.leaves.values) <= paired else parts.sum(axis=0) + seen.residual
    )
    seen, variances = (
        beyond_rounding(part, f)
        for part in (seen, replace(seen, total=total, residual=np.maximum(total - parts.sum(axis=0), 0.0)))
    )
    lost = 0.0
    if made.thinned is not None:
        some = judged.take(np.arange(_COMPARED))
        lost = _lost(trees, wanted, full, constant, components, some, total)
    settings = {"engine": "trees", "thinned": made.thinned, "leaves": len(trees.leaves.values)}
    checks = measure.axioms(components, list(measures.values()), seen, _NEAR)
    return Components(constant, components, trees.explained.prediction, variances, checks, settings, lost)


def _blocks(trees: TreeCells, full: Full, size: int = _BLOCK) -> Iterator[_Block]:
    for start in range(0, len(trees.leaves.values), size):
        place = slice(start, start + size)
        allowed = {j: trees.allowed(j, own.grid.codes, place) for j, own in full.items()}
        share = {j: allowed[j] @ own.weights for j, own in full.items()}
        yield _Block(place, trees.leaves.values[place], allowed, share)


def _tables(
    trees: TreeCells, wanted: Sequence[Subset], alive: Sequence[Subset], full: Full, measures: measure.Measures
) -> tuple[FloatArray, dict[Subset, FloatArray]]:
    """The constant and the tables of all components."""
    outputs = trees.ensemble.n_outputs
    constant = trees.ensemble.base.copy()
    tables = {s: np.zeros((*(own.grid.size for own in measures[s]), outputs)) for s in wanted}
    merging = {s: [_merging(full[j], own) for j, own in zip(s, measures[s], strict=True)] for s in alive}
    for block in _blocks(trees, full):
        constant += block.others(()).sum(axis=0)
        for subset in alive:
            asking = trees.asking(subset)[block.place]
            if asking.any():
                centred = [
                    merge(block.allowed[j][asking]) - block.share[j][asking, None]
                    for j, merge in zip(subset, merging[subset], strict=True)
                ]
                tables[subset] += _product(block.others(subset)[asking], centred)
    return constant, tables


@dataclass(frozen=True, eq=False)
class _Merging:
    """From all entries of a feature to those of a component, which are runs of them: the means over each run."""

    starts: IntArray
    weights: FloatArray

    def __call__(self, values: FloatArray) -> FloatArray:
        if len(self.starts) == values.shape[1]:
            return values
        return np.add.reduceat(values * self.weights, self.starts, axis=1)


def _merging(full: measure.Measured, own: measure.Measured) -> _Merging:
    cell = own.grid.axis.place(full.grid.codes)[0]
    weights = np.bincount(cell, weights=full.weights, minlength=own.grid.size)[cell]
    numbers = np.bincount(cell, minlength=own.grid.size)[cell]
    share = np.where(weights > 0, full.weights / np.where(weights > 0, weights, 1.0), 1.0 / numbers)
    return _Merging(np.flatnonzero(np.append(True, np.diff(cell) > 0)), share)


def _product(values: FloatArray, centred: Sequence[FloatArray]) -> FloatArray:
    """sum over leaves of v_l times the product of functions of one feature each: ``(entries.., outputs)``."""
    joint = centred[0]
    for more in centred[1:-1]:
        joint = (joint[:, :, None] * more[:, None, :]).reshape(len(joint), -1)
    if len(centred) == 1:
        return np.asarray(joint.T @ values)
    by_output = [(joint * value[:, None]).T @ centred[-1] for value in values.T]
    return np.stack(by_output, axis=-1).reshape(*(part.shape[1] for part in centred), -1)


def _variance(trees: TreeCells, full: Full, constant: FloatArray) -> FloatArray:
    """The variance of the sum of the trees, from all pairs of leaves."""
    values = trees.leaves.values
    every = slice(0, len(values))
    both = np.ones((len(values), len(values)))
    for j, own in full.items():
        allowed = trees.allowed(j, own.grid.codes, every)
        both *= allowed * own.weights @ allowed.T
    mean = constant - trees.ensemble.base
    return np.maximum(np.einsum("lk,lk->k", values, both @ values) - np.square(mean), 0.0)


def _lost(
    trees: TreeCells,
    wanted: Sequence[Subset],
    full: Full,
    constant: FloatArray,
    components: Sequence[Component],
    points: Data,
    total: FloatArray,
) -> float:
    """The mean squared difference between the sums of merged and of exact components, as a share of the variance.

    ``sums[k]`` collects, feature by feature, the products over all sets of k features: times s_jl where the feature is
    not in the set, times a_jl - s_jl where it is.
    """
    chosen, order = {j for subset in wanted for j in subset}, max(map(len, wanted))
    exact = np.tile(trees.ensemble.base, (len(points), 1))
    for block in _blocks(trees, full):
        sums = np.zeros((order + 1, len(block.values), len(points)))
        sums[0] = 1.0
        for j, share in block.share.items():
            centred = trees.allowed(j, points.codes(j), block.place) - share[:, None]
            grown = sums * share[:, None]
            if j in chosen:
                grown[1:] += sums[:-1] * centred
            sums = grown
        exact += sums.sum(axis=0).T @ block.values
    merged = constant + sum(at_rows(component, points) for component in components)
    apart = np.square(merged - exact).mean(axis=0)
    return float((apart / np.where(total > 0, total, np.inf)).max())
