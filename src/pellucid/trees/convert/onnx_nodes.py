"""The tree operators of ONNX (ai.onnx.ml 1 to 5) as trees.

Every comparison is brought to ``x <= t``: ``<`` by the number before t, ``>`` and ``>=`` by exchanging the
branches, ``== t`` and set membership by one node on each side of every value, with a copy of the branches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.trees.convert.tree_model import Unsupported
from pellucid.trees.ensemble import Nodes, Precision, TreeEnsemble, at_most, less_than

MOST_NODES = 4_000_000  # nodes after copying the branches of == and membership nodes
_MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")
_LEQ, _LT, _GTE, _GT, _EQ, _NEQ, _MEMBER, _LEAF = range(8)
# of version 5; onnxruntime exchanges what the specification calls SOFTMAX and LOGISTIC, so that neither is sure
_POST = ("NONE", "SOFTMAX or LOGISTIC", "LOGISTIC or SOFTMAX", "SOFTMAX_ZERO", "PROBIT")
_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


@dataclass(frozen=True, eq=False)
class Operator:
    """A tree operator with its attributes brought to one form; node numbers are positions in the arrays."""

    feature: IntArray
    mode: IntArray
    split: FloatArray
    true: IntArray
    false: IntArray
    tracks: BoolArray  # whether a missing value goes to the true branch whatever the comparison says
    members: dict[int, FloatArray]
    hits: FloatArray | None
    roots: IntArray
    leaf: IntArray  # node, target and weight of every number that a leaf adds
    target: IntArray
    weight: FloatArray
    targets: int
    base: FloatArray
    post: str
    average: bool
    classes: int | None = None  # how many labels, of a classifier


def operator(node: Any) -> Operator:
    """Read a TreeEnsembleRegressor, TreeEnsembleClassifier or TreeEnsemble node of an ONNX graph."""
    from onnx import helper, numpy_helper

    given = {}
    for entry in node.attribute:
        value = helper.get_attribute_value(entry)
        given[entry.name] = numpy_helper.to_array(value) if hasattr(value, "raw_data") else value
    return _of_arrays(given) if node.op_type == "TreeEnsemble" else _of_lists(given, node.op_type)


def _of_lists(given: dict[str, Any], name: str) -> Operator:
    """Operators of ai.onnx.ml 1 to 3: one list per attribute, nodes named by tree and number."""
    classifies = name == "TreeEnsembleClassifier"
    kind = "class" if classifies else "target"
    tree, number = _ints(given, "nodes_treeids"), _ints(given, "nodes_nodeids")
    modes = [mode.decode() for mode in given.get("nodes_modes", [])]
    for unknown in sorted(set(modes) - {*_MODES[:6], "LEAF"}):
        raise Unsupported(f"ONNX node mode {unknown} in {name}")
    mode = np.array([_LEAF if m == "LEAF" else _MODES.index(m) for m in modes], dtype=np.int64)
    find = _Finder(tree, number, name)
    inner = np.flatnonzero(mode != _LEAF)
    true, false = np.full(len(mode), -1), np.full(len(mode), -1)
    true[inner] = find(tree[inner], _ints(given, "nodes_truenodeids")[inner])
    false[inner] = find(tree[inner], _ints(given, "nodes_falsenodeids")[inner])
    leaf = find(_ints(given, f"{kind}_treeids"), _ints(given, f"{kind}_nodeids"))
    target, weight = _ints(given, f"{kind}_ids"), _floats(given, f"{kind}_weights")
    kept = mode[leaf] == _LEAF  # runtimes pass over weights at inner nodes
    labels = given.get("classlabels_strings") or given.get("classlabels_int64s") or []
    hits = _floats(given, "nodes_hitrates")
    return Operator(
        feature=_ints(given, "nodes_featureids"),
        mode=mode,
        split=_floats(given, "nodes_values"),
        true=true,
        false=false,
        tracks=_tracks(given, len(mode)),
        members={},
        hits=hits if len(hits) == len(mode) else None,
        roots=_roots(tree, true, false, name),
        leaf=leaf[kept],
        target=target[kept],
        weight=weight[kept],
        targets=len(labels) if classifies else int(given.get("n_targets", 1)),
        base=_floats(given, "base_values"),
        post=given.get("post_transform", b"NONE").decode(),
        average=_is_average(given.get("aggregate_function", b"SUM").decode(), name),
        classes=len(labels) if classifies else None,
    )


def _of_arrays(given: dict[str, Any]) -> Operator:
    """The operator TreeEnsemble of ai.onnx.ml 5: nodes and leaves are numbered apart."""
    mode = np.asarray(given["nodes_modes"], dtype=np.int64)
    if (mode > _MEMBER).any():
        raise Unsupported(f"ONNX node mode {int(mode.max())} in TreeEnsemble")
    count = len(mode)
    target, weight = _ints(given, "leaf_targetids"), _floats(given, "leaf_weights")
    true = _ints(given, "nodes_truenodeids") + count * (_ints(given, "nodes_trueleafs") != 0)
    false = _ints(given, "nodes_falsenodeids") + count * (_ints(given, "nodes_falseleafs") != 0)
    no_child, zeros = np.full(len(target), -1), np.zeros(len(target))
    return Operator(
        feature=np.append(_ints(given, "nodes_featureids"), no_child),
        mode=np.append(mode, np.full(len(target), _LEAF)),
        split=np.append(_floats(given, "nodes_splits"), zeros),
        true=np.append(true, no_child),
        false=np.append(false, no_child),
        tracks=_tracks(given, count + len(target)),
        members=_members(mode, _floats(given, "membership_values")),
        hits=None,  # leaves have none
        roots=_ints(given, "tree_roots"),
        leaf=count + np.arange(len(target)),
        target=target,
        weight=weight,
        targets=int(given["n_targets"]),
        base=np.empty(0),
        post=_POST[given.get("post_transform", 0)],
        average=_is_average(_AGGREGATES[given.get("aggregate_function", 1)], "TreeEnsemble"),
    )


class _Finder:
    """Position of a node from the number of its tree and its own."""

    def __init__(self, tree: IntArray, number: IntArray, name: str) -> None:
        self._stride = int(number.max(initial=0)) + 1
        self._name = name
        key = tree * self._stride + number
        self._order = np.argsort(key)
        self._sorted = key[self._order]

    def __call__(self, tree: IntArray, number: IntArray) -> IntArray:
        key = tree * self._stride + number
        at = np.minimum(np.searchsorted(self._sorted, key), len(self._sorted) - 1)
        if (self._sorted[at] != key).any() or (number >= self._stride).any():
            raise Unsupported(f"ONNX {self._name} that names a node it does not have")
        return self._order[at]


def _roots(tree: IntArray, true: IntArray, false: IntArray, name: str) -> IntArray:
    """The first node of each tree, which must be the one that is nobody's child."""
    first = np.flatnonzero(np.diff(tree, prepend=tree[:1] - 1) != 0)
    children = np.concatenate([true, false])
    free = np.setdiff1d(np.arange(len(tree)), children[children >= 0])
    if len(np.unique(tree)) != len(first) or not np.isin(first, free).all():
        raise Unsupported(f"ONNX {name} whose trees do not begin with their root")
    return first


def _tracks(given: dict[str, Any], count: int) -> BoolArray:
    given_for = _ints(given, "nodes_missing_value_tracks_true")
    tracks = np.zeros(count, dtype=np.bool_)
    tracks[: len(given_for)] = given_for == 1
    return tracks


def _members(mode: IntArray, values: FloatArray) -> dict[int, FloatArray]:
    """The sets of membership nodes, which lie one after another with a NaN between."""
    at = np.flatnonzero(mode == _MEMBER)
    ends = np.append(np.flatnonzero(np.isnan(values)), len(values))
    sets, start = {}, 0
    for node, end in zip(at.tolist(), ends.tolist(), strict=False):
        sets[node] = np.unique(values[start:end])
        start = end + 1
    if len(sets) < len(at) or any(not len(values) for values in sets.values()):
        raise Unsupported("ONNX BRANCH_MEMBER node without membership_values")
    return sets


def _is_average(aggregate: str, name: str) -> bool:
    if aggregate not in ("SUM", "AVERAGE"):
        raise Unsupported(f"ONNX aggregate_function {aggregate} in {name}")
    return aggregate == "AVERAGE"


def _ints(given: dict[str, Any], name: str) -> IntArray:
    return np.asarray(given.get(name, []), dtype=np.int64)


def _floats(given: dict[str, Any], name: str) -> FloatArray:
    """An attribute, as floats or, where doubles are meant, under its other name as a tensor."""
    values = given.get(name)
    if values is None or not len(values):
        values = given.get(f"{name}_as_tensor", [])
    return np.asarray(values, dtype=np.float64)


# ---------------------------------------------------------------------------------------------- trees


def trees(
    found: Operator, precision: Precision, n_features: int | None, *, most_nodes: int = MOST_NODES
) -> TreeEnsemble:
    """The sums of the trees, one output per target; `base` is left at zero."""
    shared = _Shared(found, precision)
    nodes, order, tree, roots = shared.unrolled(found.roots, most_nodes)
    weight = found.weight / len(found.roots) if found.average else found.weight
    if len(found.target) and int(found.target.max()) >= found.targets:
        raise Unsupported(f"ONNX target {int(found.target.max())} of {found.targets}")
    key = found.leaf * found.targets + found.target
    if len(np.unique(key)) < len(key):
        raise Unsupported("ONNX leaf with two weights for one target")
    value, output = _values(found, weight, len(shared.feature), order, tree)
    used = int(nodes["feature"].max(initial=-1)) + 1
    if n_features is not None and used > n_features:
        raise Unsupported(f"ONNX tree that compares column {used - 1} of {n_features}")
    return TreeEnsemble(
        nodes=Nodes(value=value, cover=_cover(found, nodes, order, roots), **nodes),
        roots=roots,
        output=output,
        base=np.zeros(found.targets),
        n_features=used if n_features is None else n_features,
    )


class _Shared:
    """Nodes that compare with ``<=`` only; equality and membership nodes share their branches."""

    @np.errstate(over="ignore")  # nothing but infinity is below the lowest single
    def __init__(self, found: Operator, precision: Precision) -> None:
        self._precision: Precision = precision
        mode = found.mode
        swapped = np.isin(mode, (_GTE, _GT))
        strict = np.isin(mode, (_LT, _GTE))
        threshold = np.where(strict, less_than(found.split, precision), at_most(found.split, precision))
        self.feature = np.where(mode == _LEAF, -1, found.feature)
        self.threshold = np.where(mode == _LEAF, np.nan, threshold)
        self.left = np.where(swapped, found.false, found.true)
        self.right = np.where(swapped, found.true, found.false)
        self.missing_left = np.where(swapped, ~found.tracks, found.tracks) & (mode != _LEAF)
        self._expand(found)

    def _expand(self, found: Operator) -> None:
        """Replace a node for ``x in {a < b < ...}`` by a search among the intervals ``< a, = a, < b, = b, ...``."""
        more: list[tuple[int, float, int, int, bool]] = []
        count = len(self.feature)
        for at in np.flatnonzero(np.isin(found.mode, (_EQ, _NEQ, _MEMBER))).tolist():
            values = found.members.get(at, found.split[at : at + 1])
            inside, outside = found.true[at], found.false[at]
            if found.mode[at] == _NEQ:
                inside, outside = outside, inside
            # NaN differs from every number, so that it follows != to the true branch
            missing_inside = bool(found.tracks[at]) and found.mode[at] != _NEQ
            ends = self._ends(values, found.mode[at] == _MEMBER)
            targets = [outside, inside] * len(values) + [outside]
            # NaN goes to the first interval or, where it counts as inside, to the second
            self._search(more, count, at, ends, targets, int(missing_inside))
        if more:
            feature, threshold, left, right, missing = (np.array(part) for part in zip(*more, strict=True))
            self.feature = np.append(self.feature, feature)
            self.threshold = np.append(self.threshold, threshold)
            self.left = np.append(self.left, left)
            self.right = np.append(self.right, right)
            self.missing_left = np.append(self.missing_left, missing)

    def _ends(self, values: FloatArray, is_set: bool) -> FloatArray:
        """Below and up to each value; onnxruntime cuts x to a whole number in all but small sets of 0, ..., 30."""
        if not is_set or (len(values) < 31 and values[0] >= 0 and values[-1] <= 30):
            low, high = less_than(values, self._precision), at_most(values, self._precision)
        elif (values != np.round(values)).any() or (np.abs(values) >= 2**24).any():
            raise Unsupported("ONNX BRANCH_MEMBER node with values that are not whole numbers below 2^24")
        else:
            before, after = at_most(values - 1, self._precision), less_than(values + 1, self._precision)
            low = np.where(values > 0, less_than(values, self._precision), before)
            high = np.where(values < 0, at_most(values, self._precision), after)
        return np.stack([low, high], axis=1).ravel()

    def _search(self, more: list[Any], count: int, at: int, ends: FloatArray, targets: list[int], missing: int) -> None:
        """A balanced search in the node's place: interval i ends with ends[i] and leads to targets[i]."""
        feature = int(self.feature[at])

        def node(low: int, high: int, place: int) -> int:
            """Nodes for intervals low..high; `place` is where the first of them goes, -1 for a new one."""
            if low == high:
                return targets[low]
            middle = (low + high) // 2
            if place < 0:
                place = count + len(more)
                more.append(None)
            left, right = node(low, middle, -1), node(middle + 1, high, -1)
            # a NaN threshold (nothing is below minus infinity) never goes left, as it should
            row = (feature, float(ends[middle]), left, right, missing <= middle)
            if place < count:
                self.threshold[place], self.left[place], self.right[place] = row[1:4]
                self.missing_left[place] = row[4]
            else:
                more[place - count] = row
            return place

        node(0, len(targets) - 1, at)

    def unrolled(self, roots: IntArray, most: int) -> tuple[dict[str, Any], IntArray, IntArray, IntArray]:
        """Trees without shared branches: node arrays, the node each is a copy of, its tree, and the roots."""
        level, tree = roots, np.arange(len(roots))
        levels, owners, lefts = [], [], []
        total = 0
        while len(level):
            total += len(level)
            if total > most:
                raise Unsupported(f"ONNX BRANCH_EQ, BRANCH_NEQ or BRANCH_MEMBER nodes that need more than {most} nodes")
            inner = self.feature[level] >= 0
            lefts.append(np.where(inner, total + 2 * (np.cumsum(inner) - 1), -1))
            levels.append(level)
            owners.append(tree)
            parents = level[inner]
            level = np.stack([self.left[parents], self.right[parents]], axis=1).ravel()
            tree = np.repeat(tree[inner], 2)
        copied, owner, left = np.concatenate(levels), np.concatenate(owners), np.concatenate(lefts)
        order = np.argsort(owner, kind="stable")  # one tree after another
        place = np.empty_like(order)
        place[order] = np.arange(total)
        left, copied = left[order], copied[order]
        inner = left >= 0
        nodes = {
            "feature": self.feature[copied],
            "threshold": self.threshold[copied],
            "left": np.where(inner, place[left], -1),
            "right": np.where(inner, place[np.minimum(left + 1, total - 1)], -1),
            "missing_left": self.missing_left[copied],
        }
        return nodes, copied, owner[order], place[: len(roots)]


def _values(
    found: Operator, weight: FloatArray, shared: int, order: IntArray, tree: IntArray
) -> tuple[FloatArray, IntArray]:
    """What each node adds, and the output of each tree: one column where every tree serves one target."""
    of = np.full(shared, -1)
    of[found.leaf] = found.target
    target = of[order]
    lowest, highest = np.full(len(found.roots), found.targets), np.full(len(found.roots), -1)
    known = target >= 0
    np.minimum.at(lowest, tree[known], target[known])
    np.maximum.at(highest, tree[known], target[known])
    if len(np.unique(found.leaf)) == len(found.leaf) and (lowest >= highest).all():
        single = np.zeros((shared, 1))
        single[found.leaf, 0] = weight
        return single[order], np.maximum(highest, 0)
    value = np.zeros((shared, found.targets))
    value[found.leaf, found.target] = weight
    return value[order], np.zeros(len(found.roots), dtype=np.int64)


def _cover(found: Operator, nodes: dict[str, Any], order: IntArray, roots: IntArray) -> FloatArray:
    """Hit rates where the model has true ones: the branches of every node add up to it; else unknown."""
    unknown = np.full(len(order), np.nan)
    if found.hits is None or len(order) != len(found.hits):
        return unknown
    hits = found.hits[order]
    inner = np.flatnonzero(nodes["feature"] >= 0)
    total = hits[nodes["left"][inner]] + hits[nodes["right"][inner]]
    adds_up = len(inner) and np.allclose(hits[inner], total, rtol=1e-4) and (hits[roots] > 0).all()
    return hits if adds_up and (hits >= 0).all() else unknown
