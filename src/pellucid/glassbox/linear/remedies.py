"""What helps where a straight line goes through a curve: a logarithm, bins, or an additive model, each tried.

Definition. Rows are dealt into folds; the model and each remedy are fitted to all folds but one and judged by the
deviance d_i of the rows in it (squared errors, twice the log loss, or that of the family). The score is 1 - sum w_i d_i
/ sum w_i d0_i, with d0 that of the mean (or the shares of the classes) of the fitted rows: R2 of a linear model. A gain
is the difference of two scores; its standard error is that of the mean of the differences over rows.

When it misleads. (1) Of many remedies the best looks a little better than it is. (2) A gain that is within two standard
errors of zero may be none. (3) The chance in the fits is not in the errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from pellucid.arrays import FloatArray, IntArray
from pellucid.checks import whole
from pellucid.errors import InputError
from pellucid.models.families import Family, clipped
from pellucid.stats import standard_error
from pellucid.words import number

if TYPE_CHECKING:
    import pandas as pd

    from pellucid.glassbox.linear.terms import LinearTerms

_MOST = 10  # features that are tried where none is told to be bent


@dataclass(frozen=True)
class Remedy:
    """One model that was tried: for which ``feature`` (None: all of them), what it is, its ``score`` on held-out rows,
    how much that is more than without (``gain``) with its standard error ``se``, and the ``model``, not fitted.
    """

    feature: str | None
    what: str
    score: float
    gain: float
    se: float
    model: Any

    @property
    def certain(self) -> bool:
        """Whether the gain is more than two standard errors above zero."""
        return self.gain > 2 * self.se


@dataclass(frozen=True)
class Remedies:
    """The score of a model on held-out rows (``score``, called ``measure``), and its ``remedies``, the best first."""

    measure: str
    score: float
    remedies: tuple[Remedy, ...]

    @property
    def best(self) -> Remedy | None:
        """The remedy with the highest score that certainly helps; None where none does."""
        return next((each for each in self.remedies if each.certain), None)

    def frame(self) -> pd.DataFrame:
        """One line per remedy."""
        import pandas as pd

        names = ("feature", "what", "score", "gain", "se")
        return pd.DataFrame({name: [getattr(each, name) for each in self.remedies] for name in names})

    def text(self) -> str:
        """What helps and what does not, the finding first."""
        best, as_is = self.best, f"{self.measure} on held-out rows is {number(self.score)} as it is"
        if best is None:
            head = f"No remedy certainly helps: {as_is}."
        else:
            head = (
                f"{best.what} helps most: {self.measure} on held-out rows is {number(best.score)} instead of"
                f" {number(self.score)}."
            )
        lines = [
            f"- {each.what}: {number(each.score)} ({each.gain:+.3g}, standard error {number(each.se)})"
            for each in self.remedies
        ]
        return "\n".join([head, *lines])

    def __repr__(self) -> str:
        return self.text()


def remedies_of(
    model: LinearTerms, X: Any, y: Any, features: Any, sample_weight: Any, folds: Any, random_state: int
) -> Remedies:
    """Every remedy, tried on held-out rows."""
    folds = whole("folds", folds, least=2)
    frame, outcome = model._wrapped(X), np.asarray(y)
    weights = np.ones(len(frame)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if len(outcome) != len(frame) or weights.shape != (len(frame),):
        raise InputError(f"y and sample_weight must have one value for each of the {len(frame)} rows of X.")
    if folds > len(frame):
        raise InputError(f"folds is {folds}, but X has {len(frame)} rows; give fewer folds.")
    generator = np.random.default_rng(random_state)
    fold = generator.permutation(len(frame)) % folds
    tries = _tries(model, model._schema.indices(features) if features is not None else None)
    rows = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(folds)]
    none, plain = _deviances(model, clone(model), frame, outcome, weights, rows)
    total = float(weights @ none)
    if total <= 0:
        raise InputError("y does not vary; give rows with different outcomes.")
    found = []
    for feature, what, candidate in tries:
        try:
            _, own = _deviances(model, candidate, frame, outcome, weights, rows)
        except InputError:
            continue  # a feature without logarithms in some fold
        gains = (plain - own) * (weights.sum() / total)
        gain, se = float(np.average(gains, weights=weights)), float(standard_error(gains, weights))
        found.append(Remedy(feature, what, 1.0 - float(weights @ own) / total, gain, se, clone(candidate)))
    measure = "R²" if model._link_name == "identity" else "The share of the deviance explained"
    score = 1.0 - float(weights @ plain) / total
    return Remedies(measure, score, tuple(sorted(found, key=lambda each: -each.score)))


def _tries(model: LinearTerms, asked: tuple[int, ...] | None) -> list[tuple[str | None, str, Any]]:
    """The feature, the words and the estimator of every remedy."""
    numbers = [
        j
        for j, (feature, columns) in enumerate(zip(model._schema.features, model._columns, strict=True))
        if not feature.nominal and columns.names and columns.transform is None
    ]
    bent = {caveat.feature for caveat in model._known if caveat.code == "curved"}
    if asked is None:
        asked = tuple(j for j in numbers if model._names[j] in bent) or tuple(numbers[:_MOST])
    for j in asked:
        if j not in numbers:
            raise InputError(f"features: {model._names[j]!r} does not enter as a number; remedies are for numbers.")
    found: list[tuple[str | None, str, Any]] = []
    for j in asked:
        name = model._names[j]
        for how in ("log", "bins"):
            if how == "log" and (model._seen[j].points <= 0).any():
                continue
            candidate = clone(model).set_params(transforms={**(model.transforms or {}), name: how})
            found.append((name, f"transforms={{{name!r}: {how!r}}}", candidate))
    additive = model._additive()
    return [*found, (None, f"{type(additive).__name__}", additive)] if additive is not None else found


def _deviances(
    model: LinearTerms, candidate: Any, frame: Any, y: Any, weights: FloatArray, rows: list[tuple[IntArray, IntArray]]
) -> tuple[FloatArray, FloatArray]:
    """Deviances of held-out rows: of the mean of the fitted rows, and of an estimator."""
    none, own = np.empty(len(y)), np.empty(len(y))
    for fitted, held in rows:
        one = clone(candidate).fit(frame.take(fitted).native, y[fitted], sample_weight=weights[fitted])
        none[held], own[held] = model._judged(one, frame.take(held).native, y[fitted], weights[fitted], y[held])
    return none, own


def deviances(family: Family, one: Any, X: Any, y: FloatArray, mean: float) -> tuple[FloatArray, FloatArray]:
    """Of a number: those of a constant mean, and of an estimator."""
    mu = clipped(np.asarray(one.predict(X), dtype=np.float64), family)
    return family.deviance(y, np.full(len(y), mean)), family.deviance(y, mu)


def log_losses(one: Any, X: Any, y: Any, fitted: Any, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of classes: twice the log loss of their shares, and of an estimator."""
    at = np.searchsorted(one.classes_, y)
    at = np.where(np.isin(y, one.classes_), at, 0)
    shares = np.array([weights[fitted == label].sum() for label in one.classes_]) / weights.sum()
    p = np.maximum(one.predict_proba(X)[np.arange(len(y)), at], 1e-15)
    return -2.0 * np.log(shares[at]), -2.0 * np.log(p)
