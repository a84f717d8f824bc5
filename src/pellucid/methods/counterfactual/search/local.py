"""A seeded local search for the nearest answer to a model that can only be asked.

1. Start from the nearest rows of the data that reach the target, and walk them back.
2. Ask about single changes within reach of the best answer so far (dense near the row, and at observed values).
3. Guess which changes do it together, taking effects as additive (`progress`); ask about the cheapest.
4. Ask about what is expected to save most, a Gaussian process saying what the model likely says (`expected`).
5. Exchange: move any one feature while another change is undone or shortened.
6. Sweep over the observed values within reach; build on rows that fall short (effects on top of theirs).
7. Draw a few changes at random within reach, as long as that helps.

Nothing dearer than the best answer so far is asked, and whatever helps is walked back at once. It has no certificate:
on the tree models of the tests it is at the optimum in most cases.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.methods.counterfactual.search.expected import Expected
from pellucid.methods.counterfactual.search.known import OBSERVED, Known, radius
from pellucid.methods.counterfactual.search.moves import (
    AT_ONCE,
    Draws,
    bracketed,
    exchanges,
    on_top,
    promising,
    refined,
    together,
)
from pellucid.methods.counterfactual.search.pool import unlike
from pellucid.methods.counterfactual.search.problem import Problem

STARTS, ENOUGH = 3, 192  # rows of the data to start from; after so many model rows, one will do
_GUESSES, ROUNDS = 2, 14  # rounds of additive guesses, and of what is expected to save most
_EVENLY = (0.4, 0.6, 0.8, 0.97)  # of what is within reach
_EXPECTED, _WORN = 40, 1.6  # rows of such a round; times as many rows known as when the kernel was chosen


def nearest(problem: Problem, seeds: FloatArray | None = None, rounds: int = ROUNDS, spared: int = 0) -> FloatArray:
    """Answers ``(k, features)``, the nearest first; empty where none was found.

    Of a budget, ``spared`` rows are left for other searches where there are answers by then.
    """
    search = _Local(problem, unlike(problem, STARTS, enough=ENOUGH) if seeds is None else seeds, spared)
    search.singles()
    search.bracket()
    search.climb()
    for _ in range(min(rounds, _GUESSES)):
        search.combine()
    search.stretch()
    search.expect(rounds)
    search.exchange()
    search.sweep()
    search.build()
    search.exchange()
    search.spread(problem.run.generator("counterfactuals.local"))
    search.exchange()
    return search.best()


class _Local(Known):
    """The steps of the search, on what is known."""

    def _moves(self, share: float = 1.0) -> FloatArray:
        """Every single change: one row for each value of each player; numbers within a share of what is in reach."""
        rows = []
        for j in range(len(self.x)):
            values = self.values(j, share)
            moved = np.repeat(self.x[None], len(values), axis=0)
            moved[:, j] = values
            rows.append(moved)
        for group in self.problem.groups:
            moved = np.repeat(self.x[None], len(group.combinations), axis=0)
            moved[:, list(group.columns)] = group.combinations
            rows.append(moved[:: max(1, len(moved) // (4 * OBSERVED))])
        return np.concatenate(rows)

    def singles(self) -> None:
        """Asks about single changes; where nothing reaches the target yet, about all of them."""
        self.ask(self._moves())

    def bracket(self, rounds: int = 16) -> None:
        """Where nothing reaches the target yet: numbers between those that fall short of it and those beyond it."""
        for _ in range(rounds):
            rows = np.empty((0, len(self.x))) if len(self.known) else bracketed(self)
            if not len(rows):
                return
            self.ask(rows)

    def climb(self, rounds: int = 8) -> None:
        """Where nothing reaches the target yet: the best single change on top of the best row so far, again and
        again.
        """
        best = np.inf
        for _ in range(rounds):
            rows = self.problem.so_far()
            rows = rows[self.problem.allowed(rows)]
            if len(self.known) or not len(rows):
                return
            gains = np.max([target.gain(self.problem.score(rows)) - target.need for target in self.targets], axis=0)
            start = rows[int(np.argmax(gains))]
            if -gains.max() >= best - 1e-12:
                return
            best = -float(gains.max())
            moves = self._moves()
            self.ask(np.where(self.problem.changed(moves), moves, start), most=2 * AT_ONCE)

    def combine(self) -> None:
        """A round of single changes within reach, and of several changes that should do it together."""
        self.ask(refined(self), most=AT_ONCE // 2)
        self.ask(self._moves(0.25), most=AT_ONCE // 2)
        guesses = [self._moves(), *(together(self, target) for target in self.targets)]
        if not self.ask(np.concatenate(guesses), most=AT_ONCE):
            self.share *= 0.85

    def stretch(self) -> None:
        """Single changes of numbers, evenly up to the best answer's cost: where data are rare, values near the row and
        observed ones leave gaps.
        """
        rows = []
        for j in np.flatnonzero(self.problem.free & ~self.problem.nominal & ~np.isnan(self.x)).tolist():
            choices = self.problem.choices[j]
            far = min(radius(self.problem, j, self.reach), choices.high - choices.low)
            moved = np.repeat(self.x[None], 2 * len(_EVENLY), axis=0)
            moved[:, j] += far * np.array([*_EVENLY, *(-part for part in _EVENLY)])
            rows.append(moved)
        if rows and np.isfinite(self.reach):
            self.ask(np.concatenate(rows))

    def expect(self, rounds: int) -> None:
        """Rows that are expected to save most, as long as that is worth a row."""
        kernel, chosen_at = None, 0
        for _ in range(rounds if self.problem.free.any() else 0):
            known = self.problem.asked.rows
            if known > _WORN * chosen_at:
                kernel, chosen_at = None, known
            expected = Expected(self, kernel)
            kernel = expected.kernel
            if not expected.ask(_EXPECTED if self.left is None else min(_EXPECTED, self.left)):
                return

    def sweep(self, most: int = 120) -> None:
        """Single changes to every observed number within reach, evenly fewer where they are many: predictions may jump
        up and down again between the values that were asked about.
        """
        rows = []
        for j in np.flatnonzero(self.problem.free & ~self.problem.nominal & ~np.isnan(self.x)).tolist():
            values = np.unique(self.observed[j])
            moved = np.repeat(self.x[None], len(values), axis=0)
            moved[:, j] = values
            rows.append(moved)
        if not rows or not len(self.known):
            return
        within = self.new(np.concatenate(rows))
        self.ask(within[:: -(-len(within) // most)] if len(within) else within)

    def build(self, bases: int = 4) -> None:
        """Single changes on top of rows that fall short, the most promising first, and what they should do together."""
        used: set[bytes] = set()
        for _ in range(bases):
            for target in self.targets:
                base = promising(self, target, used)
                if base is None:
                    continue
                used.add(self.problem.changed(base[None]).tobytes())
                self.ask(on_top(self, target, base), most=AT_ONCE)
                self.ask(together(self, target, base), most=AT_ONCE // 2)

    def spread(self, generator: np.random.Generator, rounds: int = 4, size: int = 80, quiet: int = 1) -> None:
        """Draws of a few changes that share a cost within reach, more often of those that helped (cross-entropy)."""
        free = np.flatnonzero(self.problem.free)
        if not len(free):
            return
        draws = Draws(self, free)
        for _ in range(rounds):
            rows = draws.rows(generator, size, self.reach)
            better = self.ask(rows)
            draws.sharpen(rows)
            quiet -= not better
            if quiet <= 0:
                return

    def exchange(self, rounds: int = 5, steps: int = 6) -> None:
        """Moves one feature of the best answer while another change is undone or shortened."""
        for _ in range(rounds):
            if not len(self.known) or not self.ask(exchanges(self, self.best()[0], steps), most=2 * AT_ONCE):
                return
