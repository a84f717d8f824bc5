"""The trees of XGBoost's stored model as nodes: gbtree and dart, categories, vector leaves, pruned trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.trees.convert.tree_model import NotTrees, Unsupported
from pellucid.trees.ensemble import Nodes, TreeEnsemble, less_than

Learner = Mapping[str, Any]
Words = np.ndarray[tuple[int], np.dtype[np.uint64]]


def tree_ensemble(learner: Learner, rounds: int = 0) -> TreeEnsemble:
    """The trees of the first rounds (0: all), without the base score."""
    model, weights = model_of(learner["gradient_booster"])
    param = learner["learner_model_param"]
    n_outputs = max(int(param.get("num_class", 0)), int(param.get("num_target", 1)), 1)
    n_trees = _trees_of(model, rounds, n_outputs)
    trees = model["trees"][:n_trees]
    if not trees:
        raise Unsupported("an XGBoost model without trees")
    roots, nodes = _nodes(trees, None if weights is None else np.asarray(weights[:n_trees]))
    width = nodes.value.shape[1]
    if width not in (1, n_outputs):
        raise Unsupported(f"XGBoost leaves of {width} numbers in a model of {n_outputs} outputs")
    output = np.zeros(n_trees, np.int64) if width > 1 else np.asarray(model["tree_info"][:n_trees])
    return TreeEnsemble(nodes, roots, output, np.zeros(n_outputs), int(param["num_feature"]))


def model_of(booster: Mapping[str, Any]) -> tuple[Mapping[str, Any], Any]:
    """The trees' part of a booster, and with dropout (DART) the weight of each tree."""
    if booster["name"] == "gbtree":
        weights = booster["model"].get("weight_drop", ())  # of dropout, here since 3.4
        return booster["model"], weights if len(weights) else None
    if booster["name"] == "dart":
        return booster["gbtree"]["model"], booster["weight_drop"]
    raise NotTrees(f"the XGBoost booster {booster['name']!r} is not made of trees")


def _trees_of(model: Mapping[str, Any], rounds: int, n_outputs: int) -> int:
    """How many trees the first rounds have."""
    if not rounds:
        return len(model["trees"])
    if "iteration_indptr" in model:  # since 2.0
        ends = model["iteration_indptr"]
        return int(ends[min(rounds, len(ends) - 1)])
    return rounds * n_outputs * max(int(model["gbtree_model_param"]["num_parallel_tree"]), 1)


def _nodes(trees: Sequence[Mapping[str, Any]], weights: FloatArray | None) -> tuple[IntArray, Nodes]:
    def joined(key: str, dtype: type[np.generic]) -> Any:
        return np.concatenate([np.asarray(tree[key]) for tree in trees]).astype(dtype)

    sizes = np.array([len(tree["left_children"]) for tree in trees])
    roots = np.cumsum(sizes) - sizes
    shift = np.repeat(roots, sizes)
    left, right = joined("left_children", np.int64), joined("right_children", np.int64)
    leaf = left < 0
    value = _leaf_values(trees, leaf, right, sizes)
    if weights is not None:
        value = value * np.repeat(weights.astype(np.float64), sizes)[:, None]
    feature = np.where(leaf, -1, joined("split_indices", np.int64))
    start, words, sets = _category_sets(trees, roots, len(leaf))
    _check_kinds(feature, start, joined("split_type", np.int64))
    nodes = Nodes(
        feature=feature,
        threshold=np.where(leaf | (start >= 0), 0, less_than(joined("split_conditions", np.float32), "float32")),
        left=np.where(leaf, -1, left + shift),
        right=np.where(leaf, -1, right + shift),
        missing_left=joined("default_left", np.bool_) & ~leaf,
        cover=joined("sum_hessian", np.float64),
        value=value,
        set_start=start,
        set_words=words,
        other_left=start >= 0,
        sets=sets,
    )
    return _reached(roots, nodes)


def _leaf_values(trees: Sequence[Mapping[str, Any]], leaf: BoolArray, right: IntArray, sizes: IntArray) -> FloatArray:
    """``(nodes, width)``; a leaf's number is in place of its threshold, its vector in a list of its own."""
    widths = {max(int(tree["tree_param"]["size_leaf_vector"]), 1) for tree in trees}
    if len(widths) > 1:
        raise Unsupported("XGBoost trees with leaves of different widths in one model")
    width = widths.pop()
    if width == 1:
        value = np.concatenate([np.asarray(tree["split_conditions"], np.float64) for tree in trees])
        return np.where(leaf, value, 0)[:, None]
    if any(
        len(tree.get("leaf_weights", ())) == 0 or len(tree.get("sum_hessian", ())) != n
        for tree, n in zip(trees, sizes, strict=True)
    ):
        raise Unsupported(
            "XGBoost's vector leaves (multi_output_tree) as stored before version 3.2: they have no cover"
        )
    vectors = [np.reshape(tree["leaf_weights"], (-1, width)).astype(np.float64) for tree in trees]
    counts = np.array([len(some) for some in vectors])
    # The right child of a leaf is the number of its vector.
    row = right + np.repeat(np.cumsum(counts) - counts, sizes)
    out = np.zeros((len(leaf), width))
    out[leaf] = np.concatenate(vectors)[row[leaf]]
    return out


def _category_sets(
    trees: Sequence[Mapping[str, Any]], roots: IntArray, n_nodes: int
) -> tuple[IntArray, IntArray, Words]:
    """Bit-sets of the categories that go left: all but those in a node's list."""
    start, words = np.full(n_nodes, -1), np.zeros(n_nodes, np.int64)
    some = [t for t, tree in enumerate(trees) if len(tree.get("categories_nodes", ()))]
    if not some:
        return start, words, np.empty(0, np.uint64)

    def joined(key: str, shift: Sequence[int]) -> IntArray:
        parts = [np.asarray(trees[t][key], np.int64) + s for t, s in zip(some, shift, strict=True)]
        return np.concatenate(parts)

    lengths = np.array([len(trees[t]["categories"]) for t in some])
    none = [0] * len(some)
    node = joined("categories_nodes", roots[some].tolist())
    begin = joined("categories_segments", (np.cumsum(lengths) - lengths).tolist())
    size, code = joined("categories_sizes", none), joined("categories", none)

    owner = np.repeat(np.arange(len(node)), size)
    code = code[np.repeat(begin - (np.cumsum(size) - size), size) + np.arange(len(owner))]
    top = np.zeros(len(node), np.int64)
    np.maximum.at(top, owner, code)
    words[node] = top // 64 + 1
    start[node] = np.cumsum(words[node]) - words[node]
    sets = np.full(words.sum(), ~np.uint64(0))
    bit = np.uint64(1) << (code % 64).astype(np.uint64)
    np.bitwise_and.at(sets, start[node][owner] + code // 64, ~bit)
    return start, words, sets


def _check_kinds(feature: IntArray, start: IntArray, kind: IntArray) -> None:
    """Every split is a number's (0) or a category's (1), and a feature has splits of one kind."""
    inner = feature >= 0
    if (kind[inner] != (start[inner] >= 0)).any():
        raise Unsupported("XGBoost splits whose kind (split_type) is neither a number's nor a category's")
    mixed = np.intersect1d(feature[inner & (start >= 0)], feature[inner & (start < 0)])
    if len(mixed):
        raise Unsupported(f"an XGBoost model that splits column {mixed[0]} both as a number and as a category")


def _reached(roots: IntArray, nodes: Nodes) -> tuple[IntArray, Nodes]:
    """Without the nodes that pruning cut off, children after their parents."""
    depth = np.full(len(nodes.feature), -1)
    level, at = 0, roots
    while len(at):
        depth[at] = level
        at = at[nodes.feature[at] >= 0]
        at = np.concatenate([nodes.left[at], nodes.right[at]])
        level += 1
    inner = np.flatnonzero(nodes.feature >= 0)
    later = (nodes.left[inner] > inner) & (nodes.right[inner] > inner)
    if (depth >= 0).all() and later.all():
        return roots, nodes
    tree = np.searchsorted(roots, np.arange(len(depth)), side="right")
    order = np.lexsort((depth, tree))
    order = order[depth[order] >= 0]
    place = np.full(len(depth), -1)
    place[order] = np.arange(len(order))
    names = ("feature", "threshold", "missing_left", "cover", "value", "set_start", "set_words", "other_left")
    kept = {name: getattr(nodes, name)[order] for name in names}
    children = {
        side: np.where(kept["feature"] >= 0, place[getattr(nodes, side)[order]], -1) for side in ("left", "right")
    }
    return place[roots], Nodes(**kept, **children, sets=nodes.sets)
