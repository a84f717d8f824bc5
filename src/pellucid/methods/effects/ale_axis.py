"""One axis of an ALE plot: where its points stand, and how each row moves between neighbouring points.

A numeric axis has K + 1 points, the bin edges, and K cells, the bins; a row in bin k moves from the lower
to the upper edge of its bin. A nominal axis has one point and one cell per level, in an order; a row
moves from its level up to the next and down to the previous one. Everything ALE does afterwards
(differences, accumulation, centring) is the same for both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Move:
    """Rows going from one stop to the next: the step they measure, and which rows take part."""

    start: int
    stop: int
    step: IntArray
    taking_part: BoolArray


@dataclass(frozen=True, eq=False)
class Axis:
    """Points in codes, in their order; for each row its cell (-1: missing or outside)."""

    points: FloatArray
    cell: IntArray
    nominal: bool

    @property
    def n_steps(self) -> int:
        """Number of steps between neighbouring points."""
        return len(self.points) - 1

    @property
    def n_cells(self) -> int:
        """Number of bins, or of levels."""
        return len(self.points) if self.nominal else self.n_steps

    def stops(self) -> IntArray:
        """Positions at which each row is predicted, ``(stops, rows)``: bin ends, or level before, own, after."""
        cell = np.maximum(self.cell, 0)
        if self.nominal:
            return np.stack([np.maximum(cell - 1, 0), cell, np.minimum(cell + 1, self.n_steps)])
        return np.stack([cell, cell + 1])

    def moves(self) -> list[Move]:
        """The differences each row contributes to."""
        inside = self.cell >= 0
        if not self.nominal:
            return [Move(0, 1, self.cell, inside)]
        up = inside & (self.cell < self.n_steps)
        down = inside & (self.cell > 0)
        return [Move(1, 2, self.cell, up), Move(0, 1, self.cell - 1, down)]

    def to_cells(self, values: FloatArray) -> FloatArray:
        """Values at points (first axis) as values of cells: bin midpoints, or the levels themselves."""
        return values if self.nominal else np.asarray((values[1:] + values[:-1]) / 2)

    def to_steps(self, mass: FloatArray) -> FloatArray:
        """Mass of cells (first axis) as mass of steps: the bins, or the mean of both levels."""
        return np.asarray((mass[1:] + mass[:-1]) / 2) if self.nominal else mass

    def places(self) -> FloatArray:
        """Where the steps stand, in units of the axis' range: midpoints of bins, or places in the order."""
        if self.nominal:
            return np.arange(self.n_steps) / max(self.n_steps, 1)
        return np.asarray(self.to_cells(self.points) / (self.points[-1] - self.points[0]))

    def mass(self, weights: FloatArray) -> FloatArray:
        """Weight of the rows in each cell."""
        inside = self.cell >= 0
        mass = np.bincount(self.cell[inside], weights=weights[inside], minlength=self.n_cells)
        return np.asarray(mass, dtype=np.float64)
