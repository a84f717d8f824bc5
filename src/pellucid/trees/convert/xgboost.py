"""XGBoost's trees: Boosters and estimators, with vector leaves, categories, DART and early stopping.

XGBoost compares in single precision, a number goes left if it is *below* the threshold, and a category goes
left if it is *not* in the node's list. Formats of 1.7 to 3.x are read, by way of UBJSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.stats import logit
from pellucid.trees.convert.tree_model import Link, TreeModel, Unsupported
from pellucid.trees.convert.xgboost_encode import Encode, stored_levels
from pellucid.trees.convert.xgboost_trees import Learner, tree_ensemble
from pellucid.trees.convert.xgboost_ubjson import read
from pellucid.trees.ensemble import TreeEnsemble

Scale = Literal["response", "log-odds", "score"]


def _same(x: FloatArray) -> FloatArray:
    return x


Inverse = Callable[[FloatArray], FloatArray]

# What each objective makes of the sum of the trees, what that sum is, and how the stored base score becomes
# part of it; where versions differ in the last, all ways are listed and the model itself decides.
_OBJECTIVES: Final[dict[str, tuple[Link, Scale, tuple[Inverse, ...]]]] = {
    **dict.fromkeys(
        (
            "reg:squarederror",
            "reg:linear",
            "reg:squaredlogerror",
            "reg:absoluteerror",
            "reg:pseudohubererror",
            "reg:quantileerror",
        ),
        ("identity", "response", (_same,)),
    ),
    **dict.fromkeys(("rank:pairwise", "rank:ndcg", "rank:map"), ("identity", "score", (_same,))),
    **dict.fromkeys(("binary:logistic", "reg:logistic"), ("logistic", "log-odds", (logit, _same))),
    "binary:logitraw": ("identity", "log-odds", (_same, logit)),
    "binary:hinge": ("other", "score", (_same,)),
    **dict.fromkeys(
        ("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft"), ("exp", "score", (np.log, _same))
    ),
    **dict.fromkeys(("multi:softprob", "multi:softmax"), ("softmax", "score", (_same,))),
}
_UNKNOWN: Final[tuple[Link, Scale, tuple[Inverse, ...]]] = ("other", "score", (_same, logit, np.log))

_SORTED: Final = (3, 4)  # since then quantiles that cross are put in order


def convert(model: Any) -> TreeModel:
    """The trees that the model's own predict uses: with early stopping, an estimator's best rounds only."""
    import xgboost

    estimator = isinstance(model, xgboost.XGBModel)
    if not estimator and not isinstance(model, xgboost.Booster):
        raise Unsupported(f"{type(model).__name__} of xgboost is neither a Booster nor an estimator")
    booster = model.get_booster() if estimator else model
    with xgboost.config_context(verbosity=0):  # what it says of boosters that it will give up one day
        stored = read(bytes(booster.save_raw(raw_format="ubj")))
    learner, version = stored["learner"], tuple(stored["version"])
    best = learner["attributes"].get("best_iteration") if estimator else None
    rounds = 0 if best is None else int(best) + 1  # 0: all
    trees = tree_ensemble(learner, rounds)
    objective = learner["objective"]["name"]
    if objective == "reg:quantileerror" and trees.n_outputs > 1 and version >= _SORTED:
        raise Unsupported("XGBoost sorts the predictions of several quantiles, so they are no longer sums of its trees")
    link, scale, inverses = _OBJECTIVES.get(objective, _UNKNOWN)
    missing = model.missing if estimator else None
    return TreeModel(
        ensemble=_with_base(trees, learner, inverses, _empty_row(booster, trees.n_features, rounds)),
        encode=Encode(
            missing=np.nan if missing is None else float(missing),
            levels=stored_levels(learner, version),
            categorical=tuple(np.unique(trees.nodes.feature[trees.nodes.set_start >= 0]).tolist()),
        ),
        source=np.arange(trees.n_features),
        link="one-vs-rest" if link == "logistic" and trees.n_outputs > 1 else link,
        scale=scale,
        fill=np.nan,
    )


def _empty_row(booster: Any, n_features: int, rounds: int) -> FloatArray:
    """What the model itself gives for a row in which everything is missing."""
    import xgboost

    row = xgboost.DMatrix(np.full((1, n_features), np.nan), nthread=1)
    with xgboost.config_context(verbosity=0):
        margin = booster.predict(row, output_margin=True, iteration_range=(0, rounds), validate_features=False)
    return np.asarray(margin, dtype=np.float64).ravel()


def _with_base(trees: TreeEnsemble, learner: Learner, inverses: Sequence[Inverse], empty: FloatArray) -> TreeEnsemble:
    """The trees with the base score on their own scale, proved by the model's answer to an empty row."""
    stored = base_scores(learner["learner_model_param"]["base_score"], trees.n_outputs)
    row = np.full((1, trees.n_features), np.nan)
    leaf = trees.nodes.value[trees.leaves(row)[0]]
    for inverse in inverses:
        with np.errstate(divide="ignore", invalid="ignore"):
            base = inverse(stored)
        based = TreeEnsemble(trees.nodes, trees.roots, trees.output, base, trees.n_features)
        slack = 1e-5 * (np.abs(base).max() + np.abs(leaf).sum())  # of sums in single precision
        if np.allclose(based.predict(row)[0], empty, rtol=1e-5, atol=slack):
            return based
    name = learner["objective"]["name"]
    raise Unsupported(f"the base score of an XGBoost model with objective {name!r} is not understood")


def base_scores(stored: Any, n_outputs: int) -> FloatArray:
    """The base score, one per output: ``5E-1`` up to 3.0, ``[5E-1]`` or one for each output since."""
    try:
        numbers = np.atleast_1d(json.loads(stored) if isinstance(stored, str) else stored)
        return np.array(np.broadcast_to(numbers.astype(np.float32), n_outputs), dtype=np.float64)
    except ValueError:
        text = f"an XGBoost base score {stored!r} for a model of {n_outputs} outputs"
        raise Unsupported(text) from None
