"""What the trees alone do not know about a row that they find: relations between columns, and the model's own rounding.

A relation that is broken by the nearest row of a node may be kept by another one in it. What no row of the node can
keep ends it; otherwise one feature is cut where the others decide. A row whose sums are within rounding of the target's
ends is put to the model itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.methods.counterfactual.search.cell_values import Cells
from pellucid.methods.counterfactual.search.problem import Problem
from pellucid.methods.counterfactual.search.relations import Relation
from pellucid.methods.counterfactual.search.sums_wanted import SumEnds
from pellucid.trees.nearest import ACCEPT, PRUNE, REJECT, SPLIT, Verdict, Wanted

_GRID = 50_000  # combinations of cells that are tried at once
_SINGLE, _DOUBLE = 1e-6, 1e-11  # rounding of sums, as a share of what is added up
_TIE = 1e-12  # the same number in another order of adding


@dataclass(frozen=True, eq=False)
class Rounding:
    """Where the sums should be, for the search (``wanted``), and ``margin``: nearer to an end than this the model
    decides.

    An end that is not reached itself (as one half by a class that wins) is kept clear of ties: forests have many.
    """

    ends: SumEnds
    size: float
    single: bool

    @property
    def margin(self) -> float:
        """How far sums may be off."""
        return (_SINGLE if self.single else _DOUBLE) * self.size

    @property
    def wanted(self) -> Wanted:
        """For the search: as wide as rounding may make it."""
        ends, tie = self.ends, _TIE * self.size
        wider = np.where(ends.open_low & (not self.single), -tie, self.margin)
        above = np.where(ends.open_high & (not self.single), -tie, self.margin)
        least, most = ends.odds
        share = 1 + (_SINGLE if self.single else _DOUBLE) * (1 + self.size)
        return Wanted(ends.matrix, ends.low - wider, ends.high + above, (least / share, most * share))

    def clear(self, sums: FloatArray) -> bool:
        """Whether no rounding could take these sums out of the target."""
        ends, share = self.ends, 1 + (_SINGLE if self.single else _DOUBLE) * (1 + self.size)
        with np.errstate(over="ignore"):
            odds = float(np.exp(-sums).sum())
        inside = (sums >= ends.low + self.margin) & (sums <= ends.high - self.margin)
        return bool(inside.all()) and ends.odds[0] * share <= odds <= ends.odds[1] / share


@dataclass(frozen=True, eq=False)
class Judge:
    """Says ACCEPT, REJECT, PRUNE or SPLIT; see `pellucid.trees.nearest`."""

    cells: Cells
    rounding: Rounding
    relations: Sequence[Relation]
    constrained: bool = True
    wary: bool = False

    @property
    def problem(self) -> Problem:
        """The problem."""
        return self.cells.problem

    def __call__(self, cells: IntArray, left: list[IntArray], sums: FloatArray) -> Verdict:
        row = self.cells.row(cells)[None]
        if self.constrained:
            for relation in self.relations:
                if not relation.holds(row)[0]:
                    return self._around(relation, cells, left)
            if self.problem.feasible is not None and not self.problem.allowed(row)[0]:
                return _beside(range(len(left)), left)
        if (self.wary or not self.rounding.clear(sums)) and not self.problem.valid(row)[0]:
            return Verdict(REJECT)
        return Verdict(ACCEPT)

    def _around(self, relation: Relation, cells: IntArray, left: list[IntArray]) -> Verdict:
        """Cuts off what breaks a relation."""
        players = [i for i, player in enumerate(self.cells.players) if set(player.features) & set(relation.columns)]
        possible = self._possible(relation, players, left)
        if possible is None:
            return _beside(players, left)
        if not all(some.any() for some in possible):
            return Verdict(PRUNE)
        for i, some in zip(players, possible, strict=True):
            here = int(np.flatnonzero(left[i] == cells[i])[0])
            if not some[here]:
                after = np.flatnonzero(some[here:])
                if len(after):
                    return Verdict(SPLIT, i, int(left[i][here + after[0]]), True)
                return Verdict(SPLIT, i, int(left[i][np.flatnonzero(some)[-1]]), False)
        return _beside(players, left)

    def _possible(self, relation: Relation, players: list[int], left: list[IntArray]) -> list[BoolArray] | None:
        """For each player, with which of its cells the relation can hold; None where they are too many to try."""
        sizes = [len(left[i]) for i in players]
        if np.prod(np.array(sizes, dtype=float)) <= _GRID:
            holds = relation.holds(self._grid(players, left)).reshape(sizes)
            every = tuple(range(len(players)))
            return [np.asarray(holds.any(axis=tuple(a for a in every if a != k))) for k in every]
        if relation.linear is None or relation.linear.sign not in ("<=", "<", ">=", ">"):
            return None
        turn = 1.0 if relation.linear.sign in ("<=", "<") else -1.0
        parts = [turn * self._part(relation.linear.factors, i, left[i]) for i in players]
        least = sum(float(part.min()) for part in parts) + turn * relation.linear.constant
        slack = 1e-6 * (sum(float(np.abs(part).max()) for part in parts) + abs(relation.linear.constant))
        return [np.asarray(least - part.min() + part <= slack) for part in parts]

    def _grid(self, players: list[int], left: list[IntArray]) -> FloatArray:
        """All combinations of the cells that are left to some players."""
        places = np.meshgrid(*[left[i] for i in players], indexing="ij")
        rows = np.repeat(self.problem.x[None], places[0].size, axis=0)
        for i, place in zip(players, places, strict=True):
            player = self.cells.players[i]
            rows[:, list(player.features)] = player.codes[place.ravel()]
        return rows

    def _part(self, factors: dict[int, float], i: int, cells: IntArray) -> FloatArray:
        """What a player adds to a linear relation; what is missing breaks none."""
        player = self.cells.players[i]
        weight = np.array([factors.get(j, 0.0) for j in player.features])
        return np.nan_to_num(np.asarray(player.codes[cells] @ weight), nan=-np.inf)


def _beside(players: Sequence[int], left: list[IntArray]) -> Verdict:
    """Sets the cheapest cell of the player with most choices apart; ends the node where there are no others."""
    widest = max(players, key=lambda i: len(left[i]))
    return Verdict(SPLIT, widest) if len(left[widest]) > 1 else Verdict(PRUNE)
