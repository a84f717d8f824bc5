"""The fewest changes that reach a target: a search over sets of changes, with one call of the model a round.

1. Every single change is tried. How much nearer it brings the prediction to the target is its gain.
2. If none is enough, the parts are changed one after another, the largest gains first; where that reaches the target,
   changes are taken back while it still is. That is a first answer, perhaps a long one.
3. Shorter ones are sought size by size among sets that extend the best ones of one change less (a beam), ordered by an
   additive guess: what the smaller set gave, plus the gain of the change.
4. Size by size, all sets with fewer changes than the shortest answer are tried, as long as a whole size fits into the
   budget. A size of which every set was tried in vain is ruled out: that is the proof.
5. Further answers, as short or a little longer, come from the same beam.

Sets of which an answer is a part are no answers of their own and are left out. Nothing is drawn at random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray

Set = tuple[int, ...]  # numbers of changes, in order
Ask = Callable[[list[Set]], tuple[FloatArray, BoolArray]]

_ROUND = 512  # sets asked for in one call
_PARENTS, _CHILDREN = 32, 128  # of a beam: sets that are extended, and extended sets that are asked for
_IDLE = 3  # sizes in a row that bring the target no nearer
_FURTHER = 1  # sizes above the shortest answer at which others are sought
_LISTED = 100_000  # sets of one size, at most, that are written down


@dataclass(frozen=True, eq=False)
class Changes:
    """What may be changed: change number c puts ``code[c]`` in the place of part ``part[c]`` of ``parts``."""

    part: IntArray
    code: IntArray
    parts: int

    def __len__(self) -> int:
        return len(self.part)

    def states(self, sets: list[Set]) -> IntArray:
        """The state of every part ``(sets, parts)``: 1 where it is as it was."""
        states = np.ones((len(sets), self.parts), dtype=np.intp)
        for row, changes in zip(states, sets, strict=True):
            row[self.part[list(changes)]] = self.code[list(changes)]
        return states


class Fewest:
    """A search, as far as it has come.

    ``ask`` gives for some sets how near they come to the target (more is nearer) and whether they reach it. All sets of
    up to ``complete`` changes were tried; ``spent`` says that the budget ended the search.
    """

    def __init__(self, changes: Changes, ask: Ask, *, own: float, wanted: int, most: int | None, budget: int) -> None:
        self._changes, self._ask, self._wanted = changes, ask, wanted
        self._parts = len(np.unique(changes.part))
        self.most = self._parts if most is None else min(most, self._parts)
        self.left = budget
        self.near: dict[Set, float] = {(): own}
        self.reached: dict[Set, None] = {}
        self.complete, self.spent = 0, False
        self._gains = np.zeros(len(changes))

    @property
    def shortest(self) -> int | None:
        """How many changes the shortest answer has."""
        return min(map(len, self.reached), default=None)

    def answers(self) -> list[Set]:
        """The sets that reach the target and of which none is a part of another: the shortest first, then those that
        go farthest beyond the target; of sets that change the same parts the best one.
        """
        found: dict[frozenset[int], Set] = {}
        for changes in sorted(self.reached, key=lambda each: (len(each), -self.near[each], each)):
            parts = frozenset(self._changes.part[list(changes)].tolist())
            if not any(other <= parts for other in found):
                found[parts] = changes
        return list(found.values())

    def nearest_miss(self) -> Set:
        """The set that comes nearest to the target, of several the smallest."""
        return min(self.near, key=lambda each: (-self.near[each], len(each), each))

    def search(self) -> None:
        """To the end, or until the budget is spent."""
        if not self._try([(c,) for c in range(len(self._changes))]):
            return
        self.complete = min(1, self.most)
        self._gains = np.array([self.near[(c,)] for c in range(len(self._changes))]) - self.near[()]
        if not self.reached:
            self._one_after_another()
        self._find()
        self._prove()
        self._further()

    def _find(self) -> None:
        """Shorter answers, by a beam over all sizes below the shortest one known, for half of the budget."""
        kept, best, idle = self.left // 2, max(self.near.values()), 0
        for size in range(2, self.most + 1):
            if self.shortest is not None and size >= self.shortest:
                return
            self._some(size, self.left - kept)
            nearest = max((near for each, near in self.near.items() if len(each) == size), default=-np.inf)
            best, idle = max(best, nearest), 0 if nearest > best else idle + 1
            if self.left <= kept or idle == _IDLE:
                return

    def _prove(self) -> None:
        """All sets of the sizes below the shortest answer, as long as a size fits into the budget."""
        for size in range(2, self.most + 1):
            if (self.shortest is not None and size >= self.shortest) or not self._every(size):
                return

    def _further(self) -> None:
        """Other answers, as short as the shortest or little longer."""
        shortest, spent = self.shortest, self.spent
        if shortest is None:
            return
        for size in range(max(shortest, 2), min(shortest + _FURTHER, self.most) + 1):
            if len(self.answers()) < self._wanted:
                self._some(size, self.left)
        self.spent = spent  # shorter ones were sought to the end

    # -- rounds --------------------------------------------------------------------------------------

    def _try(self, sets: Iterable[Set]) -> bool:
        """Asks for those that are new; False where the budget does not allow all of them."""
        new = [each for each in dict.fromkeys(sets) if each not in self.near]
        self.spent = self.spent or len(new) > self.left
        new = new[: self.left]
        for start in range(0, len(new), _ROUND):
            block = new[start : start + _ROUND]
            near, reached = self._ask(block)
            self.left -= len(block)
            self.near |= dict(zip(block, near.tolist(), strict=True))
            self.reached |= {each: None for each, found in zip(block, reached.tolist(), strict=True) if found}
        return not self.spent

    def _one_after_another(self) -> None:
        """Of every part the best change, the largest gains first; then taken back what is not needed."""
        order: dict[int, int] = {}
        for c in np.argsort(-self._gains, kind="stable").tolist():
            order.setdefault(int(self._changes.part[c]), c)
        ranked = list(order.values())
        self._try(tuple(sorted(ranked[:k])) for k in range(2, self.most + 1))
        if self.reached:
            self._take_back(min(self.reached, key=len))

    def _take_back(self, changes: Set) -> None:
        """Changes are undone while the target is still reached, at first halves of them, in the end one by one."""
        blocks = 2
        while len(changes) > self.complete + 1:
            ranked = sorted(changes, key=lambda c: (self._gains[c], c))
            undone = [set(block.tolist()) for block in np.array_split(ranked, min(blocks, len(changes)))]
            without = [tuple(c for c in changes if c not in block) for block in undone]
            if not self._try(without):
                return
            found = [each for each in without if each in self.reached]
            if not found and blocks >= len(changes):
                return
            blocks = max(blocks - 1, 2) if found else 2 * blocks
            changes = max(found, key=lambda each: (-len(each), self.near[each]), default=changes)

    def _every(self, size: int) -> bool:
        """All sets of a size, until one reaches the target; False where they are too many."""
        if self._count(size) > _LISTED:
            return False
        tried = self._new(combinations(range(len(self._changes)), size))
        further = _CHILDREN if self.reached and len(self.answers()) < self._wanted else 0
        if len(tried) + further > self.left:
            return False
        guesses = [self._guess(changes) for changes in tried]
        order = np.argsort(-np.array(guesses), kind="stable").tolist()
        for start in range(0, len(order), _ROUND):
            self._try(tried[k] for k in order[start : start + _ROUND])
            if self.shortest is not None and self.shortest <= size:
                return False
        self.complete = size
        return True

    def _some(self, size: int, most: int) -> None:
        """The most promising extensions of the best sets of one change less, at most so many."""
        known = [each for each in self.near if len(each) == size - 1 and each not in self.reached]
        parents = sorted(known, key=lambda each: (-self.near[each], each))[:_PARENTS]
        useful = [c for c in range(len(self._changes)) if (c,) not in self.reached]
        children: dict[Set, float] = {}
        for parent in parents:
            for c in useful:
                child = tuple(sorted({*parent, c}))
                guess = self.near[parent] + float(self._gains[c])
                children[child] = max(guess, children.get(child, -np.inf))
        new = self._new(child for child in children if len(child) == size)
        promising = sorted(new, key=lambda each: (-children[each], each))[:_CHILDREN]
        self.spent = self.spent or len(promising) > most
        promising = promising[:most]
        self._try(promising)
        for child in promising:
            if child in self.reached and size > self.complete + 1:
                self._take_back(child)

    # -- sets ----------------------------------------------------------------------------------------

    def _new(self, sets: Iterable[Set]) -> list[Set]:
        """Those that were not tried, that change no part twice and have no answer inside them."""
        part, answers = self._changes.part.tolist(), [frozenset(each) for each in self.reached]
        return [
            each
            for each in sets
            if each not in self.near
            and len({part[c] for c in each}) == len(each)
            and not any(answer.issubset(each) for answer in answers)
        ]

    def _guess(self, changes: Set) -> float:
        """How near a set comes, by the sets that lack one of its changes."""
        lacking = ((changes[:k] + changes[k + 1 :], c) for k, c in enumerate(changes))
        return float(np.mean([self.near.get(each, self.near[()]) + self._gains[c] for each, c in lacking]))

    def _count(self, size: int) -> int:
        """How many sets of a size there are, those that change a part twice included."""
        return comb(len(self._changes), size)
