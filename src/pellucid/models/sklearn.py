"""scikit-learn estimators and pipelines, and any object with predict, predict_proba or decision_function.

A pipeline is explained on its input columns: encoders inside it stay inside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.data.doorway import library_of
from pellucid.errors import InputError
from pellucid.models.adapter import Adapter, Scale, Task, same_container


def adapt(model: Any) -> Adapter:
    """Probabilities for a classifier, distances or memberships for a clusterer, else predictions."""
    _refuse_unfitted(model)
    predict, task, scale, classes = _how(model)
    names = getattr(model, "feature_names_in_", None)
    return Adapter(
        library="scikit-learn" if "sklearn" in library_of(model) else "any estimator",
        name=_name(model),
        predict=predict,
        task=task,
        scale=scale,
        classes=classes,
        output_names=_output_names(model, scale),
        feature_names=None if names is None else tuple(str(name) for name in names),
        n_features=getattr(model, "n_features_in_", None),
        container=_container(model),
    )


def _name(model: Any) -> str:
    steps = getattr(model, "steps", None)
    return type(steps[-1][1]).__name__ if steps else type(model).__name__


def _refuse_unfitted(model: Any) -> None:
    if "sklearn" not in library_of(model):
        return
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError:
        raise InputError(
            f"the model {_name(model)} is not fitted; call model.fit(X, y) before explaining it."
        ) from None
    except TypeError:
        return  # not an estimator in scikit-learn's sense: its first prediction will tell


def _how(model: Any) -> tuple[Callable[[Any], Any], Task, Scale, tuple[Any, ...] | None]:
    classes = _classes(model)
    if callable(getattr(model, "predict_proba", None)):
        task: Task = "classification" if getattr(model, "classes_", None) is not None else "scores"
        return model.predict_proba, task, "probability", classes
    if classes is not None and callable(getattr(model, "decision_function", None)):
        return model.decision_function, "classification", "score", classes
    if classes is not None and callable(getattr(model, "predict", None)):
        return _one_hot(model.predict, classes), "classification", "probability", classes
    if _is_clusterer(model) and callable(getattr(model, "transform", None)):
        return model.transform, "scores", "distance", None
    if callable(getattr(model, "score_samples", None)) and callable(
        getattr(model, "decision_function", None)
    ):
        return model.decision_function, "scores", "score", None
    if callable(getattr(model, "predict", None)):
        return model.predict, "regression", "response", None
    return model.decision_function, "scores", "score", None


def _classes(model: Any) -> tuple[Any, ...] | None:
    classes = getattr(model, "classes_", None)
    if classes is None or isinstance(classes, list):
        return None
    return tuple(np.asarray(classes).tolist())


def _one_hot(predict: Callable[[Any], Any], classes: tuple[Any, ...]) -> Callable[[Any], Any]:
    """A classifier without scores: certainty of the predicted class."""
    position = {label: k for k, label in enumerate(classes)}

    def probabilities(table: Any) -> Any:
        labels = np.asarray(predict(table)).tolist()
        return np.eye(len(classes))[[position[label] for label in labels]]

    return probabilities


def _is_clusterer(model: Any) -> bool:
    return getattr(model, "_estimator_type", None) == "clusterer" or hasattr(model, "cluster_centers_")


def _output_names(model: Any, scale: Scale) -> tuple[str, ...] | None:
    classes = getattr(model, "classes_", None)
    if isinstance(classes, list):  # multi-output classifier: one list of classes per target
        return tuple(f"target {t}: {label}" for t, labels in enumerate(classes) for label in _shown(labels))
    if scale == "distance" and hasattr(model, "cluster_centers_"):
        return tuple(f"distance to cluster {k}" for k in range(len(model.cluster_centers_)))
    if classes is None and hasattr(model, "n_components") and hasattr(model, "predict_proba"):
        return tuple(f"component {k}" for k in range(int(model.n_components)))
    return None


def _shown(labels: Any) -> list[Any]:
    """Columns that are kept of one target: the second of two, else all."""
    listed = np.asarray(labels).tolist()
    return listed[1:] if len(listed) == 2 else listed


def _container(model: Any) -> Callable[[str], str]:
    """What a scikit-learn estimator was trained with, as far as it remembers."""
    if getattr(model, "feature_names_in_", None) is not None:
        return lambda kind: kind if kind in ("pandas", "polars") else "pandas"
    if "sklearn" not in library_of(model) or getattr(model, "n_features_in_", None) is None:
        return same_container
    return lambda kind: kind if kind in ("numpy", "sparse") else "numpy"
