"""How a linear model was fitted: what its coefficients minimise.

    sum_i w_i loss(y_i, a_i' theta) + 1/2 sum_k penalty_k |theta_k|^2,      a_i = (1, encoded columns of row i),

with the squared loss 1/2 (y - s)^2, the log loss of one score (logistic) or of one score per class (softmax), or half
the deviance of a generalised linear model. Known: scikit-learn's LinearRegression, Ridge and LogisticRegression
(without an L1 penalty), their versions with cross-validation, PoissonRegressor, GammaRegressor and TweedieRegressor,
inside searches and at the end of pipelines that `pellucid.models.linear` reads; and models that say so themselves, by
`minimised`. What the steps before it have learned (means, categories) is taken for given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.models.families import LINKS, Family, Link, family_of
from pellucid.models.linear import LinearForm, Unlike, linear_form
from pellucid.models.predictor import Predictor

FitLoss = Literal["squared", "logistic", "softmax", "deviance"]


@dataclass(frozen=True, eq=False)
class LinearFit:
    """The form of the model, the loss, and the penalty of each line of theta ``(1 + encoded,)`` (``(encoded,)`` without
    an intercept).

    ``steps``: whether steps of a pipeline come before. ``family`` and link are those of a deviance. ``averaged``: the
    penalty grows with the weight of the rows, since they minimise a mean. The last ``added`` encoded columns enter as
    they are (offsets), and have no line in theta. ``names`` are those of the encoded columns, where they have any.
    """

    form: LinearForm
    loss: FitLoss
    penalty: FloatArray
    intercept: bool
    steps: bool
    family: tuple[Family, Link] | None = None
    averaged: bool = False
    added: int = 0
    names: tuple[str, ...] = ()

    @property
    def theta(self) -> FloatArray:
        """The model's own coefficients, ``(lines, scores)``, the intercept first."""
        lines = [self.form.intercept[None]] if self.intercept else []
        return np.vstack([*lines, self.form.weights[: len(self.form.weights) - self.added]])

    def matrix(self, table: Any) -> FloatArray:
        """The rows a_i of a table as the model takes it."""
        encoded = self.form.encode(table)
        encoded = encoded[:, : encoded.shape[1] - self.added]
        return np.column_stack([np.ones(len(encoded)), encoded]) if self.intercept else encoded

    def offset(self, table: Any) -> FloatArray | float:
        """What is added to the scores of its rows as it is, ``(rows, 1)``."""
        if not self.added:
            return 0.0
        return np.asarray(self.form.encode(table)[:, -self.added :].sum(axis=1, keepdims=True))


def linear_fit(predictor: Predictor) -> LinearFit | Unlike:
    """What the model's coefficients minimise, or why that is not known."""
    last, steps = _last(predictor.model)
    if declares_fit(predictor):
        said = last.minimised()
        return said if isinstance(said, LinearFit) else Unlike(str(said))
    form = linear_form(predictor)
    if isinstance(form, Unlike):
        return form
    names = [parent.__name__ for parent in type(last).__mro__ if parent.__module__.startswith("sklearn.")]
    for name, read in _KNOWN.items():
        if name in names:
            return read(last, form, steps)
    return Unlike(f"it is not known what {type(last).__name__} minimises")


def declares_fit(predictor: Predictor) -> bool:
    """Whether the model itself says what its coefficients minimise; at the end of a pipeline that is not asked."""
    return callable(getattr(predictor.model, "minimised", None))


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


def _generalised(model: Any, form: LinearForm, steps: bool) -> LinearFit | Unlike:
    """The mean of half the unit deviances, and a penalty beside it; sums of weights are put in where rows are known."""
    power = {"PoissonRegressor": 1.0, "GammaRegressor": 2.0}.get(type(model).__name__, getattr(model, "power", None))
    if power is None or not (power == 0 or power >= 1):
        return Unlike(f"it is not known what {type(model).__name__} with power={power!r} minimises")
    family = (family_of("tweedie", float(power)), LINKS[form.link])
    penalty = np.full(len(form.weights), float(model.alpha))
    penalty = np.append(0.0, penalty) if model.fit_intercept else penalty
    return LinearFit(form, "deviance", penalty, bool(model.fit_intercept), steps, family, averaged=True)


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
    "PoissonRegressor": _generalised,
    "GammaRegressor": _generalised,
    "TweedieRegressor": _generalised,
}
