"""Rows of the data as candidates: made allowed, the nearest first, asked until some reach the target."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.data.distance import RowDistance
from pellucid.methods.counterfactual.search.problem import Problem

MOST_ROWS = 5_000  # of the data that are looked at as candidates, and as neighbours within a search


def all_codes(data: Data, limit: int = MOST_ROWS) -> FloatArray:
    """At most so many rows of the data, evenly spaced, as codes ``(n, features)``."""
    rows = data.spread(limit)
    return np.column_stack([data.codes(j)[rows] for j in range(len(data.schema.features))])


def candidates(problem: Problem) -> FloatArray:
    """Rows of the data with what may not change left as it is, allowed, different, the nearest first."""
    codes = all_codes(problem.data)
    rows = problem.snap(codes)
    rows = np.unique(rows[problem.changed(rows).any(axis=1)], axis=0)
    rows = rows[problem.allowed(rows)]
    return rows[np.argsort(problem.cost.total(rows), kind="stable")]


def unlike(
    problem: Problem, k: int, *, first: int = 64, most: int | None = 640, enough: int | None = None
) -> FloatArray:
    """The ``k`` nearest candidates that reach the target, of at most so many that are asked.

    Ever more are asked at once, so that a target that many rows reach costs few model rows; after ``enough`` rows one
    candidate will do.
    """
    rows = candidates(problem)[:most]
    found = np.empty((0, len(problem.x)))
    at, size = 0, first
    while at < len(rows) and len(found) < k:
        some = rows[at : at + size]
        found = np.concatenate([found, some[problem.valid(some)]])
        at, size = at + size, 2 * size
        if len(found) and enough is not None and at >= enough:
            break
    return found[:k]


class NearestObserved:
    """Gower's distance to the nearest row(s) of the data (o4 of Dandl et al. 2020)."""

    def __init__(self, data: Data, limit: int = MOST_ROWS) -> None:
        self.rows, self._distance = all_codes(data, limit), RowDistance.learn(data, "gower")

    def __call__(self, rows: FloatArray) -> FloatArray:
        """The distance of each row."""
        return np.asarray(self._distance.between(rows, self.rows).min(axis=1, initial=np.inf))

    def apart(self, sample: int = 300) -> FloatArray:
        """How far rows of the data are from the nearest other one, sorted: what a usual distance is."""
        picked = np.unique(np.linspace(0, len(self.rows) - 1, min(sample, len(self.rows))).astype(np.intp))
        between = self._distance.between(self.rows[picked], self.rows)
        between[np.arange(len(picked)), picked] = np.inf
        return np.sort(between.min(axis=1))
