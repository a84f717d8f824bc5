"""New values for some columns of every row, drawn given the other columns of that row.

Several estimators compete for each column: a Gaussian copula of the columns; other rows that are near in the columns
associated with the drawn one, where there are categories or missing values (Strobl et al. 2008 condition on those
alone: what is not associated says nothing and makes near rows rare); and those of `pellucid.data.sampling.candidates`,
which see curves. The best by held-out log score is used, the copula unless it is clearly beaten
(`pellucid.data.sampling.choice`). In a wide table only the columns most associated with the drawn ones are given.
Several columns at once are drawn from the distribution of all columns together (`pellucid.data.sampling.joint`) where
curves show, which is also what any set of columns is drawn from given any other (`joint_of`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data.association import mid_ranks, rank_association, slice_association
from pellucid.data.grid import snap
from pellucid.data.sampling.column_draws import DrawnColumn, drawn_column
from pellucid.data.sampling.joint import Joint
from pellucid.data.sampling.margin import nominal_features
from pellucid.data.sampling.plain_draws import Known
from pellucid.data.sampling.structure import MOST_COLUMNS, Structure
from pellucid.data.table import Data

Columns = tuple[int, ...]
_TOGETHER = 40  # columns that one estimator holds; a wider table gets one for each player
_GIVEN = 15  # other columns given to a player of a wide table
_LOOKED_AT = 1000  # rows, for dependence without a trend
_LEARNED = 2000  # rows to learn from, where fewer are asked about


@dataclass(frozen=True, eq=False)
class Draws:
    """The draws of each player, and how strongly columns are associated."""

    of: Mapping[str, DrawnColumn]
    strength: FloatArray

    @property
    def estimator(self) -> str:
        """The estimators used, the most frequent first."""
        names = [one.choice.name for one in self.of.values()]
        return ", ".join(sorted(set(names), key=lambda name: (-names.count(name), name)))


def conditional_draws(
    data: Data,
    players: Mapping[str, Columns],
    rows: IntArray,
    generators: tuple[np.random.Generator, np.random.Generator],
    repeats: int,
) -> Draws:
    """Values of each player for some rows, given the other columns of the row.

    Columns are taken in the order of their names, so that the numbers drawn do not depend on the order of the table.
    Values are such as the column can hold: whole numbers, whole days.
    """
    strength = _strength(data)
    learned = rows if len(rows) >= _LEARNED else np.union1d(rows, data.spread(_LEARNED))
    codes = np.stack([data.codes(j)[learned] for j in range(len(data.schema.features))], axis=1)
    asked = np.searchsorted(learned, rows)
    seed = int(generators[0].integers(2**62))
    shuffled = np.random.default_rng([seed, len(players)]).permutation(len(learned))
    known = Known(codes, nominal_features(data), data.weights[learned], strength, _by_name(data), shuffled)
    together = any(len(members) > 1 for members in players.values())
    structure = Structure.of(known, seed) if together else Structure()
    drawn = {
        name: drawn_column(
            known,
            players[name],
            _given(data, players[name], strength),
            asked,
            repeats,
            np.random.default_rng([seed, place]),
            structure,
        )
        for place, name in enumerate(sorted(players))
    }
    return Draws({name: _snapped(data, players[name], drawn[name]) for name in players}, strength)


def joint_of(
    data: Data, structure: Structure | None = None, *, places: IntArray | None = None
) -> tuple[Structure, Joint | None]:
    """The distribution of all columns together, of a known structure or of the one that shows; None where a copula or
    near rows do as well.

    Columns are taken in the order of their ``places``, those among their names if None.
    """
    rows = np.flatnonzero(data.weights > 0)
    codes = np.stack([data.codes(j)[rows] for j in range(len(data.schema.features))], axis=1)
    shuffled = np.random.default_rng(len(rows)).permutation(len(rows))
    narrow = codes.shape[1] <= MOST_COLUMNS
    strength = _strength(data) if narrow and structure is None else np.empty((0, 0))
    places = _by_name(data) if places is None else places
    known = Known(codes, nominal_features(data), data.weights[rows], strength, places, shuffled)
    found = Structure.of(known, 0) if structure is None else structure
    return found, found.learned(known, 0) if found.after else None


def held(data: Data, codes: FloatArray) -> FloatArray:
    """Codes ``(rows, columns)`` as values that the columns can hold: whole numbers, whole days."""
    return np.stack([snap(feature, codes[:, j]) for j, feature in enumerate(data.schema.features)], axis=1)


def _strength(data: Data) -> FloatArray:
    return np.maximum(np.abs(rank_association(data, _LOOKED_AT)), _without_trend(data))


def _snapped(data: Data, members: Columns, drawn: DrawnColumn) -> DrawnColumn:
    """The draws as values that their columns can hold: whole numbers and whole days."""
    codes = [snap(data.schema.features[j], drawn.codes[..., f]) for f, j in enumerate(members)]
    return replace(drawn, codes=np.stack(codes, axis=-1))


def _by_name(data: Data) -> IntArray:
    """The place of each column among the names of all."""
    return np.argsort(np.argsort(np.array(data.schema.columns, dtype=object), kind="stable"))


def _without_trend(data: Data) -> FloatArray:
    """Association of numbers that also sees parabolas and cycles; not looked for in a wide table."""
    numeric = np.flatnonzero(~nominal_features(data)).tolist()
    matrix = np.zeros((len(data.schema.features),) * 2)
    if len(matrix) > _TOGETHER:
        return matrix
    rows = data.spread(_LOOKED_AT)
    rows = rows[data.weights[rows] > 0]
    weights = data.weights[rows]
    ranks = {j: mid_ranks(data.codes(j)[rows], weights) for j in numeric}
    for j in numeric:
        for k in numeric:
            if j != k:
                found = slice_association(ranks[j], ranks[k], weights)
                matrix[j, k], matrix[k, j] = max(matrix[j, k], found), max(matrix[k, j], found)
    return matrix


def _given(data: Data, members: Columns, strength: FloatArray) -> IntArray:
    """The other columns, in the order of their names; of a wide table those most associated with the drawn ones."""
    names = np.array(data.schema.columns, dtype=object)
    others = np.setdiff1d(np.arange(len(names)), members)
    if len(names) > _TOGETHER:
        most = strength[list(members)].max(axis=0)
        others = others[np.lexsort((names[others], -most[others]))][:_GIVEN]
    return np.asarray(others[np.argsort(names[others], kind="stable")])
