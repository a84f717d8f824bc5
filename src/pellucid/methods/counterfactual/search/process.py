"""What a model that was asked about some rows likely says about others: a Gaussian process on rows of codes.

Definition. For values u, v of a feature, d(u, v) the mean of their difference in units of the feature and of the share
of the data between them (levels are either the same or infinitely far apart), with free features j = 1, ..., p:

    c_j(u, v) = (1 - r) exp(-d / l) + r exp(-d / s)            far and near likeness: steps of trees are near ones
    k(z, z')  = product over j of (1 + a c_j(z_j, z'_j)) / (1 + a)

The product holds every sum of effects and all interactions, weighing a to the power of their order. l, r and a are
those of a grid with the largest likelihood, the mean is a constant (generalised least squares), and the variance is
raised where rows that are left out are missed by more than it says (Dubrule 1983: the errors follow from the inverse).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from pellucid.arrays import FloatArray, IntArray

_FAR, _ROUGH, _JOINT = (0.05, 0.15, 0.5, 2.0), (0.1, 0.4), (0.03, 0.1, 0.3, 1.0)
_NEAR = 0.02
NUGGET = 1e-4
_CHOOSING = 150  # rows that choose the kernel


class Axis(NamedTuple):
    """The values of a feature as places on a line; of a nominal one as levels, which are the same or not."""

    values: FloatArray
    nominal: bool

    def apart(self, some: IntArray, others: IntArray | None = None) -> FloatArray:
        """Distances between values, given by where they are among all of them; missing ones are like each other."""
        a, b = self.values[some][:, None], self.values[some if others is None else others]
        alike = (a == b) | (np.isnan(a) & np.isnan(b))
        found = np.full(alike.shape, np.inf) if self.nominal else np.abs(a - b)
        return np.where(alike, 0.0, np.where(np.isnan(found), np.inf, found))


class Kernel(NamedTuple):
    """l, r and a of the definition."""

    far: float
    rough: float
    joint: float

    def factor(self, apart: FloatArray) -> FloatArray:
        """That of a feature, for distances between its values."""
        return self.weighed(np.exp(-apart / self.far), np.exp(-apart / _NEAR))

    def weighed(self, far: FloatArray, near: FloatArray) -> FloatArray:
        """The same for likenesses in both senses."""
        like = (1 - self.rough) * far + self.rough * near
        return np.asarray((1 + self.joint * like) / (1 + self.joint))


@dataclass(frozen=True, eq=False)
class Process:
    """Fitted to outputs (n, t) of n rows; rows are given by where their values are on the axes, (n, features).

    ``beside``: for each feature k_j between all its values and those of the rows that it was fitted to.
    """

    axes: list[Axis]
    kernel: Kernel
    beside: list[FloatArray]
    root: FloatArray
    center: FloatArray
    weights: FloatArray
    variance: FloatArray

    @classmethod
    def fit(cls, axes: list[Axis], rows: IntArray, outputs: FloatArray, kernel: Kernel) -> Process:
        """What follows from these outputs."""
        beside = [
            _between(axis, kernel, np.arange(len(axis.values)), own) for axis, own in zip(axes, rows.T, strict=True)
        ]
        root = _root(_product(beside, rows))
        center, weights = _solved(root, outputs)
        usual = np.einsum("it,it->t", outputs - center, weights) / len(rows)
        inverse = solve_triangular(root, np.eye(len(rows)), lower=True, check_finite=False)
        precision = np.einsum("ij,ij->j", inverse, inverse)
        missed = (weights**2 / precision[:, None]).mean(axis=0)
        return cls(axes, kernel, beside, root, center, weights, np.maximum(usual, missed) + 1e-300)

    def replaced(self, row: IntArray, columns: tuple[int, ...], places: IntArray) -> FloatArray:
        """The mean for a row with some columns at other places (n, columns): quicker than one by one."""
        rest = _product([self.beside[j] for j in range(len(row)) if j not in columns], np.delete(row, columns)[None])
        own = _product([self.beside[j] for j in columns], places)
        return np.asarray(self.center + own @ (rest[0][:, None] * self.weights))

    def alone(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Mean (n, t) and variance (n,) of rows, each by itself, the latter in units of the variance of each output."""
        mean, known = self._known(rows)
        return mean, 1.0 - np.einsum("ij,ij->j", known, known)

    def together(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Mean (n, t) and covariance (n, n) of rows, the latter in units of the variance of each output."""
        mean, known = self._known(rows)
        own = np.ones((len(rows), len(rows)))
        for axis, places in zip(self.axes, rows.T, strict=True):
            own *= _between(axis, self.kernel, places, places)
        return mean, own - known.T @ known

    def _known(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        between = _product(self.beside, rows)
        mean = self.center + between @ self.weights
        return mean, np.asarray(solve_triangular(self.root, between.T, lower=True, check_finite=False))


def choose(axes: list[Axis], rows: IntArray, output: FloatArray) -> Kernel:
    """The kernel of the grid under which some of the rows are likeliest."""
    some = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _CHOOSING)).astype(np.intp))
    rows, output = rows[some], output[some, None]
    apart = [axis.apart(places) for axis, places in zip(axes, rows.T, strict=True)]
    near = [np.exp(-d / _NEAR) for d in apart]
    best, found = -np.inf, Kernel(_FAR[1], _ROUGH[0], _JOINT[2])
    for far in _FAR:
        like = [np.exp(-d / far) for d in apart]
        for rough, joint in itertools.product(_ROUGH, _JOINT):
            kernel, covariance = Kernel(far, rough, joint), np.ones((len(rows), len(rows)))
            for one, other in zip(like, near, strict=True):
                covariance *= kernel.weighed(one, other)
            root = _root(covariance)
            center, weights = _solved(root, output)
            usual = float(((output - center) * weights).sum()) / len(rows)
            likely = -0.5 * len(rows) * np.log(max(usual, 1e-300)) - np.log(np.diag(root)).sum()
            if likely > best:
                best, found = likely, kernel
    return found


def _between(axis: Axis, kernel: Kernel, some: IntArray, others: IntArray) -> FloatArray:
    """k_j between values of a feature, each pair of different values computed once."""
    (a, back_a), (b, back_b) = (np.unique(places, return_inverse=True) for places in (some, others))
    return np.asarray(kernel.factor(axis.apart(a, b))[:, back_b][back_a])


def _product(factors: list[FloatArray], rows: IntArray) -> FloatArray:
    """The product over features of their factors at the places of rows."""
    found = factors[0][rows[:, 0]] if factors else np.ones((len(rows), 1))
    for factor, places in zip(factors[1:], rows.T[1:], strict=True):
        found *= factor[places]
    return found


def _root(covariance: FloatArray) -> FloatArray:
    covariance[np.diag_indices(len(covariance))] += NUGGET
    return np.asarray(cholesky(covariance, lower=True, overwrite_a=True, check_finite=False))


def _solved(root: FloatArray, outputs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The constant (t,) of generalised least squares, and the weights (n, t) of the rows."""
    both = solve_triangular(root, np.column_stack([np.ones(len(outputs)), outputs]), lower=True, check_finite=False)
    one, rest = both[:, :1], both[:, 1:]
    center = (one.T @ rest / (one.T @ one))[0]
    return center, np.asarray(solve_triangular(root.T, rest - one * center, lower=False, check_finite=False))
