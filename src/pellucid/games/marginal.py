"""The marginal game: absent features take their values from background rows.

    v(S) = mean over the background z of f(x_S, z_-S), weighted

The background may be the whole data, a part of it, a single row to contrast with (a baseline), or rows of the
caller's own with weights. The game is that of the model alone: it does not ask whether x_S and z_-S occur together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.checks import is_flag, is_whole, whole
from pellucid.data import Data
from pellucid.data.frames.frame import Overlay, Scratch
from pellucid.errors import InputError
from pellucid.games.game import Game
from pellucid.models import Predictor
from pellucid.runner import Intervention, Run, stream
from pellucid.stats import effective_size, weighted_mean

MOST = 200  # rows that are asked for every coalition unless the caller says otherwise
Players = Mapping[str, tuple[int, ...]]
_CELLS = 786_432  # cells of a table that stays in the caches while it is written feature by feature
_FEWEST_ROWS = 16_384  # of one call, which has a price of its own


def background_rows(data: Data, given: Any, run: Run, *, most: int | None = None) -> Data:
    """The rows that stand for "absent", with their weights: the caller's own, or of X at most ``most`` rows, drawn
    at random with the run's seed.
    """
    if is_flag(given):
        raise InputError(f"background={given!r} is no background; give a table, a number of rows or None.")
    if given is not None and not is_whole(given):
        return run.keep("background", given, lambda: data.rows(given))
    size = most if given is None else whole("background", given, also="rows of your own, or None")
    return run.keep(f"background of {size}", data, lambda: _drawn(data, size, run))


def _drawn(data: Data, size: int | None, run: Run) -> Data:
    counting = np.flatnonzero(data.weights > 0)
    if size is not None and size < len(counting):
        counting = np.sort(run.generator("background.rows").choice(counting, size, replace=False))
        drawn = replace(data.take(counting), y=None)
        known: dict[int, tuple[Data, int]] = run.remember("drawn backgrounds", dict)
        known[id(drawn)] = (drawn, int((data.weights > 0).sum()))  # held, so that its id is not given again
        return drawn
    if len(counting) == len(data):
        return data
    return replace(data.take(counting), y=None)


def base_error(background: Data, predictions: FloatArray, run: Run) -> FloatArray | None:
    """The standard error, per output, of the mean prediction of background rows as that of the rows they were drawn
    from without replacement; None where they were not drawn.
    """
    known: dict[int, tuple[Data, int]] = run.remember("drawn backgrounds", dict)
    if id(background) not in known:
        return None
    among, n = known[id(background)][1], effective_size(background.weights)
    rest = predictions - weighted_mean(predictions, background.weights)
    variance = weighted_mean(np.square(rest), background.weights) * n / max(n - 1, 1)
    return np.asarray(np.sqrt(variance / n * max(1 - len(background) / among, 0.0)))


@dataclass(frozen=True, eq=False)
class Mixtures(Intervention):
    """Background rows in which the players of a coalition take the values of an explained row.

    ``index`` is ``(variants, 2)``: the explained row and the coalition. ``known[c, f]`` says whether coalition c knows
    the f-th feature; a pool holds the values of the explained rows, then those of the background. Variants come in
    ``units``, of as many variants each: one explained row with some coalitions, then the next row with the same ones.
    There are at most ``at_once`` variants in one call.
    """

    known: BoolArray = field(default_factory=lambda: np.empty((0, 0), dtype=np.bool_))
    n_explained: int = 0
    units: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    at_once: int = 1

    def chunks(self, most: int) -> Iterator[slice]:
        """Whole units, several of the same length at once: what is known then stays the same from chunk to chunk."""
        start, most = 0, min(most, self.at_once)
        for length, times in zip(*np.unique(-self.units, return_counts=True), strict=True):
            unit = -int(length)
            stop = start + unit * int(times)
            step = unit * (most // unit) or most
            yield from (slice(at, min(at + step, stop)) for at in range(start, stop, step))
            start = stop

    def columns(self, variants: slice, rows: slice) -> dict[int, tuple[object, IntArray]]:
        return {j: (over.column, over.index()) for j, over in self._overlays(variants, rows).items()}

    def fill(self, scratch: Scratch, variants: slice, rows: slice, n: int) -> object:
        return scratch.overlay(self._overlays(variants, rows), n)

    def _overlays(self, variants: slice, rows: slice) -> dict[int, Overlay]:
        explained, coalition = self.index[variants].T
        own = self.n_explained + np.arange(rows.start, rows.stop)
        known = np.ascontiguousarray(self.known[coalition].T)
        return {
            j: Overlay(pool, known[f], explained, own)
            for f, (j, pool) in enumerate(zip(self.features, self.pools, strict=True))
        }


class MarginalGame(Game):
    """Explained rows against a background; each distinct coalition of a row is asked once."""

    def __init__(self, predictor: Predictor, background: Data, rows: Data, players: Players, run: Run) -> None:
        self._predictor, self._background, self._explained, self._run = predictor, background, rows, run
        members = list(players.values())
        self.rows, self.players, self.outputs = len(rows), len(members), len(predictor.output_names)
        self.price = self.donors = len(background)
        self._share = background.weights / background.weights.sum()
        self.alike = bool((self._share == self._share[0]).all())
        self._features = tuple(j for player in members for j in player)
        self._owner = np.repeat(np.arange(len(members)), [len(player) for player in members])

    @cached_property
    def _pools(self) -> tuple[object, ...]:
        explained, background = self._explained, self._background
        return tuple(
            background.pool(j, np.concatenate([explained.codes(j), background.codes(j)])) for j in self._features
        )

    @cached_property
    def _value_numbers(self) -> IntArray:
        """``(rows, players)``: equal numbers where two rows give a player the same values; -1 for the background's
        own.
        """
        own, other = (
            np.column_stack([part.codes(j) for j in self._features]) for part in (self._explained, self._background)
        )
        other = other[self._share > 0]
        numbers = _ranks(own)
        fixed = _same(other, other[0]).all(axis=0)  # columns in which the background is all the same
        numbers[_same(own, other[0]) & fixed] = -1
        if len(self._features) == self.players:
            return numbers
        by_player = np.empty((self.rows, self.players), dtype=np.intp)
        for i in range(self.players):
            columns = numbers[:, self._owner == i]
            by_player[:, i] = np.unique(columns, axis=0, return_inverse=True)[1].reshape(-1)
            by_player[(columns < 0).all(axis=1), i] = -1
        return by_player

    @property
    def active(self) -> BoolArray:
        return np.asarray(self._value_numbers >= 0)

    # -- asking ----------------------------------------------------------------------------------

    @property
    def base_se(self) -> FloatArray | None:
        """The error of what nobody is worth, as the mean over the rows that the background was drawn from."""
        return base_error(self._background, self._alone, self._run)

    @cached_property
    def _alone(self) -> FloatArray:
        return self._run.predict(self._predictor, self._background)

    @cached_property
    def _ends(self) -> tuple[FloatArray, FloatArray]:
        nobody = weighted_mean(self._alone, self._background.weights)
        everybody = self._run.predict(self._predictor, self._explained)
        return np.broadcast_to(nobody, everybody.shape), everybody

    def ends(self) -> tuple[FloatArray, FloatArray]:
        return self._ends

    def worth(self, coalitions: BoolArray, rows: IntArray | None = None) -> FloatArray:
        chosen = np.arange(self.rows) if rows is None else rows
        variants, place = self._distinct(coalitions, chosen)
        units = np.array([len(variants)])
        at_once = max(1, max(_CELLS // len(self._features), _FEWEST_ROWS) // self.price)
        if len(variants) == len(chosen) * len(coalitions):
            variants, place, units = _in_units(coalitions, chosen, at_once)
        intervention = Mixtures(
            self._features,
            self._pools,
            variants,
            known=coalitions[:, self._owner],
            n_explained=self.rows,
            units=units,
            at_once=at_once,
        )
        found = np.zeros((len(variants), self.outputs))
        for batch in self._run.stream(self._predictor, self._background, [intervention]):
            found[batch.variants] += self._share[batch.rows] @ batch.predictions
        return found[place].reshape(len(chosen), len(coalitions), self.outputs)

    def single(self, coalitions: BoolArray, donors: IntArray, rows: IntArray | None = None) -> FloatArray:
        chosen = np.arange(self.rows) if rows is None else rows
        known = coalitions[:, self._owner][None]
        index = np.where(known, chosen[:, None, None], self.rows + donors[None, :, None])
        one_row = np.zeros(1, dtype=np.intp)
        intervention = Intervention(self._features, self._pools, index.reshape(-1, len(self._features)), rows=one_row)
        found = self._run.collect(self._predictor, self._background, intervention)
        return found.reshape(len(chosen), len(coalitions), self.outputs)

    def draw_donors(self, n: int, generator: np.random.Generator) -> IntArray:
        return np.asarray(generator.choice(self.donors, n, p=self._share), dtype=np.intp)

    def count(self, coalitions: BoolArray, rows: IntArray) -> int:
        """How many different questions these coalitions are in these rows."""
        return len(self._distinct(coalitions, rows)[0])

    def _distinct(self, coalitions: BoolArray, rows: IntArray) -> tuple[IntArray, IntArray]:
        """The (row, coalition) pairs that differ, and for each pair its place among them.

        Every value of a player has a random number; a question is the sum of the numbers of what it knows.
        """
        numbers = self._value_numbers[rows]
        if not _could_repeat(numbers):
            pairs = np.indices((len(rows), len(coalitions))).reshape(2, -1)
            return np.stack([rows[pairs[0]], pairs[1]], axis=1), np.arange(pairs.shape[1])
        generator = stream(0, "background.coalitions")
        keys = np.zeros((len(rows), len(coalitions)), dtype=np.uint64)
        for i in range(self.players):
            names = generator.integers(1, 2**64, size=self.rows + 1, dtype=np.uint64)
            names[-1] = 0  # the background's own value: known or not makes no difference
            keys += np.where(coalitions[:, i], names[numbers[:, i]][:, None], np.uint64(0))
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        pairs = np.stack(np.divmod(first, len(coalitions)), axis=1)
        return np.stack([rows[pairs[:, 0]], pairs[:, 1]], axis=1), place.reshape(-1)


def _same(cells: FloatArray, row: FloatArray) -> BoolArray:
    """Where cells equal those of a row; missing equals missing."""
    return np.asarray((cells == row) | (np.isnan(cells) & np.isnan(row)))


def _could_repeat(numbers: IntArray) -> bool:
    """Whether two rows share a value, or a player makes no difference."""
    ordered = np.sort(numbers, axis=0)
    return bool((ordered[:1] < 0).any() or (ordered[1:] == ordered[:-1]).any())


def _ranks(cells: FloatArray) -> IntArray:
    """The rank of every cell among the different values of its column; missing values are alike and last."""
    order = cells.argsort(axis=0)
    ordered = np.take_along_axis(cells, order, axis=0)
    ranks = np.zeros(cells.shape, dtype=np.intp)
    steps = (ordered[1:] != ordered[:-1]) & ~np.isnan(ordered[:-1])
    np.put_along_axis(ranks, order[1:], np.cumsum(steps, axis=0), axis=0)
    return ranks


def _in_units(coalitions: BoolArray, rows: IntArray, most: int) -> tuple[IntArray, IntArray, IntArray]:
    """All (row, coalition) pairs, block by block of at most so many coalitions; their places; the lengths of the
    units.
    """
    m = len(coalitions)
    count = max(1, -(-m // most))
    blocks = np.array_split(np.arange(m), count)  # the longer ones first
    variants = [np.stack([np.repeat(rows, len(b)), np.tile(b, len(rows))], axis=1) for b in blocks]
    number = np.concatenate([np.add.outer(np.arange(len(rows)) * m, b).ravel() for b in blocks])
    place = np.empty(len(number), dtype=np.intp)
    place[number] = np.arange(len(number))
    return np.concatenate(variants), place, np.concatenate([np.repeat(len(b), len(rows)) for b in blocks])
