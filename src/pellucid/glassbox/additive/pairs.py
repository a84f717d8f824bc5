"""The pairs of a fit: which pay, and what they say.

Pairs that a test finds in what the functions of one feature leave over (`screen`) are fitted after these. First the
products of pairs of numbers, all at once (`products`); then what products cannot say, a surface for each pair
(`surfaces`), one after another; in rounds with a step of the functions in between, until the sums stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.glassbox.additive.axes import Axis
from pellucid.glassbox.additive.functions import Functions
from pellucid.glassbox.additive.mains import Target, fit_functions, sums_of
from pellucid.glassbox.additive.products import Products, heights, is_straight
from pellucid.glassbox.additive.screen import Candidate, Cells, candidates, significant
from pellucid.glassbox.additive.surfaces import Grid, Placed, Surface

_PER_FEATURE = 3  # pairs, at most, times the features
_FLAT = 0.5  # degrees of freedom below which a pair says nothing
_SMOOTHED = 4  # rounds in which the strengths of functions change; with products alone, none
_NEAR = 3e-3  # rounds end when sums move by less, as a share of their spread


@dataclass(frozen=True)
class Settings:
    """What a fit is told: see `AdditiveModel`."""

    knots: int = 64
    pair_knots: int = 24
    pairs: Literal["auto"] | int | tuple[tuple[int, int], ...] = 0
    shapes: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    steps: int = 30
    rounds: int = 12
    false: float = 0.05
    tolerance: float = 1e-3


class Pairs:
    """The pairs of a fit in the making: which, their products and one surface for each sum."""

    def __init__(
        self, codes: FloatArray, axes: list[Axis], target: Target, functions: list[Functions], settings: Settings
    ) -> None:
        self.codes, self.axes, self.target, self.functions = codes, axes, target, functions
        self.settings, self.own = settings, target.offset
        self.grids: list[Grid] = []
        self.screened: tuple[Candidate, ...] = ()
        self._products: list[Products] = []  # one for each sum, or none
        self._surfaces: dict[tuple[int, int], list[Surface]] = {}  # by the features of their grid
        self._coarse: dict[int, Axis] = {}
        self._placed: dict[int, Placed] = {}

    def fit(self) -> None:
        """Chooses pairs and fits them."""
        if self.settings.pairs == 0 or len(self.axes) < 2:
            return
        self.grids = [self._grid(j, k) for j, k in self._chosen()]
        if not self.grids:
            return
        straight = [grid for grid in self.grids if is_straight(grid)]
        if straight:
            self._products = self._started(straight)
            self._rounds()
        for grid in self.grids:
            self._surfaces[grid.features] = [Surface(grid, *self.placed_on(grid)) for _ in self.functions]
        self._rounds()
        if self.settings.pairs == "auto":
            self._leave_out()

    def table(self, q: int, k: int) -> FloatArray:
        """The surface of the q-th pair in the k-th sum: its product and what was beyond."""
        grid = self.grids[q]
        found = self._surfaces[grid.features][k].table.reshape(grid.shape)
        if self._products and grid.features in self._products[k].pairs:
            found = found + self._products[k].table(grid.features)
        return np.asarray(found)

    def edf(self) -> FloatArray:
        """Degrees of freedom ``(pairs, sums)``."""
        found = np.zeros((len(self.grids), len(self.functions)))
        for q, grid in enumerate(self.grids):
            found[q] = [surface.edf for surface in self._surfaces.get(grid.features, ())] or 0.0
            if self._products and grid.features in self._products[0].pairs:
                found[q] += [each.edf[each.pairs.index(grid.features)] for each in self._products]
        return found

    def placed_on(self, grid: Grid) -> tuple[Placed, Placed]:
        """Where the rows are on a grid."""
        first, second = grid.features
        return self._placed[first], self._placed[second]

    def _leave_out(self) -> None:
        """Pairs that REML has made flat are none."""
        pays = self.edf().max(axis=1) >= _FLAT
        if pays.all():
            return
        self.grids = [grid for grid, kept in zip(self.grids, pays, strict=True) if kept]
        kept = [grid.features for grid in self.grids]
        self._surfaces = {features: each for features, each in self._surfaces.items() if features in kept}
        straight = [grid for grid in self.grids if is_straight(grid)]
        self._products = self._started(straight) if straight else []
        self._rounds()

    def _chosen(self) -> list[tuple[int, int]]:
        wanted = self.settings.pairs
        if isinstance(wanted, tuple):
            return list(wanted)
        found = self.screen()
        self.screened = tuple(found)
        if wanted == "auto":
            return [each.features for each in significant(found, self.settings.false)[: _PER_FEATURE * len(self.axes)]]
        return [each.features for each in found[:wanted]]

    def screen(self) -> list[Candidate]:
        """All pairs, by what the sums leave over."""
        eta = sums_of(self.functions, self.target.offset)
        worked = [self.target.working(eta, k) for k in range(eta.shape[1])]
        weights = np.stack([weight for weight, _ in worked], axis=1)
        root = np.sqrt([each.phi for each in self.functions])
        residuals = np.stack([weight * residual for weight, residual in worked], axis=1) / root
        rows = self.target.weights
        cells = [Cells.of(axis, self.codes[:, j], rows) for j, axis in enumerate(self.axes)]
        allowed = [j for j in range(len(self.axes)) if j not in self.settings.shapes]
        return candidates(cells, weights, residuals, allowed)

    def _grid(self, j: int, k: int) -> Grid:
        for each in (j, k):
            if each not in self._coarse:
                axis = self.axes[each].coarser(self.codes[:, each], self.target.weights, self.settings.pair_knots)
                self._coarse[each] = axis
                index, share = axis.place(self.codes[:, each])
                self._placed[each] = index.astype(np.int64), share
        return Grid.of(j, k, self._coarse)

    def _started(self, straight: list[Grid]) -> list[Products]:
        used = {j for grid in straight for j in grid.features}
        placed = {j: self._placed[j] for j in used}
        nodes = {j: heights(self._coarse[j], placed[j], self.target.weights) for j in used}
        pairs = [grid.features for grid in straight]
        return [Products(pairs, nodes, placed) for _ in self.functions]

    def _rounds(self) -> None:
        """Products, surface after surface, then a step of the functions, until nothing moves."""
        before = sums_of(self.functions, self.target.offset)
        for turn in range(self.settings.rounds):
            self._offset()
            for parts in self._parts():
                self._turn(parts)
            used = float(self.edf().sum()) / len(self.functions)
            smooth = turn < _SMOOTHED and (bool(self._surfaces) or not self._products)
            fit_functions(self.target, self.functions, 2 if smooth and not turn else 1, other=used, smooth=smooth)
            now = sums_of(self.functions, self.target.offset)
            if turn and np.sqrt(np.square(now - before).mean()) < _NEAR * max(float(now.std()), 1e-12):
                break
            before = now

    def _turn(self, parts: Sequence[Products | Surface]) -> None:
        """One fit of the products, or of a surface, in every sum."""
        same = self.target.family.name in ("gaussian", "gamma")
        for k, part in enumerate(parts):
            eta, before = sums_of(self.functions, self.target.offset), part.sums
            weight, residual = self.target.working(eta, k)
            part.solve(weight, residual, self.functions[k].phi, same_weights=same)
            self.target.offset[:, k] += part.sums - before

    def _offset(self) -> None:
        """What pairs add to each sum, beside what was given."""
        total = self.own.copy()
        for parts in self._parts():
            for k, part in enumerate(parts):
                total[:, k] += part.sums
        self.target.offset = total

    def _parts(self) -> list[Sequence[Products | Surface]]:
        return [*([self._products] if self._products else []), *self._surfaces.values()]
