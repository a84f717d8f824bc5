"""Which input column each column of a transformed table comes from, for scikit-learn's transformers that work column by
column.

What a transformer makes of a column is left to the transformer; known here is only where its columns come from. A
step that mixes columns, or one whose working is not known, is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pellucid.arrays import IntArray
from pellucid.errors import PellucidError


class Mixing(PellucidError):
    """A transformer that is not known to work column by column; the message names it."""


def sources(step: Any) -> IntArray | None:
    """For each column that a fitted transformer makes, the input column it is made from; None: the same ones."""
    if is_absent(step):
        return None
    kind = type(step)
    if kind.__module__.startswith("sklearn.") and "transform" not in vars(step):
        if kind.__name__ in _ONE_TO_ONE:
            return None
        if kind.__name__ in _SOURCES:
            return _SOURCES[kind.__name__](step)
        if callable(getattr(step, "get_support", None)):
            return np.asarray(step.get_support(indices=True))
    raise Mixing(f"{kind.__name__} in a pipeline is not known to work column by column")


def is_absent(step: Any) -> bool:
    """Whether a step of a pipeline does nothing."""
    return step is None or (isinstance(step, str) and step == "passthrough")


def chained(steps: Iterable[Any]) -> IntArray | None:
    """The sources of transformers that work one after another."""
    total: IntArray | None = None
    for step in steps:
        source = sources(step)
        if source is not None:
            total = source if total is None else total[source]
    return total


def _of_pipeline(step: Any) -> IntArray | None:
    return chained(inner for _, inner in step.steps)


def _of_columns(step: Any) -> IntArray:
    """ColumnTransformer: the blocks of its transformers in order."""
    parts: list[IntArray] = []
    for name, inner, _ in step.transformers_:
        indices = np.asarray(step._transformer_to_input_indices[name], dtype=np.intp)
        if (isinstance(inner, str) and inner == "drop") or not len(indices):
            continue
        source = sources(inner)
        parts.append(indices if source is None else indices[source])
    return np.concatenate([np.empty(0, np.intp), *parts])


def _of_union(step: Any) -> IntArray:
    parts: list[IntArray] = []
    for _, inner in step.transformer_list:
        if not (isinstance(inner, str) and inner == "drop"):
            source = sources(inner)
            parts.append(np.arange(step.n_features_in_) if source is None else source)
    return np.concatenate([np.empty(0, np.intp), *parts])


def _of_function(step: Any) -> None:
    """FunctionTransformer: no function, or one of numpy's that work number by number."""
    known = isinstance(step.func, np.ufunc) and step.func.nin == 1 and not step.kw_args
    if step.func is not None and not known:
        name = getattr(step.func, "__name__", repr(step.func))
        raise Mixing(f"FunctionTransformer with func={name} is not known to work column by column")


def _of_one_hot(step: Any) -> IntArray:
    return np.repeat(np.arange(len(step.categories_)), step._n_features_outs)


def _of_imputer(step: Any) -> IntArray:
    """SimpleImputer: columns without any value fall away, indicators of missing values come last."""
    empty = [not step.keep_empty_features and _is_nan(value) for value in step.statistics_]
    kept = np.flatnonzero(~np.array(empty, dtype=np.bool_))
    if not step.add_indicator:
        return kept
    return np.concatenate([kept, np.asarray(step.indicator_.features_, dtype=np.intp)])


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _of_indicator(step: Any) -> IntArray:
    return np.asarray(step.features_, dtype=np.intp)


def _of_target(step: Any) -> IntArray | None:
    if step.target_type_ != "multiclass":
        return None
    return np.repeat(np.arange(step.n_features_in_), len(step.classes_))


def _of_bins(step: Any) -> IntArray | None:
    return None if step.encode == "ordinal" else np.repeat(np.arange(step.n_features_in_), step.n_bins_)


def _of_splines(step: Any) -> IntArray:
    """SplineTransformer: equally many basis functions of each column, one column after the other."""
    return np.repeat(np.arange(step.n_features_in_), step.n_features_out_ // step.n_features_in_)


def _of_powers(step: Any) -> IntArray:
    """PolynomialFeatures, where no term has two columns; the constant goes to the first."""
    if (np.count_nonzero(step.powers_, axis=1) > 1).any():
        raise Mixing("PolynomialFeatures with products of columns does not work column by column")
    return np.asarray(step.powers_.argmax(axis=1), dtype=np.intp)


def _of_frozen(step: Any) -> IntArray | None:
    return sources(step.estimator)


_ONE_TO_ONE = {
    "StandardScaler",
    "MinMaxScaler",
    "RobustScaler",
    "MaxAbsScaler",
    "PowerTransformer",
    "QuantileTransformer",
    "Binarizer",
    "OrdinalEncoder",
}
_SOURCES: dict[str, Callable[[Any], IntArray | None]] = {
    "Pipeline": _of_pipeline,
    "ColumnTransformer": _of_columns,
    "FeatureUnion": _of_union,
    "FunctionTransformer": _of_function,
    "OneHotEncoder": _of_one_hot,
    "SimpleImputer": _of_imputer,
    "MissingIndicator": _of_indicator,
    "TargetEncoder": _of_target,
    "KBinsDiscretizer": _of_bins,
    "SplineTransformer": _of_splines,
    "PolynomialFeatures": _of_powers,
    "FrozenEstimator": _of_frozen,
}
