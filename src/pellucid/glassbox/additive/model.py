"""The additive model (GAM), and with pairs GA2M.

Definition. g(E y) = b_0 + sum_j f_j(x_j) + sum over some pairs f_jk(x_j, x_k): each f_j is piecewise linear on knots
(or one number per level), each f_jk bilinear on a grid, for numbers the product of two lines and what is beyond it; how
smooth each is, REML decides (`penalties`), how many pairs there are, a test (`screen`). Functions have mean zero over
the training rows, pairs are pure (`purify`).

When it misleads. (1) Of correlated features one function can stand in for another; bands know it, the eye does not.
(2) Where there are few rows, a function is a straight line because nothing spoke against it. (3) Bands hold for the
function on average over its range, not at its sharpest corner, and take the pairs that were chosen as given. (4) Beyond
the training rows a function stays where it ended.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pellucid.arrays import AnyArray, FloatArray
from pellucid.diagnostics.linear_models import overdispersed
from pellucid.errors import InputError
from pellucid.explanations import Caveat
from pellucid.glassbox.additive.editing import Edit, Editing
from pellucid.glassbox.additive.families import FAMILIES, Family
from pellucid.glassbox.additive.fit import Fitted, fit
from pellucid.glassbox.additive.options import check_target, is_of_classes, settings_of
from pellucid.glassbox.base import Training
from pellucid.glassbox.sum_of_terms import SumOfTerms


def _has_classes(model: AdditiveModel) -> bool:
    return model._kind() == "classifier"


class AdditiveModel(Editing, SumOfTerms):
    """A sum of functions of one feature each, and of the pairs that pay: as accurate as boosting on many tables.

    Parameters
    ----------
    family
        "gaussian", "poisson" (counts), "gamma" (positive amounts), "binomial" or "multinomial" (classes). "auto" takes
        classes where y has labels that are no numbers, or whole numbers with two different values, else "gaussian".
    pairs
        0: functions of one feature alone. "strong": the pairs of features whose interaction is beyond chance (of those
        found, at most 5% are false on average), less those that REML makes flat. "auto": these, and the other pairs
        too where there are signs of them together (a chance below 0.3), each shrunken by one variance for all: more
        accurate, but many pairs, of which single ones are uncertain. A number: as many of the strongest. A list of
        pairs: those.
    shapes
        What functions have to be: ``{"age": "increasing", "dose": ("increasing", "concave")}``; "decreasing", "convex".
        Held exactly. A feature with a shape is in no pair.
    knots, pair_knots
        At how many values, at most, a function may bend; along each axis of a pair.
    exposure, offset
        A column whose logarithm (exposure, of counts and amounts) or which itself (offset) is added to the sum as it
        is.

    Attributes
    ----------
    family_
        The family that was taken.
    pairs_
        Names of the features of each pair.
    edf_
        Effective degrees of freedom of each term: 0 is no effect, 1 is about a straight line.
    dispersion_, deviance_, n_iter_
        Of the fit to the training rows.
    edits_
        What was edited by hand, and what it cost; see `edit`.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.glassbox import AdditiveModel
    >>> x = np.linspace(0, 6, 200)[:, None]
    >>> model = AdditiveModel().fit(x, np.sin(x[:, 0]))
    >>> round(float(model.predict([[1.57]])[0]), 2)
    1.0
    """

    def __init__(
        self,
        *,
        family: str = "auto",
        pairs: Any = 0,
        shapes: Any = None,
        knots: int = 64,
        pair_knots: int = 24,
        exposure: str | int | None = None,
        offset: str | int | None = None,
    ) -> None:
        self.family = family
        self.pairs = pairs
        self.shapes = shapes
        self.knots = knots
        self.pair_knots = pair_knots
        self.exposure = exposure
        self.offset = offset

    # -- fitting -------------------------------------------------------------------------------------

    def _kind(self) -> str | None:
        if self.family == "auto":
            return getattr(self, "_decided", None)
        return "classifier" if self.family in ("binomial", "multinomial") else "regressor"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = self._kind()
        tags.classifier_tags = ClassifierTags() if tags.estimator_type == "classifier" else None
        tags.regressor_tags = RegressorTags() if tags.estimator_type == "regressor" else None
        tags.target_tags.positive_only = self.family in ("poisson", "gamma")
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the functions, how smooth they are, and the pairs that pay."""
        self._decided = "classifier" if is_of_classes(self.family, y) else "regressor"
        training = self._learn(X, y, sample_weight)
        settings = settings_of(self, self._schema)
        family, target = self._target(training)
        if settings.shapes and family.name == "multinomial":
            raise InputError(
                "shapes= is for a number or two classes; the scores of several classes rise against each other."
            )
        self.family_, self._link = family.name, family.link
        self._added = self._added_columns(training.codes)
        used = [j for j in range(self.n_features_in_) if j not in self._added]
        if len(used) < self.n_features_in_ and settings.shapes:
            for j in set(self._added) & set(settings.shapes):
                raise InputError(f"shapes: {self._names[j]!r} is added as it is; it has no function to shape.")
        offset = sum((self._term_added(j, training.codes[:, j]) for j in self._added), np.zeros(len(training.codes)))
        codes = training.codes.copy()
        codes[:, list(self._added)] = 0.0  # a constant: its function is zero
        nominal = [feature.nominal for feature in self._schema.features]
        self._keep(fit(codes, nominal, target, training.weights, offset, family, settings))
        self._shapes, self.edits_ = dict(settings.shapes), ()
        self._remember(training)
        return self

    def _target(self, training: Training) -> tuple[Family, FloatArray]:
        """The family, and targets ``(rows, sums)``."""
        if self._decided == "regressor":
            name = "gaussian" if self.family == "auto" else self.family
            return FAMILIES[name], check_target(name, training.y)[:, None]
        if len(self.classes_) == 2:
            return FAMILIES["binomial"], training.y[:, None].astype(np.float64)
        return FAMILIES["multinomial"], np.eye(len(self.classes_))[training.y]

    def _added_columns(self, codes: FloatArray) -> dict[int, bool]:
        """Columns that are added as they are, and whether their logarithm is."""
        found = {}
        for name, column in (("exposure", self.exposure), ("offset", self.offset)):
            if column is None:
                continue
            j = self._schema.index(column)
            if self._schema.features[j].nominal or np.isnan(codes[:, j]).any():
                raise InputError(f"{name}={column!r} must be a column of numbers without missing values.")
            if name == "exposure" and (self._link != "log" or (codes[:, j] <= 0).any()):
                what = "is for family='poisson' or 'gamma'" if self._link != "log" else "must be positive in every row"
                raise InputError(f"exposure={column!r} {what}; offset= takes any number with any family.")
            found[j] = name == "exposure"
        return found

    def _term_added(self, j: int, codes: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(codes) if self._added[j] else codes

    def _keep(self, fitted: Fitted) -> None:
        order = np.argsort([max(grid.features) + self.n_features_in_ * min(grid.features) for grid in fitted.grids])
        self._fitted = fitted
        fitted.grids = [fitted.grids[q] for q in order]
        fitted.surfaces = [fitted.surfaces[q] for q in order]
        fitted.pair_edf = fitted.pair_edf[order.astype(np.intp)]
        self._intercept = fitted.intercept
        self._pairs = tuple((min(grid.features), max(grid.features)) for grid in fitted.grids)
        self.pairs_ = [tuple(self._names[j] for j in pair) for pair in self._pairs]
        self.edf_ = np.concatenate([fitted.edf, fitted.pair_edf]).sum(axis=1)
        self.dispersion_, self.deviance_, self.n_iter_ = fitted.dispersion, fitted.deviance, fitted.steps

    # -- terms ---------------------------------------------------------------------------------------

    def _term(self, j: int, codes: FloatArray) -> FloatArray:
        if j in self._added:
            return self._term_added(j, codes)[:, None]
        index, share = self._fitted.axes[j].place(codes)
        table = self._fitted.tables[j]
        left, right = table[index], table[np.minimum(index + 1, len(table) - 1)]
        value = left + share[:, None] * (right - left)
        value = np.clip(value, np.minimum(left, right), np.maximum(left, right))
        return np.where((index < 0)[:, None], 0.0, np.where((share > 0)[:, None], value, left))

    def _pair_term(self, k: int, first: FloatArray, second: FloatArray) -> FloatArray:
        grid, surface = self._fitted.grids[k], self._fitted.surfaces[k]
        columns = (first, second) if grid.features[0] < grid.features[1] else (second, first)
        placed = [axis.place(codes) for axis, codes in zip(grid.axes, columns, strict=True)]
        return np.stack(
            [grid.sums(*placed, np.ascontiguousarray(part)) for part in np.moveaxis(surface, -1, 0)], axis=1
        )

    def _term_error(self, j: int, codes: FloatArray) -> FloatArray:
        if j in self._added:
            return np.zeros((len(codes), len(self._intercept)))
        index, share = self._fitted.axes[j].place(codes)
        C = self._fitted.covariances[j]
        after = np.minimum(index + 1, C.shape[1] - 1)
        variance = (
            np.square(1 - share) * C[:, index, index]
            + np.square(share) * C[:, after, after]
            + 2 * share * (1 - share) * C[:, index, after]
        )
        return np.where((index < 0)[:, None], np.nan, np.sqrt(np.maximum(variance, 0.0)).T)

    def _importance_error(self) -> FloatArray:
        """By the derivative of the standard deviation; of a function that is zero, what its own errors amount to."""
        found = np.full(self._sizes.shape, np.nan)
        for j, (table, C, mass) in enumerate(self._terms_kept()):
            for k, size in enumerate(self._sizes[j]):
                slope = mass * table[:, k] / size if size > 0 else np.zeros(len(mass))
                found[j, k] = np.sqrt(max(float(slope @ C[k] @ slope), 0.0))
        return found

    def _terms_kept(self) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
        fitted = self._fitted
        return list(zip(fitted.tables, fitted.covariances, fitted.masses, strict=True))

    def _caveats(self) -> tuple[Caveat, ...]:
        if self.family_ != "poisson":
            return ()
        remedy = "Give an exposure, or more features; or multiply the bands by the square root of that."
        return tuple(overdispersed(self.dispersion_, remedy=remedy))

    # -- predicting ----------------------------------------------------------------------------------

    def predict(self, X: Any) -> AnyArray:
        """The mean for each row, or the class with the largest probability."""
        check_is_fitted(self, "_fitted")
        if self._decided == "classifier":
            return self.classes_[self.predict_proba(X).argmax(axis=1)]
        return np.asarray(FAMILIES[self.family_].mean(self._sums(self._design(X)))[:, 0])

    @available_if(_has_classes)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the classes."""
        check_is_fitted(self, "_fitted")
        p = FAMILIES[self.family_].mean(self._sums(self._design(X)))
        return np.hstack([1.0 - p, p]) if p.shape[1] == 1 else p

    @available_if(_has_classes)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def decision_function(self, X: Any) -> AnyArray:
        """Log-odds of the second of two classes, or a score for each of several."""
        check_is_fitted(self, "_fitted")
        sums = self._sums(self._design(X))
        return np.asarray(sums[:, 0] if sums.shape[1] == 1 else sums)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of classes, R2 of numbers."""
        from sklearn.metrics import accuracy_score, r2_score

        measure = accuracy_score if self._kind() == "classifier" else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    edits_: tuple[Edit, ...] = ()
