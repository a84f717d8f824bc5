"""scikit-learn pipelines: steps that work column by column, then trees.

The matrix is made by the transformers themselves; what is known here is only which input column each of its
columns comes from. A step that mixes columns, or one whose working is not known, is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.trees.convert.registry import convert as convert_any
from pellucid.trees.convert.tables import dense
from pellucid.trees.convert.tree_model import TreeModel, Unsupported


@dataclass(frozen=True, eq=False)
class _Steps:
    """The transformers one after another, then the model's own encoding."""

    steps: tuple[Any, ...]
    final: TreeModel

    def __call__(self, table: Any) -> FloatArray:
        for step in self.steps:
            table = step.transform(table)
        return self.final.encode(dense(table, self.final.fill))


def convert(model: Any) -> TreeModel:
    """The trees at the end of a pipeline, on its input columns."""
    last = model.steps[-1][1]
    if _absent(last):
        raise Unsupported(f"{type(model).__name__} ends with {last!r}: it holds no model")
    final = convert_any(last)
    steps = tuple(step for _, step in model.steps[:-1] if not _absent(step))
    if not steps:
        return final
    source = _chained([sources(step) for step in steps])
    return replace(
        final,
        encode=_Steps(steps, final),
        source=final.source if source is None else source[final.source],
        fill=0.0,
    )


def sources(step: Any) -> IntArray | None:
    """For each column that a fitted transformer makes, the input column it is made from; None: the same ones."""
    if _absent(step):
        return None
    kind = type(step)
    if kind.__module__.startswith("sklearn."):
        if kind.__name__ in _ONE_TO_ONE:
            return None
        if kind.__name__ in _SOURCES:
            return _SOURCES[kind.__name__](step)
        if callable(getattr(step, "get_support", None)):
            return np.asarray(step.get_support(indices=True))
    raise Unsupported(f"{kind.__name__} in a pipeline is not known to work column by column")


def _absent(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _chained(steps: list[IntArray | None]) -> IntArray | None:
    total: IntArray | None = None
    for source in steps:
        if source is not None:
            total = source if total is None else total[source]
    return total


def _of_pipeline(step: Any) -> IntArray | None:
    return _chained([sources(inner) for _, inner in step.steps])


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
    if step.func is not None and not (isinstance(step.func, np.ufunc) and step.func.nin == 1):
        name = getattr(step.func, "__name__", repr(step.func))
        raise Unsupported(f"FunctionTransformer with func={name} is not known to work column by column")


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
    "FrozenEstimator": _of_frozen,
}
