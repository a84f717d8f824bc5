"""Slow twin of constrained functions: every set of constraints that may bind is tried, and the best that holds is kept."""

from __future__ import annotations

import itertools

import numpy as np

from pellucid.arrays import FloatArray


def constraints(points: FloatArray, rising: int, bending: int, first: int, size: int) -> FloatArray:
    """Rows C with C b >= 0 among ``size`` entries, from the definition: rises, and rises of the slope."""
    rows = []
    for k in range(len(points) - 1):
        row = np.zeros(size)
        row[first + k], row[first + k + 1] = -1.0, 1.0
        rows.append(rising * row)
    bends = []
    for k in range(len(points) - 2):
        row = np.zeros(size)
        left, right = points[k + 1] - points[k], points[k + 2] - points[k + 1]
        row[first + k] = 1 / left
        row[first + k + 1] = -1 / left - 1 / right
        row[first + k + 2] = 1 / right
        bends.append(bending * row)
    return np.array((rows if rising else []) + (bends if bending else []))


def best_under(A: FloatArray, right: FloatArray, C: FloatArray) -> tuple[FloatArray, float]:
    """b that minimises b'Ab/2 - right'b under C b >= 0, and the minimum, by trying all faces of the cone."""
    best, reached = np.zeros(len(right)), np.inf
    for bound in itertools.product([False, True], repeat=len(C)):
        E = C[np.array(bound)]
        basis = np.linalg.svd(E)[2][np.linalg.matrix_rank(E) :].T if len(E) else np.eye(len(right))
        b = basis @ np.linalg.solve(basis.T @ A @ basis, basis.T @ right)
        value = float(b @ A @ b / 2 - right @ b)
        if (C @ b >= -1e-9 * np.abs(C).max()).all() and value < reached:
            best, reached = b, value
    return best, reached
