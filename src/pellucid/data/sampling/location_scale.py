"""A number given some columns: where it lies, how much it varies, and the residuals that are left.

    y = m(x) + s(x) e

m by kernel ridge regression, log s the same way on the logarithm of the absolute leave-one-out residual, kept only
where the held-out normal log score is clearly better (by two standard errors) than with one spread for all rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data.sampling.kernel_ridge import Fitted, KernelRidge

_SHRINKAGE = (0.25, 0.5, 0.75, 1.0)
_CLEARLY = 2.0  # standard errors
_FLOOR = 0.05  # of the median absolute residual
_FACTOR = 20.0  # between the spread of a row and that of most


@dataclass(frozen=True, eq=False)
class LocationScale:
    """The regressions of a number and of its spread.

    ``e`` are the leave-one-out residuals in units of the spread of their row, ``within`` the same within the sample
    (a residual that is added to a leave-one-out prediction has the variance of one that was left in).
    """

    location: Fitted
    spread: Fitted | None
    power: float
    level: float
    s: FloatArray

    @property
    def e(self) -> FloatArray:
        return self.location.residual / self.s

    @property
    def within(self) -> FloatArray:
        return self.e * (1.0 - self.location.leverage)

    @property
    def plain(self) -> bool:
        """Nothing but a line and one spread."""
        return self.spread is None and self.location.name in ("constant", "linear")

    def of_log(self, log: FloatArray) -> FloatArray:
        """Spreads of predicted logarithms."""
        return np.exp(np.clip(self.power * (log - self.level), -np.log(_FACTOR), np.log(_FACTOR)))

    def at(self, ridge: KernelRidge, blocks: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Location and spread of other rows."""
        location = ridge.predict(self.location, blocks)[:, 0]
        if self.spread is None:
            return location, np.ones(len(location))
        return location, self.of_log(ridge.predict(self.spread, blocks)[:, 0])

    def along(
        self, ridge: KernelRidge, k: int, grid: FloatArray, blocks: list[FloatArray] | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Location and spread ``(rows, grid)`` with block ``k`` set to each line of a grid."""
        location = ridge.along(self.location, k, grid, blocks)
        if self.spread is None:
            return location, np.ones(location.shape)
        return location, self.of_log(ridge.along(self.spread, k, grid, blocks))

    def normal_score(self) -> float:
        """The mean held-out log density under a normal law."""
        e = self.e
        return float(np.mean(-0.5 * np.square(e / e.std()) - np.log(e.std() * self.s)))


def location_scale(ridge: KernelRidge, y: FloatArray) -> LocationScale:
    """Fit both to the learning rows of the regression."""
    location = ridge.fit(y)
    r = location.residual
    ones = np.ones(len(y))
    one = LocationScale(location, None, 0.0, 0.0, ones)
    if not r.std() > 1e-12 * max(float(np.abs(y).max()), 1e-300):
        return one
    spread = ridge.fit(np.log(np.abs(r) + _FLOOR * np.median(np.abs(r)) + 1e-300))
    if spread.name == "constant":
        return one
    level, best, gain = float(spread.loo.mean()), one, 0.0
    before = -0.5 * np.square(r / r.std()) - np.log(r.std())
    for power in _SHRINKAGE:
        tried = LocationScale(location, spread, power, level, ones)
        s = tried.of_log(spread.loo)
        e = r / s
        better = -0.5 * np.square(e / e.std()) - np.log(e.std() * s) - before
        mean = float(better.mean())
        if mean > _CLEARLY * better.std() / np.sqrt(len(y)) and mean > gain:
            best, gain = LocationScale(location, spread, power, level, s), mean
    return best
