"""The axes of an ALE plot: where their points stand, and how each row moves between neighbouring points.

A numeric axis has K + 1 points, the bin edges, and K cells, the bins; a row in bin k moves from the lower
to the upper edge of its bin. A nominal axis has one point and one cell per level, in an order; a row
moves from its level up to the next and down to the previous one. Everything ALE does afterwards
(differences, accumulation, centring) is the same for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.data.grid import bin_index, given_codes, quantile_edges
from pellucid.errors import InputError
from pellucid.words import listed


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


# -- the axes of features ----------------------------------------------------------------------------


def make_axes(data: Data, chosen: tuple[int, ...], bins: Any, order: Sequence[Any] | None = None) -> tuple[Axis, ...]:
    """One axis per feature: quantile bins, the given edges, or categories in order."""
    per_feature = (
        list(bins)
        if len(chosen) > 1 and isinstance(bins, tuple | list) and len(bins) == len(chosen)
        else [bins] * len(chosen)
    )
    orders = _orders(data, chosen, order)
    axes = tuple(_axis(data, j, b, o) for j, b, o in zip(chosen, per_feature, orders, strict=True))
    if not data.weights[np.all([axis.cell >= 0 for axis in axes], axis=0)].any():
        names = listed([repr(data.schema.names[j]) for j in chosen])
        raise InputError(f"no row has a value of {names} inside the bins; give edges that span the data.")
    return axes


def _orders(data: Data, chosen: tuple[int, ...], order: Sequence[Any] | None) -> list[Sequence[Any] | None]:
    """The order given for each feature: one list for the only categorical one, or a list for each of several."""
    nominal = [data.schema.features[j].nominal for j in chosen]
    if order is None:
        return [None] * len(chosen)
    if not any(nominal):
        raise InputError(f"order= is for categories, but {data.schema.names[chosen[0]]!r} has none; leave it out.")
    if sum(nominal) == 1:
        return [order if is_nominal else None for is_nominal in nominal]
    if len(order) != sum(nominal) or any(isinstance(part, str) or not isinstance(part, Sequence) for part in order):
        which = "two categorical features is a pair" if sum(nominal) == 2 else "categorical features is a list"
        raise InputError(f"order= for {which} of lists, one for each.")
    lists = iter(order)
    return [next(lists) if is_nominal else None for is_nominal in nominal]


def _axis(data: Data, j: int, bins: Any, order: Sequence[Any] | None) -> Axis:
    feature, codes = data.schema.features[j], data.codes(j)
    if feature.empty:
        raise InputError(f"feature {feature.name!r} is missing in every row; there is no value to show an effect at.")
    if feature.nominal:
        levels, _ = level_orders(data, j, order)
        position = np.full(int(levels.max()) + 1, -1)
        position[levels] = np.arange(len(levels))
        cell = np.where(np.isnan(codes), -1, position[np.nan_to_num(codes).astype(np.intp)])
        return Axis(levels.astype(np.float64), cell.astype(np.intp), True)
    if np.ndim(bins) == 0:
        edges = quantile_edges(codes, bins, data.weights)
        if len(edges) < 2:  # a constant: one level, no steps
            return Axis(edges, np.where(np.isnan(codes), -1, 0), True)
    else:
        edges = given_codes(feature, bins)
        if len(edges) < 2 or (np.diff(edges) <= 0).any():
            raise InputError(f"bins= for feature {feature.name!r} must be at least two increasing edges.")
    return Axis(edges, bin_index(codes, edges), False)


# -- the order of categories -----------------------------------------------------------------------
#
# An order for categories: neighbours are the categories whose rows look alike in the other features.
#
# Apley and Zhu 2020. The distance of two categories is the sum over the other features of the
# Kolmogorov-Smirnov distance (numeric) or the total variation distance (half the sum of absolute
# differences of relative frequencies, categorical). Classical multidimensional scaling turns the
# distances into positions on a line, and the line into an order.


def level_orders(data: Data, j: int, given: Sequence[Any] | None = None) -> tuple[IntArray, IntArray | None]:
    """Codes of the levels of feature ``j`` in order, and the second-best order where the order was ours."""
    feature = data.schema.features[j]
    if given is not None:
        return _given_order(data, j, given), None
    levels = np.unique(data.codes(j)[~np.isnan(data.codes(j))]).astype(np.intp)
    if feature.kind in ("ordered", "boolean") or len(levels) < 3:
        return levels, None
    coordinates = classical_scaling(level_distances(data, j, levels))
    if not coordinates.any():
        return levels, None
    best = _order_along(levels, coordinates[:, 0])
    second = _order_along(levels, coordinates[:, 1]) if coordinates.shape[1] > 1 else levels
    return best, second


def _given_order(data: Data, j: int, given: Sequence[Any]) -> IntArray:
    feature = data.schema.features[j]
    array = np.empty(len(given), dtype=object)
    array[:] = list(given)
    codes = feature.encode(array).astype(np.intp)
    absent = set(np.unique(data.codes(j)[~np.isnan(data.codes(j))]).astype(int)) - set(codes.tolist())
    if absent:
        level = feature.decode(np.array([float(min(absent))]))[0]
        raise InputError(
            f"order= leaves out the category {level!r} of feature {feature.name!r}; name every category once."
        )
    if len(set(codes.tolist())) != len(codes):
        raise InputError(f"order= names a category of feature {feature.name!r} twice.")
    return codes


def _order_along(levels: IntArray, line: FloatArray) -> IntArray:
    """Levels by position; of the two directions the one that agrees better with the levels' own order."""
    order = levels[np.argsort(line, kind="stable")]
    agreement = np.corrcoef(np.arange(len(order)), order)[0, 1]
    return order[::-1].copy() if agreement < 0 else order


def level_distances(data: Data, j: int, levels: IntArray) -> FloatArray:
    """Sum of the distances between levels over all other features."""
    codes = data.codes(j)
    distances = np.zeros((len(levels), len(levels)))
    present = ~np.isnan(codes)
    groups = np.searchsorted(levels, codes[present])
    weights = data.weights[present]
    for k, feature in enumerate(data.schema.features):
        if k == j:
            continue
        column = data.codes(k)[present]
        nominal = feature.kind in ("categorical", "boolean")
        distances += _distances_over(column, groups, weights, len(levels), nominal)
    return distances


def _distances_over(
    column: FloatArray, groups: IntArray, weights: FloatArray, n_levels: int, nominal: bool
) -> FloatArray:
    """Distances between the distributions of one feature in each level."""
    known = ~np.isnan(column)
    values, index = np.unique(column[known], return_inverse=True)
    if len(values) < 2:
        return np.zeros((n_levels, n_levels))
    flat = groups[known] * len(values) + index
    table = np.bincount(flat, weights=weights[known], minlength=n_levels * len(values)).reshape(n_levels, len(values))
    total = table.sum(axis=1, keepdims=True)
    shares = np.divide(table, total, out=np.zeros_like(table), where=total > 0)
    if nominal:
        return np.array([0.5 * np.abs(shares - row).sum(axis=1) for row in shares])
    ecdf = np.cumsum(shares, axis=1)
    return np.array([np.abs(ecdf - row).max(axis=1) for row in ecdf])


def classical_scaling(distances: FloatArray) -> FloatArray:
    """Coordinates (levels, dimensions) from the double-centred squared distances, largest dimension first."""
    n = len(distances)
    centre = np.eye(n) - 1.0 / n
    eigenvalues, vectors = np.linalg.eigh(-0.5 * centre @ np.square(distances) @ centre)
    order = np.argsort(-eigenvalues, kind="stable")
    return np.asarray(vectors[:, order] * np.sqrt(np.maximum(eigenvalues[order], 0.0)))
