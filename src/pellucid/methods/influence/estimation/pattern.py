"""What influential rows have in common: a small tree that tells them from the others (binary target, at most two
splits).

The target is whether a row is among the strongest tenth. The tree's purest leaf is said where it holds rows of the
tenth at least twice as often as all rows do, on both halves of the data: half of the rows grow the tree, the other half
counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.explanations.influence import Pattern
from pellucid.runner import Run
from pellucid.words import number

_FEWEST, _LIFT, _LEVELS = 100, 2.0, 20


def pattern(data: Data, strength: FloatArray, run: Run) -> Pattern:
    """Conditions that influential rows have in common, counted on rows that did not grow the tree; empty where there
    are none.
    """
    from sklearn.tree import DecisionTreeClassifier

    known = np.flatnonzero(np.isfinite(strength))
    if len(known) < _FEWEST:
        return Pattern()
    top = strength >= np.quantile(strength[known], 0.9)
    columns, names = _columns(data)
    order = run.generator("influence.pattern").permutation(known)
    grow, judge = order[::2], order[1::2]
    least = max(10, len(grow) // 50)
    tree = DecisionTreeClassifier(max_depth=2, min_samples_leaf=least, random_state=0).fit(columns[grow], top[grow])
    leaf = tree.apply(columns[judge])
    shares = {node: float(top[judge][leaf == node].mean()) for node in np.unique(leaf)}
    best = max(shares, key=lambda node: shares[node])
    if shares[best] < _LIFT * top[known].mean():
        return Pattern()
    where = _path(tree.tree_, int(best), names, data)
    return Pattern(conditions=where, rows=float((leaf == best).mean()), strongest=shares[best])


def _columns(data: Data) -> tuple[FloatArray, list[tuple[int, float | None]]]:
    """Numbers as they are, a column for each of the commonest levels of a category; which feature and level each is."""
    columns: list[FloatArray] = []
    names: list[tuple[int, float | None]] = []
    for j, feature in enumerate(data.schema.features):
        codes = data.codes(j)
        if feature.kind == "date":
            continue
        if not feature.nominal:
            known = codes[np.isfinite(codes)]
            columns.append(np.nan_to_num(codes, nan=float(np.median(known)) if len(known) else 0.0))
            names.append((j, None))
            continue
        levels, counts = np.unique(codes[~np.isnan(codes)], return_counts=True)
        for level in levels[np.argsort(-counts, kind="stable")[:_LEVELS]]:
            columns.append((codes == level).astype(np.float64))
            names.append((j, float(level)))
    return np.column_stack(columns) if columns else np.zeros((len(data), 1)), names or [(0, None)]


def _path(tree: Any, leaf: int, names: list[tuple[int, float | None]], data: Data) -> str:
    """The conditions on the way from the root to a leaf, of each feature the narrowest."""
    parents = {
        int(child): node for side in (tree.children_left, tree.children_right) for node, child in enumerate(side)
    }
    bounds: dict[int, list[float]] = {}
    said: dict[str, None] = {}
    node = leaf
    while node != 0:
        above = parents[node]
        j, level = names[int(tree.feature[above])]
        left, threshold = tree.children_left[above] == node, float(tree.threshold[above])
        feature = data.schema.features[j]
        if level is None:
            low, high = bounds.setdefault(j, [-np.inf, np.inf])
            bounds[j] = [low, min(high, threshold)] if left else [max(low, threshold), high]
        else:
            said[f"{feature.name} {'!=' if left else '='} {(feature.categories or ())[int(level)]}"] = None
        node = above
    for j, (low, high) in bounds.items():
        said[_between(data.schema.names[j], low, high)] = None
    return " and ".join(said)


def _between(name: str, low: float, high: float) -> str:
    if not np.isfinite(low):
        return f"{name} <= {number(high)}"
    return f"{name} > {number(low)}" if not np.isfinite(high) else f"{number(low)} < {name} <= {number(high)}"
