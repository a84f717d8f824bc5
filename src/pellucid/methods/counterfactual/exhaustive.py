"""Exhaustive search: every allowed row, the nearest first.

Reference. None needed: it is the definition, and the slow twin of every other search.

Definition. All combinations of allowed values, sorted by their distance from x, asked until n reach the target. Where
every feature has finitely many values the first answer is proven to be the nearest.

Estimator. Numbers with more than ``grid`` allowed values are restricted to so many quantiles of the data: then
nothing is proven.

When it misleads:
1. with a ``grid`` the nearest answer may lie between its points;
2. the number of rows grows with the product of the numbers of values: restrict ranges and fix features.

Cost. At most the product of the numbers of values, in model rows; it is refused where that is above ``most``.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.checks import whole
from pellucid.errors import InputError
from pellucid.methods.counterfactual.search.pool import all_codes
from pellucid.methods.counterfactual.search.problem import Found, Problem
from pellucid.methods.counterfactual.search.walk_back import walk_back

_AT_ONCE = 4_096


def exhaustive(problem: Problem, n: int, *, polish: bool = True, grid: int = 20, most: int = 2_000_000) -> Found:
    """The n nearest of all allowed rows that reach the target."""
    axes, whole_axes = _axes(problem, whole("grid", grid, least=2))
    size = float(np.prod([len(axis) for axis in axes], dtype=np.float64))
    if size > whole("most", most):
        raise InputError(
            f"method='exhaustive' would look at {size:.3g} rows, more than most={most:,}; fix features, narrow"
            " ranges or"
            " lower grid=."
        )
    rows = _product(problem, axes)
    rows = rows[problem.changed(rows).any(axis=1)]
    rows = rows[problem.allowed(rows)]
    rows = rows[np.argsort(problem.cost.total(rows), kind="stable")]
    found = np.empty((0, len(problem.x)))
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        found = np.concatenate([found, some[problem.valid(some)]])
        if len(found) >= n:
            break
    proven = whole_axes and len(found) > 0
    lower = float(problem.cost.total(found[:1])[0]) if proven else None
    return Found(found if proven or not polish else walk_back(problem, found[:n]), proven, lower)


def _axes(problem: Problem, grid: int) -> tuple[list[FloatArray], bool]:
    """The combinations of each player, one after the other, and whether they are all that are allowed."""
    groups = {group.columns: group.combinations for group in problem.groups}
    codes, axes, complete = all_codes(problem.data), [], True
    for columns in problem.players:
        if columns in groups:
            axes.append(groups[columns])
            continue
        choices = problem.choices[columns[0]]
        values = choices.values
        if values is None or (len(values) > grid and not choices.nominal):
            known = codes[~np.isnan(codes[:, columns[0]]), columns[0]]
            points = np.append(np.quantile(known, np.linspace(0, 1, grid)) if len(known) else [], choices.own)
            values, complete = np.unique(choices.snap(points)), False
        axes.append(values[:, None])
    return axes, complete


def _product(problem: Problem, axes: list[FloatArray]) -> FloatArray:
    index = np.indices([len(axis) for axis in axes]).reshape(len(axes), -1)
    rows = np.empty((index.shape[1], len(problem.x)))
    for columns, axis, chosen in zip(problem.players, axes, index, strict=True):
        rows[:, list(columns)] = axis[chosen]
    return rows
