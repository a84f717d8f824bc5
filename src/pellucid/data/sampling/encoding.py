"""Given columns as numbers for a regression: normal scores, indicators of what is missing, a column per category.

A column that is nearly normal stays on its own scale, standardised: the scores of its largest values know their ranks
only, and a curve through them would be blurred most where it bends most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.data.sampling.margin import Margin

_MOST_LEVELS = 20  # the more frequent ones; the others are one level
_BOUND = 6.0
_NORMAL = 0.985  # correlation of values with their normal scores


@dataclass(frozen=True, eq=False)
class Encoding:
    """How the codes of some columns become blocks of numbers, learned from some rows."""

    margins: tuple[Margin, ...]
    gaps: tuple[bool, ...]
    scales: tuple[tuple[float, float] | None, ...]  # mean and deviation of what stays on its own scale

    @classmethod
    def of(cls, codes: FloatArray, nominal: BoolArray, weights: FloatArray) -> Encoding:
        """Learn from rows of codes ``(n, columns)``."""
        margins = tuple(
            Margin.of(column, weights, levels=bool(level)) for column, level in zip(codes.T, nominal, strict=True)
        )
        gaps = tuple(bool(np.isnan(column).any()) for column in codes.T)
        return cls(margins, gaps, tuple(_scale(margin) for margin in margins))

    def blocks(self, codes: FloatArray) -> list[FloatArray]:
        """One block ``(n, width)`` for each column."""
        return [self.block(j, column) for j, column in enumerate(codes.T)]

    def block(self, j: int, codes: FloatArray) -> FloatArray:
        """The numbers of one column."""
        margin = self.margins[j]
        if not margin.levels:
            score = _standardised(codes, *scale) if (scale := self.scales[j]) else scores(margin, codes)
            return np.stack([score, np.isnan(codes)], axis=1) if self.gaps[j] else score[:, None]
        mass = np.diff(margin.upper, prepend=0.0)
        place = margin.places(codes)
        often = np.sort(np.argsort(-mass, kind="stable")[:_MOST_LEVELS])
        return np.asarray(place[:, None] == often, dtype=np.float64)


def _scale(margin: Margin) -> tuple[float, float] | None:
    """Mean and deviation of a nearly normal column."""
    if margin.levels or len(margin.values) < _MOST_LEVELS:
        return None
    mass = np.diff(margin.upper, prepend=0.0)
    both = np.stack([margin.values, scores(margin, margin.values)])
    away = both - (both @ mass)[:, None]
    covariance = (away * mass) @ away.T
    if covariance[0, 1] < _NORMAL * np.sqrt(covariance[0, 0] * covariance[1, 1]):
        return None
    return float(both[0] @ mass), float(np.sqrt(covariance[0, 0]))


def _standardised(codes: FloatArray, mean: float, deviation: float) -> FloatArray:
    return np.where(np.isnan(codes), 0.0, np.clip((codes - mean) / deviation, -_BOUND, _BOUND))


def scores(margin: Margin, codes: FloatArray) -> FloatArray:
    """Normal scores of the mid-ranks of numbers; between two values that occur, between their scores; 0 where
    missing.
    """
    from scipy.special import ndtri

    values = margin.values
    middle = margin.upper - np.diff(margin.upper, prepend=0.0) / 2
    share = np.interp(np.nan_to_num(codes), values, middle) if len(values) > 1 else np.full(codes.shape, 0.5)
    return np.where(np.isnan(codes), 0.0, np.clip(ndtri(share), -_BOUND, _BOUND))


def values_at(margin: Margin, score: FloatArray) -> FloatArray:
    """Numbers at normal scores: the inverse of `scores`, no value beyond those that occur."""
    from scipy.special import ndtr

    middle = margin.upper - np.diff(margin.upper, prepend=0.0) / 2
    return np.interp(ndtr(score), middle, margin.values)
