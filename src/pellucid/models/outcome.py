"""The true outcome in the form a loss compares with the model's output."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.data import Data
from pellucid.data.cells import objects
from pellucid.errors import InputError, nearest
from pellucid.models.predictor import Predictor


class Answering(Protocol):
    """What a comparison with outcomes has to know of a model, be it of tables, texts or images."""

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """Labels of a classifier."""

    @property
    def raw_scale(self) -> str:
        """What the numbers of a full prediction are."""

    @property
    def explained(self) -> tuple[int, ...]:
        """Positions of the explained outputs among the columns of a full prediction."""

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the explained outputs."""


def has_outcome(predictor: Predictor, data: Data) -> bool:
    """Whether the outcome is known and has as many columns as the model predicts numbers."""
    if data.y is None:
        return False
    return predictor.classes is not None or (data.y.shape[1] if data.y.ndim == 2 else 1) == predictor.width


def comparable(predictor: Predictor, data: Data) -> bool:
    """Whether predictions can be held against the outcome: there is one, and they are no scores without a scale."""
    return predictor.task != "scores" and has_outcome(predictor, data)


def outcome_for(predictor: Predictor, data: Data) -> FloatArray:
    """y as numbers: the position of the class, or the value(s) to predict."""
    if data.y is None:
        raise InputError("this needs the true outcome; give y to the Explainer.")
    if predictor.classes is None:
        try:
            y = data.y.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(
                f"y holds {data.y.ravel()[0]!r}, but the model predicts numbers; give a numeric y."
            ) from None
        y = y[:, None] if y.ndim == 1 else y
        if y.shape[1] != predictor.width:
            raise InputError(
                f"y has {y.shape[1]} columns but the model predicts {predictor.width}; give one outcome per prediction."
            )
        return y
    return _positions(predictor, data)


def _positions(predictor: Predictor, data: Data) -> FloatArray:
    classes, own = list(predictor.classes or ()), list(predictor.labels or ())
    names = [*zip(classes, range(len(classes)), strict=True), *zip(own, range(len(own)), strict=True)]
    known = {str(label): k for label, k in names} | dict(names)
    labels = np.asarray(data.y).ravel().tolist()
    for row, label in enumerate(labels):
        if label not in known and str(label) not in known:
            raise InputError(
                f"y is {label!r} in row {row}, which is not a class of the"
                f" model{nearest(str(label), [str(c) for c in classes])} class_names= says what its classes are called"
                " in y."
            )
    return np.array([known[label] if label in known else known[str(label)] for label in labels], dtype=np.float64)


def outcome_as_said(predictor: Predictor, data: Data) -> AnyArray:
    """y as people call it: the names of the classes, whatever the labels that the model was fitted to, or y itself."""
    assert data.y is not None, "whoever shows outcomes knows that there are some"
    if predictor.classes is None or predictor.classes == predictor.labels:
        return data.y
    return objects([predictor.classes[int(k)] for k in _positions(predictor, data)])


def constant_prediction(predictor: Answering, y: FloatArray, weights: FloatArray) -> FloatArray:
    """The best model without features: the mean, or the class frequencies."""
    if predictor.classes is None:
        return np.broadcast_to(np.average(y, axis=0, weights=weights), y.shape)
    shares = np.bincount(y.astype(np.intp), weights=weights, minlength=len(predictor.classes)) / weights.sum()
    return np.broadcast_to(shares, (len(y), len(shares)))
