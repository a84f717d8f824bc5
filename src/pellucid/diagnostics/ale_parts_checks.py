"""The caveats of a decomposition into accumulated local effects: cells without rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

import numpy as np

from pellucid.arrays import IntArray
from pellucid.data import Data
from pellucid.diagnostics.decomposition_checks import decomposition_caveats
from pellucid.explanations.caveat import Caveat
from pellucid.explanations.decomposition import Decomposition
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import counted, listed, percent

_EMPTY = 0.25


class Cells(Protocol):
    """The cells of one feature: how many, and that of each row (-1: missing)."""

    @property
    def n_cells(self) -> int: ...

    @property
    def cell(self) -> IntArray: ...


def ale_parts_caveats(
    predictor: Predictor,
    data: Data,
    run: Run,
    *,
    found: Decomposition,
    cells: Mapping[tuple[int, ...], tuple[Cells, ...]],
) -> tuple[Caveat, ...]:
    """Everything known against this decomposition on these data."""
    if not run.checks:
        return ()
    return (*decomposition_caveats(predictor, data, run, found), *_empty_cells(data, cells))


def _empty_cells(data: Data, cells: Mapping[tuple[int, ...], tuple[Cells, ...]]) -> Iterator[Caveat]:
    """The part with the largest share of cells without rows."""
    shares = {subset: _share(axes) for subset, axes in cells.items()}
    worst = max(shares, key=lambda subset: shares[subset], default=())
    if not worst or shares[worst] <= _EMPTY:
        return
    name = listed([data.schema.names[j] for j in worst])
    several = sum(share > _EMPTY for share in shares.values()) - 1
    more = f" So do more than a quarter of those of {counted(several, 'other part')}." if several else ""
    yield Caveat(
        code="empty-cells",
        message=(
            f"{percent(shares[worst])} of the cells of {name} hold no rows and take over the change in the nearest"
            f" cell.{more}"
        ),
        value=shares[worst],
        threshold=_EMPTY,
        advice="Read such parts only where there are rows, use a smaller grid, or use method='generalized'.",
        feature=name,
    )


def _share(axes: tuple[Cells, ...]) -> float:
    shape = tuple(axis.n_cells for axis in axes)
    inside = np.all([axis.cell >= 0 for axis in axes], axis=0)
    seen = np.unique(np.ravel_multi_index([axis.cell[inside] for axis in axes], shape))
    return 1.0 - len(seen) / int(np.prod(shape))
