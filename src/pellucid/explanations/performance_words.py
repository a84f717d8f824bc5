"""How good the predictions are, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.words import listed, number, percent, with_article

if TYPE_CHECKING:
    from pellucid.explanations.performance import Bins, Performance

SURE = 2.81  # standard errors: of ten bins of a model that is right, one in twenty times one is farther off


def findings(found: Performance) -> list[str]:
    """The score, how it comes about, and where predictions are systematically too high or too low."""
    return [*(_of_numbers(found) if found.is_regression else _of_classes(found)), *_bias(found)]


def quality(found: Performance) -> str:
    """The first measure in a sentence without its subject: ``explains 95% of the variance``."""
    measure = found.measures[0]
    return in_words(measure, found.value(measure), float(found.constant[0]), found.noun)


def in_words(measure: str, own: float, constant: float, noun: str = "row") -> str:
    """What the value of a measure means, beside that of a constant, as the end of a sentence."""
    if measure == "R²" and own <= 0:
        return "explains none of the variance of the outcome: the mean predicts it better"
    if measure == "log loss":
        return _log_loss(own, constant)
    always = f"always predicting the most frequent class: {percent(constant)}"
    a_noun = with_article(noun)
    said = {
        "R²": f"explains {percent(own)} of the variance of the outcome",
        "mean absolute error": f"is off by {number(own)} on average, a constant by {number(constant)}",
        "RMSE": f"has a typical error (RMSE) of {number(own)}, a constant of {number(constant)}",
        "error rate": f"misclassifies {percent(own)} of the {noun}s ({always})",
        "AUC": f"ranks {a_noun} of a class above one of another class in {percent(own)} of pairs; chance gives 50%",
    }
    return said[measure]


def _log_loss(own: float, constant: float) -> str:
    if constant <= 0:
        return "cannot be compared: all rows are of one class"
    if own >= constant:
        return "has a log loss no better than always predicting the class frequencies"
    return f"has a log loss {percent(1 - own / constant)} better than always predicting the class frequencies"


def _of_numbers(found: Performance) -> list[str]:
    first = found.measures[0]
    said = [f"The model {quality(found)}{_between(found, first) if found.value(first) > 0 else ''}."]
    for k, name in enumerate(found.output_names):
        what = "the predictions" if len(found.output_names) == 1 else f"the predictions of {name}"
        half, most = (number(float(x)) for x in found.off[:, k])
        said.append(f"Half of {what} are off by less than {half}, nine in ten by less than {most}.")
    return said


def _of_classes(found: Performance) -> list[str]:
    said = [f"The model {quality(found)}."]
    if "AUC" in found.measures:
        said.append(f"AUC is {number(found.value('AUC'))}{_between(found, 'AUC')}.{_average_precision(found)}")
    wrong = confused(found)
    if wrong:
        said.append(f"Most common confusion: {wrong}.")
    if len(found.classes) == 2 and found.rankings and found.scale == "probability":
        said.append(at_threshold(found, 0.5))
    return said


def _average_precision(found: Performance) -> str:
    ranked = found.rankings
    if not ranked:
        return ""
    if len(ranked) == 1:
        return f" Average precision is {number(ranked[0].average_precision)} (chance: {number(ranked[0].share)})."
    areas = [f"{number(one.average_precision)} for {one.name} (chance: {number(one.share)})" for one in ranked]
    return f" Average precision is {listed(areas)}."


def confused(found: Performance) -> str:
    """The most common confusion of two classes; nothing where there is none."""
    wrong = found.confusion * (1 - np.eye(len(found.classes)))
    if not wrong.max(initial=0.0) > 0:
        return ""
    true, taken = np.unravel_index(int(wrong.argmax()), wrong.shape)
    share = float(wrong[true, taken] / found.confusion[true].sum())
    return (
        f"{percent(share)} of the {found.noun}s of class {found.classes[true]} are predicted as {found.classes[taken]}"
    )


def at_threshold(found: Performance, threshold: float) -> str:
    """What flagging the rows of at least this probability would do."""
    one = found.ranking()
    there = one.at(threshold)
    return (
        f"At a threshold of {percent(threshold)}, {percent(there['flagged'])} of the {found.noun}s are flagged as"
        f" {one.name}: precision {percent(there['precision'])}, recall {percent(there['recall'])}."
    )


def _between(found: Performance, measure: str) -> str:
    low, high = found.interval(measure)
    show = percent if measure == "R²" else number  # R² is told as a share of the variance
    return f" (95% interval {show(low)} to {show(high)})" if np.isfinite([low, high]).all() and high > low else ""


def _bias(found: Performance) -> list[str]:
    """Of each output the bin that is farthest off, if that is no chance; else one sentence for all."""
    if not found.bins:
        return []
    several = len(found.bins) > 1
    said = []
    for name, bins in zip(found.output_names, found.bins, strict=True):
        k = worst(bins)
        if k is None:
            continue
        shown = number if found.is_regression else percent
        of = f" of {name}" if several or not found.is_regression else ""
        word = "low" if bins.observed[k] > bins.predicted[k] else "high"
        observed, predicted = shown(float(bins.observed[k])), shown(float(bins.predicted[k]))
        what = "Predictions" if found.is_regression else "Probabilities"
        there = f"the outcome averages {observed}" if found.is_regression else f"{observed} is observed"
        said.append(f"{what}{of} are too {word} where they average {predicted}: {there} there.")
    right = "Predictions are unbiased" if found.is_regression else "Probabilities are well calibrated"
    return said or [f"{right}: in no bin do they differ from the outcome by more than chance."]


def worst(bins: Bins) -> int | None:
    """The bin whose predictions differ most from the outcome, in standard errors; None if by no more than chance."""
    if not np.isfinite(bins.se).any():
        return None
    off = errors_off(bins)
    k = int(np.nanargmax(off))
    return k if off[k] > SURE else None


def errors_off(bins: Bins) -> FloatArray:
    """By how many standard errors the predictions of each bin differ from the outcome."""
    gap = np.abs(bins.observed - bins.predicted)
    rounding = 1e-9 * np.maximum(np.abs(bins.observed), np.abs(bins.predicted))
    return np.asarray(np.where(gap > rounding, gap / np.maximum(bins.se, 1e-300), 0.0))
