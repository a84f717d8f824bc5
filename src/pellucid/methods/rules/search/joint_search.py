"""The searches of all explained rows together: what they share, and one call of the model for what all want next.

Shared are the rows that values come from, their predictions, and what counts as the same prediction. No row is asked
about twice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.errors import InputError
from pellucid.methods.rules.search.bandit import Asking, Wants
from pellucid.methods.rules.search.beam import Search
from pellucid.methods.rules.search.certify import Goal
from pellucid.methods.rules.search.perturbation import Drawn, KeyArray, Perturbation, Sources, balanced
from pellucid.methods.rules.search.same_prediction import SamePrediction, same_prediction
from pellucid.methods.rules.search.screening import CELLS
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.stats import weighted_mean

_MOST, _CELLS = 20_000, 40_000_000  # rows of the data (and their cells) that perturbed rows are made of
_SPREAD = 1000  # rows that show how much predictions differ


@dataclass(frozen=True, eq=False)
class Setting:
    """What the searches of all rows share: where values come from, how predictions compare, and weights of the rows
    drawn.

    ``rows`` are the positions of the source rows in the data; ``full`` their predictions, where they were asked for.
    """

    sources: Sources
    rows: IntArray
    same: SamePrediction
    full: FloatArray | None
    even: bool
    own: bool

    def common(self, i: int) -> float:
        """The share of the data with the prediction of explained row ``i``; NaN where it is not known."""
        if self.full is None:
            return float("nan")
        same = self.same.same(self.same.answers(self.full), i)
        return _share(same, self.sources.data.weights)

    def weights(self, i: int) -> FloatArray:
        """How often each source row is drawn for the perturbations of explained row ``i``."""
        weights = self.sources.data.weights
        if not self.even or self.full is None:
            return weights
        answers = self.same.answers(self.full)
        classes = not len(self.same.interval(i))
        return balanced(weights, answers[:, 0] if classes else self.same.same(answers, i))

    def base(self, i: int) -> float | None:
        """The exact precision of the empty rule, where all rows were asked for."""
        if self.full is None or self.own:
            return None
        same = self.same.same(self.same.answers(self.full), i)
        return _share(same, self.weights(i))


def _share(same: BoolArray, weights: FloatArray) -> float:
    """The weight of some rows as a share of all; exactly 1 if they are all."""
    return float(weights[same].sum() / weights.sum())


def shared_setting(
    predictor: Predictor,
    data: Data,
    explained: Data,
    perturb: Any,
    within: Any,
    goal: Goal,
    budget: int | None,
    run: Run,
) -> Setting:
    """Ask the model for the explained rows and, where that is cheap or needed, for the rows that values come from."""
    rows = np.arange(len(data))
    most = min(_MOST, max(500, _CELLS // len(data.schema.features)))
    if len(data) > most:
        rows = np.sort(run.generator("anchor.sources").choice(len(data), most, replace=False))
    some = data if len(rows) == len(data) else data.take(rows)
    players = dict(sorted(data.schema.players().items()))
    _check_budget(len(some) + len(explained), perturb, budget)
    full = None
    cheap = len(some) <= goal.empty and (budget is None or 4 * len(some) <= budget)
    if perturb == "balanced" or (cheap and not callable(perturb)):
        full = run.predict(predictor, some, full=True)
    own = run.predict(predictor, explained, full=True)
    same = same_prediction(predictor, within, own, lambda: _spread(predictor, some, full, budget, run))
    return Setting(Sources(some, explained, players), rows, same, full, perturb == "balanced", callable(perturb))


def _check_budget(rows: int, perturb: Any, budget: int | None) -> None:
    if perturb == "balanced" and budget is not None and budget < rows:
        raise InputError(
            f"budget={budget} model rows; perturb='balanced' needs the predictions of {rows:,} rows before it starts:"
            " give more, or None."
        )


def _spread(predictor: Predictor, some: Data, full: FloatArray | None, budget: int | None, run: Run) -> FloatArray:
    """The standard deviation of each explained output over the data, or over as many rows as a quarter of the budget
    allows.
    """
    most = _SPREAD if budget is None else min(_SPREAD, max(2, budget // 4))
    few = some if full is not None else some.take(some.spread(most))
    outputs = predictor.restrict(run.predict(predictor, few, full=True) if full is None else full)
    centre = weighted_mean(outputs, few.weights)
    return np.sqrt(weighted_mean(np.square(outputs - centre), few.weights))


class Spent(Exception):
    """The next question would cost more model rows than are left."""


class Answers:
    """What the model said to every row asked about so far, found again by the row's number."""

    def __init__(self, predictor: Predictor, data: Data, same: SamePrediction, run: Run, budget: int | None) -> None:
        self._predictor, self._data, self._run, self._budget = predictor, data, run, budget
        self.same = same
        self._place: dict[int, int] = {}
        self._known = np.empty((0, 0))
        self._size = 0
        self._at_once = max(1, CELLS // len(data.schema.features))

    def remember(self, keys: KeyArray, full: FloatArray) -> None:
        """Note predictions that were made for another purpose."""
        answers = self.same.answers(full)
        for key, answer in zip(keys.tolist(), answers, strict=True):
            if key not in self._place:
                self._place[key] = self._append(answer[None, :])

    def of(self, drawn: Sequence[Drawn]) -> list[FloatArray]:
        """The answers to all rows drawn; the model is asked once for those that are new."""
        new: list[tuple[Drawn, IntArray]] = []
        coming: dict[int, int] = {}
        places = [self._places(one, new, coming) for one in drawn]
        if new:
            asked = sum(len(which) for _, which in new)
            if self._budget is not None and self._run.cost().model_rows + asked > self._budget:
                raise Spent(f"budget={self._budget} model rows")
            self._append(np.concatenate([self._asked(part) for part in _portions(new, self._at_once)]))
            self._place |= coming
        return [self._known[place] for place in places]

    def _asked(self, part: list[tuple[Drawn, IntArray]]) -> FloatArray:
        parts = [drawn.codes(which) for drawn, which in part]
        rows = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return self.same.answers(self._run.predict(self._predictor, self._data.of_codes(rows), full=True))

    def _places(self, drawn: Drawn, new: list[tuple[Drawn, IntArray]], coming: dict[int, int]) -> IntArray:
        """Where the answers are, or will be when those to the rows in ``new`` are there."""
        ahead = self._size + sum(len(which) for _, which in new)
        if drawn.key is None:
            new.append((drawn, np.arange(len(drawn.arm))))
            return ahead + np.arange(len(drawn.arm))
        keys, first, inverse = np.unique(drawn.key, return_index=True, return_inverse=True)
        known = self._place
        places = np.array([known.get(key, coming.get(key, -1)) for key in keys.tolist()], dtype=np.intp)
        unknown = np.flatnonzero(places < 0)
        if len(unknown):
            new.append((drawn, first[unknown]))
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


def _portions(new: list[tuple[Drawn, IntArray]], most: int) -> Iterator[list[tuple[Drawn, IntArray]]]:
    """The rows in their order, as many at once as are held together."""
    part: list[tuple[Drawn, IntArray]] = []
    room = most
    for drawn, which in new:
        start = 0
        while start < len(which):
            some = which[start : start + room]
            part.append((drawn, some))
            start, room = start + len(some), room - len(some)
            if not room:
                yield part
                part, room = [], most
    if part:
        yield part


def search_jointly(
    searches: Sequence[Search], perturbations: Sequence[Perturbation], answers: Answers, run: Run
) -> None:
    """Run all searches to their ends, or until the budget is spent or the user interrupts."""
    asking: dict[int, Asking[None]] = {row: search.asking() for row, search in enumerate(searches)}
    wanted = {row: wants for row, search in asking.items() if (wants := next(search, None)) is not None}
    try:
        with run.until_interrupted(lambda: all(search.best is not None for search in searches)) as work:
            while wanted:
                drawn = {row: perturbations[row].draw(wants) for row, wants in wanted.items()}
                found = answers.of(list(drawn.values()))
                for row, answer in zip(list(drawn), found, strict=True):
                    same = _by_arm(answers.same.same(answer, row), drawn[row].arm, len(wanted.pop(row).bits))
                    with contextlib.suppress(StopIteration):  # the search has ended
                        wanted[row] = asking[row].send(same)
        if work.cut:
            _stop(searches, wanted, "interrupted")
    except Spent as spent:
        if any(search.best is None for search in searches):
            raise InputError(
                f"{spent}; that is less than it takes to look at the empty rule: give more, or None."
            ) from None
        _stop(searches, wanted, "budget")


def _by_arm(same: BoolArray, arm: IntArray, arms: int) -> list[BoolArray]:
    return np.split(same, np.searchsorted(arm, np.arange(1, arms)))


def _stop(searches: Sequence[Search], wanted: dict[int, Wants], why: str) -> None:
    for row in wanted:
        searches[row].stopped = why
        best = searches[row].best
        if best is None or not best.anchor:
            searches[row].why = why
