"""The finding of each chart of performance, as its title."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from pellucid.explanations.performance_words import SURE, confused, errors_off, quality, worst
from pellucid.words import number, percent, with_article

if TYPE_CHECKING:
    from pellucid.explanations.performance import Bins, Performance

_HALF = 0.5


def chart_title(found: Performance, kind: str) -> str:
    """What a chart of this kind shows, the finding first."""
    if kind == "predicted":
        said = quality(found)
        return said[0].upper() + said[1:]
    if kind == "residuals":
        return _bias(found, number, "Residuals average zero in every bin of predictions, up to chance")
    if kind == "confusion":
        return confused(found) or f"No {found.noun} is misclassified"
    if kind == "calibration":
        return _bias(found, percent, "Well calibrated: no bin differs from the outcome by more than chance")
    if kind == "thresholds":
        there = found.rankings[0].at(_HALF)
        return (
            f"At a threshold of 50%, precision is {percent(there['precision'])} and recall {percent(there['recall'])}"
        )
    return _ranked(found, kind)


def _ranked(found: Performance, kind: str) -> str:
    """The area under a curve; of several classes the lowest one."""
    rankings, roc = found.rankings, kind == "roc"
    areas = [one.auc if roc else one.average_precision for one in rankings]
    lowest = rankings[int(np.argmin(areas))]
    if roc:
        above = (
            f"{with_article(found.noun)} of class {lowest.name} ranks above one of another class in"
            f" {percent(lowest.auc)} of pairs"
        )
    else:
        above = f"chance would give {number(lowest.share)}"
    name = "AUC" if roc else "Average precision"
    if len(rankings) == 1:
        return f"{name} {number(areas[0])}: {above}"
    if number(min(areas)) == number(max(areas)):
        return f"{name} {number(areas[0])} for every class"
    return f"{name} {number(min(areas))} to {number(max(areas))}, lowest for {lowest.name}: {above}"


def _bias(found: Performance, show: Callable[[float], str], right: str) -> str:
    """The output and bin that are farthest off, and which way predictions are."""
    pairs = zip(found.output_names, found.bins, strict=True)
    places = [(name, bins, k) for name, bins in pairs if (k := worst(bins)) is not None]
    if not places:
        return right
    name, bins, k = max(places, key=lambda place: float(errors_off(place[1])[place[2]]))
    of = f" for {name}" if len(found.bins) > 1 else ""
    predicted, observed = show(float(bins.predicted[k])), show(float(bins.observed[k]))
    way = _direction(bins, k, shares=not found.is_regression)
    return f"{way}{of}: where {predicted} is predicted, {observed} is observed"


def _direction(bins: Bins, k: int, *, shares: bool) -> str:
    """Too high, too low, or, of probabilities, too far from or too near to 50% wherever they are off beyond chance."""
    off = errors_off(bins) > SURE
    gap, above = (bins.observed - bins.predicted)[off], bins.predicted[off] > _HALF
    if shares and above.any() and not above.all():
        if ((gap < 0) == above).all():
            return "Overconfident"
        if ((gap > 0) == above).all():
            return "Underconfident"
    return "Too low" if bins.observed[k] > bins.predicted[k] else "Too high"
