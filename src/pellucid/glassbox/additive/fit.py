"""The whole fit of an additive model: axes, functions of one feature, pairs that pay, and what is kept of them.

Pairs are fitted after the functions of one feature, one after another to what the rest leaves over, in rounds with a
step of the functions in between, until the sums stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.glassbox.additive.axes import Axis, axis_of
from pellucid.glassbox.additive.constraints import cones_of
from pellucid.glassbox.additive.families import Family
from pellucid.glassbox.additive.functions import Design, Functions
from pellucid.glassbox.additive.mains import EXACT, Target, fit_functions, sums_of
from pellucid.glassbox.additive.penalties import Penalties
from pellucid.glassbox.additive.purify import along, pure
from pellucid.glassbox.additive.screen import Candidate, Cells, candidates, significant
from pellucid.glassbox.additive.surfaces import Grid, Placed, Surface

_ENTRIES = 2400  # knots of all features together, roughly: the fit takes the cube of it
_LEAST_KNOTS = 8
_PER_FEATURE = 3  # pairs, at most, times the features
_FLAT = 0.5  # degrees of freedom below which a pair says nothing
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


@dataclass(eq=False)
class Fitted:
    """What is kept: axes, entries and covariances of every feature, pairs with their surfaces, by sum.

    ``tables`` has for each feature ``(entries, sums)``, ``covariances`` ``(sums, entries, entries)`` of the entries
    less their mean; ``surfaces`` for each grid ``(first, second, sums)``.
    """

    axes: tuple[Axis, ...]
    intercept: FloatArray
    tables: list[FloatArray]
    covariances: list[FloatArray]
    masses: list[FloatArray]  # (entries,): the share of the rows at each
    grids: list[Grid]
    surfaces: list[FloatArray]
    edf: FloatArray  # (features, sums)
    pair_edf: FloatArray  # (pairs, sums)
    strengths: FloatArray  # (features, sums)
    phi: FloatArray  # (sums,)
    deviance: float
    dispersion: float
    steps: int
    screened: tuple[Candidate, ...] = ()


def fit(
    codes: FloatArray,
    nominal: Sequence[bool],
    y: FloatArray,
    weights: FloatArray,
    offset: FloatArray,
    family: Family,
    settings: Settings,
) -> Fitted:
    """Fits targets ``(rows, sums)`` to codes ``(rows, features)``; ``offset`` (rows,) is added to every sum."""
    p = codes.shape[1]
    knots = min(settings.knots, max(_LEAST_KNOTS, _ENTRIES // p))
    axes = [axis_of(codes[:, j], weights, bool(nominal[j]), knots) for j in range(p)]
    design = Design.of(axes, codes)
    target = Target(family, y, weights, np.tile(offset[:, None], (1, y.shape[1])))
    functions = _started(target, design, settings)
    steps = fit_functions(target, functions, settings.steps, least=8, tolerance=settings.tolerance)
    pairs = _Pairs(codes, axes, target, functions, settings)
    pairs.fit()
    return _kept(design, target, functions, pairs, steps)


def _started(target: Target, design: Design, settings: Settings) -> list[Functions]:
    """Functions that are zero, and intercepts that give the mean."""
    family, y, weights = target.family, target.y, target.weights
    exposed = weights @ np.exp(target.offset) if family.link == "log" else weights.sum()
    start = family.start((weights @ y) / exposed)
    if family.link != "log":
        start = start - (weights @ target.offset) / weights.sum()
    penalties = Penalties.of_axes(design.axes, design.starts)
    cones = cones_of(settings.shapes, design.starts, {j: design.axes[j].points for j in settings.shapes})
    functions = [Functions(design, penalties, cones, float(each)) for each in start]
    if family.dispersed:
        alone = target.dispersion(sums_of(functions, target.offset), 1.0)
        target.least = max(EXACT * alone, target.least)
        for each in functions:
            each.phi = alone
    return functions


class _Pairs:
    """The pairs of a fit in the making: which, and one surface for each sum."""

    def __init__(
        self, codes: FloatArray, axes: list[Axis], target: Target, functions: list[Functions], settings: Settings
    ) -> None:
        self.codes, self.axes, self.target, self.functions = codes, axes, target, functions
        self.settings, self.own = settings, target.offset
        self.grids: list[Grid] = []
        self.surfaces: list[list[Surface]] = []
        self.screened: tuple[Candidate, ...] = ()
        self._coarse: dict[int, Axis] = {}
        self._placed: dict[int, Placed] = {}

    def fit(self) -> None:
        """Chooses pairs and fits them."""
        if self.settings.pairs == 0 or len(self.axes) < 2:
            return
        for j, k in self._chosen():
            self._add(j, k)
        if self.grids:
            self._rounds()
        if self.settings.pairs == "auto":
            self._leave_out()

    def _leave_out(self) -> None:
        """Pairs that REML has made flat are none."""
        pays = [max(surface.edf for surface in surfaces) >= _FLAT for surfaces in self.surfaces]
        if all(pays):
            return
        self.grids = [grid for grid, kept in zip(self.grids, pays, strict=True) if kept]
        self.surfaces = [surfaces for surfaces, kept in zip(self.surfaces, pays, strict=True) if kept]
        self._offset()
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

    def _add(self, j: int, k: int) -> None:
        for each in (j, k):
            if each not in self._coarse:
                axis = self.axes[each].coarser(self.codes[:, each], self.target.weights, self.settings.pair_knots)
                self._coarse[each] = axis
                index, share = axis.place(self.codes[:, each])
                self._placed[each] = index.astype(np.int64), share
        grid = Grid.of(j, k, self._coarse)
        first, second = (self._placed[each] for each in grid.features)
        self.grids.append(grid)
        self.surfaces.append([Surface(grid, first, second) for _ in self.functions])

    def _rounds(self) -> None:
        """Surface after surface, then a step of the functions, until nothing moves."""
        same = self.target.family.name in ("gaussian", "gamma")
        before = sums_of(self.functions, self.target.offset)
        for turn in range(self.settings.rounds):
            for surfaces in self.surfaces:
                for k, surface in enumerate(surfaces):
                    eta = sums_of(self.functions, self.target.offset)
                    weight, residual = self.target.working(eta, k)
                    surface.solve(weight, residual, self.functions[k].phi, same_weights=same)
                    self._offset()
            used = sum(surface.edf for surfaces in self.surfaces for surface in surfaces) / len(self.functions)
            fit_functions(self.target, self.functions, 1 if turn else 2, other=used)
            now = sums_of(self.functions, self.target.offset)
            if turn and np.sqrt(np.square(now - before).mean()) < _NEAR * max(float(now.std()), 1e-12):
                break
            before = now

    def _offset(self) -> None:
        total = self.own.copy()
        for surfaces in self.surfaces:
            for k, surface in enumerate(surfaces):
                total[:, k] += surface.sums
        self.target.offset = total


def _kept(design: Design, target: Target, functions: list[Functions], pairs: _Pairs, steps: int) -> Fitted:
    """The fit without its rows; pairs are pure, and functions have mean zero."""
    starts, axes, weights = design.starts, design.axes, target.weights
    mass = design.right(weights) / weights.sum()
    tables = [np.stack([f.table[_own(starts, j)] for f in functions], axis=1) for j in range(len(axes))]
    surfaces = [np.stack([s.table for s in each], axis=1).reshape(*grid.shape, -1) for grid, each in _zipped(pairs)]
    for q, (grid, each) in enumerate(_zipped(pairs)):
        weight = grid.mass(each[0].first, each[0].second, weights)
        for k in range(len(functions)):
            surfaces[q][..., k], *parts = pure(surfaces[q][..., k], weight)
            for j, coarse, part in zip(grid.features, grid.axes, parts, strict=True):
                tables[j][:, k] += along(coarse, part, axes[j])
    intercept = np.array([f.intercept for f in functions])
    means = [mass[_own(starts, j)] @ table for j, table in enumerate(tables)]
    tables = [table - mean for table, mean in zip(tables, means, strict=True)]
    intercept = intercept + sum(means)
    eta = sums_of(functions, target.offset)
    edf = np.stack([f.edf for f in functions], axis=1)
    pair_edf = np.array([[s.edf for s in each] for each in pairs.surfaces]).reshape(-1, len(functions))
    return Fitted(
        axes,
        intercept,
        tables,
        [_covariances(functions, mass, _own(starts, j)) for j in range(len(axes))],
        [mass[_own(starts, j)] for j in range(len(axes))],
        pairs.grids,
        surfaces,
        edf,
        pair_edf,
        np.stack([f.lam for f in functions], axis=1),
        np.array([f.phi for f in functions]),
        target.deviance(eta),
        target.dispersion(eta, float(edf.sum() + pair_edf.sum())),
        steps,
        pairs.screened,
    )


def _zipped(pairs: _Pairs) -> list[tuple[Grid, list[Surface]]]:
    return list(zip(pairs.grids, pairs.surfaces, strict=True))


def _own(starts: IntArray, j: int) -> slice:
    return slice(int(starts[j]), int(starts[j + 1]))


def _covariances(functions: list[Functions], mass: FloatArray, own: slice) -> FloatArray:
    """Of the entries of a feature less their mean over the rows."""
    centre = np.eye(own.stop - own.start) - mass[own]
    return np.stack([each.phi * centre @ each.V[own, own] @ centre.T for each in functions])
