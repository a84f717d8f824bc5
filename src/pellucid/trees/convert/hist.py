"""scikit-learn's HistGradientBoosting: native categories and missing values, compared in double precision.

A model with categorical columns codes them first, moves them to the front, and treats a category that it has
not seen as missing; `encode` is that very step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.trees.convert.sklearn_trees import LINKS
from pellucid.trees.convert.tables import dense, numbers
from pellucid.trees.convert.tree_model import TreeModel
from pellucid.trees.ensemble import Nodes, TreeEnsemble

_WORDS = 4  # 256 bits: a column has at most 255 categories


@dataclass(frozen=True)
class _Coded:
    """The model's own coding of its categorical columns."""

    model: Any

    def __call__(self, table: Any) -> FloatArray:
        return np.asarray(self.model._preprocess_X(dense(table), reset=False), dtype=np.float64)


def convert(model: Any) -> TreeModel:
    """The baseline plus the trees; one tree per class and iteration."""
    predictors = [each for iteration in model._predictors for each in iteration]
    per_iteration = model.n_trees_per_iteration_
    nodes, roots = _nodes(model, predictors)
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


def _nodes(model: Any, predictors: list[Any]) -> tuple[Nodes, IntArray]:
    counts = np.array([len(each.nodes) for each in predictors], dtype=np.intp)
    roots = np.cumsum(counts) - counts
    shift = np.repeat(roots, counts)
    raw = np.concatenate([each.nodes for each in predictors])
    leaf = raw["is_leaf"].astype(np.bool_)
    missing_left = raw["missing_go_to_left"].astype(np.bool_)
    split = np.flatnonzero(raw["is_categorical"].astype(np.bool_) & ~leaf)
    set_start = np.full(len(raw), -1)
    set_start[split] = _WORDS * np.arange(len(split))
    set_words = np.zeros(len(raw), np.intp)
    set_words[split] = _WORDS
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
        sets=_sets(model, predictors, raw[split], np.repeat(np.arange(len(counts)), counts)[split]),
    )
    return nodes, roots


def _sets(model: Any, predictors: list[Any], split: AnyArray, tree: IntArray) -> AnyArray:
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
