"""Sobol indices: the share of the variance of the predictions that a feature is behind, alone and in all.

Sobol 1993; Homma and Saltelli 1996; Saltelli et al. 2010.

Definition. For independent features with variance V = Var f(X),

    first-order index  S_i = Var E[f | X_i] / V          what is explained by the feature alone,
    total index        T_i = E Var[f | X_-i] / V         what is left unexplained when all but the feature are known:
                                                         its own share and all interactions it takes part in.

S_i <= T_i; the S_i add up to at most one, the T_i to at least one, both to exactly one where nothing interacts. The
features (or groups, whose columns stay together) are taken to be independent, each distributed as in X, with its
weights.

Estimator. Tree ensembles: exact, by pairs of leaves (`pellucid.trees.product_measure`), where the trees add up to what
is explained. Other models: picking and freezing on scrambled Sobol points with a control variate (`pick_freeze`);
standard errors and 95% intervals come from independent scramblings. An estimate below 0 or above 1 is set to 0 or 1.

When it misleads.

1. Features that go together: indices of independent features mix values that do not occur, and do not add up to the
   variance of the predictions on the data; use ``method="shapley-effects"``.
2. The variance of the predictions, not of the outcome, is shared: a feature that the model has overfitted to is
   important here and worthless in truth (permutation importance on held-out data shows it).
3. Variance is one measure of spread: a feature that matters in few rows, or in the tails, has a small index.

Cost. Trees: at most some 700 rows. Else about 50,000 rows, or ``budget`` rows, or as many as ``tolerance`` takes.
"""

from __future__ import annotations

from pellucid.diagnostics.by_measure import variance_caveats
from pellucid.explanations import Importance
from pellucid.explanations.explanation import squeeze_outputs
from pellucid.methods.importance.inputs import Inputs
from pellucid.methods.importance.request import Question
from pellucid.methods.importance.variance_shares import VarianceShares, variance_shares

_NAMES = {"sobol": "the Sobol index", "anova": "the analysis of variance"}


def sobol(question: Question) -> Importance:
    """Total Sobol indices, and first-order ones beside."""
    players = question.data.schema.players()
    names = sorted(players)  # random numbers follow the names, not the order of the columns
    found = variance_shares(question, Inputs.of_rows(question.data, [players[name] for name in names]))
    return as_importance(question, found, names, method="sobol", measure="total Sobol index")


def as_importance(
    question: Question, found: VarianceShares, names: list[str], *, method: str, measure: str
) -> Importance:
    """The result, with the players in the order of the columns."""
    players = question.data.schema.players()
    order = [names.index(name) for name in players]
    values = squeeze_outputs(found.total[order])
    return Importance(
        method=method,
        measure=measure,
        compare="share",
        values=values,
        se=squeeze_outputs(found.total_se[order]),
        low=squeeze_outputs(found.low[order]),
        high=squeeze_outputs(found.high[order]),
        repeats=squeeze_outputs(found.repeats[order]),
        first=squeeze_outputs(found.first[order]),
        first_se=squeeze_outputs(found.first_se[order]),
        feature_names=tuple(players),
        output_names=question.predictor.output_names,
        scale=question.predictor.scale,
        members=tuple(tuple(question.data.schema.names[j] for j in player) for player in players.values()),
        caveats=variance_caveats(
            question.predictor,
            question.data,
            question.run,
            players=players,
            total=found.total[order],
            half=found.width * found.total_se[order],
            method=_NAMES[method],
            tolerance=question.tolerance,
        ),
        cost=question.run.cost(),
        settings={
            "method": method,
            "random_state": question.run.seed,
            "variance": found.variance.tolist(),
            **found.settings,
        },
        library=question.data.caller,
    )
