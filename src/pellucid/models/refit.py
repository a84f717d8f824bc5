"""Fitting a model again: on other rows, without some columns, or to another outcome.

The model given to an Explainer is never touched. An estimator is cloned by the scikit-learn protocol (``get_params``
and ``fit``: estimators, pipelines, searches, the estimators of XGBoost, LightGBM and CatBoost); anything else is fitted
by a function ``refit(X, y) -> model``. The clone gets the table that the given model is asked with: its type, column
names, dtypes and categories.

A column is dropped from the table. Where the model knows its columns by position or name (a ColumnTransformer, monotone
constraints), or cannot be fitted without the column, the column stays and holds one value in every row instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.data import Data, Frame, as_frame
from pellucid.errors import InputError, ModelError
from pellucid.models.clone import cloned, has_parameter, is_estimator, refers_to_columns, weight_keyword
from pellucid.models.outcome import outcome_for
from pellucid.models.predictor import Predictor
from pellucid.models.quiet import quietly
from pellucid.words import kind_of

Fit = Callable[[Any, AnyArray, FloatArray | None], Any]

_PROBE_ROWS = 16


@dataclass(frozen=True, eq=False)
class Reduction:
    """How a table loses columns: only those at ``keep`` stay, or those in ``constants`` hold one cell everywhere."""

    keep: tuple[int, ...] | None = None
    constants: Mapping[int, Any] = field(default_factory=dict)

    def apply(self, frame: Frame) -> Frame:
        """The table with less in it."""
        if self.keep is not None:
            return frame.select(self.keep)
        everywhere = np.zeros(len(frame), dtype=np.intp)
        columns = {k: frame.gather(cell, everywhere) for k, cell in self.constants.items()}
        return frame.replace(columns) if columns else frame


@dataclass(frozen=True, eq=False)
class Refitted:
    """A predictor over a model that was fitted again; ``constant``: columns were held constant, not dropped."""

    predictor: Predictor
    constant: bool


@dataclass(frozen=True, eq=False)
class Refit:
    """Fits the model again; ``weighs``: whether the fit gets the row weights, where rows count unequally."""

    predictor: Predictor
    data: Data
    fit: Fit
    verb: str | None
    by_column: bool
    weighs: bool
    labels: AnyArray

    def __call__(self, rows: IntArray, *, without: tuple[int, ...] = (), order: IntArray | None = None) -> Refitted:
        """The model fitted to some rows, without some columns of the caller's table, or to another outcome.

        ``order`` says for every row of the data whose outcome it gets.
        """
        outcome = self.labels[rows if order is None else order[rows]]
        weights = self.data.weights[rows] if self.weighs else None
        refusal: Exception | None = None
        for reduction in self._reductions(without):
            table = reduction.apply(self._table(rows))
            try:
                inner = self._ask(self.fit(table.native, outcome, weights), rows, outcome, reduction)
            except Exception as error:  # whatever the model's own fit raises
                refusal = refusal or error
            else:
                return Refitted(_over(self.predictor, inner, reduction), bool(reduction.constants))
        what = " ".join(str(refusal).split())[:300]
        raise ModelError(
            f"fitting {self.predictor.name} again on {len(rows)} rows failed: {type(refusal).__name__}: {what}"
        ) from refusal

    def anew(self, rows: IntArray) -> Predictor:
        """A predictor of its own over the model fitted to some rows, which can be read as the given model can."""
        outcome = self.labels[rows]
        weights = self.data.weights[rows] if self.weighs else None
        fitted = self.fit(self._table(rows).native, outcome, weights)
        return self._ask(fitted, rows, outcome, Reduction())

    def _table(self, rows: IntArray) -> Frame:
        """The rows as the given model is asked with them, in memory of their own."""
        return as_frame(self.predictor.dressed(self.data.frame.take(rows)))

    def _ask(self, model: Any, rows: IntArray, labels: AnyArray, reduction: Reduction) -> Predictor:
        few = rows[np.unique(np.linspace(0, len(rows) - 1, _PROBE_ROWS).astype(np.intp))]
        asked = getattr(model, self.verb) if self.verb is not None and hasattr(model, self.verb) else model
        return Predictor(asked, reduction.apply(self._table(few)).native, labels=labels)

    def _reductions(self, without: tuple[int, ...]) -> Iterator[Reduction]:
        """Ways to do without columns, the best first."""
        own = self.predictor.columns
        gone = [k for k, j in enumerate(own) if j in without]
        if not gone:
            yield Reduction()
            return
        if not self.by_column and len(gone) < len(own):
            yield Reduction(keep=tuple(k for k in range(len(own)) if k not in gone))
        yield Reduction(constants={k: self._cell(k, own[k]) for k in gone})

    def _cell(self, k: int, j: int) -> Any:
        """One cell for column ``k`` of the model: the commonest category, or the number nearest to zero.

        Nearest to zero, because a model without an intercept would take another constant for one.
        """
        codes = self.data.codes(j)
        known = codes[~np.isnan(codes)]
        if not known.size:
            row = 0
        elif self.data.schema.features[j].nominal:
            values, counts = np.unique(known, return_counts=True)
            row = int(np.flatnonzero(codes == values[counts.argmax()])[0])
        else:
            row = int(np.nanargmin(np.abs(codes)))
        one = self._table(np.array([row]))
        return one.gather(one.native_column(k), np.zeros(1, dtype=np.intp))


def refitter(predictor: Predictor, data: Data, refit: Any = None, *, seed: int = 0) -> Refit:
    """How the model behind a predictor is fitted again to these data.

    ``refit`` is a function ``refit(X, y) -> model`` (it gets ``sample_weight`` too if it has a parameter of that name),
    or an estimator to be cloned in place of the model. An estimator's own ``random_state`` is kept; where it is None
    the clone gets ``seed``.
    """
    if data.y is None:
        raise InputError("fitting the model again needs the true outcome; give y to the Explainer.")
    if refit is None or is_estimator(refit):
        template = predictor.model if refit is None else refit
        if not is_estimator(template):
            raise InputError(
                f"{predictor.name} ({predictor.library}) cannot be fitted again by itself; give refit=, a function"
                " fit(X, y) that returns a fitted model."
            )
        keyword = weight_keyword(template)
        fit: Fit = _Cloned(template, seed, keyword)
        by_column = refers_to_columns(template)
    elif callable(refit):
        keyword = "sample_weight" if has_parameter(refit, "sample_weight") else None
        fit, by_column = _Called(refit, keyword), False
    else:
        raise InputError(
            f"refit is {kind_of(refit)}; give a function fit(X, y) that returns a fitted model, or an estimator."
        )
    return Refit(
        predictor,
        data,
        fit,
        verb=predictor.verb,
        by_column=by_column,
        weighs=data.weighted and keyword is not None,
        labels=_labels(predictor, data) if refit is None else data.y,
    )


def _labels(predictor: Predictor, data: Data) -> AnyArray:
    """The outcome in the labels the model itself was fitted to."""
    if predictor.labels is None or data.y is None:
        return np.asarray(data.y)
    return np.asarray(predictor.labels)[outcome_for(predictor, data).astype(np.intp)]


# -- fitting -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Called:
    """A user's own function that fits."""

    function: Callable[..., Any]
    keyword: str | None

    def __call__(self, X: Any, y: AnyArray, weights: FloatArray | None) -> Any:
        given = {} if weights is None or self.keyword is None else {self.keyword: weights}
        return self.function(X, y, **given)


@dataclass(frozen=True, eq=False)
class _Cloned:
    """A clone of an estimator, fitted."""

    template: Any
    seed: int
    keyword: str | None

    def __call__(self, X: Any, y: AnyArray, weights: FloatArray | None) -> Any:
        given = {} if weights is None or self.keyword is None else {self.keyword: weights}
        with quietly():
            clone = cloned(self.template, self.seed)
            clone.fit(X, y, **given)
        return clone


# -- asking ------------------------------------------------------------------------------------------


def _over(given: Predictor, inner: Predictor, reduction: Reduction) -> Predictor:
    """The given predictor over another model: the same columns, outputs, classes and link."""
    predict = _Asked(inner, reduction, _places(given, inner), given.mirrored)
    return given.over(predict, library=inner.library, name=inner.name)


@dataclass(frozen=True, eq=False)
class _Asked:
    """A model fitted again, asked with the given model's table and answering in its outputs.

    ``places`` has for each of the given model's outputs its column here, -1 for a class that the rows of this fit
    lacked.
    """

    inner: Predictor
    reduction: Reduction
    places: tuple[int, ...]
    mirrored: bool

    def __call__(self, table: Any) -> FloatArray:
        frame = self.reduction.apply(as_frame(table))
        own, _ = self.inner.timed_full(self.inner.align(frame).native, len(frame))
        probability = self.inner.raw_scale == "probability"
        if own.shape[1] <= max(self.places):  # one column for two classes
            own = np.hstack([1 - own if probability else -own, own])
        least = 0.0 if probability else own.min(axis=1, keepdims=True) - 1
        full = np.where(np.array(self.places) >= 0, own[:, list(self.places)], least)
        return full[:, 1:] if self.mirrored else full


def _places(given: Predictor, inner: Predictor) -> tuple[int, ...]:
    if given.labels is not None and inner.labels is not None:
        known = {str(label): k for k, label in enumerate(inner.labels)}  # refit= may fit to the names of the classes
        pairs = zip(given.labels, given.classes or (), strict=True)
        places = tuple(known.get(str(label), known.get(str(name), -1)) for label, name in pairs)
        if max(places) >= 0:
            return places
    elif inner.width == given.width or (inner.width, given.width, given.classes is None) == (1, 2, False):
        return tuple(range(given.width))
    elif (inner.width, given.width) == (2, 1):
        return (1,)
    raise ModelError(
        f"the model fitted again gives {inner.width} outputs ({', '.join(inner.output_names[:4])}), the given one"
        f" {given.width}; refit= must return the same kind of model."
    )
