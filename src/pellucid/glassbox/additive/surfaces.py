"""Functions of two features: bilinear surfaces on a grid of knots and levels, one band matrix each.

Definition. With f the heights of a surface at the nodes of its grid, the penalty is

    sum over axes a, lam_a sum over neighbours e, e' along a tau_e (f_e - f_e')^2 + lam_0 sum_nodes f^2,

along numbers only (levels of a category are not in order); each axis has its own strength, as a surface can be rough
along one and smooth along the other. The matrix of the penalised fit is a band as wide
as the shorter axis: its Cholesky factor, and Takahashi's entries of the inverse inside the band, are all that REML
(Fellner and Schall) needs; tr(S^-1 S_k) of the overlapping penalties comes from the band of the prior's own
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

    def neighbours(self) -> list[tuple[IntArray, IntArray]]:
        """The lower and the higher node of every pair of neighbours, for each axis of numbers."""
        nodes = np.arange(self.shape[0] * self.shape[1]).reshape(self.shape)
        found = []
        for axis, along in zip(self.axes, (nodes, nodes.T), strict=True):
            if not axis.nominal and axis.present > 1:
                known = along[: axis.present]
                found.append((known[:-1].ravel(), known[1:].ravel()))
        return found

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
    ridge: float = _FIRST
    edf: float = 0.0
    lam: list[float] = field(init=False)
    tau: list[FloatArray] = field(init=False)
    table: FloatArray = field(init=False)
    sums: FloatArray = field(init=False)
    _kept: FloatArray | None = None

    def __post_init__(self) -> None:
        self.neighbours = self.grid.neighbours()
        self.lam = [_FIRST for _ in self.neighbours]
        self.tau = [np.ones(len(lower)) for lower, _ in self.neighbours]
        self.table = np.zeros(self.grid.shape[0] * self.grid.shape[1])
        self.sums = np.zeros(len(self.first[0]))

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
        band = np.zeros(shape)
        for (lower, higher), lam, tau in zip(self.neighbours, self.lam, self.tau, strict=True):
            np.add.at(band[0], lower, lam * tau)
            np.add.at(band[0], higher, lam * tau)
            np.subtract.at(band, (higher - lower, lower), lam * tau)
        band[0] += self.ridge
        return band

    def _smooth(self, f: FloatArray, Z: FloatArray, prior: FloatArray, phi: float) -> None:
        """One step of Fellner and Schall for all strengths, and of Student's t for the precisions."""
        factor, _ = lapack.dpbtrf(prior, lower=1)
        before = kernels.selected_inverse(factor)
        spread = np.square(f).sum() / phi
        ridge = self.ridge * max(float((before[0] - Z[0]).sum()), 1e-9) / max(float(spread), 1e-9)
        self.ridge = float(np.clip(ridge, 10 * _LEAST, _MOST))
        for a, (lower, higher) in enumerate(self.neighbours):
            moved, left = np.square(f[lower] - f[higher]) / phi, _variances(Z, lower, higher)
            gained = float((self.tau[a] * (_variances(before, lower, higher) - left)).sum())
            lam = self.lam[a] * max(gained, 1e-9) / max(float((self.tau[a] * moved).sum()), 1e-9)
            self.lam[a] = float(np.clip(lam, _LEAST, _MOST))
            tau = (_NU + 1.0) / (_NU + self.lam[a] * (moved + left))
            self.tau[a] = tau / np.exp(np.log(tau).mean())


def _variances(Z: FloatArray, lower: IntArray, higher: IntArray) -> FloatArray:
    """Of the differences of neighbours."""
    return np.asarray(Z[0, lower] + Z[0, higher] - 2.0 * Z[higher - lower, lower])
