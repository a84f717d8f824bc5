"""Models for numbers and for classes alike: which of the two, and what scikit-learn is to know of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.multiclass import type_of_target

from pellucid.checks import one_of
from pellucid.glassbox.base import GlassBox

TASKS = ("auto", "regression", "classification")
_CLASSES = 10  # whole numbers: so many different ones at most are taken for classes


class EitherTask(GlassBox):
    """A glass box whose ``task`` is "regression", "classification" or "auto".

    "auto" takes labels, truth values and at most ten different whole numbers for classes, other numbers for numbers.
    """

    task: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        task = getattr(self, "task_", self.task)
        if task == "classification":
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        elif task == "regression":
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags

    def _settle_task(self, y: Any) -> None:
        """Decide between numbers and classes, before the rows are learned."""
        task = one_of("task", self.task, TASKS)
        if hasattr(self, "classes_"):
            del self.classes_
        self.task_ = task if task != "auto" else "classification" if _are_classes(y) else "regression"

    @property
    def _classifies(self) -> bool:
        return bool(self.task_ == "classification")

    @property
    def _labels_or_none(self) -> Any:
        """The classes; None where numbers are predicted."""
        return self.classes_ if self._classifies else None

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of a classifier, R² of a regression."""
        measure = accuracy_score if self._classifies else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))


def classifies(model: Any) -> bool:
    """Whether a model has probabilities, known once it is fitted or told."""
    if getattr(model, "task_", model.task) == "regression":
        raise AttributeError(f"{type(model).__name__} predicts numbers here; probabilities are those of classes.")
    return True


def _are_classes(y: Any) -> bool:
    values = np.asarray(y)
    if values.dtype.kind not in "iuf":
        return True
    return (
        values.ndim == 1 and type_of_target(values) in ("binary", "multiclass") and len(np.unique(values)) <= _CLASSES
    )
