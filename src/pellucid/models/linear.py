"""Models that are linear in column-wise encodings of their features, read in closed form.

Definition. On the scale of its link g the prediction is a sum with one component per feature,

    g(f(x)) = intercept + sum_j f_j(x_j),    f_j(x_j) = sum over the encoded columns k of feature j of weights_k
    e_k(x_j),

where the e_k are what the steps of a pipeline make of a column: the column itself or a multiple of it (a linear model),
one-hot codes (a step function), splines or bins (a generalised additive model). Everything that can be said of one
feature at a time can then be read off its component.

What is read: estimators of scikit-learn, and those derived from them, with `coef_` and `intercept_`, also at the end of
pipelines whose steps are known to work column by column (`pellucid.models.columnwise`), inside searches, and behind a
transformed target whose inverse is known to be linear, or the exponential function.

When it misleads: `coef_` may mean something else than it seems to. What is read is therefore to be believed only after
`agreeing_link` has found that it reproduces the model's own predictions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.errors import PellucidError
from pellucid.models.columnwise import Mixing, chained, is_absent
from pellucid.models.predictor import Predictor
from pellucid.models.quiet import quietly

Link = Literal["identity", "logit", "softmax", "log", "probit", "cloglog", "inverse", "inverse_squared", "sqrt"]

_AGREE = 1e-5  # relative; models trained in single precision predict in it
_VERBS = ("predict", "predict_proba", "decision_function")
_LOG_LINK = {"PoissonRegressor", "GammaRegressor"}
_NOT_FOR_PREDICTION = (
    "__",
    "fit",
    "_fit",
    "partial_fit",
    "score",
    "get_",
    "set_",
    "_get_",
    "_more_tags",
    "_repr_",
    "_abc_",
)
_AFFINE = {"StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"}


class _NotLinear(PellucidError):
    """The reason why a model is not read."""


@dataclass(frozen=True)
class Unlike:
    """Why a model is not a linear form, and by how much the form misses its predictions where it was read as one."""

    reason: str
    difference: float = np.inf


@dataclass(frozen=True, eq=False)
class LinearForm:
    """A model as a sum of components, one per column of the table its own predict takes.

    Attributes
    ----------
    encode
        From that table to the matrix of encoded columns, ``(rows, encoded)`` float64.
    weights
        ``(encoded, outputs)``.
    intercept
        ``(outputs,)``.
    source
        For each encoded column the position of the model's own column it is made from.
    link
        From predictions to sums: "identity", "logit" (one log-odds), "softmax" (one score per class, which are the
        log-probabilities up to a common term) or "log".
    declared
        Whether the model itself says that it is this sum: that need not be tried on further rows.
    """

    encode: Callable[[Any], FloatArray]
    weights: FloatArray
    intercept: FloatArray
    source: IntArray
    link: Link = "identity"
    declared: bool = False

    def sums(self, matrix: FloatArray) -> FloatArray:
        """Predictions on the scale of the link, ``(rows, outputs)``, for a matrix of encoded columns."""
        return np.asarray(matrix @ self.weights + self.intercept)

    def components(self, matrix: FloatArray, n_columns: int) -> FloatArray:
        """The parts of the sums that each of the model's columns brings, ``(rows, n_columns, outputs)``; the intercept
        is the rest.
        """
        parts = np.zeros((len(matrix), n_columns, self.weights.shape[1]))
        for j in np.unique(self.source):
            own = self.source == j
            parts[:, j] = matrix[:, own] @ self.weights[own]
        return parts

    def outputs(self, keep: Sequence[int], width: int) -> LinearForm:
        """The form of some of the ``width`` columns of a full prediction; of two classes the first mirrors the
        second.
        """
        n_sums = self.weights.shape[1]
        mixing = np.eye(n_sums) if n_sums == width else np.array([[-1.0, 1.0]])
        chosen = mixing[:, list(keep)]
        return replace(self, weights=self.weights @ chosen, intercept=self.intercept @ chosen)


@dataclass(frozen=True, eq=False)
class TermSum:
    """What a model says of itself that is a sum of functions of one feature each, where its ``term_sum`` gives one.

    ``codes`` turns a table as the model's own predict takes it into numbers ``(rows, columns)``; ``terms`` has a
    function for each column, from its numbers ``(rows,)`` to what they add to each sum, ``(rows, sums)``. The sums are
    g of the predictions, with ``link`` g.
    """

    codes: Callable[[Any], FloatArray]
    terms: Sequence[Callable[[FloatArray], FloatArray]]
    intercept: FloatArray
    link: Link

    def __call__(self, table: Any) -> FloatArray:
        """The terms side by side, ``(rows, columns x sums)``."""
        codes = self.codes(table)
        return np.hstack([term(codes[:, j]) for j, term in enumerate(self.terms)])

    def form(self) -> LinearForm:
        """The same as a linear form: each term is an encoded column of weight one."""
        n, sums = len(self.terms), len(self.intercept)
        weights = np.tile(np.eye(sums), (n, 1))
        return LinearForm(self, weights, self.intercept, np.repeat(np.arange(n), sums), self.link, declared=True)


def linear_form(predictor: Predictor) -> LinearForm | Unlike:
    """The model as a linear form, or the reason why it is none; see `agreeing_link` before believing it."""
    try:
        with quietly():
            return _read(predictor.model)
    except (_NotLinear, Mixing) as reason:
        return Unlike(str(reason))


# -- is it the model? --------------------------------------------------------------------------------


def agreeing_link(form: LinearForm, sums: FloatArray, full: FloatArray) -> Link | Unlike:
    """The link by which the sums reproduce the model's full predictions of the same rows: the form's own, or none.

    A classifier may be asked for its decision function as well as for its probabilities. Differences count relative
    to the largest number of an output (to one, for probabilities; to the intercept, if that is larger).
    """
    candidates: list[Link] = [form.link] if form.link == "identity" else [form.link, "identity"]
    differences = [_difference(form, sums, full, link) for link in candidates]
    best = int(np.argmin(differences))
    if differences[best] <= _AGREE:
        return candidates[best]
    if not np.isfinite(differences[best]):
        return Unlike(f"the model makes {full.shape[1]} outputs of {sums.shape[1]} sums in a way that is not read")
    miss = f"up to {differences[best]:.2g} of their size"
    return Unlike(f"what is read of the model misses its own predictions by {miss}", differences[best])


def predictions(sums: FloatArray, link: Link, width: int) -> FloatArray | None:
    """Full predictions ``(rows, width)``; one column for two classes is completed. None where the widths do not fit."""
    with np.errstate(all="ignore"):  # a sum that is the link of no prediction has none
        made = _INVERSES[link](sums)
    if made.shape[1] == 1 and width == 2:
        made = np.hstack([1.0 - made if link == "logit" else -made, made])
    return np.asarray(made, dtype=np.float64) if made.shape[1] == width else None


def _logistic(sums: FloatArray) -> FloatArray:
    from scipy.special import expit

    return np.asarray(expit(sums))


def _softmax(sums: FloatArray) -> FloatArray:
    from scipy.special import softmax

    return np.asarray(softmax(sums, axis=1))


def _normal(sums: FloatArray) -> FloatArray:
    from scipy.special import ndtr

    return np.asarray(ndtr(sums))


_INVERSES: dict[Link, Callable[[FloatArray], FloatArray]] = {
    "identity": lambda sums: sums,
    "log": lambda sums: np.exp(np.minimum(sums, 700.0)),
    "logit": _logistic,
    "softmax": _softmax,
    "probit": _normal,
    "cloglog": lambda sums: -np.expm1(-np.exp(np.minimum(sums, 30.0))),
    "inverse": lambda sums: 1 / sums,
    "inverse_squared": lambda sums: 1 / np.sqrt(sums),
    "sqrt": np.square,
}


def _difference(form: LinearForm, sums: FloatArray, full: FloatArray, link: Link) -> float:
    """The largest difference, as a share of the size of its output."""
    predicted = predictions(sums, link, full.shape[1])
    if predicted is None:
        return np.inf
    size = np.abs(full).max(axis=0, initial=0.0)
    if link in ("logit", "softmax"):
        size = np.ones_like(size)
    elif link == "identity":
        size = np.maximum(size, np.abs(form.intercept).max(initial=0.0))
    worst = np.abs(predicted - full).max(axis=0, initial=0.0)
    return float((worst / np.where(size > 0, size, 1.0)).max())


# -- reading -----------------------------------------------------------------------------------------


def _read(model: Any) -> LinearForm:
    """What the model says of itself, or what is read of the estimator, or of the one that scikit-learn wraps."""
    if callable(getattr(model, "term_sum", None)):
        return _declared(model)
    _refuse_own_verbs(model)
    for parent in type(model).__mro__:
        if parent.__module__.startswith("sklearn.") and parent.__name__ in _WRAPPERS:
            return _WRAPPERS[parent.__name__](model)
    predicts = any(_owner(model, verb) for verb in _VERBS)
    if not predicts or not hasattr(model, "coef_") or not hasattr(model, "intercept_"):
        raise _NotLinear(f"{_name(model)} is not a linear model: it has no coef_ and intercept_")
    return _estimator(model)


def declares_sum(model: Any) -> bool:
    """Whether a model, also at the end of a pipeline or inside a search, says itself which sum it is."""
    while hasattr(model, "best_estimator_") or isinstance(getattr(model, "steps", None), list):
        model = model.best_estimator_ if hasattr(model, "best_estimator_") else model.steps[-1][1]
    return callable(getattr(model, "term_sum", None))


def _declared(model: Any) -> LinearForm:
    """A model that says itself which sum it is; a class derived from it may predict something else."""
    home = next(cls.__module__ for cls in type(model).__mro__ if "term_sum" in vars(cls)).partition(".")[0]
    for verb in _VERBS:
        owner = _owner(model, verb)
        if owner is not None and not owner.startswith(f"{home}."):
            raise _NotLinear(f"{_name(model)} has a {verb} of its own, which is not read as a sum")
    found = model.term_sum()
    if not isinstance(found, TermSum):
        raise _NotLinear(f"{_name(model)} is not a sum of functions of one feature: {found}")
    return found.form()


def _refuse_own_verbs(model: Any) -> None:
    """What predicts in a way that is not scikit-learn's may do anything with its coefficients."""
    kind: Any = type(model)
    for verb in (*_VERBS, *_helpers(kind)):
        owner = _owner(model, verb)
        if owner is not None and not owner.startswith("sklearn."):
            raise _NotLinear(f"{_name(model)} has a {verb} of its own, which is not read as a linear model")


@lru_cache(maxsize=64)
def _helpers(kind: type) -> list[str]:
    """The methods and properties of scikit-learn's that predictions may go through; fitting is another matter."""
    theirs = (cls for cls in kind.__mro__ if cls.__module__.startswith("sklearn."))
    found = {name for cls in theirs for name, part in vars(cls).items() if callable(part) or hasattr(part, "__get__")}
    return sorted(name for name in found if not name.startswith(_NOT_FOR_PREDICTION))


def _owner(model: Any, verb: str) -> str | None:
    """The module that a method of an object comes from."""
    if verb in getattr(model, "__dict__", ()):
        return "the object"
    return next((cls.__module__ for cls in type(model).__mro__ if verb in vars(cls)), None)


def _estimator(model: Any) -> LinearForm:
    """Coefficients and intercept of a fitted estimator."""
    coefficients = model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_
    try:
        weights = np.atleast_2d(np.asarray(coefficients, dtype=np.float64)).T
        intercept = np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64))
    except (TypeError, ValueError):
        raise _NotLinear(f"the coef_ and intercept_ of {_name(model)} are no arrays of numbers") from None
    n_outputs = weights.shape[-1]
    if weights.ndim != 2 or intercept.shape not in ((1,), (n_outputs,)):
        raise _NotLinear(
            f"{_name(model)} has coefficients of shape {np.shape(coefficients)} and {intercept.size} intercepts, which"
            " are not read"
        )
    if len(weights) != getattr(model, "n_features_in_", len(weights)):
        raise _NotLinear(f"{_name(model)} has {len(weights)} coefficients for {model.n_features_in_} columns")
    if type(model).__module__.startswith("sklearn.cross_decomposition"):
        # Partial least squares centres its columns; the intercept is what it predicts at zero.
        intercept = np.ravel(model.predict(np.zeros((1, len(weights))))).astype(np.float64)
    return LinearForm(
        numbers,
        weights,
        np.broadcast_to(intercept, (n_outputs,)).copy(),
        np.arange(len(weights)),
        _link(model, n_outputs),
    )


def _link(model: Any, n_outputs: int) -> Link:
    """The link that the kind of estimator speaks for; the predictions decide."""
    names = {parent.__name__ for parent in type(model).__mro__}
    if hasattr(model, "classes_"):
        if not _is_logistic(model, names, n_outputs):
            return "identity"
        return "logit" if n_outputs == 1 else "softmax"
    if "TweedieRegressor" in names:
        return "log" if model.link == "log" or (model.link == "auto" and model.power > 0) else "identity"
    return "log" if names & _LOG_LINK else "identity"


def _is_logistic(model: Any, names: set[str], n_outputs: int) -> bool:
    """Whether probabilities are the logistic function of one sum, or the softmax of several.

    Where all of them are near 0 or 1 the predictions would not tell: other functions of the sums are there, too.
    """
    if "LogisticRegression" in names:
        usual = getattr(model, "multi_class", "auto") in ("auto", "deprecated")
        return usual and (n_outputs == 1 or model.solver != "liblinear")
    if "SGDClassifier" in names:
        return n_outputs == 1 and model.loss == "log_loss"
    return "LinearDiscriminantAnalysis" in names


def numbers(table: Any) -> FloatArray:
    """A table of numbers as scikit-learn's linear models read it, filled in if it is sparse."""
    if isinstance(table, np.ndarray) and table.dtype == np.float64 and table.ndim == 2:
        return table
    from sklearn.utils import check_array

    matrix = check_array(table, accept_sparse=True, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0)
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


# -- estimators around estimators --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Steps:
    """The transformers one after another, then the encoding of the model behind them."""

    steps: tuple[Any, ...]
    last: Callable[[Any], FloatArray]

    def __call__(self, table: Any) -> FloatArray:
        with quietly():
            for step in self.steps:
                table = step.transform(table)
        return self.last(table)


def _pipeline(model: Any) -> LinearForm:
    """Steps that work column by column, and a linear model at the end."""
    last = model.steps[-1][1]
    if is_absent(last):
        raise _NotLinear(f"{_name(model)} ends with {last!r}: it holds no model")
    form = _read(last)
    steps = tuple(step for _, step in model.steps[:-1] if not is_absent(step))
    source = chained(steps)
    return replace(
        form, encode=_Steps(steps, form.encode), source=form.source if source is None else source[form.source]
    )


def _search(model: Any) -> LinearForm:
    """GridSearchCV and its like: the estimator that was refitted."""
    if not hasattr(model, "best_estimator_"):
        raise _NotLinear(f"{_name(model)} with refit=False holds no model")
    return _read(model.best_estimator_)


def _inside(model: Any) -> LinearForm:
    """FrozenEstimator, classifiers with a threshold (which is for labels, not for scores), RANSAC."""
    return _read(getattr(model, "estimator_", model.estimator))


def _transformed_target(model: Any) -> LinearForm:
    """A target that was transformed: linear again if the inverse is, and on the log scale if it is the exponential."""
    form = _read(model.regressor_)
    if form.link != "identity":
        raise _NotLinear(f"{_name(model)} around {_name(model.regressor_)} has two links, one upon the other")
    if model.transformer is None and model.inverse_func is np.exp:
        return replace(form, link="log")
    if not _is_affine(model):
        raise _NotLinear(f"{_name(model)} with an inverse that is neither linear nor exp does not add up")
    slope, shift = _affine(model, form.weights.shape[1])
    return replace(form, weights=form.weights @ slope, intercept=form.intercept @ slope + shift)


def _is_affine(model: Any) -> bool:
    """Whether the inverse transformation of a target is known to be linear; what bends far away looks linear as
    well.
    """
    if model.transformer is None:
        return model.inverse_func in (None, np.negative, np.positive)
    kind = type(model.transformer_)
    return kind.__module__.startswith("sklearn.") and kind.__name__ in _AFFINE


def _affine(model: Any, n: int) -> tuple[FloatArray, FloatArray]:
    """``slope, shift`` of the inverse transformation of a target, from what it does to points that span the space."""
    found = np.asarray(model.transformer_.inverse_transform(np.vstack([np.zeros((1, n)), np.eye(n)])))
    return found[1:] - found[0], found[0]


def _name(model: Any) -> str:
    return type(model).__name__


_WRAPPERS: dict[str, Callable[[Any], LinearForm]] = {
    "Pipeline": _pipeline,
    "BaseSearchCV": _search,
    "FrozenEstimator": _inside,
    "BaseThresholdClassifier": _inside,
    "RANSACRegressor": _inside,
    "TransformedTargetRegressor": _transformed_target,
}
