"""Interventions on a table, as data: which features are set to which values in which rows.

A `Intervention` asks for *variants* of the table. In each variant some features are replaced; everything
else stays. PDP sets a feature to one grid value in all rows, ALE moves each row to the edges of its own
bin, permutation importance gives each row another row's value: all are the same request with
another index.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.data.frames.frame import Scratch


@dataclass(frozen=True, eq=False)
class Intervention:
    """Variants of (some rows of) a table.

    ``pools[f]`` is a native column of values for ``features[f]``; ``index`` says which of them to use:
    ``(variants, features)`` when the same for every row, ``(variants, rows, features)`` otherwise. ``exchanged``: the
    pools are the columns of the table itself, so that ``index`` counts its rows.
    """

    features: tuple[int, ...]
    pools: tuple[Any, ...]
    index: IntArray
    rows: IntArray | None = None
    exchanged: bool = False

    @property
    def variants(self) -> int:
        return len(self.index)

    def n_rows(self, data: Data) -> int:
        return len(data) if self.rows is None else len(self.rows)

    def chunks(self, most: int) -> Iterator[slice]:
        """Variants to ask at once, at most so many."""
        return blocks(self.variants, most)

    def columns(self, variants: slice, rows: slice) -> dict[int, tuple[Any, IntArray]]:
        """What to put where: for each feature its pool and an index (variants, rows), or (variants, 1)."""
        index = self.index[variants]
        index = index[:, None] if index.ndim == 2 else index[:, rows]
        return {j: (pool, index[:, :, f]) for f, (j, pool) in enumerate(zip(self.features, self.pools, strict=True))}

    def fill(self, scratch: Scratch, variants: slice, rows: slice, n: int) -> Any:
        """Some variants of some rows, in a workspace that holds these rows over and over."""
        return scratch.fill(self.columns(variants, rows), n)


@dataclass(frozen=True, eq=False)
class Batch:
    """Predictions ``(variants, rows, outputs)`` of one block of one intervention."""

    intervention: int
    variants: slice
    rows: slice
    predictions: FloatArray


def constant_intervention(data: Data, features: tuple[int, ...], codes: tuple[FloatArray, ...]) -> Intervention:
    """Every combination of the given codes, set in all rows; the last feature varies fastest."""
    grids = np.meshgrid(*(np.arange(len(points)) for points in codes), indexing="ij")
    index = np.stack([grid.ravel() for grid in grids], axis=-1).astype(np.intp)
    return Intervention(features, tuple(data.pool(j, points) for j, points in zip(features, codes, strict=True)), index)


def exchange_intervention(
    data: Data, features: tuple[int, ...], donors: IntArray, rows: IntArray | None = None
) -> Intervention:
    """All the features of the donor rows: ``donors`` is ``(variants,)``, or ``(variants, rows)``."""
    pools = tuple(data.frame.native_column(j) for j in features)
    index = np.broadcast_to(donors[..., None], (*donors.shape, len(features)))
    return Intervention(features, pools, index, rows, exchanged=True)


def blocks(total: int, size: int) -> Iterator[slice]:
    """Consecutive slices of at most ``size``."""
    for start in range(0, total, size):
        yield slice(start, min(start + size, total))
