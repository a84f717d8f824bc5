"""CatBoost: CatBoostClassifier, CatBoostRegressor and the plain CatBoost class."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from pellucid.models.adapter import NO_POLARS, Adapter, no_model, unfitted

_EXCLUSIVE = ("Logloss", "CrossEntropy", "MultiClass", "MultiClassOneVsAll")
_LABELS = ("MultiLogloss", "MultiCrossEntropy")


def adapt(model: Any) -> Adapter:
    """Probabilities where the loss is a classification loss, else raw predictions."""
    import catboost

    if not isinstance(model, catboost.CatBoost):
        raise no_model(model, "catboost", "a fitted CatBoostClassifier, CatBoostRegressor or CatBoost")
    if not model.is_fitted():
        raise unfitted(type(model).__name__)
    names = tuple(str(name) for name in model.feature_names_)
    automatic = all(name == str(j) for j, name in enumerate(names))
    return Adapter(
        library="catboost",
        name=type(model).__name__,
        feature_names=None if automatic else names,
        n_features=len(names),
        containers=NO_POLARS if automatic else {**NO_POLARS, "numpy": ("pandas",)},
        **_meaning(model),
    )


def _meaning(model: Any) -> dict[str, Any]:
    loss = str(model.get_all_params().get("loss_function", "RMSE")).partition(":")[0]
    probabilities = partial(model.predict, prediction_type="Probability")
    labels = tuple(np.asarray(model.classes_).tolist())
    if loss in _EXCLUSIVE:
        meaning = {"task": "classification", "scale": "probability", "classes": labels or (0, 1)}
        return {"predict": probabilities, **meaning}
    if loss in _LABELS:
        names = tuple(f"label {label}" for label in labels) or None
        return {"predict": probabilities, "task": "scores", "scale": "probability", "output_names": names}
    if loss == "RMSEWithUncertainty":
        return {"predict": model.predict, "output_names": ("mean", "variance")}
    return {"predict": model.predict}
