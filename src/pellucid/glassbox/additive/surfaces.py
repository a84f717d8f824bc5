"""Functions of two features: bilinear surfaces on a grid of knots and levels, one band matrix each.

Definition. With f the heights of a surface at the nodes of its grid, the penalty is

    lam sum over neighbours tau_e (f_e - f_e')^2 + lam_0 sum_nodes f^2,

neighbours along numbers only (levels of a category are not in order). The matrix of the penalised fit is a band as wide
as the shorter axis: its Cholesky factor, and Takahashi's entries of the inverse inside the band, are all that REML
(Fellner and Schall) needs; tr(S^-1 S_k) of the two overlapping penalties comes from the band of the prior's own
inverse. tau is Student's t again (see `penalties`): a surface may have a cliff.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import lapack

from pellucid.arrays import FloatArray, IntArray
from pellucid.glassbox.additive import kernels
from pellucid.glassbox.additive.axes import Axis

_NU = 3.0
_FIRST = 10.0
_LEAST, _MOST = 1e-4, 1e8

Placed = tuple[IntArray, FloatArray]  # of every row, the entry before its value and the share of the next


@dataclass(frozen=True, eq=False)
class Grid:
    """Where a pair of features has its nodes; the second axis is the shorter one."""

    features: tuple[int, int]
    axes: tuple[Axis, Axis]

    @staticmethod
    def of(j: int, k: int, axes: dict[int, Axis]) -> Grid:
        """The grid of two features."""
        first, second = (j, k) if axes[j].size >= axes[k].size else (k, j)
        return Grid((first, second), (axes[first], axes[second]))

    @property
    def shape(self) -> tuple[int, int]:
        """Nodes along each axis."""
        return self.axes[0].size, self.axes[1].size

    def neighbours(self) -> tuple[IntArray, IntArray]:
        """The lower and the higher node of every pair of neighbours."""
        nodes = np.arange(self.shape[0] * self.shape[1]).reshape(self.shape)
        lower, higher = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
        if not self.axes[0].nominal:
            along = nodes[: self.axes[0].present]
            lower.append(along[:-1].ravel())
            higher.append(along[1:].ravel())
        if not self.axes[1].nominal:
            along = nodes[:, : self.axes[1].present]
            lower.append(along[:, :-1].ravel())
            higher.append(along[:, 1:].ravel())
        return np.concatenate(lower).astype(np.intp), np.concatenate(higher).astype(np.intp)

    def sums(self, first: Placed, second: Placed, table: FloatArray) -> FloatArray:
        """The surface in each row."""
        out = np.zeros(len(first[0]))
        kernels.add_surface(*first, *second, self.shape[1], table.ravel(), out)
        return out

    def mass(self, first: Placed, second: Placed, weights: FloatArray) -> FloatArray:
        """How much weight of rows each node has."""
        found = np.zeros(self.shape[0] * self.shape[1])
        kernels.gather_surface_right(*first, *second, self.shape[1], weights, found)
        return found.reshape(self.shape)


@dataclass(eq=False)
class Surface:
    """The state of the fit of one surface of one sum."""

    grid: Grid
    first: Placed
    second: Placed
    lam: float = _FIRST
    ridge: float = _FIRST
    edf: float = 0.0
    table: FloatArray = field(init=False)
    tau: FloatArray = field(init=False)
    sums: FloatArray = field(init=False)
    _kept: FloatArray | None = None

    def __post_init__(self) -> None:
        self.lower, self.higher = self.grid.neighbours()
        self.table = np.zeros(self.grid.shape[0] * self.grid.shape[1])
        self.tau, self.sums = np.ones(len(self.lower)), np.zeros(len(self.first[0]))

    def solve(self, weight: FloatArray, residual: FloatArray, phi: float, *, same_weights: bool) -> None:
        """One penalised fit to what the rest leaves over, then one step of REML."""
        band, right = self._gathered(weight, residual + self.sums, same_weights)
        prior = self._prior(band.shape)
        factor, _ = lapack.dpbtrf(band + prior, lower=1)
        f, _ = lapack.dpbtrs(factor, right, lower=1)
        Z = kernels.selected_inverse(factor)
        self.edf = float((band[0] * Z[0]).sum() + 2.0 * (band[1:] * Z[1:]).sum())
        self._smooth(f, Z, prior, phi)
        sums = self.grid.sums(self.first, self.second, f)
        mean = float(weight @ sums / weight.sum())
        self.table, self.sums = f - mean, sums - mean

    def _gathered(self, weight: FloatArray, target: FloatArray, same: bool) -> tuple[FloatArray, FloatArray]:
        n, width = len(self.table), self.grid.shape[1]
        right = np.zeros(n)
        if same and self._kept is not None:
            kernels.gather_surface_right(*self.first, *self.second, width, weight * target, right)
            return self._kept, right
        band = np.zeros((min(width + 2, n), n))
        kernels.gather_surface(*self.first, *self.second, width, weight, target, band, right)
        self._kept = band if same else None
        return band, right

    def _prior(self, shape: tuple[int, int]) -> FloatArray:
        """The band of the penalty."""
        band, precision = np.zeros(shape), self.lam * self.tau
        np.add.at(band[0], self.lower, precision)
        np.add.at(band[0], self.higher, precision)
        np.subtract.at(band, (self.higher - self.lower, self.lower), precision)
        band[0] += self.ridge
        return band

    def _smooth(self, f: FloatArray, Z: FloatArray, prior: FloatArray, phi: float) -> None:
        """One step of Fellner and Schall for both strengths, and of Student's t for the precisions."""
        factor, _ = lapack.dpbtrf(prior, lower=1)
        before = kernels.selected_inverse(factor)
        spread = np.square(f).sum() / phi
        ridge = self.ridge * max(float((before[0] - Z[0]).sum()), 1e-9) / max(float(spread), 1e-9)
        self.ridge = float(np.clip(ridge, 10 * _LEAST, _MOST))
        if not len(self.lower):
            return
        moved, left = np.square(f[self.lower] - f[self.higher]) / phi, self._variances(Z)
        gained = float((self.tau * (self._variances(before) - left)).sum())
        lam = self.lam * max(gained, 1e-9) / max(float((self.tau * moved).sum()), 1e-9)
        self.lam = float(np.clip(lam, _LEAST, _MOST))
        tau = (_NU + 1.0) / (_NU + self.lam * (moved + left))
        self.tau = tau / np.exp(np.log(tau).mean())

    def _variances(self, Z: FloatArray) -> FloatArray:
        """Of the differences of neighbours."""
        return np.asarray(Z[0, self.lower] + Z[0, self.higher] - 2.0 * Z[self.higher - self.lower, self.lower])
