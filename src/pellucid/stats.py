"""Statistics that many methods share: intervals, log-odds, effective sizes, weighted means, quantiles, running moments.

>>> import numpy as np
>>> [round(float(end), 2) for end in interval(np.array(1.0), np.array(0.5))]
[0.02, 1.98]
>>> effective_size(np.array([2.0, 2.0, 2.0])), effective_size(np.array([1.0, 0.0, 0.0]))
(3.0, 1.0)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import stdtrit

from pellucid.arrays import FloatArray, IntArray, group_sums
from pellucid.errors import InputError

Z95 = 1.959963984540054  # standard errors on either side of a 95% interval of a normal estimate
_SMALL = 1e-100  # weights whose squares may be no numbers
_ROUNDING = 1e-9  # of shares of the weight
_MOST_LOG = 30.0  # of a ratio that is anything
_NO_TILT = 1e-6  # skewness of a t statistic that is none
_FLAT = 0.01  # how near Hall's transformation may come to where it is flat, and its inverse jumps


def interval(
    values: FloatArray, se: FloatArray, *, least: float = -np.inf, most: float = np.inf
) -> tuple[FloatArray, FloatArray]:
    """Ends of the normal 95% intervals, no lower than ``least`` and no higher than ``most``."""
    half = Z95 * np.asarray(se)
    return np.asarray(np.clip(values - half, least, most)), np.asarray(np.clip(values + half, least, most))


def wilson(share: FloatArray, size: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ends of Wilson's 95% intervals of shares of so many rows; not a number where there are none."""
    size = np.asarray(size, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        extra = np.where(size > 0, Z95**2 / size, np.nan)
        middle = (share + extra / 2) / (1 + extra)
        half = Z95 / (1 + extra) * np.sqrt(share * (1 - share) / size + extra / (4 * size))
    low, high = np.minimum(middle - half, share), np.maximum(middle + half, share)  # up to rounding they are
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def student(freedom: float) -> float:
    """Standard errors on either side of a 95% interval whose standard error was itself estimated."""
    return float(stdtrit(max(freedom, 1.0), 0.975))


def skewness(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Skewness along the first axis, less its bias for few values of equal weight; 0 where nothing varies."""
    size = effective_size(weights)
    rest = values - weighted_mean(values, weights)
    square = np.square(rest)
    variance, third = weighted_mean(square, weights), weighted_mean(square * rest, weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        raw = np.where(variance > 0, third / variance**1.5, 0.0)
    return np.asarray(raw * np.sqrt(size * (size - 1)) / (size - 2) if size > 2 else 0.0 * raw)


def skewed_interval(
    values: FloatArray, se: FloatArray, skew: FloatArray, size: float | FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Ends of 95% intervals of means (or sums of influences) over ``size`` skewed values, never below Student's."""
    size = np.maximum(np.asarray(size, dtype=np.float64), 2.0)
    return tilted_interval(values, se, np.asarray(skew) / np.sqrt(size), size - 1.0)


def tilted_interval(
    values: FloatArray, se: FloatArray, tilt: FloatArray, freedom: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The same of estimates that are skewed themselves, by ``tilt``: of a mean, skewness / sqrt(n).

    A long tail that the sample has not seen yet is on one side: the t statistic is skewed too, the other way. Hall's
    transformation (1992) g(t) = t + tilt (t^2/3 + 1/6) + tilt^2 t^3 / 27 takes most of that away; its inverse at the
    ends of Student's interval gives the ends of this one. Of a tilt so large that the transformation is flat there, as
    much counts as stays clear of that: an interval twice as wide would cover no more often.
    """
    ends = np.asarray(stdtrit(freedom, 0.975), dtype=np.float64)
    most = 3.0 * (np.sqrt(np.square(ends) + (1.0 - _FLAT) * 2.0 / 3.0) - ends)
    tilt = np.clip(tilt, -most, most)
    small = np.abs(tilt) < _NO_TILT
    safe = np.where(small, 1.0, tilt)

    def back(x: FloatArray) -> FloatArray:
        return np.asarray(np.where(small, x, 3.0 * (np.cbrt(1.0 + safe * (x - safe / 6.0)) - 1.0) / safe))

    low = np.maximum(ends, back(ends))
    high = np.maximum(ends, -back(-ends))
    return np.asarray(values - low * se), np.asarray(values + high * se)


def jackknife_interval(values: FloatArray, without: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Standard errors and the ends of 95% intervals of positive numbers, from what they are without each of several
    parts of the rows ``(parts, ...)``.

    Student's intervals of the logarithms, whose estimates are less skewed; 0 has none. Where the number vanishes
    without some part, it may be as little as 0, and its error is that of moving away from it.
    """
    parts = len(without)
    if parts < 2:
        unknown = np.full(values.shape, np.nan)
        return unknown, unknown, unknown
    scale = np.sqrt((parts - 1) / parts)
    sure = (values > 0) & (without > 0).all(axis=0)
    centre = np.where(sure, without.mean(axis=0), values)
    se = scale * np.sqrt(np.square(without - centre).sum(axis=0))
    logs = np.log(np.where(sure, without, 1.0))
    half = student(parts - 1) * scale * np.sqrt(np.square(logs - logs.mean(axis=0)).sum(axis=0))
    straight = student(parts - 1) * se
    low = np.where(sure, values * np.exp(-half), 0.0)
    high = np.where(sure, values * np.exp(np.minimum(half, _MOST_LOG)), values + straight)
    return se, np.asarray(low), np.asarray(high)


def logit(p: FloatArray, floor: float = 0.0) -> FloatArray:
    """Log-odds of probabilities, which are kept ``floor`` away from 0 and 1."""
    inside = np.clip(p, floor, 1.0 - floor) if floor else p
    return np.asarray(np.log(inside) - np.log1p(-inside))


def expit(x: FloatArray) -> FloatArray:
    """Probabilities of log-odds: the inverse of `logit`."""
    return np.asarray(1.0 / (1.0 + np.exp(-x)))


def softmax(x: FloatArray) -> FloatArray:
    """Probabilities of scores, the last axis being the classes."""
    shares = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


def effective_size(weights: FloatArray) -> float:
    """Kish's effective sample size, (sum w)^2 / sum w^2: n when all weights are equal."""
    total = float(weights.sum())
    return total * total / float(np.square(weights).sum()) if total > 0 else 0.0


def effective_sizes(weights: FloatArray) -> FloatArray:
    """Kish's effective size of each line of weights ``(m, n)``, also where all of them are very small."""
    largest = weights.max(axis=1, initial=0.0)
    if (largest < _SMALL).any():
        weights = weights / np.where(largest > 0, largest, 1.0)[:, None]
    squares = np.einsum("wi,wi->w", weights, weights)
    return np.asarray(np.square(weights.sum(axis=1)) / np.maximum(squares, 1e-300))


def weighted_mean(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Mean of ``values`` along the first axis with one weight per position of that axis."""
    return np.asarray(np.tensordot(weights, values, axes=(0, 0)) / weights.sum())


def standard_error(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Standard error of the weighted mean along the first axis: sd / sqrt(effective size); NaN for one row."""
    centre = weighted_mean(values, weights)
    size = effective_size(weights)
    if size <= 1.0 + 1e-9:
        return np.full(centre.shape, np.nan)
    variance = weighted_mean(np.square(values - centre), weights) * size / (size - 1.0)
    return np.asarray(np.sqrt(variance / size))


def weighted_quantiles(values: FloatArray, levels: FloatArray, weights: FloatArray) -> FloatArray:
    """Observed values at the given levels of the empirical distribution; missing values are left out."""
    counted = (weights > 0) & ~np.isnan(values)
    present, mass = (values, weights) if counted.all() else (values[counted], weights[counted])
    if not present.size:
        raise InputError("the feature is missing in every row that counts; there is nothing to bin.")
    if (mass == mass[0]).all():  # a plain sort is several times faster than an order
        ascending, cumulative = np.sort(present), np.arange(1.0, present.size + 1.0)
    else:
        order = np.argsort(present)
        ascending, cumulative = present[order], np.cumsum(mass[order])
    # The tolerance makes weights of two and duplicated rows fall on the same side of a quantile.
    positions = np.searchsorted(cumulative, levels * cumulative[-1] * (1 - 1e-12), side="left")
    return ascending[np.minimum(positions, present.size - 1)]


def weighted_median(values: FloatArray, weights: FloatArray) -> float:
    """The value with half of the weight at or below it; halfway between two values if both have."""
    order = np.argsort(values, kind="stable")
    share = np.cumsum(weights[order]) / weights.sum()
    at = int(np.searchsorted(share, 0.5 - _ROUNDING))
    if abs(share[at] - 0.5) <= _ROUNDING and at + 1 < len(order):
        return float((values[order[at]] + values[order[at + 1]]) / 2)
    return float(values[order[at]])


@dataclass(frozen=True, eq=False)
class GroupMoments:
    """Of the values ``(rows, outputs)`` of each group of rows, their weight (``mass``) and effective number (``size``),
    mean, standard deviation and third central moment, free of bias; NaN where too few rows are behind them.
    """

    mass: FloatArray
    size: FloatArray
    mean: FloatArray
    sd: FloatArray
    third: FloatArray

    @classmethod
    def of(cls, groups: IntArray, n: int, values: FloatArray, weights: FloatArray) -> Self:
        """The groups are 0 to ``n - 1``."""
        mass = np.asarray(np.bincount(groups, weights=weights, minlength=n), dtype=np.float64)
        squares = np.bincount(groups, weights=np.square(weights), minlength=n)
        with np.errstate(invalid="ignore", divide="ignore"):
            size = np.where(mass > 0, np.square(mass) / squares, 0.0)
            mean = group_sums(groups, n, weights[:, None] * values) / mass[:, None]
            rest = values - mean[groups]
            part = weights[:, None] * np.square(rest)
            variance = group_sums(groups, n, part) / mass[:, None] * (size / (size - 1))[:, None]
            third = group_sums(groups, n, part * rest) / mass[:, None]
            third = third * (np.square(size) / (size - 1) / (size - 2))[:, None]
        sd = np.where((size > 1 + _ROUNDING)[:, None], np.sqrt(np.maximum(variance, 0.0)), np.nan)
        return cls(mass, size, mean, sd, np.where((size > 2 + _ROUNDING)[:, None], third, np.nan))

    @property
    def skew(self) -> FloatArray:
        """Skewness; 0 where it is not known."""
        known = np.isfinite(self.third) & (self.sd > 0)
        return np.where(known, self.third, 0.0) / np.where(known, self.sd, 1.0) ** 3


class Moments:
    """Running weighted mean and variance over rows, one per variant and output.

    Batches are merged with the update of Chan, Golub and LeVeque, which does not cancel. The effective
    number of rows is Kish's (sum w)^2 / sum w^2.
    """

    def __init__(self, variants: int, outputs: int) -> None:
        self.mass = np.zeros(variants)
        self._mass2 = np.zeros(variants)
        self.mean = np.full((variants, outputs), np.nan)
        self._m2 = np.zeros((variants, outputs))

    def add(self, variants: slice, predictions: FloatArray, weights: FloatArray) -> None:
        """Take in predictions ``(variants, rows, outputs)`` with one weight per row."""
        mass = float(weights.sum())
        if mass <= 0:
            return
        single = predictions.shape[2] == 1  # a matrix is multiplied faster than a stack of columns
        values = predictions[:, :, 0] if single else predictions
        mean = (values @ weights)[:, None] if single else weights @ values
        mean /= mass
        rest = predictions - mean[:, None, :]
        squares = np.square(rest, out=rest)
        m2 = (squares[:, :, 0] @ weights)[:, None] if single else weights @ squares
        old = self.mass[variants]
        new = old + mass
        delta = mean - np.where(old[:, None] > 0, self.mean[variants], 0.0)
        shift = delta * (mass / new)[:, None]
        self.mean[variants] = np.where(old[:, None] > 0, self.mean[variants] + shift, mean)
        self._m2[variants] += m2 + np.where(old[:, None] > 0, np.square(delta) * (old * mass / new)[:, None], 0.0)
        self.mass[variants] = new
        self._mass2[variants] += float(np.square(weights).sum())

    def shifted(self, by: FloatArray) -> Moments:
        """Those of one variant, moved by ``by`` ``(variants, outputs)``: as many variants that differ in their means
        alone.
        """
        other = Moments(*by.shape)
        other.mass[:], other._mass2[:] = self.mass, self._mass2
        other.mean, other._m2[:] = self.mean + by, self._m2
        return other

    @property
    def effective(self) -> FloatArray:
        """Effective number of rows per variant."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self._mass2 > 0, np.square(self.mass) / self._mass2, 0.0)

    @property
    def sd(self) -> FloatArray:
        """Standard deviation over rows; NaN for a single row."""
        size = self.effective[:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = self._m2 / self.mass[:, None] * size / (size - 1.0)
        return np.where(size > 1.0 + 1e-9, np.sqrt(np.maximum(variance, 0.0)), np.nan)

    @property
    def se(self) -> FloatArray:
        """Standard error of the mean."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.sd / np.sqrt(self.effective)[:, None])
