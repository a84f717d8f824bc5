"""XGBoost: the scikit-learn classes and native Boosters, with categorical columns and missing values."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from pellucid.models.adapter import Adapter, Scale, Task, container_from
from pellucid.models.sklearn import adapt as adapt_estimator

_CONTAINER = container_from({"polars": "pandas", "arrow": "pandas", "records": "pandas"})


def adapt(model: Any) -> Adapter:
    """Boosters are asked through a DMatrix; estimators through their own predict_proba or predict."""
    from dataclasses import replace

    import xgboost

    if not isinstance(model, xgboost.Booster):
        known = adapt_estimator(model)
        names = model.get_booster().feature_names
        container = (
            container_from({"numpy": "pandas", "polars": "pandas", "arrow": "pandas", "records": "pandas"})
            if names
            else _CONTAINER
        )
        return replace(
            known,
            library="xgboost",
            feature_names=None if names is None else tuple(names),
            container=container,
        )
    return _booster(model, xgboost)


def _booster(model: Any, xgboost: Any) -> Adapter:
    learner = json.loads(model.save_config())["learner"]
    objective = learner["learner_train_param"]["objective"]
    n_classes = int(learner["learner_model_param"].get("num_class", 0))
    names = model.feature_names

    def predict(table: Any) -> Any:
        matrix = xgboost.DMatrix(table, enable_categorical=True, feature_names=names)
        if objective == "multi:softmax":  # its predict gives labels: softmax the margins instead
            margin = model.predict(matrix, output_margin=True)
            powers = np.exp(margin - margin.max(axis=1, keepdims=True))
            return powers / powers.sum(axis=1, keepdims=True)
        return model.predict(matrix)

    task: Task = "regression"
    scale: Scale = "response"
    classes: tuple[Any, ...] | None = None
    if n_classes > 1 or objective in ("binary:logistic", "reg:logistic"):
        task, scale = "classification", "probability"
        classes = tuple(range(max(n_classes, 2)))
    elif objective in ("binary:logitraw", "binary:hinge"):
        scale = "log-odds" if objective == "binary:logitraw" else "score"
    return Adapter(
        library="xgboost",
        name="Booster",
        predict=predict,
        task=task,
        scale=scale,
        classes=classes,
        feature_names=None if names is None else tuple(names),
        n_features=int(model.num_features()),
        container=container_from(
            {"polars": "pandas", "arrow": "pandas", "records": "pandas"}
            | ({"numpy": "pandas"} if names else {})
        ),
    )
