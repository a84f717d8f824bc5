"""Importance from partial dependence: a feature matters as much as its curve moves.

Greenwell, Boehmke and McCarthy 2018.

Definition. Numeric: the standard deviation (divisor K - 1) of the partial dependence over the K unique values.
Categorical: (max - min) / 4, the range rule for a standard deviation. ``at`` gives values of one's own instead.

When it misleads: blind to interactions that cancel in the average; every value counts alike, however rare;
the two formulas are not on quite the same footing.

Cost. Unique values (of a number at most ``grid``) times rows for each feature.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.data.grid import given_grids
from pellucid.diagnostics.by_measure import pdp_importance_caveats
from pellucid.errors import InputError
from pellucid.explanations import Header, Importance, squeeze_outputs
from pellucid.models import Predictor
from pellucid.reading import answer
from pellucid.runner import Run, constant_intervention


def pdp_importance(predictor: Predictor, data: Data, *, grid: int = 50, at: Any = None, run: Run) -> Importance:
    """Spread of each feature's partial dependence."""
    if data.schema.groups:
        raise InputError(
            "method='pdp' has no importance for groups; use method='permutation', or an Explainer without groups=."
        )
    own = given_grids(data.schema, at)
    values = spreads(predictor, data, grid, run, own)
    unknown = np.full(values.shape, np.nan)
    return Importance(
        method="pdp",
        measure="spread of partial dependence",
        compare="difference",
        values=squeeze_outputs(values),
        se=squeeze_outputs(unknown),
        low=squeeze_outputs(unknown),
        high=squeeze_outputs(unknown),
        repeats=np.empty((len(values), 0)),
        header=Header.of(
            predictor,
            data,
            run,
            {
                "method": "pdp",
                "random_state": run.seed,
                "grid": grid,
                **(
                    {"at": {data.schema.names[j]: data.schema.features[j].decode(own[j]).tolist() for j in own}}
                    if own
                    else {}
                ),
            },
            feature_names=data.schema.names,
            caveats=pdp_importance_caveats(predictor, data, run, values),
        ),
        members=tuple((name,) for name in data.schema.names),
    )


def spreads(
    predictor: Predictor, data: Data, grid: int, run: Run, own: Mapping[int, FloatArray] | None = None
) -> FloatArray:
    """``(features, outputs)``: how much each feature's curve moves, over its unique values or a grid of its ``own``."""
    features = data.schema.features
    points = [
        own[j]
        if own and j in own
        else unique_points(data.codes(j), max(grid, feature.distinct) if feature.nominal else grid)
        for j, feature in enumerate(features)
    ]
    known = [j for j in range(len(features)) if len(points[j])]
    interventions = [constant_intervention(data, (j,), (points[j],)) for j in known]
    found = answer(run, predictor, data, *interventions).averaged(np.empty(0, dtype=np.intp))
    values = np.zeros((len(features), len(predictor.output_names)))
    for j, (moment, _) in zip(known, found, strict=True):
        values[j] = curve_spread(moment.mean, features[j].nominal)
    return values


def curve_spread(curve: FloatArray, nominal: bool) -> FloatArray:
    """Standard deviation over unique values, or a quarter of the range over categories."""
    if len(curve) < 2:
        return np.zeros(int(curve.shape[-1]))
    if nominal:
        return np.asarray((curve.max(axis=0) - curve.min(axis=0)) / 4)
    return np.asarray(curve.std(axis=0, ddof=1))


def unique_points(codes: FloatArray, most: int) -> FloatArray:
    """The distinct values; beyond ``most``, evenly spaced among the sorted distinct values."""
    values = np.unique(codes[~np.isnan(codes)])
    if len(values) <= most:
        return values
    return values[np.linspace(0, len(values) - 1, most).round().astype(int)]
