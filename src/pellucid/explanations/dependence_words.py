"""One feature, or one pair, among contributions of many rows: how they depend on values, and what interacts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.explanations.attribution_words import amount, scale_of, shown_value
from pellucid.words import quantity

if TYPE_CHECKING:
    from pellucid.explanations.attribution import Attribution

_MONOTONE = 0.8  # rank correlation from which on a feature raises or lowers the prediction


def of_feature(found: Attribution, j: int) -> str:
    """How the contributions of a feature go with its values, for the output that it moves most."""
    spread = np.ptp(np.nan_to_num(found.stacked()[:, j]), axis=0)
    one = found.for_output(found.output_names[int(np.argmax(spread))])
    name, values, column = one.feature_names[j], one.values[:, j], one.data[j]
    if not np.ptp(values) > 0:
        return f"{name} contributes {quantity(float(values[0]), one.scale, change=True)} in every row."
    if column.dtype.kind not in "iufM":
        return _of_levels(one, j)
    low, high = int(np.argmin(values)), int(np.argmax(values))
    ends = (
        f"from {quantity(float(values[low]), one.scale, change=True)} to"
        f" {quantity(float(values[high]), one.scale, change=True)}"
    )
    agree = _rank_correlation(column, values)
    if abs(agree) >= _MONOTONE:
        verb = "raises" if agree > 0 else "lowers"
        return f"Higher {name} {verb} the prediction{scale_of(one)}: its contribution goes {ends}."
    return (
        f"The contribution of {name}{scale_of(one)} goes {ends}, lowest at {shown_value(column[low])} and highest at"
        f" {shown_value(column[high])}."
    )


def _of_levels(one: Attribution, j: int) -> str:
    words = np.array([shown_value(value) for value in one.data[j]], dtype=object)
    means = {word: float(one.values[words == word, j].mean()) for word in dict.fromkeys(words)}
    low, high = min(means, key=lambda word: means[word]), max(means, key=lambda word: means[word])
    name, (least, most) = one.feature_names[j], (quantity(means[w], one.scale, change=True) for w in (low, high))
    if means[low] < 0 < means[high]:
        what = f"the prediction{scale_of(one)}"
        return f"{name} raises {what} most for {high} ({most} on average) and lowers it most for {low} ({least})."
    return (
        f"The contribution of {name}{scale_of(one)} is highest for {high} ({most} on average) and lowest for {low}"
        f" ({least})."
    )


def _rank_correlation(column: AnyArray, values: FloatArray) -> float:
    """Spearman's, over the rows whose value is known."""
    known = ~np.isnat(column) if column.dtype.kind == "M" else np.isfinite(column.astype(np.float64))
    if known.sum() < 3 or len(np.unique(column[known])) < 2 or not np.ptp(values[known]) > 0:
        return 0.0
    ranks = [np.unique(part[known], return_inverse=True)[1].astype(np.float64) for part in (column, values)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def of_pairs(found: Attribution) -> str:
    """The pair of features that interacts most, over all rows and outputs."""
    if found.interaction_values is None or len(found.feature_names) < 2:
        return ""
    sizes = 2 * np.abs(found.interaction_values).mean(axis=0)
    sizes = sizes if sizes.ndim == 2 else sizes.max(axis=-1)
    a, b = np.unravel_index(int(np.argmax(np.triu(sizes, 1))), sizes.shape)
    if not sizes[a, b] > 0:
        return "No two features interact."
    return (
        f"{found.feature_names[a]} and {found.feature_names[b]} interact most: by"
        f" {amount(float(sizes[a, b]), 0.0, found.scale, sign=False)} on"
        " average."
    )
