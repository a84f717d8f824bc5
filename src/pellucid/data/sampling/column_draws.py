"""One player's columns, drawn for rows given other columns: every estimator that suits, and the one that fits best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data.sampling.candidates import (
    HELD,
    Column,
    Drawn,
    Regression,
    by_inverse,
    by_location_scale,
    by_probability,
)
from pellucid.data.sampling.choice import Choice, choose
from pellucid.data.sampling.margin import Margin
from pellucid.data.sampling.missed import Missed, missed
from pellucid.data.sampling.plain_draws import Draw, Known, by_copula, by_neighbours, varies
from pellucid.data.sampling.structure import Structure

_FEWEST_LEARNED = 40  # rows from which curves are learned
_SCORED = 500  # rows
_SHAPED = 0.02  # log score that like rows' residuals gain over any rows', from which Bayes' rule is tried
_PARTICLES = 128
_LARGE = 0.12  # association that is missed, from which Bayes' rule is tried


@dataclass(frozen=True, eq=False)
class DrawnColumn:
    """Codes ``(repeats, asked rows, members)``, the rows ``(repeats, asked rows)`` that could have given them
    (`donors`), how they were drawn, and what was missed.
    """

    codes: FloatArray
    donors: IntArray
    choice: Choice
    missed: Missed


def drawn_column(
    known: Known,
    members: tuple[int, ...],
    given: IntArray,
    asked: IntArray,
    repeats: int,
    generator: np.random.Generator,
    structure: Structure,
) -> DrawnColumn:
    """Draws of some columns for the asked rows; ``structure`` is that of all columns, for several members."""
    own, many = known.codes[:, list(members)], repeats + HELD
    counts = known.weights > 0
    there = counts if len(members) > 1 or known.nominal[members[0]] else counts & ~np.isnan(own[:, 0])
    missing = None
    if counts.any() and (there != counts).any() and there.any():
        missing = _missing(known, members[0], given, asked, many, generator)
    if len(members) > 1 and structure.concerns(members):
        drawn, choice, left = _together(known, members, given, structure, asked, many, generator)
    else:
        drawn, choice, left = _drawn(known, members, given, there, asked, many, generator)
    if missing is not None:
        drawn = np.where(missing[..., None], np.nan, drawn)
    likely, drawn = drawn[:, repeats:], np.moveaxis(drawn, 1, 0)[:repeats]
    places = [_place(value, likely, generator) for value in (own[asked], *drawn)]
    return DrawnColumn(drawn, donors(places[0], places[1:]), choice, left)


def donors(own: FloatArray, drawn: Sequence[FloatArray]) -> IntArray:
    """The row that could have given each drawn value, in every repeat each row once: the one whose own value stands
    where the drawn one does. ``own`` (rows,) and each of ``drawn`` (repeats of rows) are places among what is likely
    for a row.

    What is drawn for one row is learned from how the others differ from what was likely for them.
    """
    order = np.argsort(own, kind="stable")
    found = np.empty((len(drawn), len(own)), dtype=np.intp)
    for line, place in zip(found, drawn, strict=True):
        line[np.argsort(place, kind="stable")] = order
    return found


def _place(value: FloatArray, likely: FloatArray, generator: np.random.Generator) -> FloatArray:
    """The place, from 0 to 1, of each row's value ``(rows, members)`` among what is likely for it ``(rows, draws,
    members)``; between equal ones by chance. Several members by the mean of their places, among such means of what is
    likely.
    """
    value, likely = (np.where(np.isnan(part), np.inf, part) for part in (value, likely))
    if value.shape[1] > 1:
        among = np.concatenate([value[:, None], likely], axis=1)
        means = np.argsort(np.argsort(among, axis=1, kind="stable"), axis=1, kind="stable").mean(axis=2, keepdims=True)
        value, likely = means[:, 0], means[:, 1:]
    below, equal = (likely < value[:, None]).sum(axis=1), (likely == value[:, None]).sum(axis=1)
    place = below + generator.random(below.shape) * (equal + 1)
    return np.asarray(place[:, 0] / (likely.shape[1] + 1))


def _missing(
    known: Known, j: int, given: IntArray, asked: IntArray, repeats: int, generator: np.random.Generator
) -> BoolArray:
    """Whether the value is missing, drawn given the other columns."""
    absent = known.codes.copy()
    absent[:, j] = np.isnan(known.codes[:, j])
    as_level = replace(known, codes=absent, nominal=known.nominal | (np.arange(len(known.nominal)) == j))
    drawn, _, _ = _drawn(as_level, (j,), given, known.weights > 0, asked, repeats, generator)
    return np.asarray(drawn[..., 0] == 1.0)


def _drawn(
    known: Known,
    members: tuple[int, ...],
    given: IntArray,
    there: BoolArray,
    asked: IntArray,
    repeats: int,
    generator: np.random.Generator,
) -> tuple[FloatArray, Choice, Missed]:
    """Draws ``(asked rows, repeats, members)`` learned from the rows that are ``there``."""
    learned = np.flatnonzero(there)
    if not len(learned):
        return np.repeat(known.codes[asked][:, None, list(members)], repeats, axis=1), Choice("own", 0.0), Missed()
    given = np.array([k for k in given if varies(known.codes[learned, k])], dtype=np.intp)
    mixed = bool(known.nominal[[*given, *members]].any() or np.isnan(known.codes[learned][:, given]).any())
    scored = learned[np.unique(np.linspace(0, len(learned) - 1, _SCORED).round().astype(np.intp))]
    ways: dict[str, Draw] = {"copula": by_copula(known, members, given, learned, generator)}
    if mixed and len(given):
        ways["neighbours"] = by_neighbours(known, members, given, learned, generator)
    held = {name: draw(scored, HELD) for name, draw in ways.items()}
    curved: _Curved | None = None
    single = len(members) == 1 and varies(known.codes[learned, members[0]])
    if single and len(given) and len(learned) >= _FEWEST_LEARNED:
        curved = _Curved.of(known, members[0], given, learned, scored, asked, repeats, generator)
        curved.add(curved.usual(), held, ways)
    choice = _chosen(known, members, learned, scored, held)
    left = _missed(known, members, given, scored, held[choice.name], generator)
    tried = left.association > _LARGE or choice.name == "kernel ridge"
    if curved is not None and tried and "inverse" not in held:
        curved.add({"inverse": curved.inverse()}, held, ways)
        choice = _chosen(known, members, learned, scored, held)
        left = _missed(known, members, given, scored, held[choice.name], generator)
    return ways[choice.name](asked, repeats), choice, left


def _together(
    known: Known,
    members: tuple[int, ...],
    given: IntArray,
    structure: Structure,
    asked: IntArray,
    repeats: int,
    generator: np.random.Generator,
) -> tuple[FloatArray, Choice, Missed]:
    """Draws ``(asked rows, repeats, members)`` from the distribution of all columns, each row's learned without its
    fifth of the rows.
    """
    learned = np.flatnonzero(known.weights > 0)
    fold, told = known.folds(learned), ~np.isin(np.arange(len(known.nominal)), members)
    seed = int(generator.integers(2**62))
    scored = learned[np.unique(np.linspace(0, len(learned) - 1, _SCORED).round().astype(np.intp))]
    rows = np.union1d(asked, scored)
    drawn = np.empty((len(rows), repeats, len(members)))
    for f in np.unique(fold[rows]):
        some = np.flatnonzero(fold[rows] == f)
        joint = structure.learned(replace(known, weights=np.where(fold == f, 0.0, known.weights)), seed)
        uniforms = generator.random((_PARTICLES, len(some), joint.uniforms))
        drawn[some] = joint.draw(known.codes[rows[some]], told, repeats, uniforms).codes[..., list(members)]
    left = _missed(known, members, given, scored, drawn[np.searchsorted(rows, scored)][:, :HELD], generator)
    return drawn[np.searchsorted(rows, asked)], Choice("curves", max(structure.gain)), left


def _missed(
    known: Known,
    members: tuple[int, ...],
    given: IntArray,
    scored: IntArray,
    held: FloatArray,
    generator: np.random.Generator,
) -> Missed:
    """What held-out draws ``(scored rows, draws, members)`` miss, and of which column."""
    share = _place(known.codes[scored][:, list(members)], held, generator)
    found = missed(share, known.codes[scored][:, given], known.nominal[given], known.weights[scored], generator)
    return Missed(found.association, int(given[found.column])) if found.column >= 0 else found


def _chosen(
    known: Known, members: tuple[int, ...], learned: IntArray, scored: IntArray, held: Mapping[str, FloatArray]
) -> Choice:
    """The estimator that fits the members best, on average over them."""
    if len(held) == 1:
        return Choice(next(iter(held)), 0.0)
    margins = [
        Margin.of(known.codes[learned, j], known.weights[learned], levels=bool(known.nominal[j])) for j in members
    ]
    parts = [
        choose(margin, known.codes[scored, j], {name: drawn[:, :, i] for name, drawn in held.items()})
        for i, (j, margin) in enumerate(zip(members, margins, strict=True))
    ]
    return max(parts, key=lambda part: part.gain)


@dataclass(frozen=True, eq=False)
class _Curved:
    """The estimators of one column that see curves."""

    regression: Regression
    learned: IntArray
    others: IntArray
    scored: IntArray  # places among the learned rows
    repeats: int
    generator: np.random.Generator

    @classmethod
    def of(
        cls,
        known: Known,
        j: int,
        given: IntArray,
        learned: IntArray,
        scored: IntArray,
        asked: IntArray,
        repeats: int,
        generator: np.random.Generator,
    ) -> _Curved:
        """Prepare the regression that they share."""
        others = np.setdiff1d(asked, learned)
        column = Column(
            known.codes[learned, j],
            bool(known.nominal[j]),
            known.codes[learned][:, given],
            known.nominal[given],
            known.codes[others][:, given],
            known.weights[learned],
        )
        places = np.searchsorted(learned, scored)
        return cls(Regression.of(column, generator), learned, others, places, repeats, generator)

    def usual(self) -> dict[str, Drawn | None]:
        """Those that are tried first; Bayes' rule where like rows' residuals say more than any rows'."""
        args = self.scored, self.repeats, self.generator
        if self.regression.column.levels:
            return {"kernel ridge": by_probability(self.regression, *args), "inverse": self.inverse()}
        found = by_location_scale(self.regression, *args)
        if found is None:
            return {}
        shaped = found[1] > _SHAPED or self.regression.column.stepped
        return {"kernel ridge": found[0], **({"inverse": self.inverse()} if shaped else {})}

    def inverse(self) -> Drawn | None:
        return by_inverse(self.regression, self.scored, self.repeats, self.generator)

    def add(self, found: Mapping[str, Drawn | None], held: dict[str, FloatArray], ways: dict[str, Draw]) -> None:
        """Draws for the scored rows, and for the rows asked about."""
        for name, drawn in found.items():
            if drawn is not None:
                held[name] = drawn.held[:, :, None]
                ways[name] = _looked_up(drawn, self.learned, self.others)


def _looked_up(drawn: Drawn, learned: IntArray, others: IntArray) -> Draw:
    def draw(rows: IntArray, n: int) -> FloatArray:
        among = np.isin(rows, learned)
        found = np.empty((len(rows), n, 1))
        found[among, :, 0] = drawn.rows[np.searchsorted(learned, rows[among]), :n]
        found[~among, :, 0] = drawn.others[np.searchsorted(others, rows[~among]), :n]
        return found

    return draw
