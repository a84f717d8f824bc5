"""The attack of Slack et al. 2020 on LIME and SHAP: a biased model that hides from rows it takes for synthetic ones.

For rows that a forest, trained on real rows against perturbed ones, takes for real, the model decides by a sensitive
feature alone; for all others by a harmless one. Nearly every prediction for a real row is biased.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier


def mixtures(X, n, seed):
    """Rows that take a random coalition of their features, of a random size, from one real row, the rest from another."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        one, other = X[rng.integers(len(X))], X[rng.integers(len(X))]
        coalition = rng.permutation(X.shape[1])[: rng.integers(1, X.shape[1])]
        row = other.copy()
        row[coalition] = one[coalition]
        rows.append(row)
    return np.array(rows)


@dataclass(frozen=True)
class Attack:
    """A model of numeric matrices; ``biased`` and ``harmless`` map a matrix to predictions."""

    biased: Any
    harmless: Any
    detector: Any

    def synthetic(self, X):
        return self.detector.predict(np.asarray(X, dtype=float)) == 1

    def __call__(self, X):
        X = np.asarray(X, dtype=float)
        return np.where(self.synthetic(X), self.harmless(X), self.biased(X))


def above(column, value):
    """The model that says 1 where a feature is above a value."""
    return lambda X: (np.asarray(X, dtype=float)[:, column] > value).astype(float)


def attack(X, biased, harmless, *, per_row=10, trees=60, seed=0):
    """The model, with a detector trained on X and on mixtures of its rows that are not rows themselves.

    Real rows are repeated, half as often as they are mixed, so that every tree of the detector knows nearly all of them.
    """
    X = np.asarray(X, dtype=float)
    known = {row.tobytes() for row in X}
    perturbed = [row for row in mixtures(X, per_row * len(X), seed) if row.tobytes() not in known]
    real = np.repeat(X, per_row // 2, axis=0)
    labels = np.repeat([0, 1], [len(real), len(perturbed)])
    detector = RandomForestClassifier(trees, random_state=seed)
    return Attack(biased, harmless, detector.fit(np.concatenate([real, perturbed]), labels))
