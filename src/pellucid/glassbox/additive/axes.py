"""Where along a feature an additive model has its entries: knots of a number, levels of a category, one for missing.

Definition. A number has an entry at each knot and straight lines between them (hat functions), constant beyond the
ends. Knots are all distinct values where they are few, else quantiles of the rows (two thirds) and of the distinct
values (one third), so that both where the rows are and where the values reach are seen. A category has one entry per
level. Where values were missing when the model was fitted, one more entry, the last, stands for them. What has no entry
(a level never seen, a missing value where none was) adds nothing: index -1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray

_FEW = 160  # distinct values that all become knots


@dataclass(frozen=True, eq=False)
class Axis:
    """The entries of one feature: increasing ``points``, and one more if ``missing``."""

    points: FloatArray
    nominal: bool
    missing: bool

    @property
    def present(self) -> int:
        """Entries of values that are there."""
        return len(self.points)

    @property
    def size(self) -> int:
        """Entries in all."""
        return len(self.points) + self.missing

    def place(self, codes: FloatArray) -> tuple[IntArray, FloatArray]:
        """For each code the entry before it and how far it is on the way to the next, 0 to below 1."""
        gone = np.isnan(codes)
        index, share = self._levels(codes) if self.nominal else self._knots(codes)
        if gone.any():
            index = np.where(gone, self.present if self.missing else -1, index)
            share = np.where(gone, 0.0, share)
        return index.astype(np.int32), share

    def _levels(self, codes: FloatArray) -> tuple[IntArray, FloatArray]:
        nowhere = np.zeros(len(codes))
        if not self.present:
            return np.full(len(codes), -1), nowhere
        at = np.minimum(np.searchsorted(self.points, codes), self.present - 1)
        return np.where(self.points[at] == codes, at, -1), nowhere

    def _knots(self, codes: FloatArray) -> tuple[IntArray, FloatArray]:
        points = self.points
        if len(points) < 2:
            return np.full(len(codes), len(points) - 1), np.zeros(len(codes))
        inside = np.clip(codes, points[0], points[-1])
        left = np.clip(np.searchsorted(points, inside, side="right") - 1, 0, len(points) - 2)
        share = (inside - points[left]) / (points[left + 1] - points[left])
        there = share >= 1.0
        return np.where(there, left + 1, left), np.where(there, 0.0, share)

    def coarser(self, codes: FloatArray, weights: FloatArray, most: int) -> Axis:
        """The same axis on at most so many of its own knots; levels stay."""
        if self.nominal or self.present <= most:
            return self
        known = ~np.isnan(codes)
        wanted = quantiles(codes[known], weights[known], most)
        nearest = np.searchsorted((self.points[1:] + self.points[:-1]) / 2, wanted)
        ends = [0, self.present - 1]
        return Axis(self.points[np.unique(np.concatenate([nearest, ends]))], False, self.missing)


def axis_of(codes: FloatArray, weights: FloatArray, nominal: bool, most: int) -> Axis:
    """The axis of a feature, with at most so many knots (or all distinct values, where they are few)."""
    known = ~np.isnan(codes)
    missing = not known.all()
    present, mass = codes[known], weights[known]
    distinct = np.unique(present)
    if nominal or len(distinct) <= max(most, min(_FEW, 3 * most)):
        return Axis(distinct, nominal, missing)
    by_rows = quantiles(present, mass, max(most * 2 // 3, 2))
    by_values = quantiles(distinct, np.ones(len(distinct)), max(most // 3, 2))
    return Axis(np.unique(np.concatenate([by_rows, by_values])), False, missing)


def quantiles(values: FloatArray, weights: FloatArray, count: int) -> FloatArray:
    """The smallest value with at least a share q of the weight up to it, for ``count`` shares from 0 to 1.

    Shares are compared with a slack far below one row, so that a row of weight 3 is three rows to the last bit.
    """
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    wanted = np.linspace(0.0, 1.0, count) * reached[-1] * (1 - 1e-12)
    return values[order[np.minimum(np.searchsorted(reached, wanted), len(order) - 1)]]
