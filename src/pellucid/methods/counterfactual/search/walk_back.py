"""Walking answers back towards the row: every change is undone, or shortened by halves, as far as the target allows.

All changed features of all rows are tried at once, in one call of the model per round; of what stays valid, each row
keeps what saves most. The cost never rises, and what comes out reaches the target because the model said so. Along
one feature the prediction is taken as monotone between the row and the answer: where it is not, a nearer value may be
missed and none is wrong.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.methods.counterfactual.search.problem import ALIKE, Problem

TRIFLE = 1e-9  # for a change that a function of rows finds worth nothing
FINE = 1e-3  # of a change: what is bisected more finely no longer matters


def walk_back(problem: Problem, rows: FloatArray, rounds: int = 12) -> FloatArray:
    """Valid rows, each brought nearer to the problem's row."""
    if not len(rows):
        return rows
    walk = _Walk(problem, rows)
    for _ in range(rounds):
        if not walk.step():
            break
    return walk.rows


def undone(problem: Problem, row: FloatArray) -> FloatArray:
    """A row that misses the target, without the changes that bring it no nearer; the dearest are tried first."""
    parts = problem.cost.parts(row[None])[0]
    for columns in sorted(problem.players, key=lambda columns: -parts[list(columns)].sum()):
        tried = row.copy()
        tried[list(columns)] = problem.x[list(columns)]
        tried = problem.snap(tried[None])
        if problem.changed(row[None])[0, list(columns)].any() and problem.allowed(tried)[0]:
            row = tried[0] if problem.miss(tried)[0] <= problem.miss(row[None])[0] else row
    return row


class _Walk:
    """``failed`` (rows, features): the value nearest to the answer that is known not to do; own where none is."""

    def __init__(self, problem: Problem, rows: FloatArray) -> None:
        self.problem, self.rows = problem, rows.copy()
        self.failed = np.repeat(problem.x[None], len(rows), axis=0)
        self.tried = np.zeros(rows.shape, dtype=np.bool_)  # whether the whole change was undone once
        self.stuck = np.zeros(rows.shape, dtype=np.bool_)

    def step(self) -> bool:
        """One round; False when nothing is left to try."""
        tries, owner, player = self._tries()
        if not len(tries):
            return False
        before = self._cost(self.rows)
        cost, fits = self._cost(tries), self.problem.allowed(tries)
        fits &= cost < before[owner] - ALIKE
        good = np.zeros(len(tries), dtype=np.bool_)
        good[fits] = self.problem.valid(tries[fits]) if fits.any() else False
        for i in np.unique(owner):
            self._learn(int(i), tries, cost, good, np.flatnonzero(owner == i), player)
        return True

    def _cost(self, rows: FloatArray) -> FloatArray:
        """What rows cost; a function may find changes worth nothing, and those that are not needed cost a trifle."""
        cost = self.problem.cost
        total = cost.total(rows)
        return total if cost.separable else total + TRIFLE * cost.distance.apart(rows, cost.x).sum(axis=1)

    def _tries(self) -> tuple[FloatArray, IntArray, IntArray]:
        changed = self.problem.changed(self.rows)
        tries, owner, player = [], [], []
        for i, row in enumerate(self.rows):
            for q, columns in enumerate(self.problem.players):
                places = list(columns)
                if not changed[i, places].any() or self.stuck[i, places[0]]:
                    continue
                new = row.copy()
                new[places] = self._halved(i, places)
                tries.append(new)
                owner.append(i)
                player.append(q)
        found = np.array(tries).reshape(-1, len(self.problem.x))
        return self.problem.snap(found), np.array(owner, dtype=np.intp), np.array(player, dtype=np.intp)

    def _halved(self, i: int, places: list[int]) -> FloatArray:
        """The row's own values at first; then, of a number, half way from what failed."""
        x = self.problem.x[places]
        if not self.tried[i, places[0]] or len(places) > 1 or self.problem.nominal[places[0]] or np.isnan(x[0]):
            return x
        return (self.failed[i, places] + self.rows[i, places]) / 2

    def _learn(
        self, i: int, tries: FloatArray, cost: FloatArray, good: BoolArray, own: IntArray, player: IntArray
    ) -> None:
        for k in own[~good[own]]:
            self._note_failure(i, self.problem.players[player[k]], tries[k])
        kept = own[good[own]]
        if len(kept):
            best = kept[np.argmin(cost[kept])]
            places = list(self.problem.players[player[best]])
            self.rows[i] = tries[best]
            self.stuck[i] = False
            self.tried[i, places] = True

    def _note_failure(self, i: int, places: tuple[int, ...], tried: FloatArray) -> None:
        j = places[0]
        whole = len(places) > 1 or bool(self.problem.nominal[j]) or bool(np.isnan(self.problem.x[j]))
        first = not self.tried[i, j]
        self.tried[i, list(places)] = True
        if whole:
            self.stuck[i, list(places)] = True
            return
        now, x = self.rows[i, j], self.problem.x[j]
        self.failed[i, j] = tried[j]
        least = max(1.01 * self.problem.choices[j].step, FINE * abs(now - x))
        self.stuck[i, j] = abs(now - tried[j]) <= least or (tried[j] == now and not first)
