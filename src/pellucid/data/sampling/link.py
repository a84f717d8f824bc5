"""One column given others, as a law that can be drawn from and that says how likely a value is.

A number: a curve through it and its spread by kernel ridge (`pellucid.data.sampling.location_scale`), on its own scale
or on that of its normal scores, and a kernel density of what is left, of all rows or of groups for which alike is
predicted. Levels, and numbers of few values: shares by
kernel ridge of their indicators. A number that is sometimes missing is missing by a share of that kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data.sampling.candidates import Column, Regression, finished, level_fit, scale_of, scaled, sharpened
from pellucid.data.sampling.kernel_ridge import Fitted
from pellucid.data.sampling.location_scale import LocationScale

_WIDTH = 0.15  # of the density of residuals, in their standard deviations
_POINTS = 400
_GROUPS, _CLEARLY = 4, 2.0  # of residuals, and the standard errors by which they are better
_FALL = 30.0  # of the log density, over as much as all residuals span
LANDMARKS = 120


@dataclass(frozen=True, eq=False)
class Link:
    """Column ``j`` given the columns ``given``, each with its place in a row of codes."""

    j: int
    given: IntArray
    law: Number | Levels
    gap: Levels | None

    @classmethod
    def of(
        cls,
        codes: FloatArray,
        j: int,
        given: IntArray,
        nominal: BoolArray,
        weights: FloatArray,
        generator: np.random.Generator,
    ) -> Link:
        """Learn from rows of codes ``(n, p)``, all of which count."""
        absent = np.isnan(codes[:, j]) & ~nominal[j]
        column = Column(codes[:, j], bool(nominal[j]), codes[:, given], nominal[given], codes[:0, given], weights)
        gap = None
        if absent.any():
            marked = Column(absent.astype(np.float64), True, *_rest(column, slice(None)))
            gap = Levels.of(Regression.of(marked, generator, LANDMARKS))
            column = Column(codes[~absent, j], False, *_rest(column, ~absent))
        regression = Regression.of(column, generator, LANDMARKS)
        return cls(j, given, (Levels if column.few else Number).of(regression), gap)

    def draw(self, rows: FloatArray, u: FloatArray) -> FloatArray:
        """A value for each row of codes ``(n, p)``, at the share ``u`` of its distribution."""
        given = rows[:, self.given]
        if self.gap is None:
            return self.law.draw(given, u)
        missing = self.gap.shares(given)[:, -1]
        value = self.law.draw(given, np.clip((u - missing) / np.maximum(1.0 - missing, 1e-12), 0.0, 1.0))
        return np.where(u < missing, np.nan, value)

    def log_density(self, rows: FloatArray) -> FloatArray:
        """How likely the rows' own values are."""
        given, own = rows[:, self.given], rows[:, self.j]
        if self.gap is None:
            return self.law.log_density(given, own)
        missing = self.gap.shares(given)[:, -1]
        value = self.law.log_density(given, np.where(np.isnan(own), self.law.usual, own))
        return np.where(np.isnan(own), np.log(missing), np.log(1.0 - missing) + value)


def _rest(column: Column, rows: BoolArray | slice) -> tuple[FloatArray, BoolArray, FloatArray, FloatArray]:
    return column.given[rows], column.nominal, column.other, column.weights[rows]


@dataclass(frozen=True, eq=False)
class Number:
    """y = m(x) + s(x) e, with the density of e."""

    known: Regression
    scale: str
    fit: LocationScale
    left: Residuals

    @classmethod
    def of(cls, known: Regression) -> Number:
        """From the regression of the column."""
        scale, fit = scale_of(known)
        # Left in, residuals are too small, and left out too large; in between they are of the right size.
        e = fit.e * np.sqrt(1.0 - fit.location.leverage)
        location, spread = fit.at(known.ridge, known.blocks)
        return cls(known, scale, fit, Residuals.of(e, {"location": location, "spread": spread}))

    @property
    def usual(self) -> float:
        """Some value of the column."""
        return float(self.known.column.margin.values[0])

    def _placed(self, given: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.fit.at(self.known.ridge, self.known.encoding.blocks(given))

    def draw(self, given: FloatArray, u: FloatArray) -> FloatArray:
        location, spread = self._placed(given)
        e = self.left.quantile(u, {"location": location, "spread": spread})
        return finished(self.known.column, self.scale, location + spread * e)

    def log_density(self, given: FloatArray, own: FloatArray) -> FloatArray:
        location, spread = self._placed(given)
        e = (scaled(self.known.column.margin, self.scale, own) - location) / spread
        return self.left.log_density(e, {"location": location, "spread": spread}) - np.log(spread)


@dataclass(frozen=True, eq=False)
class Residuals:
    """Kernel densities of residuals: one for all rows, or one for each group of rows by what is predicted for them.

    ``by`` is what groups them ("" if nothing), ``edges`` the ends of the groups.
    """

    by: str
    edges: FloatArray
    at: FloatArray
    log: FloatArray
    below: FloatArray

    @classmethod
    def of(cls, e: FloatArray, predicted: Mapping[str, FloatArray]) -> Residuals:
        """Groups where residuals left out are clearly likelier in theirs than among all."""
        h = max(_WIDTH * float(e.std()), 1e-300)
        apart = np.exp(-0.5 * np.square((e[:, None] - e) / h)) / (h * np.sqrt(2 * np.pi))
        np.fill_diagonal(apart, 0.0)
        alone = _left_out(apart, np.zeros(len(e), dtype=np.intp), 1)
        by, edges, best = "", np.empty(0), 0.0
        for name, value in predicted.items():
            tried = np.unique(np.quantile(value, np.arange(1, _GROUPS) / _GROUPS))
            better = _left_out(apart, np.searchsorted(tried, value), len(tried) + 1) - alone
            if better.mean() > max(best, _CLEARLY * better.std() / np.sqrt(len(e))):
                by, edges, best = name, tried, float(better.mean())
        at = np.linspace(e.min() - 4 * h, e.max() + 4 * h, _POINTS)
        group = np.searchsorted(edges, predicted[by]) if by else np.zeros(len(e), dtype=np.intp)
        density = np.stack([_density(e[group == g], at, h) for g in range(len(edges) + 1)])
        below = np.cumsum(density, axis=1)
        return cls(by, edges, at, np.log(np.maximum(density, 1e-12)), below / below[:, -1:])

    def _group(self, n: int, predicted: Mapping[str, FloatArray]) -> IntArray:
        return np.searchsorted(self.edges, predicted[self.by]) if self.by else np.zeros(n, dtype=np.intp)

    def quantile(self, u: FloatArray, predicted: Mapping[str, FloatArray]) -> FloatArray:
        """Residuals at shares of their distribution."""
        found, group = np.empty(len(u)), self._group(len(u), predicted)
        for g, below in enumerate(self.below):
            found[group == g] = np.interp(u[group == g], below, self.at)
        return found

    def log_density(self, e: FloatArray, predicted: Mapping[str, FloatArray]) -> FloatArray:
        """Beyond the residuals that occur the nearer one is still the likelier one."""
        found, group = np.empty(len(e)), self._group(len(e), predicted)
        for g, log in enumerate(self.log):
            found[group == g] = np.interp(e[group == g], self.at, log)
        beyond = np.maximum(self.at[0] - e, e - self.at[-1]) / (self.at[-1] - self.at[0])
        return found - _FALL * np.maximum(beyond, 0.0)


def _density(e: FloatArray, at: FloatArray, h: float) -> FloatArray:
    """A kernel density of the residuals' own variance: the kernel's is taken off."""
    variance = float(e.var())
    e = e.mean() + (e - e.mean()) * np.sqrt(variance / (variance + h * h))
    return np.asarray(np.exp(-0.5 * np.square((at[:, None] - e) / h)).mean(axis=1) / (h * np.sqrt(2 * np.pi)))


def _left_out(apart: FloatArray, group: IntArray, groups: int) -> FloatArray:
    """The log density of each residual by the others of its group."""
    found = np.empty(len(group))
    for g in range(groups):
        own = np.flatnonzero(group == g)
        found[own] = apart[np.ix_(own, own)].sum(axis=1) / max(len(own) - 1, 1)
    return np.log(np.maximum(found, 1e-6 * found.max()))


@dataclass(frozen=True, eq=False)
class Levels:
    """Shares of the levels."""

    known: Regression
    fit: Fitted
    power: float
    values: FloatArray

    @classmethod
    def of(cls, known: Regression) -> Levels:
        """From the regression of the indicators."""
        return cls(known, *level_fit(known), known.column.margin.values)

    @property
    def usual(self) -> float:
        """Some value of the column."""
        return float(self.values[0])

    def shares(self, given: FloatArray) -> FloatArray:
        """Of each level, ``(rows, levels)``."""
        return sharpened(self.known.ridge.predict(self.fit, self.known.encoding.blocks(given)), self.power)

    def draw(self, given: FloatArray, u: FloatArray) -> FloatArray:
        below = np.cumsum(self.shares(given), axis=1)
        return np.asarray(self.values[np.minimum((below < u[:, None]).sum(axis=1), len(self.values) - 1)])

    def log_density(self, given: FloatArray, own: FloatArray) -> FloatArray:
        place = self.known.column.margin.places(own)
        shares = self.shares(given)
        found = shares[np.arange(len(shares)), np.maximum(place, 0)]
        return np.log(np.where(place < 0, 1.0 / shares.shape[1], found))  # a level never seen says nothing
