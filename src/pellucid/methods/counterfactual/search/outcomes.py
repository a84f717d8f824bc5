"""Which rows of the data have what a target asks for: by their true outcome, and by what the model says of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, IntArray
from pellucid.methods.counterfactual.search.problem import Problem
from pellucid.models import Predictor


def reached(problem: Problem, places: IntArray) -> BoolArray:
    """For which rows of the data the model says what the target asks for."""
    full = problem.run.predict(problem.predictor, problem.data.take(places), full=True)
    return np.asarray(problem.target.miss(problem.target.outputs(problem.predictor, full)) == 0.0)


def outcomes(problem: Problem) -> BoolArray | None:
    """Which rows of the data truly have what the target asks for; None where that is not known."""
    y, predictor = problem.data.y, problem.predictor
    if y is None or y.ndim > 1 or problem.target.explained:
        return None
    if predictor.labels is not None:
        places = problem.run.keep("counterfactuals.outcomes", y, lambda: _places(y, predictor))
        if places is None:
            return None
        truth = np.eye(predictor.width)[places]
    elif y.dtype.kind in "biuf" and predictor.width == 1:
        truth = y.astype(np.float64)[:, None]
    else:
        return None
    return np.asarray(problem.target.miss(truth) == 0.0)


def _places(y: AnyArray, predictor: Predictor) -> IntArray | None:
    """The position of each row's outcome among the classes; None where one is no class."""
    labels, names = predictor.labels or (), [str(label) for label in predictor.classes or ()]
    places = [_place(value, labels, names) for value in y.tolist()]
    return None if None in places else np.array(places, dtype=np.intp)


def _place(value: Any, labels: tuple[Any, ...], names: list[str]) -> int | None:
    if value in labels:
        return labels.index(value)
    return names.index(str(value)) if str(value) in names else None
