"""Functions that only rise, only fall, or bend one way only, exactly.

Definition. The entries b of a constrained feature are written as b = T g, where bounded coordinates are at least zero:

    increasing   g = first entry, increments                    bounded: the increments
    convex       g = first entry, first slope, rises in slope   bounded: the rises
    both         g as for convex                                bounded: first slope and rises

(decreasing and concave with the sign turned). The penalised least-squares fit under the bounds is a quadratic program:
free coordinates are eliminated, the rest is non-negative least squares (Lawson and Hanson), whose zeros are exact.
Entries are then added up from numbers that are not negative, so that a rising function falls by nothing at all.

When it misleads. Bands are those of a fit in which the coordinates held at zero were known to be zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.optimize import nnls

from pellucid.arrays import BoolArray, FloatArray, IntArray

SHAPES = ("increasing", "decreasing", "convex", "concave")


@dataclass(frozen=True, eq=False)
class Cone:
    """A feature's constraint: the direction (1, -1, 0), the bend (1, -1, 0), its first entry and its knots."""

    rising: int
    bending: int
    first: int
    points: FloatArray

    @property
    def entries(self) -> slice:
        """Where its entries are among all."""
        return slice(self.first, self.first + len(self.points))

    @property
    def bounded(self) -> BoolArray:
        """Which coordinates are at least zero."""
        found = np.ones(len(self.points), dtype=np.bool_)
        found[0] = False
        if self.bending and not self.rising and len(found) > 1:
            found[1] = False
        return found

    @property
    def basis(self) -> FloatArray:
        """T: one column of entries per coordinate."""
        return np.stack([self.made(unit) for unit in np.eye(len(self.points))], axis=1)

    def made(self, g: FloatArray) -> FloatArray:
        """The entries of some coordinates."""
        if not self.bending:
            return g[0] + self.rising * np.concatenate([[0.0], np.cumsum(g[1:])])
        steps = np.diff(self.points)
        if self.rising * self.bending < 0:  # falling and convex, rising and concave: built from the other end
            slopes = np.cumsum(g[1:])[::-1]
            return g[0] + self.rising * np.concatenate([[0.0], np.cumsum(slopes * steps)])
        slopes = np.cumsum(g[1:])
        return g[0] + self.bending * np.concatenate([[0.0], np.cumsum(slopes * steps)])


def cones_of(shapes: Mapping[int, tuple[int, int]], starts: IntArray, points: Mapping[int, FloatArray]) -> list[Cone]:
    """The constraints of features that have two knots or more."""
    return [
        Cone(rising, bending, int(starts[j]), points[j])
        for j, (rising, bending) in shapes.items()
        if len(points[j]) > 1
    ]


def solved(A: FloatArray, right: FloatArray, cones: list[Cone]) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Entries that minimise b'Ab/2 - right'b under the constraints, their covariance (without phi), and which entries
    are coordinates held at zero.
    """
    A, right = A.copy(), right.copy()
    bounded = np.zeros(len(right), dtype=np.bool_)
    for cone in cones:
        at, T = cone.entries, cone.basis
        A[:, at] = A[:, at] @ T
        A[at, :] = T.T @ A[at, :]
        right[at] = T.T @ right[at]
        bounded[at] = cone.bounded
    g = _nonnegative(A, right, bounded)
    held = bounded & (g <= 0.0)
    live = np.flatnonzero(~held)
    V = np.zeros_like(A)
    V[np.ix_(live, live)] = np.linalg.inv(A[np.ix_(live, live)])
    b = g.copy()
    for cone in cones:
        at, T = cone.entries, cone.basis
        V[:, at] = V[:, at] @ T.T
        V[at, :] = T @ V[at, :]
        b[at] = cone.made(g[at])
    return b, V, held


def _nonnegative(A: FloatArray, right: FloatArray, bounded: BoolArray) -> FloatArray:
    """The minimum with some coordinates at least zero: free ones eliminated, then non-negative least squares."""
    free, bound = np.flatnonzero(~bounded), np.flatnonzero(bounded)
    factor = cho_factor(A[np.ix_(free, free)], lower=True, check_finite=False)
    across = cho_solve(factor, A[np.ix_(free, bound)], check_finite=False)
    own = cho_solve(factor, right[free], check_finite=False)
    left = A[np.ix_(bound, bound)] - A[np.ix_(bound, free)] @ across
    scale = 1.0 / np.sqrt(np.diag(left))
    L = np.linalg.cholesky(left * scale[:, None] * scale + 1e-12 * np.eye(len(bound)))
    target = solve_triangular(L, scale * (right[bound] - A[np.ix_(bound, free)] @ own), lower=True)
    found, _ = nnls(L.T, target, maxiter=30 * max(len(bound), 1))
    g = np.zeros(len(right))
    g[bound] = scale * found
    g[free] = own - across @ g[bound]
    return g
