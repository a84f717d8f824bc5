"""The pairs of a fit: which pay, and what they say.

Pairs that a test finds in what the functions of one feature leave over (`screen`) are fitted after these. First the
products of pairs of numbers, all at once (`products`); then what products cannot say, a surface for each pair
(`surfaces`), one after another; in rounds with a step of the functions in between, until the sums stay as they are.
Last the pairs that the test did not find, if they are beyond chance together (`weak`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.glassbox.additive.axes import Axis
from pellucid.glassbox.additive.functions import Functions
from pellucid.glassbox.additive.mains import Target, fit_functions, sums_of
from pellucid.glassbox.additive.products import Products, columns_of, heights, is_straight
from pellucid.glassbox.additive.screen import Candidate, Cells, candidates, significant
from pellucid.glassbox.additive.surfaces import Grid, Placed, Surface
from pellucid.glassbox.additive.weak import WeakPairs, affordable, chance, columns_along

_PER_FEATURE = 3  # pairs, at most, times the features
_FLAT = 0.5  # degrees of freedom below which a pair says nothing
_SMOOTHED = 4  # rounds in which the strengths of functions change; with products alone, none
_JOINT = 3  # rounds of weak pairs, which are fitted with the functions at once
_NEAR = 3e-3  # rounds end when sums move by less, as a share of their spread


@dataclass(frozen=True)
class Settings:
    """What a fit is told: see `AdditiveModel`."""

    knots: int = 64
    pair_knots: int = 24
    pairs: Literal["auto", "strong"] | int | tuple[tuple[int, int], ...] = 0
    shapes: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    steps: int = 30
    rounds: int = 12
    false: float = 0.05  # of the pairs that are found one by one, those that are none
    together: float = (
        0.3  # the chance of the evidence for all others: REML shrinks them, so that false ones cost little
    )
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
        self._weak: list[WeakPairs] = []  # those of pairs that matter together
        self._surfaces: dict[tuple[int, int], list[Surface]] = {}  # by the features of their grid
        self._coarse: dict[int, Axis] = {}
        self._placed: dict[int, Placed] = {}

    def fit(self) -> None:
        """Chooses pairs and fits them."""
        if self.settings.pairs == 0 or len(self.axes) < 2:
            return
        self.grids = [self._grid(j, k) for j, k in self._chosen()]
        if self.grids:
            self._strong()
        nothing_left = self.target.family.dispersed and self.functions[0].phi <= 2.0 * self.target.least
        if self.settings.pairs == "auto" and not nothing_left:
            self._together()

    def _strong(self) -> None:
        """Fits the pairs that were chosen one by one."""
        straight = [grid for grid in self.grids if is_straight(grid)]
        if straight:
            self._products = self._started(straight)
            self._rounds()
        for grid in self.grids:
            self._surfaces[grid.features] = [Surface(grid, *self.placed_on(grid)) for _ in self.functions]
        self._rounds()
        if self.settings.pairs in ("auto", "strong"):
            self._leave_out()

    def table(self, q: int, k: int) -> FloatArray:
        """The surface of the q-th pair in the k-th sum: its product and what was beyond."""
        grid = self.grids[q]
        found = np.zeros(grid.shape)
        if grid.features in self._surfaces:
            found = found + self._surfaces[grid.features][k].table.reshape(grid.shape)
        for products in (self._products, self._weak):
            if products and grid.features in products[k].pairs:
                found = found + products[k].table(grid.features)
        return found

    def edf(self) -> FloatArray:
        """Degrees of freedom ``(pairs, sums)``."""
        found = np.zeros((len(self.grids), len(self.functions)))
        for q, grid in enumerate(self.grids):
            found[q] = [surface.edf for surface in self._surfaces.get(grid.features, ())] or 0.0
            for products in (self._products, self._weak):
                if products and grid.features in products[0].pairs:
                    found[q] += [each.edf[each.pairs.index(grid.features)] for each in products]
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
        if wanted in ("auto", "strong"):
            return [each.features for each in significant(found, self.settings.false)[: _PER_FEATURE * len(self.axes)]]
        return [each.features for each in found[: int(wanted)]]

    def _together(self) -> None:
        """Adds the other pairs, if together they are beyond chance."""
        chosen = {frozenset(grid.features) for grid in self.grids}
        others = [pair for pair in combinations(self._allowed(), 2) if frozenset(pair) not in chosen]
        grids = {grid.features: grid for grid in (self._grid(*pair) for pair in others)}
        used = {j for pair in others for j in pair}
        nodes = {j: columns_along(self._coarse[j], self._placed[j], self.target.weights) for j in used}
        entries = self.functions[0].design.size
        pairs = affordable([pair for pair in grids if columns_of(pair, nodes)], nodes, len(self.codes), entries)
        if not pairs:
            return
        used = {j for pair in pairs for j in pair}
        along = {j: nodes[j] for j in used}, {j: self._placed[j] for j in used}
        weak = [WeakPairs(pairs, *along, functions=each) for each in self.functions]
        eta = sums_of(self.functions, self.target.offset)
        seen = [each.evidence(*self.target.working(eta, k), self.functions[k].phi) for k, each in enumerate(weak)]
        if chance(seen) > self.settings.together:
            return
        strong, self._weak, self.grids = self.grids, weak, [*self.grids, *(grids[pair] for pair in pairs)]
        self._rounds(_JOINT)
        if sum(each.edf.sum() for each in weak) < _FLAT:
            self._weak, self.grids = [], strong
            self._rounds()

    def screen(self) -> list[Candidate]:
        """All pairs, by what the sums leave over."""
        eta = sums_of(self.functions, self.target.offset)
        worked = [self.target.working(eta, k) for k in range(eta.shape[1])]
        weights = np.stack([weight for weight, _ in worked], axis=1)
        root = np.sqrt([each.phi for each in self.functions])
        residuals = np.stack([weight * residual for weight, residual in worked], axis=1) / root
        rows = self.target.weights
        cells = [Cells.of(axis, self.codes[:, j], rows) for j, axis in enumerate(self.axes)]
        return candidates(cells, weights, residuals, self._allowed())

    def _allowed(self) -> list[int]:
        return [j for j in range(len(self.axes)) if j not in self.settings.shapes]

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

    def _rounds(self, most: int | None = None) -> None:
        """Products, surface after surface, then a step of the functions, until nothing moves."""
        before = sums_of(self.functions, self.target.offset)
        for turn in range(most or self.settings.rounds):
            self._offset()
            for parts in self._parts():
                self._turn(parts)
            used = float(self.edf().sum()) / len(self.functions)
            smooth = turn < _SMOOTHED and (bool(self._surfaces) or not self._products)
            fit_functions(self.target, self.functions, 2 if smooth and not turn else 1, other=used, smooth=smooth)
            now = sums_of(self.functions, self.target.offset)
            moved = np.sqrt(np.average(np.square(now - before).mean(axis=1), weights=self.target.weights))
            if turn and moved < _NEAR * self.target.spread(now):
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
        return [*(each for each in (self._products, self._weak) if each), *self._surfaces.values()]
