"""Contributions as an object of the package shap, for those who know its plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.errors import require
from pellucid.explanations.attribution_words import shown_value

if TYPE_CHECKING:
    from pellucid.explanations.attribution import Attribution


def shap_explanation(found: Attribution, starts: FloatArray) -> Any:
    """A ``shap.Explanation``; ``starts`` (rows, or rows x outputs) is what each row's contributions start from."""
    shap = require("shap", purpose="to_shap()")
    names = list(found.output_names)
    return shap.Explanation(
        values=np.array(found.values),
        base_values=np.array(starts),
        data=_table(found),
        feature_names=list(found.feature_names),
        output_names=names if len(names) > 1 else names[0],
    )


def _table(found: Attribution) -> AnyArray:
    """The values of the features (rows, features): numbers where all are, else numbers beside text."""
    numeric = [column.dtype.kind in "biuf" for column in found.data]
    if all(numeric):
        return np.stack([column.astype(np.float64) for column in found.data], axis=1)
    table = np.empty((len(found), len(found.data)), dtype=object)
    for j, (column, is_number) in enumerate(zip(found.data, numeric, strict=True)):
        table[:, j] = column.astype(np.float64) if is_number else [shown_value(cell) for cell in column]
    return table
