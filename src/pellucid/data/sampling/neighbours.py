"""What the absent features may be, given the known ones: weights over the reference rows, or draws.

Reference. Aas, Jullum and Loland 2021, "Explaining individual predictions when features are dependent" (their empirical
and Gaussian copula approaches); Scott 2015, "Multivariate density estimation" (the width); Geweke 1991 and Keane 1994
(draws of normal variables that are known to lie in intervals).

Definition. For the features S known to be x_S, the distribution of the others given X_S = x_S.

Estimators.

- `Neighbours`: the reference rows, weighted by how near they are to x in the features of S. Assumes nothing about the
  distribution, and only ever combines values that occurred together; needs many rows when many features are known.
- `Copula`: a normal distribution of scores, one per feature, with the features' own distributions. Works with few
  rows; knows monotone pairwise dependence only.

When they mislead.

1. With many features known hardly a row is near, and those that count are not near: `effective_sizes` says how many
   rows an estimate rests on.
2. Where the explained row is itself a reference row, it is its own nearest neighbour; ``own=False`` leaves it out.
3. At the edges of the data all neighbours lie on one side.
4. The copula sees no dependence without a trend (a parabola, a cycle), and of categories only what one order of their
   levels can show: the one along which their rows differ most in the other features.

Cost. No model rows. Neighbours: m n p for m coalitions, n rows, p features; copula: m n p^2 for n draws each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.data.sampling.margin import Margin, check_known, count_rows, nominal_features
from pellucid.data.table import Data
from pellucid.errors import InputError

_HALVINGS = 12


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Weights over the reference rows: a normal kernel of the distance in the known features.

    The distance of two numbers (ordered levels, dates) is that of their mid-ranks, as shares of the rows. With d of
    them known the kernel is exp(-(sum of squared distances) / (2 h^2)) with Scott's width h = n^(-1 / (d + 4)) /
    sqrt(12), the standard deviation of a rank times the rate that suits n rows in d dimensions. A row that has another
    category, or a missing value where the other has none, counts 1/n for each: rows that agree decide as long as there
    are some, and a category that no row has says nothing. With nothing known, or nothing that tells rows apart, the
    weights are those of the reference rows.

    Where so few rows are near that they count like fewer than ``least`` rows (or a tenth of all rows, if that is
    fewer), the kernel is flattened, raised to the largest power below one that lets as many count: a mean of two or
    three rows is noise. On normal data of 5 to 12 features that took a quarter to a half off the error where few rows
    were near, and changed little elsewhere.

    Attributes
    ----------
    codes
        The reference rows, ``(features, rows)``.
    ranks
        Their mid-ranks, NaN for missing values and for categories.
    mass
        How much each reference row counts.
    margins
        The distribution of each feature.
    width
        h, if not by the rule above.
    least
        How many rows an estimate rests on, at least; 0 never flattens the kernel.
    """

    codes: FloatArray
    ranks: FloatArray
    mass: FloatArray
    margins: tuple[Margin, ...]
    width: float | None = None
    least: float = 20.0

    @classmethod
    def of(cls, data: Data, *, width: float | None = None, least: float = 20.0) -> Neighbours:
        """Learn from the reference data."""
        if width is not None and not width > 0:
            raise InputError(f"width={width} is no width; give a share of the rows such as 0.1, or None.")
        codes = np.stack([data.codes(j) for j in range(len(data.schema.features))])
        return cls.of_columns(codes, nominal_features(data), data.weights, width=width, least=least)

    @classmethod
    def of_columns(
        cls, codes: FloatArray, nominal: BoolArray, weights: FloatArray, *, width: float | None, least: float
    ) -> Neighbours:
        """Learn from the codes ``(columns, rows)`` of some columns."""
        margins = tuple(
            Margin.of(column, weights, levels=bool(level)) for column, level in zip(codes, nominal, strict=True)
        )
        ranks = np.stack([_ranks(margin, column) for margin, column in zip(margins, codes, strict=True)])
        return cls(codes, ranks, weights, margins, width, least)

    def weights(self, row: FloatArray, known: BoolArray, *, own: bool = True) -> FloatArray:
        """For each coalition of ``known`` features ``(m, p)`` of one row ``(p,)``, the weights ``(m, n)`` of the rows;
        sums are one.

        ``own=False`` leaves out one reference row that equals the given one in every feature, if there is one.
        """
        row, known = np.asarray(row, dtype=np.float64), np.asarray(known, dtype=np.bool_)
        check_known(row, known, len(self.codes))
        rank = np.array([_ranks(margin, row[[j]])[0] for j, margin in enumerate(self.margins)])
        squares, differs = self._apart(rank[:, None], row[:, None])
        there = known.astype(np.float64)
        return self._kernel(there @ squares, there @ differs, there @ ~np.isnan(rank), self._mass(row[None], own=own))

    def weights_each(self, rows: FloatArray, known: BoolArray, *, own: bool = True) -> FloatArray:
        """As `weights`, for many rows ``(m, p)`` of which the same features ``(p,)`` are known: ``(m, n)``."""
        rows = np.asarray(rows, dtype=np.float64)
        shape = (len(rows), self.codes.shape[1])
        squares, differs, d = np.zeros(shape), np.zeros(shape), np.zeros(len(rows))
        for j in np.flatnonzero(known).tolist():
            rank = _ranks(self.margins[j], rows[:, j])
            parts = self._apart(rank[:, None], rows[:, [j]], j)
            squares += parts[0]
            differs += parts[1]
            d += ~np.isnan(rank)
        return self._kernel(squares, differs, d, self._mass(rows, own=own))

    def _apart(self, rank: FloatArray, codes: FloatArray, j: int | slice = slice(None)) -> tuple[FloatArray, BoolArray]:
        """Squared distances in rank, and whether categories differ."""
        apart = np.square(self.ranks[j] - rank)
        differs = np.where(np.isnan(apart), ~_equal(self.codes[j], codes), False)
        return np.where(np.isnan(apart), 0.0, apart), differs

    def _kernel(self, squares: FloatArray, differs: FloatArray, d: FloatArray, mass: FloatArray) -> FloatArray:
        """Weights ``(m, n)`` of sums over the known features, ``d`` of which are numbers."""
        n = count_rows(self.mass)
        h = n ** (-1.0 / (d + 4.0)) / np.sqrt(12.0) if self.width is None else np.full(len(d), self.width)
        kernel = -squares / (2.0 * np.square(h))[:, None] - differs * np.log(n)
        kernel[np.broadcast_to(mass == 0, kernel.shape)] = -np.inf  # such rows are nobody's nearest
        kernel -= kernel.max(axis=1, keepdims=True)
        weights = mass * np.exp(kernel * _flattening(kernel, mass * n / self.mass.sum(), self.least))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def _mass(self, rows: FloatArray, *, own: bool) -> FloatArray:
        """How much the reference rows count ``(m or 1, n)``; unless ``own``, less one row that equals the given one."""
        if own:
            return self.mass[None]
        same = _equal(self.codes[0], rows[:, [0]])
        for codes, column in zip(self.codes[1:], rows.T[1:], strict=True):
            same &= _equal(codes, column[:, None])
        there, unit = same @ self.mass, float(self.mass.sum()) / count_rows(self.mass)
        kept = 1.0 - np.minimum(unit / np.where(there > 0, there, np.inf), 1.0)
        left = self.mass * np.where(same, kept[:, None], 1.0)
        return np.where(left.any(axis=1, keepdims=True), left, self.mass)


def _flattening(kernel: FloatArray, counts: FloatArray, least: float) -> FloatArray:
    """The powers ``(m, 1)`` of the kernels, given as logarithms, that let ``least`` of the rows count; one where they
    do anyway. Rows that do not count have no kernel.
    """
    counts = np.broadcast_to(counts, kernel.shape)
    kernel = np.where(counts > 0, kernel, 0.0)
    wanted = np.minimum(least, counts.sum(axis=1) / 10)

    def enough(power: FloatArray, these: FloatArray, count: FloatArray, want: FloatArray) -> BoolArray:
        flat = np.exp(these * power[:, None])
        total, squares = (flat * count).sum(axis=1), (np.square(flat) * count).sum(axis=1)
        return np.asarray(np.square(total) >= want * squares)

    high = np.ones(len(kernel))
    few = ~enough(high, kernel, counts, wanted)
    low, high, some = np.zeros(few.sum()), high[few], (kernel[few], counts[few], wanted[few])
    for _ in range(_HALVINGS if few.any() else 0):
        middle = (low + high) / 2
        fits = enough(middle, *some)
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    power = np.ones(len(kernel))
    power[few] = low
    return power[:, None]


def _ranks(margin: Margin, codes: FloatArray) -> FloatArray:
    """Mid-ranks as shares of the rows; NaN for missing values and for categories."""
    if margin.levels:
        return np.full(codes.shape, np.nan)
    low, high = margin.intervals(codes)
    return np.where(np.isnan(codes), np.nan, (low + high) / 2)


def _equal(a: FloatArray, b: FloatArray) -> BoolArray:
    """Whether cells are the same, missing being the same as missing."""
    return np.asarray((a == b) | (np.isnan(a) & np.isnan(b)))
