"""Linear regression.

Definition. y = b_0 + sum_k b_k a_k(x) + error, with the columns a_k of the features (see
`pellucid.glassbox.linear.columns`) and products of them where interactions are asked for; the coefficients minimise the
weighted sum of squared errors.

    sigma^2 = sum_i w_i r_i^2 / (sum_i w_i - rank),      Cov(b) = sigma^2 (A'WA)^-1

A weight is how many rows a row stands for.

When it misleads. (1) Everything else is held fixed, which correlated features do not do. (2) A straight line through
a curve has narrow intervals, too. (3) Coefficients of different units are not to be compared: standardised ones are.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import stdtrit
from sklearn.base import RegressorMixin

from pellucid.arrays import AnyArray
from pellucid.glassbox.linear.caveats import caveats_of
from pellucid.glassbox.linear.irls import Fitted, sandwich
from pellucid.glassbox.linear.least_squares import Penalty, least_squares
from pellucid.glassbox.linear.terms import LinearTerms, checked_options
from pellucid.models.families import FAMILIES, LINKS
from pellucid.models.linear_fit import FitLoss


class LinearModel(RegressorMixin, LinearTerms):  # type: ignore[misc]  # scikit-learn has no types
    """Linear regression with mixed features, standard errors and effects.

    Parameters
    ----------
    interactions
        Pairs of features whose products are columns as well: ``[("temp", "season")]``; `slopes` has what follows.
    transforms
        What is done to numbers first: ``{"income": "log", "age": "bins"}``; bins are fifths of the training rows.
    robust
        "HC1" or "HC3": standard errors that hold where the variance of the errors differs between rows.
    ridge, lasso
        Penalties of the squared (absolute) coefficients, in standard deviations of their columns, beside half the mean
        squared error. With a penalty there are no standard errors; a lasso leaves columns out.

    Attributes
    ----------
    coef_, intercept_, column_names_
        Coefficients of the columns of the design matrix, and what these are called.
    dispersion_, df_resid_
        Variance of the errors, and the rows less the coefficients.
    r2_
        Share of the variance that the training rows have explained.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.glassbox import LinearModel
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = LinearModel().fit(X, 3 * X[:, 0] + 1)
    >>> model.coef_.round(6).tolist(), round(float(model.intercept_), 6)
    ([3.0, 0.0], 1.0)
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
        A, y, w = self._enter(training), training.y.astype(np.float64), training.weights
        penalty = Penalty.of(A, w, self.ridge, self.lasso)
        found = least_squares(A, y, w, penalty)
        self._theta, self._aliased = found.theta[:, None], found.aliased
        mu = found.theta[0] + A @ found.theta[1:]
        self.df_resid_ = float(w.sum() - np.count_nonzero(~found.aliased))
        squares = float(w @ np.square(y - mu))
        self.dispersion_ = squares / self.df_resid_ if self.df_resid_ > 0 else np.nan
        around = float(w @ np.square(y - np.average(y, weights=w)))
        self.r2_ = 1.0 - squares / around if around > 0 else np.nan
        fitted = Fitted(found, mu, mu, w, y - mu, squares, converged=True, separated=False)
        covariance = sandwich(A, fitted, w, self.robust) if self.robust else found.inverse * self.dispersion_
        self._covariance = (covariance if penalty is None else np.full_like(covariance, np.nan))[None]
        self._settle(training, A)
        self._known = (
            caveats_of(self, training, A, fitted, FAMILIES["gaussian"], LINKS["identity"]) if penalty is None else ()
        )
        return self

    def _loss(self) -> tuple[FitLoss, None]:
        return "squared", None

    def predict(self, X: Any) -> AnyArray:
        """The sums of intercept and terms."""
        return np.asarray(self._sums(self._design(X))[:, 0])

    def _critical(self, level: float) -> float:
        return float(stdtrit(self.df_resid_, (1 + level) / 2)) if self.df_resid_ > 0 else np.nan
