"""Nearest neighbours: what was true of the rows that are most like a row, and these rows are the explanation.

Reference. Fix and Hodges 1951; Cover and Hart 1967; Gower 1971 for rows of numbers, categories and missing values.

Definition. With x_(1), x_(2), ... the training rows in the order of their distance d(x, x_i), of equal ones the first,
the prediction is the mean of the outcomes (or the shares of the classes) of the first n. A row of weight two is two of
them. With ``weights="distance"`` each counts by 1 / d; where some are at distance 0, these alone.

When it misleads. (1) With many features all rows are about as far. (2) Features that do not matter count as much as
those that do. (3) Beyond the training rows the prediction stays what it is at their border.

Cost. Every prediction measures the distance from all training rows.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.checks import one_of, whole
from pellucid.data.cells import objects
from pellucid.data.distance import RowDistance
from pellucid.data.row_labels import RowLabels
from pellucid.errors import InputError
from pellucid.explanations import Header, Neighbors
from pellucid.glassbox.base import caller, known_codes, labels_of, one_row
from pellucid.glassbox.rules.either_task import EitherTask, classifies
from pellucid.runner import Cost

DISTANCES = ("gower", "euclidean", "manhattan")
_AT_ONCE = 2_000_000  # distances
_OTHERWISE = 0.5  # standard deviations of the outcome
_TRIED, _TRIED_AT_ONCE = 1000, 50  # rows among which the nearest unlike one is looked for


class NearestNeighbours(EitherTask):
    """The mean outcome, or the commonest class, of the training rows that are most like a row.

    Parameters
    ----------
    n
        How many neighbours.
    distance
        "gower", "euclidean" (in standard deviations) or "manhattan" (in median absolute deviations), over numbers,
        categories and missing values: see `pellucid.data.distance`.
    weights
        "uniform", or "distance": nearer neighbours count more.
    task
        "regression", "classification", or "auto": see `ShortTree`.

    Examples
    --------
    >>> from pellucid.glassbox import NearestNeighbours
    >>> rows = [{"age": 20, "town": "a"}, {"age": 30, "town": "a"}, {"age": 31, "town": "b"}, {"age": 70, "town": "b"}]
    >>> model = NearestNeighbours(n=1).fit(rows, ["no", "no", "yes", "yes"])
    >>> model.predict([{"age": 33, "town": "b"}]).tolist(), model.explain({"age": 33, "town": "b"}).neighbors.tolist()
    (['yes'], ['2'])
    """

    def __init__(self, n: int = 5, *, distance: str = "gower", weights: str = "uniform", task: str = "auto") -> None:
        self.n = n
        self.distance = distance
        self.weights = weights
        self.task = task

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep the rows."""
        self._settle_task(y)
        norm = one_of("distance", self.distance, DISTANCES)
        one_of("weights", self.weights, ("uniform", "distance"))
        whole("n", self.n)
        training = self._learn(X, y, sample_weight)
        self._rows, self._weights = training.codes, training.weights
        self._distance = RowDistance.of(self._schema.features, list(training.codes.T), training.weights, norm)
        self._outcomes = self.classes_[training.y] if self._classifies else training.y.astype(np.float64)
        self._targets = np.eye(len(self.classes_))[training.y] if self._classifies else self._outcomes[:, None]
        self._names_of_rows = labels_of(self, X, X).labels
        if self._names_of_rows is not None and sample_weight is not None:
            kept = np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), len(self._names_of_rows)) > 0
            self._names_of_rows = self._names_of_rows[kept]
        return self

    # -- predicting ----------------------------------------------------------------------------------

    def kneighbors(self, X: Any) -> tuple[FloatArray, IntArray]:
        """Distances of the ``n`` nearest training rows (of those with a weight), and their places among them."""
        return self._neighbours(self._design(X))

    def _neighbours(self, codes: FloatArray) -> tuple[FloatArray, IntArray]:
        n = min(whole("n", self.n), len(self._rows))
        distance, place = np.empty((len(codes), n)), np.empty((len(codes), n), dtype=np.intp)
        step = max(1, _AT_ONCE // len(self._rows))
        for start in range(0, len(codes), step):
            apart = self._distance.between(codes[start : start + step], self._rows)
            order = _nearest(apart, n)
            place[start : start + step] = order
            distance[start : start + step] = np.take_along_axis(apart, order, axis=1)
        return distance, place

    def _values(self, codes: FloatArray) -> FloatArray:
        """Means or shares over the neighbours ``(rows, outputs)``."""
        distance, place = self._neighbours(codes)
        own = self._weights[place]
        before = np.cumsum(own, axis=1) - own
        share = np.clip(whole("n", self.n) - before, 0.0, own)  # as many rows as weights say, the last perhaps in part
        if self.weights == "distance":
            exact = distance <= 1e-12
            near = np.where(exact.any(axis=1, keepdims=True), exact, 1.0 / np.where(exact, 1.0, distance))
            share = share * near
        share = share / share.sum(axis=1, keepdims=True)
        return np.einsum("rn,rnk->rk", share, self._targets[place])

    def predict(self, X: Any) -> AnyArray:
        """The mean outcome of the neighbours, or their commonest class."""
        value = self._values(self._design(X))
        return np.asarray(self.classes_[value.argmax(axis=1)] if self._classifies else value[:, 0])

    @available_if(classifies)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> FloatArray:
        """The shares of the classes among the neighbours."""
        return self._values(self._design(X))

    # -- explaining ----------------------------------------------------------------------------------

    def explain(self, row: Any = None) -> Neighbors:
        """The neighbours of one row, the nearest first, and the nearest that is predicted otherwise."""
        if row is None:
            raise InputError("row must be given: neighbours explain one prediction; model.explain(X.iloc[[0]]).")
        table = one_row(row)
        codes = self._design(table)
        if len(codes) != 1:
            raise InputError(f"row holds {len(codes)} rows; give one, such as X.iloc[[0]].")
        distance, place = self._neighbours(codes)
        value = self._values(codes)
        other, apart = self._unlike(codes, value[0])
        near = np.append(place[0], other)
        rows = np.vstack([codes, self._rows[near]])
        predictions = np.vstack([value, self._values(self._rows[near])])
        shown = slice(1, None) if self._classifies and value.shape[1] == 2 else slice(None)
        n = place.shape[1]
        return Neighbors(
            values=distance[0],
            se=np.zeros(n),
            roles=("row", *("neighbour",) * n, *("nearest unlike",) * len(other)),
            cells=tuple(
                feature.decode(known_codes(feature, column))
                for feature, column in zip(self._schema.features, rows.T, strict=True)
            ),
            column_names=self._names,
            predictions=predictions[:, shown],
            outcomes=objects([None, *self._outcomes[near].tolist()]),
            errors=np.full(len(rows), np.nan),
            usual_error=float("nan"),
            groups=("",) * len(rows),
            witness=np.full(len(rows), np.nan),
            nearest=np.full(len(rows), -1),
            contrast=np.zeros((0, len(self._names))),
            discrepancy=None,
            distance=self.distance,
            unlike=apart,
            header=Header(
                feature_names=self._names,
                output_names=self._output_names,
                scale="probability" if self._classifies else "response",
                cost=Cost(0, 0.0, 0, 0.0),
                settings={"model": type(self).__name__, "method": "neighbors", "n": n, "distance": self.distance},
                library=caller(row),
                row_labels=self._labels(labels_of(self, table, row), near),
                classes=tuple(str(label) for label in getattr(self, "classes_", ())),
            ),
        )

    def _unlike(self, codes: FloatArray, value: FloatArray) -> tuple[IntArray, float]:
        """The nearest training row that is predicted otherwise, if one of the nearest thousand is, and its distance."""
        apart = self._distance.between(codes, self._rows)[0]
        order = np.argsort(apart.round(12), kind="stable")[:_TRIED]
        w = self._weights / self._weights.sum()
        least = _OTHERWISE * np.sqrt(w @ np.square(self._targets - w @ self._targets))
        for start in range(0, len(order), _TRIED_AT_ONCE):
            some = order[start : start + _TRIED_AT_ONCE]
            others = self._values(self._rows[some])
            if self._classifies:
                otherwise = others.argmax(axis=1) != value.argmax()
            else:
                otherwise = np.abs(others - value)[:, 0] > max(float(least[0]), 1e-12)
            if otherwise.any():
                found = some[np.flatnonzero(otherwise)[:1]]
                return found, float(apart[found[0]])
        return np.empty(0, dtype=np.intp), float("nan")

    def _labels(self, own: RowLabels, near: IntArray) -> RowLabels:
        names = near if self._names_of_rows is None else self._names_of_rows[near]
        first = "given" if own.labels is None else str(own.labels[0])
        return RowLabels(objects([first, *(str(name) for name in names.tolist())]), None)


def _nearest(apart: FloatArray, n: int) -> IntArray:
    """The places of the n smallest of each row in their order, of equal ones the first."""
    rounded = apart.round(12)
    if n < rounded.shape[1]:
        bound = np.partition(rounded, n - 1, axis=1)[:, n - 1 : n]
        rounded = np.where(rounded <= bound, rounded, np.inf)
    return np.argsort(rounded, axis=1, kind="stable")[:, :n]
