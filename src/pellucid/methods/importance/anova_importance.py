"""Importance by functional analysis of variance: shares of the variance over the whole range of the features.

Hooker 2004; Sobol 1993.

Definition. As the Sobol indices (see `sobol`), with every feature uniform between its smallest and largest value in X
(on its whole numbers, if it has only those; on its levels, if it has levels), independently of the others. The value is
the total share, the sum of the variances of all components of the functional ANOVA decomposition that contain the
feature; ``first`` is the share of its main effect, the component of the feature alone.

Estimator. As `sobol`: exact for tree ensembles (without groups), picking and freezing otherwise. A uniform distribution
of a number stands on 8,192 evenly spaced values.

When it misleads.

1. Every part of the range counts alike, however few rows are there: one outlier stretches the range of its feature and
   with it the importance. `sobol` weighs values as the data do.
2. Correlated features: as for `sobol`, and more so.
3. Missing values are left out.

Cost. As `sobol`.
"""

from __future__ import annotations

from pellucid.explanations import Importance
from pellucid.methods.importance.estimation.inputs import Inputs
from pellucid.methods.importance.request import Request
from pellucid.methods.importance.sobol import as_importance, variance_shares


def anova_importance(request: Request) -> Importance:
    """Total shares of the variance under the uniform distribution, and those of the main effects beside."""
    players = request.data.schema.players()
    names = sorted(players)
    found = variance_shares(request, Inputs.uniform(request.data, [players[name] for name in names]))
    return as_importance(request, found, names, method="anova", measure="total share of variance over the ranges")
