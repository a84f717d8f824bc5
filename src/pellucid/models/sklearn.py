"""scikit-learn estimators and pipelines, and any object with predict, predict_proba or decision_function.

A pipeline is explained on its input columns: encoders inside it stay inside.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from pellucid.data.frames.doorway import library_of
from pellucid.models.adapter import Adapter, Containers, OneHot, Predict, Scale, Task, unfitted

_NAMED: Containers = {
    "polars": ("polars", "pandas"),  # scikit-learn's own transformers read polars, others may not
    **dict.fromkeys(("arrow", "records", "numpy", "sparse"), ("pandas",)),
}
_UNNAMED: Containers = dict.fromkeys(("pandas", "polars", "arrow", "records"), ("numpy",))


class _Asking(NamedTuple):
    """How an estimator is asked, and what its numbers are."""

    predict: Predict
    task: Task
    scale: Scale
    classes: tuple[Any, ...] | None = None
    output_names: tuple[str, ...] | None = None


def adapt(model: Any) -> Adapter:
    """Probabilities for a classifier, distances or memberships for a clusterer, else predictions."""
    final = _final(model)
    name = type(final).__name__
    _refuse_unfitted(model, name)
    native = "sklearn" in library_of(model)
    names = getattr(model, "feature_names_in_", None)
    asking = _asking(model, final)
    return Adapter(
        library="scikit-learn" if native else "any estimator",
        name=name,
        feature_names=None if names is None else tuple(str(column) for column in names),
        n_features=getattr(model, "n_features_in_", None),
        containers=_containers(model) if native else {},
        opaque=not native and asking.classes is None,
        **asking._asdict(),
    )


def _final(model: Any) -> Any:
    """The estimator at the end of pipelines and searches."""
    if getattr(model, "best_estimator_", None) is not None:
        return _final(model.best_estimator_)
    steps = getattr(model, "steps", None)
    return _final(steps[-1][1]) if isinstance(steps, list) and steps else model


def _refuse_unfitted(model: Any, name: str) -> None:
    """Asks scikit-learn, for estimators that follow its conventions; others tell by their first prediction."""
    conventional = type(model).__module__.startswith("sklearn.")
    if not conventional and not callable(getattr(model, "__sklearn_is_fitted__", None)):
        return
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError:
        raise unfitted(name) from None


def _verb(model: Any, name: str) -> Predict | None:
    found = getattr(model, name, None)
    return found if callable(found) else None


def _asking(model: Any, final: Any) -> _Asking:
    proba, predict = _verb(model, "predict_proba"), _verb(model, "predict")
    decide = _verb(model, "decision_function")
    labels = getattr(model, "classes_", None)
    if proba is not None:
        return _probabilities(proba, labels, final)
    if labels is not None and not _per_target(labels):
        classes = tuple(np.asarray(labels).tolist())
        if decide is not None:
            return _decision(decide, classes, final)
        if predict is not None:
            return _Asking(OneHot(predict, classes), "classification", "probability", classes)
    if _is_clusterer(model):
        return _clusters(model, final)
    if decide is not None and (predict is None or _verb(model, "score_samples") is not None):
        return _Asking(decide, "scores", "score")
    return _Asking(model.predict, "regression", "response")


def _per_target(labels: Any) -> bool:
    """Whether classes_ lists the classes of several targets."""
    return isinstance(labels, list) and bool(labels) and np.ndim(labels[0]) == 1


def _probabilities(proba: Predict, labels: Any, final: Any) -> _Asking:
    if labels is None:
        count = int(getattr(final, "n_components", 0))
        names = tuple(f"component {k}" for k in range(count)) or None
        return _Asking(proba, "scores", "probability", output_names=names)
    if _per_target(labels):
        names = tuple(f"target {t}: {label}" for t, some in enumerate(labels) for label in _shown(some))
        return _Asking(proba, "scores", "probability", output_names=names)
    return _Asking(proba, "classification", "probability", tuple(np.asarray(labels).tolist()))


def _shown(labels: Any) -> list[Any]:
    """Columns that are kept of one target: the second of two, else all."""
    listed: list[Any] = np.asarray(labels).tolist()
    return listed[1:] if len(listed) == 2 else listed


def _decision(decide: Predict, classes: tuple[Any, ...], final: Any) -> _Asking:
    if getattr(final, "decision_function_shape", None) == "ovo" and len(classes) > 2:
        names = tuple(f"{first} vs {second}" for first, second in combinations(classes, 2))
        return _Asking(decide, "scores", "score", output_names=names)
    return _Asking(decide, "classification", "score", classes)


def _is_clusterer(model: Any) -> bool:
    if "sklearn" not in library_of(model):
        return getattr(model, "cluster_centers_", None) is not None
    from sklearn.base import is_clusterer

    return bool(is_clusterer(model))


def _clusters(model: Any, final: Any) -> _Asking:
    """Distances to the centres, or the membership where a clusterer knows no distances."""
    distances = _verb(model, "transform")
    if distances is None:
        clusters = tuple(np.unique(final.labels_).tolist())
        names = tuple(f"cluster {k}" for k in clusters)
        return _Asking(OneHot(model.predict, clusters), "scores", "probability", output_names=names)
    centres = getattr(final, "cluster_centers_", ())
    names = tuple(f"distance to cluster {k}" for k in range(len(centres)))
    return _Asking(distances, "scores", "distance", output_names=names or None)


def _containers(model: Any) -> Containers:
    """What a scikit-learn estimator was trained with, as far as it remembers."""
    if getattr(model, "feature_names_in_", None) is not None:
        return _NAMED
    return {} if getattr(model, "n_features_in_", None) is None else _UNNAMED
