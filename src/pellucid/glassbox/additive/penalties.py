"""Penalties of functions of one feature, and how strong REML makes them.

Definition. With b the entries of feature j, the penalty is lam_j b' S_j b with

    number      b' S b = sum_k tau_k (b_{k+1} - b_k)^2 + 0.1 b_missing^2
    category    b' S b = sum_k (b_k - mean b)^2

so that lam_j/phi is the precision of increments, or of levels, seen as random. Fellner and Schall's step of REML,
with V = (G + sum_j lam_j S_j)^-1 (Wood and Fasiolo 2017), is

    lam_j  <-  lam_j (rank S_j / lam_j - tr V S_j) / (b' S_j b / phi).

tau makes the increments Student-t with nu = 3: tau_k = (nu + 1) / (nu + lam E[d_k^2]/phi), scaled to a geometric mean
of 1. A jump is then one large increment among small ones, not a reason to let the whole function wiggle.

When it misleads. REML believes that rows are independent; where they are not (days of one summer), it smooths too
little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.glassbox.additive.axes import Axis

_MISSING = 0.1  # the penalty of the missing entry, as a share of that of an increment
_NU = 3.0  # degrees of freedom of the increments
_LEAST, _MOST = 1e-3, 1e9  # of lam
_ADAPTED = 4  # knots from which on increments may differ in their precision


@dataclass(frozen=True, eq=False)
class Penalties:
    """The penalties of all features: where their increments, missing entries and levels are among all entries.

    ``lower`` is the entry that an increment starts from, ``of`` its feature; ``gone`` are the missing entries of
    numbers. ``levels`` has the first and last entry of each category with its feature.
    """

    p: int
    lower: IntArray
    of: IntArray
    gone: IntArray
    gone_of: IntArray
    levels: tuple[tuple[int, int, int], ...]
    adaptive: BoolArray

    @staticmethod
    def of_axes(axes: Sequence[Axis], starts: IntArray) -> Penalties:
        """Those of the functions along some axes."""
        lower, of, gone, levels = [], [], [], []
        for j, axis in enumerate(axes):
            first = int(starts[j])
            if axis.nominal:
                levels.append((first, first + axis.size, j))
                continue
            lower.append(first + np.arange(max(axis.present - 1, 0)))
            of.append(np.full(max(axis.present - 1, 0), j))
            if axis.missing:
                gone.append((first + axis.present, j))
        none = [np.empty(0, dtype=np.intp)]
        places = np.array(gone, dtype=np.intp).reshape(-1, 2)
        feature = np.concatenate(of or none).astype(np.intp)
        many = np.array([not axis.nominal and axis.present >= _ADAPTED for axis in axes], dtype=np.bool_)
        return Penalties(
            len(axes),
            np.concatenate(lower or none).astype(np.intp),
            feature,
            places[:, 0],
            places[:, 1],
            tuple(levels),
            many[feature] if len(feature) else np.empty(0, dtype=np.bool_),
        )

    def ranks(self, free: BoolArray) -> FloatArray:
        """How many increments and levels each feature has, of those that no constraint holds at zero."""
        found = np.bincount(self.of[free], minlength=self.p) + np.bincount(self.gone_of, minlength=self.p)
        for first, last, j in self.levels:
            found[j] = last - first - 1
        return found.astype(np.float64)

    def add(self, A: FloatArray, lam: FloatArray, tau: FloatArray) -> None:
        """Adds the penalties to a matrix, in place."""
        lo, hi, precision = self.lower, self.lower + 1, lam[self.of] * tau
        A[lo, lo] += precision
        A[hi, hi] += precision
        A[lo, hi] -= precision
        A[hi, lo] -= precision
        A[self.gone, self.gone] += _MISSING * lam[self.gone_of]
        for first, last, j in self.levels:
            block = slice(first, last)
            A[block, block] += lam[j] * (np.eye(last - first) - 1.0 / (last - first))

    def energies(self, b: FloatArray, tau: FloatArray) -> FloatArray:
        """b' S_j b of every feature."""
        found = self._summed(tau * np.square(b[self.lower + 1] - b[self.lower]), np.square(b[self.gone]))
        for first, last, j in self.levels:
            found[j] = np.square(b[first:last] - b[first:last].mean()).sum()
        return found

    def traces(self, V: FloatArray, tau: FloatArray) -> FloatArray:
        """tr V S_j of every feature."""
        found = self._summed(tau * self.variances(V), V[self.gone, self.gone])
        for first, last, j in self.levels:
            block = V[first:last, first:last]
            found[j] = np.trace(block) - block.sum() / (last - first)
        return found

    def variances(self, V: FloatArray) -> FloatArray:
        """Variances of the increments."""
        lo, hi = self.lower, self.lower + 1
        return np.asarray(V[lo, lo] + V[hi, hi] - 2.0 * V[lo, hi])

    def _summed(self, increments: FloatArray, missing: FloatArray) -> FloatArray:
        return np.bincount(self.of, increments, self.p) + _MISSING * np.bincount(self.gone_of, missing, self.p)

    def strengths(
        self, b: FloatArray, V: FloatArray, phi: float, lam: FloatArray, tau: FloatArray, free: BoolArray
    ) -> FloatArray:
        """One step of Fellner and Schall for every lam."""
        gained = self.ranks(free) / lam - self.traces(V, tau)
        spent = self.energies(b, tau) / phi
        return np.clip(lam * np.maximum(gained, 1e-12) / np.maximum(spent, 1e-12), _LEAST, _MOST)

    def precisions(self, b: FloatArray, V: FloatArray, phi: float, lam: FloatArray, free: BoolArray) -> FloatArray:
        """One step for the precisions tau of increments that follow Student's t."""
        moved = np.square(b[self.lower + 1] - b[self.lower]) / phi + np.maximum(self.variances(V), 0.0)
        tau = (_NU + 1.0) / (_NU + lam[self.of] * moved)
        counted = np.maximum(np.bincount(self.of[free], minlength=self.p), 1)
        average = np.bincount(self.of[free], np.log(tau[free]), self.p) / counted
        return np.where(self.adaptive, tau / np.exp(average[self.of]), 1.0)
