"""What linear models share: a sum of coefficients times columns for each output, and what follows from their
covariance.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.checks import fraction, is_number, one_of
from pellucid.errors import InputError
from pellucid.explanations import Caveat
from pellucid.explanations.coefficients import Coefficients
from pellucid.glassbox.base import Training
from pellucid.glassbox.linear.columns import NOTHING, TRANSFORMS, Columns, columns_of
from pellucid.glassbox.linear.readings import reading_of, slope_words
from pellucid.glassbox.linear.remedies import Remedies, deviances, remedies_of
from pellucid.glassbox.linear.slopes import Slope, slopes_of
from pellucid.glassbox.sum_of_terms import SumOfTerms
from pellucid.models.families import FAMILIES, Family, Link
from pellucid.models.linear import LinearForm
from pellucid.models.linear_fit import FitLoss, LinearFit

ROBUST = (None, "HC1", "HC3")


class LinearTerms(SumOfTerms):
    """A sum of terms that are coefficients times columns.

    ``_theta`` has the coefficients ``(1 + columns, outputs)``, intercepts first, ``_covariance`` their covariance for
    each output, ``_aliased`` the columns without a coefficient of their own. Columns of pairs are products.
    """

    interactions: Any
    transforms: Any
    _columns: tuple[Columns, ...]
    _slices: tuple[slice, ...]
    _theta: FloatArray
    _covariance: FloatArray
    _aliased: BoolArray
    _known: tuple[Caveat, ...] = ()
    robust: str | None

    def _enter(self, training: Training, left_out: Iterable[int] = ()) -> FloatArray:
        """The design matrix of the training rows, without a column for the intercept."""
        features, codes, out = self._schema.features, training.codes, set(left_out)
        how = self._asked_transforms()
        self._columns = tuple(
            NOTHING if j in out else columns_of(f, codes[:, j], training.weights, how.get(j))
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

    def _asked_transforms(self) -> dict[int, str]:
        given = self.transforms
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise InputError(f"transforms must be a dict such as {{'temp': 'log'}}, got {given!r}.")
        found = {self._schema.index(name): one_of("transforms", how, TRANSFORMS) for name, how in given.items()}
        for j in found:
            if self._schema.features[j].nominal:
                feature = self._schema.features[j]
                raise InputError(
                    f"transforms: {feature.name!r} is {feature.kind}; only numbers and dates are transformed."
                )
        return found

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

    @property
    def _link_choice(self) -> bool:
        """Whether another link could be chosen."""
        return False

    @property
    def _variance_known(self) -> bool:
        """Whether the family says how much outcomes scatter."""
        return False

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
        """What the coefficients minimise, for the influence of single rows; why that is not told, where it is not."""
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

    def slopes(self, feature: Any, by: Any, level: float = 0.95) -> Coefficients:
        """What one unit more of a feature does at each level of another that it interacts with (of a number: where it
        is low, middling and high, the 10, 50 and 90% quantiles), with intervals. Other features that it interacts with
        are at their means.
        """
        self._design_known()
        level = fraction("level", level)
        if len(self._estimates()[0]) > 1:
            raise InputError("slopes() is for a number or two classes; coefficients() has those of several.")
        (i,), (j,) = self._schema.indices(feature), self._schema.indices(by)
        found = slopes_of(self, i, j)
        values, se = (np.array([getattr(each, name) for each in found]) for name in ("value", "se"))
        wide = self._critical(level) * se
        return Coefficients(
            values=values,
            se=se,
            low=values - wide,
            high=values + wide,
            level=level,
            link=str(self._link_name),
            scales=np.array([each.scale for each in found]),
            reading=tuple(self._slope_words(each, float(half)) for each, half in zip(found, wide, strict=True)),
            header=self._header(
                {"method": "slopes", "level": level, "features": [self._names[i], self._names[j]]},
                feature_names=tuple(f"{each.column} where {each.where}" for each in found),
                output_names=self._estimates()[0],
            ),
        )

    def remedies(
        self, X: Any, y: Any, *, features: Any = None, sample_weight: Any = None, folds: int = 5, random_state: int = 0
    ) -> Remedies:
        """What helps where a straight line goes through a curve, tried on held-out rows: the logarithm of a feature,
        bins of it, and an additive model. Of the features that are told to be bent, or of those that are named.
        """
        self._design_known()
        return remedies_of(self, X, y, features, sample_weight, folds, random_state)

    def _additive(self) -> Any:
        """The additive model of the same family; None where there is none."""
        from pellucid.glassbox.additive.model import AdditiveModel

        return AdditiveModel(family="gaussian")

    def _judged(self, one: Any, X: Any, fitted: Any, weights: FloatArray, y: Any) -> tuple[FloatArray, FloatArray]:
        """Deviances of held-out rows, of the mean of the fitted outcomes and of an estimator."""
        fitted, y = np.asarray(fitted, dtype=np.float64), np.asarray(y, dtype=np.float64)
        return deviances(self._family(), one, X, y, float(np.average(fitted, weights=weights)))

    def _family(self) -> Family:
        return FAMILIES["gaussian"]

    def _slope_words(self, slope: Slope, wide: float) -> str:
        return slope_words(self, slope, wide)

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
