"""Marginal plot: the average prediction of the rows that have a value.

Definition. ``M(x_S) = E[f(X_S, X_C) | X_S = x_S]``. Estimator. The mean prediction of the rows in each
quantile bin (drawn at the bin's mean value, with the range of its values), or of the rows of each category.

When it misleads: it mixes the effect of the feature with the effects of all features that are correlated with
it. It is here to be compared with PDP and ALE.

Cost. One prediction per row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.arrays import group_sums
from pellucid.checks import whole
from pellucid.data import Data
from pellucid.data.grid import bin_index, quantile_edges, snap
from pellucid.diagnostics import general_caveats
from pellucid.diagnostics.correlated import mixing_caveat
from pellucid.errors import InputError
from pellucid.explanations import Effect
from pellucid.explanations.explanation import changed
from pellucid.methods.effects.estimation.effect import Estimate, build_effect
from pellucid.models import Predictor
from pellucid.runner import Run


def mplot(predictor: Predictor, data: Data, feature: Any, *, bins: int = 20, run: Run) -> Effect:
    """Mean prediction given the value of one feature."""
    bins = whole("bins", bins)
    j, *more = data.schema.indices(feature)
    described = data.schema.features[j]
    if more:
        raise InputError("mplot takes one feature.")
    if described.empty:
        raise InputError(f"feature {described.name!r} is missing in every row; there is no value to show an effect at.")
    codes, weights = data.codes(j), data.weights
    if described.nominal or described.distinct <= bins:
        present = ~np.isnan(codes) & (weights > 0)
        points, cells = np.unique(codes[present], return_inverse=True)
        ranges = None
    else:
        index = bin_index(codes, quantile_edges(codes, bins, weights))
        present = (index >= 0) & (weights > 0)
        cells = index[present]
        sums = [np.bincount(cells, weights=part) for part in (weights[present] * codes[present], weights[present])]
        points = snap(described, sums[0] / sums[1])
        ranges = np.full((len(points), 2), [np.inf, -np.inf])
        np.minimum.at(ranges[:, 0], cells, codes[present])
        np.maximum.at(ranges[:, 1], cells, codes[present])
    predictions = run.predict(predictor, data)[present]
    w = weights[present]
    mass = np.asarray(np.bincount(cells, weights=w, minlength=len(points)), dtype=np.float64)
    size = np.square(mass) / np.bincount(cells, weights=np.square(w), minlength=len(points))
    mean = group_sums(cells, len(points), w[:, None] * predictions) / mass[:, None]
    squares = group_sums(cells, len(points), w[:, None] * np.square(predictions - mean[cells])) / mass[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        sd = np.where(size[:, None] > 1 + 1e-9, np.sqrt(squares * (size / (size - 1))[:, None]), np.nan)
    effect = build_effect(
        "mplot",
        predictor,
        data,
        run,
        Estimate((j,), (points,), mean, sd / np.sqrt(size)[:, None], mean, mass, sd),
        caveats=(*general_caveats(predictor, data, run), *mixing_caveat(data, j, run)),
        settings={"bins": bins},
    )
    if ranges is None:
        return effect
    return changed(effect, ranges=np.stack([described.decode(ends) for ends in ranges.T], axis=1))
