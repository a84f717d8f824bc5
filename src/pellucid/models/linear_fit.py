"""How a linear model was fitted: what its coefficients minimise.

    sum_i w_i loss(y_i, a_i' theta) + 1/2 sum_k penalty_k |theta_k|^2,      a_i = (1, encoded columns of row i),

with the squared loss 1/2 (y - s)^2, or the log loss of one score (logistic) or of one score per class (softmax). Known:
scikit-learn's LinearRegression, Ridge and LogisticRegression (without an L1 penalty), their versions with
cross-validation, inside searches and at the end of pipelines that `pellucid.models.linear` reads. What the steps before
it have learned (means, categories) is taken for given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.models.linear import LinearForm, Unlike, linear_form
from pellucid.models.predictor import Predictor

FitLoss = Literal["squared", "logistic", "softmax"]


@dataclass(frozen=True, eq=False)
class LinearFit:
    """The form of the model, the loss, and the penalty of each line of theta ``(1 + encoded,)`` (``(encoded,)`` without
    an intercept); ``steps``: whether steps of a pipeline come before.
    """

    form: LinearForm
    loss: FitLoss
    penalty: FloatArray
    intercept: bool
    steps: bool

    @property
    def theta(self) -> FloatArray:
        """The model's own coefficients, ``(lines, scores)``, the intercept first."""
        lines = [self.form.intercept[None]] if self.intercept else []
        return np.vstack([*lines, self.form.weights])

    def matrix(self, table: Any) -> FloatArray:
        """The rows a_i of a table as the model takes it."""
        encoded = self.form.encode(table)
        return np.column_stack([np.ones(len(encoded)), encoded]) if self.intercept else encoded


def linear_fit(predictor: Predictor) -> LinearFit | Unlike:
    """What the model's coefficients minimise, or why that is not known."""
    form = linear_form(predictor)
    if isinstance(form, Unlike):
        return form
    last, steps = _last(predictor.model)
    names = [parent.__name__ for parent in type(last).__mro__ if parent.__module__.startswith("sklearn.")]
    for name, read in _KNOWN.items():
        if name in names:
            return read(last, form, steps)
    return Unlike(f"it is not known what {type(last).__name__} minimises")


def _last(model: Any) -> tuple[Any, bool]:
    """The estimator inside searches and pipelines, and whether steps come before it."""
    if hasattr(model, "best_estimator_"):
        return _last(model.best_estimator_)
    if isinstance(getattr(model, "steps", None), list):
        last, _ = _last(model.steps[-1][1])
        return last, len(model.steps) > 1
    return model, False


def _least_squares(model: Any, form: LinearForm, steps: bool) -> LinearFit | Unlike:
    if getattr(model, "positive", False):
        return Unlike(f"{type(model).__name__} with positive=True has no closed form")
    alpha = np.asarray(getattr(model, "alpha_", getattr(model, "alpha", 0.0)), dtype=np.float64)
    if alpha.size != 1:
        return Unlike("a penalty of its own for each outcome is not read")
    return _penalised(model, form, "squared", float(alpha.ravel()[0]), steps)


def _logistic(model: Any, form: LinearForm, steps: bool) -> LinearFit | Unlike:
    if form.link not in ("logit", "softmax"):
        return Unlike(f"{type(model).__name__} fits one class against the others")
    l1 = getattr(model, "l1_ratio_", getattr(model, "l1_ratio", None))
    penalty = getattr(model, "penalty", "l2")
    if penalty in ("l1", "elasticnet") or np.any(np.asarray(l1 if l1 is not None else 0.0, dtype=object) != 0):
        return Unlike("an L1 penalty has no second derivative")
    strength = np.unique(np.asarray(getattr(model, "C_", model.C), dtype=np.float64))
    if len(strength) != 1:
        return Unlike("a penalty of its own for each class is not read")
    loss: FitLoss = "logistic" if form.link == "logit" else "softmax"
    none = penalty in (None, "none") or not np.isfinite(strength[0])
    if model.class_weight is not None:
        return Unlike("with class_weight= the weights of all rows change with one")
    return _penalised(model, form, loss, 0.0 if none else 1.0 / float(strength[0]), steps)


def _penalised(model: Any, form: LinearForm, loss: FitLoss, alpha: float, steps: bool) -> LinearFit:
    lines = np.full(len(form.weights), alpha)
    intercept = bool(model.fit_intercept)
    if intercept:
        scaled = getattr(model, "solver", None) == "liblinear"  # which penalises the intercept, too
        lines = np.append(alpha / model.intercept_scaling**2 if scaled else 0.0, lines)
    return LinearFit(form, loss, lines, intercept, steps)


_KNOWN = {
    "LogisticRegression": _logistic,
    "LogisticRegressionCV": _logistic,
    "LinearRegression": _least_squares,
    "Ridge": _least_squares,
    "RidgeCV": _least_squares,
    "_BaseRidgeCV": _least_squares,
}
