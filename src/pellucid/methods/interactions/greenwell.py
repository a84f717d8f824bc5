"""Interaction strength from partial dependence: does a feature matter more at some values of another?

Greenwell, Boehmke and McCarthy 2018.

Definition. With PD_jk(a, b) the partial dependence of two features, i(j | b) is the importance of feature j while the
other stays at b: the standard deviation over a of PD_jk(a, b), or for categories (max - min) / 4. The strength is the
standard deviation of i(j | b) over the values b, averaged over both directions. 0 where i(j | b) does not depend on b,
as for additive models.

Estimator. PD over a grid of observed values and over some rows of the data. The grid of a number with more than `GRID`
values are the middles of its tenths (the 5%, 15%, ..., 95% quantiles), whose places do not depend on how many rows
there are; of categories at most `LEVELS`, the most frequent. ``normalize=True`` divides by the standard deviation of
the predictions, so that strengths compare between models; it does not divide by the pair's own effect, which would
inflate weak pairs.
Intervals are about the population: a tenth of the rows is left out at a time, of the averages, the quantiles (the table
is interpolated where they come to lie) and the deviation of the predictions; Student's, on the scale of logarithms.

When it misleads:
1. it compares sizes of effects, not effects: an interaction that turns an effect round without changing its size (one
   centred feature times another, at two opposite values) is missed;
2. the tails of a feature, its outer twentieths, are not looked at;
3. correlated features: the model is evaluated at rows that do not occur.

Cost. Grid points squared times rows for each pair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.diagnostics.general import general_caveats
from pellucid.errors import InputError
from pellucid.explanations import Header, Interactions, squeeze_outputs
from pellucid.games.marginal import background_rows
from pellucid.methods.importance.pdp_importance import curve_spread
from pellucid.methods.interactions.estimation.dividends import rounding
from pellucid.methods.interactions.request import Request
from pellucid.reading import answer
from pellucid.runner import constant_intervention
from pellucid.stats import jackknife_interval, weighted_mean, weighted_quantiles

GRID = 10
LEVELS = 20
_MOST_ROWS = 3_000_000  # model rows, unless the caller gives the number of rows
_FEWEST = 50
_ROUNDING = 1e-12


def greenwell(request: Request) -> Interactions:
    """How much the size of one feature's effect varies with the other feature, for each pair."""
    predictor, run = request.predictor, request.run
    columns = [_column(request, i) for i in range(len(request.players))]
    asked = {columns[i] for pair in request.sets for i in pair}
    axes = {j: _Axis.of(request.data, j) for j in sorted(asked)}
    points = {j: axis.points for j, axis in axes.items()}
    data = _rows(request, sum(len(points[columns[i]]) * len(points[columns[k]]) for i, k in request.sets))
    own = run.predict(predictor, data)
    part = data.tenths
    parts = range(int(part.max(initial=0)) + 1)
    spread = _deviation(own, data.weights)
    spreads = np.stack([_deviation(own, data.weights * (part != b)) for b in parts])
    divisors = np.where(spread > 0, np.stack([spread, *spreads]), np.inf)
    divisors = divisors if request.normalize else np.ones_like(divisors)
    strength = np.full((len(request.sets), own.shape[1]), np.nan)
    values, se, low, high = (strength.copy() for _ in range(4))
    for s, (i, k) in enumerate(request.sets):
        if not run.interrupted:
            pair = columns[i], columns[k]
            strength[s], without = _pair(request, data, pair, (axes[pair[0]], axes[pair[1]]), own)
            values[s] = strength[s] / divisors[0]
            se[s], low[s], high[s] = jackknife_interval(
                values[s], without / np.where(divisors[1:] > 0, divisors[1:], np.inf)
            )
    unknown = np.full(strength.shape, np.nan)
    unit = "standard deviations of the prediction" if request.normalize else "units of the prediction"
    return Interactions(
        method="greenwell",
        against=request.against,
        measure=f"variation of one feature's effect with the other, in {unit}",
        sets=request.set_names,
        values=squeeze_outputs(values),
        se=squeeze_outputs(se),
        low=squeeze_outputs(low),
        high=squeeze_outputs(high),
        strength=squeeze_outputs(strength),
        joint=squeeze_outputs(unknown),
        header=Header.of(
            predictor,
            request.data,
            run,
            {"method": "greenwell", "rows": len(data), "grid": GRID},
            feature_names=request.feature_names,
            caveats=general_caveats(predictor, request.data, run),
        ),
    )


def _column(request: Request, i: int) -> int:
    """The column of a player; a group of several has no curve."""
    columns = request.players[request.names[i]]
    if len(columns) > 1 and any(i in players for players in request.sets):
        raise InputError(
            f"method='greenwell' has no value for the group {request.names[i]!r}; use method='h' or 'shap', or an"
            " Explainer without groups=."
        )
    return columns[0]


@dataclass(frozen=True, eq=False)
class _Axis:
    """Where the effect of a feature is looked at, in codes, and where it would be without each tenth of the rows
    ``(tenths, points)``; None for categories and few values, which stay.
    """

    points: FloatArray
    moved: FloatArray | None

    @classmethod
    def of(cls, data: Data, j: int) -> _Axis:
        codes, points = data.codes(j), grid_points(data, j)
        if data.schema.features[j].nominal or len(_values(data, j)) <= GRID:
            return cls(points, None)
        part = data.tenths
        place = np.searchsorted(points, _middles(codes, data.weights))
        count = np.bincount(place, minlength=len(points))
        moved = []
        for b in range(int(part.max(initial=0)) + 1):
            weights = data.weights * (part != b)
            found = _middles(codes, weights) if (weights[~np.isnan(codes)] > 0).any() else points[place]
            moved.append(np.bincount(place, found, minlength=len(points)) / count)
        return cls(points, np.array(moved))

    def without(self, table: FloatArray, b: int) -> FloatArray:
        """A table ``(points, ...)`` where the points are without the b-th tenth of the rows, by straight lines."""
        if self.moved is None or len(self.points) < 2:
            return table
        new = self.moved[min(b, len(self.moved) - 1)]
        left = np.clip(np.searchsorted(self.points, new) - 1, 0, len(self.points) - 2)
        t = ((new - self.points[left]) / np.diff(self.points)[left]).reshape(-1, *(1,) * (table.ndim - 1))
        return np.asarray((1 - t) * table[left] + t * table[left + 1])


def grid_points(data: Data, j: int) -> FloatArray:
    """Where the effect of a feature is looked at, in codes: the middles of its tenths, its few values, or the most
    frequent categories.
    """
    values = _values(data, j)
    if data.schema.features[j].nominal:
        codes = data.codes(j)
        known = ~np.isnan(codes) & (data.weights > 0)
        mass = np.bincount(np.searchsorted(values, codes[known]), weights=data.weights[known], minlength=len(values))
        return np.sort(values[np.argsort(-mass, kind="stable")[:LEVELS]])
    return values if len(values) <= GRID else np.unique(_middles(data.codes(j), data.weights))


def _values(data: Data, j: int) -> FloatArray:
    """The distinct codes in rows that count."""
    codes = data.codes(j)
    return np.unique(codes[~np.isnan(codes) & (data.weights > 0)])


def _middles(codes: FloatArray, weights: FloatArray) -> FloatArray:
    return weighted_quantiles(codes, (np.arange(GRID) + 0.5) / GRID, weights)


def _deviation(own: FloatArray, weights: FloatArray) -> FloatArray:
    """Standard deviation of the predictions, per output; 0 where nothing counts."""
    if not weights.sum() > 0:
        return np.zeros(own.shape[1])
    return np.asarray(np.sqrt(weighted_mean(np.square(own - weighted_mean(own, weights)), weights)))


def _rows(request: Request, cells: int) -> Data:
    """The rows that partial dependence averages over: as many as asked for, or as the budget allows."""
    most = request.rows or max(_FEWEST, _MOST_ROWS // max(cells, 1))
    return background_rows(request.data, int(most), request.run)


def _pair(
    request: Request, data: Data, pair: tuple[int, int], axes: tuple[_Axis, _Axis], own: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The strength of one pair, and without each tenth of the rows."""
    outputs = own.shape[1]
    points = axes[0].points, axes[1].points
    nominal = tuple(data.schema.features[j].nominal for j in pair)
    part = data.tenths
    if min(len(p) for p in points) < 2:
        return np.zeros(outputs), np.zeros((int(part.max(initial=0)) + 1, outputs))
    intervention = constant_intervention(data, pair, points)
    mass = np.bincount(part, weights=data.weights)
    sums = np.zeros((len(mass), intervention.variants, outputs))
    seen = np.zeros((len(mass), intervention.variants))
    for batch in answer(request.run, request.predictor, data, intervention).stream(partial=True):
        for b in range(len(mass)):
            weights = np.where(part[batch.rows] == b, data.weights[batch.rows], 0.0)
            sums[b, batch.variants] += weights @ batch.predictions
            seen[b, batch.variants] += weights.sum()
    if request.run.interrupted:
        return np.full(outputs, np.nan), np.full((len(mass), outputs), np.nan)
    floor = np.maximum(rounding(own), _ROUNDING * np.abs(own).max(axis=0))

    def strength(table: FloatArray) -> FloatArray:
        found = table_strength(table, nominal)
        return np.where(found <= floor, 0.0, found)

    def table(kept: IntArray) -> FloatArray:
        mean = sums[kept].sum(axis=0) / seen[kept].sum(axis=0)[:, None]
        return np.asarray(mean.reshape(len(points[0]), len(points[1]), outputs))

    everything = np.arange(len(mass))
    without = []
    for b in range(len(mass)):
        first = axes[0].without(table(np.delete(everything, b)), b)
        without.append(strength(np.moveaxis(axes[1].without(np.moveaxis(first, 1, 0), b), 0, 1)))
    return strength(table(everything)), np.stack(without)


def table_strength(table: FloatArray, nominal: tuple[bool, ...]) -> FloatArray:
    """From PD_jk ``(a, b, outputs)``: the standard deviation of each one's importance over the other's values,
    averaged.
    """
    first = curve_spread(table.reshape(len(table), -1), nominal[0]).reshape(table.shape[1:])
    second = curve_spread(np.moveaxis(table, 1, 0).reshape(table.shape[1], -1), nominal[1])
    second = second.reshape(len(table), -1)
    return np.asarray((first.std(axis=0, ddof=1) + second.std(axis=0, ddof=1)) / 2)
