"""Unfitted copies of estimators by the scikit-learn protocol, and what their ``fit`` knows of columns and weights.

XGBoost, LightGBM and CatBoost are known by their parameters and attributes; none of them is imported.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

# Parameters of estimators that refer to columns by position or name.
_ABOUT_COLUMNS = {
    "categorical_features",
    "categorical_feature",
    "cat_features",
    "text_features",
    "embedding_features",
    "ignored_features",
    "monotonic_cst",
    "monotone_constraints",
    "interaction_cst",
    "interaction_constraints",
    "feature_types",
    "feature_weights",
    "feature_contri",
    "per_float_feature_quantization",
}


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
    params = model.get_params() if is_estimator(model) else {}
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


def is_estimator(model: Any) -> bool:
    """Whether a model follows the scikit-learn protocol."""
    return (
        not isinstance(model, type)
        and callable(getattr(model, "fit", None))
        and callable(getattr(model, "get_params", None))
        and callable(getattr(model, "set_params", None))
    )


def has_parameter(function: Callable[..., Any], name: str) -> bool:
    """Whether a function has a parameter of this name."""
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def weight_keyword(model: Any) -> str | None:
    """What ``fit`` calls the row weights; None where it takes none."""
    steps = getattr(model, "steps", None)
    if isinstance(steps, list) and steps:
        inner = weight_keyword(steps[-1][1])
        return None if inner is None else f"{steps[-1][0]}__{inner}"
    if not is_estimator(model):
        return None
    searched = getattr(model, "estimator", None) if hasattr(model, "cv") else None
    if searched is not None:
        return weight_keyword(searched)
    return "sample_weight" if has_parameter(model.fit, "sample_weight") else None


def refers_to_columns(model: Any) -> bool:
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
