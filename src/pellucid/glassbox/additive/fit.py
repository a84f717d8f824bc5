"""The whole fit of an additive model: axes, functions of one feature, pairs that pay, and what is kept of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.glassbox.additive.axes import Axis, axis_of
from pellucid.glassbox.additive.constraints import cones_of
from pellucid.glassbox.additive.families import Family
from pellucid.glassbox.additive.functions import Design, Functions
from pellucid.glassbox.additive.mains import EXACT, Target, fit_functions, sums_of
from pellucid.glassbox.additive.pairs import Pairs, Settings
from pellucid.glassbox.additive.penalties import Penalties
from pellucid.glassbox.additive.purify import along, pure
from pellucid.glassbox.additive.screen import Candidate
from pellucid.glassbox.additive.surfaces import Grid

_ENTRIES = 2400  # knots of all features together, roughly: the fit takes the cube of it
_LEAST_KNOTS = 8


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
    pairs = Pairs(codes, axes, target, functions, settings)
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


def _kept(design: Design, target: Target, functions: list[Functions], pairs: Pairs, steps: int) -> Fitted:
    """The fit without its rows; pairs are pure, and functions have mean zero."""
    starts, axes, weights = design.starts, design.axes, target.weights
    mass = design.right(weights) / weights.sum()
    tables = [np.stack([f.table[_own(starts, j)] for f in functions], axis=1) for j in range(len(axes))]
    surfaces = [np.stack([pairs.table(q, k) for k in range(len(functions))], axis=-1) for q in range(len(pairs.grids))]
    for q, grid in enumerate(pairs.grids):
        weight = grid.mass(*pairs.placed_on(grid), weights)
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
    pair_edf = pairs.edf()
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


def _own(starts: IntArray, j: int) -> slice:
    return slice(int(starts[j]), int(starts[j + 1]))


def _covariances(functions: list[Functions], mass: FloatArray, own: slice) -> FloatArray:
    """Of the entries of a feature less their mean over the rows."""
    centre = np.eye(own.stop - own.start) - mass[own]
    return np.stack([each.phi * centre @ each.V[own, own] @ centre.T for each in functions])
