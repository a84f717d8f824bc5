"""How a model of trees was fitted to its rows: what its leaf values minimise, and from what boosting starts.

Boosted trees: each leaf of a tree for score k holds

    v = - rate * sum w g_k / (factor * sum w h_k + l2),

with g and h the first and second derivatives of the loss by that score, at the scores before this iteration. Averaged
trees (single trees, forests): each leaf holds the mean outcome of the rows drawn for the tree. What is read here is
believed only after it has given the leaf values of the model itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.trees.convert.tree_model import Unsupported

TreeLoss = Literal["squared", "logistic", "softmax"]


@dataclass(frozen=True, eq=False)
class Boosting:
    """``start``: whether the base is the best constant of the rows (it then moves with them); ``within``: it is inside
    the leaf values of the first trees; ``single``: derivatives are rounded to single precision.
    """

    loss: TreeLoss
    rate: float
    l2: float
    factor: float = 1.0
    start: bool = True
    within: bool = False
    single: bool = True


@dataclass(frozen=True, eq=False)
class Averaging:
    """How often each row was drawn for each tree, ``(trees, rows)``; None: once."""

    drawn: FloatArray | None


def training(model: Any, n: int) -> Boosting | Averaging:
    """How the estimator inside searches and pipelines was fitted to ``n`` rows; `Unsupported` where that is unknown."""
    last = _last(model)
    library = type(last).__module__.partition(".")[0]
    names = [parent.__name__ for parent in type(last).__mro__ if parent.__module__.startswith("sklearn.")]
    if library == "xgboost":
        return _xgboost(last)
    if library == "lightgbm":
        return _lightgbm(last)
    for name in names:
        if name in _BOOSTED:
            return _BOOSTED[name](last)
        if name in _AVERAGED:
            return _forest(last, n) if getattr(last, "bootstrap", False) else Averaging(None)
    raise Unsupported(f"how {type(last).__name__} fits its leaf values is not known")


def _last(model: Any) -> Any:
    if hasattr(model, "best_estimator_"):
        return _last(model.best_estimator_)
    if isinstance(getattr(model, "steps", None), list):
        return _last(model.steps[-1][1])
    return model


def _hist(model: Any) -> Boosting:
    loss = _loss(model.loss, model)
    if getattr(model, "class_weight", None) is not None:
        raise Unsupported("with class_weight= the weights of all rows change with one")
    return Boosting(loss, float(model.learning_rate), float(model.l2_regularization))


def _gradient_boosting(model: Any) -> Boosting:
    loss = _loss(model.loss, model)
    classes = model.estimators_.shape[1]
    rate = float(model.learning_rate) * ((classes - 1) / classes if loss == "softmax" else 1.0)
    return Boosting(loss, rate, 0.0, single=False)


def _loss(name: str, model: Any) -> TreeLoss:
    if name == "squared_error":
        return "squared"
    if name == "log_loss":
        return "logistic" if len(model.classes_) == 2 else "softmax"
    raise Unsupported(f"{type(model).__name__} with loss={name!r} fits its leaf values in a way that is not read")


def _forest(model: Any, n: int) -> Averaging:
    samples = getattr(model, "estimators_samples_", None)
    if samples is None or any(len(some) and some.max() >= n for some in samples):
        raise Unsupported(f"which of these rows {type(model).__name__} drew for its trees cannot be determined")
    return Averaging(np.array([np.bincount(some, minlength=n) for some in samples], dtype=np.float64))


def _xgboost(model: Any) -> Boosting:
    import json

    booster = model.get_booster() if hasattr(model, "get_booster") else model
    config = json.loads(booster.save_config())["learner"]
    objective = config["objective"]["name"]
    losses: dict[str, TreeLoss] = {
        "reg:squarederror": "squared",
        "binary:logistic": "logistic",
        "multi:softprob": "softmax",
        "multi:softmax": "softmax",
    }
    if objective not in losses or config["gradient_booster"]["name"] != "gbtree":
        raise Unsupported(
            f"XGBoost with {objective} and {config['gradient_booster']['name']} is not refitted leaf by leaf"
        )
    grower = config["gradient_booster"]["tree_train_param"]
    if float(grower.get("alpha", 0)) != 0:
        raise Unsupported("an L1 penalty of leaf values (reg_alpha) is not refitted leaf by leaf")
    loss = losses[objective]
    return Boosting(
        loss, float(grower["learning_rate"]), float(grower["lambda"]), factor=2.0 if loss == "softmax" else 1.0
    )


def _lightgbm(model: Any) -> Boosting:
    booster = model.booster_ if hasattr(model, "booster_") else model
    lines = booster.model_to_string(num_iteration=0).splitlines()
    settings = dict(line.strip("[]").split(": ", 1) for line in lines if line.startswith("[") and ": " in line)
    objective = settings.get("objective", "")
    losses: dict[str, TreeLoss] = {"regression": "squared", "binary": "logistic", "multiclass": "softmax"}
    if objective not in losses or settings.get("boosting", "gbdt") != "gbdt":
        raise Unsupported(f"LightGBM with {objective} and {settings.get('boosting')} is not refitted leaf by leaf")
    if float(settings.get("lambda_l1", 0)) != 0:
        raise Unsupported("an L1 penalty of leaf values (reg_alpha) is not refitted leaf by leaf")
    loss, classes = losses[objective], int(settings.get("num_class", 1))
    return Boosting(
        loss,
        float(settings["learning_rate"]),
        float(settings["lambda_l2"]),
        factor=classes / (classes - 1) if loss == "softmax" else 1.0,
        start=settings.get("boost_from_average", "1") == "1",
        within=settings.get("boost_from_average", "1") == "1",
    )


_BOOSTED: dict[str, Callable[[Any], Boosting]] = {
    "HistGradientBoostingRegressor": _hist,
    "HistGradientBoostingClassifier": _hist,
    "GradientBoostingRegressor": _gradient_boosting,
    "GradientBoostingClassifier": _gradient_boosting,
}
_AVERAGED = frozenset(
    f"{kind}{task}"
    for kind in ("DecisionTree", "ExtraTree", "RandomForest", "ExtraTrees")
    for task in ("Regressor", "Classifier")
)
