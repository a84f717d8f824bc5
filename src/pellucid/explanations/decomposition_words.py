"""A decomposition in words: how much of the predictions it reproduces, and which parts are large."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.words import counted, listed, percent, quantity

if TYPE_CHECKING:
    from pellucid.explanations.decomposition import Decomposition

TITLES = {
    "marginal": "partial dependence",
    "anova": "functional ANOVA",
    "generalized": "generalised functional ANOVA",
    "ale": "accumulated local effects",
}
_SAID = 5  # components named
_SMALL = 0.001  # shares that are not worth a name
_OVERLAP = 0.02  # of the variance: less is not worth a sentence


def findings(found: Decomposition) -> list[str]:
    """One paragraph per output, then which properties do not hold."""
    parts = counted(len(found.components), "component")
    lines = [f"Decomposition by {TITLES[found.method]} ({_explained(found)}): a constant and {parts}."]
    for k, output in enumerate(found.output_names):
        prefix = f"{output}: " if len(found.output_names) > 1 else ""
        lines.append(prefix + " ".join(_of_output(found, k)))
    # That variances of components that overlap do not add up is said with the shares.
    said = () if found.method == "anova" else ("variance sum",)
    lines += [check.words for check in found.checks if not check.holds and check.name not in said]
    return lines


def _explained(found: Decomposition) -> str:
    """What is taken apart: ``response``, ``probability of yes``."""
    one_class = len(found.output_names) == 1 and found.scale in ("probability", "log-odds")
    return f"{found.scale} of {found.output_names[0]}" if one_class else found.scale


def headline(found: Decomposition, k: int = 0) -> str:
    """The largest components and how much of the model they are part of; of one output."""
    if not float(found.stacked("variance")[k]) > 0:
        return _of_output(found, k)[0]
    named = f" ({found.output_names[k]})" if len(found.output_names) > 1 else ""
    large = _largest(found, k)
    said = f"Largest components, by share of the variance{named}: {listed(large[:3])}. " if large else ""
    return f"{said}{reproduced(found.order, float(found.stacked('r2')[k]))}"


def _largest(found: Decomposition, k: int) -> list[str]:
    shares = found.stacked()[:, k]
    large = [j for j in np.argsort(-shares, kind="stable")[:_SAID] if shares[j] >= _SMALL]
    return [f"{found.feature_names[j]} ({percent(float(shares[j]))})" for j in large]


def _of_output(found: Decomposition, k: int) -> list[str]:
    shares, r2 = found.stacked()[:, k], float(found.stacked("r2")[k])
    constant = quantity(float(np.atleast_1d(found.constant)[k]), found.scale)
    if not float(found.stacked("variance")[k]) > 0:
        return [f"The prediction is {constant} everywhere; there is nothing to decompose."]
    said = [f"The constant is {constant}.", reproduced(found.order, r2)]
    large = _largest(found, k)
    if large:
        said.append(f"Largest components, by share of the variance: {listed(large)}.")
    if found.density == "data":
        return said + _overlap(found, shares, k)
    where = {
        "uniform": "over all combinations of values, taken as equally likely",
        "support": "over the parts of the ranges that hold data",
    }[found.density]
    said.append(
        f"These are shares {where}, where {percent(max(float(found.stacked('residual')[k]), 0.0))} remains unexplained."
    )
    said += _overlap(found, shares, k)
    return said


_PARTS = ("Main effects", "Main effects and two-way interactions", "Main effects, two- and three-way interactions")


def reproduced(order: int, r2: float) -> str:
    """``Main effects and two-way interactions explain 97.3% of the variance of the predictions for these rows.``"""
    parts = _PARTS[min(order, len(_PARTS)) - 1]
    if r2 >= 1.0 - 1e-9:
        return f"{parts} reproduce the predictions for the rows of the data exactly."
    if r2 <= 0.0:
        return f"{parts} reproduce the predictions for the rows of the data no better than their mean does."
    share = "more than 99.9%" if r2 > 0.9995 else f"{100 * r2:.1f}%"
    return f"{parts} explain {share} of the variance of the predictions for the rows of the data."


def _overlap(found: Decomposition, shares: FloatArray, k: int) -> list[str]:
    """Of parts that are not orthogonal; those of an ANOVA are, and shares that do not add up there are a check that
    fails.
    """
    if found.method == "anova":
        return []
    total = float(shares.sum() + found.stacked("residual")[k])
    if abs(total - 1.0) < _OVERLAP:
        return []
    return [
        f"With the residual the shares add up to {percent(total)}, because components overlap; "
        "covariances with the prediction (.covariance) always add up."
    ]
