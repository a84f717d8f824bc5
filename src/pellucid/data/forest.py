"""A random forest: the trees that scikit-learn grows from the same seed, one by one.

Its own forest makes and checks an estimator for every tree, which takes as long as growing the small trees of some
hundred rows. Breiman 2001.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees (scikit-learn's compiled ones), the rows that each has seen, and how many rows there are."""

    trees: tuple[Any, ...]
    seen: tuple[IntArray, ...]
    n_rows: int

    @classmethod
    def grown(
        cls,
        X: FloatArray,
        target: FloatArray,
        weights: FloatArray | None = None,
        *,
        trees: int,
        leaf: int,
        tried: float,
        seed: int,
        rows: int | None = None,
    ) -> Forest:
        """Trees of a target ``(n, q)``, each grown on ``rows`` (None: as many as there are) drawn with replacement.

        Leaves have at least ``leaf`` rows, and ``tried`` features are looked at for a split (a share where below 1).
        """
        from sklearn import config_context  # on use: slow to import
        from sklearn.tree import DecisionTreeRegressor

        X, n = np.ascontiguousarray(X, dtype=np.float32), len(X)
        target = np.ascontiguousarray(target, dtype=np.float64)
        seeds = np.random.RandomState(seed).randint(np.iinfo(np.int32).max, size=trees)
        grown, seen = [], []
        with config_context(assume_finite=True, skip_parameter_validation=True):
            for own in seeds.tolist():
                drawn = np.random.RandomState(own).randint(0, n, rows or n, dtype=np.int32)
                times = np.bincount(drawn, minlength=n).astype(np.float64)
                tree = DecisionTreeRegressor(min_samples_leaf=leaf, max_features=tried, random_state=own)
                tree.fit(X, target, times if weights is None else times * weights, check_input=False)
                grown.append(tree.tree_)
                seen.append(np.asarray(drawn, dtype=np.intp))
        return cls(tuple(grown), tuple(seen), n)

    def leaves(self, X: FloatArray) -> IntArray:
        """The leaf of each row in each tree ``(rows, trees)``."""
        X = np.ascontiguousarray(X, dtype=np.float32)
        return np.stack([np.asarray(tree.apply(X), dtype=np.intp) for tree in self.trees], axis=1)

    def importances(self) -> FloatArray:
        """By how much the splits of each feature lower the squared error; all of them are 1 together, or 0."""
        split = [tree.compute_feature_importances() for tree in self.trees if tree.node_count > 1]
        if not split:
            return np.zeros(self.trees[0].n_features)
        mean = np.mean(split, axis=0)
        return np.asarray(mean / mean.sum())

    def predict(self, X: FloatArray) -> FloatArray:
        """Predictions ``(rows, q)``: the mean over the trees."""
        X = np.ascontiguousarray(X, dtype=np.float32)
        return np.asarray(np.mean([tree.predict(X).reshape(len(X), -1) for tree in self.trees], axis=0))

    def out_of_bag(self, X: FloatArray) -> FloatArray:
        """Predictions ``(n, q)`` of the learning rows by the trees that have not seen them; zero where all have."""
        X = np.ascontiguousarray(X, dtype=np.float32)
        total, count = np.zeros((self.n_rows, 1)), np.zeros((self.n_rows, 1))
        for tree, rows in zip(self.trees, self.seen, strict=True):
            unseen = np.ones((self.n_rows, 1), dtype=np.bool_)
            unseen[rows] = False
            total = total + np.where(unseen, tree.predict(X).reshape(self.n_rows, -1), 0.0)
            count += unseen
        return np.asarray(total / np.maximum(count, 1.0))
