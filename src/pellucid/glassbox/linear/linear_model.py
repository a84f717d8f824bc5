"""Linear regression.

Definition. y = b_0 + sum_k b_k a_k(x) + error, with the columns a_k of the features (see `pellucid.glassbox.linear.columns`);
the coefficients minimise the weighted sum of squared errors.

    sigma^2 = sum_i w_i r_i^2 / (sum_i w_i - rank),      Cov(b) = sigma^2 (A'WA)^-1

A weight is how many rows a row stands for.

When it misleads. (1) Everything else is held fixed, which correlated features do not do. (2) A straight line through
a curve has narrow intervals, too. (3) Coefficients of different units are not to be compared: standardised ones are.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from pellucid.arrays import AnyArray, FloatArray
from pellucid.glassbox.linear.columns import Columns, columns_of, design
from pellucid.glassbox.linear.least_squares import least_squares
from pellucid.glassbox.sum_of_terms import SumOfTerms


class LinearTerms(SumOfTerms):
    """What linear models share: a sum of coefficients times columns, for each output."""

    _columns: tuple[Columns, ...]
    _slices: tuple[slice, ...]
    _theta: FloatArray  # (1 + columns, outputs)
    _covariance: FloatArray  # (outputs, 1 + columns, 1 + columns)

    def _enter(self, codes: FloatArray, weights: FloatArray) -> FloatArray:
        """The design matrix of the training rows, without a column for the intercept."""
        features = self._schema.features
        self._columns = tuple(columns_of(f, codes[:, j], weights) for j, f in enumerate(features))
        ends = np.cumsum([0, *(len(each.names) for each in self._columns)])
        self._slices = tuple(slice(a, b) for a, b in pairwise(ends.tolist()))
        return design(self._columns, codes)

    @property
    def _intercept(self) -> FloatArray:  # type: ignore[override]  # read off the coefficients
        return np.asarray(self._theta[0])

    def _term(self, j: int, codes: FloatArray) -> FloatArray:
        return np.asarray(self._columns[j](codes) @ self._theta[1:][self._slices[j]])

    def _term_error(self, j: int, codes: FloatArray) -> FloatArray:
        away = self._columns[j](codes) - self._columns[j].means
        own = np.nan_to_num(self._covariance[:, 1:, 1:][:, self._slices[j], self._slices[j]])
        return np.asarray(np.sqrt(np.maximum(np.einsum("na,kab,nb->nk", away, own, away), 0.0)))


class LinearModel(RegressorMixin, LinearTerms):  # type: ignore[misc]  # scikit-learn has no types
    """Linear regression with mixed features, standard errors and effects.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.glassbox import LinearModel
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = LinearModel().fit(X, 3 * X[:, 0] + 1)
    >>> model.coef_.round(6).tolist(), round(float(model.intercept_), 6)
    ([3.0, 0.0], 1.0)
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the coefficients."""
        training = self._learn(X, y, sample_weight)
        A, y, w = self._enter(training.codes, training.weights), training.y.astype(np.float64), training.weights
        found = least_squares(A, y, w)
        self._theta = found.theta[:, None]
        residual = y - found.theta[0] - A @ found.theta[1:]
        self.df_resid_ = float(w.sum() - np.count_nonzero(~found.aliased))
        self.dispersion_ = float(w @ np.square(residual)) / self.df_resid_ if self.df_resid_ > 0 else np.nan
        self._covariance = (found.inverse * self.dispersion_)[None]
        self._remember(training)
        return self

    @property
    def coef_(self) -> FloatArray:
        """Coefficients of the columns, in the order of `column_names_`."""
        return np.asarray(self._theta[1:, 0])

    @property
    def intercept_(self) -> float:
        """The prediction where every column is zero."""
        return float(self._theta[0, 0])

    @property
    def column_names_(self) -> tuple[str, ...]:
        """What the columns of the design matrix are called."""
        return tuple(name for each in self._columns for name in each.names)

    def predict(self, X: Any) -> AnyArray:
        """The sums of intercept and terms."""
        return np.asarray(self._sums(self._design(X))[:, 0])
