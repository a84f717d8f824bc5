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
from pellucid.stats import GroupMoments, skewed_interval


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
    found = GroupMoments.of(cells, len(points), predictions, w)
    size = found.size[:, None]
    se = found.sd / np.sqrt(size)
    low, high = skewed_interval(found.mean, se, found.skew, size)
    effect = build_effect(
        "mplot",
        predictor,
        data,
        run,
        Estimate((j,), (points,), found.mean, se, low, high, found.mean, found.mass, found.sd),
        caveats=(*general_caveats(predictor, data, run), *mixing_caveat(data, j, run)),
        settings={"bins": bins},
    )
    if ranges is None:
        return effect
    return changed(effect, ranges=np.stack([described.decode(ends) for ends in ranges.T], axis=1))
