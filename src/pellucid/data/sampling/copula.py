"""A Gaussian copula of the features: how they are correlated, apart from how each is distributed by itself.

Reference. Aas, Jullum and Loland 2021 (the Gaussian copula approach); Olsson 1979 (correlations of the normal scores
behind levels); Geweke 1991 and Keane 1994 (draws of normal variables that are known to lie in intervals).

When it misleads and what it costs: see `pellucid.data.sampling.neighbours`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data.sampling.margin import (
    Margin,
    check_known,
    count_rows,
    nominal_features,
    normal_density,
    normal_edges,
)
from pellucid.data.sampling.normal_scores import POINT, step_by_step
from pellucid.data.table import Data
from pellucid.errors import InputError

_MOST_ROWS = 20_000  # evenly spaced; more do not change a correlation
_MOST_SCORES = 2_000
_TERMS = 24  # of the series in powers of a correlation
_PASSES = 3  # over the features whose levels are put in order
_LEAST_EIGENVALUE = 1e-6
_BLOCK = 4_000_000  # numbers held at once while drawing


@dataclass(frozen=True, eq=False)
class Copula:
    """A Gaussian copula: each feature is a function of a score of its own, and the scores are jointly normal.

    A feature takes the value at the share Phi(score) of its own distribution, so that only values occur that do occur.
    Features that are not categories but are sometimes missing have a second score that says when. Given a row, the
    score of a known feature is known: to a point (the normal score of its mid-rank) where few rows have the same
    value, and to the interval of its level otherwise. The scores within their intervals are drawn one given the
    other and then resampled by what the later intervals say of the earlier ones (exact for one interval, and for
    several in the limit of many draws).

    Correlations of the scores are such that the levels correlate as in the data: the correlation r of the levels' mean
    scores is the sum of c_k c'_k rho^k in the features' Hermite coefficients c, solved for rho. Each is shrunk by the
    share of r^2 that sampling alone explains, (1 - r^2)^2 / (n - 1), and all of them by (q/n)^2 for q scores of n rows.

    Attributes
    ----------
    margins
        One per feature, then one (present or missing) per feature that has a second score.
    gaps
        The features that have a second score, in that order.
    correlation
        Of the scores, in the order of the margins.
    """

    margins: tuple[Margin, ...]
    gaps: tuple[int, ...]
    correlation: FloatArray

    @classmethod
    def of(cls, data: Data) -> Copula:
        """Learn from the reference data."""
        chosen = data.spread(_MOST_ROWS)
        chosen = chosen[data.weights[chosen] > 0]
        columns = [data.codes(j)[chosen] for j in range(len(data.schema.features))]
        return cls.of_columns(columns, nominal_features(data), data.weights[chosen])

    @classmethod
    def of_columns(cls, columns: list[FloatArray], nominal: BoolArray, weights: FloatArray) -> Copula:
        """Learn from the codes of some columns, all of whose rows count."""
        gaps = tuple(j for j, column in enumerate(columns) if not nominal[j] and np.isnan(column).any())
        columns = [*columns, *(np.isnan(columns[j]).astype(np.float64) for j in gaps)]
        if len(columns) > _MOST_SCORES:
            raise InputError(
                f"the copula is for at most {_MOST_SCORES} features, not {len(columns)}; leave features out, or use"
                " neighbours."
            )
        margins = [
            Margin.of(column, weights, levels=j >= len(nominal) or bool(nominal[j])) for j, column in enumerate(columns)
        ]
        margins = _order_levels(margins, columns, weights)
        return cls(tuple(margins), gaps, _correlation(margins, columns, weights))

    @property
    def n_features(self) -> int:
        """How many features a row has."""
        return len(self.margins) - len(self.gaps)

    def draw(
        self, row: FloatArray, known: BoolArray, n: int, generator: np.random.Generator, *, at_once: int = _BLOCK
    ) -> FloatArray:
        """For each coalition of ``known`` features ``(m, p)`` of one row ``(p,)``, ``n`` rows ``(m, n, p)`` that agree
        with it there.

        All coalitions use the same random numbers, so that their differences are not noise; those of each feature are
        spread evenly (a Latin hypercube).
        """
        row, known = np.asarray(row, dtype=np.float64), np.asarray(known, dtype=np.bool_)
        check_known(row, known, self.n_features)
        uniforms = spread_evenly(n, len(self.margins), generator)
        block = max(1, at_once // max(1, n * len(self.margins)))
        some = [known[i : i + block] for i in range(0, len(known), block)]
        parts = [self._draw(row[None], part, np.broadcast_to(uniforms, (len(part), *uniforms.shape))) for part in some]
        return np.concatenate(parts) if parts else np.empty((0, n, self.n_features))

    def draw_each(self, rows: FloatArray, known: BoolArray, n: int, generator: np.random.Generator) -> FloatArray:
        """As `draw`, for each of many rows: ``(m, n, rows, p)``; faster where every value is known to a point."""
        uniforms = np.stack([spread_evenly(n, len(self.margins), generator) for _ in rows], axis=1)
        return self.draw_by(rows, known, uniforms)

    def draw_by(self, rows: FloatArray, known: BoolArray, uniforms: FloatArray) -> FloatArray:
        """As `draw_each`, by the ``uniforms`` ``(n, rows, scores)``: those of a score decide about its feature."""
        sides = [m.intervals(column) for m, column in zip(self.margins, rows.T, strict=False)]
        low, high = (np.stack(part, axis=1) for part in zip(*sides, strict=True))
        silent = (high - low >= 1.0).all(axis=0)  # constants say nothing
        plain = ((high - low <= POINT) | silent).all(axis=1) & (not self.gaps)
        n = len(uniforms)
        drawn = np.empty((len(known), n, *rows.shape))
        rest = np.flatnonzero(~plain)
        block = max(1, _BLOCK // max(1, n * len(self.margins)))
        for k, told in enumerate(known):
            for some in (rest[i : i + block] for i in range(0, len(rest), block)):
                scores = np.moveaxis(uniforms[:, some], 1, 0)
                drawn[k][:, some] = np.moveaxis(self._draw(rows[some], np.tile(told, (len(some), 1)), scores), 1, 0)
            drawn[k][:, plain] = self._from_points(
                rows[plain], (low + high)[plain] / 2, told, told & ~silent, uniforms[:, plain]
            )
        return drawn

    def _from_points(
        self, rows: FloatArray, shares: FloatArray, known: BoolArray, telling: BoolArray, uniforms: FloatArray
    ) -> FloatArray:
        """Draws ``(n, rows, p)`` given the shares of the ``telling`` features: the normal law of the others' scores, as
        in `_given`.
        """
        from scipy.linalg import solve_triangular
        from scipy.special import ndtr, ndtri

        given, rest = np.flatnonzero(telling), np.flatnonzero(~telling)
        order = np.concatenate([given, rest])
        L, g = np.linalg.cholesky(self.correlation[np.ix_(order, order)]), len(given)
        e = solve_triangular(L[:g, :g], ndtri(shares[:, given]).T, lower=True)
        scores = (L[g:, :g] @ e).T + ndtri(uniforms[..., rest]) @ L[g:, g:].T
        drawn = np.broadcast_to(rows, (len(uniforms), *rows.shape)).copy()
        for place, j in enumerate(rest):
            if not known[j]:
                drawn[..., j] = self.margins[j].quantile(ndtr(scores[..., place]))
        return drawn

    def _draw(self, rows: FloatArray, known: BoolArray, uniforms: FloatArray) -> FloatArray:
        """Draws ``(m, n, p)`` for m coalitions, each of its own row or all of one, by uniforms ``(m, n, scores)``."""
        from scipy.special import ndtr

        cells = np.concatenate([rows, np.isnan(rows[:, list(self.gaps)])], axis=1)
        sides = [margin.intervals(column) for margin, column in zip(self.margins, cells.T, strict=True)]
        low, high = (np.stack(part, axis=1) for part in zip(*sides, strict=True))
        told = np.concatenate([known, known[:, list(self.gaps)]], axis=1)
        drawn = self.rows(ndtr(_given(self.correlation, low, high, told, uniforms)))
        return np.where(known[:, None, :], rows[:, None, :], drawn)

    def sample(self, n: int, generator: np.random.Generator) -> FloatArray:
        """``n`` independent rows ``(n, p)`` of which nothing is known."""
        from scipy.special import ndtr

        scores = generator.standard_normal((n, len(self.margins))) @ np.linalg.cholesky(self.correlation).T
        return self.rows(ndtr(scores))

    def rows(self, shares: FloatArray) -> FloatArray:
        """The codes ``(..., p)`` of rows whose scores stand at the given shares ``(..., scores)`` of their
        distributions.
        """
        values = [margin.quantile(shares[..., j]) for j, margin in enumerate(self.margins)]
        for score, j in enumerate(self.gaps, start=self.n_features):
            values[j] = np.where(values[score] == 1.0, np.nan, values[j])
        return np.stack(values[: self.n_features], axis=-1)


def spread_evenly(n: int, width: int, generator: np.random.Generator) -> FloatArray:
    """Uniform numbers ``(n, width)``, in each column one in each n-th part of the unit interval."""
    parts = generator.permuted(np.tile(np.arange(n), (width, 1)), axis=1).T
    return np.asarray((parts + generator.random((n, width))) / max(n, 1))


# -- learning the copula -----------------------------------------------------------------------------


def _order_levels(margins: list[Margin], columns: list[FloatArray], weights: FloatArray) -> list[Margin]:
    """Levels in an order that lets their scores correlate with those of the other features as much as one order can.

    One feature after the other: the level means of the others' scores differ most along their first principal axis, and
    that is the order. Features that have no order yet take part level by level, as in a correspondence analysis.
    """
    share = weights / weights.sum()
    places = [margin.places(column) for margin, column in zip(margins, columns, strict=True)]
    nominal = [j for j, margin in enumerate(margins) if margin.levels and len(margin.values) > 2]
    ordered = list(margins)
    parts = [
        _indicators(margin, place) if j in nominal else _standardised(margin, place, share)
        for j, (margin, place) in enumerate(zip(margins, places, strict=True))
    ]
    for j in nominal * _PASSES:
        mass = np.diff(margins[j].upper, prepend=0.0)
        others = [part for k, part in enumerate(parts) if k != j]
        means = np.array([np.bincount(places[j], share * c, len(mass)) for part in others for c in part.T])
        if len(means):
            axis = np.linalg.svd(means / np.sqrt(mass), full_matrices=False)[2][0] / np.sqrt(mass)
            ordered[j] = margins[j].ordered(np.argsort(np.round(axis, 9), kind="stable"))
        parts[j] = _standardised(ordered[j], ordered[j].places(columns[j]), share)
    return ordered


def _indicators(margin: Margin, place: IntArray) -> FloatArray:
    """One column per level, scaled so that every direction in them has the variance one."""
    mass = np.diff(margin.upper, prepend=0.0)
    return np.asarray(((place[:, None] == np.arange(len(mass))) - mass) / np.sqrt(mass))


def _standardised(margin: Margin, place: IntArray, share: FloatArray) -> FloatArray:
    """The scores of the rows as one column of variance one; zero for missing values and constants."""
    scores = np.where(place < 0, 0.0, margin.scores()[place])
    spread = np.sqrt(share @ np.square(scores))
    return np.asarray(scores / (spread if spread > 1e-12 else 1.0))[:, None]


def _correlation(margins: list[Margin], columns: list[FloatArray], weights: FloatArray) -> FloatArray:
    """The correlation of the scores that makes the levels correlate as they do."""
    scores = np.stack(
        [
            np.where(place < 0, np.nan, margin.scores()[place])
            for margin, place in ((m, m.places(c)) for m, c in zip(margins, columns, strict=True))
        ]
    )
    r = _pairwise(scores, weights)
    n = count_rows(weights)
    noise = np.square(1.0 - np.square(r)) / max(n - 1.0, 1.0)
    r = r * np.maximum(0.0, 1.0 - noise / np.maximum(np.square(r), 1e-300))
    rho = _latent(r, _hermite(margins))
    rho *= 1.0 - min(1.0, (len(margins) / n) ** 2)
    np.fill_diagonal(rho, 1.0)
    return positive(rho)


def _pairwise(scores: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted correlations, of each pair where both are there; zero where one is constant."""
    there = (~np.isnan(scores)).astype(np.float64)
    filled = np.where(there > 0, scores, 0.0)
    mass = np.maximum((there * weights) @ there.T, 1e-300)
    means = (filled * weights) @ there.T / mass
    squares = (np.square(filled) * weights) @ there.T / mass - np.square(means)
    products = (filled * weights) @ filled.T / mass - means * means.T
    scale = np.sqrt(np.maximum(squares, 0.0) * np.maximum(squares.T, 0.0))
    varies = scale > 1e-12
    return np.where(varies, np.clip(products / np.where(varies, scale, 1.0), -1.0, 1.0), 0.0)


def _hermite(margins: list[Margin]) -> FloatArray:
    """Coefficients of each feature's standardised mean score, a step function of its score, in the Hermite polynomials
    1 to _TERMS.
    """
    levels = [margin.scores() for margin in margins]
    edges = np.concatenate([normal_edges(margin.upper) for margin in margins])  # one more than levels, of each
    scores = np.concatenate([part for own in levels for part in (own, [0.0])])[:-1]  # nothing between two features
    starts = np.cumsum([0, *(len(own) + 1 for own in levels[:-1])])
    density, finite = normal_density(edges), np.where(np.isfinite(edges), edges, 0.0)
    before, polynomial, coefficients = np.zeros_like(finite), np.ones_like(finite), []
    for k in range(1, _TERMS + 1):  # the integral of h_k over an interval is -[h_(k-1) phi] / sqrt(k)
        along = polynomial * density
        coefficients.append(np.add.reduceat(scores * (along[:-1] - along[1:]), starts) / np.sqrt(k))
        before, polynomial = polynomial, (finite * polynomial - np.sqrt(k - 1.0) * before) / np.sqrt(k)
    variance = np.array(
        [np.square(own) @ np.diff(margin.upper, prepend=0.0) for own, margin in zip(levels, margins, strict=True)]
    )
    return np.stack(coefficients, axis=1) / np.sqrt(np.where(variance > 0, variance, 1.0))[:, None]


def _latent(r: FloatArray, hermite: FloatArray) -> FloatArray:
    """The rho with sum_k c_k c'_k rho^k = r for every pair, by halving; the sum grows with rho."""
    first, second = np.triu_indices(len(r), 1)
    products, wanted = (hermite[first] * hermite[second]).T[::-1].copy(), r[first, second]
    low, high = np.full(len(first), -1.0), np.full(len(first), 1.0)
    for _ in range(50):
        rho = (low + high) / 2
        found = np.zeros(len(first))
        for product in products:
            found += product
            found *= rho
        low, high = np.where(found < wanted, rho, low), np.where(found < wanted, high, rho)
    latent = np.eye(len(r))
    latent[first, second] = latent[second, first] = np.where(wanted == 0.0, 0.0, (low + high) / 2)
    return latent


def positive(matrix: FloatArray) -> FloatArray:
    """The nearest thing to the matrix that is a correlation matrix: no eigenvalue below a floor, ones on the
    diagonal.
    """
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    if values[0] < _LEAST_EIGENVALUE:
        matrix = (vectors * np.maximum(values, _LEAST_EIGENVALUE)) @ vectors.T
    scale = np.sqrt(np.diag(matrix))
    return np.asarray(matrix / np.outer(scale, scale))


# -- drawing scores ----------------------------------------------------------------------------------


def _given(
    correlation: FloatArray, low: FloatArray, high: FloatArray, known: BoolArray, uniforms: FloatArray
) -> FloatArray:
    """Normal scores ``(m, n, q)`` of which the ``known`` ones ``(m, q)`` lie between the shares ``low`` and ``high``,
    by ``uniforms`` of that shape.

    The draws of an interval are picked by how much they count; what is free stays evenly spread.
    """
    shape = known.shape
    low, high = np.broadcast_to(low, shape), np.broadcast_to(high, shape)
    steps = step_by_step(correlation, low, high, known, uniforms)
    e = np.take_along_axis(steps.e, _resampled(steps.log_weight)[:, :, None], axis=1)
    return steps.scores(np.where(steps.free[:, None, :], steps.e, e))


def _resampled(log_weight: FloatArray) -> IntArray:
    """Positions of draws ``(m, n)``, each as often as its weight says; equal weights leave them as they are."""
    n = log_weight.shape[1]
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    upper = np.cumsum(weight, axis=1) / weight.sum(axis=1, keepdims=True)
    middles = (np.arange(n) + 0.5) / n
    places = [np.searchsorted(line, middles) for line in upper]
    return np.minimum(np.array(places, dtype=np.intp), n - 1)
