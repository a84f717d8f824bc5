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

from pellucid.arrays import FloatArray
from pellucid.glassbox.additive.axes import Axis, quantiles
from pellucid.glassbox.additive.surfaces import Grid, Placed

_FEWEST = 4  # knots of each number: on fewer, the grid itself is no rougher than a product
_REACH = 3.0 / 1.349  # interquartile ranges either side of the median: three standard deviations of a normal
_FIRST = 100.0
STEPS = 5
LEAST, MOST = 1e-3, 1e9


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
    return np.append(scaled, 0.0)[:, None] if axis.missing else scaled[:, None]


@dataclass(eq=False)
class Products:
    """The state of the fit of the products of one sum; ``nodes`` and ``placed`` are by feature."""

    pairs: Sequence[tuple[int, int]]
    nodes: dict[int, FloatArray]
    placed: dict[int, Placed]
    lam: float = _FIRST
    block: int = 8192  # rows at a time
    g: FloatArray = field(init=False)
    edf: FloatArray = field(init=False)  # of each pair
    sums: FloatArray = field(init=False)
    _kept: tuple[FloatArray, FloatArray] | None = None

    def __post_init__(self) -> None:
        self.counts = np.array([columns_of(pair, self.nodes) for pair in self.pairs], dtype=np.intp)
        self.g, self.edf = np.zeros(self.counts.sum()), np.zeros(len(self.pairs))
        self.sums = np.zeros(len(next(iter(self.placed.values()))[0]))

    def solve(self, weight: FloatArray, residual: FloatArray, phi: float, *, same_weights: bool) -> None:
        """One fit to what the rest leaves over, with REML's steps for the variance."""
        z, total = residual + self.sums, float(weight.sum())
        right = np.zeros(len(self.g))
        G, c = self._gathered(weight) if self._kept is None else self._kept
        for rows, U in self.columns():
            right += U.T @ (weight[rows] * z[rows])
        self._kept = (G, c) if same_weights else None
        right = right - c * float(weight @ z) / total
        G = G - np.outer(c, c / total)
        for _ in range(STEPS):
            V = np.linalg.inv(G + self.lam * np.eye(len(G)))
            self.g = V @ right
            each = 1.0 - self.lam * np.diag(V)
            spent = max(float(self.g @ self.g), 1e-12)
            self.lam = float(np.clip(phi * max(float(each.sum()), 1e-9) / spent, LEAST, MOST))
        self.edf = np.bincount(np.repeat(np.arange(len(self.pairs)), self.counts), each, len(self.pairs)).astype(
            np.float64
        )
        sums = np.concatenate([U @ self.g for _, U in self.columns()])
        self.sums = sums - float(weight @ sums) / total

    def table(self, pair: tuple[int, int]) -> FloatArray:
        """The products of a pair on the grid."""
        first, second = (self.nodes[j] for j in pair)
        at = self.pairs.index(pair)
        start = int(self.counts[:at].sum())
        g = self.g[start : start + self.counts[at]].reshape(first.shape[1], second.shape[1])
        return np.asarray(first @ g @ second.T)

    def columns(self) -> Iterator[tuple[slice, FloatArray]]:
        """The columns, block of rows by block: all rows of all pairs at once could be more than fits in memory."""
        used = sorted({j for pair in self.pairs for j in pair})
        starts = dict(zip(used, np.cumsum([0, *(self.nodes[j].shape[1] for j in used)]), strict=False))
        own = {j: starts[j] + np.arange(self.nodes[j].shape[1]) for j in used}
        first = np.concatenate([np.repeat(own[j], len(own[k])) for j, k in self.pairs])
        second = np.concatenate([np.tile(own[k], len(own[j])) for j, k in self.pairs])
        for start in range(0, len(self.sums), self.block):
            rows = slice(start, start + self.block)
            u = np.concatenate([self._along(j, rows) for j in used], axis=1)
            yield rows, u[:, first] * u[:, second]

    def _gathered(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        G, c = np.zeros((len(self.g), len(self.g))), np.zeros(len(self.g))
        for rows, U in self.columns():
            weighted = weight[rows, None] * U
            G += U.T @ weighted
            c += weighted.sum(axis=0)
        return G, c

    def _along(self, j: int, rows: slice) -> FloatArray:
        nodes, (index, share) = self.nodes[j], self.placed[j]
        at, between = index[rows], share[rows, None]
        return np.asarray(nodes[at] + between * (nodes[np.minimum(at + 1, len(nodes) - 1)] - nodes[at]))


def columns_of(pair: tuple[int, int], nodes: dict[int, FloatArray]) -> int:
    """How many columns a pair has."""
    return nodes[pair[0]].shape[1] * nodes[pair[1]].shape[1]
