"""Many searches answered together: one call of the model for what all of them want next, no question asked twice."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.errors import InputError
from pellucid.methods.rules.arms import Asking, Wants
from pellucid.methods.rules.perturbation import Drawn, KeyArray, Perturbation
from pellucid.methods.rules.sameness import Sameness
from pellucid.methods.rules.search import Search
from pellucid.models import Predictor
from pellucid.runner import Run


class Spent(Exception):
    """The next question would cost more model rows than are left."""


class Answers:
    """What the model said to every row asked about so far, found again by the row's number."""

    def __init__(self, predictor: Predictor, data: Data, same: Sameness, run: Run, budget: int | None) -> None:
        self._predictor, self._data, self._run, self._budget = predictor, data, run, budget
        self.same = same
        self._place: dict[int, int] = {}
        self._known = np.empty((0, 0))
        self._size = 0

    def remember(self, keys: KeyArray, full: FloatArray) -> None:
        """Note predictions that were made for another purpose."""
        answers = self.same.answers(full)
        for key, answer in zip(keys.tolist(), answers, strict=True):
            if key not in self._place:
                self._place[key] = self._append(answer[None, :])

    def of(self, drawn: Sequence[Drawn]) -> list[FloatArray]:
        """The answers to all rows drawn; the model is asked once for those that are new."""
        new: list[FloatArray] = []
        coming: dict[int, int] = {}
        places = [self._places(one, new, coming) for one in drawn]
        if new:
            rows = np.concatenate(new)
            if self._budget is not None and self._run.cost().model_rows + len(rows) > self._budget:
                raise Spent(f"budget={self._budget} model rows")
            full = self._run.predict(self._predictor, self._data.of_codes(rows), full=True)
            self._append(self.same.answers(full))
            self._place |= coming
        return [self._known[place] for place in places]

    def _places(self, drawn: Drawn, new: list[FloatArray], coming: dict[int, int]) -> IntArray:
        """Where the answers are, or will be when those to the rows in ``new`` are there."""
        ahead = self._size + sum(map(len, new))
        if drawn.key is None:
            new.append(drawn.codes(np.arange(len(drawn.arm))))
            return ahead + np.arange(len(drawn.arm))
        keys, first, inverse = np.unique(drawn.key, return_index=True, return_inverse=True)
        known = self._place
        places = np.array([known.get(key, coming.get(key, -1)) for key in keys.tolist()], dtype=np.intp)
        unknown = np.flatnonzero(places < 0)
        if len(unknown):
            new.append(drawn.codes(first[unknown]))
            places[unknown] = ahead + np.arange(len(unknown))
            coming |= dict(zip(keys[unknown].tolist(), places[unknown].tolist(), strict=True))
        return places[inverse]

    def _append(self, answers: FloatArray) -> int:
        """Add answers at the end, making room by doubling; the place of the first."""
        start, stop = self._size, self._size + len(answers)
        if stop > len(self._known):
            room = np.empty((max(stop, 2 * len(self._known), 1024), answers.shape[1]))
            room[:start] = self._known[:start] if start else 0.0
            self._known = room
        self._known[start:stop] = answers
        self._size = stop
        return start


def search_together(
    searches: Sequence[Search], perturbations: Sequence[Perturbation], answers: Answers, run: Run
) -> None:
    """Run all searches to their ends, or until the budget is spent or the user interrupts."""
    asking: dict[int, Asking[None]] = {row: search.asking() for row, search in enumerate(searches)}
    wanted = {row: wants for row, search in asking.items() if (wants := next(search, None)) is not None}
    try:
        while wanted:
            drawn = {row: perturbations[row].draw(wants) for row, wants in wanted.items()}
            found = answers.of(list(drawn.values()))
            for row, answer in zip(list(drawn), found, strict=True):
                same = _by_arm(answers.same.same(answer, row), drawn[row].arm, len(wanted.pop(row).bits))
                with contextlib.suppress(StopIteration):  # the search has ended
                    wanted[row] = asking[row].send(same)
    except Spent as spent:
        if any(search.best is None for search in searches):
            raise InputError(
                f"{spent}; that is less than it takes to look at the empty rule: give more, or None."
            ) from None
        _stop(searches, wanted, "budget")
    except KeyboardInterrupt:
        if any(search.best is None for search in searches):
            raise
        run.interrupted = True
        _stop(searches, wanted, "interrupted")


def _by_arm(same: BoolArray, arm: IntArray, arms: int) -> list[BoolArray]:
    return np.split(same, np.searchsorted(arm, np.arange(1, arms)))


def _stop(searches: Sequence[Search], wanted: dict[int, Wants], why: str) -> None:
    for row in wanted:
        searches[row].stopped = why
        best = searches[row].best
        if best is None or not best.anchor:
            searches[row].why = why
