"""Clauses: what a rule asks of codes, one part per feature; and the paths of a tree as clauses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.glassbox.rules.growing import Grown


@dataclass(frozen=True, order=True)
class Part:
    """What is asked of one feature: a number in (``low``, ``high``], or one of some levels.

    ``levels`` is None for numbers, and ``known`` how many were seen; ``others`` says whether one that was not seen
    counts among them, ``missing`` whether a missing value does.
    """

    feature: int
    low: float = -np.inf
    high: float = np.inf
    levels: tuple[int, ...] | None = None
    known: int = 0
    others: bool = False
    missing: bool = False

    @property
    def nothing_but_missing(self) -> bool:
        """Whether it asks for a missing value."""
        empty = self.low >= self.high if self.levels is None else not self.levels and not self.others
        return self.missing and empty

    def holds(self, codes: FloatArray) -> BoolArray:
        """For which codes of the feature."""
        if self.levels is None:
            holds = (codes > self.low) & (codes <= self.high)
        else:
            holds = np.isin(codes, self.levels) | (self.others & (codes >= self.known))
        return np.where(np.isnan(codes), self.missing, holds)


Clause = tuple[Part, ...]


def holds(clause: Clause, codes: FloatArray) -> BoolArray:
    """For which rows of codes all parts hold."""
    found = np.ones(len(codes), dtype=np.bool_)
    for part in clause:
        found &= part.holds(codes[:, part.feature])
    return found


def missing_of(feature: int, known: int) -> Part:
    """That a value is missing; ``known`` levels a nominal feature has, 0 of numbers."""
    if known:
        return Part(feature, levels=(), known=known, missing=True)
    return Part(feature, low=np.inf, high=-np.inf, missing=True)


def first_that_holds(clauses: Sequence[Clause], codes: FloatArray) -> IntArray:
    """The place of the first clause that holds for each row, one more than the last where none does."""
    found = np.full(len(codes), len(clauses), dtype=np.intp)
    for place in range(len(clauses) - 1, -1, -1):
        found[holds(clauses[place], codes)] = place
    return found


def paths(tree: Grown, levels: Sequence[int]) -> list[Clause]:
    """The way to each node as a clause, parts of one feature merged; ``levels`` a nominal feature has, 0 of numbers."""
    found: list[Clause] = [()] * len(tree)
    for node in range(len(tree)):
        if tree.feature[node] >= 0:
            for child, left in ((tree.left[node], True), (tree.right[node], False)):
                found[child] = _with(found[node], step(tree, node, left, levels))
    return found


def step(tree: Grown, node: int, left: bool, levels: Sequence[int]) -> Part:
    """What the left or the right branch of a node asks."""
    j, missing = int(tree.feature[node]), bool(tree.missing_left[node]) == left
    if not levels[j]:
        t = float(tree.threshold[node])
        return Part(j, high=t, missing=missing) if left else Part(j, low=t, missing=missing)
    own = np.flatnonzero(tree.goes_left[node, : levels[j]] == left)
    return Part(
        j, levels=tuple(own.tolist()), known=levels[j], others=bool(tree.other_left[node]) == left, missing=missing
    )


def _with(clause: Clause, part: Part) -> Clause:
    """A clause with one more part."""
    merged = [both(own, part) if own.feature == part.feature else own for own in clause]
    if all(own.feature != part.feature for own in clause):
        merged.append(part)
    return tuple(merged)


def both(one: Part, other: Part) -> Part:
    """Two parts of one feature as one."""
    levels = None if one.levels is None else tuple(sorted(set(one.levels) & set(other.levels or ())))
    return replace(
        one,
        low=max(one.low, other.low),
        high=min(one.high, other.high),
        levels=levels,
        others=one.others and other.others,
        missing=one.missing and other.missing,
    )
