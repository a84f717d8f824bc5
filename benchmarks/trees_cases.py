"""The workloads of trees.py: a fitted model, the public call, the engine under it, and the peers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pellucid import Explainer
from pellucid.trees.convert import TreeModel
from pellucid.trees.engine import attribute
from pellucid.trees.partial_dependence import partial_dependence
from trees_measure import Peer, Workload
from trees_models import boosting, forest, lightgbm_model, table, xgboost_model
from trees_peers import (
    GRID,
    Fast,
    lightgbm_own,
    made_anew,
    shap_own,
    shapiq_own,
    shapiq_pairs,
    shapiq_values,
    sklearn_brute,
    woodelf,
    xgboost_own,
    xgboost_predict,
)

# -- our answers: the public call ------------------------------------------------------------------


def explainer(model: Any, X: np.ndarray, background: np.ndarray | None = None) -> partial[Explainer]:
    return partial(Explainer, model, X, background=background)


def shap_values(ex: Explainer, rows: np.ndarray, **options: Any) -> np.ndarray:
    return ex.shap(rows, **options).values


def shap_pairs(ex: Explainer, rows: np.ndarray, **options: Any) -> np.ndarray:
    return ex.shap(rows, interactions=True, **options).interaction_values


def curve(ex: Explainer, _: np.ndarray) -> np.ndarray:
    return ex.pdp(0, at=GRID).values


PATH, PATH_PAIRS = partial(shap_values, game="path"), partial(shap_pairs, game="path")


# -- our answers: the engine alone -----------------------------------------------------------------


def path(tree: TreeModel) -> partial[Any]:
    return partial(attribute, tree.ensemble, game="path")


def path_pairs(tree: TreeModel) -> partial[Any]:
    return partial(attribute, tree.ensemble, game="path", interactions=True)


def marginal(background: np.ndarray, interactions: bool, tree: TreeModel) -> partial[Any]:
    rows = tree.encode(background)
    return partial(attribute, tree.ensemble, game="marginal", background=rows, interactions=interactions)


def dependence(tree: TreeModel) -> partial[Any]:
    return partial(partial_dependence, tree.ensemble, [0], GRID)


# -- workloads -----------------------------------------------------------------------------------


def path_xgboost() -> Workload:
    model, X = xgboost_model(), table()[0][:2000]
    peers = (
        Peer("xgboost", 45, partial(xgboost_own, X, pred_contribs=True)),
        Peer("shap", None, partial(shap_own, model, X), serial=True),
        Peer("shapiq", None, partial(shapiq_own, X[:200], 1), times=10, serial=True, read=shapiq_values),
        Peer("fasttreeshap v2", None, partial(Fast, model, X)),
        Peer("woodelf", None, partial(woodelf, X, None), serial=True),
    )
    return Workload(
        "path-xgboost",
        "path, XGBoost, 2,000 rows",
        model,
        X,
        explainer(model, table()[0]),
        PATH,
        path,
        xgboost_predict(X),
        peers,
    )


def rows_path() -> Workload:
    model, X = xgboost_model(), table()[0][:200]
    peers = (
        Peer("xgboost", None, partial(xgboost_own, X, pred_contribs=True)),
        Peer("shap", None, partial(shap_own, model, X), serial=True),
        Peer("shapiq", None, partial(shapiq_own, X, 1), serial=True, read=shapiq_values),
    )
    return Workload(
        "rows-path",
        "path, XGBoost, 200 rows",
        model,
        X,
        explainer(model, table()[0]),
        PATH,
        path,
        xgboost_predict(X),
        peers,
        goal_ms=12.0,
    )


def path_lightgbm() -> Workload:
    model, X = lightgbm_model(), table()[0][:2000]
    return Workload(
        "path-lightgbm",
        "path, LightGBM, 2,000 rows",
        model,
        X,
        explainer(model, table()[0]),
        PATH,
        path,
        partial(model.booster_.predict, X, num_threads=1),
        (Peer("lightgbm", 60, partial(lightgbm_own, X)),),
    )


def path_forest() -> Workload:
    model, X = forest(), table()[0][:200, :20]
    return Workload(
        "path-forest",
        "path, deep forest, 200 rows",
        model,
        X,
        explainer(model, table()[0][:5000, :20]),
        PATH,
        path,
        partial(model.predict, X),
        (Peer("shap", 60, partial(shap_own, model, X[:50]), times=4, serial=True),),
    )


def marginal_xgboost() -> Workload:
    model, X, background = xgboost_model(), table()[0][:1000], table()[0][2000:3000]
    peers = (
        Peer("shap", None, partial(shap_own, model, X[:10], background), times=100, serial=True),
        Peer("woodelf", None, partial(woodelf, X, background), serial=True),
    )
    return Workload(
        "marginal-xgboost",
        "marginal, XGBoost, 1,000 rows and 1,000 of background",
        model,
        X,
        explainer(model, table()[0], background),
        shap_values,
        partial(marginal, background, False),
        xgboost_predict(X),
        peers,
    )


def marginal_forest() -> Workload:
    model, X, background = forest(), table()[0][:20, :20], table()[0][2000:2100, :20]
    return Workload(
        "marginal-forest",
        "marginal, deep forest, 20 rows and 100 of background",
        model,
        X,
        explainer(model, table()[0][:5000, :20], background),
        shap_values,
        partial(marginal, background, False),
        partial(model.predict, X),
        (Peer("shap", None, partial(shap_own, model, X, background), serial=True),),
    )


def pairs_path() -> Workload:
    model, X = xgboost_model(), table()[0][:1000]
    peers = (
        Peer("xgboost", 30, partial(xgboost_own, X[:200], pred_interactions=True), times=5),
        Peer("shapiq", None, partial(shapiq_own, X[:100], 2), times=10, serial=True, read=shapiq_pairs),
    )
    return Workload(
        "pairs-path",
        "interactions, path, XGBoost, 1,000 rows",
        model,
        X,
        explainer(model, table()[0]),
        PATH_PAIRS,
        path_pairs,
        xgboost_predict(X),
        peers,
    )


def pairs_marginal() -> Workload:
    model, X, background = xgboost_model(), table()[0][:1000], table()[0][2000:3000]
    return Workload(
        "pairs-marginal",
        "interactions, marginal, XGBoost, 1,000 rows and 1,000 of background",
        model,
        X,
        explainer(model, table()[0], background),
        shap_pairs,
        partial(marginal, background, True),
        xgboost_predict(X),
        (Peer("woodelf", None, partial(woodelf, X, background, interactions=True), serial=True),),
    )


def dependence_boosting() -> Workload:
    model, X = boosting(), table()[0][:10_000]
    return Workload(
        "dependence",
        "partial dependence, HistGradientBoosting, 10,000 rows, 50 points",
        model,
        X,
        explainer(model, X),
        curve,
        dependence,
        partial(model.predict, X),
        (Peer("scikit-learn brute", 20, partial(sklearn_brute, X), tolerance=1e-9),),
        watched="watch",
    )


# -- one row ---------------------------------------------------------------------------------------


def one_row(
    name: str,
    title: str,
    question: Callable[..., np.ndarray],
    build: Callable[[TreeModel], partial[Any]],
    peers: Callable[[np.ndarray], tuple[Peer, ...]],
    background: np.ndarray | None = None,
    **more: Any,
) -> Workload:
    model, X = xgboost_model(), table()[0][:1]
    made = explainer(model, table()[0], background)
    return Workload(name, title, model, X, made, question, build, xgboost_predict(X), peers(X), **more)


def row_path() -> Workload:
    def peers(X: np.ndarray) -> tuple[Peer, ...]:
        return (
            Peer("shapiq", None, partial(shapiq_own, X, 1), serial=True, read=shapiq_values),
            Peer("xgboost", None, partial(xgboost_own, X, pred_contribs=True)),
            Peer("shap", None, partial(shap_own, xgboost_model(), X), serial=True),
        )

    return one_row("row-path", "one row, path, XGBoost", PATH, path, peers, goal_ms=1.5)


def row_marginal() -> Workload:
    background = table()[0][2000:2100]

    def peers(X: np.ndarray) -> tuple[Peer, ...]:
        own = partial(shap_own, xgboost_model(), X, background)
        return (
            Peer("shapiq", None, partial(shapiq_own, X, 1, background), serial=True, read=shapiq_values),
            Peer("shap", None, own, serial=True),
            Peer("woodelf", None, partial(woodelf, X, background), serial=True),
        )

    title = "one row, marginal, XGBoost, 100 of background"
    build = partial(marginal, background, False)
    return one_row("row-marginal", title, shap_values, build, peers, background, goal_ms=3.0)


def row_pairs() -> Workload:
    def peers(X: np.ndarray) -> tuple[Peer, ...]:
        return (
            Peer("shapiq", None, partial(shapiq_own, X, 2), serial=True, read=shapiq_pairs),
            Peer("xgboost", None, partial(xgboost_own, X, pred_interactions=True)),
        )

    return one_row("row-pairs", "one row, path, order 2, XGBoost", PATH_PAIRS, path_pairs, peers)


def row_first() -> Workload:
    def peers(X: np.ndarray) -> tuple[Peer, ...]:
        shapiq, shap = partial(shapiq_own, X, 1), partial(shap_own, xgboost_model(), X)
        return (
            Peer("shapiq", None, partial(made_anew, shapiq), serial=True, read=shapiq_values),
            Peer("shap", None, partial(made_anew, shap), serial=True),
        )

    title = "making the explainer and one row, path, XGBoost"
    return one_row("row-first", title, PATH, path, peers, cold=True)


WORKLOADS: dict[str, Callable[[], Workload]] = {
    "row-path": row_path,
    "row-marginal": row_marginal,
    "row-pairs": row_pairs,
    "row-first": row_first,
    "rows-path": rows_path,
    "path-xgboost": path_xgboost,
    "path-lightgbm": path_lightgbm,
    "path-forest": path_forest,
    "marginal-xgboost": marginal_xgboost,
    "marginal-forest": marginal_forest,
    "pairs-path": pairs_path,
    "pairs-marginal": pairs_marginal,
    "dependence": dependence_boosting,
}
