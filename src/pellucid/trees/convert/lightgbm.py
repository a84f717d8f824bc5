"""LightGBM's trees: Boosters and estimators, with categories, DART, random forests and early stopping.

The model is read from its own text. LightGBM compares in double precision, ``x <= threshold`` goes left; a
category goes left if it is in the node's set. What counts as missing is a property of each split: nothing
(NaN is 0), zero, or NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from pellucid.arrays import FloatArray, IntArray
from pellucid.errors import InputError
from pellucid.trees.convert.tree_model import Link, TreeModel, Unsupported, dense
from pellucid.trees.ensemble import Nodes, TreeEnsemble

Scale = Literal["response", "log-odds", "score"]
Tree = Mapping[str, str]
Words = np.ndarray[tuple[int], np.dtype[np.uint64]]

_ZERO: Final = float(np.float32(1e-35))  # LightGBM takes numbers up to this size for 0
_NONE, _AS_ZERO, _AS_NAN = 0, 1, 2  # what counts as missing at a split

_OBJECTIVES: Final[dict[str, tuple[Link, Scale]]] = {
    **dict.fromkeys(("regression", "regression_l1", "huber", "fair", "quantile", "mape"), ("identity", "response")),
    **dict.fromkeys(("lambdarank", "rank_xendcg", "custom", ""), ("identity", "score")),
    **dict.fromkeys(("binary", "cross_entropy"), ("logistic", "log-odds")),
    **dict.fromkeys(("poisson", "gamma", "tweedie"), ("exp", "score")),
    "multiclass": ("softmax", "score"),
    "multiclassova": ("one-vs-rest", "log-odds"),
}


def convert(model: Any) -> TreeModel:
    """The trees that the model's own predict uses: up to the best iteration, where there is one.

    A random forest's predictions are averages of its trees, and so are the scores here; only LightGBM's
    ``raw_score=True`` gives their sum.
    """
    import lightgbm

    estimator = isinstance(model, lightgbm.LGBMModel)
    if not estimator and not isinstance(model, lightgbm.Booster):
        raise Unsupported(f"{type(model).__name__} of lightgbm is neither a Booster nor an estimator")
    booster = model.booster_ if estimator else model
    head, trees = _stored(booster)
    ensemble = tree_ensemble(head, trees)
    _check(booster, ensemble, averaged="average_output" in head, n_trees=len(trees))
    link, scale = meaning(head.get("objective", ""))
    levels = booster.pandas_categorical
    return TreeModel(
        ensemble=ensemble,
        encode=Encode(
            levels=None if levels is None else tuple(tuple(some) for some in levels),
            zero_missing=tuple(_zero_missing(trees)),
        ),
        source=np.arange(ensemble.n_features),
        link=link,
        scale=scale,
    )


def _stored(booster: Any) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The model's text in parts of about a hundred trees: LightGBM writes a text above 1 MB twice."""
    per_round = booster.num_model_per_iteration()
    rounds = booster.num_trees() // per_round
    if booster.best_iteration > 0:
        rounds = min(rounds, booster.best_iteration)
    step = max(100 // per_round, 1)
    head: dict[str, str] = {}
    trees: list[dict[str, str]] = []
    for start in range(0, rounds, step):
        count = min(step, rounds - start)
        head, some = sections(booster.model_to_string(num_iteration=count, start_iteration=start))
        trees += some
    if not trees:
        raise Unsupported("a LightGBM model without trees")
    return head, trees


def _check(booster: Any, ensemble: TreeEnsemble, averaged: bool, n_trees: int) -> None:
    """The model itself must agree on a row in which everything is missing."""
    row = np.full((1, ensemble.n_features), np.nan)
    own = np.asarray(booster.predict(row, raw_score=True)).ravel()
    factor = n_trees // ensemble.n_outputs if averaged else 1
    if not np.allclose(factor * ensemble.predict(row)[0], own, rtol=1e-9, atol=1e-12):
        raise Unsupported("a LightGBM model whose text does not give its predictions")


def meaning(objective: str) -> tuple[Link, Scale]:
    """Link and scale of an objective such as ``binary sigmoid:1``."""
    name, *options = objective.split(" ")
    link, scale = _OBJECTIVES.get(name, ("other", "score"))
    steep = any(option.startswith("sigmoid:") and float(option[8:]) != 1 for option in options)
    if steep or "sqrt" in options:
        return "other", "score"
    return link, scale


def sections(text: str) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The head of a model's text and its trees, each as names with what stands after the sign of equality."""
    body = text.partition("\nend of trees")[0]
    head, *trees = [dict(_pairs(section)) for section in body.split("\nTree=")]
    return head, trees


def _pairs(section: str) -> list[tuple[str, str]]:
    parts = [line.partition("=") for line in section.splitlines()]
    return [(name, value) for name, _, value in parts]


def tree_ensemble(head: Mapping[str, str], trees: Sequence[Tree]) -> TreeEnsemble:
    """The trees of a model's text."""
    if head.get("version") not in {"v3", "v4"}:
        raise Unsupported(f"LightGBM's model text of version {head.get('version')!r}")
    if any(tree.get("is_linear", "0") != "0" for tree in trees):
        raise Unsupported("LightGBM's linear trees (linear_tree): their leaves hold linear models")
    roots, nodes = _nodes(trees)
    n_outputs = int(head["num_tree_per_iteration"])
    ensemble = TreeEnsemble(
        nodes=nodes,
        roots=roots,
        output=np.arange(len(trees)) % n_outputs,
        base=np.zeros(n_outputs),
        n_features=int(head["max_feature_idx"]) + 1,
    )
    return ensemble.scaled(n_outputs / len(trees)) if "average_output" in head else ensemble


def _integers(trees: Sequence[Tree], key: str) -> IntArray:
    return np.fromstring(" ".join([tree[key] for tree in trees]), dtype=np.int64, sep=" ")


def _numbers(trees: Sequence[Tree], key: str) -> FloatArray:
    return np.fromstring(" ".join([tree[key] for tree in trees]), dtype=np.float64, sep=" ")


def _nodes(trees: Sequence[Tree]) -> tuple[IntArray, Nodes]:
    """In each tree first the splits, in LightGBM's order, then the leaves."""
    leaves = np.array([int(tree["num_leaves"]) for tree in trees])
    splits = leaves - 1
    roots = np.cumsum(leaves + splits) - (leaves + splits)
    inner = _places(roots, splits)
    leaf = _places(roots + splits, leaves)
    n = len(inner) + len(leaf)

    def placed(at: IntArray, values: Any, fill: float, dtype: type[np.generic]) -> Any:
        out = np.full(n, fill, dtype)
        out[at] = values
        return out

    def child(key: str) -> IntArray:
        """Children are splits, or leaves counted down from -1."""
        c = _integers(trees, key)
        return placed(
            inner, np.repeat(roots, splits) + np.where(c >= 0, c, np.repeat(splits, splits) + ~c), -1, np.int64
        )

    threshold = _numbers(trees, "threshold")
    categorical, default_left, missing = _decisions(trees)
    start, words, sets = _category_sets(trees, splits, categorical, threshold)
    left, right = child("left_child"), child("right_child")
    if (np.minimum(left, right)[inner] <= inner).any():
        raise Unsupported("LightGBM trees whose splits are not numbered from the root down")
    to_left = np.where(missing == _NONE, threshold >= 0, default_left) & ~categorical
    cover = placed(inner, _integers(trees, "internal_count"), 1, np.float64)
    counted = np.repeat([tree["leaf_count"] != "" for tree in trees], leaves)  # not where there is one leaf
    cover[leaf[counted]] = _integers(trees, "leaf_count")
    return roots, Nodes(
        feature=placed(inner, _integers(trees, "split_feature"), -1, np.int64),
        threshold=placed(inner, np.where(categorical, 0, threshold), 0, np.float64),
        left=left,
        right=right,
        missing_left=placed(inner, to_left, False, np.bool_),
        cover=cover,
        value=placed(leaf, _numbers(trees, "leaf_value"), 0, np.float64),
        set_start=placed(inner, start, -1, np.int64),
        set_words=placed(inner, words, 0, np.int64),
        sets=sets,
    )


def _places(first: IntArray, count: IntArray) -> IntArray:
    """``first, first + 1, ...`` for each, one after another."""
    return np.repeat(first - (np.cumsum(count) - count), count) + np.arange(count.sum())


def _decisions(trees: Sequence[Tree]) -> tuple[Any, Any, Any]:
    """Of each split: whether it is a category's, whether missing values go left, and what they are."""
    bits = _integers(trees, "decision_type")
    if ((bits < 0) | (bits >> 2 > _AS_NAN)).any():
        raise Unsupported("LightGBM splits with unknown decision bits (decision_type)")
    return (bits & 1).astype(np.bool_), (bits & 2).astype(np.bool_), bits >> 2


def _zero_missing(trees: Sequence[Tree]) -> list[int]:
    """Columns whose zeros are missing; none may have splits that tell zeros from missing values."""
    feature = _integers(trees, "split_feature")
    categorical, _, missing = _decisions(trees)
    zero = np.unique(feature[(missing == _AS_ZERO) & ~categorical])
    mixed = np.intersect1d(zero, feature[(missing == _AS_NAN) | categorical])
    if len(mixed):
        raise Unsupported(f"a LightGBM model that takes zeros of column {mixed[0]} for missing in some splits only")
    return [int(j) for j in zero]


def _category_sets(
    trees: Sequence[Tree], splits: IntArray, categorical: Any, threshold: FloatArray
) -> tuple[IntArray, IntArray, Words]:
    """The sets of the splits, whose words of 32 bits become words of 64."""
    start, words = np.full(len(threshold), -1), np.zeros(len(threshold), np.int64)
    if not categorical.any():
        return start, words, np.empty(0, np.uint64)
    some = [tree for tree in trees if tree["num_cat"] != "0"]
    count = np.array([len(tree["cat_boundaries"].split()) for tree in some])
    total = np.array([len(tree["cat_threshold"].split()) for tree in some])
    boundary = _integers(some, "cat_boundaries") + np.repeat(np.cumsum(total) - total, count)
    first = np.zeros(len(trees), np.int64)  # of each tree's boundaries
    first[[tree["num_cat"] != "0" for tree in trees]] = np.cumsum(count) - count
    half = np.array(_integers(some, "cat_threshold"), dtype=np.uint64)

    number = threshold[categorical].astype(np.int64)  # the threshold is the set's number
    at = np.repeat(first, splits)[categorical] + number
    size = boundary[at + 1] - boundary[at]
    words[categorical] = np.maximum((size + 1) // 2, 1)
    start[categorical] = np.cumsum(words[categorical]) - words[categorical]
    owner = np.repeat(np.arange(len(at)), size)
    k = np.arange(len(owner)) - np.repeat(np.cumsum(size) - size, size)
    sets = np.zeros(words.sum(), np.uint64)
    word = half[boundary[at][owner] + k] << (32 * (k % 2)).astype(np.uint64)
    np.bitwise_or.at(sets, start[categorical][owner] + k // 2, word)
    return start, words, sets


@dataclass(frozen=True)
class Encode:
    """From the table that LightGBM's predict takes to the matrix that its trees compare.

    levels
        The levels of the columns that were pandas categories, in the order of those columns.
    zero_missing
        Columns whose zeros are missing.
    """

    levels: tuple[tuple[Any, ...], ...] | None
    zero_missing: tuple[int, ...]

    def __call__(self, table: Any) -> FloatArray:
        X = self._numbers(table)
        X[np.abs(X) <= _ZERO] = 0
        for j in self.zero_missing:
            X[X[:, j] == 0, j] = np.nan
        return X

    def _numbers(self, table: Any) -> FloatArray:
        if isinstance(table, pd.DataFrame):
            return self._frame(table)
        array = np.asarray(dense(table))
        if array.dtype not in (np.float32, np.float64):
            array = array.astype(np.float32)  # as LightGBM does, even with long whole numbers
        return np.array(array, dtype=np.float64)

    def _frame(self, table: Any) -> FloatArray:
        category = [isinstance(dtype, pd.CategoricalDtype) for dtype in table.dtypes]
        if not any(category):
            return np.array(table.to_numpy(dtype=np.float64, na_value=np.nan))
        if self.levels is not None and sum(category) != len(self.levels):
            raise InputError(
                f"LightGBM was trained with {len(self.levels)} columns of categories; the table has {sum(category)}."
            )
        X = np.empty(table.shape)
        known = iter(self.levels or [None] * sum(category))
        for j, is_category in enumerate(category):
            column = table.iloc[:, j]
            if is_category:
                X[:, j] = _codes(column, next(known))
            else:
                X[:, j] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return X


def _codes(column: Any, levels: tuple[Any, ...] | None) -> FloatArray:
    """Positions among the levels; unseen ones are missing."""
    if levels is not None:
        column = column.cat.set_categories(list(levels))
    code = column.cat.codes.to_numpy(dtype=np.float64)
    return np.where(code < 0, np.nan, code)
