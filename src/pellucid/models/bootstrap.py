"""Which rows the first tree of a forest was grown on: drawn with replacement, by a seed that the model keeps."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.arrays import IntArray


def first_draw(model: Any, n: int) -> IntArray | None:
    """How often each of n training rows was drawn for the first tree; None where nothing was drawn, or it is unknown.

    scikit-learn's forests and bagged trees draw anew from their seeds when asked (``estimators_samples_``); forests of
    releases that do not say it draw ``RandomState(seed).randint(0, n, n)`` for each tree.
    """
    forest = _last(model)
    if not getattr(forest, "bootstrap", False) or not len(getattr(forest, "estimators_", ())):
        return None
    try:
        drawn = np.asarray(forest.estimators_samples_[0])
    except AttributeError:
        seed = getattr(forest.estimators_[0], "random_state", None)
        if not isinstance(seed, int | np.integer) or forest.max_samples is not None:
            return None
        drawn = np.random.RandomState(seed).randint(0, n, n, dtype=np.int32)
    if drawn.dtype == bool or not len(drawn) or int(drawn.max()) >= n:
        return None
    return np.bincount(drawn, minlength=n)


def _last(model: Any) -> Any:
    """The model at the end of pipelines and searches."""
    while True:
        steps, best = getattr(model, "steps", None), getattr(model, "best_estimator_", None)
        if isinstance(steps, list) and steps:
            model = steps[-1][1]
        elif best is not None:
            model = best
        else:
            return model
