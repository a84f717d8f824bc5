"""Prototypes with weights: the few rows, and how much each of them counts, that are nearest to all rows.

Reference. Gurumoorthy et al. 2019, "Efficient data representation by selecting prototypes with importance weights"
(ProtoDash); Oettershagen 2017 and Briol et al. 2019 for the same sums in kernel (Bayesian) quadrature.

Definition. With K the kernel of prototypes z_1, ..., z_m, kappa and c as in `mmd`, and weights w of the prototypes,

    MMD^2 = w' K w - 2 w' kappa(z) + c,    w >= 0, sum w = 1.

Estimator. The sum is kept to 1 by adding a large constant to K and kappa, which adds (sum w - 1)^2 times it to MMD^2.
The best weights are then K^-1 kappa. With the residual r(x) = kappa(x) - k(x, z)' w and what prototypes leave of
k(x, x), v(x) = k(x, x) - k(x, z)' K^-1 k(z, x), a further prototype x lowers MMD^2 by r(x)^2 / v(x): greedily the row
at which that is largest. Leaving prototype a out raises MMD^2 by w_a^2 / (K^-1)_aa and gives every row its r and v
without it; so, from prototypes that count alike, each is exchanged for the best other row while MMD^2 falls: that ends
lower than from the greedy ones, which are kept if they are better. Weights below 0 hardly occur; the last weights are
those of non-negative least squares, and a prototype that they leave at 0 is replaced while that helps.

When it misleads. (1) As prototypes that count alike (see `mmd`). (2) Counted alike, these prototypes are worse than
those of `mmd`: they are many where data are thin, with small weights. Never read them without their weights.

Cost. No model row; n kernels for each prototype and exchange, and n m operations more for each exchange.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.data.similarity import Columns
from pellucid.methods.examples import mmd
from pellucid.methods.examples.estimation.describe import best_weights
from pellucid.methods.examples.mmd import Selection

_SUM = 1e3  # what is added to the kernel, to keep the sum of weights to 1
_TIE = 1e-12
_COPY = 1e-4  # what is left of k(x, x) at least: else rounding would choose copies of prototypes
_JITTER = 1e-9
_GAIN = 1e-7  # of c
_ROUNDS = 20


def greedy(kernel: Columns, kappa: FloatArray, m: int, *, spread: float, allowed: BoolArray) -> Selection:
    """The greedy path of m prototypes among the rows ``allowed``; ``spread`` is the constant c."""
    n = len(kernel)
    r, v, free = kappa + _SUM, np.full(n, 1.0 + _SUM), allowed.copy()
    columns, factor = np.empty((m, n)), np.empty((m, n))
    chosen, curve, left = np.empty(m, dtype=np.intp), np.empty(m), spread + _SUM
    for q in range(m):
        j = _first_most(_gain(r, v, free))
        free[j], chosen[q], columns[q] = False, j, kernel.column(j)
        pivot = np.sqrt(max(v[j], _COPY))
        factor[q] = (columns[q] + _SUM - factor[:q, j] @ factor[:q]) / pivot
        step = r[j] / pivot
        r, v, left = r - step * factor[q], np.maximum(v - np.square(factor[q]), 0.0), left - step**2
        curve[q] = max(left, 0.0)
    return _selection(chosen, columns, kappa, spread, curve)


def first(path: Selection, m: int, kappa: FloatArray, spread: float) -> Selection:
    """The first m of a path alone."""
    return _selection(path.chosen[:m], path.columns[:m], kappa, spread, path.curve[:m])


def exchanged(
    kernel: Columns, kappa: FloatArray, found: Selection, *, spread: float, allowed: BoolArray, rounds: int = _ROUNDS
) -> Selection:
    """As many prototypes as those ``found``, after every exchange of one row for another that lowers MMD^2."""
    m = len(found.chosen)
    start = mmd.greedy(kernel, kappa, m, spread=spread, allowed=allowed)
    start = mmd.exchanged(kernel, kappa, start, spread=spread, allowed=allowed, rounds=rounds)
    fit = _Fit(start.chosen.copy(), start.columns.astype(np.float64), kappa)
    free = allowed.copy()
    free[fit.chosen] = False
    for _ in range(rounds):
        moved = False
        for a in range(m):
            gain = fit.gain_without(a, free)
            j = int(np.argmax(gain))
            if gain[j] > fit.loss(a) + _GAIN * spread:
                j = _first_most(gain)
                free[fit.chosen[a]], free[j], moved = allowed[fit.chosen[a]], False, True
                fit.exchange(a, j, kernel.column(j))
        if not moved:
            break
        fit = _Fit(fit.chosen, fit.columns, kappa)  # without what rounding has added up to
    after = _filled(kernel, kappa, _selection(fit.chosen, fit.columns, kappa, spread, found.curve), spread, free)
    return after if after.mmd2 < found.mmd2 else found


class _Fit:
    """The best weights w of the chosen rows, K^-1 (``inverse``), K^-1 k(z, x) of every row x (``along``), and every
    row's residual r and what is left of k(x, x), v.
    """

    def __init__(self, chosen: IntArray, columns: FloatArray, kappa: FloatArray) -> None:
        self.chosen, self.columns = chosen, columns
        K = columns[:, chosen]
        self.inverse = np.linalg.inv((K + K.T) / 2.0 + _SUM + _JITTER * np.eye(len(K)))
        self.w = self.inverse @ (kappa[chosen] + _SUM)
        self.along = self.inverse @ columns + _SUM * self.inverse.sum(axis=1, keepdims=True)
        self.r = kappa + _SUM - self.w @ columns - _SUM * self.w.sum()
        self.v = 1.0 + _SUM - np.einsum("ij,ij->j", self.along, columns) - _SUM * self.along.sum(axis=0)

    def loss(self, a: int) -> float:
        """By how much MMD^2 rises without prototype a."""
        return float(self.w[a] ** 2 / self.inverse[a, a])

    def gain_without(self, a: int, free: BoolArray) -> FloatArray:
        """By how much each row would lower MMD^2 beside all prototypes but a."""
        share = self.along[a] / self.inverse[a, a]
        return _gain(self.r + self.w[a] * share, self.v + self.along[a] * share, free)

    def exchange(self, a: int, j: int, column: FloatArray) -> None:
        """Row j takes the place of prototype a: a is swept out of the inverse, and j into it."""
        out, pivot = self.inverse[:, a].copy(), self.inverse[a, a]
        share = self.along[a] / pivot
        r, v = self.r + self.w[a] * share, self.v + self.along[a] * share
        to_j = self.columns[:, j] + _SUM
        u = column + _SUM - (to_j @ self.along - (to_j @ out) * share)
        along_j = self.along[:, j] - out * share[j]
        along_j[a] = -1.0
        left = max(v[j], _COPY)
        u /= left
        self.w = self.w - out * (self.w[a] / pivot) - along_j * (r[j] / left)
        self.w[a] = r[j] / left
        self.inverse = self.inverse - np.outer(out, out) / pivot + np.outer(along_j, along_j) / left
        self.along -= np.column_stack([out, along_j]) @ np.stack([share, u])
        self.along[a] = u
        self.r, self.v = r - u * r[j], np.maximum(v - np.square(u) * left, 0.0)
        self.chosen[a], self.columns[a] = j, column


def _gain(r: FloatArray, v: FloatArray, free: BoolArray) -> FloatArray:
    """By how much each row would lower MMD^2 as a further prototype of a weight above 0; -1 where it is not free."""
    return np.where(free, np.square(np.maximum(r, 0.0)) / np.maximum(v, _COPY), -1.0)


def _filled(kernel: Columns, kappa: FloatArray, found: Selection, spread: float, free: BoolArray) -> Selection:
    """Prototypes of weight 0 replaced by the row that helps most, while one does."""
    free = free.copy()
    for _ in range(len(found.chosen)):
        idle = np.flatnonzero(found.weights <= 0)
        if not len(idle):
            break
        used = np.setdiff1d(np.arange(len(found.chosen)), idle)
        fit = _Fit(found.chosen[used], found.columns[used], kappa)
        gain = _gain(fit.r, fit.v, free)
        j = _first_most(gain)
        if gain[j] <= _GAIN * spread:
            break
        free[j] = False
        chosen, columns = found.chosen.copy(), found.columns.copy()
        chosen[idle[0]], columns[idle[0]] = j, kernel.column(j)
        other = _selection(chosen, columns, kappa, spread, found.curve)
        found = other if other.mmd2 < found.mmd2 else found
    return found


def _selection(chosen: IntArray, columns: AnyArray, kappa: FloatArray, spread: float, curve: FloatArray) -> Selection:
    """Chosen rows with their best weights."""
    K = columns[:, chosen].astype(np.float64)
    w = best_weights((K + K.T) / 2.0, kappa[chosen])
    return Selection(chosen, columns, len(w) * (w @ columns), mmd2_of(K, kappa[chosen], w, spread), curve, w)


def mmd2_of(K: FloatArray, kappa: FloatArray, w: FloatArray, spread: float) -> float:
    """MMD^2 of prototypes with the kernel K among them, their kappa and their weights."""
    return max(float(w @ K @ w) - 2.0 * float(w @ kappa) + spread, 0.0)


def _first_most(gain: FloatArray) -> int:
    """The place of the largest; of equal ones, up to rounding, the first."""
    most = gain.max()
    return int(np.argmax(gain >= most - _TIE * max(abs(most), 1.0)))
