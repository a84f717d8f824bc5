"""Components from averages: the one formula that marginal decomposition and functional ANOVA share.

With E_S(x_S) the prediction averaged over all features but those in S, the components are

    f_S(x_S) = E_S(x_S) - sum over proper subsets T of S of f_T(x_T),        f_{} = E_{}.

What is averaged over (rows of the data, the uniform distribution) is the method's business.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.explanations.component import Axis, Check, Component
from pellucid.methods.decomposition.axes import Grid
from pellucid.methods.decomposition.build import Variances
from pellucid.methods.decomposition.subsets import Subset


@dataclass(frozen=True, eq=False)
class Made:
    """Parts as a method makes them, with the predictions at the rows of the data: variances, the properties measured,
    the share of the variance that was lost by merging cells, and how they were made.
    """

    constant: FloatArray
    components: list[Component]
    predictions: FloatArray
    variances: Variances
    checks: tuple[Check, ...]
    settings: dict[str, Any]
    lost: float = 0.0


Grids = Mapping[Subset, tuple[Grid, ...]]
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


def entries_of(grids: Grids) -> int:
    """How many entries all components have together."""
    return sum(int(np.prod([grid.size for grid in own], dtype=np.int64)) for own in grids.values())


def halved(components: Sequence[Component]) -> tuple[list[Component], list[Component], list[Component]]:
    """Components whose outputs are estimated twice, side by side: their means, the first and the second."""
    first, second = (
        [component(part.axes, np.split(part.table, 2, axis=-1)[half]) for part in components] for half in (0, 1)
    )
    means = [component(a.axes, (a.table + b.table) / 2) for a, b in zip(first, second, strict=True)]
    return means, first, second
