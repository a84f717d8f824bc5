"""Shapley effects: the variance of the predictions shared out among features that may be correlated.

Owen 2014; Song, Nelson and Staum 2016; Owen and Prieur 2017; Broto, Bachoc and Depecker 2020.

Definition. The Shapley values of the game

    v(S) = Var E[f | X_S] / Var f,

for features distributed as in X, with all their dependence. They are never negative, add up to one, and give a feature
the mean, over all orders of the features, of what knowing it adds to the share of the variance that is known. For
independent features an interaction is shared equally: they lie between first-order and total Sobol index.

Estimator. E Var[f | X_S] is the mean of (f(X) - f(X_S, Z))^2 / 2, with Z drawn given X_S. For a row x, an order of the
features at random and its reverse, features become known one after the other; what half the squared change loses at
each step is an estimate of that feature's effect, whose mean over rows and orders is unbiased if the draws are right.
With nothing known the mean over Z is (f(x) - mean)^2 / 2 + Var f / 2 and is not sampled. Where features clearly follow
others along curves, draws given X_S come from a distribution that knows them (`pellucid.data.sampling.joint`); else
from a Gaussian copula where all features are numbers and none is missing, else from rows near in X_S
(`pellucid.data.sampling.neighbours`). Known features always keep the row's own values.

When it misleads.

1. A feature that the model does not use gets a share if it is correlated with one that the model uses: it tells as
   much.
2. Draws are only as good as the curves, the copula (monotone pairwise dependence) or the neighbours, which blur: of two
   normal features with correlation 0.9, the one that the model does not use should get 0.405; neighbours gave it 0.37
   with 300 rows and 0.39 with 2,000 (the copula 0.41 and 0.405). With many features known hardly a row is near, and
   shares move towards those of independent features.
3. Intervals are about the population: sampling of rows and orders, and what the shares owe to the rows from which the
   dependence was learned, seen by learning it from random halves (`_Walk.learned`). The two are added, as rows that
   pull one way in either do so in both (in trials on normal features the sum was the error, its root of squares 0.7 of
   it). Below 20 rows, and below 192 walks, the dependence is taken as given.
4. The variance of the predictions is shared, not of the outcome (see `sobol`).

Cost. 2 (features - 1) model rows for each row and order that is followed, and at most 10,000 rows for the variance.
Along curves fewer are followed (1,000), each with 64 particles or more: some 2 s of 5 features, 8 s of
10 (benchmarks/DRAWS.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data, Schema
from pellucid.data.sampling.conditional_draws import joint_of
from pellucid.data.sampling.walk_draws import Draw, draws_for
from pellucid.diagnostics.by_measure import shapley_effect_caveats
from pellucid.errors import InputError
from pellucid.explanations import Header, Importance, squeeze_outputs
from pellucid.methods.importance.request import Request
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.stats import Z95, interval, student, weighted_mean

DEFAULT_ROWS = 50_000
MOST_ROWS = 2_000_000
_VARIANCE_ROWS = 10_000
_FEWEST_WALKS = 30
_WALKS_AT_ONCE = 512
_HALVES = 8  # of the rows, from which the dependence is learned again
_SHARE = 24  # of the walks, one is repeated with each half
_FEWEST_REPEATED = 8  # walks that can tell how far a share has moved
_FEWEST_ROWS = 20  # of which half a dependence can be learned
_CELLS = 8_000_000  # numbers held at once while drawing


def shapley_effects(request: Request) -> Importance:
    """The share of each feature (or group) in the variance of the predictions."""
    data, predictor, run = request.data, request.predictor, request.run
    if data.frame.kind == "sparse":
        raise InputError(
            "method='shapley-effects' needs every cell of a table; give a dense one, or use method='sobol'."
        )
    players = data.schema.players()
    names = sorted(name for name, columns in players.items() if _varies(data, columns))
    spread = _Spread.of(run, predictor, data)
    sums = _Sums(len(names), len(predictor.output_names))
    how = "none needed"
    learned = np.zeros((len(names), len(predictor.output_names)))
    if len(names) > 1 and spread.variance.any():
        walk = _Walk(run, predictor, _by_name(data), [players[name] for name in names], data)
        how = walk.how
        for row, gains in walk.steps(spread, sums, request.budget, request.tolerance):
            sums.add(row, gains)
        learned = walk.learned(spread)
    elif names and spread.variance.any():
        sums.add(np.zeros(1, dtype=np.intp), np.tile(spread.variance, (1, 1, 1)))
    share, sampled = sums.shares()
    se = sampled + learned  # the same rows are behind both
    order = [names.index(name) if name in names else len(names) for name in players]
    values = np.vstack([share, np.zeros((1, share.shape[1]))])[order]
    error, of_walks = (np.vstack([part, np.zeros((1, se.shape[1]))])[order] for part in (se, sampled))
    settings = {
        "how": how,
        "walks": sums.n,
        "variance": spread.variance.tolist(),
        "budget": request.budget,
        "tolerance": request.tolerance,
    }
    low, high = interval(values, error, least=0.0, most=1.0)
    return Importance(
        method="shapley-effects",
        measure="Shapley effect",
        compare="share",
        values=squeeze_outputs(values),
        se=squeeze_outputs(error),
        low=squeeze_outputs(low),
        high=squeeze_outputs(high),
        repeats=np.empty((len(players), 0)),
        header=Header.of(
            predictor,
            data,
            run,
            {"method": "shapley-effects", "random_state": run.seed, **settings},
            caveats=shapley_effect_caveats(
                predictor, data, run, players=players, values=values, half=Z95 * of_walks, tolerance=request.tolerance
            ),
        ),
        members=data.schema.members(),
    )


@dataclass(frozen=True, eq=False)
class _Spread:
    """Mean and variance ``(outputs,)`` of the predictions on the data."""

    mean: FloatArray
    variance: FloatArray

    @classmethod
    def of(cls, run: Run, predictor: Predictor, data: Data) -> _Spread:
        some = data.take(data.spread(_VARIANCE_ROWS))
        predictions = run.predict(predictor, some)
        mean = weighted_mean(predictions, some.weights)
        variance = weighted_mean(np.square(predictions - mean), some.weights)
        rounding = np.square(1e-13 * np.abs(predictions).max(axis=0))
        return cls(mean, np.where(variance > rounding, variance, 0.0))


class _Sums:
    """Gains of walks, added up by the row they began from: walks from one row are not independent."""

    def __init__(self, players: int, outputs: int) -> None:
        self.n = 0
        self._rows: dict[int, int] = {}
        self._gains: list[FloatArray] = []
        self._counts: list[int] = []
        self._shape = players, outputs

    def add(self, rows: IntArray, gains: FloatArray) -> None:
        """``gains`` is ``(walks, players, outputs)``."""
        for row, gain in zip(rows.tolist(), gains, strict=True):
            place = self._rows.setdefault(row, len(self._gains))
            if place == len(self._gains):
                self._gains.append(np.zeros(self._shape))
                self._counts.append(0)
            self._gains[place] = self._gains[place] + gain
            self._counts[place] += 1
        self.n += len(rows)

    def shares(self) -> tuple[FloatArray, FloatArray]:
        """Each player's share of the gains, and its standard error (of a ratio, with rows as the units)."""
        if not self.n:
            return np.zeros(self._shape), np.zeros(self._shape)
        gains = np.stack(self._gains)
        whole = gains.sum(axis=(0, 1))
        known = np.where(whole > 0, whole, 1.0)
        share = np.where(whole > 0, gains.sum(axis=0) / known, 0.0)
        apart = (gains - share * gains.sum(axis=1, keepdims=True)) / known
        n = len(gains)
        se = np.sqrt(np.square(apart).sum(axis=0) * (n / (n - 1.0))) if n > 1 else np.full(self._shape, np.nan)
        return share, np.where(whole > 0, se, 0.0) if n > 1 and self._shape[0] > 1 else np.zeros(self._shape)


class _Walk:
    """Rows from which features become known one after the other."""

    def __init__(
        self, run: Run, predictor: Predictor, sorted_data: Data, players: list[tuple[int, ...]], data: Data
    ) -> None:
        self._run, self._predictor, self._data = run, predictor, data
        names = sorted_data.schema.columns
        self._member = np.zeros((len(players), len(names)), dtype=np.bool_)
        self._columns = np.array([names.index(name) for name in data.schema.columns])
        for p, columns in enumerate(players):
            self._member[p, [names.index(data.schema.columns[j]) for j in columns]] = True
        self._codes = np.stack([sorted_data.codes(j) for j in range(len(names))], axis=1)
        self._sorted = sorted_data
        self._structure, joint = run.keep("joint distribution, by name", data, lambda: joint_of(sorted_data))
        self._draw = draws_for(sorted_data, run.generator("shapley-effects.reference"), joint)
        self.how = self._draw.name
        self._again: tuple[int, IntArray] | None = None  # walks that are repeated with the dependence of half the rows

    def steps(
        self, spread: _Spread, sums: _Sums, budget: int | None, tolerance: float | None
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Walks, some at a time: the rows they begin from and the gains ``(walks, players, outputs)``."""
        each = 2 * (len(self._member) - 1)
        usual = MOST_ROWS if tolerance is not None else min(DEFAULT_ROWS, each * self._draw.walks)
        walks = (budget or max(usual, _FEWEST_WALKS * each)) // each
        if walks < _FEWEST_WALKS:
            raise InputError(
                f"budget={budget} is too small: {len(self._member)} features take at least {_FEWEST_WALKS * each:,}"
                " model rows; give a larger budget or groups of features (groups=)."
            )
        if walks >= _FEWEST_REPEATED * _SHARE and len(self._data) >= _FEWEST_ROWS:
            walks, repeated = int(walks / (1 + (_HALVES + 1) / _SHARE)), walks // _SHARE
        else:
            repeated = 0
        rows = _rows(self._run, self._data, walks)
        self._again = (walks, rows[: min(repeated, _WALKS_AT_ONCE)]) if repeated else None
        at_once = max(1, min(_WALKS_AT_ONCE, _CELLS // (each * self._member.shape[1] ** 2)))
        for start in range(0, walks, at_once):
            some = rows[start : start + at_once]
            with self._run.until_interrupted(partial(bool, start)) as work:
                gains = self._gains(start, some, spread)
            if work.cut:
                return
            yield some, gains
            if tolerance is not None and sums.n >= _WALKS_AT_ONCE and Z95 * sums.shares()[1].max() <= tolerance:
                return

    def learned(self, spread: _Spread) -> FloatArray:
        """What the shares ``(players, outputs)`` owe to the rows from which the dependence was learned, as a standard
        error.

        Learned from a random half of the rows, it moves a share as far from that of all rows as that is from the
        truth. The same walks are repeated, with the same random numbers, with the dependence of several halves; what
        differs from walk to walk by chance is taken off. Few halves say it: as much wider as Student's interval is.
        """
        shape = len(self._member), len(spread.mean)
        if self._again is None or self._run.interrupted:
            return np.zeros(shape)
        start, rows = self._again
        counting = np.flatnonzero(self._sorted.weights > 0)
        moved, chance = np.zeros(shape), np.zeros(shape)
        whole = _parts(self._gains(start, rows, spread))
        for h in range(_HALVES):
            generator = self._run.generator("shapley-effects.halves", h)
            half = np.sort(generator.permutation(counting)[: len(counting) // 2])
            part = self._sorted.take(half)
            joint = joint_of(part, self._structure)[1]
            draw = draws_for(part, self._run.generator("shapley-effects.reference"), joint)
            apart = _parts(self._gains(start, rows, spread, draw)) - whole
            moved += np.square(apart.mean(axis=0)) / _HALVES
            chance += apart.var(axis=0, ddof=1) / len(rows) / _HALVES
        return np.sqrt(np.maximum(moved - chance, 0.0)) * (student(_HALVES) / Z95)

    def _gains(self, start: int, rows: IntArray, spread: _Spread, draw: Draw | None = None) -> FloatArray:
        p = len(self._member)
        orders = np.empty((len(rows), 2, p), dtype=np.intp)
        orders[:, 0] = self._run.generator("shapley-effects.orders", start).permuted(
            np.tile(np.arange(p), (len(rows), 1)), axis=1
        )
        orders[:, 1] = orders[:, 0, ::-1]
        place = np.argsort(orders, axis=2)  # when a player becomes known
        known = place[:, :, None] < np.arange(1, p)[:, None]
        known = known.reshape(len(rows), 2 * (p - 1), p) @ self._member
        drawn = (draw or self._draw)(self._codes[rows], known, self._run.generator("shapley-effects.draws", start))
        codes = np.vstack([self._codes[rows], drawn.reshape(-1, drawn.shape[2])])[:, self._columns]
        found = self._run.predict(self._predictor, self._data.of_codes(codes))
        own, asked = found[: len(rows)], found[len(rows) :].reshape(len(rows), 2, p - 1, -1)
        left = np.zeros((len(rows), 2, p + 1, found.shape[1]))  # half the squared change with 0, 1, ..., p known
        left[:, :, 0] = (np.square(own - spread.mean) + spread.variance)[:, None] / 2
        left[:, :, 1:p] = np.square(asked - own[:, None, None]) / 2
        gains = np.zeros((len(rows), p, found.shape[1]))
        walk = np.arange(len(rows))[:, None]
        for side in (0, 1):
            gains[walk, orders[:, side]] += -np.diff(left[:, side], axis=1) / 2
        return gains


def _parts(gains: FloatArray) -> FloatArray:
    """Gains ``(walks, players, outputs)`` as shares of all of them: their mean over the walks is the share."""
    whole = gains.sum(axis=1).mean(axis=0)
    return np.asarray(gains / np.where(whole > 0, whole, np.inf))


def _rows(run: Run, data: Data, n: int) -> IntArray:
    """``n`` rows, in turn and in random order, each as often as its weight says."""
    generator = run.generator("shapley-effects.rows")
    share = np.cumsum(data.weights) / data.weights.sum()
    rounds: list[IntArray] = []
    for _ in range(-(-n // len(data))):
        marks = (np.arange(len(data)) + generator.random()) / len(data)
        rows = np.minimum(np.searchsorted(share, marks, side="right"), len(data) - 1)
        rounds.append(generator.permutation(rows))
    return np.concatenate(rounds)[:n]


def _varies(data: Data, columns: tuple[int, ...]) -> bool:
    """Whether a player has more than one value among the rows that count."""
    counted = data.weights > 0
    parts = [data.codes(j)[counted] for j in columns]
    return any(bool(((part != part[0]) & ~(np.isnan(part) & np.isnan(part[0]))).any()) for part in parts)


def _by_name(data: Data) -> Data:
    """The same data with columns in the order of their names, which the random numbers follow."""
    order = sorted(range(len(data.schema.columns)), key=lambda j: data.schema.columns[j])
    schema = Schema(tuple(data.schema.features[j] for j in order))
    return replace(data, frame=data.frame.select(order), schema=schema, columns=tuple(data.codes(j) for j in order))
