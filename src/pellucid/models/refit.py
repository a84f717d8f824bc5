"""Fitting a model again: on other rows, without some columns, or to another outcome.

The model given to an Explainer is never touched. An estimator is cloned by the scikit-learn protocol (``get_params``
and ``fit``: estimators, pipelines, searches, the estimators of XGBoost, LightGBM and CatBoost); anything else is fitted
by a function ``refit(X, y) -> model``. The clone gets the table that the given model is asked with: its type, column
names, dtypes and categories.

A column is dropped from the table. Where the model knows its columns by position or name (a ColumnTransformer, monotone
constraints), or cannot be fitted without the column, the column stays and holds one value in every row instead.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.data.doorway import as_frame
from pellucid.data.frame import Frame
from pellucid.errors import InputError, ModelError
from pellucid.models.adapter import Adapter, OneHot
from pellucid.models.outcome import outcome_for
from pellucid.models.predictor import Predictor

T = TypeVar("T")
Fit = Callable[[Any, AnyArray, FloatArray | None], Any]

_VERBS = ("predict_proba", "predict_log_proba", "decision_function", "predict")
_PROBE_ROWS = 16
# Parameters of estimators that refer to columns by position or name.
_ABOUT_COLUMNS = {
    "categorical_features", "categorical_feature", "cat_features", "text_features", "embedding_features", "ignored_features",
    "monotonic_cst", "monotone_constraints", "interaction_cst", "interaction_constraints",
    "feature_types", "feature_weights", "feature_contri", "per_float_feature_quantization",
}  # fmt: skip


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

    def __call__(
        self, rows: IntArray, *, without: tuple[int, ...] = (), order: IntArray | None = None
    ) -> Refitted:
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

    ``refit`` is a function ``refit(X, y) -> model`` (it gets ``sample_weight`` too if it has a parameter of that name), or
    an estimator to be cloned in place of the model. An estimator's own ``random_state`` is kept; where it is None the clone
    gets ``seed``.
    """
    if data.y is None:
        raise InputError("fitting the model again needs the true outcome; give y to the Explainer.")
    if refit is None or _is_estimator(refit):
        template = predictor.model if refit is None else refit
        if not _is_estimator(template):
            raise InputError(
                f"{predictor.name} ({predictor.library}) cannot be fitted again by itself; give refit=, a function fit(X, y) that returns a fitted model."
            )
        keyword = _weight_keyword(template)
        fit: Fit = _Cloned(template, seed, keyword)
        by_column = _refers_to_columns(template)
    elif callable(refit):
        keyword = "sample_weight" if _has_parameter(refit, "sample_weight") else None
        fit, by_column = _Called(refit, keyword), False
    else:
        raise InputError(
            f"refit is a {type(refit).__name__}; give a function fit(X, y) that returns a fitted model, or an estimator."
        )
    return Refit(
        predictor, data, fit,
        verb=_verb(predictor), by_column=by_column, weighs=data.weighted and keyword is not None,
        labels=_labels(predictor, data) if refit is None else data.y,
    )  # fmt: skip


def _labels(predictor: Predictor, data: Data) -> AnyArray:
    """The outcome in the labels the model itself was fitted to."""
    if predictor.classes is None or data.y is None:
        return np.asarray(data.y)
    return np.asarray(predictor.classes)[outcome_for(predictor, data).astype(np.intp)]


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
        clone = cloned(self.template, self.seed)
        clone.fit(X, y, **given)
        return clone


def cloned(template: Any, seed: int = 0) -> Any:
    """An unfitted copy with the same parameters; boosted trees that stopped early get as many trees as were kept."""
    from sklearn.base import clone

    try:
        fresh = clone(template)
    except RuntimeError:  # CatBoost copies its parameters, which scikit-learn takes for a change
        fresh = type(template)(**deepcopy(template.get_params(deep=False)))
    random = {
        name: seed
        for name, value in fresh.get_params(deep=True).items()
        if name.rpartition("__")[2] == "random_state" and value is None
    }
    fresh.set_params(**random)
    _last_step(fresh).set_params(**_learned(_last_step(template)))
    return fresh


def _last_step(model: Any) -> Any:
    """The estimator at the end of a pipeline."""
    steps = getattr(model, "steps", None)
    return _last_step(steps[-1][1]) if isinstance(steps, list) and steps else model


def _learned(model: Any) -> dict[str, Any]:
    """Parameters that a boosted model was given with its fit, or learned from early stopping."""
    params = model.get_params() if _is_estimator(model) else {}
    if params.get("early_stopping_rounds") is not None and "enable_categorical" in params:  # XGBoost
        best = _quietly(model, "best_iteration")
        trees = {} if best is None else {"n_estimators": int(best) + 1}
        return {"early_stopping_rounds": None, **trees}
    best = _quietly(model, "best_iteration_")
    if "num_leaves" in params and best:  # LightGBM
        return {"n_estimators": int(best)}
    if hasattr(model, "get_cat_feature_indices"):
        return _learned_by_catboost(model, params)
    return {}


def _learned_by_catboost(model: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    counts = ("iterations", "n_estimators", "num_boost_round", "num_trees")
    count = next((name for name in counts if name in params), "iterations")
    found: dict[str, Any] = {}
    if model.is_fitted():
        found[count] = int(model.tree_count_)
        categories = list(model.get_cat_feature_indices())
        if categories and params.get("cat_features") is None:
            found["cat_features"] = categories
    if params.get("use_best_model"):
        found["use_best_model"] = False  # which needs rows of its own
    return found


def _quietly(model: Any, name: str) -> Any:
    """An attribute that raises where it is not known."""
    try:
        return getattr(model, name)
    except Exception:  # each library has an error of its own for it
        return None


def _is_estimator(model: Any) -> bool:
    return (
        not isinstance(model, type)
        and callable(getattr(model, "fit", None))
        and callable(getattr(model, "get_params", None))
        and callable(getattr(model, "set_params", None))
    )


def _has_parameter(function: Callable[..., Any], name: str) -> bool:
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _weight_keyword(model: Any) -> str | None:
    """What ``fit`` calls the row weights; None where it takes none."""
    steps = getattr(model, "steps", None)
    if isinstance(steps, list) and steps:
        inner = _weight_keyword(steps[-1][1])
        return None if inner is None else f"{steps[-1][0]}__{inner}"
    if not _is_estimator(model):
        return None
    searched = getattr(model, "estimator", None) if hasattr(model, "cv") else None
    if searched is not None:
        return _weight_keyword(searched)
    return "sample_weight" if _has_parameter(model.fit, "sample_weight") else None


def _refers_to_columns(model: Any) -> bool:
    """Whether some part of an estimator knows columns by position or name, so that none may go."""
    params = {**model.get_params(deep=True), **_learned(_last_step(model))}
    for name, value in params.items():
        last = name.rpartition("__")[2]
        if last in _ABOUT_COLUMNS and value is not None:
            if not isinstance(value, str) or value not in ("auto", "from_dtype"):
                return True
        elif last == "transformers" and any(not callable(entry[-1]) for entry in value):
            return True
    return False


# -- asking ------------------------------------------------------------------------------------------


def _verb(predictor: Predictor) -> str | None:
    """The name of the method through which the given estimator is asked."""
    asked = predictor._adapter.predict
    asked = asked.predict if isinstance(asked, OneHot) else asked
    name = getattr(asked, "__name__", None)
    return name if name in _VERBS and getattr(asked, "__self__", None) is predictor.model else None


def _over(given: Predictor, inner: Predictor, reduction: Reduction) -> Predictor:
    """The given predictor over another model: the same columns, outputs, classes and link."""
    outer = copy(given)
    predict = _Asked(inner, reduction, _places(given, inner), given._outputs.mirrored)
    outer._adapter = Adapter(library=inner.library, name=inner.name, predict=predict)
    outer.mutates = False  # the inner predictor sees to that
    return outer


@dataclass(frozen=True, eq=False)
class _Asked:
    """A model fitted again, asked with the given model's table and answering in its outputs.

    ``places`` has for each of the given model's outputs its column here, -1 for a class that the rows of this fit lacked.
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
    if given.classes is not None and inner.classes is not None:
        known = {str(label): k for k, label in enumerate(inner.classes)}
        places = tuple(known.get(str(label), -1) for label in given.classes)
        if max(places) >= 0:
            return places
    elif inner.width == given.width or (inner.width, given.width, given.classes is None) == (1, 2, False):
        return tuple(range(given.width))
    elif (inner.width, given.width) == (2, 1):
        return (1,)
    raise ModelError(
        f"the model fitted again gives {inner.width} outputs ({', '.join(inner.output_names[:4])}), the given one {given.width}; refit= must return the same kind of model."
    )


# -- many at once ------------------------------------------------------------------------------------


def in_parallel(calls: Sequence[Callable[[], T]], workers: int) -> Generator[T, None, None]:
    """What the calls return, in their order; joblib's active backend does the work, threads by default."""
    if workers == 1 or len(calls) < 2:
        yield from (call() for call in calls)
        return
    from joblib import Parallel, delayed

    answers = Parallel(n_jobs=workers, prefer="threads", return_as="generator")(
        delayed(_call)(call) for call in calls
    )
    try:
        yield from answers
    finally:
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            answers.close()


def _call(call: Callable[[], T]) -> T:
    return call()
