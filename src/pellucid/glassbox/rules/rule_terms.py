"""The terms of a RuleFit model: rules, and straight lines between two limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.glassbox.base import Training
from pellucid.glassbox.rules.clauses import Clause, holds

_TAIL = 0.025  # of the weight, at either end, beyond which a line is level
_LIKE_A_RULE = 0.4  # standard deviation of a rule whose support is drawn evenly (Friedman and Popescu 2008)


@dataclass(frozen=True)
class Line:
    """l(x) = min(max(x, low), high) of one feature, times ``scale`` while fitted; missing values are at ``mean``."""

    feature: int
    low: float
    high: float
    mean: float
    scale: float

    def values(self, codes: FloatArray) -> FloatArray:
        """The winsorised values."""
        column = codes[:, self.feature]
        return np.where(np.isnan(column), self.mean, np.clip(column, self.low, self.high))


@dataclass(frozen=True)
class RuleTerm:
    """r(x) = 1 where the clause holds, else 0."""

    clause: Clause

    scale = 1.0

    def values(self, codes: FloatArray) -> FloatArray:
        """0 and 1."""
        return holds(self.clause, codes).astype(np.float64)


Term = Line | RuleTerm


def features_of(term: Term) -> tuple[int, ...]:
    """The features that a term looks at."""
    return (term.feature,) if isinstance(term, Line) else tuple(part.feature for part in term.clause)


def lines(training: Training, kinds: Sequence[str]) -> list[Line]:
    """A line for each number that varies between its limits; levels without an order have none."""
    found = []
    for j, kind in enumerate(kinds):
        known = ~np.isnan(training.codes[:, j])
        x, w = training.codes[known, j], training.weights[known]
        if kind == "categorical" or not len(x):
            continue
        low, high = _weighted_quantiles(x, w, (_TAIL, 1 - _TAIL))
        clipped = np.clip(x, low, high)
        mean = float(w @ clipped / w.sum())
        sd = float(np.sqrt(w @ (clipped - mean) ** 2 / training.weights.sum()))
        if sd > 1e-12 * max(1.0, abs(mean)):
            found.append(Line(j, low, high, mean, _LIKE_A_RULE / sd))
    return found


def _weighted_quantiles(x: FloatArray, w: FloatArray, shares: Sequence[float]) -> tuple[float, ...]:
    """The smallest value up to which a share of the weight lies; a column of two values keeps both."""
    order = np.argsort(x, kind="stable")
    up_to = np.cumsum(w[order]) / w.sum()
    low, high = (float(x[order][np.searchsorted(up_to, share - 1e-9)]) for share in shares)
    return (low, high) if low < high else (float(x.min()), float(x.max()))


def design(terms: Sequence[Term], codes: FloatArray) -> FloatArray:
    """The terms of rows, scaled as they are fitted ``(rows, terms)``."""
    made = np.empty((len(codes), len(terms)), order="F")
    for k, term in enumerate(terms):
        made[:, k] = term.scale * term.values(codes)
    return made
