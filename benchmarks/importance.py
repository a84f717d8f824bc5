"""Permutation importance against scikit-learn, alibi and dalex."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from effects import dalex_explainer
from line import Line
from peers import available
from workloads import NUMERIC, Workload

REPEATS = 5
_RANDOM = (None, "other random shuffles")


def importance_lines(workload: Workload) -> Iterator[Line]:
    """Mean increase of the squared error over five shuffles of each feature."""
    peers = {"scikit-learn": _sklearn}
    if workload.is_numpy and available("alibi"):
        peers["alibi"] = _alibi
    if available("dalex"):
        peers["dalex"] = _dalex_parts
    for name, ask in peers.items():
        yield Line(
            "importance",
            workload,
            name,
            lambda ex: ex.importance(repeats=REPEATS),
            lambda ask=ask: ask(workload),
            *_RANDOM,
        )


def _sklearn(w: Workload) -> np.ndarray:
    from sklearn.inspection import permutation_importance

    found = permutation_importance(
        w.model, w.X, w.y, scoring="neg_mean_squared_error", n_repeats=REPEATS, random_state=0
    )
    return found.importances_mean


def _alibi(w: Workload) -> np.ndarray:
    from alibi.explainers import PermutationImportance

    explainer = PermutationImportance(
        w.model.predict, loss_fns="mean_squared_error", feature_names=list(NUMERIC), verbose=False
    )
    found = explainer.explain(w.X, w.y, kind="difference", n_repeats=REPEATS)
    return np.array([one["mean"] for one in found.data["feature_importance"][0]])


def _dalex_parts(w: Workload) -> np.ndarray:
    found = dalex_explainer(w).model_parts(loss_function=_mse, type="difference", N=None, B=REPEATS, random_state=0)
    table = found.result.set_index("variable")["dropout_loss"]
    names = NUMERIC if w.is_numpy else tuple(w.X.columns)
    return table.loc[list(names)].to_numpy()


def _mse(y: np.ndarray, prediction: np.ndarray) -> float:
    return float(np.square(y - prediction).mean())
