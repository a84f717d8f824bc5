"""Counterfactuals and adversarial examples of texts and images: the fewest words or segments that change a prediction.

Reference. Martens and Provost 2014, "Explaining data-driven document classifications" (words removed); Wachter,
Mittelstadt and Russell 2018; Su, Vargas and Sakurai 2019 (one pixel).

Definition. Of all texts or images z that are made of x by changing some of its parts, each taken out, painted over or
replaced, those with the fewest changes whose prediction is in the target T:

    min |S|   such that   f(x with the parts of S changed) in T

An adversarial example is the same, asked with another aim: how little fools the model.

Estimator. `fewest`: every single change, then sets of two, three and more, all of them as long as they fit into the
budget, which proves how many are needed, else the most promising. Every answer is asked of the model once more as it is
given out; only what reaches the target then is one.

When it misleads:
1. several sets do as well, and each is "the" explanation (caveat "rashomon");
2. the prediction is only just over the edge (caveat "fragile");
3. what stands for absence decides: another mask or colour undoes the answer (caveat "absence");
4. little is left of the text or image (caveat "long-answer"): the model then says what it says of nothing.

Cost. One text or image for every part, and for every set that is tried: at most ``budget`` in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, TypeVar

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.checks import flag, optional, settle, whole
from pellucid.errors import InputError
from pellucid.explanations import Header
from pellucid.parts.aim import Aim
from pellucid.parts.answer_checks import answer_caveats
from pellucid.parts.answers import ImageCounterfactuals, PartCounterfactuals, TextCounterfactuals
from pellucid.parts.fewest import Changes, Fewest, Set
from pellucid.parts.game import Games, PartGame
from pellucid.parts.model import WholeModel
from pellucid.runner import Run

BUDGET = 2000
_ENDS = 2  # asked for before anything else: with every part, and with none
R = TypeVar("R", TextCounterfactuals, ImageCounterfactuals)


class AnswerOptions(TypedDict, total=False):
    """Options of `counterfactuals` and `adversarial`, for texts and images alike."""

    target: Any
    n: int
    max_changes: int | None
    best_effort: bool
    budget: int | None


@dataclass(frozen=True, eq=False)
class AnswerEffort:
    """What is asked for, and how long it is looked for."""

    method: str
    target: Any = None
    n: int = 5
    max_changes: int | None = None
    best_effort: bool = False
    budget: int | None = None

    def __post_init__(self) -> None:
        settle(
            self,
            n=whole("n", self.n),
            max_changes=optional(whole, "max_changes", self.max_changes),
            best_effort=flag("best_effort", self.best_effort),
            budget=optional(whole, "budget", self.budget),
        )

    @property
    def rows(self) -> int:
        """Texts or images that may be asked for."""
        return BUDGET if self.budget is None else self.budget


@dataclass(frozen=True, eq=False)
class Instead:
    """What may take the place of parts: ``names[k]``, shown by ``wholes[k]``, for each ``(part, k)`` of ``allowed``;
    those of ``absent`` may be left out, too.
    """

    names: tuple[str, ...]
    wholes: Sequence[Any]
    allowed: Sequence[tuple[int, int]]
    absent: Sequence[int] = ()


def part_counterfactuals(
    kind: type[R], games: Games, model: WholeModel, *, instead: Instead | None, effort: AnswerEffort, run: Run
) -> R:
    """The fewest changes that bring the prediction of a text or image into the target, as a result of this kind."""
    quest = _Quest(games, model, instead, effort, run)
    quest.search()
    result = quest.result(kind)
    if not run.checks:
        return run.finish(result)
    other = run.unless_interrupted(lambda: quest.otherwise(model, result), None)
    steady = quest.game.predictor.instability
    return run.finish(result, answer_caveats(result, run, instability=steady, spent=quest.fewest.spent, other=other))


class _Quest:
    """One text or image, what is asked for, and how far the search for it has come."""

    def __init__(
        self, games: Games, model: WholeModel, instead: Instead | None, effort: AnswerEffort, run: Run
    ) -> None:
        self.games, self.instead, self.effort, self.run = games, instead, effort, run
        self.game = games.game(model.in_full(), run, () if instead is None else instead.wholes)
        self.own = self.game.ends()[1]
        self.aim = Aim.at(effort.target, self.game.predictor, self.own[0])
        self.changes = _changes(self.game, instead)
        self.miss = float(self.aim.miss(self.own)[0])
        left = effort.rows - _ENDS - effort.n
        if left < 1:
            least = _ENDS + effort.n + 1
            raise InputError(f"budget={effort.rows} is spent before anything is changed; give at least {least}.")
        near = float(self.aim.nearness(self.own)[0])
        self.fewest = Fewest(self.changes, self._ask, own=near, wanted=effort.n, most=effort.max_changes, budget=left)

    def search(self) -> None:
        """To the end, or until the budget is spent or the user interrupts."""
        if self.miss == 0.0:
            self.fewest.reached[()] = None
            return
        with self.run.until_interrupted(lambda: bool(self.fewest.reached)):
            self.fewest.search()

    def _ask(self, sets: list[Set]) -> tuple[FloatArray, BoolArray]:
        full = self.game.worth(_there(self.changes.states(sets)))[0]
        miss = self.aim.miss(full)
        self.miss = min(self.miss, float(miss.min()))
        return self.aim.nearness(full), np.asarray(miss == 0.0)

    def _full(self, states: IntArray) -> FloatArray:
        """The full predictions of texts or images as they are given out."""
        if not len(states):
            return np.empty((0, self.own.shape[1]))
        with self.run.counting(len(states)):
            return self.game.predictor(self.game.wholes(_there(states)), len(states))

    def _different(self) -> IntArray:
        """The answers; one of those that give the same text, as when a word stands there twice."""
        states = self.changes.states(self.fewest.answers())
        return states[np.sort(self.game.distinct(_there(states))[0])] if len(states) else states

    def result(self, kind: type[R]) -> R:
        """The first answers that still reach the target when the model is asked once more; or the nearest miss."""
        every = self._different()
        states = every[: self.effort.n]
        full = self._full(states)
        kept = self.aim.reached(full)
        states, full = states[kept], full[kept]
        if not len(states) and self.effort.best_effort and (nearest := self.fewest.nearest_miss()):
            states = self.changes.states([nearest])
            full = self._full(states)
        wholes = self.game.wholes(_there(states))
        given: dict[str, Any] = {"parts": self.games.parts}
        given |= {"texts": tuple(wholes)} if kind is TextCounterfactuals else {"images": np.asarray(wholes)}
        predictor, changed = self.game.predictor, states != 1
        said = np.concatenate([self.own, full])
        return kind(
            header=self._header(),
            states=states,
            others=() if self.instead is None else self.instead.names,
            predictions=predictor.restrict(full),
            prediction=predictor.restrict(self.own)[0],
            said=self.aim.said(said),
            target=self.aim.target.words,
            valid=self.aim.reached(full),
            margins=self.aim.margin(said),
            tried=self.fewest.complete,
            changeable=len(np.unique(self.changes.part)),
            minimal=len(every),
            nearest_miss=self.miss,
            values=changed.mean(axis=0) if len(changed) else np.zeros(changed.shape[1]),
            se=np.zeros(changed.shape[1]),
            **given,
        )

    def _header(self) -> Header:
        effort, predictor = self.effort, self.game.predictor
        return Header(
            feature_names=self.games.parts.names,
            output_names=predictor.output_names,
            scale=predictor.scale,
            cost=self.run.cost(),
            settings={
                "method": effort.method,
                "target": self.aim.target.words,
                "n": effort.n,
                "max_changes": effort.max_changes,
                "best_effort": effort.best_effort,
                "budget": effort.rows,
                "random_state": self.run.seed,
                **self.games.settings(),
            },
        )

    def otherwise(self, model: WholeModel, result: PartCounterfactuals) -> tuple[str, float] | None:
        """Something else in place of absent parts, and the share of the answers that no longer reach the target."""
        if self.instead is not None or not len(result) or not result.valid.all() or not result.changed.any():
            return None
        lost: dict[str, float] = {}
        for name, games in self.games.otherwise().items():
            full = games.game(model.in_full(), self.run).worth(_there(result.states))[0]
            lost[name] = 1.0 - float(self.aim.reached(full).mean())
        worst = max(lost, key=lambda name: lost[name], default=None)
        return None if worst is None else (worst, lost[worst])


def _changes(game: PartGame, instead: Instead | None) -> Changes:
    """Every part that can be absent is, or what may replace it does."""
    if instead is None:
        part = np.flatnonzero(game.active[0]).astype(np.intp)
        return Changes(part, np.zeros(len(part), dtype=np.intp), game.players)
    pairs = np.array(list(instead.allowed), dtype=np.intp).reshape(-1, 2)
    absent = np.array([i for i in instead.absent if game.active[0][i]], dtype=np.intp)
    code = np.concatenate([np.zeros(len(absent), dtype=np.intp), pairs[:, 1] + 2])
    return Changes(np.concatenate([absent, pairs[:, 0]]), code, game.players)


def _there(states: IntArray) -> AnyArray:
    """States as coalitions: truth values where nothing takes the place of absent parts."""
    return states.astype(np.bool_) if states.max(initial=0) < 2 else states
