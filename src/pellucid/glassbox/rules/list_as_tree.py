"""A list of rules as a tree, so that whatever reads trees reads it.

A rule of one condition is one split: what holds ends in a leaf, the rest of the list stands on the other side. With
several conditions the rest stands on several sides, less what is known there: of each feature the values that can still
occur on the way to a node are kept, and conditions that always or never hold among them are no splits. A list that
would still have too many leaves is no tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.glassbox.rules.clauses import Clause, Part, both
from pellucid.glassbox.rules.growing import Grown

MOST = 2048  # leaves


class TooMany(Exception):
    """There would be more leaves than that."""


@dataclass(frozen=True)
class _Test:
    """One split: ``number <= threshold``, or one of the ``levels``, goes left; where the part holds, and where not."""

    inside: Part  # what goes left
    outside: Part
    holds_left: bool


def as_tree(
    clauses: Sequence[Clause], values: FloatArray, codes: FloatArray, weight: FloatArray, levels: Sequence[int]
) -> Grown | None:
    """The tree that predicts what the list does, ``values`` (rules and else, outputs); None where it is too large."""
    made = _Made(clauses, values, codes, weight, levels)
    try:
        made.rule(0, 0, {}, np.arange(len(codes)), 0)
    except TooMany:
        return None
    return made.grown()


class _Made:
    """The nodes so far."""

    def __init__(
        self,
        clauses: Sequence[Clause],
        values: FloatArray,
        codes: FloatArray,
        weight: FloatArray,
        levels: Sequence[int],
    ) -> None:
        self._clauses, self._values, self._codes, self._weight, self._levels = clauses, values, codes, weight, levels
        self._nodes: list[dict[str, Any]] = []

    def rule(self, k: int, i: int, known: dict[int, Part], rows: IntArray, depth: int) -> int:
        """The part of the list from condition ``i`` of rule ``k`` on; the place of its first node."""
        if k == len(self._clauses) or i == len(self._clauses[k]):
            return self._node(rows, depth, self._values[k])
        part = self._clauses[k][i]
        for test in _tests(part):
            j = part.feature
            left, right = (_narrowed(known.get(j), side) for side in (test.inside, test.outside))
            if _is_empty(left if test.holds_left else right):
                return self.rule(k + 1, 0, known, rows, depth)
            if _is_empty(right if test.holds_left else left):
                continue
            goes = test.inside.holds(self._codes[rows, j])
            place = self._node(rows, depth, None)
            sides = []
            for own, some, holds in ((left, goes, test.holds_left), (right, ~goes, not test.holds_left)):
                after = {**known, j: own}
                following = (k, i) if holds else (k + 1, 0)  # of the same condition, what is left of it
                sides.append(self.rule(*following, after, rows[some], depth + 1))
            self._split(place, test, sides)
            return place
        return self.rule(k, i + 1, known, rows, depth)

    def _node(self, rows: IntArray, depth: int, value: FloatArray | None) -> int:
        if len(self._nodes) >= 2 * MOST:
            raise TooMany
        mass = float(self._weight[rows].sum())
        zero = np.zeros(self._values.shape[1])
        self._nodes.append(
            {"feature": -1, "threshold": np.nan, "goes": (), "missing": False, "other": False, "left": -1, "right": -1}
            | {"depth": depth, "weight": mass, "value": zero if value is None else value}
        )
        return len(self._nodes) - 1

    def _split(self, place: int, test: _Test, sides: Sequence[int]) -> None:
        inside = test.inside
        self._nodes[place] |= {
            "feature": inside.feature,
            "threshold": np.nan if inside.levels is not None else inside.high,
            "goes": inside.levels or (),
            "missing": inside.missing,
            "other": inside.others,
            "left": sides[0],
            "right": sides[1],
        }

    def grown(self) -> Grown:
        """The nodes as arrays."""
        goes = np.zeros((len(self._nodes), max(1, *self._levels) if len(self._levels) else 1), dtype=np.bool_)
        for place, node in enumerate(self._nodes):
            goes[place, list(node["goes"])] = True
        plain = {name: np.array([node[name] for node in self._nodes]) for name in self._nodes[0] if name != "goes"}
        return Grown(
            feature=plain["feature"],
            threshold=plain["threshold"].astype(np.float64),
            goes_left=goes,
            missing_left=plain["missing"],
            other_left=plain["other"],
            left=plain["left"],
            right=plain["right"],
            depth=plain["depth"],
            weight=plain["weight"],
            value=plain["value"],
            loss=np.zeros(len(self._nodes)),
        )


def _tests(part: Part) -> list[_Test]:
    """The splits that decide whether a part holds, one after the other."""
    if part.levels is not None:
        outside = tuple(k for k in range(part.known) if k not in part.levels)
        return [_Test(part, replace(part, levels=outside, others=not part.others, missing=not part.missing), True)]
    if part.low >= part.high:  # a missing value
        own = Part(part.feature, high=-np.inf, missing=True)
        return [_Test(own, Part(part.feature), True)]
    tests = []
    if np.isfinite(part.low) or (np.isinf(part.high) and not part.missing):
        below = Part(part.feature, high=part.low, missing=not part.missing)
        tests.append(_Test(below, Part(part.feature, low=part.low, missing=part.missing), False))
    if np.isfinite(part.high):
        own = Part(part.feature, high=part.high, missing=part.missing)
        tests.append(_Test(own, Part(part.feature, low=part.high, missing=not part.missing), True))
    return tests


def _narrowed(known: Part | None, part: Part) -> Part:
    """What values can still occur beyond a split."""
    return part if known is None else both(known, part)


def _is_empty(part: Part) -> bool:
    """Whether no value is left."""
    if part.levels is not None:
        return not (part.levels or part.others or part.missing)
    return part.low >= part.high and not part.missing
