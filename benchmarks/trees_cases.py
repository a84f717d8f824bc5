"""The workloads of trees.py: simulated rows, a fitted model, the question, and how each peer is asked."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

import trees_fast
from pellucid.trees.convert import TreeModel
from pellucid.trees.dependence import partial_dependence
from pellucid.trees.engine import attribute
from trees_measure import Ask, Elsewhere, Peer, Workload

_GRID = np.linspace(-2, 2, 50)
_OWN = 30  # features


@cache
def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, _OWN)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + 0.3 * X[:, 3:10].sum(axis=1)
    return X, y + 0.3 * rng.normal(size=len(X))


def frame(X: np.ndarray) -> Any:
    import pandas as pd

    return pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])


@cache
def xgboost_model() -> Any:
    import xgboost

    model = xgboost.XGBRegressor(n_estimators=500, max_depth=6, n_jobs=1, tree_method="hist")
    return model.fit(*table())


@cache
def lightgbm_model() -> Any:
    import lightgbm

    return lightgbm.LGBMRegressor(n_estimators=500, num_leaves=31, n_jobs=1, verbose=-1).fit(*table())


@cache
def forest() -> Any:
    X, y = table()
    return RandomForestRegressor(100, random_state=0).fit(X[:5000, :20], y[:5000])


@cache
def boosting() -> Any:
    X, y = table()
    return HistGradientBoostingRegressor(max_iter=300, early_stopping=False).fit(X[:10_000], y[:10_000])


# -- our answers ---------------------------------------------------------------------------------


def path(tree: TreeModel) -> partial[Any]:
    return partial(attribute, tree.ensemble, game="path")


def path_pairs(tree: TreeModel) -> partial[Any]:
    return partial(attribute, tree.ensemble, game="path", interactions=True)


def marginal(background: np.ndarray, interactions: bool, tree: TreeModel) -> partial[Any]:
    rows = tree.encode(background)
    return partial(attribute, tree.ensemble, game="marginal", background=rows, interactions=interactions)


def dependence(tree: TreeModel) -> partial[Any]:
    return partial(partial_dependence, tree.ensemble, [0], _GRID)


def values(answer: Any) -> np.ndarray:
    return answer.values[:, :, 0]


def squares(answer: Any) -> np.ndarray:
    return answer.interactions[:, :, :, 0]


def whole_index(answer: Any) -> np.ndarray:
    """The index of each pair, of which the squares hold a half on either side."""
    index = 2 * squares(answer)
    index[:, range(_OWN), range(_OWN)] = 0
    return index


# -- the models' own answers ---------------------------------------------------------------------


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
        answer = brute(boosting(), X, [0], custom_values={0: _GRID}, method="brute", kind="average")
        return answer["average"].T

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
    explainer.model.model_type = (
        "internal"  # shap's kernel, not the model library's, to which it hands over
    )
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


def shapiq_own(X: np.ndarray, order: int) -> Ask:
    import pandas as pd
    import shapiq

    index = "SV" if order == 1 else "SII"
    with pd.option_context("future.infer_string", False):  # shapiq 1.4 writes numbers over pandas' strings
        explainer = shapiq.TreeExplainer(xgboost_model(), max_order=order, min_order=1, index=index)

    # XGBoost sends a number that equals a threshold right, shapiq left: its rows are one step of float32 larger.
    above = np.nextafter(X, np.float32(np.inf))

    def ask(_: int) -> np.ndarray:
        return np.stack([explainer.explain_function(row).get_n_order_values(order) for row in above])

    return ask


# -- workloads -----------------------------------------------------------------------------------


def path_xgboost() -> Workload:
    model, X = xgboost_model(), table()[0][:2000]
    peers = (
        Peer("xgboost", 100, partial(xgboost_own, X, pred_contribs=True)),
        Peer("shap", 60, partial(shap_own, model, X), serial=True),
        Peer("fasttreeshap v2", 25, partial(Fast, model, X)),
        Peer("woodelf", None, partial(woodelf, X, None), serial=True),
    )
    title = "path, XGBoost, 2,000 rows"
    return Workload("path-xgboost", title, model, X, path, values, xgboost_predict(X), peers, within=5)


def path_lightgbm() -> Workload:
    model, X = lightgbm_model(), table()[0][:2000]
    peers = (Peer("lightgbm", 60, partial(lightgbm_own, X)),)
    title = "path, LightGBM, 2,000 rows"
    predict = partial(model.booster_.predict, X, num_threads=1)
    return Workload("path-lightgbm", title, model, X, path, values, predict, peers)


def path_forest() -> Workload:
    model, X = forest(), table()[0][:200, :20]
    peers = (Peer("shap", 40, partial(shap_own, model, X[:50]), times=4, serial=True),)
    title = "path, deep forest, 200 rows"
    return Workload("path-forest", title, model, X, path, values, partial(model.predict, X), peers)


def marginal_xgboost() -> Workload:
    model, X, background = xgboost_model(), table()[0][:1000], table()[0][2000:3000]
    peers = (
        Peer("shap", 200, partial(shap_own, model, X[:10], background), times=100, serial=True),
        Peer("woodelf", 20, partial(woodelf, X, background), serial=True),
    )
    build = partial(marginal, background, False)
    title = "marginal, XGBoost, 1,000 rows and 1,000 of background"
    return Workload("marginal-xgboost", title, model, X, build, values, xgboost_predict(X), peers)


def marginal_forest() -> Workload:
    model, X, background = forest(), table()[0][:20, :20], table()[0][2000:2100, :20]
    peers = (Peer("shap", None, partial(shap_own, model, X, background), serial=True),)
    build = partial(marginal, background, False)
    title = "marginal, deep forest, 20 rows and 100 of background"
    return Workload("marginal-forest", title, model, X, build, values, partial(model.predict, X), peers)


def pairs_path() -> Workload:
    model, X = xgboost_model(), table()[0][:1000]
    peers = (Peer("xgboost", 100, partial(xgboost_own, X[:20], pred_interactions=True), times=50),)
    title = "interactions, path, XGBoost, 1,000 rows"
    return Workload("pairs-path", title, model, X, path_pairs, squares, xgboost_predict(X), peers)


def pairs_marginal() -> Workload:
    model, X, background = xgboost_model(), table()[0][:1000], table()[0][2000:3000]
    peers = (Peer("woodelf", None, partial(woodelf, X, background, interactions=True), serial=True),)
    build = partial(marginal, background, True)
    title = "interactions, marginal, XGBoost, 1,000 rows and 1,000 of background"
    return Workload("pairs-marginal", title, model, X, build, squares, xgboost_predict(X), peers)


def dependence_boosting() -> Workload:
    model, X = boosting(), table()[0][:10_000]
    peers = (Peer("scikit-learn brute", 20, partial(sklearn_brute, X), tolerance=1e-9),)
    title = "partial dependence, HistGradientBoosting, 10,000 rows, 50 points"
    predict = partial(model.predict, X)
    return Workload("dependence", title, model, X, dependence, np.asarray, predict, peers, watched="watch")


def shapiq_order(order: int) -> Workload:
    model, X = xgboost_model(), table()[0][:3]
    peers = (Peer("shapiq", None, partial(shapiq_own, X, order), serial=True),)
    build, read = (path, values) if order == 1 else (path_pairs, whole_index)
    title = f"path, order {order}, XGBoost, 3 rows"
    return Workload(f"shapiq-{order}", title, model, X, build, read, xgboost_predict(X), peers)


WORKLOADS: dict[str, Callable[[], Workload]] = {
    "path-xgboost": path_xgboost,
    "path-lightgbm": path_lightgbm,
    "path-forest": path_forest,
    "marginal-xgboost": marginal_xgboost,
    "marginal-forest": marginal_forest,
    "pairs-path": pairs_path,
    "pairs-marginal": pairs_marginal,
    "dependence": dependence_boosting,
    "shapiq-1": partial(shapiq_order, 1),
    "shapiq-2": partial(shapiq_order, 2),
}
