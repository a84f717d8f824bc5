"""What a surrogate imitates: rows, the model's predictions for them, how much each row counts, and who holds it out.

Rows that are equal in all features are always held out together: a copy in the training rows would be no test. They are
found by a hash of their codes, so that neither the order of rows or columns, nor names, nor a row that is written twice
instead of weighing two changes a fold.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.checks import whole
from pellucid.data import Data
from pellucid.data.distance import RowDistance, exponential
from pellucid.errors import InputError
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.stats import effective_size, weighted_mean

LEAST_NEAR = 100.0  # effective rows around a row
_NEAR = 0.1  # of all rows
_FEWEST = 10  # rows


@dataclass(frozen=True, eq=False)
class Task:
    """Rows that count (``data``), the explained predictions ``target`` ``(rows, outputs)``, ``full`` ones as a loss
    wants them, and the fold of each row.
    """

    data: Data
    target: FloatArray
    full: FloatArray
    weights: FloatArray
    fold: IntArray
    unit: FloatArray

    def __len__(self) -> int:
        return len(self.target)

    @property
    def outputs(self) -> int:
        """How many outputs are imitated."""
        return self.target.shape[1]

    @cached_property
    def scaled(self) -> FloatArray:
        """The target with outputs that may be added up: as it is where all are probabilities, else in units of its
        spread.
        """
        return self.target / self.unit

    def training(self, k: int) -> IntArray:
        """The rows that fit the surrogate which fold ``k`` judges."""
        return np.flatnonzero(self.fold != k)

    def held_out(self, k: int) -> IntArray:
        """The rows of fold ``k``."""
        return np.flatnonzero(self.fold == k)

    @property
    def folds(self) -> int:
        """How many folds there are."""
        return int(self.fold.max()) + 1

    @property
    def least(self) -> float:
        """The weight that a leaf has at least: five rows."""
        return 5.0 * min(1.0, float(self.weights.mean()))


def task_of(
    predictor: Predictor, data: Data, rows: Any, weights: Any, near: Any, folds: Any, run: Run
) -> tuple[Task, dict[str, Any]]:
    """The rows that are asked for, with what the model predicts for them, and what to note in the settings."""
    chosen = data if rows is None else data.rows(rows)
    counts = chosen.weights * _given(weights, len(chosen))
    noted: dict[str, Any] = {}
    if near is not None:
        closeness, noted = _closeness(data, chosen, near)
        counts = counts * closeness
    labels = _labels(folds, len(chosen))
    kept = np.flatnonzero(counts > (1e-3 * counts.max() if near is not None else 0.0))
    if len(kept) < _FEWEST:
        raise InputError(f"a surrogate needs at least {_FEWEST} rows that count, got {len(kept)}; give more rows.")
    chosen, counts = chosen.take(kept) if len(kept) < len(chosen) else chosen, counts[kept]
    full = run.predict(predictor, chosen, full=True)
    target = predictor.restrict(full)
    if isinstance(labels, int):
        fold = _stratified(chosen, target, labels, run)
    else:
        fold = np.unique(labels[kept], return_inverse=True)[1]
    if fold.max() < 1:
        raise InputError("all rows are in one fold; give rows that differ, or labels of at least two folds.")
    unit = _unit(target, counts, predictor.scale)
    return Task(chosen, target, full, counts, fold.astype(np.intp), unit), noted


def _unit(target: FloatArray, weights: FloatArray, scale: str) -> FloatArray:
    if scale == "probability":
        return np.ones(target.shape[1])
    spread = np.sqrt(weighted_mean(np.square(target - weighted_mean(target, weights)), weights))
    return np.where(spread > 0, spread, 1.0)


def _given(weights: Any, n: int) -> FloatArray:
    if weights is None:
        return np.ones(n)
    try:
        given = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("weights must be numbers, one per row that the surrogate is fitted to.") from None
    if given.shape != (n,):
        raise InputError(f"weights has shape {given.shape} for {n} rows; give one weight per row.")
    if not np.isfinite(given).all() or (given < 0).any() or not given.any():
        raise InputError("weights must be zero or positive numbers, and not all zero.")
    return given


def _closeness(data: Data, chosen: Data, near: Any) -> tuple[FloatArray, dict[str, Any]]:
    """Weights exp(-D^2 / width^2) by Gower's distance from a row, as wide as leaves a tenth of the rows effective."""
    row = data.rows(near)
    if len(row) != 1:
        raise InputError(f"near must be one row, got {len(row)}; give a position, a label or one row of your own.")
    p = len(data.schema.features)
    own, others = (np.column_stack([part.codes(j) for j in range(p)]) for part in (row, chosen))
    distance = RowDistance.learn(data, "gower").between(own, others)[0]
    wanted = min(max(_NEAR * len(chosen), LEAST_NEAR), 0.9 * len(chosen))
    low, high = 1e-4, 100.0
    for _ in range(60):
        width = float(np.sqrt(low * high))
        low, high = (width, high) if effective_size(exponential(distance, width)) < wanted else (low, width)
    return exponential(distance, high), {"width": high, "near": row.row_labels.name(0)}


def _labels(folds: Any, n: int) -> int | AnyArray:
    if np.ndim(folds) == 0:
        return whole("folds", folds, least=2, also="one label per row")
    array = np.asarray(folds)
    if array.shape != (n,):
        raise InputError(f"folds has shape {array.shape} for {n} rows; give one fold label per row.")
    return array.astype(str) if array.dtype == object else array


def _stratified(data: Data, target: FloatArray, folds: int, run: Run) -> IntArray:
    """Folds of about the same predictions: of every few rows that are next to each other by their prediction (of the
    first output), one goes at random into each fold; equal rows count as one.
    """
    place = _places(data, run.generator("surrogate.folds"))
    first = np.zeros(int(place.max()) + 1, dtype=np.intp)
    first[place] = np.arange(len(data))
    folds = min(folds, len(first))
    spread = float(np.ptp(target[:, 0])) or 1.0
    level = np.round(target[first, 0] / spread, 9)  # so that rounding in the model does not decide
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.lexsort((np.arange(len(first)), level))] = np.arange(len(first))
    fold = np.empty(len(first), dtype=np.intp)
    fold[np.lexsort((np.arange(len(first)), rank // folds))] = np.arange(len(first)) % folds
    return fold[place]


def row_groups(data: Data, generator: np.random.Generator, groups: int) -> IntArray:
    """Rows dealt at random into groups, equal rows always into the same."""
    place = _places(data, generator)
    return np.asarray(place % min(groups, int(place.max()) + 1), dtype=np.intp)


def _places(data: Data, generator: np.random.Generator) -> IntArray:
    """Distinct rows in a random order: the place of each row, which is the same for equal rows."""
    start = generator.integers(1, 2**63, dtype=np.uint64)
    hashed = np.full(len(data), start, dtype=np.uint64)
    order, keys = by_content(data)
    for j, key in zip(order.tolist(), keys, strict=True):
        salt = _mixed(np.array([key]))
        hashed += _mixed(np.where(np.isnan(data.codes(j)), 1e300, data.codes(j)) + 0.0) * (salt | np.uint64(1))
    return np.asarray(np.unique(_mixed(hashed), return_inverse=True)[1], dtype=np.intp)


def by_content(data: Data) -> tuple[IntArray, FloatArray]:
    """The features in an order that neither their names nor their places decide, with the number that does: the mean of
    their values, rounded.
    """
    keys = np.empty(len(data.schema.features))
    for j in range(len(keys)):
        codes = data.codes(j)
        known = ~np.isnan(codes)
        mass = data.weights[known]
        spread = float((mass * np.abs(codes[known])).sum()) / max(float(mass.sum()), 1e-300)
        mean = float((mass * codes[known]).sum()) / max(float(mass.sum()), 1e-300)
        keys[j] = float(f"{mean + 0.1 * spread:.9g}")
    order = np.argsort(keys, kind="stable")
    return order, keys[order]


def _mixed(cells: AnyArray) -> NDArray[np.uint64]:
    """The bits of each cell, well mixed (the finaliser of splitmix64)."""
    bits = cells.view(np.uint64).copy()
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(bits ^ (bits >> np.uint64(31)))
