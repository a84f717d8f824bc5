"""Anchors of texts and images: the words, or segments, that fix a prediction.

Reference. Ribeiro, Singh and Guestrin 2018, "Anchors: high-precision model-agnostic explanations".

Definition. A rule A is a set of parts. Texts or images z are made of the one that is explained: the parts of A are
there, each other one with probability 1/2. An absent part is taken out or painted over (``perturb="absent"``), or a
word, or the same place of an image, of a ``corpus`` stands there (``perturb="corpus"``).

    precision(A) = P( f(z) = f(x) | z has the parts of A )

An anchor has a precision of at least tau, with probability 1 - delta. The one sought has the greatest coverage: the
share of a corpus of texts that have all its words; without a corpus, and for images, the share of perturbed texts or
images that keep its parts, 1/2 to the power of their number. That is only a preference for short rules: segments of one
image are nowhere in another, so there is nothing to cover.

Estimator. That for tables (`search`): a beam search, with KL bounds for all that is accepted. Of ten parts or fewer all
choices are gone through where draws would be as many, and the precision is exact.

When it misleads:
1. what stands for absence decides what "usually" means (caveat "absence");
2. a prediction that most perturbed texts or images get needs no part at all, which says nothing about this one (caveat
   "anchor-imbalance");
3. a rule of many parts is nearly the whole itself (caveat "anchor-long");
4. it fixes the prediction; it is neither a cause nor needed: another rule may do as well.

Cost. O(B p) rules a round for p parts, at most p rounds; about 40 to 1,500 draws for each, of which those are asked
that are new.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, TypeVar

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.checks import one_of, optional, settle, whole
from pellucid.errors import InputError
from pellucid.explanations import Condition, Header
from pellucid.methods.rules.search.beam import Candidate, Search, precision_gains
from pellucid.methods.rules.search.certify import Goal
from pellucid.methods.rules.search.same_prediction import SamePrediction, same_prediction, within_words
from pellucid.parts.anchor_draws import CorpusSpace, PartDraws, PartSpace
from pellucid.parts.checks import anchor_caveats
from pellucid.parts.game import Games, PartGame, Remembered
from pellucid.parts.model import Models, WholeModel, WholePredictor
from pellucid.parts.rule import PartRule
from pellucid.parts.source import ImageParts, Parts, TextParts
from pellucid.runner import Run

Perturb = Literal["absent", "corpus"]
PERTURB = ("absent", "corpus")
_SPREAD, _CHECK = 1_000_001, 1_000_002  # episodes of draws for other purposes
_SPREAD_DRAWS, _CHECK_DRAWS = 200, 64
_OTHER_MASK = "UNK"
MOST_PARTS = 500
R = TypeVar("R", bound=PartRule)


class AnchorOptions(TypedDict, total=False):
    """Options of `anchor`, for texts and images alike."""

    precision: float
    delta: float
    epsilon: float
    perturb: Perturb
    beams: int
    batch: int
    max_conditions: int | None
    budget: int | None
    empty_evaluations: int
    suboptimal: bool
    within: Any


@dataclass(frozen=True, eq=False)
class AnchorEffort:
    """What is asked of an anchor of parts, and how it is looked for; the options of `anchor`."""

    precision: float = 0.95
    delta: float = 0.05
    epsilon: float = 0.05
    beams: int = 4
    batch: int = 32
    perturb: Perturb = "absent"
    max_conditions: int | None = None
    budget: int | None = None
    empty_evaluations: int = 200
    suboptimal: bool = True
    within: Any = None

    def __post_init__(self) -> None:
        goal = self.goal  # refuses what cannot be asked of a search
        settle(self, budget=optional(whole, "budget", self.budget), precision=goal.tau)
        one_of("perturb", self.perturb, PERTURB)

    @property
    def goal(self) -> Goal:
        """For the search."""
        return Goal(
            self.precision,
            self.delta,
            self.epsilon,
            self.beams,
            self.batch,
            self.max_conditions,
            self.suboptimal,
            self.empty_evaluations,
        )

    def settings(self, run: Run) -> dict[str, Any]:
        """Everything needed to repeat it."""
        goal = self.goal
        return {
            "method": "anchor",
            "precision": goal.tau,
            "delta": goal.delta,
            "epsilon": goal.epsilon,
            "beams": goal.beams,
            "batch": goal.batch,
            "perturb": self.perturb,
            "max_conditions": goal.most,
            "budget": self.budget,
            "empty_evaluations": goal.empty,
            "suboptimal": goal.suboptimal,
            "within": within_words(self.within),
            "random_state": run.seed,
        }


@dataclass(frozen=True, eq=False)
class Corpus:
    """Other texts or images (None: not given), and their words, or the images, that may replace absent parts."""

    wholes: Sequence[Any] | None = None
    replacements: Sequence[Any] = ()


def part_anchor(kind: type[R], games: Games, models: Models, *, corpus: Corpus, effort: AnchorEffort, run: Run) -> R:
    """The parts of a text or image that fix its prediction, as a result of this kind."""
    parts = games.parts
    _refuse(len(parts.names), games.larger)
    others = _others(corpus.replacements, effort.perturb)
    played = _Games(lambda model: games.game(model, run, others), models, effort)
    space, covers = PartSpace(np.flatnonzero(played.game.active[0])), None
    if isinstance(parts, TextParts) and corpus.wholes is not None:
        covers = corpus.wholes
        space = CorpusSpace(space.parts, parts.tokens, covers, parts.unit)
    draws = PartDraws(len(parts.names), space, len(others), run, alike=isinstance(parts, ImageParts))
    found = _searched(played, space, draws, effort, run)
    rule = kind(
        **found.fields(parts),
        header=Header(
            feature_names=parts.names,
            output_names=played.game.predictor.output_names,
            scale="precision",
            cost=run.cost(),
            settings={**effort.settings(run), **games.settings()},
        ),
        parts=parts,
        covers="perturbations" if covers is None else "corpus",
        rows=0 if covers is None else len(covers),
    )

    def other() -> tuple[str, float] | None:
        if effort.perturb != "absent" or not found.best.rule:
            return None
        seen = {
            name: found.precision_in(instead.game(played.model, run), draws, played)
            for name, instead in games.otherwise().items()
        }
        worst = min(seen, key=lambda name: seen[name])
        return worst, seen[worst]

    return _checked(rule, played.game, run.unless_interrupted(other, None), run)


# -- what counts as the same -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Numbers:
    """What `same_prediction` asks of a predictor, where all numbers are there already."""

    classes: tuple[Any, ...] | None
    task: str

    def restrict(self, full: FloatArray) -> FloatArray:
        """All of them."""
        return full


class _Games:
    """The game to search in: by class where there are classes and no interval is asked for, else by number."""

    def __init__(self, make: Callable[[WholeModel], PartGame], models: Models, effort: AnchorEffort) -> None:
        self.model, self.within = models.classes, effort.within
        self.game = make(self.model)
        self.by_class = effort.within is None and self.game.predictor.classes is not None
        if not self.by_class and models.explained is not models.classes:
            self.model = models.explained
            self.game = make(self.model)
        self.known = Remembered(self.game)

    def numbers(self, answers: FloatArray) -> FloatArray:
        """What predictions are compared by: a column for each class, or the numbers themselves."""
        if not self.by_class or answers.shape[1] > 1:
            return answers
        other = 1.0 - answers if self.game.predictor.scale == "probability" else np.zeros_like(answers)
        return np.concatenate([other, answers], axis=1)

    def same_prediction(self, spread: Callable[[], FloatArray]) -> SamePrediction:
        """How predictions are compared with that of the whole."""
        classes = self.game.predictor.classes if self.by_class else None
        asked = _Numbers(classes, "classification" if self.by_class else "regression")
        own = self.numbers(self.game.ends()[1])
        return same_prediction(asked, self.within, own, spread)

    def same(self, same: SamePrediction, answers: FloatArray) -> BoolArray:
        """Which answers are those of the whole."""
        return same.same(same.answers(self.numbers(answers)), 0)


# -- searching ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Found:
    """The end of a search."""

    search: Search
    same: SamePrediction
    space: PartSpace

    @property
    def best(self) -> Candidate:
        return self.search.best or Candidate((), 1.0, 0, 0)

    def fields(self, parts: Parts) -> dict[str, Any]:
        """The fields of a result that come from the search."""
        names = parts.names
        best, trace = self.best, self.search.trace()
        kept = tuple(int(self.space.parts[q]) for q in best.rule)
        running = np.array([step.precision for step in trace])
        running[-1] = best.precision
        values, se = precision_gains(len(names), kept, trace, running)
        known = best.n or best.exact is not None
        return {
            "conditions": tuple(Condition(names[part], "level", parts.label(part), levels=(1.0,)) for part in kept),
            "players": tuple(names[part] for part in kept),
            "kept": kept,
            "precision": float(best.precision),
            "coverage": best.coverage,
            "base": float(running[0]),
            "interval": (min(best.low, best.precision), max(best.high, best.precision)) if known else (0.0, 1.0),
            "running_precision": running,
            "running_coverage": np.array([step.coverage for step in trace]),
            "prediction": self.same.prediction(0),
            "same": self.same.interval(0),
            "reached": best.anchor,
            "reason": self.search.stopped if best.anchor else self.search.why,
            "samples": best.n,
            "columns_of_data": names,
            "values": values,
            "se": se,
        }

    def precision_in(self, game: PartGame, draws: PartDraws, games: _Games) -> float:
        """The precision of the rule where something else stands for absence."""
        rule = np.isin(np.arange(len(self.space.parts)), self.best.rule)
        rows = draws.rows(_CHECK, rule, 0, _CHECK_DRAWS)
        return float(games.same(self.same, Remembered(game).worth(rows)).mean())


def _searched(games: _Games, space: PartSpace, draws: PartDraws, effort: AnchorEffort, run: Run) -> _Found:
    """Search to the end, or until the budget is spent or the user interrupts."""

    def spread() -> FloatArray:
        nothing = np.zeros(len(space.parts), dtype=np.bool_)
        n = _SPREAD_DRAWS if effort.budget is None else min(_SPREAD_DRAWS, 1 + effort.budget // 4)
        answers = games.known.worth(draws.rows(_SPREAD, nothing, 0, n))
        return np.asarray(games.numbers(answers).std(axis=0))

    same = games.same_prediction(spread)
    search = Search(space, effort.goal)
    asking = search.asking()
    with run.until_interrupted(lambda: search.best is not None) as work, suppress(StopIteration):
        wants = next(asking)
        while True:
            rows, ends = draws.of(wants)
            if effort.budget is not None and run.cost().model_rows + games.known.new(rows) > effort.budget:
                if search.best is None:
                    raise InputError(
                        f"budget={effort.budget}; that is less than it takes to look at the empty rule: give more, or"
                        " None."
                    )
                _stop(search, "budget")
                break
            found = games.same(same, games.known.worth(rows))
            wants = asking.send(np.split(found, ends))
    if work.cut:
        _stop(search, "interrupted")
    return _Found(search, same, space)


def _stop(search: Search, why: str) -> None:
    search.stopped = why
    if search.best is None or not search.best.anchor:
        search.why = why


def _checked(rule: R, game: PartGame, other: tuple[str, float] | None, run: Run) -> R:
    """The result with its caveats and what it cost in all."""
    if not run.checks:
        return run.finish(rule)
    predictor: WholePredictor = game.predictor
    caveats = anchor_caveats(rule, run, instability=predictor.instability, other=other)
    return run.finish(rule, caveats)


# -- checks of the options ---------------------------------------------------------------------------


T = TypeVar("T")


def _others(corpus: Sequence[T], perturb: Perturb) -> tuple[T, ...]:
    """What may stand in place of absent parts."""
    if perturb == "absent":
        return ()
    if not len(corpus):
        raise InputError(
            "perturb='corpus' needs a corpus= to take replacements from; give texts, or images of the same size."
        )
    return tuple(corpus)


def _refuse(parts: int, larger: str) -> None:
    if parts > MOST_PARTS:
        raise InputError(
            f"there are {parts:,} parts, more than the {MOST_PARTS:,} among which an anchor can be searched for; use"
            f" fewer, larger parts ({larger})."
        )
