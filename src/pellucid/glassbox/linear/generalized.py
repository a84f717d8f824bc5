"""The generalised linear model.

Definition. g(E[y | x]) = b_0 + sum_k b_k a_k(x), with a link g and a distribution of y around its mean (see
`pellucid.models.families`; how it is fitted: `pellucid.glassbox.linear.irls`). With the log link one unit more of a
column multiplies the prediction by exp(b_k), whatever the others are. Of counts over different lengths of time
(exposure e), the logarithm of e is a term with the coefficient 1: the prediction is e times a rate.

When it misleads. (1) As linear regression. (2) The distribution says how the variance grows with the mean: where it
does not, standard errors are wrong (a dispersion of counts far above 1); robust ones are not. (3) Not every sum is the
link of a mean: with the inverse link a sum below zero predicts a negative amount.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from scipy.special import ndtri
from sklearn.base import RegressorMixin

from pellucid.arrays import AnyArray, FloatArray
from pellucid.errors import InputError, InputWarning
from pellucid.glassbox.base import Training
from pellucid.glassbox.linear.caveats import caveats_of, outside
from pellucid.glassbox.linear.irls import irls, sandwich
from pellucid.glassbox.linear.terms import LinearTerms, checked_options
from pellucid.models.families import LINKS, Family, Link, domain, family_of, link_of
from pellucid.models.linear import TermSum
from pellucid.models.linear_fit import FitLoss


class GeneralizedLinearModel(RegressorMixin, LinearTerms):  # type: ignore[misc]  # scikit-learn has no types
    """Regression for counts, amounts and shares.

    Parameters
    ----------
    family
        "gaussian", "binomial" (0 and 1, or shares with the number of trials as weight), "poisson" (counts), "gamma",
        "inverse_gaussian" (positive amounts) or "tweedie" (amounts that are often zero).
    link
        "auto" (gaussian: identity, binomial: logit, others: log), "identity", "log", "logit", "probit", "cloglog",
        "inverse", "inverse_squared" or "sqrt".
    power
        Of a Tweedie distribution: the variance grows with that power of the mean.
    exposure, offset
        A column whose logarithm (exposure, with the log link) or which itself (offset) is added to the sum as it is.
    interactions, transforms, robust
        As in `LinearModel`.

    Attributes
    ----------
    coef_, intercept_, column_names_
        Coefficients of the columns of the design matrix, and what these are called.
    deviance_, null_deviance_, dispersion_, df_resid_
        Of the training rows; `null_deviance_` is that of a model without features, but with exposure and offset.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.glassbox import GeneralizedLinearModel
    >>> x = np.linspace(0, 1, 50)[:, None]
    >>> model = GeneralizedLinearModel(family="gamma").fit(x, np.exp(2 * x[:, 0]))
    >>> round(float(model.coefficients().factor[1]), 3)
    7.389
    """

    def __init__(
        self,
        *,
        family: str = "gaussian",
        link: str = "auto",
        power: float = 1.5,
        exposure: str | int | None = None,
        offset: str | int | None = None,
        interactions: Any = None,
        transforms: Any = None,
        robust: str | None = None,
    ) -> None:
        self.family = family
        self.link = link
        self.power = power
        self.exposure = exposure
        self.offset = offset
        self.interactions = interactions
        self.transforms = transforms
        self.robust = robust

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.family not in ("gaussian", "binomial")
        return tags

    @property
    def _link_choice(self) -> bool:
        return True

    @property
    def _variance_known(self) -> bool:
        """Whether the family says how much outcomes scatter: of counts and shares of several trials."""
        return self.family in ("poisson", "binomial") and not self._of_classes

    def _family(self) -> Family:
        return family_of(self.family, self.power)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the coefficients."""
        checked_options(self)
        family = self._family()
        link = link_of(self.link, family)
        training = self._learn(X, y, sample_weight)
        y, w = training.y.astype(np.float64), training.weights
        family.check(y)
        self._of_classes = family.name == "binomial" and bool(np.isin(y, (0.0, 1.0)).all())
        self.link_, self._link = link.name, link.name  # type: ignore[assignment]  # checked above
        self._fixed = self._fixed_terms(training)
        A = self._enter(training, self._fixed)
        offset = sum((self._added(j, training.codes[:, j]) for j in self._fixed), start=np.zeros(len(A)))
        fitted = irls(A, y, w, family, link, offset)
        self._theta, self._aliased = fitted.solution.theta[:, None], fitted.solution.aliased
        self.deviance_ = fitted.deviance
        self.null_deviance_ = irls(np.empty((len(A), 0)), y, w, family, link, offset).deviance
        self.df_resid_ = float(w.sum() - np.count_nonzero(~fitted.solution.aliased))
        self.pearson_ = float(w @ (np.square(y - fitted.mu) / family.variance(fitted.mu)))
        self.dispersion_ = (
            (self.pearson_ / self.df_resid_ if self.df_resid_ > 0 else np.nan) if family.dispersed else 1.0
        )
        scaled = fitted.solution.inverse * self.dispersion_
        self._covariance = (sandwich(A, fitted, w, self.robust) if self.robust else scaled)[None]
        self._settle(training, A)
        beyond = outside(self, training, family, link)
        self._leaves = bool(beyond)
        self._known = (*beyond, *caveats_of(self, training, A, fitted, family, link, offset))
        return self

    def _additive(self) -> Any:
        from pellucid.glassbox.additive.model import AdditiveModel

        usual = {"gaussian": "identity", "poisson": "log", "gamma": "log"}
        if usual.get(self.family) != self.link_:
            return None
        return AdditiveModel(family=self.family, exposure=self.exposure, offset=self.offset)

    def _fixed_terms(self, training: Training) -> dict[int, bool]:
        """Columns that are added as they are, and whether their logarithm is."""
        given = [
            (name, each) for name, each in (("exposure", self.exposure), ("offset", self.offset)) if each is not None
        ]
        found = {}
        for name, column in given:
            j = self._schema.index(column)
            codes, logs = training.codes[:, j], name == "exposure"
            if self._schema.features[j].categories is not None or np.isnan(codes).any():
                raise InputError(f"{name}={column!r} must be a column of numbers without missing values.")
            if logs and (self.link_ != "log" or (codes <= 0).any()):
                what = "needs link='log'" if self.link_ != "log" else "must be a column of positive numbers"
                raise InputError(f"exposure={column!r} {what}; offset= takes any number with any link.")
            found[j] = logs
        return found

    def _added(self, j: int, codes: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(codes) if self._fixed[j] else codes

    def _term(self, j: int, codes: FloatArray) -> FloatArray:
        if j not in self._fixed:
            return super()._term(j, codes)
        return self._added(j, codes)[:, None]

    def _term_error(self, j: int, codes: FloatArray) -> FloatArray:
        return super()._term_error(j, codes) if j not in self._fixed else np.zeros((len(codes), 1))

    def _loss(self) -> tuple[FitLoss, tuple[Family, Link]]:
        return "deviance", (self._family(), LINKS[self.link_])

    def predict(self, X: Any) -> AnyArray:
        """The mean for each row; not a number, with a warning, where the sum is the link of no mean of the family."""
        sums = self._sums(self._design(X))[:, 0]
        link = LINKS[self.link_]
        low, high = domain(link, self._family())
        beyond = (sums < low) | (sums > high)
        with np.errstate(divide="ignore", invalid="ignore"):
            means = np.where(beyond, np.nan, link.inverse(sums))
        if beyond.any():
            row = int(np.flatnonzero(beyond)[0])
            warnings.warn(
                f"There is no prediction for {np.count_nonzero(beyond)} of {len(sums)} rows, such as row {row}: the"
                f" sum is {sums[row]:.3g}, to which link={self.link_!r} has no mean; use link='log', which has one for"
                " every sum.",
                InputWarning,
                stacklevel=2,
            )
        return means

    def term_sum(self) -> TermSum | str:
        """The model as a sum, for what reads models; why not, where rows within reach have no prediction."""
        if self._leaves:
            return f"its link {self.link_!r} leaves some sums without a prediction"
        return super().term_sum()

    def _critical(self, level: float) -> float:
        return float(ndtri((1 + level) / 2))
