"""The entries of every component: knots where the model is asked, cells where its trees are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.data import Data
from pellucid.errors import InputError
from pellucid.methods.decomposition.axes import Grid, cells, coarser, fewer_cuts, knots
from pellucid.methods.decomposition.parts import Grids, entries_of
from pellucid.methods.decomposition.subsets import Subset
from pellucid.methods.decomposition.tree_cells import TreeCells

BUDGET = 2_000_000  # model rows that are asked for without being told to
ABSURD = 50_000_000
FEWEST = 200  # rows to average over
_KNOTS = ((32, 10, 5), (32, 9, 4), (24, 8, 4), (24, 7, 4), (20, 6, 3), (16, 5, 3))  # in parts of 1, 2, 3 features
CELLS = 300_000  # entries of all components together
_CUTS = (512, 384, 256, 192, 128, 96, 64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2)

Knots = Callable[[Data, int, int], Grid]


@dataclass(frozen=True, eq=False)
class TreeGrids:
    """Cells of every component, which components are zero, and to how many cuts along a feature they were thinned."""

    grids: Grids
    zero: frozenset[Subset]
    thinned: int | None


def knot_grids(data: Data, wanted: Sequence[Subset], grid: int | None, make: Knots = knots) -> Grids:
    """Knots of every component, fewer for several features than for one, and those among the knots of fewer.

    ``grid`` gives their number; without it there are as many as `BUDGET` allows, each asked for in `FEWEST` rows.
    """
    choices = _KNOTS if grid is None else ((int(grid),) * 3,)
    made: Grids = {}
    for sizes in choices:
        made = _knots(data, wanted, sizes, make)
        if entries_of(made) * FEWEST <= BUDGET:
            break
    if entries_of(made) * FEWEST > ABSURD:
        raise InputError(
            f"{len(wanted):,} components would ask the model about {entries_of(made) * FEWEST:,} rows; give fewer"
            " features (features=[...]), a lower order or a smaller grid."
        )
    return made


def _knots(data: Data, wanted: Sequence[Subset], sizes: Sequence[int], make: Knots) -> Grids:
    by_order: dict[tuple[int, int], Grid] = {}
    for j in sorted({j for subset in wanted for j in subset}):
        grid = make(data, j, sizes[0])
        for order, size in enumerate(sizes, start=1):
            grid = by_order[j, order] = coarser(grid, size)
    return {subset: tuple(by_order[j, len(subset)] for j in subset) for subset in wanted}


def cell_grids(trees: TreeCells, wanted: Sequence[Subset], grid: int | None, most: int = CELLS) -> TreeGrids:
    """Cells between the thresholds that matter for each component; where they are too many, fewer, spread over the
    rows.
    """
    full: dict[Subset, tuple[Grid, ...]] = {}
    zero = set()
    for subset in wanted:
        leaves = trees.asking(subset)
        if leaves.any():
            full[subset] = tuple(trees.grid(j, leaves) for j in subset)
        else:
            zero.add(subset)
            full[subset] = tuple(cells(trees.data.schema.features[j], np.empty(0)) for j in subset)
    if grid is None and entries_of(full) <= most:
        return TreeGrids(full, frozenset(zero), None)
    for cuts in _CUTS if grid is None else (max(int(grid) - 1, 1),):
        thinned = {
            subset: (
                own
                if len(subset) == 1
                else tuple(fewer_cuts(trees.data, j, part, cuts) for j, part in zip(subset, own, strict=True))
            )
            for subset, own in full.items()
        }
        if entries_of(thinned) <= most:
            break
    if entries_of(thinned) > 20 * most:
        raise InputError(
            f"{len(wanted):,} components have {entries_of(thinned):,} entries together; give fewer features"
            " (features=[...]) or a lower order."
        )
    return TreeGrids(thinned, frozenset(zero), cuts if entries_of(thinned) < entries_of(full) else None)
