"""TreeEnsemble: the one form into which every library's trees are brought.

All trees lie one after another in flat arrays, one entry per node. There is a single kind of comparison,

    a number goes left if  x <= threshold,        a category goes left if it is in the node's set,
    a missing value (NaN) goes left if missing_left,

to which the others are brought exactly, on rows of doubles: the rows for which a library finds ``x < t`` or
``x <= t`` after rounding x to single precision are the rows with ``x <= t'`` for one double t' (see `at_most`
and `less_than`). Weights of trees, learning rates and averages are inside the leaf values.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, Self

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray

Precision = Literal["float32", "float64"]
_CELLS = 1 << 22  # (row, tree) pairs that are walked together


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of all trees; children are positions in these same arrays, after their parent.

    feature
        Column that is compared; -1 at a leaf.
    threshold
        A number goes left if it is at most this; NaN: never.
    left, right
        Positions of the children; -1 at a leaf.
    missing_left
        Whether NaN goes left.
    cover
        Training weight that reached the node.
    value
        ``(nodes, width)``: what a leaf adds to the outputs; zero at inner nodes.
    set_start, set_words
        A categorical split: where its bit-set begins in `sets` and how many 64-bit words it has; -1 and 0
        at a numeric split. Category c is the number c itself, cut to a whole number.
    other_left
        Where a category goes that the set has no bit for (negative, or beyond its words).
    sets
        The words of all bit-sets.
    """

    feature: IntArray
    threshold: FloatArray
    left: IntArray
    right: IntArray
    missing_left: BoolArray
    cover: FloatArray
    value: FloatArray
    set_start: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    set_words: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    other_left: BoolArray = field(default_factory=lambda: np.empty(0, np.bool_))
    sets: np.ndarray[tuple[int], np.dtype[np.uint64]] = field(default_factory=lambda: np.empty(0, np.uint64))

    def __post_init__(self) -> None:
        n = len(self.feature)
        fill = {
            "feature": (np.int64, self.feature),
            "threshold": (np.float64, self.threshold),
            "left": (np.int64, self.left),
            "right": (np.int64, self.right),
            "missing_left": (np.bool_, self.missing_left),
            "cover": (np.float64, self.cover),
            "value": (np.float64, np.reshape(self.value, (n, -1))),
            "set_start": (np.int64, self.set_start if len(self.set_start) else np.full(n, -1)),
            "set_words": (np.int64, self.set_words if len(self.set_words) else np.zeros(n)),
            "other_left": (np.bool_, self.other_left if len(self.other_left) else np.zeros(n)),
            "sets": (np.uint64, self.sets),
        }
        for name, (dtype, array) in fill.items():
            fixed: AnyArray = np.array(array, dtype=dtype, order="C")
            fixed.setflags(write=False)
            object.__setattr__(self, name, fixed)


@dataclass(frozen=True, eq=False)
class TreeEnsemble:
    """Trees whose leaf values add up.

    Attributes
    ----------
    nodes
        See `Nodes`.
    roots
        Position of each tree's first node.
    output
        For each tree whose leaves hold one number, the output it is added to; 0 where leaves hold one number
        for every output.
    base
        One number per output, added to every prediction.
    n_features
        Columns of the matrix that is compared.
    """

    nodes: Nodes
    roots: IntArray
    output: IntArray
    base: FloatArray
    n_features: int

    def __post_init__(self) -> None:
        for name, dtype in (("roots", np.int64), ("output", np.int64), ("base", np.float64)):
            fixed = np.atleast_1d(np.array(getattr(self, name), dtype=dtype))
            fixed.setflags(write=False)
            object.__setattr__(self, name, fixed)
        if self.width > 1 and (self.width != len(self.base) or self.output.any()):
            raise ValueError("leaves hold one number, or one for every output")

    @property
    def n_outputs(self) -> int:
        """Numbers per prediction."""
        return len(self.base)

    @property
    def width(self) -> int:
        """Numbers per leaf."""
        return int(self.nodes.value.shape[1])

    def predict(self, X: FloatArray, *, cells: int = _CELLS) -> FloatArray:
        """Raw predictions ``(rows, outputs)``; plain numpy, all trees one level at a time."""
        X = np.asarray(X, dtype=np.float64)
        out = np.tile(self.base, (len(X), 1))
        step = max(1, cells // max(len(self.roots), 1))
        for start in range(0, len(X), step):
            leaf = self.leaves(X[start : start + step])
            for v in range(self.width):
                _scatter(out[start : start + step], self.nodes.value[leaf, v], self.output + v)
        return out

    def leaves(self, X: FloatArray) -> IntArray:
        """The leaf that each row reaches in each tree: ``(rows, trees)``."""
        nodes = self.nodes
        at = np.tile(self.roots, (len(X), 1))
        row, tree = np.nonzero(nodes.feature[at] >= 0)
        while len(row):
            node = at[row, tree]
            goes = self.goes_left(node, X[row, nodes.feature[node]])
            node = np.where(goes, nodes.left[node], nodes.right[node])
            at[row, tree] = node
            inner = nodes.feature[node] >= 0
            row, tree = row[inner], tree[inner]
        return at

    def leaf_values(self, leaf: IntArray, output: IntArray) -> FloatArray:
        """What leaves add to each output, ``(leaves, outputs)``; ``output`` is that of each one's tree."""
        own = self.nodes.value[leaf]
        if self.width > 1 or self.n_outputs == 1:
            return own
        value = np.zeros((len(own), self.n_outputs))
        value[np.arange(len(own)), output] = own[:, 0]
        return value

    def goes_left(self, node: IntArray, x: FloatArray) -> BoolArray:
        """Whether each value goes left at its node."""
        nodes = self.nodes
        goes = np.where(np.isnan(x), nodes.missing_left[node], x <= nodes.threshold[node])
        sets = np.flatnonzero((nodes.set_words[node] > 0) & ~np.isnan(x))
        if len(sets):
            goes[sets] = self._in_set(node[sets], x[sets])
        return goes

    def _in_set(self, node: IntArray, x: FloatArray) -> BoolArray:
        nodes = self.nodes
        bits = 64 * nodes.set_words[node]
        known = (x > -1) & (x < bits)  # cut to a whole number, -0.5 is 0
        code = np.where(known, x, 0).astype(np.int64)
        word = nodes.sets[np.minimum(nodes.set_start[node] + code // 64, len(nodes.sets) - 1)]
        member = (word >> (code % 64).astype(np.uint64)) & np.uint64(1)
        return np.where(known, member.astype(np.bool_), nodes.other_left[node])

    def select(self, outputs: IntArray) -> Self:
        """The same trees for some of the outputs, each named once, in the given order."""
        outputs = np.asarray(outputs, dtype=np.int64)
        if len(np.unique(outputs)) < len(outputs):
            raise ValueError("an output is named twice")
        if self.width > 1:
            value = self.nodes.value[:, outputs]
            return replace(
                self, nodes=replace(self.nodes, value=value), output=np.zeros_like(self.roots), base=self.base[outputs]
            )
        place = np.full(self.n_outputs, -1)
        place[outputs] = np.arange(len(outputs))
        kept = place[self.output] >= 0
        return replace(self, roots=self.roots[kept], output=place[self.output[kept]], base=self.base[outputs])

    def scaled(self, factor: float) -> Self:
        """The ensemble whose predictions are these times a number."""
        value = self.nodes.value * factor
        return replace(self, nodes=replace(self.nodes, value=value), base=self.base * factor)


def _scatter(out: FloatArray, values: FloatArray, output: IntArray) -> None:
    """``out[:, output[t]] += values[:, t]`` for every tree."""
    for k in np.unique(output):
        out[:, k] += values[:, output == k].sum(axis=1)


def at_most(threshold: FloatArray, precision: Precision) -> FloatArray:
    """The double t' such that ``x <= t'`` exactly when ``round(x) <= t``, for rounding to the given width.

    In single precision t' is the last double that still rounds to the last single <= t: the midpoint to the
    next single, or the double before it where the tie rounds up.
    """
    t = np.asarray(threshold, dtype=np.float64)
    if precision == "float64":
        return t
    with np.errstate(over="ignore", invalid="ignore"):
        single = t.astype(np.float32)
        single = np.where(single > t, np.nextafter(single, np.float32(-np.inf)), single)
        following = np.nextafter(single, np.float32(np.inf)).astype(np.float64)
        middle = np.where(np.isinf(following), 2.0**128 - 2.0**103, (single.astype(np.float64) + following) / 2)
        middle = np.where(np.isneginf(single), -(2.0**128 - 2.0**103), middle)
        last = np.where(middle.astype(np.float32) == single, middle, np.nextafter(middle, -np.inf))
    return np.where(np.isposinf(single) | np.isnan(t), t, last)


def less_than(threshold: FloatArray, precision: Precision) -> FloatArray:
    """The double t' such that ``x <= t'`` exactly when ``round(x) < round(t)``; NaN where nothing is below t."""
    dtype = np.float32 if precision == "float32" else np.float64
    with np.errstate(over="ignore"):
        t = np.asarray(threshold, dtype=np.float64).astype(dtype)
        before = np.nextafter(t, dtype(-np.inf)).astype(np.float64)
    return np.where(t == -np.inf, np.nan, at_most(before, precision))


def concatenate(parts: list[TreeEnsemble]) -> TreeEnsemble:
    """One ensemble that adds up several with equal columns, outputs and leaf width."""
    first = parts[0]
    starts = np.cumsum([0, *[len(part.nodes.feature) for part in parts]])[:-1]
    words = np.cumsum([0, *[len(part.nodes.sets) for part in parts]])[:-1]

    def joined(name: str, shift: IntArray | None = None) -> np.ndarray:
        arrays = [getattr(part.nodes, name) for part in parts]
        if shift is not None:
            arrays = [np.where(array >= 0, array + s, -1) for array, s in zip(arrays, shift, strict=True)]
        return np.concatenate(arrays)

    nodes = Nodes(
        feature=joined("feature"),
        threshold=joined("threshold"),
        left=joined("left", starts),
        right=joined("right", starts),
        missing_left=joined("missing_left"),
        cover=joined("cover"),
        value=joined("value"),
        set_start=joined("set_start", words),
        set_words=joined("set_words"),
        other_left=joined("other_left"),
        sets=joined("sets"),
    )
    return TreeEnsemble(
        nodes=nodes,
        roots=np.concatenate([part.roots + s for part, s in zip(parts, starts, strict=True)]),
        output=np.concatenate([part.output for part in parts]),
        base=sum((part.base for part in parts), np.zeros(first.n_outputs)),
        n_features=first.n_features,
    )
