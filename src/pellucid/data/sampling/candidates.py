"""Ways to draw one column given others, each held out: no row takes part in its own draws.

- `by_location_scale`: a curve through the column and its spread (`pellucid.data.sampling.location_scale`), plus the
  residual of a row that is alike (`pellucid.data.sampling.like_rows`), rescaled. On the column's own scale or on that
  of its normal scores, whichever scores better.
- `by_inverse`: Bayes' rule, p(x_j | x_k, rest) ~ p(x_j | rest) p(x_k | x_j, rest), with x_k the number that tells most
  about x_j. Sees two humps where x_k is a curve in x_j (x_k = x_j^2 leaves the sign of x_j open).
- `by_probability`: the levels of a category, by regression of their indicators, sharpened to fit best.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data.sampling.choice import fit_of
from pellucid.data.sampling.encoding import Encoding, scores, values_at
from pellucid.data.sampling.held_out import FEW_LEVELS, log_scores
from pellucid.data.sampling.kernel_ridge import LANDMARKS, Fitted, KernelRidge
from pellucid.data.sampling.like_rows import LikeRows, distribution
from pellucid.data.sampling.location_scale import LocationScale, location_scale
from pellucid.data.sampling.margin import Margin

HELD = 50  # draws of each row by which it is scored
_LEAST_SHARE = 0.004  # of a level
_SHARPER = (0.7, 1.0, 1.4, 2.0, 2.8, 4.0)
_GRID, _REACH = 121, 3.4  # normal scores at which Bayes' rule is worked out
_WIDTHS = {"prior": 0.2, "other": 0.15}  # of density estimates, in standard deviations of the residuals
_SHAPED = 0.02  # log score of like rows' residuals over any rows', from which Bayes' rule is tried
_RELEVANT = 1e-3


@dataclass(frozen=True, eq=False)
class Column:
    """A column to be drawn: its ``own`` codes in the learning rows, and the codes ``given`` there ``(n, columns)`` and
    in ``other`` rows, which have no say.
    """

    own: FloatArray
    levels: bool
    given: FloatArray
    nominal: BoolArray
    other: FloatArray
    weights: FloatArray

    @property
    def margin(self) -> Margin:
        """The column by itself."""
        return Margin.of(self.own, self.weights, levels=self.levels)

    @property
    def stepped(self) -> bool:
        """Few values, each shared by many rows."""
        return self.levels or len(self.margin.values) < 0.7 * len(self.own)

    @property
    def few(self) -> bool:
        """Levels, or so few values that each is one."""
        return self.levels or len(self.margin.values) <= FEW_LEVELS

    def without(self, k: int) -> Column:
        """The same, with one column less given."""
        return self.only(np.delete(np.arange(len(self.nominal)), k))

    def only(self, kept: IntArray) -> Column:
        """The same, with some of the columns given."""
        return Column(self.own, self.levels, self.given[:, kept], self.nominal[kept], self.other[:, kept], self.weights)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Draws for the learning rows ``(n, draws)`` and the other rows, and those of rows that are scored."""

    rows: FloatArray
    others: FloatArray
    held: FloatArray


@dataclass(frozen=True, eq=False)
class Regression:
    """What the candidates for one column share: the given columns as numbers, and the regression on them."""

    column: Column
    encoding: Encoding
    blocks: list[FloatArray]
    others: list[FloatArray]
    ridge: KernelRidge
    relevance: FloatArray

    @classmethod
    def of(cls, column: Column, generator: np.random.Generator, landmarks: int = LANDMARKS) -> Regression:
        """Learn what matters from a forest, then prepare the regression."""
        encoding = Encoding.of(column.given, column.nominal, column.weights)
        blocks = encoding.blocks(column.given)
        target = indicators(column) if column.levels else distribution(column.own)
        relevance = np.ones(len(blocks))
        if len(blocks) > 1:
            relevance = LikeRows.of(blocks, target, column.weights, generator, trees=40).relevance()
        ridge = KernelRidge(blocks, relevance, column.weights, generator, landmarks)
        return cls(column, encoding, blocks, encoding.blocks(column.other), ridge, relevance)


def indicators(column: Column) -> FloatArray:
    """Whether each row has each of the column's values."""
    values = np.arange(len(column.margin.values))
    return np.asarray(column.margin.places(column.own)[:, None] == values, dtype=np.float64)


# -- location, scale, residual of a like row ---------------------------------------------------------


def by_location_scale(
    known: Regression, scored: IntArray, repeats: int, generator: np.random.Generator
) -> tuple[Drawn, float] | None:
    """Draws, and how much better residuals of like rows score than those of any row; None where a line and one spread
    say it all: that is what the copula knows.
    """
    column, margin = known.column, known.column.margin
    found = []
    for scale in ("own",) if column.stepped else ("own", "normal"):
        fit = location_scale(known.ridge, scaled(margin, scale, column.own))
        anyone = generator.integers(0, len(column.own), (len(scored), HELD))
        held = finished(column, scale, _placed(fit, anyone, scored))
        found.append((fit_of(margin, column.own[scored], held), scale, fit, held))
    if not column.stepped and found[1][2].plain and found[0][0] < found[1][0] + _SHAPED:
        return None
    _, scale, fit, held = max(found, key=lambda entry: entry[0])
    plain = float(log_scores(margin, column.own[scored], held).mean())
    like = LikeRows.of(known.blocks, distribution(fit.e), column.weights, generator)
    drawn = finished(column, scale, _placed(fit, like.draw(max(HELD, repeats), generator)))
    shaped = float(log_scores(margin, column.own[scored], drawn[scored][:, :HELD]).mean())
    if shaped > plain:
        held = drawn[scored][:, :HELD]
    others = np.empty((len(column.other), repeats))
    if len(others):
        location, spread = fit.at(known.ridge, known.others)
        rows = like.draw(repeats, generator, known.others)
        others = finished(column, scale, location[:, None] + spread[:, None] * fit.within[rows])
    return Drawn(drawn, others, held), shaped - plain


def _placed(fit: LocationScale, members: IntArray, rows: IntArray | None = None) -> FloatArray:
    """The residuals of the members, at the location and spread of each row; their mean square is that of the rows."""
    chosen = np.arange(len(fit.s)) if rows is None else rows
    residual = fit.s[chosen, None] * fit.within[members]
    own = (1.0 - fit.location.leverage) * fit.location.residual
    size = np.sqrt(np.mean(np.square(own[chosen])) / max(float(np.mean(np.square(residual))), 1e-300))
    return np.asarray(fit.location.loo[chosen, None] + size * residual)


def finished(column: Column, scale: str, drawn: FloatArray) -> FloatArray:
    """Values of the column: none beyond those that occur, and of a column with few values one of them."""
    margin = column.margin
    if scale == "normal":
        return values_at(margin, drawn)
    if column.stepped:
        return margin.values[np.searchsorted((margin.values[1:] + margin.values[:-1]) / 2, drawn)]
    return np.clip(drawn, margin.values[0], margin.values[-1])


# -- Bayes' rule -------------------------------------------------------------------------------------


def by_inverse(known: Regression, scored: IntArray, repeats: int, generator: np.random.Generator) -> Drawn | None:
    """Draws by Bayes' rule; None where no given number tells anything, or the column has many tied values."""
    column = known.column
    if column.stepped and len(column.margin.values) > FEW_LEVELS:
        return None
    k = _telling(known)
    if k is None:
        return None
    grid = column.margin.values if column.stepped else values_at(column.margin, _grid())
    rest = column.without(k)
    prior, prior_others = _prior(rest, grid, generator)
    likely, likely_others = _likelihood(column, rest, k, grid, generator)
    places = _picked(prior * likely, max(HELD, repeats), generator)
    others = _picked(prior_others * likely_others, repeats, generator)
    drawn = _values(column, places, generator)
    return Drawn(drawn, _values(column, others, generator), drawn[scored][:, :HELD])


def _telling(known: Regression) -> int | None:
    """The given number, of many values, that tells most about the column."""
    column = known.column
    for k in np.argsort(-known.relevance, kind="stable"):
        given = column.given[:, k]
        usable = known.relevance[k] > _RELEVANT and not column.nominal[k] and not np.isnan(given).any()
        if usable and len(np.unique(given)) >= 0.7 * len(given):
            return int(k)
    return None


def _grid() -> FloatArray:
    return np.linspace(-_REACH, _REACH, _GRID)


def _values(column: Column, places: IntArray, generator: np.random.Generator) -> FloatArray:
    if column.stepped:
        return column.margin.values[places]
    step = 2 * _REACH / (_GRID - 1)
    return values_at(column.margin, _grid()[places] + step * (generator.random(places.shape) - 0.5))


def _picked(weight: FloatArray, n: int, generator: np.random.Generator) -> IntArray:
    return picked(weight, generator.random((len(weight), n)))


def picked(weight: FloatArray, marks: FloatArray) -> IntArray:
    """Places of each line at the ``marks`` between 0 and 1 ``(lines, n)``: as often as their weight says."""
    total = np.cumsum(weight, axis=1)
    found = [np.searchsorted(line, mark, side="right") for line, mark in zip(total, marks * total[:, -1:], strict=True)]
    return np.minimum(np.array(found, dtype=np.intp).reshape(marks.shape), weight.shape[1] - 1)


def _prior(rest: Column, grid: FloatArray, generator: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Weights of the grid's values for each learning row and each other row, without the telling column."""
    shape, many = (len(rest.own), len(grid)), (len(rest.other), len(grid))
    if not len(rest.nominal):
        mass = np.diff(rest.margin.upper, prepend=0.0) if rest.stepped else np.exp(-np.square(_grid()) / 2)
        return np.broadcast_to(mass, shape), np.broadcast_to(mass, many)
    known = Regression.of(rest, generator)
    if rest.stepped:
        return _probabilities(known)
    fit = location_scale(known.ridge, scores(rest.margin, rest.own))
    density = _Density.of(fit.within, _WIDTHS["prior"])
    prior = density((_grid() - fit.location.loo[:, None]) / fit.s[:, None])
    if not len(rest.other):
        return prior, np.empty(many)
    location, spread = fit.at(known.ridge, known.others)
    return prior, density((_grid() - location[:, None]) / spread[:, None])


def _likelihood(
    column: Column, rest: Column, k: int, grid: FloatArray, generator: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """The density of the telling column's value given each value of the grid and the rest."""
    given = np.column_stack([rest.given, column.own])
    turned = Column(
        column.given[:, k],
        False,
        given,
        np.append(rest.nominal, column.levels),
        np.column_stack([rest.other, np.full(len(rest.other), column.own[0])]),
        column.weights,
    )
    known = Regression.of(turned, generator)
    margin = turned.margin
    scale, fit = scale_of(known)
    density, last = _Density.of(fit.within, _WIDTHS["other"]), len(known.blocks) - 1
    at = known.encoding.block(last, grid)

    def likely(blocks: list[FloatArray] | None, codes: FloatArray) -> FloatArray:
        location, spread = fit.along(known.ridge, last, at, blocks)
        return density((scaled(margin, scale, codes)[:, None] - location) / spread) / spread

    others = likely(known.others, column.other[:, k]) if len(column.other) else np.empty((0, len(grid)))
    return likely(None, turned.own), others


def scale_of(known: Regression) -> tuple[str, LocationScale]:
    """The scale on which a number fits better, and the fit."""
    column, margin = known.column, known.column.margin
    scales = ("own",) if column.stepped else ("own", "normal")
    fits = [(scale, location_scale(known.ridge, scaled(margin, scale, column.own))) for scale in scales]
    return max(fits, key=lambda pair: pair[1].normal_score() + _jacobian(margin, pair[0], column.own))


def held_out(known: Regression, scored: IntArray, generator: np.random.Generator) -> FloatArray:
    """Draws ``(scored rows, HELD)`` by the regression alone, each row by the others."""
    column = known.column
    if column.few:
        fit, power = level_fit(known)
        return column.margin.values[_picked(sharpened(fit.loo[scored], power), HELD, generator)]
    scale, found = scale_of(known)
    anyone = generator.integers(0, len(column.own), (len(scored), HELD))
    return finished(column, scale, _placed(found, anyone, scored))


def scaled(margin: Margin, scale: str, codes: FloatArray) -> FloatArray:
    """The codes, or their normal scores."""
    return codes if scale == "own" else scores(margin, codes)


def _jacobian(margin: Margin, scale: str, own: FloatArray) -> float:
    """What the change of scale adds to a log density."""
    if scale == "own":
        return 0.0
    x, z = np.sort(own), np.sort(scores(margin, own))
    w = max(5, int(np.sqrt(len(x))))
    return float(np.mean(np.log((z[w:] - z[:-w]) / np.maximum(x[w:] - x[:-w], 1e-300))))


@dataclass(frozen=True, eq=False)
class _Density:
    """A kernel density estimate, read off a grid."""

    at: FloatArray
    density: FloatArray

    @classmethod
    def of(cls, values: FloatArray, width: float) -> _Density:
        h = max(width * float(values.std()), 1e-300)
        at = np.linspace(values.min() - 4 * h, values.max() + 4 * h, 400)
        return cls(at, np.exp(-0.5 * np.square((at[:, None] - values) / h)).mean(axis=1))

    def __call__(self, x: FloatArray) -> FloatArray:
        return np.interp(x, self.at, self.density, left=0.0, right=0.0) + 1e-9


# -- levels ------------------------------------------------------------------------------------------


def by_probability(known: Regression, scored: IntArray, repeats: int, generator: np.random.Generator) -> Drawn:
    """Draws of a category's levels."""
    rows, others = _probabilities(known)
    values = known.column.margin.values
    drawn = values[_picked(rows, max(HELD, repeats), generator)]
    return Drawn(drawn, values[_picked(others, repeats, generator)], drawn[scored][:, :HELD])


def _probabilities(known: Regression) -> tuple[FloatArray, FloatArray]:
    """Of each level, for learning rows (by the others) and other rows."""
    fit, best = level_fit(known)
    others = known.ridge.predict(fit, known.others) if len(known.column.other) else np.empty((0, fit.loo.shape[1]))
    return sharpened(fit.loo, best), sharpened(others, best)


def level_fit(known: Regression) -> tuple[Fitted, float]:
    """The regression of the levels, and how much to sharpen it."""
    own = indicators(known.column)
    fit, counts = known.ridge.fit(own), own.astype(np.bool_)
    best = max(_SHARPER, key=lambda power: known.column.weights @ np.log(sharpened(fit.loo, power)[counts]))
    return fit, best


def sharpened(estimate: FloatArray, power: float) -> FloatArray:
    """Shares of levels from their regression."""
    shares = np.clip(estimate, _LEAST_SHARE, 1.0) ** power
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
