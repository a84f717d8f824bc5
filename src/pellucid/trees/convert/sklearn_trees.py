"""scikit-learn's own trees: single ones, forests, isolation forests, gradient boosting and HistGradientBoosting.

They compare ``float32(x) <= threshold`` and send NaN where most training rows went (`missing_go_to_left`).

HistGradientBoosting compares in double precision and has native categories: a model with categorical columns codes them
first, moves them to the front, and treats a category that it has not seen as missing; `encode` is that very step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.trees.convert.tree_model import Link, TreeModel, Unsupported, dense, numbers
from pellucid.trees.ensemble import Nodes, TreeEnsemble, at_most

Scale = Literal["response", "probability", "log-odds", "score"]

# From the class of a loss's link function to what it makes of the raw scores, and what these are.
LINKS: dict[str, tuple[Link, Scale]] = {
    "IdentityLink": ("identity", "response"),
    "LogLink": ("exp", "score"),
    "LogitLink": ("logistic", "log-odds"),
    "MultinomialLogit": ("softmax", "score"),
}


def tree(model: Any) -> TreeModel:
    """A single tree: means, or class probabilities."""
    return _averaged(model, [model])


def forest(model: Any) -> TreeModel:
    """The mean of trees."""
    return _averaged(model, model.estimators_)


def _averaged(model: Any, members: list[Any]) -> TreeModel:
    trees = [member.tree_ for member in members]
    classifier = hasattr(model, "classes_")
    if classifier and model.n_outputs_ > 1:
        raise Unsupported(f"{type(model).__name__} with {model.n_outputs_} targets is not read as trees")
    # Tree.value is (nodes, targets, classes); a classifier's are fractions of the node's weight.
    values = [each.value[:, 0, :] if classifier else each.value[:, :, 0] for each in trees]
    value = np.concatenate(values) / len(trees)
    nodes, roots = _nodes(trees, value)
    return _model(
        nodes,
        roots,
        output=np.zeros(len(trees), np.intp),
        base=np.zeros(value.shape[1]),
        n_features=model.n_features_in_,
        link="identity",
        scale="probability" if classifier else "response",
    )


def gradient_boosting(model: Any) -> TreeModel:
    """The start value plus the learning rate times trees; one tree per class and iteration."""
    trees = [member.tree_ for member in model.estimators_.ravel()]
    per_iteration = model.estimators_.shape[1]
    value = model.learning_rate * np.concatenate([each.value[:, :, 0] for each in trees])
    nodes, roots = _nodes(trees, value)
    # The exponential loss makes probabilities of its scores by expit(2 x): its scores stay scores.
    link, scale = LINKS.get(type(model._loss.link).__name__, ("other", "score"))
    return _model(
        nodes,
        roots,
        output=np.tile(np.arange(per_iteration), len(model.estimators_)),
        base=_start(model),
        n_features=model.n_features_in_,
        link=link,
        scale=scale,
    )


def _start(model: Any) -> FloatArray:
    """What boosting starts from, if that is the same number for every row."""
    start = model.init_
    if not isinstance(start, str):
        name = type(start).__name__
        if name not in ("DummyRegressor", "DummyClassifier"):
            raise Unsupported(f"{type(model).__name__} with init={name} is not read as trees")
        if start.strategy == "stratified":
            raise Unsupported(f"{type(model).__name__} starts from {name}(strategy='stratified'), by chance")
    row = np.zeros((1, model.n_features_in_), dtype=np.float32)
    return np.asarray(model._raw_predict_init(row), dtype=np.float64)[0]


def isolation_forest(model: Any) -> TreeModel:
    """The mean length of the path to a leaf; the score is ``-2 ** (-length / c(max_samples))``."""
    trees = [member.tree_ for member in model.estimators_]
    lengths = [each.compute_node_depths() - 1 + average_path(each.n_node_samples) for each in trees]
    subset = model._max_features != model.n_features_in_
    nodes, roots = _nodes(
        trees, np.concatenate(lengths)[:, None] / len(trees), model.estimators_features_ if subset else None
    )
    return _model(
        nodes,
        roots,
        output=np.zeros(len(trees), np.intp),
        base=np.zeros(1),
        n_features=model.n_features_in_,
        link="other",
        scale="score",
    )


def average_path(n: IntArray) -> FloatArray:
    """c(n), the mean path length of an unsuccessful search in a binary tree of n (Liu et al. 2008, eq. 1)."""
    n = np.asarray(n, dtype=np.float64)
    many = np.maximum(n, 3)
    c = 2 * (np.log(many - 1) + np.euler_gamma) - 2 * (many - 1) / many
    return np.where(n <= 1, 0.0, np.where(n == 2, 1.0, c))


def _nodes(trees: list[Any], value: FloatArray, columns: list[IntArray] | None = None) -> tuple[Nodes, IntArray]:
    """The nodes of all trees, and where each tree begins; columns: those that each tree was grown on."""
    counts = np.array([each.node_count for each in trees])
    roots = np.cumsum(counts) - counts
    shift = np.repeat(roots, counts)
    feature = _joined(trees, "feature")
    left = _joined(trees, "children_left")
    leaf = left < 0
    threshold = _joined(trees, "threshold")
    threshold[~leaf] = at_most(threshold[~leaf], "float32")
    if columns is not None:
        first = np.repeat(np.cumsum([0, *[len(some) for some in columns]])[:-1], counts)
        feature = np.concatenate(columns)[first + np.where(leaf, 0, feature)]
    nodes = Nodes(
        feature=np.where(leaf, -1, feature),
        threshold=threshold,
        left=np.where(leaf, -1, left + shift),
        right=np.where(leaf, -1, _joined(trees, "children_right") + shift),
        missing_left=_joined(trees, "missing_go_to_left").astype(np.bool_),
        cover=_joined(trees, "weighted_n_node_samples"),
        value=np.where(leaf[:, None], value, 0.0),
    )
    return nodes, roots


def _joined(trees: list[Any], name: str) -> Any:
    return np.concatenate([getattr(each, name) for each in trees])


def _model(
    nodes: Nodes, roots: IntArray, output: IntArray, base: FloatArray, n_features: int, link: Link, scale: Scale
) -> TreeModel:
    return TreeModel(
        ensemble=TreeEnsemble(nodes, roots, output, base, n_features),
        encode=numbers,
        source=np.arange(n_features),
        link=link,
        scale=scale,
    )


_HIST_WORDS = 4  # 256 bits: a column has at most 255 categories


@dataclass(frozen=True)
class _Coded:
    """The model's own coding of its categorical columns."""

    model: Any

    def __call__(self, table: Any) -> FloatArray:
        return np.asarray(self.model._preprocess_X(dense(table), reset=False), dtype=np.float64)


def hist_gradient_boosting(model: Any) -> TreeModel:
    """The baseline plus the trees; one tree per class and iteration."""
    predictors = [each for iteration in model._predictors for each in iteration]
    per_iteration = model.n_trees_per_iteration_
    nodes, roots = _hist_nodes(model, predictors)
    link, scale = LINKS.get(type(model._loss.link).__name__, ("other", "score"))
    categorical = model.is_categorical_
    return TreeModel(
        ensemble=TreeEnsemble(
            nodes=nodes,
            roots=roots,
            output=np.tile(np.arange(per_iteration), len(model._predictors)),
            base=np.broadcast_to(np.ravel(model._baseline_prediction), (per_iteration,)),
            n_features=model.n_features_in_,
        ),
        encode=numbers if categorical is None else _Coded(model),
        source=(
            np.arange(model.n_features_in_)
            if categorical is None
            else np.concatenate([np.flatnonzero(categorical), np.flatnonzero(~categorical)])
        ),
        link=link,
        scale=scale,
    )


def _hist_nodes(model: Any, predictors: list[Any]) -> tuple[Nodes, IntArray]:
    counts = np.array([len(each.nodes) for each in predictors], dtype=np.intp)
    roots = np.cumsum(counts) - counts
    shift = np.repeat(roots, counts)
    raw = np.concatenate([each.nodes for each in predictors])
    leaf = raw["is_leaf"].astype(np.bool_)
    missing_left = raw["missing_go_to_left"].astype(np.bool_)
    split = np.flatnonzero(raw["is_categorical"].astype(np.bool_) & ~leaf)
    set_start = np.full(len(raw), -1)
    set_start[split] = _HIST_WORDS * np.arange(len(split))
    set_words = np.zeros(len(raw), np.intp)
    set_words[split] = _HIST_WORDS
    nodes = Nodes(
        feature=np.where(leaf, -1, raw["feature_idx"]),
        threshold=raw["num_threshold"],
        left=np.where(leaf, -1, raw["left"] + shift),
        right=np.where(leaf, -1, raw["right"] + shift),
        missing_left=missing_left,
        cover=raw["count"],
        value=np.where(leaf, raw["value"], 0.0),
        set_start=set_start,
        set_words=set_words,
        other_left=missing_left,
        sets=_hist_sets(model, predictors, raw[split], np.repeat(np.arange(len(counts)), counts)[split]),
    )
    return nodes, roots


def _hist_sets(model: Any, predictors: list[Any], split: AnyArray, tree: IntArray) -> AnyArray:
    """The categories that go left at each categorical split; those not known go where missing values go."""
    if not len(split):
        return np.empty(0, np.uint64)
    bitsets = [each.raw_left_cat_bitsets for each in predictors]
    first = np.cumsum([0, *[len(some) for some in bitsets]])
    left = np.concatenate(bitsets)[first[tree] + split["bitset_idx"]]
    known, place = model._bin_mapper.make_known_categories_bitsets()
    unknown = ~known[place[split["feature_idx"]]]
    goes = left | np.where(split["missing_go_to_left"].astype(np.bool_)[:, None], unknown, np.uint32(0))
    halves = goes.astype(np.uint64)
    return (halves[:, 0::2] | (halves[:, 1::2] << np.uint64(32))).ravel()
