"""Rows that obey a rule: where the draws of an anchor come from.

"data" (Ribeiro et al. 2018): a random row of the data, in which every player of the rule that is not as the rule wants
it takes the value of another random row that is. Players are changed one by one, so the row may be one that never
occurs; a row that obeys the rule already is taken as it is. "balanced": the same with rows weighted such that all
predicted classes are equally frequent. "conditional": rows of the data that obey the rule, each at most once.

Draw k of an episode is one row and one number per player that chooses the donor, whatever the rule: rules that change
the same players of that row ask the model the same question, which is then asked once. Questions are told apart by the
sum of random 64-bit numbers, one per value of each feature.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.errors import InputError
from pellucid.methods.rules.search.bandit import Wants
from pellucid.methods.rules.search.predicates import Players, TableSpace
from pellucid.runner import Run, stream
from pellucid.stats import effective_size

KeyArray = NDArray[np.uint64]
_CHUNK = 256  # draws made at once


class Sources:
    """The rows that values come from, as codes: those of the data, then the explained ones; and what tells values
    apart.
    """

    def __init__(self, data: Data, explained: Data, players: Players) -> None:
        self.data, self.explained, self.players = data, explained, players
        self.n = len(data)
        self.members = list(players.values())
        features = range(len(data.schema.features))
        self.codes = np.column_stack([np.concatenate([data.codes(j), explained.codes(j)]) for j in features])
        numbers = np.zeros((len(self.codes), len(players)), dtype=np.uint64)
        for player, members in enumerate(self.members):
            for j in members:
                values, which = np.unique(self.codes[:, j], return_inverse=True)
                random = stream(0, "anchor.values", j).integers(2**64, size=len(values), dtype=np.uint64)
                numbers[:, player] += random[which]
        self.number = numbers
        self.row_number = numbers.sum(axis=1, dtype=np.uint64)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows drawn for some rules: ``arm[i]`` is the rule of the i-th row and ``key[i]`` what tells it from other rows.

    ``codes(which)`` makes the rows. Without keys no two rows are taken for the same.
    """

    arm: IntArray
    codes: Callable[[IntArray], FloatArray]
    key: KeyArray | None = None


class Perturbation(ABC):
    """Draws rows for the rules of one explained row."""

    paired = True

    def __init__(self, sources: Sources, space: TableSpace, run: Run) -> None:
        self._sources, self._space, self._run = sources, space, run

    def prepare(self) -> None:
        """Tell the space what it can know of these draws."""
        self._space.paired = self.paired

    @abstractmethod
    def draw(self, wants: Wants) -> Drawn:
        """The rows wanted, rule after rule, each in the order of its draws."""


class OfRows(Perturbation):
    """Draws that start from rows of the data.

    ``rows`` are the positions in the data of the rows of ``sources``, ``weights`` how often each is drawn.
    """

    def __init__(self, sources: Sources, space: TableSpace, weights: FloatArray, rows: IntArray, run: Run) -> None:
        super().__init__(sources, space, run)
        self._weights, self._rows = weights, rows


class FromData(OfRows):
    """Random rows in which the players of the rule are put right (see above)."""

    def __init__(self, sources: Sources, space: TableSpace, weights: FloatArray, rows: IntArray, run: Run) -> None:
        super().__init__(sources, space, weights, rows, run)
        self._mass = np.cumsum(weights) / weights.sum()
        self._donors: dict[int, tuple[IntArray, FloatArray]] = {}

    def prepare(self) -> None:
        """Also, which of its rules can be gone through row by row."""
        super().prepare()
        self._space.shares = self._weights / self._weights.sum()
        self._space.single = self._single

    def _single(self, q: int) -> bool:
        """Whether all donors of a predicate have the same value."""
        numbers = self._sources.number[self._donors_of(q)[0], self._space.predicates[q].player]
        return bool((numbers == numbers[0]).all())

    def draw(self, wants: Wants) -> Drawn:
        if wants.whole:
            stop = np.full(len(wants.bits), len(self._rows))
            wants = replace(wants, start=np.zeros_like(stop), stop=stop)
        used = np.flatnonzero(wants.bits.any(axis=0))
        arms, keys, places = [], [], []
        parts: list[tuple[IntArray, IntArray, IntArray]] = []
        for start, stop in dict.fromkeys(zip(wants.start.tolist(), wants.stop.tolist(), strict=True)):
            which = np.flatnonzero((wants.start == start) & (wants.stop == stop))
            base, donors = self._elements(wants, start, stop, used)
            change = self._changes(base, donors, used)
            key = self._sources.row_number[base][:, None] + change @ wants.bits[which][:, used].T.astype(np.uint64)
            arms.append(np.repeat(which, stop - start))
            keys.append(key.T.ravel())
            places.append(
                np.stack([np.full(key.size, len(parts)), np.tile(np.arange(stop - start), len(which))], axis=1)
            )
            parts.append((base, donors, used))
        arm, key, place = np.concatenate(arms), np.concatenate(keys), np.concatenate(places)
        order = np.argsort(arm, kind="stable")
        arm, key, place = arm[order], key[order], place[order]
        return Drawn(arm, lambda which: self._codes(wants.bits[arm[which]], place[which], parts), key)

    def _elements(self, wants: Wants, start: int, stop: int, used: IntArray) -> tuple[IntArray, IntArray]:
        """The row of each draw and, for each predicate, the donor that puts it right (-1 where it is right already)."""
        episode = wants.episode
        base = np.arange(stop) if wants.whole else _pick(self._mass, self._uniform(episode, 0, start, stop))
        donors = np.full((stop - start, len(used)), -1, dtype=np.intp)
        for place, q in enumerate(used.tolist()):
            predicate = self._space.predicates[q]
            wrong = ~predicate.obeyed[self._rows[base]]
            rows, mass = self._donors_of(q)
            chance = self._uniform(episode, 1 + predicate.player, start, stop)
            donors[wrong, place] = rows[_pick(mass, chance[wrong])]
        return base, donors

    def _uniform(self, episode: int, player: int, start: int, stop: int) -> FloatArray:
        first, last = start // _CHUNK, (stop - 1) // _CHUNK
        chunks = [_chances(self._run, episode, player, chunk) for chunk in range(first, last + 1)]
        return np.concatenate(chunks)[start - first * _CHUNK : stop - first * _CHUNK]

    def _donors_of(self, q: int) -> tuple[IntArray, FloatArray]:
        """Rows that obey a predicate, with their cumulated weights; the explained row itself where there are none."""
        if q not in self._donors:
            right = self._space.predicates[q].obeyed[self._rows] & (self._weights > 0)
            rows, mass = np.flatnonzero(right), np.cumsum(self._weights[right])
            own = np.array([self._sources.n + self._space.row])
            self._donors[q] = (rows, mass / mass[-1]) if len(rows) else (own, np.ones(1))
        return self._donors[q]

    def _changes(self, base: IntArray, donors: IntArray, used: IntArray) -> KeyArray:
        """What each predicate adds to the number of a row."""
        players = np.array([self._space.predicates[q].player for q in used.tolist()], dtype=np.intp)
        number = self._sources.number
        change = number[donors, players[None, :]] - number[base[:, None], players[None, :]]
        return np.where(donors < 0, np.uint64(0), change)

    def _codes(self, bits: BoolArray, place: IntArray, parts: list[tuple[IntArray, IntArray, IntArray]]) -> FloatArray:
        """The rows themselves: those of the draws, with the values of the donors where a rule changes them."""
        codes = self._sources.codes
        out = np.empty((len(place), codes.shape[1]))
        for number, (base, donors, used) in enumerate(parts):
            here = np.flatnonzero(place[:, 0] == number)
            element = place[here, 1]
            if len(here) == len(place):  # straight to where they belong
                np.take(codes, base[element], axis=0, out=out, mode="clip")
            else:
                out[here] = codes[base[element]]
            for column, q in enumerate(used.tolist()):
                changed = bits[here, q] & (donors[element, column] >= 0)
                for j in self._sources.members[self._space.predicates[q].player]:
                    out[here[changed], j] = codes[donors[element[changed], column], j]
        return out


class Conditional(OfRows):
    """Rows of the data that obey the rule, in random order, each once; with weights, as many as they are worth."""

    paired = False

    def draw(self, wants: Wants) -> Drawn:
        found = [
            self._obeying(bits, wants.episode)[start:stop]
            for bits, start, stop in zip(wants.bits, wants.start, wants.stop, strict=True)
        ]
        arm = np.repeat(np.arange(len(found)), [len(rows) for rows in found])
        rows = np.concatenate(found) if found else np.empty(0, dtype=np.intp)
        return Drawn(arm, lambda which: self._sources.codes[rows[which]], self._sources.row_number[rows])

    def _obeying(self, bits: BoolArray, episode: int) -> IntArray:
        """All draws that there are for a rule."""
        counted = self._space.obeying(bits)[self._rows] & (self._weights > 0)
        rows, weights = np.flatnonzero(counted), self._weights[counted]
        generator = self._run.generator("anchor.conditional", episode)
        if not len(rows) or (weights == weights[0]).all():
            return rows[np.argsort(generator.random(len(self._rows))[counted])]
        return generator.choice(rows, size=int(effective_size(weights)), p=weights / weights.sum())


@lru_cache(maxsize=8192)
def _drawn_chances(seed: int, episode: int, player: int, chunk: int) -> FloatArray:
    return stream(seed, "anchor.chances", episode, player, chunk).random(_CHUNK)


def _chances(run: Run, episode: int, player: int, chunk: int) -> FloatArray:
    """Uniform numbers, the same for all explained rows."""
    return _drawn_chances(run.seed, episode, player, chunk)


def _pick(mass: FloatArray, chance: FloatArray) -> IntArray:
    """Positions drawn with the given cumulated weights."""
    return np.minimum(np.searchsorted(mass, chance, side="right"), len(mass) - 1).astype(np.intp)


def balanced(weights: FloatArray, groups: Any) -> FloatArray:
    """Weights that give every group the same total."""
    _, which = np.unique(groups, return_inverse=True)
    total = np.bincount(which, weights=weights)
    return np.where(weights > 0, weights / np.where(total > 0, total, 1.0)[which], 0.0)


class OwnRows(Perturbation):
    """Rows made by the caller: ``perturb(row, features, n, generator)`` returns a table of n rows.

    ``row`` is a dict, ``features`` names the features that the rule fixes. They must obey the rule.
    """

    paired = False

    def __init__(self, function: Callable[..., Any], sources: Sources, space: TableSpace, run: Run) -> None:
        super().__init__(sources, space, run)
        self._function, self._calls = function, 0
        schema, own = sources.data.schema, sources.codes[sources.n + space.row]
        self._cells = {feature.source: feature.decode(own[[j]])[0] for j, feature in enumerate(schema.features)}

    def draw(self, wants: Wants) -> Drawn:
        counts = wants.stop - wants.start
        tables = [self._made(bits, n) for bits, n in zip(wants.bits, counts.tolist(), strict=True)]
        codes = np.concatenate(tables)
        return Drawn(np.repeat(np.arange(len(counts)), counts), lambda which: codes[which])

    def _made(self, bits: BoolArray, n: int) -> FloatArray:
        self._calls += 1
        names = self._sources.data.schema.columns
        predicates = [self._space.predicates[q] for q in np.flatnonzero(bits).tolist()]
        cells = {j: cell for predicate in predicates for j, cell in predicate.cells.items()}
        generator = self._run.generator("anchor.own", self._space.row, self._calls)
        made = self._function(dict(self._cells), tuple(names[j] for j in cells), n, generator)
        try:
            table = self._sources.data.like(made, None)
        except InputError as error:
            raise InputError(f"perturb= has to return a table with the columns of X: {error}") from None
        if len(table) != n:
            raise InputError(f"perturb= returned {len(table)} rows instead of {n}; return as many as requested.")
        for j, cell in cells.items():
            wrong = ~cell.holds(table.codes(j))
            if wrong.any():
                raise InputError(
                    f"perturb= returned a row (number {int(np.flatnonzero(wrong)[0])}) that breaks the rule on"
                    f" {names[j]!r}; keep the features it is given in the bins of the row."
                )
        return np.column_stack([table.codes(j) for j in range(len(names))])
