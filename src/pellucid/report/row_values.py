"""The values of one row beside the usual ones, with what each contributed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pellucid.data import Data
from pellucid.explanations import Attribution
from pellucid.explanations.attribution import shown_value
from pellucid.explanations.attribution_causes import remark
from pellucid.explanations.attribution_words import amount
from pellucid.report.cards import Plain, table
from pellucid.stats import weighted_median

_HEAD = ("Feature", "Value in this row", "Usual value", "Contribution")


def value_table(data: Data, one: Attribution, order: Sequence[int], *, shown: int) -> Plain | None:
    """A line for each feature of ``order`` (positions in ``one``, a single row); those beyond ``shown`` are folded
    away.
    """
    low, high = one.interval()
    players = data.schema.players()
    rows = []
    for j in order:
        name = one.feature_names[j]
        value = f"{shown_value(one.data[j][0])}{remark(one, j)}"
        usual = "" if one.grouped(j) else usual_value(data, players[name][0])
        half = float(high[0, j] - low[0, j]) / 2
        rows.append([name, value, usual, amount(float(one.values[0, j]), half)])
    return table(_HEAD, rows, shown=shown, what="features") if rows else None


def usual_value(data: Data, j: int) -> str:
    """The median of what has an order, the most frequent of what has none; by weight, among the values that are
    known.
    """
    feature, codes = data.schema.features[j], data.codes(j)
    known = ~np.isnan(codes) & (data.weights > 0)
    if not known.any():
        return ""
    codes, weights = codes[known], data.weights[known]
    if feature.kind in ("categorical", "boolean"):
        levels, place = np.unique(codes, return_inverse=True)
        code = levels[int(np.argmax(np.bincount(place, weights)))]
    else:
        code = weighted_median(codes, weights)
        if feature.kind != "numeric":  # between two values there need not be one
            code = codes[codes <= code].max()
    return shown_value(feature.decode(np.array([code]))[0])
