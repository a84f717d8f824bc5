"""What pellucid needs to know of a model; one small file per library fills it in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.errors import InputError
from pellucid.words import kind_of

Task = Literal["regression", "classification", "scores"]
Scale = Literal["response", "probability", "log-odds", "score", "distance"]
Predict = Callable[[Any], Any]

# Kinds of table that a model wants in place of the caller's, the first that works; other kinds stay.
Containers = Mapping[str, tuple[str, ...]]
NO_POLARS: Containers = {"polars": ("pandas",), "arrow": ("pandas",), "records": ("pandas",)}


@dataclass(frozen=True)
class Adapter:
    """A model, reduced to a function from a table to numbers and the names of what it returns.

    ``predict`` gives one row per row: ``(n,)``, ``(n, 1)`` or ``(n, outputs)``. ``classes`` are the labels of
    a classifier in the order of its columns; ``learn_classes`` finds them by asking, where the model does
    not list them. ``categories`` are the levels of columns that must reach the model as pandas categories.
    ``canonical`` is how the library rewrites column names. ``gradient``, where a model has one, gives
    ``(n, features, outputs)``. An ``opaque`` model does not say what its numbers are: they are judged by
    their values. ``model`` is the model itself, for what reads its structure. Everything here can be pickled if
    the model can.
    """

    library: str
    name: str
    predict: Predict
    task: Task = "regression"
    scale: Scale = "response"
    classes: tuple[Any, ...] | None = None
    learn_classes: Callable[[Any], tuple[Any, ...] | None] | None = None
    output_names: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None
    n_features: int | None = None
    containers: Containers = field(default_factory=dict)
    categories: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    canonical: Callable[[str], str] | None = None
    gradient: Predict | None = None
    opaque: bool = False
    model: Any = None


@dataclass(frozen=True)
class OneHot:
    """The certainty of a classifier that gives labels only: 1 for the predicted class, 0 for the others."""

    predict: Predict
    classes: tuple[Any, ...]

    def __call__(self, table: Any) -> FloatArray:
        position = {str(label): k for k, label in enumerate(self.classes)}
        labels = np.asarray(self.predict(table)).ravel().tolist()
        return np.eye(len(self.classes))[[position[str(label)] for label in labels]]


def unfitted(name: str) -> InputError:
    """The error for a model that has learned nothing yet."""
    return InputError(f"the model {name} is not fitted; call fit before explaining it.")


def no_model(model: Any, library: str, wanted: str) -> InputError:
    """The error for an object of a known library that is not a model."""
    return InputError(f"model is {kind_of(model)} of {library}, which predicts nothing; give {wanted}.")


def numbers_only(table: AnyArray, what: str) -> AnyArray:
    """The table as a contiguous matrix of numbers, missing as NaN; text is refused."""
    if table.dtype.kind in "fiub":
        return np.ascontiguousarray(table)
    try:
        return np.ascontiguousarray(table, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"the {what} takes numbers only, but X has text, dates or categories; encode those columns first, or wrap"
            " the encoding and the model in one function."
        ) from None
