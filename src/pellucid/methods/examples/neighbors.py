"""Neighbours: the rows of the data that are most like one row, and the nearest that the model predicts otherwise.

Reference. Caruana et al. 1999, "Case-based explanation of non-case-based learning methods"; Wexler et al. 2019 for the
nearest unlike row; Breiman 2001 for the proximity of rows in trees.

Definition. The n rows x_i with the least d(x, x_i), of equal ones the first, x itself left out. d is Gower's distance;
the Euclidean one of numbers in standard deviations and levels of categories; that of the contributions of the features
to the prediction, which makes rows alike that the model treats for the same reasons; 1 minus the share of trees in
which both rows end in the same leaf; or the Euclidean one of what a function makes of the rows. The nearest unlike row
is the nearest whose predicted class is another one, or whose predicted number is off by more than half a standard
deviation of the predictions.

Estimator. All distances; then rows are asked in their order, ever more at once, until one is predicted otherwise.

When it misleads. (1) With many features all rows are about as far. (2) Features count that the model does not use,
except by contributions and leaves. (3) A like row with another outcome does not show that the model is wrong.

Cost. The row, its neighbours, and rows until one is unlike; by contributions those of `shap` for at most 5,000 rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.checks import one_of, whole
from pellucid.data import Data
from pellucid.data.cells import objects
from pellucid.data.distance import RowDistance
from pellucid.data.embedding import embedded
from pellucid.data.row_labels import RowLabels
from pellucid.diagnostics.general import SAMPLE_ROWS, sample_predictions
from pellucid.diagnostics.prototypes import neighbor_caveats
from pellucid.errors import InputError
from pellucid.explanations import Header, Neighbors
from pellucid.methods.attribution.shap import shap
from pellucid.methods.examples.estimation.space import leaves_of
from pellucid.methods.examples.prototypes import errors_of
from pellucid.models import Predictor
from pellucid.models.outcome import outcome_as_said
from pellucid.runner import Run

Distance = Literal["gower", "euclidean", "contributions", "leaves"] | Callable[[Any], Any]
DISTANCES = ("gower", "euclidean", "contributions", "leaves")
_OTHERWISE = 0.5  # standard deviations of the predictions
_FIRST = 64  # rows that are asked at first
_CONTRIBUTED = 5_000


def neighbors(
    predictor: Predictor,
    data: Data,
    row: Any,
    n: int = 5,
    *,
    distance: Distance = "gower",
    background: Any = None,
    of: str = "row",
    run: Run,
) -> Neighbors:
    """The rows of the data that are nearest to one row; ``of`` says what a row of the table is."""
    if not callable(distance):
        one_of("distance", distance, DISTANCES)
    places, x = data.places(row), data.rows(row)
    if len(x) != 1:
        raise InputError(f"row must be one row, got {len(x)}; ask for the neighbours of each by itself.")
    candidates = np.flatnonzero(data.weights > 0)
    candidates = candidates if places is None else candidates[candidates != places[0]]
    candidates = candidates[data.take(candidates).spread(_CONTRIBUTED)] if distance == "contributions" else candidates
    n = whole("n", n, most=max(len(candidates), 1))
    apart = _apart(predictor, data, x, candidates, distance, background, run)
    order = np.argsort(apart.round(12), kind="stable")
    full = run.predict(predictor, x, full=True)
    unlike = _unlike(predictor, data, full, candidates[order], run)
    chosen = np.append(order[:n], order[unlike] if len(unlike) else unlike)
    settings = {"row": _said(x), "n": n, "distance": "function" if callable(distance) else distance}
    settings |= {"random_state": run.seed, "method": "neighbors", "of": of}
    found = _result(predictor, data, x, candidates[chosen], apart[chosen], n, full, settings, run)
    ends = float(apart[order[0]]), float(np.median(apart))
    return run.finish(found, neighbor_caveats(predictor, data, run, *ends, of=of))


def _said(x: Data) -> str:
    return x.row_labels.name(0) if x.row_labels.labels is not None else "given"


def _apart(
    predictor: Predictor, data: Data, x: Data, rows: IntArray, distance: Distance, background: Any, run: Run
) -> FloatArray:
    """How far the row is from some rows of the data."""
    if callable(distance):
        own, other = (embedded(distance, each) for each in (x, data.take(rows)))
        return np.asarray(np.linalg.norm(other - own, axis=1))
    if distance in ("gower", "euclidean"):
        learnt = RowDistance.learn(data, "gower" if distance == "gower" else "euclidean")
        own, other = (
            np.column_stack([each.codes(j) for j in range(len(data.schema.features))]) for each in (x, data.take(rows))
        )
        return learnt.between(own, other)[0]
    if distance == "contributions":
        own, other = (
            np.asarray(shap(predictor, data, each, background=background, run=run).stacked()).reshape(len(each), -1)
            for each in (x, data.take(rows))
        )
        return np.asarray(np.linalg.norm(other - own, axis=1))
    mine, theirs = (leaves_of(predictor, each, run, "distance") for each in (x, data.take(rows)))
    return np.asarray(1.0 - (mine == theirs).mean(axis=1))


def _unlike(predictor: Predictor, data: Data, full: FloatArray, order: IntArray, run: Run) -> IntArray:
    """The place in an order of rows of the first that is predicted otherwise; empty where none is."""
    sample = sample_predictions(predictor, data.take(data.spread(SAMPLE_ROWS)), run)
    least = _OTHERWISE * sample.std(axis=0)
    start, size = 0, _FIRST
    while start < len(order):
        other = run.predict(predictor, data.take(order[start : start + size]), full=True)
        if predictor.classes is not None:
            otherwise = other.argmax(axis=1) != full.argmax(axis=1)
        else:
            otherwise = ((np.abs(other - full) > least) & (least > 0)).any(axis=1)
        if otherwise.any():
            return np.array([start + int(np.argmax(otherwise))])
        start, size = start + size, 2 * size
    return np.empty(0, dtype=np.intp)


def _result(
    predictor: Predictor,
    data: Data,
    x: Data,
    rows: IntArray,
    apart: FloatArray,
    n: int,
    full: FloatArray,
    settings: dict[str, Any],
    run: Run,
) -> Neighbors:
    near = data.take(rows)
    others = run.predict(predictor, near, full=True)
    known = near.y is not None and near.y.ndim == 1
    own = objects([None]) if x.y is None or not known else outcome_as_said(predictor, x)
    return Neighbors(
        header=Header.of(predictor, data, run, settings, row_labels=_labels(x, near)),
        values=apart[:n],
        se=np.zeros(n),
        roles=("row", *("neighbour",) * n, *("nearest unlike",) * (len(rows) - n)),
        cells=tuple(
            feature.decode(np.append(x.codes(j), near.codes(j))) for j, feature in enumerate(data.schema.features)
        ),
        column_names=data.schema.names,
        predictions=predictor.restrict(np.vstack([full, others])),
        outcomes=np.append(objects(own.tolist()), objects(outcome_as_said(predictor, near).tolist()))
        if known
        else np.empty(0),
        errors=np.append(errors_of(predictor, x, full), errors_of(predictor, near, others)),
        usual_error=float("nan"),
        groups=("",) * (1 + len(rows)),
        witness=np.full(1 + len(rows), np.nan),
        nearest=np.full(1 + len(rows), -1),
        contrast=np.zeros((0, len(data.schema.features))),
        discrepancy=None,
        distance=str(settings["distance"]),
        unlike=float(apart[n]) if len(rows) > n else float("nan"),
    )


def _labels(x: Data, near: Data) -> RowLabels:
    """What the row and its neighbours are called."""
    own = x.row_labels.labels
    others = near.row_labels.column_of(len(near))
    if own is None or x.row_labels.positions is None or near.row_labels.positions is None:
        return RowLabels(objects(["given" if own is None else str(own[0]), *(str(label) for label in others)]), None)
    both = objects([*own.tolist(), *others.tolist()]) if own.dtype == object else np.append(own, others)
    return RowLabels(both, np.append(x.row_labels.positions, near.row_labels.positions), near.row_labels.column)
