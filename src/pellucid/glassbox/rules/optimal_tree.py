"""The optimum as a tree of numbers and levels: missing values on either side, and back from bins to thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.glassbox.rules.bins import MISSING, Bins
from pellucid.glassbox.rules.growing import Grown
from pellucid.glassbox.rules.optimal import Split, optimum


@dataclass(frozen=True, eq=False)
class Proven:
    """A tree, its loss, and what a better one could still save."""

    tree: Grown
    loss: float
    gap: float


def optimal_tree(bins: Bins, y: FloatArray, weight: FloatArray, depth: int, classifies: bool, budget: int) -> Proven:
    """The best tree of a depth; a column with missing values may send them to either side."""
    of, number, column, above = _without_missing(bins)
    sums = y * weight[:, None] if classifies else np.stack([weight, weight * y[:, 0], weight * y[:, 0] ** 2], axis=1)
    found = optimum(of, number, bins.nominal[column], sums, depth=depth, squared=not classifies, budget=budget)
    rows = np.arange(len(weight))
    nodes: list[dict[str, Any]] = []
    _build(found.tree, rows, 0, nodes, (bins, of, column, above, y, weight))
    widest = int(max(1, np.where(bins.nominal, bins.number, 0).max(initial=0)))
    goes = np.zeros((len(nodes), widest), dtype=np.bool_)
    for place, node in enumerate(nodes):
        goes[place, : len(node["goes"])] = node["goes"]
    plain = {name: np.array([node[name] for node in nodes]) for name in nodes[0] if name != "goes"}
    return Proven(Grown(goes_left=goes, **plain), found.loss, found.gap)


def _without_missing(bins: Bins) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Columns without missing values: where there are some, they are one bin more, above all others and, once again,
    below them. The bins, how many, of which column, and 1 where missing is below, 2 where it is above.
    """
    of, number, column, side = [], [], [], []
    for j in range(len(bins.of)):
        gone = bins.of[j] == MISSING
        ways = [0] if not gone.any() else [2] if bins.nominal[j] else [2, 1]
        for way in ways:
            own = bins.of[j] + (way == 1)
            of.append(np.where(gone, 0 if way == 1 else bins.number[j], own))
            number.append(bins.number[j] + (way > 0))
            column.append(j)
            side.append(way)
    return np.array(of), np.array(number), np.array(column), np.array(side)


def _build(split: Split | None, rows: IntArray, depth: int, nodes: list[dict[str, Any]], given: Any) -> int:
    """Add a node and those below it; its place. A split that parts no rows is left out."""
    bins, of, column, side, y, weight = given
    left = None if split is None else _goes_left(split, rows, given)
    if split is not None and left is not None and (left.all() or not left.any()):
        return _build(split.left if left.all() else split.right, rows, depth, nodes, given)
    place, mass = len(nodes), float(weight[rows].sum())
    value = weight[rows] @ y[rows] / mass
    loss = float(weight[rows] @ np.square(y[rows] - value).sum(axis=1))
    node: dict[str, Any] = {
        "feature": -1,
        "threshold": np.nan,
        "goes": np.zeros(0, dtype=np.bool_),
        "missing_left": False,
        "other_left": False,
        "left": -1,
        "right": -1,
        "depth": depth,
        "weight": mass,
        "value": value,
        "loss": loss,
    }
    nodes.append(node)
    if split is None or left is None:
        return place
    q, cut = split.column, split.bin
    j, own = int(column[q]), of[q, rows]
    heavier = bool(2 * weight[rows][left].sum() > mass)
    seen = np.unique(own)
    if bins.nominal[j]:
        goes = np.arange(bins.number[j]) == cut
        node |= {"goes": goes, "other_left": False, "missing_left": bool(side[q] and cut == bins.number[j])}
    else:
        shift = int(side[q] == 1)
        below, over = int(seen[seen <= cut].max()) - shift, int(seen[seen > cut].min()) - shift
        node["threshold"] = _threshold(bins, j, below, over)
        node["missing_left"] = {0: heavier, 1: True, 2: False}[int(side[q])]
    node["feature"] = j
    node["left"] = _build(split.left, rows[left], depth + 1, nodes, given)
    node["right"] = _build(split.right, rows[~left], depth + 1, nodes, given)
    return place


def _goes_left(split: Split, rows: IntArray, given: Any) -> BoolArray:
    bins, of, column = given[:3]
    own = of[split.column, rows]
    return np.asarray(own == split.bin if bins.nominal[column[split.column]] else own <= split.bin)


def _threshold(bins: Bins, j: int, below: int, above: int) -> float:
    if below < 0:  # missing values alone go left
        return -np.inf
    return np.inf if above >= bins.number[j] else bins.between(j, below, above)
