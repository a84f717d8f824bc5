"""Leaf values of boosted trees, fitted again to weighted rows with every split kept; and how outputs hang on weights.

`fit` repeats what boosting did: iteration by iteration it takes the derivatives of the loss at the scores so far and
sets each leaf to - rate G / (factor H + l2). `adjoint` goes through the iterations once from the last to the first and
gives, for any sum of scores of other rows, how it changes when each training row is left out:

    direct:    leaf l of row i goes from v to v + (rate w g_i + v factor w h_i) / (E_l - factor w h_i),  E = factor H +
    l2, indirect:  scores of the rows in l move, and with them g and h, and the leaves of all later trees.

The direct term is exact for one leaf; the indirect one is to first order (Sharchilev et al. 2018, LeafInfluence), which
is what `fit` without the row (LeafRefit) gives up to the square of a small change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_matrix
from scipy.special import expit, softmax

from pellucid.arrays import FloatArray, IntArray
from pellucid.trees.convert.training import Boosting
from pellucid.trees.ensemble import TreeEnsemble

_PLACES = 1 << 16  # rows times trees that go down together: few enough to stay near the processor
_COLUMNS = 32  # sums of scores that are followed together


@dataclass(frozen=True, eq=False)
class BoostedRows:
    """Training rows in the leaves of a boosted model: ``leaf`` ``(rows, trees)`` counts nodes from the tree's root,
    ``Y`` ``(rows, scores)`` are outcomes (0 and 1 for classes).
    """

    boosting: Boosting
    ensemble: TreeEnsemble
    leaf: IntArray
    Y: FloatArray
    sizes: IntArray

    @classmethod
    def of(cls, boosting: Boosting, ensemble: TreeEnsemble, X: FloatArray, Y: FloatArray) -> BoostedRows:
        """Rows as the trees see them, and their outcomes."""
        sizes = np.diff(np.append(ensemble.roots, len(ensemble.nodes.feature)))
        return cls(boosting, ensemble, places(ensemble, X), Y, sizes)

    @property
    def scores(self) -> int:
        """Numbers that are added up."""
        return self.ensemble.n_outputs

    @property
    def iterations(self) -> range:
        """Each with one tree per score."""
        return range(len(self.ensemble.roots) // self.scores)

    def fit(self, w: FloatArray, base: FloatArray, *, rounded: bool = False) -> Fit:
        """Leaf values fitted to rows of these weights, from this base on."""
        b, n = self.boosting, len(self.Y)
        F = np.tile(base, (n, 1))
        before: list[FloatArray] = []
        values: list[FloatArray] = []
        masses: list[FloatArray] = []
        for it in self.iterations:
            before.append(F.copy())
            g, h = derivatives(F, self.Y, b)
            if rounded and b.single:
                g, h = g.astype(np.float32).astype(np.float64), h.astype(np.float32).astype(np.float64)
            for k in range(self.scores):
                t = it * self.scores + k
                leaf = self.leaf[:, t]
                G = np.bincount(leaf, weights=w * g[:, k], minlength=self.sizes[t])
                E = b.factor * np.bincount(leaf, weights=w * h[:, k], minlength=self.sizes[t]) + b.l2
                there = np.bincount(leaf, weights=w, minlength=self.sizes[t]) > 0
                v = np.where(there, -b.rate * G / np.where(there & (E > 0), E, 1.0), 0.0)
                F[:, k] += v[leaf]
                values.append(np.asarray(v, dtype=np.float64))
                masses.append(np.asarray(E, dtype=np.float64))
        return Fit(base, tuple(before), tuple(values), tuple(masses))

    def own_values(self, base: FloatArray) -> list[FloatArray]:
        """The model's own leaf values, by tree, without the base where the first trees hold it."""
        nodes, roots = self.ensemble.nodes, self.ensemble.roots
        found = [nodes.value[r : r + s, 0] for r, s in zip(roots, self.sizes, strict=True)]
        if self.boosting.within:
            first = range(self.scores)
            found = [v - base[k] if k in first else v for k, v in enumerate(found)]
        return found

    def adjoint(self, fit: Fit, w: FloatArray, moved: FloatArray, at: IntArray) -> FloatArray:
        """Change of the scores of other rows, whose leaves are ``at``, without each row: ``(rows, others, scores)``.

        ``moved`` is the change of the base without each row, ``(rows, scores)``.
        """
        n, K = len(self.Y), self.scores
        out = np.empty((n, len(at), K))
        step = max(1, _COLUMNS // K)
        for s in range(0, len(at), step):
            some = at[s : s + step]
            out[:, s : s + step] = self._back(fit, w, moved, some).reshape(n, len(some), K)
        return out

    def _back(self, fit: Fit, w: FloatArray, moved: FloatArray, at: IntArray) -> FloatArray:
        b, n, K = self.boosting, len(self.Y), self.scores
        q = len(at) * K
        out, adj = np.zeros((n, q)), np.zeros((K, n, q))
        rows, ends = np.arange(len(at)), np.arange(n + 1)
        ones = np.ones(n)
        for it in reversed(self.iterations):
            g, h = derivatives(fit.before[it], self.Y, b)
            slopes = _second(fit.before[it], b)
            gathered = np.zeros((K, n, q))
            for k in range(K):
                t = it * K + k
                leaf, v, E = self.leaf[:, t], fit.values[t], fit.masses[t]
                a = csc_matrix((ones, leaf, ends), shape=(self.sizes[t], n)) @ adj[k]
                np.add.at(a, (at[:, t], rows * K + k), 1.0)
                of_row = a[leaf]
                left = np.maximum(E[leaf] - b.factor * w * h[:, k], 1e-9 * np.maximum(E[leaf], 1e-300))
                out += of_row * (w * (b.rate * g[:, k] + v[leaf] * b.factor * h[:, k]) / left)[:, None]
                for j, (dg, dh) in enumerate(slopes(k)):
                    gathered[j] -= of_row * (w * (b.rate * dg + v[leaf] * b.factor * dh) / E[leaf])[:, None]
            adj += gathered
        total = adj.sum(axis=1)  # (scores, q): how the sums hang on the base
        total[np.tile(np.arange(K), len(at)), np.arange(q)] += 1.0
        return np.asarray(out + moved @ total)

    def label_slopes(self, fit: Fit, w: FloatArray, at: IntArray, toward: FloatArray) -> FloatArray:
        """Derivatives of ``toward' scores`` of another row, whose leaves are ``at``, by the outcomes: ``(rows,
        scores)``.

        The backward pass of `adjoint` with another direct term: a leaf moves by rate w / E for each unit of an outcome.
        """
        b, n, K = self.boosting, len(self.Y), self.scores
        out, adj = np.zeros((n, K)), np.zeros((K, n))
        for it in reversed(self.iterations):
            slopes = _second(fit.before[it], b)
            gathered = np.zeros((K, n))
            for k in range(K):
                t = it * K + k
                leaf, v, E = self.leaf[:, t], fit.values[t], fit.masses[t]
                a = np.bincount(leaf, weights=adj[k], minlength=self.sizes[t])
                a[at[t]] += toward[k]
                pull = a[leaf] * w / np.where(E[leaf] > 0, E[leaf], np.inf)
                out[:, k] += b.rate * pull
                for j, (dg, dh) in enumerate(slopes(k)):
                    gathered[j] -= pull * (b.rate * dg + v[leaf] * b.factor * dh)
            adj += gathered
        return np.asarray(out + np.outer(w / w.sum(), self._base_slopes(w, adj.sum(axis=1) + toward)))

    def _base_slopes(self, w: FloatArray, total: FloatArray) -> FloatArray:
        """What the start adds, by the mean of each outcome, where ``total`` hangs on the start."""
        b = self.boosting
        if not b.start:
            return np.zeros(self.scores)
        if b.loss == "squared":
            return total
        mean = np.clip(np.average(self.Y, axis=0, weights=w), 1e-12, 1 - 1e-12)
        if b.loss == "logistic":
            return np.asarray(total / (mean * (1 - mean)))
        return np.asarray((total if b.within else total - total.mean()) / mean)

    def scores_of(self, fit: Fit, at: IntArray) -> FloatArray:
        """Scores of other rows by refitted leaf values."""
        F = np.tile(fit.base, (len(at), 1))
        for t, v in enumerate(fit.values):
            F[:, t % self.scores] += v[at[:, t]]
        return F


@dataclass(frozen=True, eq=False)
class Fit:
    """Scores before each iteration, leaf values and sums of second derivatives by tree."""

    base: FloatArray
    before: tuple[FloatArray, ...]
    values: tuple[FloatArray, ...]
    masses: tuple[FloatArray, ...]


def places(ensemble: TreeEnsemble, X: FloatArray) -> IntArray:
    """The leaf of each row in each tree, counted from the tree's root."""
    step = max(1, _PLACES // max(len(ensemble.roots), 1))
    parts = [ensemble.leaves(X[s : s + step]) - ensemble.roots for s in range(0, max(len(X), 1), step)]
    return np.asfortranarray(np.concatenate(parts).astype(np.int32))


def derivatives(F: FloatArray, Y: FloatArray, b: Boosting) -> tuple[FloatArray, FloatArray]:
    """First and second derivatives of the loss by each score."""
    if b.loss == "squared":
        return F - Y, np.ones_like(F)
    p = _probabilities(F, b)
    return p - Y, p * (1 - p)


def _second(F: FloatArray, b: Boosting) -> Callable[[int], list[tuple[FloatArray, FloatArray]]]:
    """For score k: the derivatives of g_k and h_k by every score."""
    if b.loss == "squared":
        one, zero = np.ones(len(F)), np.zeros(len(F))
        return lambda k: [(one, zero) if j == k else (zero, zero) for j in range(F.shape[1])]
    p = _probabilities(F, b)

    def of(k: int) -> list[tuple[FloatArray, FloatArray]]:
        slopes = [p[:, k] * ((j == k) - p[:, j]) for j in range(F.shape[1])]
        return [(dp, (1 - 2 * p[:, k]) * dp) for dp in slopes]

    return of


def _probabilities(F: FloatArray, b: Boosting) -> FloatArray:
    return np.asarray(expit(F) if b.loss == "logistic" else softmax(F, axis=1))


def best_constant(Y: FloatArray, w: FloatArray, b: Boosting) -> FloatArray:
    """What boosting starts from: the mean, the log-odds, or centred log frequencies."""
    mean = np.average(Y, axis=0, weights=w)
    if b.loss == "squared":
        return np.asarray(mean)
    if b.loss == "logistic":
        return np.asarray(np.log(mean / (1 - mean)))
    logs = np.log(np.maximum(mean, 1e-300))
    return np.asarray(logs if b.within else logs - logs.mean())
