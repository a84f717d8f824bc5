"""Prototypes by the maximum mean discrepancy: the rows whose distribution is nearest to that of all rows.

Reference. Kim, Khanna and Koyejo 2016, "Examples are not enough, learn to criticize!" (MMD-critic); Gurumoorthy et al.
2019, "Efficient data representation by selecting prototypes with importance weights" (ProtoDash), for weights.

Definition. With a kernel k, rows x_1, ..., x_n of weights w that sum to 1, and prototypes z_1, ..., z_m,

    MMD^2 = (1/m^2) sum_ij k(z_i, z_j) - (2/m) sum_i kappa(z_i) + c,    kappa(x) = sum_j w_j k(x, x_j),

with c = sum_i w_i kappa(x_i): 0 where the two sets are the same.

Estimator. kappa of every row once, in blocks (`Similarity.means`), or from a sample of columns; then greedily the row
that lowers MMD^2 most, of equal ones the first, which takes one column of the kernel for each prototype. Afterwards
each prototype is exchanged for the best other row while MMD^2 falls: greedy choices are good in their order, not
together.

When it misleads. (1) All features count, relevant to the model or not. (2) The kernel and its width decide what is
alike. (3) MMD^2 need not fall with every further prototype, because prototypes count equally.

Cost. No model row; n^2 / 2 kernels for kappa (n times the sampled columns), and n for each prototype and exchange.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.data.similarity import DOUBLE, Columns

_TIE = 1e-12
_ROUNDS = 20
_KEPT = 1_000_000  # numbers


@dataclass(frozen=True, eq=False)
class Selection:
    """Chosen rows with what the kernel says of them: ``columns`` (m, n), m times their mean ``total`` (n,), MMD^2, and
    the ``curve`` of MMD^2 along the greedy path that led there; ``weights`` where they do not count alike.
    """

    chosen: IntArray
    columns: AnyArray
    total: FloatArray
    mmd2: float
    curve: FloatArray
    weights: FloatArray = field(default_factory=lambda: np.empty(0))

    @property
    def weighted(self) -> bool:
        """Whether the rows count by their weights."""
        return len(self.weights) > 0

    def witness(self, kappa: FloatArray) -> FloatArray:
        """The witness function at every row: above 0 where prototypes are too few, below where they are too many."""
        return np.asarray(kappa - self.total / len(self.chosen))


def greedy(similarity: Columns, kappa: FloatArray, m: int, *, spread: float, allowed: BoolArray) -> Selection:
    """The greedy path of m prototypes among the rows ``allowed``; ``spread`` is the constant c.

    The q-th is the row j at which sum_i k(z_i, x_j) - q kappa(x_j), over those before, is least.
    """
    n = len(similarity)
    total, worth, columns = np.zeros(n), np.where(allowed, 0.0, np.inf), np.empty((m, n), dtype=_kept_as(m, n))
    chosen, curve, pairs, sum_kappa = np.empty(m, dtype=np.intp), np.empty(m), 0.0, 0.0
    for q in range(1, m + 1):
        worth -= kappa
        j = _first_least(worth, q)
        pairs, sum_kappa = pairs + 2 * total[j] + 1.0, sum_kappa + kappa[j]
        chosen[q - 1], curve[q - 1], worth[j] = j, pairs / q**2 - 2 * sum_kappa / q + spread, np.inf
        column = similarity.column(j)
        columns[q - 1] = column
        total += column
        worth += column
    return Selection(chosen, columns, total, float(curve[-1]), curve)


def first(path: Selection, m: int, kappa: FloatArray, spread: float) -> Selection:
    """The first m of a path alone."""
    chosen, columns = path.chosen[:m], path.columns[:m]
    total = columns.sum(axis=0, dtype=np.float64)
    return Selection(chosen, columns, total, _mmd2(chosen, total, kappa, spread), path.curve[:m])


def exchanged(
    similarity: Columns,
    kappa: FloatArray,
    found: Selection,
    *,
    spread: float,
    allowed: BoolArray,
    rounds: int = _ROUNDS,
) -> Selection:
    """The selection after every exchange of one row for another that lowers MMD^2.

    Of the rows that could take the place of a prototype, MMD^2 is least where (sum of the others' kernel) - m kappa is.
    """
    chosen, columns, m = found.chosen.copy(), found.columns.copy(), len(found.chosen)
    worth = found.total - m * kappa
    free = np.where(allowed, worth, np.inf)
    free[chosen], each = np.inf, np.empty(len(kappa))
    least = 0.5e-9 * max(spread, _TIE) * m**2
    for _ in range(rounds):
        moved = False
        for a in range(m):
            np.subtract(free, columns[a], out=each)
            j, own = int(each.argmin()), chosen[a]
            if each[j] < worth[own] - 1.0 - least:
                j = int((each <= each[j] + _TIE).argmax())
                column = similarity.column(j)
                change = column - columns[a]
                worth += change
                free += change
                free[own], free[j] = worth[own], np.inf
                chosen[a], columns[a], moved = j, column, True
        if not moved:
            break
    total = columns.sum(axis=0, dtype=np.float64)
    return Selection(chosen, columns, total, _mmd2(chosen, total, kappa, spread), found.curve)


def given(similarity: Columns, kappa: FloatArray, chosen: IntArray, *, spread: float) -> Selection:
    """A set that somebody chose, with the curve of MMD^2 along its own order."""
    columns = np.stack([similarity.column(int(j)) for j in chosen]).astype(_kept_as(len(chosen), len(similarity)))
    totals = np.cumsum(columns, axis=0, dtype=np.float64)
    curve = np.array([_mmd2(chosen[: q + 1], totals[q], kappa, spread) for q in range(len(chosen))])
    return Selection(chosen, columns, totals[-1], float(curve[-1]), curve)


def _kept_as(m: int, n: int) -> type[np.floating[Any]]:
    """The precision in which m columns are kept: single is all there is of many rows, but double is worked with."""
    return np.float64 if n <= DOUBLE or m * n <= _KEPT else np.float32


def _mmd2(chosen: IntArray, total: FloatArray, kappa: FloatArray, spread: float) -> float:
    m = len(chosen)
    return float(max(total[chosen].sum() / m**2 - 2 * kappa[chosen].sum() / m + spread, 0.0))


def _first_least(worth: FloatArray, q: int) -> int:
    """The place of the least, MMD^2 times q^2 / 2 but for a constant; of equal ones, up to rounding, the first."""
    return int(np.argmax(worth <= worth.min() + _TIE * q**2 / 2))
