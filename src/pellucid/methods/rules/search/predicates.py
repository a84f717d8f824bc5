"""The predicates that rules are made of: which rules to look at next, and what share of the data a rule covers.

A `Space` knows the predicates. Some are finer versions of others (a narrower interval around the row's value); a rule
holds at most one version of each owner (feature, word, superpixel). ``levels[v]`` lists the predicates of version v,
one per owner, the coarsest first. The next rules have one predicate more, or one less.

A predicate of a table (`TableSpace`) fixes one player, a feature or a group of features: all its members lie in the
cells of the row. A predicate that every row obeys says nothing and is left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.methods.rules.search.bins import Cell, finer_cell, first_cell, opened_cells

Predicates = tuple[int, ...]  # of a rule, in the order in which they were added
Players = Mapping[str, tuple[int, ...]]


class Space(ABC):
    """Predicates, which owner each belongs to, and what share of the data a rule covers.

    ``paired``: whether draw number k is the same row for all rules of an episode. ``shares``: how likely each row is,
    where the rows that a draw can give are so few that they may be gone through one by one.
    """

    paired = True

    def __init__(self, owner: list[int], levels: list[list[int]]) -> None:
        self.owner, self.levels = owner, levels
        self.shares = np.empty(0)

    def enumerable(self, bits: BoolArray) -> BoolArray:
        """For which rules a draw is one of as many rows as there are ``shares``."""
        return np.zeros(len(bits), dtype=np.bool_)

    @abstractmethod
    def coverage(self, bits: BoolArray) -> FloatArray:
        """The share of the data that each rule, a row of bits, covers."""

    def finer(self) -> bool:
        """Add a finer version of the predicates, if there is one."""
        return False

    def bits(self, rules: Sequence[Predicates]) -> BoolArray:
        """Rules as rows of bits."""
        out = np.zeros((len(rules), len(self.owner)), dtype=np.bool_)
        for place, rule in enumerate(rules):
            out[place, list(rule)] = True
        return out

    def longer(self, beam: Sequence[Predicates], level: int) -> list[Predicates]:
        """Every rule of the beam with one predicate more, each set of predicates once."""
        found: dict[frozenset[int], Predicates] = {}
        for rule in beam:
            owners = {self.owner[predicate] for predicate in rule}
            for predicate in self.levels[level]:
                if self.owner[predicate] not in owners:
                    found.setdefault(frozenset((*rule, predicate)), (*rule, predicate))
        return list(found.values())

    def wider(self, rule: Predicates) -> list[Predicates]:
        """The rule with one predicate exchanged for its next coarser version, or left out if there is none."""
        found: list[Predicates] = []
        for place, predicate in enumerate(rule):
            coarser = self._coarser(predicate)
            kept = () if coarser is None else (coarser,)
            found.append((*rule[:place], *kept, *rule[place + 1 :]))
        return found

    def opened(self, rule: Predicates) -> list[tuple[int, int]]:  # noqa: ARG002  where predicates are no intervals
        """Places in the rule at which a predicate may be exchanged for one that is open to one side, and that
        predicate.
        """
        return []

    def _coarser(self, predicate: int) -> int | None:
        """Predicates of one owner are numbered from the coarsest to the finest."""
        own = [other for other in range(predicate) if self.owner[other] == self.owner[predicate]]
        return own[-1] if own else None


@dataclass(frozen=True, eq=False)
class Predicate:
    """A player (by its position), the cells of its features, and which rows of the data lie in them all."""

    player: int
    cells: Mapping[int, Cell]
    obeyed: BoolArray


class TableSpace(Space):
    """The predicates of one row, coarsest versions first; `finer` adds a version with halved intervals."""

    def __init__(
        self,
        data: Data,
        codes: FloatArray,
        players: Players,
        cells: Mapping[int, Mapping[int, Cell]],
        *,
        row: int = 0,
        refine: bool = False,
    ) -> None:
        """``cells`` holds, for each player (by its position), the cells of its features."""
        super().__init__([], [])
        self._data, self._row = data, codes
        self.row, self.names = row, tuple(players)
        self._weights, self._total = data.weights, float(data.weights.sum())
        self._refine = refine
        self.single: Callable[[int], bool] = lambda q: False  # noqa: ARG005  until a perturbation knows better
        self.predicates: list[Predicate] = []
        self._now: list[Predicate] = []
        self._add([self._predicate(player, own) for player, own in cells.items()])

    def _predicate(self, player: int, cells: Mapping[int, Cell]) -> Predicate:
        return Predicate(player, cells, obeyed(self._data, cells))

    def _add(self, version: Sequence[Predicate]) -> None:
        """One more version: of each player the given predicate, which may be the one it has already."""
        self._now = list(version)
        places: list[int] = []
        for predicate in version:
            if predicate.obeyed.all():
                continue
            places.append(self._number(predicate))
        self.levels.append(places)

    def enumerable(self, bits: BoolArray) -> BoolArray:
        """Rules whose predicates can each be put right in one way only: a draw is then a row of the data, changed."""
        if not len(self.shares):
            return super().enumerable(bits)
        several = np.array([not self.single(q) for q in range(bits.shape[1])], dtype=np.bool_)
        return np.asarray(~bits[:, several].any(axis=1))

    def finer(self) -> bool:
        """Halve the intervals; False where single values are reached already, or the intervals are the caller's own."""
        if not self._refine:
            return False
        version = [self._halved(predicate) for predicate in self._now]
        if all(new is old for new, old in zip(version, self._now, strict=True)):
            return False
        self._add(version)
        return True

    def _halved(self, predicate: Predicate) -> Predicate:
        halves = {j: finer_cell(self._data, j, float(self._row[j]), cell) for j, cell in predicate.cells.items()}
        if all(half is None for half in halves.values()):
            return predicate
        cells = {j: predicate.cells[j] if half is None else half for j, half in halves.items()}
        return self._predicate(predicate.player, cells)

    def opened(self, rule: Predicates) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for place, q in enumerate(rule):
            predicate = self.predicates[q]
            for j, cell in predicate.cells.items():
                for wide in opened_cells(self._data, j, cell):
                    wider = self._predicate(predicate.player, {**predicate.cells, j: wide})
                    if not wider.obeyed.all() and (wider.obeyed & ~predicate.obeyed).any():
                        found.append((place, self._number(wider)))
        return found

    def _coarser(self, predicate: int) -> int | None:
        """The last version before this one that every row obeys which obeys this one."""
        obeyed, player = self.predicates[predicate].obeyed, self.owner[predicate]
        for number in reversed(range(predicate)):
            if self.owner[number] == player and not (obeyed & ~self.predicates[number].obeyed).any():
                return number
        return None

    def _number(self, predicate: Predicate) -> int:
        """The number of a predicate; one that is new gets the next."""
        for number, known in enumerate(self.predicates):
            if (known.player, known.cells) == (predicate.player, predicate.cells):
                return number
        self.predicates.append(predicate)
        self.owner.append(predicate.player)
        return len(self.predicates) - 1

    def coverage(self, bits: BoolArray) -> FloatArray:
        """Exact share of the data, by weight, that obeys each rule."""
        return np.array([float(self._weights[self.obeying(rule)].sum()) / self._total for rule in bits])

    def obeying(self, rule: BoolArray) -> BoolArray:
        """The rows of the data that obey a rule."""
        return all_obeyed([self.predicates[q].obeyed for q in np.flatnonzero(rule).tolist()], len(self._weights))


def first_cells(
    data: Data, codes: FloatArray, players: Players, wanted: Mapping[int, Any], some: IntArray | None = None
) -> dict[int, dict[int, Cell]]:
    """The cells that a row lies in, for each player, or for ``some`` of them by position."""
    looked_at = range(len(players)) if some is None else set(some.tolist())
    return {
        player: {j: first_cell(data, j, float(codes[j]), wanted.get(j)) for j in members}
        for player, members in enumerate(players.values())
        if player in looked_at
    }


def obeyed(data: Data, cells: Mapping[int, Cell]) -> BoolArray:
    """The rows that lie in all cells."""
    return all_obeyed([cell.holds(data.codes(j)) for j, cell in cells.items()], len(data))


def all_obeyed(parts: Sequence[BoolArray], n: int) -> BoolArray:
    """The rows for which all parts hold; all rows if there are none."""
    out = np.ones(n, dtype=np.bool_)
    for part in parts:
        out &= part
    return out
