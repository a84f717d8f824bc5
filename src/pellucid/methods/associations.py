"""Associations between the features (which of them are correlated).

Definition. Of two numeric features the absolute Pearson correlation; of a numeric and a categorical one the square root
of the variance explained, ``sqrt(SSB/SST)``; of two categorical ones Cramer's V. The higher, the less a partial
dependence plot can be trusted for either.

When it misleads: a relation without a trend (a parabola, a cycle) has no correlation; outliers make or hide one
(`clusters` takes ranks); pairs only, so a feature that several others determine together is not seen.

Cost. No model rows; features squared times rows.
"""

from __future__ import annotations

import numpy as np

from pellucid.data import Data
from pellucid.data.association import association_matrix
from pellucid.errors import InputError
from pellucid.explanations import Associations, Caveat
from pellucid.explanations.explanation import Header, changed
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import number

_RISKY = 0.7
_WIDEST = 2000


def associations(predictor: Predictor, data: Data, *, run: Run) -> Associations:
    """Association of every pair of features."""
    if len(data.schema.features) > _WIDEST:
        raise InputError(
            f"X has {len(data.schema.features)} features; a map of all pairs is drawn for at most {_WIDEST}: give fewer"
            " columns."
        )
    matrix = association_matrix(data)
    result = Associations(
        values=matrix,
        se=np.full(matrix.shape, np.nan),
        header=Header.of(
            predictor, data, run, {"method": "associations"}, feature_names=data.schema.names, scale="association"
        ),
    )
    risky = [pair for pair in result.strongest(len(matrix) ** 2) if pair[2] >= _RISKY] if run.checks else []
    if not risky:
        return result
    a, b, value = risky[0]
    caveat = Caveat(
        code="dependent-features",
        message=f"{_pairs(len(risky))} strongly, first of all {a} and {b} ({number(value)}).",
        value=value,
        threshold=_RISKY,
        advice=(
            "Partial dependence, permutation importance and marginal Shapley values of these features ask the model"
            " about unlikely points; prefer ale, or group the features."
        ),
        feature=a,
    )
    return changed(result, caveats=(caveat,))


def _pairs(count: int) -> str:
    return "One pair of features is associated" if count == 1 else f"{count} pairs of features are associated"
