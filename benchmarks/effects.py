"""PDP, ICE and ALE against scikit-learn, alibi, PyALE, PDPbox and dalex."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from line import Line
from peers import available
from workloads import NUMERIC, Workload

GRID, GRID_2D, BINS, BINS_2D, CURVES = 50, 20, 40, 20, 1000
ONE, PAIR = "x0", ("x0", "x2")


def effect_lines(workload: Workload) -> Iterator[Line]:
    """Every method, against every peer that offers it for this kind of table."""
    for method, make in (
        ("PDP 1-D", _pdp_peers),
        ("PDP 2-D", _pair_peers),
        ("ICE", _ice_peers),
        ("ALE 1-D", _ale_peers),
    ):
        for name, peer, tolerance, note in make(workload):
            yield Line(method, workload, name, _OURS[method], peer, tolerance, note)
    if available("PyALE"):
        yield Line("ALE 2-D", workload, "PyALE", _OURS["ALE 2-D"], lambda: _pyale_pair(workload), *_EXACT)
    if workload.categorical:
        for name, peer, tolerance, note in _category_peers(workload):
            yield Line(
                "PDP, categories", workload, name, lambda ex: ex.pdp(workload.categorical), peer, tolerance, note
            )


_OURS = {
    "PDP 1-D": lambda ex: ex.pdp(ONE, grid=GRID),
    "PDP 2-D": lambda ex: ex.pdp(PAIR, grid=GRID_2D),
    "ICE": lambda ex: ex.ice(ONE, rows=range(CURVES), grid=GRID),
    "ALE 1-D": lambda ex: ex.ale(ONE, bins=BINS),
    "ALE 2-D": lambda ex: ex.ale(PAIR, bins=BINS_2D),
}
_EXACT = (1e-8, "")


# -- partial dependence ------------------------------------------------------------------------------


def _pdp_peers(w: Workload) -> Iterator[tuple[str, Any, float | None, str]]:
    grid = w.grid(ONE, GRID)
    yield "scikit-learn", lambda: _sklearn(w, [w.column(ONE)], {w.column(ONE): grid}), *_EXACT
    if w.is_numpy and available("alibi"):
        yield "alibi", lambda: _alibi(w, [w.column(ONE)], {w.column(ONE): grid}).pd_values[0][0], *_EXACT
    if available("PDPbox"):
        frame = _own_frame(w)
        yield "PDPbox", lambda: _pdpbox(w, frame, grid).results[0].pdp, *_EXACT
    if available("dalex"):
        yield "dalex", lambda: _dalex_profile(w, ONE, grid, "partial"), *_EXACT


def _pair_peers(w: Workload) -> Iterator[tuple[str, Any, float | None, str]]:
    grids = {w.column(name): w.grid(name, GRID_2D) for name in PAIR}
    columns = tuple(grids)
    yield "scikit-learn", lambda: _sklearn(w, list(columns), grids), *_EXACT
    if w.is_numpy and available("alibi"):
        yield "alibi", lambda: _alibi(w, [columns], grids).pd_values[0][0], *_EXACT
    if available("PDPbox"):
        frame = _own_frame(w)
        yield "PDPbox", lambda: _pdpbox_pair(w, frame), *_EXACT


def _ice_peers(w: Workload) -> Iterator[tuple[str, Any, float | None, str]]:
    grid, rows = w.grid(ONE, GRID), w.X[:CURVES]
    some = Workload(w.name, w.model, rows, w.y[:CURVES])
    yield ("scikit-learn", lambda: _sklearn(some, [w.column(ONE)], {w.column(ONE): grid}, kind="individual"), *_EXACT)
    if w.is_numpy and available("alibi"):
        yield (
            "alibi",
            lambda: _alibi(some, [w.column(ONE)], {w.column(ONE): grid}, kind="individual").ice_values[0][0],
            *_EXACT,
        )
    if available("PDPbox"):
        frame = _own_frame(some)
        yield "PDPbox", lambda: _pdpbox_curves(some, frame, grid), *_EXACT
    if available("dalex"):
        yield "dalex", lambda: _dalex_curves(some, grid), *_EXACT


def _category_peers(w: Workload) -> Iterator[tuple[str, Any, float | None, str]]:
    name = w.categorical
    levels = np.unique(w.X[name].to_numpy())
    yield "scikit-learn", lambda: _sklearn(w, [name], {name: levels}, categorical_features=[name]), *_EXACT
    if available("dalex"):
        yield "dalex", lambda: _dalex_profile(w, name, levels, "partial", "categorical"), *_EXACT


def _sklearn(
    w: Workload, features: list[Any], grids: dict[Any, Any], kind: str = "average", **options: Any
) -> np.ndarray:
    from sklearn.inspection import partial_dependence

    found = partial_dependence(w.model, w.X, features, custom_values=grids, kind=kind, method="brute", **options)
    return found[kind][0]


def _alibi(w: Workload, features: list[Any], grids: dict[Any, Any], kind: str = "average") -> Any:
    from alibi.explainers import PartialDependence

    explainer = PartialDependence(predictor=w.model.predict, feature_names=list(NUMERIC), verbose=False)
    return explainer.explain(w.X, features=features, grid_points=grids, kind=kind)


def _frame(w: Workload) -> pd.DataFrame:
    """PDPbox, PyALE and dalex take frames only; the columns keep the names of a model fitted on a matrix."""
    return pd.DataFrame(w.X, columns=list(NUMERIC), copy=False) if w.is_numpy else w.X


def _model(w: Workload) -> Any:
    """The model for peers that hand it a frame: a model fitted on a matrix gets one."""
    return MatrixModel(w.model) if w.is_numpy else w.model


class MatrixModel:
    """Takes a frame where the model was fitted on a matrix."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self._estimator_type = "regressor"

    def predict(self, frame: Any) -> np.ndarray:
        return self.model.predict(frame.to_numpy())


_PDPBOX: dict[str, Any] = {"n_classes": 0, "n_jobs": 1, "pred_func": lambda model, rows: model.predict(rows)}


def _own_frame(w: Workload) -> pd.DataFrame:
    """PDPbox writes a column into the caller's frame, so it gets a copy, made before the clock starts."""
    return _frame(w).copy()


def _pdpbox(w: Workload, frame: pd.DataFrame, grid: np.ndarray) -> Any:
    from pdpbox.pdp import PDPIsolate

    return PDPIsolate(_model(w), frame, _names(w), ONE, ONE, cust_grid_points=grid, **_PDPBOX)


def _pdpbox_curves(w: Workload, frame: pd.DataFrame, grid: np.ndarray) -> np.ndarray:
    return _pdpbox(w, frame, grid).results[0].ice_lines.to_numpy()


def _pdpbox_pair(w: Workload, frame: pd.DataFrame) -> np.ndarray:
    from pdpbox.pdp import PDPInteract

    grids = [w.grid(name, GRID_2D) for name in PAIR]
    found = PDPInteract(_model(w), frame, _names(w), list(PAIR), list(PAIR), cust_grid_points=grids, **_PDPBOX)
    return found.results[0].pdp.reshape(GRID_2D, GRID_2D)


def _names(w: Workload) -> list[str]:
    return list(NUMERIC) if w.is_numpy else list(w.X.columns)


def dalex_explainer(w: Workload) -> Any:
    import dalex

    return dalex.Explainer(_model(w), _frame(w), w.y, verbose=False, precalculate=False, model_type="regression")


def _dalex_profile(
    w: Workload, feature: str, grid: np.ndarray, kind: str, variable_type: str = "numerical"
) -> np.ndarray:
    found = dalex_explainer(w).model_profile(
        type=kind, N=None, variables=[feature], variable_type=variable_type, variable_splits={feature: grid},
        center=False, verbose=False,
    )  # fmt: skip
    return found.result["_yhat_"].to_numpy()


def _dalex_curves(w: Workload, grid: np.ndarray) -> np.ndarray:
    found = dalex_explainer(w).predict_profile(
        _frame(w), variables=[ONE], variable_splits={ONE: grid}, variable_splits_with_obs=False, verbose=False
    )
    return found.result["_yhat_"].to_numpy().reshape(len(w.X), -1)


# -- accumulated local effects -----------------------------------------------------------------------


def _ale_peers(w: Workload) -> Iterator[tuple[str, Any, float | None, str]]:
    if w.is_numpy and available("alibi"):
        yield "alibi", lambda: _alibi_ale(w), *_EXACT
    if available("PyALE"):
        yield "PyALE", lambda: _pyale(w), *_EXACT
    if available("dalex"):
        grid = w.edges(ONE, BINS)
        yield (
            "dalex",
            lambda: _dalex_profile(w, ONE, grid, "accumulated"),
            None,
            "dalex weighs rows by a kernel instead of bins",
        )


def _alibi_ale(w: Workload) -> np.ndarray:
    from alibi.explainers import ALE

    column = w.column(ONE)
    explainer = ALE(w.model.predict, feature_names=list(NUMERIC))
    found = explainer.explain(w.X, features=[column], grid_points={column: w.edges(ONE, BINS)})
    return found.ale_values[0][:, 0]


def _pyale(w: Workload) -> np.ndarray:
    from PyALE import ale

    found = ale(_frame(w), _model(w), [ONE], feature_type="continuous", grid_size=BINS, include_CI=False, plot=False)
    return found["eff"].to_numpy()


def _pyale_pair(w: Workload) -> np.ndarray:
    from PyALE import ale

    return ale(_frame(w), _model(w), list(PAIR), grid_size=BINS_2D, plot=False).to_numpy()
