"""XGBoost: the scikit-learn classes and native Boosters, with categorical columns and missing values."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from pellucid.models.adapter import NO_POLARS, Adapter, Containers, no_model, unfitted
from pellucid.models.sklearn import adapt as adapt_estimator

# A matrix of numbers holds the codes of categories; a matrix with text needs pandas to hold categories.
_CONTAINERS: Containers = {**NO_POLARS, "numpy": ("numpy", "pandas")}


def adapt(model: Any) -> Adapter:
    """Boosters are asked through a DMatrix; estimators through their own predict_proba or predict."""
    import xgboost

    with xgboost.config_context(verbosity=0):  # what it says of boosters that it will give up one day
        if isinstance(model, xgboost.Booster):
            return _booster(model)
        if not isinstance(model, xgboost.XGBModel):
            raise no_model(model, "xgboost", "a fitted estimator or Booster")
        known = adapt_estimator(model)
        return replace(known, library="xgboost", **_training_columns(model.get_booster()))


@dataclass(frozen=True)
class _Ask:
    """A Booster asked with a table."""

    booster: Any

    def __call__(self, table: Any) -> Any:
        import xgboost

        names = self.booster.feature_names
        matrix = xgboost.DMatrix(table, enable_categorical=True, feature_names=names)
        with xgboost.config_context(verbosity=0):
            return self.booster.predict(matrix)


def _training_columns(booster: Any) -> dict[str, Any]:
    names = booster.feature_names
    return {
        "feature_names": None if names is None else tuple(names),
        "containers": _CONTAINERS,
        "categories": _categories(booster),
    }


def _categories(booster: Any) -> dict[str, tuple[Any, ...]]:
    """Levels of the categorical columns, which XGBoost keeps since 3.1 and hands out through pyarrow."""
    if "c" not in (booster.feature_types or ()) or not hasattr(booster, "get_categories"):
        return {}
    try:
        stored = booster.get_categories(export_to_arrow=True).to_arrow()
    except ImportError:
        return {}
    return {name: tuple(levels.to_pylist()) for name, levels in stored if levels is not None}


def _booster(model: Any) -> Adapter:
    import xgboost

    try:
        n_features = int(model.num_features())
    except xgboost.core.XGBoostError:
        raise unfitted("Booster") from None
    learner = json.loads(model.save_config())["learner"]
    objective = learner["learner_train_param"]["objective"]
    if objective == "multi:softmax":  # its predict gives labels; the same trees give probabilities
        model = model.copy()
        model.set_param({"objective": "multi:softprob"})
    return Adapter(
        library="xgboost",
        name="Booster",
        predict=_Ask(model),
        n_features=n_features,
        **_meaning(objective, int(learner["learner_model_param"].get("num_class", 0))),
        **_training_columns(model),
    )


def _meaning(objective: str, n_classes: int) -> dict[str, Any]:
    """What the numbers of an objective are; XGBoost numbers its classes from 0."""
    if objective == "binary:logistic" or objective.startswith("multi:"):
        classes = tuple(range(max(n_classes, 2)))
        return {"task": "classification", "scale": "probability", "classes": classes}
    if objective == "binary:logitraw":
        return {"task": "classification", "scale": "log-odds", "classes": (0, 1)}
    if objective == "reg:logistic":
        return {"scale": "probability"}
    if objective.startswith("rank:"):
        return {"task": "scores", "scale": "score"}
    return {}
