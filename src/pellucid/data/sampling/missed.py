"""What draws of a column miss of its dependence on the given columns.

If they fit, the share u of what was likely for a row that lies below the row's own value says nothing about the given
columns, and they nothing about it. So waves cos(pi k u) of it are regressed on them by kernel ridge, each row by the
others (`pellucid.data.sampling.kernel_ridge`). What is missed is the root of the largest share of a wave's variance
that they explain: from 0 (nothing, or what chance does) to 1.

When it misleads: a regression that has not seen a dependence while the column was drawn need not see it here, least of
all in few rows and among many columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.data.sampling.encoding import Encoding
from pellucid.data.sampling.kernel_ridge import KernelRidge
from pellucid.data.sampling.like_rows import LikeRows

_ROWS, _FEWEST = 1_000, 40
_WAVES = 6


@dataclass(frozen=True)
class Missed:
    """How strongly, from 0 to 1, and the given column that tells most of it (-1: none)."""

    association: float = 0.0
    column: int = -1


def missed(
    share: FloatArray, given: FloatArray, nominal: BoolArray, weights: FloatArray, generator: np.random.Generator
) -> Missed:
    """Of rows with the given columns ``(rows, columns)``, and the ``share`` of what was likely below their values."""
    counted = np.flatnonzero(weights > 0)
    some = counted[np.unique(np.linspace(0, len(counted) - 1, _ROWS).astype(np.intp))]
    if not given.shape[1] or len(some) < _FEWEST:
        return Missed()
    waves = np.cos(np.pi * share[some, None] * np.arange(1, _WAVES + 1))
    weights = weights[some]
    blocks = Encoding.of(given[some], nominal, weights).blocks(given[some])
    relevance = LikeRows.of(blocks, waves, weights, generator, trees=40).relevance()
    ridge = KernelRidge(blocks, relevance, weights, generator)
    explained = max(0.0, *(_explained(ridge, wave, weights) for wave in waves.T))
    return Missed(float(np.sqrt(explained)), int(np.argmax(relevance)) if explained > 0 else -1)


def _explained(ridge: KernelRidge, wave: FloatArray, weights: FloatArray) -> float:
    fit = ridge.fit(wave)
    if fit.name == "constant":
        return 0.0
    return 1.0 - float(
        np.average(np.square(fit.residual), weights=weights) / np.average(np.square(wave - fit.mean), weights=weights)
    )
