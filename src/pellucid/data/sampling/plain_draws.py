"""The ways to draw columns that see no curves, each held out: a Gaussian copula, and rows that are near."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data.sampling.candidates import picked
from pellucid.data.sampling.copula import Copula
from pellucid.data.sampling.margin import count_rows
from pellucid.data.sampling.neighbours import Neighbours
from pellucid.data.sampling.normal_law import NormalLaw

_FOLDS = 5
_ASSOCIATED = 0.15  # columns below it are not looked at for near rows
_REFERENCE = 1500  # rows from which a near one is picked
_FEWEST_NEAR = 5.0  # rows to pick from
_AT_ONCE = 200  # rows that are compared with the reference at a time

Draw = Callable[[IntArray, int], FloatArray]  # rows, and how many for each: (rows, draws, members)


@dataclass(frozen=True, eq=False)
class Known:
    """The rows that are learned from: their codes, which columns are categories, how much rows count, how strongly
    columns are associated, the place of each column among their names, and the rows in a random order.
    """

    codes: FloatArray
    nominal: BoolArray
    weights: FloatArray
    strength: FloatArray
    places: IntArray
    shuffled: IntArray
    _copulas: dict[tuple[bytes, bytes, int], Copula | NormalLaw] = field(default_factory=dict, init=False)

    def folds(self, learned: IntArray) -> IntArray:
        """The fold of each row, the same whichever column is drawn; of rows that are not learned from, one more."""
        fold = np.full(len(self.codes), _FOLDS)
        order = self.shuffled[np.isin(self.shuffled, learned)]
        fold[order] = np.arange(len(order)) % min(_FOLDS, len(order))
        return fold

    def copula(self, columns: IntArray, learned: IntArray, fold: IntArray, without: int) -> Copula | NormalLaw:
        """Learned without one of the folds; one serves for all columns that are drawn given the others. Columns that
        are nearly normal keep their scale.
        """
        key = columns.tobytes(), learned.tobytes(), without
        if key not in self._copulas:
            kept = learned[fold[learned] != without] if len(learned) > 1 else learned
            parts = self.codes[kept][:, columns], self.nominal[columns], self.weights[kept]
            self._copulas[key] = NormalLaw.of_columns(*parts) or Copula.of_columns(list(parts[0].T), *parts[1:])
        return self._copulas[key]


def varies(codes: FloatArray) -> bool:
    """Whether there is more than one value."""
    return bool(((codes != codes[0]) & ~(np.isnan(codes) & np.isnan(codes[0]))).any())


def by_copula(
    known: Known, members: tuple[int, ...], given: IntArray, learned: IntArray, generator: np.random.Generator
) -> Draw:
    """Gaussian copulas, each learned without a fifth of the rows and asked about that."""
    columns = np.array([*members, *given], dtype=np.intp)
    columns = columns[np.argsort(known.places[columns])]
    own = [int(np.flatnonzero(columns == j)[0]) for j in members]
    fold, told = known.folds(learned), ~np.isin(columns, members)[None]

    def draw(rows: IntArray, n: int) -> FloatArray:
        found = np.empty((len(rows), n, len(members)))
        for f in np.unique(fold[rows]):
            some = np.flatnonzero(fold[rows] == f)
            copula = known.copula(columns, learned, fold, int(f))
            drawn = copula.draw_each(known.codes[rows[some]][:, columns], told, n, generator)[0]
            found[some] = np.moveaxis(drawn[..., own], 0, 1)
        return found

    return draw


def by_neighbours(
    known: Known, members: tuple[int, ...], given: IntArray, learned: IntArray, generator: np.random.Generator
) -> Draw:
    """Rows that are near in the associated columns."""
    columns = np.array([*members, *given], dtype=np.intp)
    kept = learned
    if len(kept) > _REFERENCE:
        kept = np.sort(generator.choice(kept, _REFERENCE, replace=False))
    weights = known.weights[kept]
    # Narrow, because one value is drawn and no mean taken; it widens where fewer than a few rows are near.
    width = float(count_rows(weights) ** (-1 / 3) / np.sqrt(12))
    near = Neighbours.of_columns(
        known.codes[kept][:, columns].T, known.nominal[columns], weights, width=width, least=_FEWEST_NEAR
    )
    told = (known.strength[list(members)][:, columns].max(axis=0) >= _ASSOCIATED) & ~np.isin(columns, members)

    def draw(rows: IntArray, n: int) -> FloatArray:
        marks = generator.random((len(rows), n))
        found = np.empty((len(rows), n, len(members)))
        for start in range(0, len(rows), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            weights = near.weights_each(known.codes[rows[some]][:, columns], told, own=False)
            found[some] = known.codes[kept[picked(weights, marks[some])]][:, :, list(members)]
        return found

    return draw
