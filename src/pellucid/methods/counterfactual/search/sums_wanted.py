"""From a region of predictions to intervals of the sums behind them: the links undone.

Predictions f are made of sums s (of trees, or over features): f = s, f = sigmoid(s), f = exp(s), or a softmax. A line
``low <= a f <= high`` of a region is then a line in s, exactly; for one probability of a softmax it is one in the odds,
sum_c exp(s_c - s_k) = (1 - p_k) / p_k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.methods.counterfactual.search.target import TINY, Region, Target
from pellucid.models import Predictor


class NotInSums(Exception):
    """Why a target cannot be said of the sums."""


@dataclass(frozen=True, eq=False)
class SumEnds:
    """``low <= matrix @ sums <= high``, and ``odds`` between which the sum over the lines of exp(-line) lies; an end
    that is ``open`` is not reached itself.
    """

    matrix: FloatArray
    low: FloatArray
    high: FloatArray
    open_low: BoolArray
    open_high: BoolArray
    odds: tuple[float, float] = (0.0, np.inf)


def ends_of_sums(
    target: Target, region: Region, predictor: Predictor, link: str, n_sums: int, *, probability: bool
) -> SumEnds:
    """The region of the sums; ``probability``: whether a sum is one by itself."""
    lines, low, high = region.matrix, region.low, region.high
    if target.explained:
        lines, low, high = _of_probabilities(predictor, lines, low, high)
    open_low, open_high = _opened(low, -np.inf), _opened(high, np.inf)
    low = np.where(open_low, _rounder(low, -np.inf), low)
    high = np.where(open_high, _rounder(high, np.inf), high)
    ends = SumEnds(lines, low, high, open_low, open_high)
    if link == "identity":
        return _identity(ends, n_sums, probability)
    if link in ("logistic", "logit") or (link == "softmax" and n_sums == 2):
        return _logistic(ends, np.array([[-1.0, 1.0]]) if n_sums == 2 else np.ones((1, 1)))
    if link == "softmax":
        return _softmax(ends)
    if link in ("exp", "log"):
        return _single(ends, _log)
    if link == "one-vs-rest":
        return _single(ends, _logit)
    raise NotInSums("the model turns the sums of its trees into predictions in a way that is not read")


def _of_probabilities(
    predictor: Predictor, lines: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Lines about single log-odds of explained outputs as lines about all probabilities."""
    if ((lines != 0).sum(axis=1) != 1).any() or (lines < 0).any():
        raise NotInSums("the target compares log-odds of several outputs")
    full = np.zeros((len(lines), predictor.width))
    full[:, list(predictor.explained)] = lines != 0
    factor = lines.sum(axis=1)
    return full, _expit(low / factor), _expit(high / factor)


def _opened(ends: FloatArray, towards: float) -> BoolArray:
    """Ends that are the number next to a rounder one: strictly above or below it."""
    before = _rounder(ends, towards)
    shorter = [len(repr(float(a))) < len(repr(float(b))) - 3 for a, b in zip(before, ends, strict=True)]
    return np.asarray((np.abs(ends) == TINY) | np.array(shorter))


def _rounder(ends: FloatArray, towards: float) -> FloatArray:
    return np.asarray(np.nextafter(ends, towards))


def _identity(ends: SumEnds, n_sums: int, probability: bool) -> SumEnds:
    if n_sums == ends.matrix.shape[1]:
        return ends
    mixing = np.array([[-1.0], [1.0]])  # the first of two classes mirrors the second
    shift = ends.matrix[:, 0] * (1.0 if probability else 0.0)
    low, high = ends.low - shift, ends.high - shift
    return SumEnds(ends.matrix @ mixing, low, high, ends.open_low, ends.open_high)


def _logistic(ends: SumEnds, mixing: FloatArray) -> SumEnds:
    """Lines a + b p in the one probability p = sigmoid(mixing s)."""
    lines = ends.matrix
    constant = lines[:, 0] if lines.shape[1] == 2 else np.zeros(len(lines))
    slope = lines[:, -1] - constant
    if (slope == 0).any():
        raise NotInSums("the target asks for nothing of the prediction")
    first, second = (ends.low - constant) / slope, (ends.high - constant) / slope
    falls = slope < 0
    low, high = np.where(falls, second, first), np.where(falls, first, second)
    open_low, open_high = (
        np.where(falls, ends.open_high, ends.open_low),
        np.where(falls, ends.open_low, ends.open_high),
    )
    return SumEnds(np.repeat(mixing, len(lines), axis=0), _logit(low), _logit(high), open_low, open_high)


def _single(ends: SumEnds, inverse: object) -> SumEnds:
    """Lines about single outputs with a rising link, or about which of two is larger."""
    low, high = np.array(ends.low), np.array(ends.high)
    matrix = np.zeros_like(ends.matrix)
    for q, line in enumerate(ends.matrix):
        used = np.flatnonzero(line)
        if len(used) == 1 and line[used[0]] > 0:
            assert callable(inverse)
            low[q], high[q] = inverse(np.array([low[q], high[q]]) / line[used[0]])
            matrix[q] = line > 0
        elif _is_win(line, low[q], high[q]):
            matrix[q] = line
        else:
            raise NotInSums("the target compares several outputs by more than which is larger")
    return SumEnds(matrix, low, high, ends.open_low, ends.open_high)


def _is_win(line: FloatArray, low: float, high: float) -> bool:
    used = line[line != 0]
    return len(used) == 2 and used.sum() == 0.0 and low == 0.0 and high == np.inf


def _softmax(ends: SumEnds) -> SumEnds:
    if all(_is_win(*line) for line in zip(ends.matrix, ends.low, ends.high, strict=True)):
        return ends
    about = np.flatnonzero((ends.matrix != 0).any(axis=0))
    if len(about) > 1 or (ends.matrix < 0).any():
        raise NotInSums("the target is about the probabilities of several classes at once")
    k, width = int(about[0]), ends.matrix.shape[1]
    factor = ends.matrix[:, k]
    least, most = float((ends.low / factor).max()), float((ends.high / factor).min())
    others = [c for c in range(width) if c != k]
    matrix = np.zeros((len(others), width))
    matrix[:, k] = 1.0
    matrix[np.arange(len(others)), others] = -1.0
    low = np.full(len(others), float(_logit(np.array([least]))[0]))
    none = np.zeros(len(others), dtype=np.bool_)
    odds = (
        0.0 if most >= 1 else (1 - most) / most if most > 0 else np.inf,
        np.inf if least <= 0 else (1 - least) / least,
    )
    return SumEnds(matrix, low, np.full(len(others), np.inf), none, none, odds)


def _expit(value: FloatArray) -> FloatArray:
    from scipy.special import expit

    return np.asarray(expit(value))


def _logit(value: FloatArray) -> FloatArray:
    """Infinite outside of 0 to 1: every probability is above 0, and none above 1."""
    inside = np.clip(value, 0.0, 1.0)
    with np.errstate(divide="ignore"):
        found = np.log(inside) - np.log1p(-inside)
    return np.where(value > 1, np.inf, np.where(value < 0, -np.inf, found))


def _log(value: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(value <= 0, -np.inf, np.log(value))
