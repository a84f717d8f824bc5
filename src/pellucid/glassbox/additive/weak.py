"""Weak pairs: those that no test finds one by one, and that may be worth having together.

Definition. A number has two columns, cos(pi F) and cos(2 pi F)/2 with F the share of the rows up to a value (the first
two eigenfunctions of a random walk along the rows: rising and bent), a category one for each level; those of a feature
have mean zero and together variance one. A pair has all products of their columns. Of every pair that was not chosen
the coefficients are random with one variance phi/lam. With U the columns of all of them less their mean, X the entries
of the functions of one feature, V = (X'WX + S)^-1 as these are fitted, and r the weighted residuals, the functions
taken as random too,

    P = U'WU - U'WX V X'WU,     g = (P + lam I)^-1 (U'Wz - U'WX V X'Wz),     lam  <-  phi tr P (P + lam I)^-1 / g'g

is the fit of both together, and Q = |U'r|^2 with E Q = tr P and Var Q = 2 tr P^2 the score test of the variance (Lin
1997). Where it is beyond chance all of them are kept: on few rows many effects that are uncertain, each shrunken,
predict better than none.

When it misleads. (1) That pairs matter together does not say which: single ones are uncertain. (2) Pairs are taken as
long as their columns keep the work within bounds, those with few columns first; where there are many rows, few pairs
are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import blas, lapack
from scipy.stats import chi2

from pellucid.arrays import FloatArray
from pellucid.glassbox.additive.axes import Axis
from pellucid.glassbox.additive.functions import Functions
from pellucid.glassbox.additive.products import LEAST, MOST, Products, columns_of
from pellucid.glassbox.additive.surfaces import Placed

_WORK = 4e8  # rows times columns squared, at most
_CROSSED = 2e9  # rows times columns times columns and entries of the functions
_COLUMNS = 600
_KEPT = 4_000_000  # numbers
_STEPS = 3  # of REML in a round
_WAVES = 2
_STILL = 1e-6  # variance of the columns below which a feature is constant


def columns_along(axis: Axis, placed: Placed, weights: FloatArray) -> FloatArray:
    """A feature's columns at the entries of its axis; 0 where a number is missing."""
    index, share = placed
    mass = np.bincount(index, weights * (1.0 - share), axis.size).astype(np.float64)
    mass += np.bincount(np.minimum(index + 1, axis.size - 1), weights * share, axis.size)
    mass /= mass.sum()
    known = axis.size if axis.nominal else axis.present
    if axis.nominal:
        nodes = np.eye(axis.size)
    else:
        F = np.cumsum(mass[:known]) - mass[:known] / 2.0
        waves = np.arange(1, min(_WAVES, known - 1) + 1)
        nodes = np.zeros((axis.size, len(waves)))
        nodes[:known] = np.cos(np.pi * F[:, None] * waves) / waves
    nodes[:known] -= mass[:known] @ nodes[:known] / mass[:known].sum()
    variance = float((mass @ np.square(nodes)).sum())
    return nodes / np.sqrt(variance) if variance > _STILL else nodes[:, :0]


def affordable(
    pairs: Sequence[tuple[int, int]], nodes: dict[int, FloatArray], rows: int, entries: int
) -> list[tuple[int, int]]:
    """The pairs whose columns keep the work within bounds, those with few first."""
    with_functions = (np.sqrt(entries**2 + 4.0 * _CROSSED / rows) - entries) / 2.0
    most, used, found = min(_COLUMNS, int(np.sqrt(_WORK / rows)), int(with_functions)), 0, []
    for pair in sorted(pairs, key=lambda pair: columns_of(pair, nodes)):
        used += columns_of(pair, nodes)
        if used > most:
            break
        found.append(pair)
    return found


@dataclass(eq=False)
class WeakPairs(Products):
    """The state of the fit of the weak pairs of one sum, beside its functions of one feature."""

    functions: Functions = field(kw_only=True)
    _crossed: tuple[FloatArray, FloatArray, FloatArray, FloatArray] | None = None
    _written: list[tuple[slice, FloatArray]] = field(default_factory=list)

    def columns(self) -> Iterator[tuple[slice, FloatArray]]:
        """The columns, kept where they are few numbers."""
        if self._written:
            yield from self._written
            return
        keeps = len(self.sums) * len(self.g) <= _KEPT
        for each in super().columns():
            if keeps:
                self._written.append(each)
            yield each

    def solve(self, weight: FloatArray, residual: FloatArray, phi: float, *, same_weights: bool) -> None:
        """One fit together with the functions, which take their own step afterwards; REML's steps for the variance."""
        design, V = self.functions.design, self.functions.V
        G, C, c = self._gathered_with(weight, same_weights)
        z = residual + self.sums + self.functions.sums
        z = z - float(weight @ z) / float(weight.sum())
        right = self._right(weight * z) - C.T @ (V @ design.right(weight * z))
        P, one = G - C.T @ V @ C, np.diag_indices(len(G))
        for _ in range(_STEPS):
            A = P.copy()
            A[one] += self.lam
            factor, _ = lapack.dpotrf(A, lower=1)
            self.g, _ = lapack.dpotrs(factor, right, lower=1)
            inverse, _ = lapack.dpotri(factor, lower=1)
            share = 1.0 - self.lam * inverse[one]
            spent = max(float(self.g @ self.g), 1e-12)
            self.lam = float(np.clip(phi * max(float(share.sum()), 1e-9) / spent, LEAST, MOST))
        self.edf = np.bincount(np.repeat(np.arange(len(self.pairs)), self.counts), share, len(self.pairs)).astype(
            np.float64
        )
        self.sums = np.concatenate([U @ self.g for _, U in self.columns()]) - float(c @ self.g)

    def evidence(self, weight: FloatArray, residual: FloatArray, phi: float) -> tuple[float, float, float]:
        """Q, its mean and its variance where there are no such pairs."""
        G, C, _ = self._gathered_with(weight, False)
        P = G - C.T @ self.functions.V @ C
        s = self._right(weight * residual)
        return float(s @ s) / phi, float(np.trace(P)), 2.0 * float((P * P).sum())

    def _right(self, weighted: FloatArray) -> FloatArray:
        """U'q; q has mean zero."""
        return np.asarray(sum(U.T @ weighted[rows] for rows, U in self.columns()))

    def _gathered_with(self, weight: FloatArray, same: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
        """U'WU and X'WU of the columns less their means, and these; kept as long as weights stay."""
        if self._crossed is not None and (same or np.allclose(self._crossed[0], weight, rtol=1e-12)):
            return self._crossed[1:]
        design, total, q = self.functions.design, float(weight.sum()), len(self.g)
        G, C, c = np.zeros((q, q)), np.zeros((design.size, q)), np.zeros(q)
        for rows, U in self.columns():
            root = np.sqrt(weight[rows, None])
            scaled = root * U
            G += blas.dsyrk(1.0, scaled.T, lower=1)  # half the work of U'WU as it stands
            C += (root * design.hats(rows)).T @ scaled
            c += weight[rows] @ U
        G, mean = G + np.tril(G, -1).T, c / total
        self._crossed = weight, G - np.outer(c, mean), C - np.outer(design.right(weight), mean), mean
        return self._crossed[1:]


def chance(evidence: Sequence[tuple[float, float, float]]) -> float:
    """The chance of so much evidence in all sums if there are no such pairs: a scaled chi-squared of its moments."""
    total, mean, variance = np.sum(evidence, axis=0)
    if mean <= 0.0 or variance <= 0.0:
        return 1.0
    freedom = 2.0 * mean * mean / variance
    return float(chi2.sf(total * freedom / mean, freedom))
