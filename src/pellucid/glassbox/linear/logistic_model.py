"""Logistic regression, for two classes and for several.

Definition. With two classes, log(P / (1 - P)) = b_0 + sum_k b_k a_k(x), P the probability of the second class: exp(b_k)
is the odds ratio, what one unit more multiplies the odds by. With several classes the odds are those against the first
class; the terms that `explain` shows are compared with the mean over the classes instead, so that none is singled out.

When it misleads. (1) An odds ratio is not a ratio of probabilities: near 0.5 it is far larger. (2) The same coefficient
moves a probability much near 0.5 and hardly near 0 and 1. (3) Coefficients also depend on what is left out, even on
what is correlated with nothing. (4) Where the classes can be separated, coefficients have no finite best value.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import ndtri

from pellucid.arrays import FloatArray
from pellucid.diagnostics.linear_models import separated
from pellucid.errors import InputError
from pellucid.glassbox.base import Training
from pellucid.glassbox.class_scores import ClassScores
from pellucid.glassbox.linear.caveats import caveats_of
from pellucid.glassbox.linear.irls import irls, sandwich
from pellucid.glassbox.linear.least_squares import Penalty
from pellucid.glassbox.linear.multinomial import multinomial
from pellucid.glassbox.linear.remedies import log_losses
from pellucid.glassbox.linear.terms import LinearTerms, checked_options
from pellucid.models.families import FAMILIES, LINKS


class LogisticModel(ClassScores, LinearTerms):
    """Logistic regression with mixed features, odds ratios, standard errors and effects.

    Parameters
    ----------
    interactions
        Pairs of features whose products are columns as well: ``[("temp", "season")]``; `slopes` has what follows.
    transforms
        What is done to numbers first: ``{"income": "log", "age": "bins"}``; bins are fifths of the training rows.
    robust
        "HC1" or "HC3": standard errors that hold where the model is not quite right (two classes).
    ridge, lasso
        Penalties of the squared (absolute) coefficients, in standard deviations of their columns, beside the mean log
        loss. With a penalty there are no standard errors; a lasso (two classes) leaves columns out.

    Attributes
    ----------
    classes_, coef_, intercept_, column_names_
        The classes, and coefficients of the columns of the design matrix: the log-odds of the second class, or of
        several classes scores for each, which sum to zero.
    deviance_, null_deviance_
        Twice the log loss of the training rows, and that of the shares of the classes alone.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.glassbox import LogisticModel
    >>> x = np.arange(8.0)[:, None]
    >>> model = LogisticModel().fit(x, ["no", "no", "yes", "no", "yes", "no", "yes", "yes"])
    >>> round(float(model.coefficients().factor[1]), 2)
    1.81
    """

    def __init__(
        self,
        *,
        interactions: Any = None,
        transforms: Any = None,
        robust: str | None = None,
        ridge: float = 0.0,
        lasso: float = 0.0,
    ) -> None:
        self.interactions = interactions
        self.transforms = transforms
        self.robust = robust
        self.ridge = ridge
        self.lasso = lasso

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the coefficients."""
        checked_options(self)
        training = self._learn(X, y, sample_weight)
        A = self._enter(training)
        penalty = Penalty.of(A, training.weights, self.ridge, self.lasso)
        if len(self.classes_) == 2:
            self._fit_two(training, A, penalty)
        else:
            self._fit_several(training, A, penalty)
        shares = np.bincount(training.y, weights=training.weights) / training.weights.sum()
        self.null_deviance_ = float(-2 * training.weights.sum() * (shares @ np.log(shares)))
        return self

    def _fit_two(self, training: Training, A: FloatArray, penalty: Penalty | None) -> None:
        family, link, w = FAMILIES["binomial"], LINKS["logit"], training.weights
        y = training.y.astype(np.float64)
        fitted = irls(A, y, w, family, link, np.zeros(len(A)), penalty)
        self._link, self.deviance_ = "logit", fitted.deviance
        self._theta, self._aliased = fitted.solution.theta[:, None], fitted.solution.aliased
        covariance = sandwich(A, fitted, w, self.robust) if self.robust else fitted.solution.inverse
        self._covariance = (covariance if penalty is None else np.full_like(covariance, np.nan))[None]
        self._settle(training, A)
        self._known = (
            caveats_of(self, training, A, fitted, family, link)
            if penalty is None
            else tuple(separated(fitted.separated))
        )

    def _fit_several(self, training: Training, A: FloatArray, penalty: Penalty | None) -> None:
        if self.lasso or self.robust:
            word = "lasso" if self.lasso else "robust"
            raise InputError(f"{word}= is for two classes, y has {len(self.classes_)}; leave it out.")
        k, size = len(self.classes_), A.shape[1] + 1
        found = multinomial(A, training.y, training.weights, k, penalty)
        self._link, self.deviance_, self._aliased = "softmax", found.deviance, found.aliased
        self._against, self._against_covariance = found.theta, found.covariance
        if penalty is not None:
            self._against_covariance = np.full_like(found.covariance, np.nan)
        centre = np.eye(k) - 1.0 / k
        self._theta = found.theta @ centre
        blocks = self._against_covariance.reshape(k - 1, size, k - 1, size)
        self._covariance = np.einsum("ck,kalb,cl->cab", centre[:, 1:], blocks, centre[:, 1:], optimize=True)
        self._settle(training, A)
        self._known = tuple(separated(found.separated))

    def _additive(self) -> Any:
        from pellucid.glassbox.additive.model import AdditiveModel

        return AdditiveModel(family="binomial" if len(self.classes_) == 2 else "multinomial")

    def _judged(self, one: Any, X: Any, fitted: Any, weights: FloatArray, y: Any) -> tuple[FloatArray, FloatArray]:
        return log_losses(one, X, y, fitted, weights)

    def _estimates(self) -> tuple[tuple[str, ...], FloatArray, FloatArray]:
        if len(self.classes_) == 2:
            return super()._estimates()
        names = [str(label) for label in self.classes_.tolist()]
        k, size = len(names), len(self._theta)
        blocks = self._against_covariance.reshape(k - 1, size, k - 1, size)
        own = np.stack([blocks[c, :, c] for c in range(k - 1)])
        own[:, self._aliased], own[:, :, self._aliased] = np.nan, np.nan
        return tuple(f"{name} against {names[0]}" for name in names[1:]), self._against[:, 1:], own

    def _critical(self, level: float) -> float:
        return float(ndtri((1 + level) / 2))
