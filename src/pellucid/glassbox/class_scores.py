"""Classes from sums: one log-odds for two of them, a score for each of several."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from pellucid.arrays import AnyArray, FloatArray
from pellucid.glassbox.sum_of_terms import SumOfTerms
from pellucid.stats import expit, softmax


class ClassScores(ClassifierMixin, SumOfTerms):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier whose sums are log-odds, or scores whose softmax are the probabilities."""

    def decision_function(self, X: Any) -> AnyArray:
        """Log-odds of the second of two classes, or a score for each of several."""
        sums = self._sums(self._design(X))
        return np.asarray(sums[:, 0] if sums.shape[1] == 1 else sums)

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the classes."""
        sums = self._sums(self._design(X))
        if sums.shape[1] > 1:
            return softmax(sums)
        p = expit(sums)
        return np.hstack([1.0 - p, p])

    def predict(self, X: Any) -> AnyArray:
        """The class with the largest probability."""
        best = np.argmax(self.predict_proba(X), axis=1)
        return np.asarray(self.classes_[best])
