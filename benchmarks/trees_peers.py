"""How the peers of trees.py are asked: each function makes a peer ready and returns the call that is timed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import trees_fast
from trees_measure import Ask, Elsewhere
from trees_models import boosting, lightgbm_model, xgboost_model

GRID = np.linspace(-2, 2, 50)


def frame(X: np.ndarray) -> Any:
    import pandas as pd

    return pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])


def booster(threads: int) -> Any:
    own = xgboost_model().get_booster()
    own.set_param({"nthread": threads})
    return own


def xgboost_predict(X: np.ndarray) -> Callable[[], Any]:
    return lambda: booster(1).inplace_predict(X)  # predict keeps its answer for a DMatrix


def xgboost_own(X: np.ndarray, **what: bool) -> Ask:
    import xgboost

    rows = xgboost.DMatrix(X, nthread=1)

    def ask(threads: int) -> np.ndarray:
        answer = booster(threads).predict(rows, **what)
        return answer[:, :-1] if answer.ndim == 2 else answer[:, :-1, :-1]  # without what they start from

    return ask


def lightgbm_own(X: np.ndarray) -> Ask:
    own = lightgbm_model().booster_
    return lambda threads: own.predict(X, pred_contrib=True, num_threads=threads)[:, :-1]


def sklearn_brute(X: np.ndarray) -> Ask:
    from sklearn.inspection import partial_dependence as brute

    def ask(_: int) -> np.ndarray:
        answer = brute(boosting(), X, [0], custom_values={0: GRID}, method="brute", kind="average")
        return answer["average"][0]

    return ask


# -- peers ---------------------------------------------------------------------------------------


def shap_own(model: Any, X: np.ndarray, background: np.ndarray | None = None) -> Ask:
    import shap

    if background is None:
        explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
    else:  # a bare array would be cut to 100 rows
        masker = shap.maskers.Independent(background, max_samples=10**6)
        explainer = shap.TreeExplainer(model, masker, feature_perturbation="interventional")
        assert len(explainer.data) == len(background)
    explainer.model.model_type = "internal"  # shap's kernel, not the model library's, to which it hands over
    return lambda _: explainer.shap_values(X, check_additivity=False)


class Fast(Elsewhere):
    """fasttreeshap v2 in its own process, on the trees as shap reads them."""

    def __init__(self, model: Any, X: np.ndarray) -> None:
        import shap

        own = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent").model
        self.folder = tempfile.TemporaryDirectory()
        base = float(np.ravel(own.base_offset)[0])
        self.process = trees_fast.start(own.trees, base, X, Path(self.folder.name))

    def __call__(self, threads: int) -> np.ndarray:
        answer, *self.last = trees_fast.turn(self.process, Path(self.folder.name), threads)
        return answer


def woodelf(X: np.ndarray, background: np.ndarray | None, interactions: bool = False) -> Ask:
    from woodelf import WoodelfExplainer

    rows = frame(X)
    game = "tree_path_dependent" if background is None else "interventional"
    against = None if background is None else frame(background)
    explainer = WoodelfExplainer(xgboost_model(), against, feature_perturbation=game)

    def ask(_: int) -> np.ndarray:
        answer = explainer.shap_interaction_values if interactions else explainer.shap_values
        return np.asarray(answer(rows, verbose=False))

    return ask


def shapiq_explainer(order: int, background: np.ndarray | None = None) -> Any:
    import shapiq

    mode = "pathdependent" if background is None else "interventional"
    index = "SV" if order == 1 else "SII"
    return shapiq.TreeExplainer(
        xgboost_model(), mode=mode, reference_dataset=background, max_order=order, min_order=1, index=index
    )


def shapiq_own(X: np.ndarray, order: int, background: np.ndarray | None = None) -> Ask:
    made = shapiq_explainer(order, background)
    return lambda _: [made.explain_function(row) for row in X]


def shapiq_values(answers: list[Any]) -> np.ndarray:
    return np.stack([answer.get_n_order_values(1) for answer in answers])


def shapiq_pairs(answers: list[Any]) -> np.ndarray:
    """The index of a pair in halves on either side, and on the diagonal what is left of the Shapley value."""
    pairs = np.stack([answer.get_n_order_values(2) for answer in answers]) / 2
    diagonal = np.arange(pairs.shape[1])
    pairs[:, diagonal, diagonal] = shapiq_values(answers) - pairs.sum(axis=2)
    return pairs


def made_anew(make: Callable[[], Ask]) -> Ask:
    """The peer's explainer is made again for every answer."""

    def ask(threads: int) -> Any:
        return make()(threads)

    return ask
