"""CatBoost: symmetric trees, depth-wise and loss-guided trees, read from the model's own JSON description.

A number goes right if it is above the border after rounding to single precision; a category goes right if
it is the one the split names, or if its target statistic is above the border (see `catboost_ctr`). Statistics of
combinations of columns are written out (see `catboost_expand`). CatBoost knows categories by a hash of their text only
(see `catboost_hash`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data.frames.doorway import library_of
from pellucid.errors import InputError
from pellucid.trees.convert.catboost_expand import Written, expand
from pellucid.trees.convert.catboost_hash import category_hash
from pellucid.trees.convert.catboost_splits import Splits
from pellucid.trees.convert.tree_model import Link, TreeModel, Unsupported, matrix
from pellucid.trees.ensemble import Nodes, TreeEnsemble, at_most

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
_MOST_NODES = 1 << 20  # of trees that are written out
_LEAF = (-1, np.nan, False, -1)  # a leaf in the place of a split


def convert(model: Any) -> TreeModel:
    """The trees that the model's predict uses; text and embeddings are refused."""
    description = _description(model)
    splits = Splits(description["features_info"], description.get("ctr_data", {}), list(model.feature_names_))
    if "oblivious_trees" in description:
        trees = description["oblivious_trees"]
        nodes, roots = (_expanded if splits.combine(trees) else _symmetric)(trees, splits)
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


# ---------------------------------------------------------------------------------------------- trees


def _symmetric(trees: list[dict[str, Any]], splits: Splits) -> tuple[Nodes, IntArray]:
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


def _expanded(trees: list[dict[str, Any]], splits: Splits) -> tuple[Nodes, IntArray]:
    """Trees whose splits look at several columns, written out; how many training rows reached a leaf is not known."""
    written = Written(_MOST_NODES)
    sizes = {column: len(known) + 1 for column, known in splits.codes.items()}
    roots, value = [], []
    for tree in trees:
        decisions = [splits.decision(split) for split in tree.get("splits") or ()]
        roots.append(expand(decisions, sizes, written))
        leaves = np.reshape(tree["leaf_values"], (1 << len(decisions), -1))
        value.append(leaves[written.leaf[roots[-1] :]])  # of inner nodes any: they are set to zero below
    arrays = _Arrays(len(written.column), value[0].shape[1])
    arrays.feature[:], arrays.border[:] = written.column, written.border
    arrays.left[:], arrays.right[:] = written.left, written.right
    arrays.value[:] = np.where(arrays.feature[:, None] < 0, np.concatenate(value), 0.0)
    arrays.missing_left[:] = [not splits.missing_right(column) for column in written.column]
    pairs = zip(written.column, written.right_codes, strict=True)
    arrays.code[:] = [splits.set_of(column, codes) if codes else -1 for column, codes in pairs]
    return arrays.nodes(splits), np.array(roots)


def _heap_cover(trees: list[dict[str, Any]], leaves: int) -> FloatArray:
    """The weight of every node from the weights of the leaves; NaN where the model keeps none."""
    unknown = [np.nan] * leaves
    levels = [np.array([tree.get("leaf_weights") or unknown for tree in trees], dtype=np.float64)]
    while levels[0].shape[1] > 1:
        levels.insert(0, levels[0].reshape(len(trees), -1, 2).sum(axis=2))
    return np.concatenate(levels, axis=1)


def _asymmetric(trees: list[dict[str, Any]], splits: Splits) -> tuple[Nodes, IntArray]:
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

    def nodes(self, splits: Splits) -> Nodes:
        return Nodes(
            feature=self.feature,
            threshold=at_most(self.border, "float32"),
            left=self.left,
            right=self.right,
            missing_left=self.missing_left,
            cover=self.cover,
            value=self.value,
            **splits.sets(self.code),
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
