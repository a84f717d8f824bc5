"""Variances over rows, and how they vary when the rows are drawn anew.

The parts of the predictions stay what they are; only the rows over which they are averaged are resampled, so that 200
draws cost next to nothing. With many rows, these are first dealt into a thousand lots at random, and whole lots are
drawn: the spread of a mean over lots is that of a mean over rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray, group_sums

DRAWS = 200
_LOTS = 1000
_LEVEL = (0.025, 0.975)


@dataclass(frozen=True, eq=False)
class Resampling:
    """Weights of the rows, the lot of each, and how often every lot is in each draw ``(draws, lots)``."""

    weights: FloatArray
    lot: IntArray
    counts: FloatArray

    @classmethod
    def of(cls, weights: FloatArray, generator: np.random.Generator) -> Resampling:
        n = len(weights)
        lots = min(n, _LOTS)
        dealt = np.arange(n) if lots == n else generator.permutation(n) * lots // n
        drawn = generator.integers(lots, size=(DRAWS, lots)) + lots * np.arange(DRAWS)[:, None]
        counts = np.bincount(drawn.reshape(-1), minlength=DRAWS * lots).reshape(DRAWS, lots)
        return cls(weights / weights.sum(), np.asarray(dealt, dtype=np.intp), counts.astype(np.float64))

    def centred(self, parts: FloatArray) -> FloatArray:
        """Parts ``(rows, ...)`` less their mean."""
        return np.asarray(parts - np.tensordot(self.weights, parts, axes=(0, 0)))

    def variances(self, centred: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The variance of each part of centred parts ``(rows, ...)``, and in every draw ``(draws, ...)``."""
        shape = centred.shape[1:]
        flat = centred.reshape(len(centred), -1)
        weighted = self.weights[:, None] * flat
        lots = self.counts.shape[1]
        first, second = group_sums(self.lot, lots, weighted), group_sums(self.lot, lots, weighted * flat)
        mass = self.counts @ group_sums(self.lot, lots, self.weights)
        mass = np.where(mass > 0, mass, np.nan)[:, None]
        drawn = self.counts @ second / mass - np.square(self.counts @ first / mass)
        return second.sum(axis=0).reshape(shape), np.maximum(drawn, 0.0).reshape(len(drawn), *shape)


def spread(draws: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Standard error and the bounds of a 95% interval from draws ``(draws, ...)``; draws that are undefined do not
    count.
    """
    if not np.isnan(draws).any():
        low, high = np.quantile(draws, _LEVEL, axis=0)
        return draws.std(axis=0, ddof=1), low, high
    enough = (~np.isnan(draws)).sum(axis=0) > DRAWS // 2
    filled = np.where(enough, draws, 0.0)
    low, high = np.nanquantile(filled, _LEVEL, axis=0)
    error = np.nanstd(filled, axis=0, ddof=1)
    unknown = np.where(enough, 0.0, np.nan)
    return error + unknown, low + unknown, high + unknown
