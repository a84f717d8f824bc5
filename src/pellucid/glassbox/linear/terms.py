"""What linear models share: a sum of coefficients times columns for each output, and what follows from their covariance."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.checks import fraction, is_number, one_of
from pellucid.errors import InputError
from pellucid.explanations import Caveat
from pellucid.explanations.coefficients import Coefficients
from pellucid.glassbox.base import Training
from pellucid.glassbox.linear.columns import Columns, columns_of
from pellucid.glassbox.linear.readings import reading_of
from pellucid.glassbox.sum_of_terms import SumOfTerms
from pellucid.models.families import Family, Link
from pellucid.models.linear import LinearForm
from pellucid.models.linear_fit import FitLoss, LinearFit

ROBUST = (None, "HC1", "HC3")


class LinearTerms(SumOfTerms):
    """A sum of terms that are coefficients times columns.

    ``_theta`` has the coefficients ``(1 + columns, outputs)``, intercepts first, ``_covariance`` their covariance for
    each output, ``_aliased`` the columns without a coefficient of their own. Columns of pairs are products.
    """

    interactions: Any
    _columns: tuple[Columns, ...]
    _slices: tuple[slice, ...]
    _theta: FloatArray
    _covariance: FloatArray
    _aliased: BoolArray
    _known: tuple[Caveat, ...] = ()

    def _enter(self, training: Training, left_out: Iterable[int] = ()) -> FloatArray:
        """The design matrix of the training rows, without a column for the intercept."""
        features, codes, out = self._schema.features, training.codes, set(left_out)
        self._columns = tuple(
            Columns((), None, 1.0, False, np.empty(0)) if j in out else columns_of(f, codes[:, j], training.weights)
            for j, f in enumerate(features)
        )
        self._pairs = self._asked_pairs()
        sizes = [len(each.names) for each in self._columns]
        sizes += [sizes[i] * sizes[j] for i, j in self._pairs]
        self._slices = tuple(slice(a, b) for a, b in pairwise(np.cumsum([0, *sizes]).tolist()))
        return self._matrix(codes)

    def _asked_pairs(self) -> tuple[tuple[int, int], ...]:
        given = getattr(self, "interactions", None)
        if given is None:
            return ()
        if isinstance(given, str) or not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in given):
            raise InputError(f"interactions must be a list of pairs such as [('temp', 'season')], got {given!r}.")
        pairs = tuple(self._schema.indices(pair) for pair in given)
        return tuple(dict.fromkeys((min(pair), max(pair)) for pair in pairs))

    def _matrix(self, codes: FloatArray) -> FloatArray:
        """All columns side by side, those of pairs last."""
        return np.hstack([self._block(k, codes) for k in range(len(self._slices))])

    def _block(self, k: int, codes: FloatArray) -> FloatArray:
        """The columns of term ``k``."""
        p = len(self._columns)
        if k < p:
            return self._columns[k](codes[:, k])
        i, j = self._pairs[k - p]
        first, second = self._columns[i](codes[:, i]), self._columns[j](codes[:, j])
        return np.asarray((first[:, :, None] * second[:, None, :]).reshape(len(codes), -1))

    @property
    def column_names_(self) -> tuple[str, ...]:
        """What the columns of the design matrix are called."""
        own = [each.names for each in self._columns]
        pairs = (f"{a} x {b}" for i, j in self._pairs for a in own[i] for b in own[j])
        return (*(name for names in own for name in names), *pairs)

    # -- terms ---------------------------------------------------------------------------------------

    @property
    def _intercept(self) -> FloatArray:  # type: ignore[override]  # read off the coefficients
        return np.asarray(self._theta[0])

    def _term(self, j: int, codes: FloatArray) -> FloatArray:
        return np.asarray(self._columns[j](codes) @ self._theta[1:][self._slices[j]])

    def _pair_term(self, k: int, first: FloatArray, second: FloatArray) -> FloatArray:
        (i, j), p = self._pairs[k], len(self._columns)
        a, b = self._columns[i](first), self._columns[j](second)
        columns = (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)
        return np.asarray(columns @ self._theta[1:][self._slices[p + k]])

    def _own_covariance(self, k: int) -> FloatArray:
        own = self._covariance[:, 1:, 1:][:, self._slices[k], self._slices[k]]
        lost = self._aliased[1:][self._slices[k]]
        return np.where(lost[:, None] | lost[None, :], 0.0, own)

    def _term_error(self, j: int, codes: FloatArray) -> FloatArray:
        away = self._columns[j](codes) - self._columns[j].means
        return np.asarray(
            np.sqrt(np.maximum(np.einsum("na,kab,nb->nk", away, self._own_covariance(j), away, optimize=True), 0.0))
        )

    def _settle(self, training: Training, A: FloatArray) -> None:
        """What is remembered of the training rows: the spread of the terms, and of their columns."""
        self._remember(training)
        away = A - np.average(A, axis=0, weights=training.weights)
        total = training.weights.sum()
        self._spreads = tuple((away[:, s] * training.weights[:, None]).T @ away[:, s] / total for s in self._slices)

    def _importance_error(self) -> FloatArray:
        """By the delta method: sd(f) = sqrt(b'Sb) has the gradient Sb / sd."""
        found = np.zeros(self._sizes.shape)
        for k, spread in enumerate(self._spreads):
            b = self._theta[1:][self._slices[k]]
            sizes = np.where(self._sizes[k] > 0, self._sizes[k], 1.0)
            gradient = spread @ b / sizes
            found[k] = np.sqrt(np.maximum(np.einsum("ak,kab,bk->k", gradient, self._own_covariance(k), gradient), 0.0))
        return found

    def _caveats(self) -> tuple[Caveat, ...]:
        return self._known

    # -- how it was fitted ---------------------------------------------------------------------------

    def _loss(self) -> tuple[FitLoss, tuple[Family, Link] | None]:
        """What the coefficients minimise the sum of."""
        return ("logistic" if self._link == "logit" else "softmax"), None

    def minimised(self) -> LinearFit | str:
        """What the coefficients minimise, for what asks which rows they hang on; why that is not told, where it is not."""
        name = type(self).__name__
        if getattr(self, "ridge", 0.0) or getattr(self, "lasso", 0.0):
            return f"the penalty of {name} is in standard deviations of the rows, which every row changes"
        if self._aliased.any():
            return f"some columns of {name} are combinations of others"
        if any(each.missing for each in self._columns):
            return f"{name} fills missing values with means, which every row changes"
        loss, family = self._loss()
        added = sorted(getattr(self, "_fixed", ()))
        p = len(self._theta) - 1
        weights = np.vstack([self._theta[1:], np.ones((len(added), self._theta.shape[1]))])
        source = np.zeros(p + len(added), dtype=np.intp)
        link: Any = self._link
        form = LinearForm(self._encoded, weights, self._theta[0], source, link, declared=True)
        return LinearFit(form, loss, np.zeros(p + 1), True, False, family, added=len(added), names=self.column_names_)

    def _encoded(self, X: Any) -> FloatArray:
        """The design matrix, and what is added as it is."""
        codes = self._design(X)
        added = [self._term(j, codes[:, j]) for j in sorted(getattr(self, "_fixed", ()))]
        return np.hstack([self._matrix(codes), *added])

    # -- coefficients --------------------------------------------------------------------------------

    @abstractmethod
    def _critical(self, level: float) -> float:
        """How many standard errors an interval reaches to each side."""

    def _estimates(self) -> tuple[tuple[str, ...], FloatArray, FloatArray]:
        """Names of the outputs, coefficients and covariances that are reported."""
        return self._output_names, self._theta, self._covariance

    def coefficients(self, level: float = 0.95) -> Coefficients:
        """The coefficients with standard errors, intervals of the given level and what each of them says.

        Tables (``.frame()``), charts (``.plot()``) and sentences (``.text()``) are made from it.
        """
        self._design_known()
        level = fraction("level", level)
        outputs, theta, covariance = self._estimates()
        se = np.sqrt(np.maximum(np.einsum("kaa->ak", covariance), 0.0))
        wide = self._critical(level) * se
        names = ("intercept", *self.column_names_)
        return Coefficients(
            values=theta[:, 0] if len(outputs) == 1 else theta,
            se=se[:, 0] if len(outputs) == 1 else se,
            low=(theta - wide)[:, 0] if len(outputs) == 1 else theta - wide,
            high=(theta + wide)[:, 0] if len(outputs) == 1 else theta + wide,
            level=level,
            link=str(self._link_name),
            scales=np.append(0.0, self._column_sds()),
            reading=reading_of(self, names, theta, wide),
            header=self._header({"method": "coefficients", "level": level}, feature_names=names, output_names=outputs),
        )

    def _column_sds(self) -> FloatArray:
        return np.concatenate([np.sqrt(np.diag(spread)) for spread in self._spreads] or [np.empty(0)])

    @property
    def _link_name(self) -> str:
        return self._link

    @property
    def coef_(self) -> FloatArray:
        """Coefficients of the columns, in the order of `column_names_`; of several classes one row each."""
        return np.asarray(self._theta[1:, 0] if self._theta.shape[1] == 1 else self._theta[1:].T)

    @property
    def intercept_(self) -> Any:
        """The sum where every column is zero."""
        return float(self._theta[0, 0]) if self._theta.shape[1] == 1 else np.asarray(self._theta[0])


def checked_options(model: Any) -> None:
    """Options that linear models have in common."""
    one_of("robust", getattr(model, "robust", None), ROBUST)
    for name in ("ridge", "lasso"):
        value = getattr(model, name, 0.0)
        if not is_number(value) or value < 0:
            raise InputError(f"{name} must be a number of at least 0, got {value!r}.")
