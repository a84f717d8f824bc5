"""The predicates of a text or an image, "this part is there", and the draws that obey them.

A draw keeps each part with probability 1/2, and all parts of the rule. Draw number k of an episode is the same for all
rules, so rules can be compared draw by draw. Where there are few parts, and nothing else stands in for absent ones,
everything that can be drawn may be gone through instead, and precisions are exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.methods.rules.search.bandit import Wants
from pellucid.methods.rules.search.predicates import Space
from pellucid.parts.rule import occurrences
from pellucid.runner import Run

KEEP = 0.5
_AT_ONCE = 128
_COUNTED = 10  # parts, of which all 1,024 choices may be gone through


class PartSpace(Space):
    """One predicate for each part that can be absent; a rule covers the share of draws that keep all its parts."""

    def __init__(self, parts: IntArray) -> None:
        self.parts = parts
        super().__init__(list(range(len(parts))), [list(range(len(parts)))])

    def enumerable(self, bits: BoolArray) -> BoolArray:
        return np.full(len(bits), len(self.shares) > 0)

    def coverage(self, bits: BoolArray) -> FloatArray:
        return np.asarray(KEEP ** bits.sum(axis=1))


class CorpusSpace(PartSpace):
    """The words of a text; a rule covers the share of a corpus that has all its words."""

    def __init__(self, parts: IntArray, tokens: Sequence[str], corpus: Sequence[str], unit: str) -> None:
        super().__init__(parts)
        different = list(dict.fromkeys(tokens[part] for part in parts))
        self._token = np.array([different.index(tokens[part]) for part in parts], dtype=np.intp)
        self._often = occurrences(different, corpus, unit)

    def coverage(self, bits: BoolArray) -> FloatArray:
        return np.array([self._share(self._token[rule]) for rule in bits])

    def _share(self, tokens: IntArray) -> float:
        wanted = np.bincount(tokens, minlength=self._often.shape[1])
        return float((self._often >= wanted).all(axis=1).mean())


class PartDraws:
    """Draws for some rules, as coalitions of a `PartGame`: 1 there, 0 absent, k + 2 replaced by number k.

    ``others`` is how many replacements there are, 0 if an absent part is just absent; ``alike``: whether one
    replacement (an image) serves all absent parts of a draw.
    """

    def __init__(self, players: int, space: PartSpace, others: int, run: Run, *, alike: bool) -> None:
        self._players, self._space, self._others, self._run, self._alike = (players, space, others, run, alike)
        self._made: dict[tuple[int, int], IntArray] = {}
        if not others and len(space.parts) <= _COUNTED:
            space.shares = np.full(2 ** len(space.parts), KEEP ** len(space.parts))

    def of(self, wants: Wants) -> tuple[IntArray, IntArray]:
        """The draws for all rules, one after the other, and where each rule's end."""
        if wants.whole:
            made = [self._with(self._every(), rule) for rule in wants.bits]
        else:
            made = [
                self.rows(wants.episode, rule, int(start), int(stop))
                for rule, start, stop in zip(wants.bits, wants.start, wants.stop, strict=True)
            ]
        return np.concatenate(made), np.cumsum([len(rows) for rows in made])[:-1]

    def rows(self, episode: int, rule: BoolArray, start: int, stop: int) -> IntArray:
        """Draws ``start`` to ``stop`` of an episode, with the parts of a rule there."""
        first, last = start // _AT_ONCE, -(-stop // _AT_ONCE)
        plain = np.concatenate([self._block(episode, block) for block in range(first, last)])
        return self._with(plain[start - first * _AT_ONCE : stop - first * _AT_ONCE], rule)

    def _with(self, rows: IntArray, rule: BoolArray) -> IntArray:
        """The same with the parts of a rule there."""
        rows = rows.copy()
        rows[:, self._space.parts[rule]] = 1
        return rows

    def _every(self) -> IntArray:
        """Each choice of parts once."""
        parts = self._space.parts
        rows = np.ones((2 ** len(parts), self._players), dtype=np.intp)
        rows[:, parts] = np.arange(len(rows))[:, None] >> np.arange(len(parts)) & 1
        return rows

    def _block(self, episode: int, block: int) -> IntArray:
        if (episode, block) not in self._made:
            if any(made != episode for made, _ in self._made):
                self._made.clear()  # episodes follow each other
            self._made[episode, block] = self._draw(episode, block)
        return self._made[episode, block]

    def _draw(self, episode: int, block: int) -> IntArray:
        generator = self._run.generator("parts.anchor", episode, block)
        parts = self._space.parts
        rows = np.ones((_AT_ONCE, self._players), dtype=np.intp)
        kept = generator.random((_AT_ONCE, len(parts))) < KEEP
        instead = np.zeros(kept.shape, dtype=np.intp)
        if self._others:
            shape = (_AT_ONCE, 1 if self._alike else len(parts))
            instead = np.broadcast_to(2 + generator.integers(0, self._others, size=shape), kept.shape)
        rows[:, parts] = np.where(kept, 1, instead)
        return rows
