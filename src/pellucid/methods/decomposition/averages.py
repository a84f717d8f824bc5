"""Who averages the prediction over rows: the model, asked for every point and row, or its trees, read."""

from __future__ import annotations

from collections.abc import Callable
from math import comb

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.methods.decomposition.axes import Grid, Subset
from pellucid.methods.decomposition.components import Average
from pellucid.methods.decomposition.tree_cells import TreeCells
from pellucid.models import Predictor
from pellucid.reading import answer
from pellucid.runner import Intervention, Moments, Run

# The features that are set, the codes of each, and for each point which of them it has: (points, outputs).
Averager = Callable[[Subset, tuple[FloatArray, ...], IntArray], FloatArray]


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


def at_own_values(average: Averager, rows: Data, wanted: list[Subset], constant: FloatArray) -> FloatArray:
    """The sum of the constant and all wanted components, exactly, at some rows: ``(rows, outputs)``.

    Collecting the averages E_T in the sums of components, E_T is counted sum over k of (-1)^k C(p - |T|, k) times, with
    p features and k from 0 to order - |T|.
    """
    p = len({j for subset in wanted for j in subset})
    order = max(map(len, wanted))

    def times(size: int) -> int:
        return sum((-1) ** k * comb(p - size, k) for k in range(order - size + 1))

    total = np.tile(times(0) * constant, (len(rows), 1))
    for subset in wanted:
        if times(len(subset)):
            codes = tuple(rows.codes(j) for j in subset)
            index = np.repeat(np.arange(len(rows))[:, None], len(subset), axis=1)
            total += times(len(subset)) * average(subset, codes, index)
    return total
