"""Whether a job is big enough for the compiled kernels.

The kernels are some thirty times as fast as numpy, but loading them takes a second, and compiling them on a new
machine several. The choice depends on the size of the job alone, never on what was compiled before: the two agree
to rounding, not to the bit, and the same question must have the same answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.trees.ensemble import TreeEnsemble
from pellucid.trees.plain.levels import tree_sizes

PATIENCE = 0.25  # seconds that a job may take in numpy


@dataclass(frozen=True)
class _Seconds:
    """What the parts of the work cost, measured (see `plain_seconds`)."""

    level: float = 2e-4
    node: float = 2e-7
    cell: float = 3e-8
    walk: float = 2.5e-7


_SECONDS = _Seconds()


def worth_compiling(ensemble: TreeEnsemble, n_rows: int, n_background: int = 0, order: int = 1) -> bool:
    """Whether the kernels should do this job; never without numba. In the path game there is no background."""
    return plain_seconds(ensemble, n_rows, n_background, order) > PATIENCE and can_compile()


def plain_seconds(ensemble: TreeEnsemble, n_rows: int, n_background: int = 0, order: int = 1) -> float:
    """About how long the job takes in numpy.

    In the path game every row is treated at every split, at every quadrature point. In the marginal game a row and
    a background row walk down together and reach about as many leaves as the square root of all.
    """
    if len(ensemble.roots) == 0:
        return 0.0
    size, depth = tree_sizes(ensemble)
    deepest = int(depth.max())
    fixed = _SECONDS.level * deepest + _SECONDS.node * int(size.sum())
    if n_background:
        walks = float(np.sqrt((size + 1) / 2).sum()) * n_rows * n_background
        return fixed + _SECONDS.walk * walks * 1.4 ** (order - 1)
    players = min(deepest, ensemble.n_features)
    cells = float(size.sum()) / 2 * (players // 2 + 1) * n_rows * ensemble.width
    return (fixed + _SECONDS.cell * cells) * (1 + players / 6) ** (order - 1)


def can_compile() -> bool:
    """Whether numba is there and compiles."""
    try:
        from numba import config
    except ImportError:
        return False
    return not config.DISABLE_JIT
