"""Surrogates of any kind: an estimator with ``fit`` and ``predict``, fitted to the model's predictions.

Reference. Molnar, "Interpretable Machine Learning", global surrogate: the seven steps.

Definition. A clone of the estimator is fitted to the rows, in the table that the caller gave, and to the model's
predictions f. Several outputs are fitted at once where the estimator can, else by one clone each. A classifier is
fitted to the classes: every row counts once for each class, with the predicted probability as its weight (where it
takes weights; else the class with the highest score), and its probabilities are compared with the model's.

When it misleads. (1) It inherits whatever is wrong with its kind, and may be as hard to read as the model. (2) It says
what the model does, not what is true of the world. (3) An estimator that searches its own settings does so within the
fitted rows: its R2 is still that of held-out rows.

Cost. One model row for each row; a fit for each fold and once for all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.errors import InputError
from pellucid.methods.surrogate.fitting.task import Task
from pellucid.models import Predictor
from pellucid.models.clone import cloned, weight_keyword
from pellucid.models.quiet import quietly


@dataclass(frozen=True, eq=False)
class EstimatorFitter:
    """Clones of one estimator over the rows of a task."""

    task: Task
    template: Any
    predictor: Predictor
    seed: int = 0
    sizes: Sequence[int] = (0,)

    def fit(self, rows: IntArray) -> FittedEstimator:
        """Clones fitted to these rows."""
        task = self.task
        table = task.data.frame.take(rows).native
        try:
            with quietly():
                models = self._classifier(rows) if _classifies(self.template) else self._regressors(table, rows)
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"{type(self.template).__name__} could not be fitted to the model's predictions"
                f" ({type(error).__name__}: {error}); give an estimator, or a pipeline, that takes the columns of X."
            ) from error
        return FittedEstimator(task, models, self.predictor, _classifies(self.template))

    def _regressors(self, table: Any, rows: IntArray) -> tuple[Any, ...]:
        task = self.task
        target, given = task.target[rows], self._weights(task.weights[rows])
        if task.outputs > 1 and _several(self.template):
            return (cloned(self.template, self.seed).fit(table, target, **given),)
        return tuple(
            cloned(self.template, self.seed).fit(table, np.ascontiguousarray(target[:, c]), **given)
            for c in range(task.outputs)
        )

    def _classifier(self, rows: IntArray) -> tuple[Any, ...]:
        task = self.task
        if self.predictor.classes is None:
            raise InputError(
                f"kind={type(self.template).__name__} is a classifier, but the model predicts numbers; give a"
                " regressor."
            )
        full, n = task.full[rows], task.full.shape[1]
        keyword = weight_keyword(self.template)
        if keyword is None or self.predictor.raw_scale != "probability":
            table = task.data.frame.take(rows).native
            return (cloned(self.template, self.seed).fit(table, full.argmax(axis=1)),)
        table = task.data.frame.take(np.tile(rows, n)).native
        mass = (full * task.weights[rows, None]).T.ravel()
        counted = np.flatnonzero(mass > 0)
        table = task.data.frame.take(np.tile(rows, n)[counted]).native
        labels = np.repeat(np.arange(n), len(rows))[counted]
        return (cloned(self.template, self.seed).fit(table, labels, **{keyword: mass[counted]}),)

    def _weights(self, weights: FloatArray) -> dict[str, FloatArray]:
        """Row weights, where they differ; an estimator that takes none is refused then."""
        if (weights == weights[0]).all():
            return {}
        keyword = weight_keyword(self.template)
        if keyword is None:
            raise InputError(
                f"rows have weights, which {type(self.template).__name__}.fit does not take; give another kind, or"
                " leave out weights= and near=."
            )
        return {keyword: weights}


@dataclass(frozen=True, eq=False)
class FittedEstimator:
    """Fitted clones: one, or one for each output."""

    task: Task
    models: tuple[Any, ...]
    predictor: Predictor
    classifier: bool

    @property
    def largest(self) -> int:
        """It has no size."""
        return 0

    def predict(self, rows: IntArray, size: int) -> FloatArray:
        """Predictions on the explained scale; there is but one ``size``."""
        del size
        table = self.task.data.frame.take(rows).native
        with quietly():
            if self.classifier:
                return self._probabilities(table, len(rows))
            parts = [np.asarray(model.predict(table), dtype=np.float64).reshape(len(rows), -1) for model in self.models]
        return np.concatenate(parts, axis=1)

    def _probabilities(self, table: Any, n: int) -> FloatArray:
        model = self.models[0]
        full = np.zeros((n, self.task.full.shape[1]))
        if hasattr(model, "predict_proba"):
            full[:, np.asarray(model.classes_, dtype=np.intp)] = model.predict_proba(table)
        else:
            full[np.arange(n), np.asarray(model.predict(table), dtype=np.intp)] = 1.0
        return self.predictor.restrict(full)


def _classifies(model: Any) -> bool:
    from sklearn.base import is_classifier

    return bool(is_classifier(model))


def _several(model: Any) -> bool:
    """Whether the estimator says that it takes several outputs at once."""
    from sklearn.utils import get_tags

    try:
        return bool(get_tags(model).target_tags.multi_output)
    except (AttributeError, TypeError, ValueError):
        return False
