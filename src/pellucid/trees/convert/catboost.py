"""CatBoost: symmetric trees, depth-wise and loss-guided trees, read from the model's own JSON description.

A number goes right if it is above the border after rounding to single precision; a category goes right if
it is the one the split names. CatBoost knows categories by a hash of their text only (see `catboost_hash`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.data.frames.doorway import library_of
from pellucid.errors import InputError
from pellucid.trees.convert.catboost_hash import category_hash
from pellucid.trees.convert.tree_model import Link, TreeModel, Unsupported, matrix
from pellucid.trees.ensemble import Nodes, TreeEnsemble, at_most
from pellucid.words import listed

Scale = Literal["response", "probability", "log-odds", "score"]

_MEANING: dict[str, tuple[Link, Scale]] = {
    "Logloss": ("logistic", "log-odds"),
    "CrossEntropy": ("logistic", "log-odds"),
    "MultiClass": ("softmax", "score"),
    "MultiClassOneVsAll": ("one-vs-rest", "log-odds"),
    "MultiLogloss": ("one-vs-rest", "log-odds"),
    "MultiCrossEntropy": ("one-vs-rest", "log-odds"),
}
_RESPONSE = frozenset(
    [
        "RMSE",
        "MultiRMSE",
        "MultiRMSEWithMissingValues",
        "MAE",
        "MAPE",
        "Quantile",
        "MultiQuantile",
        "GroupQuantile",
        "Expectile",
        "LogCosh",
        "Huber",
        "Lq",
    ]
)
_LEAF = (-1, np.nan, False, -1)  # a leaf in the place of a split


def convert(model: Any) -> TreeModel:
    """The trees that the model's predict uses; ctr splits, text and embeddings are refused."""
    description = _description(model)
    splits = _Splits(description["features_info"], list(model.feature_names_))
    if "oblivious_trees" in description:
        nodes, roots = _symmetric(description["oblivious_trees"], splits)
    else:
        nodes, roots = _asymmetric(description["trees"], splits)
    scale, bias = description["scale_and_bias"]
    width = nodes.value.shape[1]
    ensemble = TreeEnsemble(
        nodes=nodes,
        roots=roots,
        output=np.zeros(len(roots), dtype=np.int64),
        base=np.broadcast_to(np.asarray(bias, dtype=np.float64), (width,)),
        n_features=len(splits.names),
    )
    link, meaning = _meaning(model, description)
    return TreeModel(
        ensemble=ensemble if scale == 1 else _scaled(ensemble, float(scale)),
        encode=_Encoder(tuple(splits.names), splits.codes),
        source=np.arange(len(splits.names)),
        link=link,
        scale=meaning,
    )


def _scaled(ensemble: TreeEnsemble, scale: float) -> TreeEnsemble:
    """The scale is of the trees alone, not of the bias."""
    scaled = ensemble.scaled(scale)
    return TreeEnsemble(scaled.nodes, scaled.roots, scaled.output, ensemble.base, ensemble.n_features)


def _description(model: Any) -> dict[str, Any]:
    """The model as CatBoost writes it to JSON."""
    import catboost

    for kind, positions in (
        ("text", model.get_text_feature_indices()),
        ("embedding", model.get_embedding_feature_indices()),
    ):
        if len(positions):
            raise Unsupported(f"CatBoost {kind} feature {model.feature_names_[positions[0]]!r}")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        try:
            model.save_model(str(path), format="json")
        except catboost.CatBoostError as error:
            raise Unsupported(f"a CatBoost model that cannot be written as JSON ({error})") from error
        description: dict[str, Any] = json.loads(path.read_bytes())
    if not description.get("oblivious_trees") and not description.get("trees"):
        raise Unsupported("a CatBoost model without trees")
    return description


def _meaning(model: Any, description: dict[str, Any]) -> tuple[Link, Scale]:
    """What the raw scores are, and how the model's predict turns them into predictions."""
    import catboost

    params = description["model_info"].get("params", {})
    loss = params.get("loss_function", {}).get("type", "")
    if loss in _MEANING:
        return _MEANING[loss]
    if loss in _RESPONSE:
        return "identity", "response"
    if isinstance(model, catboost.CatBoostRegressor) and loss in ("Poisson", "Tweedie"):
        return "exp", "score"
    if not loss or isinstance(model, catboost.CatBoostClassifier) or loss == "RMSEWithUncertainty":
        return "other", "score"
    return "identity", "score"


# --------------------------------------------------------------------------------------------- splits


class _Splits:
    """What the splits of a model mean, column by column."""

    def __init__(self, features: dict[str, Any], names: list[str]) -> None:
        self.names = names
        self._ctrs = features.get("ctrs", [])
        self._floats = features.get("float_features", [])
        self._categories = features.get("categorical_features", [])
        self.codes: dict[int, dict[int, int]] = {
            entry["flat_feature_index"]: {value: code for code, value in enumerate(entry.get("values", []))}
            for entry in self._categories
        }
        self._missing = {entry["flat_feature_index"]: entry["nan_value_treatment"] for entry in self._floats}

    def read(self, split: dict[str, Any]) -> tuple[int, float, bool, int]:
        """Column, border, whether a missing value goes left, and the code that goes right (-1: a number)."""
        kind = split["split_type"]
        if kind == "FloatFeature":
            column = self._floats[split["float_feature_index"]]["flat_feature_index"]
            return column, split["border"], self._missing[column] != "AsTrue", -1
        if kind == "OneHotFeature":
            column = self._categories[split["cat_feature_index"]]["flat_feature_index"]
            return column, np.nan, False, self.codes[column][split["value"]]
        if kind == "OnlineCtr":
            raise Unsupported(f"CatBoost ctr split on {self._of_ctr(split)}")
        raise Unsupported(f"CatBoost split of type {kind}")

    def _of_ctr(self, split: dict[str, Any]) -> str:
        """The categorical columns that a ctr is computed from; split numbers count borders, then values, then ctrs."""
        rest = split.get("split_index", -1)
        rest -= sum(len(entry.get("borders", [])) for entry in self._floats)
        rest -= sum(len(codes) for codes in self.codes.values())
        ends = np.cumsum([len(ctr["borders"]) for ctr in self._ctrs])
        place = int(np.searchsorted(ends, rest, side="right")) if rest >= 0 else len(ends)
        ctrs = self._ctrs[place : place + 1] or self._ctrs
        indices = sorted({e["cat_feature_index"] for c in ctrs for e in c["elements"] if "cat_feature_index" in e})
        return listed([repr(self.names[self._categories[k]["flat_feature_index"]]) for k in indices])

    def sets(self, feature: IntArray, code: IntArray) -> dict[str, AnyArray]:
        """The bit-sets of categorical nodes: all that is not the code goes left; equal nodes share a set."""
        start, words = np.full(len(code), -1), np.zeros(len(code), dtype=np.int64)
        pool: list[AnyArray] = []
        used = 0
        inner = np.flatnonzero(code >= 0)
        pairs, which = np.unique(np.stack([feature[inner], code[inner]], axis=1), axis=0, return_inverse=True)
        places = []
        for column, right in pairs:
            size = len(self.codes[int(column)]) // 64 + 1  # one bit more than codes: an unknown category
            bits = np.full(size, np.iinfo(np.uint64).max, dtype=np.uint64)
            bits[right // 64] ^= np.uint64(1) << np.uint64(right % 64)
            pool.append(bits)
            places.append((used, size))
            used += size
        if places:
            start[inner], words[inner] = np.array(places)[which.ravel()].T
        sets = np.concatenate(pool) if pool else np.empty(0, np.uint64)
        return {"set_start": start, "set_words": words, "other_left": code >= 0, "sets": sets}


# ---------------------------------------------------------------------------------------------- trees


def _symmetric(trees: list[dict[str, Any]], splits: _Splits) -> tuple[Nodes, IntArray]:
    """Full binary trees in heap order: the last split is the root, so that leaf i is the i-th from the left."""
    depths = np.array([len(tree.get("splits") or ()) for tree in trees])
    sizes = 2 ** (depths + 1) - 1
    roots = np.cumsum(sizes) - sizes
    total = int(sizes.sum())
    width = len(trees[0]["leaf_values"]) >> int(depths[0])
    arrays = _Arrays(total, width)
    for depth in np.unique(depths):
        members = np.flatnonzero(depths == depth)
        group = [trees[t] for t in members]
        leaves = 1 << int(depth)
        place = roots[members][:, None] + np.arange(2 * leaves - 1)
        values = np.array([tree["leaf_values"] for tree in group], dtype=np.float64)
        arrays.value[place[:, leaves - 1 :]] = values.reshape(len(group), leaves, width)
        arrays.cover[place] = _heap_cover(group, leaves)
        if depth == 0:
            continue
        read = [[splits.read(split) for split in tree["splits"]] for tree in group]
        columns, borders, missing, codes = (np.array([[split[k] for split in tree] for tree in read]) for k in range(4))
        level = np.repeat(np.arange(depth), 2 ** np.arange(depth))  # of each inner node
        inner = place[:, : leaves - 1]
        arrays.feature[inner] = columns[:, depth - 1 - level]
        arrays.border[inner] = borders[:, depth - 1 - level]
        arrays.missing_left[inner] = missing[:, depth - 1 - level]
        arrays.code[inner] = codes[:, depth - 1 - level]
        arrays.left[inner] = roots[members][:, None] + 2 * np.arange(leaves - 1) + 1
        arrays.right[inner] = arrays.left[inner] + 1
    return arrays.nodes(splits), roots


def _heap_cover(trees: list[dict[str, Any]], leaves: int) -> FloatArray:
    """The weight of every node from the weights of the leaves; NaN where the model keeps none."""
    unknown = [np.nan] * leaves
    levels = [np.array([tree.get("leaf_weights") or unknown for tree in trees], dtype=np.float64)]
    while levels[0].shape[1] > 1:
        levels.insert(0, levels[0].reshape(len(trees), -1, 2).sum(axis=2))
    return np.concatenate(levels, axis=1)


def _asymmetric(trees: list[dict[str, Any]], splits: _Splits) -> tuple[Nodes, IntArray]:
    """Nested nodes, written parents first, each before its left and then its right branch."""
    # plain lists: filling arrays one entry at a time takes several times longer
    rows: list[tuple[int, float, bool, int]] = []
    left: list[int] = []
    right: list[int] = []
    cover: list[float] = []
    value: list[Any] = []
    roots: list[int] = []
    leaf = _first_leaf(trees[0])["value"]
    width = len(leaf) if isinstance(leaf, list) else 1
    no_value = [0.0] * width if width > 1 else 0.0
    for tree in trees:
        roots.append(len(rows))
        stack = [(tree, -1)]
        while stack:
            node, parent = stack.pop()
            at = len(rows)
            if parent >= 0:
                right[parent] = at
            inner = "split" in node
            rows.append(splits.read(node["split"]) if inner else _LEAF)
            left.append(at + 1 if inner else -1)
            right.append(-1)
            cover.append(np.nan if inner else node.get("weight", np.nan))
            value.append(no_value if inner else node["value"])
            if inner:
                stack += [(node["right"], at), (node["left"], -1)]
    for at in range(len(rows) - 1, -1, -1):
        if left[at] >= 0:
            cover[at] = cover[left[at]] + cover[right[at]]
    arrays = _Arrays(len(rows), width)
    columns, borders, missing, codes = zip(*rows, strict=True)
    arrays.feature[:], arrays.border[:], arrays.missing_left[:], arrays.code[:] = (columns, borders, missing, codes)
    arrays.left[:], arrays.right[:], arrays.cover[:] = left, right, cover
    arrays.value[:] = np.reshape(value, (-1, width))
    return arrays.nodes(splits), np.array(roots)


def _first_leaf(node: dict[str, Any]) -> dict[str, Any]:
    while "split" in node:
        node = node["left"]
    return node


class _Arrays:
    """The arrays of `Nodes` while they are filled."""

    def __init__(self, size: int, width: int) -> None:
        self.feature: IntArray = np.full(size, -1)
        self.border: FloatArray = np.full(size, np.nan)
        self.left: IntArray = np.full(size, -1)
        self.right: IntArray = np.full(size, -1)
        self.missing_left: BoolArray = np.zeros(size, dtype=np.bool_)
        self.code: IntArray = np.full(size, -1)
        self.cover: FloatArray = np.full(size, np.nan)
        self.value: FloatArray = np.zeros((size, width))

    def nodes(self, splits: _Splits) -> Nodes:
        return Nodes(
            feature=self.feature,
            threshold=at_most(self.border, "float32"),
            left=self.left,
            right=self.right,
            missing_left=self.missing_left,
            cover=self.cover,
            value=self.value,
            **splits.sets(self.feature, self.code),
        )


# ----------------------------------------------------------------------------------------------- table


@dataclass(frozen=True)
class _Encoder:
    """Numbers as they are, categories as codes; a category that no split names has the code after the last."""

    names: tuple[str, ...]
    codes: dict[int, dict[int, int]]  # categorical column -> hash -> code

    def __call__(self, table: Any) -> FloatArray:
        if hasattr(table, "tocsr"):
            table = table.toarray()
        is_frame = "pandas" in library_of(table)
        if not is_frame:
            table = np.asarray(table)
            if table.dtype.kind in "fiub" and not self.codes:
                return matrix(table)
        encoded = np.empty((len(table), len(self.names)))
        for j in range(len(self.names)):
            column = table.iloc[:, j] if is_frame else table[:, j]
            encoded[:, j] = self._categories(column, j) if j in self.codes else _numbers(column)
        return encoded

    def _categories(self, column: Any, j: int) -> list[float]:
        known = self.codes[j]
        seen: dict[Any, float] = {}
        answer = []
        for value in np.asarray(column, dtype=object):
            code = seen.get(value)
            if code is None:
                code = seen[value] = float(known.get(category_hash(_text(value, self.names[j])), len(known)))
            answer.append(code)
        return answer


def _text(value: Any, name: str) -> bytes:
    """A category as CatBoost writes it: truth values are 1 and 0, real numbers are none."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    if isinstance(value, int | np.integer | np.bool_):
        return str(int(value)).encode()
    raise InputError(
        f"column {name!r} holds {value!r}, which is no category for CatBoost; give texts or whole numbers."
    )


def _numbers(column: Any) -> FloatArray:
    """A column of numbers; what is no plain number is read by CatBoost itself."""
    dtype = column.dtype
    if getattr(dtype, "kind", "O") in "fiub":
        options = {"na_value": np.nan} if hasattr(column, "to_numpy") else {}
        return np.asarray(column.to_numpy(dtype=np.float64, **options) if options else column, dtype=np.float64)
    import catboost

    return np.asarray(catboost.Pool(np.asarray(column, dtype=object)[:, None]).get_features()[:, 0])
