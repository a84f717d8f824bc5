"""Importance from Shapley values: a feature matters as much as it contributes to single predictions, on average.

Reference. Lundberg, Erion et al. 2020; Lundberg and Lee 2017.

Definition. ``importance_j = mean over rows of |phi_ij|``, with phi the contributions of `shap` in the marginal game, in
the units of the prediction. Some texts sum instead of averaging: the sum is this
times the number of rows, with the same ranking (`Attribution.plot(kind="bar", aggregate="sum")` draws it). Weighted
rows have a weighted mean.

Estimator. Trees and linear models are read, for all rows (at most 20,000; for a sample of 300 where a link stands
between their sum and the prediction, as in boosted classifiers). Any other model is asked about a seeded
sample of rows: as many as all coalitions allow within the ``budget`` of model rows (1,000,000 unless told), at least
100 where that is possible. The interval is about the population (with a background of one's own: given that). A row
counts as explained and, where X is its own background, as a part of that: what it contributes is what all others
contribute less, so its influence is ``|phi_ij| - s_j phi_ij`` with s_j the mean sign of phi_j. The standard error adds
up the spread of that over rows and the estimator's own error, which may be the same for all rows and is counted as if
it were; ends are Student's, corrected for skewness. ``tolerance`` is that of the single contributions.

When it misleads:
1. it is about predictions, not about how good they are: a feature the model has overfitted counts like any other;
2. correlated features: the model is evaluated at rows that do not occur, and what they share is divided between
   them;
3. an absolute value cannot be negative: sampling errors of the contributions raise small importances.

Cost. Nothing to speak of for trees and linear models, else at most ``budget`` model rows.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.explanations import Attribution, Header, Importance, squeeze_outputs
from pellucid.games.marginal import MOST, background_rows
from pellucid.methods.attribution.shap import shap
from pellucid.methods.importance.request import Request
from pellucid.reading import SumRows, TreeRows, read
from pellucid.runner import Cost
from pellucid.stats import effective_size, skewed_interval, skewness, standard_error, weighted_mean

_BUDGET = 1_000_000  # model rows
_READ_ROWS = 20_000
_LINKED_ROWS = 300  # of trees and terms before a link: some milliseconds each
_ASKED_ROWS = 100
_FEWEST_PAIRS = 16  # of coalitions for each row
_PROBED = 20  # rows on which trees and terms are tried


def shap_importance(request: Request) -> Importance:
    """Mean absolute contribution of each feature (or group)."""
    q, run = request, request.run
    most = _read_rows(q)
    rows = _sample(q, _asked_rows(q) if most is None else most)
    given = q.budget is not None or q.tolerance is not None
    budget = _BUDGET if most is None and not given else q.budget
    why = shap(
        q.predictor, q.data, rows.tolist(), background=q.background, budget=budget, tolerance=q.tolerance, run=run
    )
    found = from_contributions(why, q.data.weights[rows], own_background=q.background is None)
    return run.finish(found, settings={**found.settings, "method": "shap"}, library=q.data.caller)


def from_contributions(why: Attribution, weights: FloatArray, *, own_background: bool = False) -> Importance:
    """The mean absolute contributions in some rows, as a measure of importance that costs nothing more.

    ``own_background`` says that features are absent as in the data the rows come from.
    """
    values, errors, skew = mean_absolute(why, weights, own_background=own_background)
    low, high = skewed_interval(values, errors, skew, effective_size(weights))
    low = np.maximum(low, 0.0)
    return Importance(
        method="shap",
        measure="mean |contribution|",
        compare="difference",
        values=squeeze_outputs(values),
        se=squeeze_outputs(errors),
        low=squeeze_outputs(low),
        high=squeeze_outputs(high),
        repeats=np.empty((len(values), 0)),
        header=Header(
            feature_names=why.feature_names,
            output_names=why.output_names,
            scale=why.scale,
            caveats=why.caveats,
            cost=Cost(0, 0.0, 0, 0.0),
            settings={**why.settings, "rows": len(weights)},
            library=why.library,
        ),
        members=why.entries.members,
    )


def mean_absolute(
    why: Attribution, weights: FloatArray, *, own_background: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean over rows of the absolute contributions, its standard error and the skewness of what it is a mean of,
    ``(features, outputs)``.
    """
    phi = why.stacked()
    size, own = np.abs(phi), why.se.reshape(phi.shape)
    influence = size - weighted_mean(np.sign(phi), weights) * phi if own_background else size
    drawn = standard_error(influence, weights)
    error = np.hypot(drawn, weighted_mean(own, weights))
    share = np.where(error > 0, drawn / np.where(error > 0, error, 1.0), 0.0)
    return weighted_mean(size, weights), error, np.asarray(skewness(influence, weights) * share**3)


def _read_rows(q: Request) -> int | None:
    """How many rows are explained where the model's trees or terms can be read; None where it has to be asked."""
    some = q.data.take(q.data.spread(_PROBED))
    found = read(q.run, q.predictor, q.data, some, lambda _: _background(q), linked=True)
    if isinstance(found, TreeRows):
        return _READ_ROWS if found.scale == q.predictor.scale else _LINKED_ROWS if found.linkable else None
    if isinstance(found, SumRows):
        return _READ_ROWS if found.link == "identity" else _LINKED_ROWS
    return None


def _background(q: Request) -> Data:
    return background_rows(q.data, q.background, q.run, most=MOST)


def _asked_rows(q: Request) -> int:
    """How many rows the budget allows: with all coalitions if that gives at least 100, else with enough of them."""
    players = len(q.data.schema.players())
    price = len(_background(q))
    budget = _BUDGET if q.budget is None else int(q.budget)
    all_coalitions = budget // (price * 2 ** min(players, 40))
    some_coalitions = budget // (price * 4 * max(players, _FEWEST_PAIRS))
    return max(all_coalitions, min(_ASKED_ROWS, some_coalitions), 1)


def _sample(q: Request, most: int) -> IntArray:
    """Rows that count, all of them or a seeded sample."""
    counting = np.flatnonzero(q.data.weights > 0)
    if len(counting) <= most:
        return counting
    return np.sort(q.run.generator("shap-importance.rows").choice(counting, most, replace=False))
