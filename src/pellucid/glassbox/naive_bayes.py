"""Naive Bayes: the odds of the classes before anything is known, times what each feature says for or against them.

Reference. Hastie, Tibshirani and Friedman 2009, 6.6.3; Good 1950 for log-odds as weights of evidence.

Definition. With two classes the log-odds of the second are

    log(P(1 | x) / P(0 | x)) = log(pi_1 / pi_0) + sum_j e_j(x_j),     e_j(x_j) = log(p_j(x_j | 1) / p_j(x_j | 0))

with pi_c the share of a class and e_j the *evidence* of feature j, above 0 where it speaks for the second class. With
several classes the evidence for each is log p_j(x_j | c) less its mean over the classes. A number, or a date, is
normally distributed within a class, its variance raised by ``smoothing`` of that over all rows; a level has the
probability (n_jc + alpha) / (n_c + alpha * levels). Where a feature is missing in some training rows, that it is
missing is evidence as well (a level of two), and of the rows where it is known the distribution is that of the known.

When it misleads. (1) Features that are correlated within classes say the same thing twice: probabilities come too close
to 0 and 1, though the order of rows may be right. That is measured. (2) Numbers that are not normal within a class: far
out, the class with the larger variance wins, whatever the direction. (3) A value that was never seen is no evidence.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.checks import bounded, positive
from pellucid.explanations import Caveat
from pellucid.glassbox.base import Training
from pellucid.glassbox.class_scores import ClassScores
from pellucid.stats import softmax

_TWICE = 0.75  # what log-odds are best multiplied by: below it features repeat each other
_STEPS = 50
_LEVELS = ("categorical", "ordered", "boolean")


class NaiveBayes(ClassScores):
    """A classifier that adds up the evidence of its features: numbers, levels, missing values.

    Parameters
    ----------
    alpha
        What is added to the count of every level (Laplace's rule is 1).
    smoothing
        What is added to every variance, as a share of the variance of the feature over all rows.

    Attributes
    ----------
    classes_, class_prior_
        The classes and their shares.
    confidence_
        What the log-odds would have to be multiplied by to fit the training rows best: far below 1 where features
        repeat each other's evidence.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.glassbox import NaiveBayes
    >>> X = np.array([["red", "big"], ["red", "small"], ["blue", "big"], ["blue", "small"]])
    >>> model = NaiveBayes().fit(X, ["yes", "yes", "yes", "no"])
    >>> found = model.explain(X[:1])  # evidence for yes: of red log(3/5 : 1/3), of big the same
    >>> round(float(found.base), 2), found.values[0].round(2).tolist()
    (1.1, [0.59, 0.59])
    """

    _game, _said = "", "evidence"

    def __init__(self, *, alpha: float = 1.0, smoothing: float = 1e-9) -> None:
        self.alpha = alpha
        self.smoothing = smoothing

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the distributions."""
        alpha, smoothing = positive("alpha", self.alpha), bounded("smoothing", self.smoothing, least=0.0)
        training = self._learn(X, y, sample_weight)
        by_class = np.eye(len(self.classes_))[training.y] * training.weights[:, None]
        mass = by_class.sum(axis=0)
        self.class_prior_ = mass / mass.sum()
        self._link = "logit" if len(self.classes_) == 2 else "softmax"
        self._likelihoods = tuple(
            _Likelihood.of(column, by_class, len(feature.categories or (0, 1)), alpha)
            if feature.kind in _LEVELS
            else _Normal.of(column, by_class, smoothing, alpha)
            for feature, column in zip(self._schema.features, training.codes.T, strict=True)
        )
        self._intercept = self._contrast(np.log(self.class_prior_)[None])[0]
        self._remember(training)
        self.confidence_ = _confidence(self._sums(training.codes), training)
        return self

    def _contrast(self, logs: FloatArray) -> FloatArray:
        """Logarithms by class as log-odds of the second of two, or less their mean over several."""
        if self._link == "logit":
            return logs[:, 1:] - logs[:, :1]
        return logs - logs.mean(axis=1, keepdims=True)

    def _term(self, j: int, codes: FloatArray) -> FloatArray:
        return self._contrast(self._likelihoods[j].logs(codes))

    def _term_error(self, j: int, codes: FloatArray) -> FloatArray:
        """By the delta method, from the variances of the logarithms, which are independent between classes."""
        variance = self._likelihoods[j].variances(codes)
        if self._link == "logit":
            return np.asarray(np.sqrt(variance.sum(axis=1, keepdims=True)))
        k = variance.shape[1]
        return np.asarray(np.sqrt(variance * (1 - 2 / k) + variance.sum(axis=1, keepdims=True) / k**2))

    @property
    def _reference(self) -> FloatArray:
        """Evidence is shown as it is: 0 speaks for no class."""
        return np.zeros_like(self._means)

    def _caveats(self) -> tuple[Caveat, ...]:
        if self.confidence_ >= _TWICE:
            return ()
        message = (
            "Features repeat each other's evidence, or are not distributed as assumed: probabilities are too close to 0"
            f" and 1. The training rows are fitted best by {self.confidence_:.2f} times these log-odds."
        )
        remedy = "Leave out features that are correlated, or fit LogisticModel or AdditiveModel."
        return (Caveat("double-counted", message, 1 - self.confidence_, 1 - _TWICE, remedy),)


class _Likelihood:
    """The levels of a feature within each class, and missing as one of two where some are; ``(levels, classes)``."""

    def __init__(self, known: FloatArray, mass: FloatArray, gone: FloatArray, alpha: float) -> None:
        self._logs, self._variance = _log_shares(known, alpha)
        self._missing = None
        if gone.any():
            self._missing = _log_shares(np.stack([mass - gone, gone]), alpha)

    @classmethod
    def of(cls, codes: FloatArray, by_class: FloatArray, levels: int, alpha: float) -> _Likelihood:
        """From a column and the weights of its rows by class."""
        gone = np.isnan(codes)
        known = np.zeros((levels, by_class.shape[1]))
        np.add.at(known, codes[~gone].astype(np.intp), by_class[~gone])
        return cls(known, by_class.sum(axis=0), by_class[gone].sum(axis=0), alpha)

    def logs(self, codes: FloatArray) -> FloatArray:
        """log p(x | c) ``(rows, classes)``; alike for all classes where nothing is known of the value."""
        return self._looked_up(codes, self._logs, 0)

    def variances(self, codes: FloatArray) -> FloatArray:
        """The variances of these logarithms."""
        return self._looked_up(codes, self._variance, 1)

    def _looked_up(self, codes: FloatArray, table: FloatArray, which: int) -> FloatArray:
        gone, levels = np.isnan(codes), len(table)
        place = np.where(gone | (codes >= levels) | (codes < 0), levels, codes).astype(np.intp)
        found = np.vstack([table, np.zeros(table.shape[1])])[place]
        return found + self._of_missing(gone, which)

    def _of_missing(self, gone: FloatArray, which: int) -> FloatArray:
        return np.zeros(1) if self._missing is None else self._missing[which][gone.astype(np.intp)]


class _Normal(_Likelihood):
    """A number within each class."""

    def __init__(
        self,
        centre: FloatArray,
        variance: FloatArray,
        size: FloatArray,
        mass: FloatArray,
        gone: FloatArray,
        alpha: float,
    ) -> None:
        super().__init__(np.zeros((1, len(mass))), mass, gone, alpha)
        self._centre, self._spread, self._size = centre, variance, size

    @classmethod
    def of(cls, codes: FloatArray, by_class: FloatArray, smoothing: float, alpha: float) -> _Normal:
        gone = np.isnan(codes)
        x, w = codes[~gone], by_class[~gone]
        size, total = w.sum(axis=0), float(w.sum())
        middle = float(w.sum(axis=1) @ x / total) if total else 0.0
        overall = float(w.sum(axis=1) @ np.square(x - middle) / total) if total else 0.0
        safe = np.where(size > 0, size, 1.0)
        centre = np.where(size > 0, (x @ w) / safe, middle)
        variance = np.einsum("n,nc->c", np.ones(len(x)), w * np.square(x[:, None] - centre)) / safe
        variance = np.where(size > 0, variance, overall) + smoothing * overall
        return cls(centre, variance, size, by_class.sum(axis=0), by_class[gone].sum(axis=0), alpha)

    def logs(self, codes: FloatArray) -> FloatArray:
        gone = np.isnan(codes)
        if not (self._spread > 0).all():  # a number that does not vary in some class, without smoothing
            return np.zeros((len(codes), len(self._spread))) + self._of_missing(gone, 0)
        z2 = np.square(np.where(gone, 0.0, codes)[:, None] - self._centre) / self._spread
        found = -0.5 * (z2 + np.log(2 * np.pi * self._spread))
        return np.where(gone[:, None], 0.0, found) + self._of_missing(gone, 0)

    def variances(self, codes: FloatArray) -> FloatArray:
        gone = np.isnan(codes)
        spread = np.where(self._spread > 0, self._spread, 1.0)
        z2 = np.square(np.where(gone, 0.0, codes)[:, None] - self._centre) / spread
        with np.errstate(divide="ignore"):
            found = (z2 + np.square(z2 - 1) / 2) / self._size  # of the mean, and of the variance
        return np.where(gone[:, None], 0.0, found) + self._of_missing(gone, 1)


def _log_shares(counts: FloatArray, alpha: float) -> tuple[FloatArray, FloatArray]:
    """Logarithms of smoothed shares within each class, and their variances ``(levels, classes)``."""
    total = counts.sum(axis=0) + alpha * len(counts)
    share = (counts + alpha) / total
    return np.log(share), (1 - share) / (total * share)


def _confidence(scores: FloatArray, training: Training) -> float:
    """What scores are best multiplied by: the s of the smallest log loss of softmax(s * scores), by Newton's method."""
    scores = np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores
    w, s = training.weights / training.weights.sum(), 1.0
    own = scores[np.arange(len(scores)), training.y]
    for _ in range(_STEPS):
        p = softmax(s * scores)
        mean = (p * scores).sum(axis=1)
        slope, bend = w @ (mean - own), w @ ((p * np.square(scores)).sum(axis=1) - mean**2)
        if bend <= 1e-12 * max(1.0, float(w @ np.square(own))):
            return s  # classes that are told apart without a mistake, or no evidence at all
        step = float(np.clip(slope / bend, -0.5 * s, 0.5 * s))
        s -= step
        if abs(step) < 1e-9 * s or s > 1e3:
            break
    return float(s)
