"""Products: the first thing that two numbers say together, estimated for all chosen pairs at once.

Definition. With u_j the values of feature j, level beyond three robust standard deviations from the median and scaled
to mean 0 and variance 1, every pair of numbers has a column u_j u_k less its mean. Coefficients g are random with one
variance phi/lam for all pairs, so that many weak pairs lend each other strength; with V = (U'WU + lam I)^-1, REML's
step is

    g = V U'W z,        lam  <-  phi (q - lam tr V) / g'g.

A product is a surface like any other: u is a straight line between the nodes of the grid. What it cannot say, a surface
on the grid may (see `surfaces`).

When it misleads. Far from the median a product is level; what happens out there is left to the surface.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.glassbox.additive.axes import Axis, quantiles
from pellucid.glassbox.additive.surfaces import Grid, Placed

_FEWEST = 4  # knots of each number: on fewer, the grid itself is no rougher than a product
_REACH = 3.0 / 1.349  # interquartile ranges either side of the median: three standard deviations of a normal
_FIRST = 100.0
_STEPS = 5
_LEAST, _MOST = 1e-3, 1e9


def is_straight(grid: Grid) -> bool:
    """Whether a pair has a product: two numbers with enough knots."""
    return all(not axis.nominal and axis.present >= _FEWEST for axis in grid.axes)


def heights(axis: Axis, placed: Placed, weights: FloatArray) -> FloatArray:
    """u at the entries of an axis: mean 0 and variance 1 over the rows; 0 where the value is missing."""
    index, share = placed
    known = index < axis.present
    at, between, mass = index[known], share[known], weights[known]
    values = axis.points[at] + between * (axis.points[np.minimum(at + 1, axis.present - 1)] - axis.points[at])
    low, middle, high = quantiles(values, mass, 5)[1:4]
    reach = _REACH * (high - low)
    nodes = np.clip(axis.points, middle - reach, middle + reach)
    u = nodes[at] + between * (nodes[np.minimum(at + 1, axis.present - 1)] - nodes[at])
    mean = np.average(u, weights=mass)
    spread = float(np.sqrt(np.average(np.square(u - mean), weights=mass)))
    scaled = (nodes - mean) / (spread if spread > 0 else 1.0)
    return np.append(scaled, 0.0) if axis.missing else scaled


@dataclass(eq=False)
class Products:
    """The state of the fit of the products of one sum; ``nodes`` and ``placed`` are by feature."""

    pairs: Sequence[tuple[int, int]]
    nodes: dict[int, FloatArray]
    placed: dict[int, Placed]
    lam: float = _FIRST
    block: int = 8192  # rows at a time
    g: FloatArray = field(init=False)
    edf: FloatArray = field(init=False)
    sums: FloatArray = field(init=False)
    _kept: tuple[FloatArray, FloatArray] | None = None

    def __post_init__(self) -> None:
        self.g, self.edf = np.zeros(len(self.pairs)), np.zeros(len(self.pairs))
        self.sums = np.zeros(len(next(iter(self.placed.values()))[0]))

    def solve(self, weight: FloatArray, residual: FloatArray, phi: float, *, same_weights: bool) -> None:
        """One fit to what the rest leaves over, with REML's steps for the variance."""
        z, total = residual + self.sums, float(weight.sum())
        right = np.zeros(len(self.pairs))
        G, c = self._gathered(weight) if self._kept is None else self._kept
        for rows, U in self._columns():
            right += U.T @ (weight[rows] * z[rows])
        self._kept = (G, c) if same_weights else None
        right = right - c * float(weight @ z) / total
        G = G - np.outer(c, c / total)
        for _ in range(_STEPS):
            V = np.linalg.inv(G + self.lam * np.eye(len(G)))
            self.g = V @ right
            self.edf = 1.0 - self.lam * np.diag(V)
            spent = max(float(self.g @ self.g), 1e-12)
            self.lam = float(np.clip(phi * max(float(self.edf.sum()), 1e-9) / spent, _LEAST, _MOST))
        sums = np.concatenate([U @ self.g for _, U in self._columns()])
        self.sums = sums - float(weight @ sums) / total

    def table(self, pair: tuple[int, int]) -> FloatArray:
        """The product of a pair on the grid."""
        first, second = pair
        return np.asarray(self.g[self.pairs.index(pair)] * np.outer(self.nodes[first], self.nodes[second]))

    def _gathered(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        G, c = np.zeros((len(self.pairs), len(self.pairs))), np.zeros(len(self.pairs))
        for rows, U in self._columns():
            weighted = weight[rows, None] * U
            G += U.T @ weighted
            c += weighted.sum(axis=0)
        return G, c

    def _columns(self) -> Iterator[tuple[slice, FloatArray]]:
        """The columns, block of rows by block: all rows of all pairs at once could be more than fits in memory."""
        first: IntArray = np.array([j for j, _ in self.pairs])
        second: IntArray = np.array([k for _, k in self.pairs])
        used = np.unique(np.concatenate([first, second]))
        for start in range(0, len(self.sums), self.block):
            rows = slice(start, start + self.block)
            u = np.stack([self._along(int(j), rows) for j in used], axis=1)
            yield rows, u[:, np.searchsorted(used, first)] * u[:, np.searchsorted(used, second)]

    def _along(self, j: int, rows: slice) -> FloatArray:
        nodes, (index, share) = self.nodes[j], self.placed[j]
        at, between = index[rows], share[rows]
        return np.asarray(nodes[at] + between * (nodes[np.minimum(at + 1, len(nodes) - 1)] - nodes[at]))
