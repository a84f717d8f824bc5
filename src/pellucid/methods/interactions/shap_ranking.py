"""Interaction strength from Shapley values: how much of the predictions is shared out to pairs.

Lundberg et al. 2018 (the interaction values), averaged over rows.

Definition. I_jk(x) is the Shapley interaction index of the pair in row x: twice the off-diagonal ``interaction_values``
of `shap`, which give half to either feature. The strength of a pair is the mean of |I_jk| over rows; that of one
feature (``against="all"``) the mean of sum_k |I_jk|. ``normalize=True`` divides by the mean of all absolute parts,
those of the features alone and those of the pairs: the share of the attribution that the pair has, between 0 and 1.

Estimator. Exact for trees and additive models, on `TREE_ROWS` rows drawn at random; any other model is asked for
coalitions on `ASKED_ROWS` rows against `BACKGROUND` background rows. Standard errors join the spread between rows and
the uncertainty of each row's values.

When it misleads:
1. a mean of absolute values: noise in sampled interaction values never cancels, so weak pairs look stronger than they
   are;
2. it counts in the scale that `shap` explains (log-odds for boosted classifiers);
3. as Shapley values: absent features are drawn from the background without regard to the present ones.

Cost. That of ``shap(rows, interactions=True)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.explanations import Attribution, Header, Interactions, squeeze_outputs
from pellucid.games.marginal import background_rows
from pellucid.methods.attribution.shap import shap
from pellucid.methods.interactions.estimation.dividends import rounding
from pellucid.methods.interactions.request import Request
from pellucid.reading.trees import ExplainedTrees, explained_trees
from pellucid.stats import interval, standard_error, weighted_mean

TREE_ROWS = 500
ASKED_ROWS = 50
BACKGROUND = 100
_ROUNDING = 1e-12  # of a row's attributions
_DOUBLE = 64 * float(np.finfo(np.float64).eps)  # of the predictions


def shap_ranking(request: Request) -> Interactions:
    """Mean absolute interaction values."""
    q = request
    trees = isinstance(explained_trees(q.predictor, q.data.take(q.data.spread(1)), q.data, q.run), ExplainedTrees)
    rows = background_rows(q.data, int(q.rows or (TREE_ROWS if trees else ASKED_ROWS)), q.run)
    result = shap(
        q.predictor,
        q.data,
        rows.frame.native,
        background=_background(q.background, trees),
        interactions=True,
        run=q.run,
    )
    sizes, uncertain, total = _sizes(result, _floor(result, trees))
    picked = np.stack([_of_set(sizes, players) for players in q.sets], axis=1)
    doubtful = np.stack([_of_set(uncertain, players) for players in q.sets], axis=1)
    strength = weighted_mean(picked, rows.weights)
    # Rows share their coalitions, so their errors are taken to be correlated.
    se = np.hypot(standard_error(picked, rows.weights), weighted_mean(doubtful, rows.weights))
    whole = weighted_mean(total, rows.weights)
    divisor = np.where(whole > 0, whole, np.inf) if q.normalize else np.ones_like(whole)
    values, errors = strength / divisor, se / divisor
    unit = "share of all attributions" if q.normalize else f"mean absolute interaction value, {result.scale}"
    low, high = interval(values, errors, least=0.0)
    return Interactions(
        method="shap",
        against=q.against,
        measure=unit,
        sets=q.set_names,
        values=squeeze_outputs(values),
        se=squeeze_outputs(errors),
        low=squeeze_outputs(low),
        high=squeeze_outputs(high),
        strength=squeeze_outputs(strength),
        joint=squeeze_outputs(np.full(strength.shape, np.nan)),
        header=Header(
            feature_names=q.feature_names,
            output_names=result.output_names,
            scale=result.scale,
            caveats=result.caveats,
            cost=q.run.cost(),
            library=q.data.caller,
            settings={
                "method": "shap",
                "algorithm": result.method,
                "rows": len(rows),
                "background": result.reference.rows,
            },
        ),
    )


def _background(given: Any, trees: bool) -> Any:
    return BACKGROUND if given is None and not trees else given


def _floor(result: Attribution, exact: bool) -> FloatArray:
    """What rounding makes of differences of the predictions, by output; trees are added up in double precision."""
    seen = result.stacked("prediction")
    return _DOUBLE * np.abs(seen).max(axis=0) if exact else rounding(seen)


def _sizes(result: Attribution, floor: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """|I_jk| ``(rows, features, features, outputs)`` off the diagonal, their errors, and the sum of all parts per
    row.
    """
    parts = np.abs(result.stacked("interaction_values"))
    parts = np.where(parts <= floor, 0.0, parts)
    alone = np.einsum("njjo->njo", parts)
    sizes = 2 * parts * (1 - np.eye(parts.shape[1]))[:, :, None]
    assert result.interactions is not None
    known = result.interactions.se
    errors = np.zeros_like(sizes) if known is None else 2 * known.reshape(parts.shape)
    total = alone.sum(axis=1) + sizes.sum(axis=(1, 2)) / 2
    return np.where(sizes <= _ROUNDING * total[:, None, None], 0.0, sizes), errors, total


def _of_set(sizes: FloatArray, players: tuple[int, ...]) -> FloatArray:
    """Of each row: the size of a pair, or of all pairs with one feature."""
    if len(players) == 2:
        return sizes[:, players[0], players[1]]
    others = [k for k in range(sizes.shape[1]) if k != players[0]]
    return np.asarray(sizes[:, players[0], others].sum(axis=1))
