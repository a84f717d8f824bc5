"""LightGBM: the scikit-learn classes and native Boosters, with pandas categories and missing values."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from pellucid.models.adapter import NO_POLARS, Adapter, Containers, no_model, unfitted
from pellucid.models.sklearn import adapt as adapt_estimator

# The estimators want the names they were trained with; only a matrix of category codes cannot have them.
_NAMED: Containers = {**NO_POLARS, "numpy": ("pandas", "numpy")}
_BOOSTER: Containers = {**NO_POLARS, "numpy": ("numpy", "pandas")}


def adapt(model: Any) -> Adapter:
    """Boosters return probabilities by themselves for classification objectives."""
    import lightgbm

    if isinstance(model, lightgbm.Booster):
        return _booster(model)
    if not isinstance(model, lightgbm.LGBMModel):
        raise no_model(model, "lightgbm", "a fitted estimator or Booster")
    known = adapt_estimator(model)
    columns = _training_columns(model.booster_)
    if columns["feature_names"] is not None:
        columns["containers"] = _NAMED
    adapter = replace(known, library="lightgbm", **columns)
    if callable(model.objective_) and known.scale == "probability":  # LightGBM cannot know its inverse link
        return replace(adapter, predict=partial(model.predict, raw_score=True), scale="score")
    return adapter


def _underscored(name: str) -> str:
    """LightGBM writes spaces in names as underscores."""
    return name.replace(" ", "_")


def _header(booster: Any, key: str) -> str:
    """One line of the head of a model's text."""
    lines = booster.model_to_string(num_iteration=1).splitlines()
    return next((line.partition("=")[2] for line in lines if line.startswith(f"{key}=")), "")


def _training_columns(booster: Any) -> dict[str, Any]:
    names = tuple(booster.feature_name())
    automatic = all(name == f"Column_{j}" for j, name in enumerate(names))
    return {
        "feature_names": None if automatic else names,
        "canonical": _underscored,
        "containers": _BOOSTER,
        "categories": _categories(booster, names),
    }


def _categories(booster: Any, names: tuple[str, ...]) -> dict[str, tuple[Any, ...]]:
    """Levels of the columns that were pandas categories; LightGBM stores them without the columns' names."""
    levels = booster.pandas_categorical or []
    info = _header(booster, "feature_infos").split(" ")
    for unlike in (("[", "none"), ("[",)):  # a number is "[low:high]", a column that is never used "none"
        columns = [name for name, text in zip(names, info, strict=True) if not text.startswith(unlike)]
        if len(columns) == len(levels):
            return {name: tuple(some) for name, some in zip(columns, levels, strict=True)}
    return {}


def _booster(model: Any) -> Adapter:
    if not model.num_trees():
        raise unfitted("Booster")
    return Adapter(
        library="lightgbm",
        name="Booster",
        predict=model.predict,
        n_features=int(model.num_feature()),
        **_meaning(_header(model, "objective"), int(model.num_model_per_iteration())),
        **_training_columns(model),
    )


def _meaning(objective: str, n_classes: int) -> dict[str, Any]:
    """What the numbers of an objective are; LightGBM numbers its classes from 0."""
    if objective.startswith(("binary", "multiclass")):
        classes = tuple(range(max(n_classes, 2)))
        return {"task": "classification", "scale": "probability", "classes": classes}
    if objective.startswith("cross_entropy"):
        return {"scale": "probability"}
    if objective.startswith(("lambdarank", "rank_xendcg")) or n_classes > 1:
        return {"task": "scores", "scale": "score"}
    return {}
