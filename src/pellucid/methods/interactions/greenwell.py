"""Interaction strength from partial dependence: does a feature matter more at some values of another?

Greenwell, Boehmke and McCarthy 2018.

Definition. With PD_jk(a, b) the partial dependence of two features, i(j | b) is the importance of feature j while the
other stays at b: the standard deviation over a of PD_jk(a, b), or for categories (max - min) / 4. The strength is the
standard deviation of i(j | b) over the values b, averaged over both directions. 0 where i(j | b) does not depend on b,
as for additive models.

Estimator. PD over a grid of observed values (at most `GRID`, at most `LEVELS` of the most frequent categories) and over
some rows of the data. Standard errors from leaving out a tenth of the rows at a time. ``normalize=True`` divides by the
standard deviation of the predictions, so that strengths compare between models; it does not divide by the pair's own
effect, which would inflate weak pairs.

When it misleads:
1. it compares sizes of effects, not effects: an interaction that turns an effect round without changing its size (one
   centred feature times another, at two opposite values) is missed;
2. every grid value counts alike, however rare;
3. correlated features: the model is asked about rows that do not occur.

Cost. Grid points squared times rows for each pair.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.diagnostics.general import general_caveats
from pellucid.errors import InputError
from pellucid.explanations import Header, Interactions, squeeze_outputs
from pellucid.games.marginal import background_rows
from pellucid.methods.importance.pdp_importance import curve_spread, unique_points
from pellucid.methods.interactions.estimation.dividends import rounding
from pellucid.methods.interactions.request import Request
from pellucid.reading import answer
from pellucid.runner import constant_intervention
from pellucid.stats import interval, weighted_mean

GRID = 10
LEVELS = 20
_MOST_ROWS = 3_000_000  # model rows, unless the caller gives the number of rows
_FEWEST = 50
_PARTS = 10
_ROUNDING = 1e-12


def greenwell(request: Request) -> Interactions:
    """How much the size of one feature's effect varies with the other feature, for each pair."""
    predictor, run = request.predictor, request.run
    columns = [_column(request, i) for i in range(len(request.players))]
    asked = {columns[i] for pair in request.sets for i in pair}
    points = {j: grid_points(request.data, j) for j in sorted(asked)}
    data = _rows(request, sum(len(points[columns[i]]) * len(points[columns[k]]) for i, k in request.sets))
    own = run.predict(predictor, data)
    spread = np.sqrt(weighted_mean(np.square(own - weighted_mean(own, data.weights)), data.weights))
    strength = np.full((len(request.sets), own.shape[1]), np.nan)
    se = np.full(strength.shape, np.nan)
    for s, (i, k) in enumerate(request.sets):
        if not run.interrupted:
            pair = columns[i], columns[k]
            strength[s], se[s] = _pair(request, data, pair, (points[pair[0]], points[pair[1]]), own)
    divisor = np.where(spread > 0, spread, np.inf) if request.normalize else np.ones_like(spread)
    values, errors = strength / divisor, se / divisor
    unknown = np.full(strength.shape, np.nan)
    unit = "standard deviations of the prediction" if request.normalize else "units of the prediction"
    low, high = interval(values, errors, least=0.0)
    return Interactions(
        method="greenwell",
        against=request.against,
        measure=f"variation of one feature's effect with the other, in {unit}",
        sets=request.set_names,
        values=squeeze_outputs(values),
        se=squeeze_outputs(errors),
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


def grid_points(data: Data, j: int) -> FloatArray:
    """Where the effect of a feature is looked at, in codes: observed values, or the most frequent categories."""
    codes = data.codes(j)
    known = ~np.isnan(codes) & (data.weights > 0)
    if not data.schema.features[j].nominal:
        return unique_points(codes[known], GRID)
    levels, place = np.unique(codes[known], return_inverse=True)
    mass = np.bincount(place, weights=data.weights[known], minlength=len(levels))
    return np.sort(levels[np.argsort(-mass, kind="stable")[:LEVELS]])


def _rows(request: Request, cells: int) -> Data:
    """The rows that partial dependence averages over: as many as asked for, or as the budget allows."""
    most = request.rows or max(_FEWEST, _MOST_ROWS // max(cells, 1))
    return background_rows(request.data, int(most), request.run)


def _pair(
    request: Request, data: Data, pair: tuple[int, int], points: tuple[FloatArray, FloatArray], own: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The strength of one pair and its standard error, from the sums of the tenths of the rows."""
    outputs = own.shape[1]
    nominal = tuple(data.schema.features[j].nominal for j in pair)
    if min(len(p) for p in points) < 2:
        return np.zeros(outputs), np.zeros(outputs)
    intervention = constant_intervention(data, pair, points)
    part = tenths_of(data)
    mass = np.bincount(part, weights=data.weights)
    sums = np.zeros((len(mass), intervention.variants, outputs))
    seen = np.zeros((len(mass), intervention.variants))
    for batch in answer(request.run, request.predictor, data, intervention).stream(partial=True):
        for b in range(len(mass)):
            weights = np.where(part[batch.rows] == b, data.weights[batch.rows], 0.0)
            sums[b, batch.variants] += weights @ batch.predictions
            seen[b, batch.variants] += weights.sum()
    if request.run.interrupted:
        return np.full(outputs, np.nan), np.full(outputs, np.nan)
    floor = np.maximum(rounding(own), _ROUNDING * np.abs(own).max(axis=0))

    def strength(kept: IntArray) -> FloatArray:
        table = sums[kept].sum(axis=0) / seen[kept].sum(axis=0)[:, None]
        found = table_strength(table.reshape(len(points[0]), len(points[1]), outputs), nominal)
        return np.where(found <= floor, 0.0, found)

    everything = np.arange(len(mass))
    without = np.stack([strength(np.delete(everything, b)) for b in everything])
    n = len(mass)
    se = np.sqrt((n - 1) / n * np.square(without - without.mean(axis=0)).sum(axis=0))
    return strength(everything), se


def tenths_of(data: Data) -> IntArray:
    """The tenth that each row belongs to, in turns; every tenth has rows that count."""
    counting = np.flatnonzero(data.weights > 0)
    part = np.zeros(len(data), dtype=np.intp)
    part[counting] = np.arange(len(counting)) % min(_PARTS, len(counting))
    return part


def table_strength(table: FloatArray, nominal: tuple[bool, ...]) -> FloatArray:
    """From PD_jk ``(a, b, outputs)``: the standard deviation of each one's importance over the other's values,
    averaged.
    """
    first = curve_spread(table.reshape(len(table), -1), nominal[0]).reshape(table.shape[1:])
    second = curve_spread(np.moveaxis(table, 1, 0).reshape(table.shape[1], -1), nominal[1])
    second = second.reshape(len(table), -1)
    return np.asarray((first.std(axis=0, ddof=1) + second.std(axis=0, ddof=1)) / 2)
