"""LightGBM: the scikit-learn classes and native Boosters, with pandas categories and missing values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pellucid.models.adapter import Adapter, Scale, Task, container_from
from pellucid.models.sklearn import adapt as adapt_estimator

_CONTAINER = container_from({"polars": "pandas", "arrow": "pandas", "records": "pandas"})


def adapt(model: Any) -> Adapter:
    """Boosters return probabilities by themselves for classification objectives."""
    import lightgbm

    if not isinstance(model, lightgbm.Booster):
        known = adapt_estimator(model)
        named = known.feature_names is not None and not _automatic(known.feature_names)
        container = (
            container_from({"numpy": "pandas", "polars": "pandas", "arrow": "pandas", "records": "pandas"})
            if named
            else _CONTAINER
        )
        return replace(
            known,
            library="lightgbm",
            feature_names=known.feature_names if named else None,
            container=container,
        )
    return _booster(model)


def _automatic(names: tuple[str, ...]) -> bool:
    return all(name == f"Column_{j}" for j, name in enumerate(names))


def _booster(model: Any) -> Adapter:
    text = model.model_to_string(num_iteration=1)
    objective = next(
        (line.split("=", 1)[1] for line in text.splitlines() if line.startswith("objective=")), ""
    )
    n_classes = int(model.num_model_per_iteration())
    names = tuple(model.feature_name())
    task: Task = "regression"
    scale: Scale = "response"
    classes: tuple[Any, ...] | None = None
    if n_classes > 1 or objective.startswith(("binary", "cross_entropy")):
        task, scale, classes = "classification", "probability", tuple(range(max(n_classes, 2)))
    return Adapter(
        library="lightgbm",
        name="Booster",
        predict=model.predict,
        task=task,
        scale=scale,
        classes=classes,
        feature_names=None if _automatic(names) else names,
        n_features=int(model.num_feature()),
        container=_CONTAINER,
    )
