"""Splits and paths of a tree in words: ``temp ≤ 13``, ``season: winter, spring``, ``13 < temp ≤ 25``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from pellucid.arrays import BoolArray, IntArray
from pellucid.data import Data
from pellucid.methods.surrogate.fitting.columns import Columns, level_words
from pellucid.methods.surrogate.fitting.growing import Grown
from pellucid.words import value_name

_LEVELS = 4


@dataclass(frozen=True)
class Side:
    """What one side of a split, or a whole path, asks of a feature: values in (low, high], or ``levels``; and whether
    ``missing`` and ``known`` values are on this side at all.
    """

    feature: int
    low: float = -np.inf
    high: float = np.inf
    levels: frozenset[int] | None = field(default=None)
    missing: bool = False
    known: bool = True

    def within(self, other: Side | None) -> Side:
        """Both at once."""
        if other is None:
            return self
        levels = other.levels if self.levels is None else self.levels
        if self.levels is not None and other.levels is not None:
            levels = self.levels & other.levels
        return replace(
            self,
            low=max(self.low, other.low),
            high=min(self.high, other.high),
            levels=levels,
            missing=self.missing and other.missing,
            known=self.known and other.known,
        )

    def words(self, data: Data) -> str:
        """The side in words."""
        feature = data.schema.features[self.feature]
        lacking = feature.missing > 0 and self.missing
        if not self.known:
            return f"{feature.name} is missing"
        if self.levels is not None:
            names = level_words(data, self.feature, tuple(sorted(self.levels)))
            names += ["missing"] if lacking else []
            more = [f"{len(names) - _LEVELS} more"] if len(names) > _LEVELS + 1 else []
            shown = [*(names[:_LEVELS] if more else names), *more]
            return f"{feature.name} = {shown[0]}" if len(shown) == 1 else f"{feature.name} in [{', '.join(shown)}]"
        low, high = (self._value(data, end) for end in (self.low, self.high))
        name = feature.name
        said = f"{low} < {name} ≤ {high}" if low and high else f"{name} > {low}" if low else f"{name} ≤ {high}"
        if not low and not high:
            return f"{name} is known"
        return f"{said} or missing" if lacking else said

    def _value(self, data: Data, end: float) -> str:
        if not np.isfinite(end):
            return ""
        feature = data.schema.features[self.feature]
        if feature.kind == "date":
            return value_name(feature.decode(np.array([end]))[0])
        return f"{end:,.12g}" if abs(end) >= 10_000 else f"{end:.12g}"


def path_words(sides: list[Side], data: Data) -> str:
    """All conditions on a path, one for each feature, in the order in which the features first occur."""
    known: dict[int, Side] = {}
    for side in sides:
        known[side.feature] = side.within(known.get(side.feature))
    return " and ".join(side.words(data) for side in known.values()) or "all rows"


def walk(
    columns: Columns, grown: Grown, orders: dict[int, IntArray], ends: BoolArray
) -> tuple[list[int], dict[int, tuple[Side, Side]], dict[int, list[Side]]]:
    """The nodes in order, both sides of every split, and the path to every node."""
    nodes: list[int] = []
    sides: dict[int, tuple[Side, Side]] = {}
    paths: dict[int, list[Side]] = {0: []}
    waiting = [0]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        if ends[node]:
            continue
        sides[node] = _sides(columns, grown, orders, node)
        left, right = int(grown.left[node]), int(grown.right[node])
        paths[left], paths[right] = ([*paths[node], side] for side in sides[node])
        waiting += [right, left]
    return nodes, sides, paths


def _sides(columns: Columns, grown: Grown, orders: dict[int, IntArray], node: int) -> tuple[Side, Side]:
    k, rank = int(grown.feature[node]), float(grown.threshold[node])
    j, to_left = int(columns.places[k]), bool(grown.missing_left[node])
    feature = columns.data.schema.features[j]
    known = len(columns.known[k])
    if rank < 0 or rank >= known - 1:  # known against missing
        sides = (Side(j, missing=False), Side(j, missing=True, known=False))
        return sides[::-1] if to_left else sides
    if feature.nominal:
        levels = frozenset(columns.levels(k, rank, orders))
        others = frozenset(int(code) for code in columns.known[k]) - levels
        return Side(j, levels=levels, missing=to_left), Side(j, levels=others, missing=not to_left)
    cut = columns.threshold(k, rank)
    return Side(j, high=cut, missing=to_left), Side(j, low=cut, missing=not to_left)
