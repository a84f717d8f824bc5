"""CatBoost: CatBoostClassifier, CatBoostRegressor and the plain CatBoost class."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.errors import InputError
from pellucid.models.adapter import Adapter, container_from

_CLASSIFYING = ("Logloss", "CrossEntropy", "MultiClass", "MultiClassOneVsAll")


def adapt(model: Any) -> Adapter:
    """Probabilities where the loss is a classification loss, else raw predictions."""
    if not model.is_fitted():
        raise InputError(
            f"the model {type(model).__name__} is not fitted; call model.fit(X, y) before explaining it."
        )
    loss = str(model.get_all_params().get("loss_function", "RMSE")).partition(":")[0]
    names = tuple(str(name) for name in model.feature_names_ or ())
    automatic = all(name == str(j) for j, name in enumerate(names))
    shared: dict[str, Any] = {
        "library": "catboost",
        "name": type(model).__name__,
        "feature_names": None if automatic else names,
        "n_features": len(names) or None,
        "container": container_from(
            {"polars": "pandas", "arrow": "pandas", "records": "pandas"}
            | ({} if automatic else {"numpy": "pandas"})
        ),
    }
    if loss not in _CLASSIFYING:
        return Adapter(predict=model.predict, **shared)
    classes = tuple(np.asarray(model.classes_).tolist()) or (0, 1)
    return Adapter(
        predict=lambda table: model.predict(table, prediction_type="Probability"),
        task="classification",
        scale="probability",
        classes=classes,
        **shared,
    )
