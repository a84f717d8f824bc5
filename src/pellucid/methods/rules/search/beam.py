"""The search for an anchor: from the empty rule upwards, with a beam.

Reference. Ribeiro, Singh and Guestrin 2018, "Anchors: high-precision model-agnostic explanations".

Definition. Among the rules that hold for the row and are anchors (`certify`) find the one that covers most of the data.

Estimator. Round by round, every rule of the beam is extended by every predicate. Candidates that cover no more than the
best anchor so far are dropped. The others are judged; the anchor that covers most is kept; and of those that are no
anchors the ``beams`` with the greatest precision (`best_arms`, KL-LUCB) are extended in the next round. The search ends
when no candidate is left. In the end each predicate of the anchor is tried in its coarser version, or without it, and
then open to one side (``x > 14`` for ``14 < x <= 21``), as long as an anchor remains.

Beyond the reference: all candidates are judged, not only the most precise ones, so a rule that covers much and is just
precise enough is not lost; draws are shared by the rules of a round; and before all that the longest rule
is judged: if even that is no anchor, finer versions of the predicates are used, where there are any.

When it misleads: where no single predicate helps (an exclusive or), a narrow beam picks at random. Widen it.

Cost. O(B p) rules a round and at most p rounds: O(B p^2) rules and their draws, and p bandits with B p arms each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.methods.rules.search.bandit import Arms, Asking, best_arms
from pellucid.methods.rules.search.certify import ROUNDING, Goal, Verdicts, certify, interval
from pellucid.methods.rules.search.predicates import Predicates, Space

TRACED = 64  # draws that give the precision of a part of the final rule
MEASURED = 512  # draws that give the precision of a rule which is no anchor


@dataclass(frozen=True)
class Candidate:
    """A rule and what is known of it; ``low`` and ``high`` bound its precision."""

    rule: Predicates
    coverage: float
    n: int
    hits: int
    low: float = 0.0
    high: float = 1.0
    anchor: bool = False
    exact: float | None = None

    @property
    def precision(self) -> float:
        """The share of hits, or what is known without draws."""
        if self.exact is not None:
            return self.exact
        return self.hits / self.n if self.n else float("nan")


class Search:
    """The search for one row; ask `asking` for draws to make, then read `best` and `trace`.

    ``best`` is the anchor found, or, while there is none, the most precise rule. ``known`` holds the
    rules of the beams, by their predicates. ``base`` is the precision of
    the empty rule where it is known without draws. ``why`` says why there is no anchor, ``stopped`` what
    ended the search before its time.
    """

    def __init__(self, space: Space, goal: Goal, base: float | None = None) -> None:
        self._space, self._goal, self._base = space, goal, base
        self._episode = 0
        self._refused: set[frozenset[int]] = set()
        self.level = 0
        self.best: Candidate | None = None
        self.known: dict[frozenset[int], Candidate] = {}
        self.why = ""
        self.stopped = ""

    def asking(self) -> Asking[None]:
        """All draws of the search, one after the other."""
        yield from self._start()
        if not self._found():
            full = yield from self._reachable()
            yield from self._grow()
            if not self._found() and full is not None:
                self.best = full
            if self._found():
                yield from self._widen()
                while (yield from self._open()):  # a rule that reaches farther may need fewer conditions
                    yield from self._widen()
        self.why = "" if self._found() else self.why or "search"
        yield from self._measure()
        yield from self._trace()

    def _found(self) -> bool:
        return self.best is not None and self.best.anchor

    def trace(self) -> list[Candidate]:
        """The best rule built up predicate by predicate, from the empty rule on."""
        rule = self.best.rule if self.best else ()
        return [self._known(rule[:size]) for size in range(len(rule) + 1)]

    # -- the steps -----------------------------------------------------------------------------------

    def _start(self) -> Asking[None]:
        """The empty rule: is the prediction that common, and how common is it?"""
        if self._base is not None:
            anchor = self._base >= self._goal.tau - ROUNDING
            self.best = Candidate((), 1.0, 0, 0, self._base, self._base, anchor=anchor, exact=self._base)
            self.known[frozenset()] = self.best
            return
        arms, judged = yield from self._verdicts([()])
        self._keep(arms, [()], judged)
        self._note(arms, 0, (), judged)
        yield from self._draw(arms, self._goal.empty)
        self._note(arms, 0, (), judged)

    def _reachable(self) -> Asking[Candidate | None]:
        """Choose the coarsest version in which the longest rule is an anchor; that rule, if it may be used."""
        while True:
            longest = tuple(self._space.levels[self.level])
            if longest:  # else every row obeys every predicate of this version
                _, judged = yield from self._verdicts([longest])
                if judged.accepted[0]:
                    allowed = self._goal.most is None or len(longest) <= self._goal.most
                    return self._known(longest) if allowed else None
            if not self._space.finer():
                self.why = "unreachable"
                return None
            self.level += 1

    def _grow(self) -> Asking[None]:
        """Beam search; the anchor that covers most becomes the best."""
        beam: list[Predicates] = [()]
        most = len(self._space.levels[self.level]) if self._goal.most is None else self._goal.most
        for _ in range(most):
            rules = self._longer(beam)
            if not rules:
                return
            arms, judged = yield from self._verdicts(rules)
            self._keep(arms, rules, judged)
            left = np.flatnonzero(~judged.accepted & (arms.coverage > self._covered))
            left = self._improving(arms, rules, left)
            if not len(left):
                return
            goal = self._goal
            chosen = yield from best_arms(
                arms, left, goal.beams, epsilon=goal.epsilon, delta=goal.delta, batch=goal.batch, most=goal.patience
            )
            beam = [rules[arm] for arm in chosen.tolist()]
            for arm in chosen.tolist():
                self._note(arms, arm, rules[arm], judged)
        if self._goal.most is not None:
            self.why = self.why or "most"

    def _longer(self, beam: list[Predicates]) -> list[Predicates]:
        rules = self._space.longer(beam, self.level)
        if not rules:
            return []
        covered = self._space.coverage(self._space.bits(rules))
        return [rule for rule, share in zip(rules, covered.tolist(), strict=True) if share > self._covered]

    def _improving(self, arms: Arms, rules: list[Predicates], left: IntArray) -> IntArray:
        """Unless steps that do not help are allowed: the arms more precise than the rule they extend."""
        if self._goal.suboptimal:
            return left
        parents = np.array([self._known(rules[arm][:-1]).precision for arm in left.tolist()])
        return np.asarray(left[arms.mean[left] > parents]) if len(left) else left

    def _widen(self) -> Asking[None]:
        """Coarser predicates, or fewer, as long as what remains is an anchor."""
        while self.best is not None:
            wider = self._space.wider(self.best.rule)
            rules = [rule for rule in wider if rule and frozenset(rule) not in self._refused]
            if not rules:
                return
            arms, judged = yield from self._verdicts(rules)
            accepted = np.flatnonzero(judged.accepted)
            if not len(accepted):
                return
            arm = _first(accepted, -arms.coverage[accepted], -judged.low[accepted])
            self.best = self._candidate(arms, arm, rules[arm], judged)

    def _open(self) -> Asking[bool]:
        """Intervals open to one side, as long as the rule is an anchor; whether any is."""
        best = start = self.best.rule if self.best is not None else ()
        moves = self._space.opened(best)
        while moves := [move for move in moves if frozenset(_exchanged(best, *move)) not in self._refused]:
            rules = [_exchanged(best, *move) for move in moves]
            arms, judged = yield from self._verdicts(rules)
            accepted = np.flatnonzero(judged.accepted)
            if not len(accepted):
                break
            arm = _first(accepted, -arms.coverage[accepted], -judged.low[accepted])
            self.best, best = self._candidate(arms, arm, rules[arm], judged), rules[arm]
            others = [k for k, move in enumerate(moves) if move[0] != moves[arm][0]]
            moves = [moves[k] for k in others if not judged.refused[k]]  # what is refused here is so in a wider rule
        return best != start

    def _measure(self) -> Asking[None]:
        """Draw afresh for a best rule that is no anchor: it was chosen for its luck, too."""
        if self.best is None or self.best.anchor or self.best.exact is not None:
            return
        arms = self._arms([self.best.rule])
        yield from self._draw(arms, MEASURED)
        measured = self._candidate(arms, 0, self.best.rule, None)
        low, high = self.best.low, self.best.high
        if measured.exact is not None or not arms.ended[0]:  # else they are all there are: those it was chosen by
            ends = interval(arms, np.zeros(1, dtype=np.intp), np.log(2 / self._goal.delta))
            low, high = float(ends[0][0]), float(ends[1][0])
        self.best = replace(measured, low=low, high=high)

    def _trace(self) -> Asking[None]:
        """Draw for the parts of the best rule about which little is known, so that it can be shown step by step."""
        rule = self.best.rule if self.best else ()
        parts = [rule[:size] for size in range(1, len(rule)) if np.isnan(self._known(rule[:size]).precision)]
        if not parts:
            return
        arms = self._arms(parts)
        yield from self._draw(arms, TRACED)
        for arm, part in enumerate(parts):
            self._note(arms, arm, part, None)

    # -- what is known -------------------------------------------------------------------------------

    @property
    def _covered(self) -> float:
        """What the best anchor covers: a rule is of interest if it covers more."""
        return self.best.coverage if self.best is not None and self.best.anchor else -1.0

    def _covers(self, rule: Predicates) -> float:
        return float(self._space.coverage(self._space.bits([rule]))[0])

    def _arms(self, rules: list[Predicates]) -> Arms:
        self._episode += 1
        bits = self._space.bits(rules)
        return Arms(bits, self._space.coverage(bits), self._episode, paired=self._space.paired)

    def _draw(self, arms: Arms, n: int) -> Asking[None]:
        """``n`` draws for each rule; where all that can be drawn is no more than that, all of it instead."""
        if len(self._space.shares) <= n:
            yield from arms.enumerate(np.flatnonzero(self._space.enumerable(arms.bits)), self._space.shares)
        yield from arms.draw(np.arange(len(arms)), np.full(len(arms), n))

    def _verdicts(self, rules: list[Predicates]) -> Asking[tuple[Arms, Verdicts]]:
        arms = self._arms(rules)
        judged = yield from certify(arms, self._goal, self._space)
        self._refused |= {frozenset(rules[arm]) for arm in np.flatnonzero(judged.refused).tolist()}
        for arm in np.flatnonzero(judged.accepted).tolist():
            self._note(arms, arm, rules[arm], judged)
        return arms, judged

    def _keep(self, arms: Arms, rules: list[Predicates], judged: Verdicts) -> None:
        """The accepted rule that covers most, if more than the best; without any anchor the most precise one."""
        accepted = np.flatnonzero(judged.accepted)
        if len(accepted):
            arm = _first(accepted, -arms.coverage[accepted], -judged.low[accepted])
            if self._covered < arms.coverage[arm]:
                self.best = self._candidate(arms, arm, rules[arm], judged)
        elif not self._found() and len(rules):
            arm = _first(np.arange(len(arms)), -arms.mean, -arms.coverage)
            if self.best is None or arms.mean[arm] > self.best.precision:
                self.best = self._candidate(arms, arm, rules[arm], judged)
                self._note(arms, arm, rules[arm], judged)

    def _candidate(self, arms: Arms, arm: int, rule: Predicates, judged: Verdicts | None) -> Candidate:
        found = Candidate(rule, float(arms.coverage[arm]), int(arms.n[arm]), int(arms.hits[arm]))
        if not np.isnan(arms.exact[arm]):
            found = replace(found, n=0, hits=0, exact=float(arms.exact[arm]))
        if judged is None:
            return found
        low, high = float(judged.low[arm]), float(judged.high[arm])
        return replace(found, low=low, high=high, anchor=bool(judged.accepted[arm]))

    def _note(self, arms: Arms, arm: int, rule: Predicates, judged: Verdicts | None) -> None:
        self.known[frozenset(rule)] = self._candidate(arms, arm, rule, judged)

    def _known(self, rule: Predicates) -> Candidate:
        known = self.known.get(frozenset(rule))
        return Candidate(rule, self._covers(rule), 0, 0) if known is None else replace(known, rule=rule)


def _exchanged(rule: Predicates, place: int, predicate: int) -> Predicates:
    return (*rule[:place], predicate, *rule[place + 1 :])


def _first(which: IntArray, *keys: FloatArray) -> int:
    """The one with the least keys, the first key counting most."""
    return int(which[np.lexsort((which, *reversed(keys)))[0]])


def precision_gains(
    players: int, steps: Sequence[int], trace: Sequence[Candidate], running: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """For each player what it adds when it joins, and the standard error of that; 0 for those that do not.

    ``steps`` are the players of the rule, ``trace`` and ``running`` start with the empty rule.
    """
    values, se = np.zeros(players), np.zeros(players)
    before, error = running[0], _error(trace[0])
    for player, precision, step in zip(steps, running[1:].tolist(), trace[1:], strict=True):
        if np.isfinite(precision):  # unknown where a search was stopped: the next known step has it all
            own = _error(step)
            values[player], se[player] = precision - before, np.hypot(own, error)
            before, error = precision, own
    return values, se


def _error(step: Candidate) -> float:
    """The standard error of a share, of which both sides have been seen once more (never 0); 0 of an exact one."""
    if step.exact is not None or not step.n:
        return 0.0
    share = (step.hits + 1) / (step.n + 2)
    return float(np.sqrt(share * (1 - share) / step.n))
