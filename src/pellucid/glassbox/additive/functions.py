"""The functions of one feature, fitted together: one penalised least-squares step, and REML's step after it.

Definition. With the normal equations G, r, c of the rows (see `kernels.gather`) and z the working target, entries b
solve (G + sum_j (lam_j S_j + 10^4 N m_j m_j')) b = r - c zbar, where m_j = c_j/N, so that every function has mean zero
over the rows; zbar, the weighted mean of z, is the intercept.

Cost. rows x features^2 to gather, (entries)^3 to solve; where weights stay the same (gaussian, gamma), the rows are
gathered once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import lapack

from pellucid.arrays import FloatArray, IntArray
from pellucid.glassbox.additive import kernels
from pellucid.glassbox.additive.axes import Axis
from pellucid.glassbox.additive.constraints import Cone, solved
from pellucid.glassbox.additive.penalties import Penalties

_RIDGE = 1e-10
_HELD = 1e4  # how firmly the mean of a function is held at zero
_FIRST_LAM = 10.0
_SETTLED = 4  # steps before increments may differ in their precision


@dataclass(frozen=True, eq=False)
class Design:
    """Rows as entries: for every row and feature the entry before its value and the share of the next."""

    axes: tuple[Axis, ...]
    starts: IntArray
    index: IntArray
    share: FloatArray

    @staticmethod
    def of(axes: Sequence[Axis], codes: FloatArray) -> Design:
        """The rows of a matrix of codes."""
        index: IntArray = np.empty(codes.shape, dtype=np.int32)  # half the memory of int64
        share = np.empty(codes.shape)
        for j, axis in enumerate(axes):
            index[:, j], share[:, j] = axis.place(codes[:, j])
        return Design(tuple(axes), starts_of(axes), index, share)

    @property
    def size(self) -> int:
        """Entries of all features."""
        return int(self.starts[-1])

    def gathered(self, weight: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """G, r and c of the rows."""
        G, r, c = kernels.gather(self.index, self.share, self.starts, weight, target, self.size)
        return G + np.triu(G, 1).T, r, c

    def right(self, weighted: FloatArray) -> FloatArray:
        """r alone."""
        return np.asarray(kernels.gather_right(self.index, self.share, self.starts, weighted, self.size))

    def hats(self, rows: slice) -> FloatArray:
        """The rows written out: the share of every entry in each."""
        index, share = self.index[rows], self.share[rows]
        found, at = np.zeros((len(index), self.size)), np.arange(len(index))
        for j, start in enumerate(self.starts[:-1]):
            known, between = index[:, j] >= 0, share[:, j] > 0.0
            found[at[known], start + index[known, j]] = 1.0 - share[known, j]
            found[at[between], start + index[between, j] + 1] = share[between, j]
        return found

    def sums(self, table: FloatArray) -> FloatArray:
        """What the functions add up to in each row."""
        out = np.zeros(len(self.index))
        kernels.add_functions(self.index, self.share, self.starts, table, out)
        return out


def starts_of(axes: Sequence[Axis]) -> IntArray:
    """Where the entries of each feature begin among all, and where they end."""
    return np.cumsum([0, *(axis.size for axis in axes)]).astype(np.int64)


@dataclass(eq=False)
class Functions:
    """The state of the fit of one sum: intercept, entries, strengths of the penalties, covariance."""

    design: Design
    penalties: Penalties
    cones: list[Cone]
    intercept: float
    table: FloatArray = field(init=False)
    sums: FloatArray = field(init=False)
    lam: FloatArray = field(init=False)
    tau: FloatArray = field(init=False)
    V: FloatArray = field(init=False)
    edf: FloatArray = field(init=False)
    phi: float = 1.0
    steps: int = 0
    _kept: tuple[FloatArray, FloatArray] | None = None
    _factor: FloatArray | None = None  # of the last step, as long as weights and penalties stay

    def __post_init__(self) -> None:
        p, size = len(self.design.axes), self.design.size
        self.table, self.sums = np.zeros(size), np.zeros(len(self.design.index))
        self.lam, self.tau = np.full(p, _FIRST_LAM), np.ones(len(self.penalties.lower))
        self.V, self.edf = np.zeros((size, size)), np.zeros(p)
        self.free = np.ones(len(self.penalties.lower), dtype=np.bool_)

    def solve(self, weight: FloatArray, residual: FloatArray, *, same_weights: bool) -> None:
        """One least-squares step to the working target, with the penalties as they are."""
        target = residual + self.sums
        if same_weights and self._kept is not None:
            (G, c), r = self._kept, self.design.right(weight * target)
        else:
            G, r, c = self.design.gathered(weight, target)
            self._kept = (G, c) if same_weights else None
        total, starts = float(weight.sum()), self.design.starts
        rise = float(weight @ target) / total
        if not same_weights or self._factor is None:
            b = self._solved(self._penalised(G, c, total), r - c * rise)
            self.edf = np.add.reduceat((self.V * G).sum(axis=1), starts[:-1])
        else:
            b, _ = lapack.dpotrs(self._factor, r - c * rise, lower=1)
        for j in range(len(starts) - 1):
            own = slice(starts[j], starts[j + 1])
            b[own] -= (c[own] @ b[own]) / total
        self.table, self.sums, self.intercept = b, self.design.sums(b), self.intercept + rise

    def _penalised(self, G: FloatArray, c: FloatArray, total: float) -> FloatArray:
        """The matrix of the step: rows, penalties, means held at zero."""
        A, starts = G.copy(), self.design.starts
        for j in range(len(starts) - 1):
            own = slice(starts[j], starts[j + 1])
            A[own, own] += _HELD * np.outer(c[own], c[own] / total)
        self.penalties.add(A, self.lam, self.tau)
        A[np.diag_indices(len(A))] += _RIDGE * total / len(A)
        return A

    def _solved(self, A: FloatArray, right: FloatArray) -> FloatArray:
        if self.cones:
            b, self.V, held = solved(A, right, self.cones)
            self.free = ~held[self.penalties.lower + 1]
            return b
        factor, _ = lapack.dpotrf(A, lower=1, overwrite_a=0)
        b, _ = lapack.dpotrs(factor, right, lower=1)
        inverse, _ = lapack.dpotri(factor, lower=1)
        self.V = inverse + inverse.T  # above the diagonal, lapack's triangle is zero
        self.V[np.diag_indices(len(A))] /= 2.0
        self._factor = factor
        return np.asarray(b)

    def penalty(self) -> float:
        """What the penalties add to the deviance."""
        return float(self.lam @ self.penalties.energies(self.table, self.tau))

    def move_back(self, table: FloatArray, intercept: float) -> None:
        """Half of the way back to where a step began."""
        self.table, self.intercept = (self.table + table) / 2, (self.intercept + intercept) / 2
        self.sums = self.design.sums(self.table)

    def smooth(self) -> None:
        """One step of REML for the strengths, and for the precisions of the increments."""
        self._factor = None
        self.lam = self.penalties.strengths(self.table, self.V, self.phi, self.lam, self.tau, self.free)
        self.steps += 1
        if self.steps > _SETTLED:
            self.tau = self.penalties.precisions(self.table, self.V, self.phi, self.lam, self.free)
