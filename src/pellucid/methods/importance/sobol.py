"""Sobol indices: the share of the variance of the predictions that a feature is behind, alone and in all.

Sobol 1993; Homma and Saltelli 1996; Saltelli et al. 2010.

Definition. For independent features with variance V = Var f(X),

    first-order index  S_i = Var E[f | X_i] / V          what is explained by the feature alone,
    total index        T_i = E Var[f | X_-i] / V         what is left unexplained when all but the feature are known:
                                                         its own share and all interactions it takes part in.

S_i <= T_i; the S_i add up to at most one, the T_i to at least one, both to exactly one where nothing interacts. The
features (or groups, whose columns stay together) are taken to be independent, each distributed as in X, with its
weights, or evenly over a range of one's own (``ranges``).

Estimator. Tree ensembles: exact, by pairs of leaves (`pellucid.trees.product_measure`), where the trees add up to what
is explained. Other models: picking and freezing on scrambled Sobol points with a control variate (`pick_freeze`);
standard errors and 95% intervals come from independent scramblings. An estimate below 0 or above 1 is set to 0 or 1.
Where ten of the points have a tenth of the variance (``settings["carried"]``, caveat "few-carry-all"), points that were
not drawn may have more, and no interval says so.

When it misleads.

1. Correlated features: indices of independent features mix values that do not occur, and do not add up to the
   variance of the predictions on the data; use ``method="shapley-effects"``.
2. The variance of the predictions, not of the outcome, is shared: a feature that the model has overfitted to is
   important here and worthless in truth (permutation importance on held-out data shows it).
3. Variance is one measure of spread: a feature that matters in few rows, or in the tails, has a small index.

Cost. Trees: at most some 700 rows. Else about 50,000 rows, or ``budget`` rows, or as many as ``tolerance`` takes.

*Importance by functional analysis of variance* (`anova_importance`; Hooker 2004, Sobol 1993): the same, with every
feature uniform between its smallest and largest value in X (on its whole numbers, if it has only those; on its levels,
if it has levels), independently of the others. The value is the total share, the sum of the variances of all components
of the functional ANOVA decomposition that contain the feature; ``first`` is the share of its main effect, the component
of the feature alone. A uniform distribution of a number stands on 8,192 evenly spaced values. Every part of the range
counts alike, however few rows are there: one outlier stretches the range of its feature and with it the importance.
Missing values are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.data.grid import given_ranges
from pellucid.diagnostics.by_measure import variance_caveats
from pellucid.errors import InputError
from pellucid.explanations import Header, Importance, squeeze_outputs
from pellucid.methods.importance.estimation.inputs import Inputs, Unit
from pellucid.methods.importance.estimation.pick_freeze import Moments, half_width, pick_freeze
from pellucid.methods.importance.request import Request
from pellucid.models import Predictor
from pellucid.reading.trees import ExplainedTrees, explained_trees
from pellucid.runner import Run
from pellucid.trees.leaf_conditions import Distribution
from pellucid.trees.product_measure import Shares, pairs_of_leaves, variance_parts

_NAMES = {"sobol": "the Sobol index", "anova": "the analysis of variance"}
_MOST_PAIRS = 1e9  # some ten seconds
_AGREEING = 100  # rows on which the trees must give the model's predictions


def sobol(request: Request) -> Importance:
    """Total Sobol indices, and first-order ones beside."""
    players, ranges = request.data.schema.players(), given_ranges(request.data.schema, request.ranges)
    names = sorted(players)  # random numbers follow the names, not the order of the columns
    found = variance_shares(request, Inputs.of_rows(request.data, [players[name] for name in names], ranges))
    return as_importance(request, found, names, method="sobol", measure="total Sobol index")


def as_importance(
    request: Request, found: VarianceShares, names: list[str], *, method: str, measure: str
) -> Importance:
    """The result, with the players in the order of the columns."""
    players = request.data.schema.players()
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
        header=Header.of(
            request.predictor,
            request.data,
            request.run,
            {
                "method": method,
                "random_state": request.run.seed,
                "variance": found.variance.tolist(),
                **_box(request),
                **found.settings,
            },
            caveats=variance_caveats(
                request.predictor,
                request.data,
                request.run,
                players=players,
                total=found.total[order],
                half=found.width * found.total_se[order],
                method=_NAMES[method],
                tolerance=request.tolerance,
                carried=max(found.settings.get("carried", [0.0])),
            ),
        ),
        members=request.data.schema.members(),
    )


def _box(request: Request) -> dict[str, Any]:
    """The ranges that were given, by the names of the features."""
    schema = request.data.schema
    ranges = given_ranges(schema, request.ranges)
    ends = {schema.names[j]: schema.features[j].decode(np.array(pair)).tolist() for j, pair in ranges.items()}
    return {"ranges": ends} if ends else {}


# -- the shares, exactly from trees, or by picking and freezing ------------------------------------
#
# Shares of the prediction's variance as an importance: exactly from trees, or by picking and freezing.
#
# Trees (see `pellucid.trees.product_measure`) answer where they add up to what is explained and are not so many that
# pairs of leaves would take too long; any other model is asked.


@dataclass(frozen=True, eq=False)
class VarianceShares:
    """Total and first-order shares ``(players, outputs)`` with standard errors and 95% intervals; zero errors where
    exact.

    ``variance`` is that of the predictions, ``(outputs,)``; ``repeats`` the total share by each scrambling.
    """

    total: FloatArray
    total_se: FloatArray
    first: FloatArray
    first_se: FloatArray
    variance: FloatArray
    repeats: FloatArray
    width: float = 0.0
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def low(self) -> FloatArray:
        return np.clip(self.total - self.width * self.total_se, 0.0, 1.0)

    @property
    def high(self) -> FloatArray:
        return np.clip(self.total + self.width * self.total_se, 0.0, 1.0)


def variance_shares(request: Request, inputs: Inputs) -> VarianceShares:
    """How the variance of the predictions is shared, the players being independent."""
    if inputs.data.frame.kind == "sparse" and inputs.measure == "uniform":
        raise InputError("method='anova' needs every cell of a sparse table; use method='sobol'.")
    exact = _by_trees(request.predictor, request.data, inputs, request.run)
    if exact is not None:
        return exact
    found = pick_freeze(request.run, request.predictor, inputs, budget=request.budget, tolerance=request.tolerance)
    return _sampled(found, request)


def _sampled(found: Moments, request: Request) -> VarianceShares:
    """Estimates; a share is never below 0 or above 1, so estimates that are (by chance) are set there."""
    total, total_se, repeats = found.shares(found.total)
    first, first_se, _ = found.shares(found.first)
    settings = {
        "how": "sampled",
        "points": found.points,
        "scramblings": len(found.variance),
        "resembled": found.explained.tolist(),
        "carried": found.carried.tolist(),
        "budget": request.budget,
        "tolerance": request.tolerance,
    }
    return VarianceShares(
        np.clip(total, 0.0, 1.0),
        total_se,
        np.clip(first, 0.0, 1.0),
        first_se,
        found.variance.mean(axis=0),
        np.moveaxis(repeats, 0, 1),
        half_width(len(found.variance)),
        settings,
    )


# -- trees -------------------------------------------------------------------------------------------


def _by_trees(
    predictor: Predictor, data: Data, inputs: Inputs, run: Run, most_pairs: float = _MOST_PAIRS
) -> VarianceShares | None:
    """The exact shares, where the model's trees give them."""
    if any(len(units) > 1 for units in inputs.players) or data.frame.kind == "sparse":
        return None
    trees = explained_trees(predictor, data.take(data.spread(_AGREEING)), data, run)
    if not isinstance(trees, ExplainedTrees) or trees.scale != predictor.scale:
        return None
    distributions, present = _distributions(predictor, trees, inputs)
    shares = Shares.of(trees.trees.ensemble, distributions)
    if pairs_of_leaves(shares) > most_pairs:
        return None
    parts = variance_parts(shares, run)
    size = np.square(1e-12 * (np.abs(parts.mean) + np.abs(shares.value).max(axis=0, initial=0.0)))
    still = parts.variance <= size  # nothing but rounding
    known = np.where(still, 1.0, parts.variance)
    first, total = np.zeros((2, len(inputs.players), len(known)))
    first[present] = np.where(still, 0.0, np.clip(parts.first / known, 0.0, 1.0))
    total[present] = np.where(still, 0.0, np.clip(parts.total / known, 0.0, 1.0))
    nothing = np.zeros_like(total)
    settings = {"how": "exact", "leaves": len(shares.value)}
    return VarianceShares(
        total, nothing, first, nothing, parts.variance, np.empty((len(total), 0, len(known))), 0.0, settings
    )


def _distributions(predictor: Predictor, trees: ExplainedTrees, inputs: Inputs) -> tuple[list[Distribution], IntArray]:
    """How the columns that the trees compare are distributed, and the units that they come from."""
    model = trees.trees
    feature = np.asarray(predictor.columns, dtype=np.intp)[model.source]
    owner = {j: u for u, unit in enumerate(inputs.units) for j in unit.columns}
    unit_of = np.array([owner[int(j)] for j in feature], dtype=np.intp)
    matrix = model.encode(predictor.dressed(_table(inputs).frame))
    found = []
    present = np.unique(unit_of)
    for u in present:
        columns = tuple(int(c) for c in np.flatnonzero(unit_of == u))
        unit = inputs.units[u]
        points = matrix[: len(unit.mass), list(columns)]
        even = _even_range(unit, inputs, points)
        if even is not None and not _has_sets(trees, columns[0]):
            found.append(Distribution.uniform(columns[0], *even))
        else:
            found.append(Distribution.of_points(columns, points, unit.mass))
    return found, present


def _even_range(unit: Unit, inputs: Inputs, points: FloatArray) -> tuple[float, float] | None:
    """The range of a uniform column that the trees see as it is."""
    feature = inputs.data.schema.features[unit.columns[0]]
    plain = unit.even is not None and feature.kind == "numeric" and points.shape[1] == 1
    if not (plain and unit.varies and np.array_equal(points, unit.codes)):
        return None
    return unit.even


def _has_sets(trees: ExplainedTrees, column: int) -> bool:
    nodes = trees.trees.ensemble.nodes
    return bool((nodes.set_words[nodes.feature == column] > 0).any())


def _table(inputs: Inputs) -> Data:
    """A table whose first rows hold the values of each unit, over and over."""
    n = max(len(unit.mass) for unit in inputs.units)
    codes = np.empty((n, len(inputs.data.schema.features)))
    for unit in inputs.units:
        codes[:, list(unit.columns)] = unit.codes[np.arange(n) % len(unit.mass)]
    return inputs.data.of_codes(codes)


def anova_importance(request: Request) -> Importance:
    """Total shares of the variance under the uniform distribution, and those of the main effects beside."""
    players, ranges = request.data.schema.players(), given_ranges(request.data.schema, request.ranges)
    names = sorted(players)
    found = variance_shares(request, Inputs.uniform(request.data, [players[name] for name in names], ranges))
    return as_importance(request, found, names, method="anova", measure="total share of variance over the ranges")
