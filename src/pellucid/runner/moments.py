"""Weighted means and variances that can be added up batch by batch."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray


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
