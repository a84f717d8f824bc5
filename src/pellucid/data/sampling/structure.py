"""Which columns follow others along curves, and in what order.

The column whose draws given all others beat the copula most, by held-out log score, comes last and is taken out, until
none beats it clearly (`pellucid.data.sampling.choice`, more strictly than where one column is drawn: where normal
features are concerned the copula is exact, and it is kept for the whole table unless something is gained). Of tables
with categories or missing values, all this only where it beats near rows as well.

Cost. No model rows. A regression of at most 1,000 rows for each column (0.1 to 0.3 s), and again for those that beat
the copula each time one is taken out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data.sampling.candidates import HELD, Column, Regression, held_out
from pellucid.data.sampling.choice import choose, fit_of
from pellucid.data.sampling.copula import Copula
from pellucid.data.sampling.encoding import Encoding, scores
from pellucid.data.sampling.held_out import log_scores
from pellucid.data.sampling.joint import Joint
from pellucid.data.sampling.kernel_ridge import KernelRidge
from pellucid.data.sampling.like_rows import LikeRows, distribution
from pellucid.data.sampling.link import LANDMARKS, Link
from pellucid.data.sampling.location_scale import location_scale
from pellucid.data.sampling.plain_draws import Known, by_copula, by_neighbours, varies

MOST_ROWS = 1_000  # from which curves are learned
MOST_COLUMNS = 40
_FEWEST_ROWS = 60
_SCORED = 500
_LOOKED_AT, _MARKS, _LOOKS = 300, 60, 15  # rows, landmarks and trees of a first look
_LEAST_GAIN, _CLEARLY = 0.06, 3.0  # nats a row and standard errors by which the copula is beaten
_FEW_COLUMNS = 3  # of which none need be left aside at a first look
_TELLING, _ALIKE = 0.15, 0.01  # of the most telling column; log score that may be lost without the others
_NEAR = 2.0  # standard errors by which near rows are beaten


@dataclass(frozen=True, eq=False)
class Structure:
    """The columns that follow, in their order, with the log score that each gains over the copula and the columns that
    it follows from; none where a copula or near rows do as well.
    """

    after: tuple[int, ...] = ()
    gain: tuple[float, ...] = ()
    given: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def of(cls, known: Known, seed: int) -> Structure:
        """Learn from some rows."""
        learned = _learned(known)
        left = [int(j) for j in np.argsort(known.places) if varies(known.codes[learned, j])] if len(learned) else []
        if len(learned) < _FEWEST_ROWS or not 2 <= len(left) <= MOST_COLUMNS:
            return cls()
        trials = _Trials(known, learned, seed)
        better = {j: gain for j in left if (gain := trials.of(j, left)) > 0}
        if not better or (trials.mixed and not trials.beat_near_rows()):
            return cls()
        trials.first = False
        after: list[tuple[int, float, tuple[int, ...]]] = []
        while better and len(left) > 1:
            best = max(better, key=lambda j: better[j])
            left.remove(best)
            after.insert(0, (best, better.pop(best), trials.told(best)))
            better = {j: gain for j in better if (gain := trials.of(j, left)) > 0}
        return cls(tuple(j for j, _, _ in after), tuple(gain for _, gain, _ in after), tuple(g for _, _, g in after))

    def concerns(self, columns: tuple[int, ...]) -> bool:
        """Whether any of the columns is part of a curve."""
        return any(j in columns or set(given) & set(columns) for j, given in zip(self.after, self.given, strict=True))

    def learned(self, known: Known, seed: int) -> Joint:
        """The distribution of that structure."""
        counted = np.flatnonzero(known.weights > 0)
        order = np.argsort(known.places)
        base = np.array([j for j in order if j not in self.after], dtype=np.intp)
        copula = Copula.of_columns(list(known.codes[counted][:, base].T), known.nominal[base], known.weights[counted])
        rows = _learned(known)
        links = []
        for j, told in zip(self.after, self.given, strict=True):
            given = np.array([k for k in told if varies(known.codes[rows, k])], dtype=np.intp)
            generator = np.random.default_rng([seed, int(known.places[j])])
            links.append(Link.of(known.codes[rows], j, given, known.nominal, known.weights[rows], generator))
        return Joint(base, copula, tuple(links), known.codes.shape[1])


def _learned(known: Known) -> IntArray:
    counted = np.flatnonzero(known.weights > 0)
    return counted[np.unique(np.linspace(0, len(counted) - 1, MOST_ROWS).round().astype(np.intp))]


def curved(column: Column, generator: np.random.Generator) -> bool:
    """A first look at few rows: whether a number may be more than a line and one spread, or vary by another law."""
    rows = np.sort(generator.permutation(len(column.own))[:_LOOKED_AT])
    encoding = Encoding.of(column.given[rows], column.nominal, column.weights[rows])
    blocks, weights = encoding.blocks(column.given[rows]), column.weights[rows]
    y = scores(column.margin, column.own[rows])
    relevance = np.ones(len(blocks))
    if len(blocks) > _FEW_COLUMNS:
        relevance = LikeRows.of(blocks, distribution(y), weights, generator, trees=_LOOKS).relevance()
    return not location_scale(KernelRidge(blocks, relevance, weights, generator, _MARKS), y).plain


class _Trials:
    """Draws of single columns given others, held out: by curves, by the copula, by near rows."""

    def __init__(self, known: Known, learned: IntArray, seed: int) -> None:
        self._known, self._learned, self._seed = known, learned, seed
        self.mixed = bool(known.nominal.any() or np.isnan(known.codes[learned]).any())
        self.first = True  # all other columns are given
        self._over_near: list[FloatArray] = []
        self._told: dict[int, tuple[int, ...]] = {}

    def told(self, j: int) -> tuple[int, ...]:
        """The columns that told something about column j when it was last tried."""
        return self._told[j]

    def of(self, j: int, left: list[int]) -> float:
        """What curves gain over the copula for column j given the others that are left; 0 unless clear."""
        known = self._known
        self._told[j] = ()
        gain = self._gain(known, j, left)
        if known.nominal[j] or not np.isnan(known.codes[self._learned, j]).any():
            return gain
        absent = known.codes.copy()
        absent[:, j] = np.isnan(known.codes[:, j])
        as_level = replace(known, codes=absent, nominal=known.nominal | (np.arange(len(known.nominal)) == j))
        return gain + self._gain(as_level, j, left)

    def beat_near_rows(self) -> bool:
        """Whether the better of curves and copula fits the columns tried so far clearly better, all together."""
        gain = sum(float(part.mean()) for part in self._over_near)
        variance = sum(float(part.var()) / len(part) for part in self._over_near)
        return gain > max(_LEAST_GAIN, _NEAR * float(np.sqrt(variance)))

    def _gain(self, known: Known, j: int, left: list[int]) -> float:
        given = np.array([k for k in left if k != j], dtype=np.intp)
        rows = self._learned[known.nominal[j] | ~np.isnan(known.codes[self._learned, j])]
        if len(rows) < _FEWEST_ROWS or not len(given) or not varies(known.codes[rows, j]):
            return 0.0
        generator = np.random.default_rng([self._seed, int(known.places[j]), len(left)])
        places = np.unique(np.linspace(0, len(rows) - 1, _SCORED).round().astype(np.intp))
        codes, asked = known.codes[rows], rows[places]
        column = Column(
            codes[:, j], bool(known.nominal[j]), codes[:, given], known.nominal[given], codes[:0, given],
            known.weights[rows],
        )  # fmt: skip
        looked = self.mixed and self.first
        told = column.few or curved(column, generator)
        if not told and not looked:
            return 0.0
        held = {"copula": by_copula(known, (j,), given, rows, generator)(asked, HELD)[..., 0]}
        if told:
            regression = Regression.of(column, generator, LANDMARKS)
            held["curves"] = held_out(regression, places, generator)
        own = known.codes[asked, j]
        found = choose(column.margin, own, held, least=_LEAST_GAIN, clearly=_CLEARLY)
        if looked:
            near = by_neighbours(known, (j,), given, rows, generator)(asked, HELD)[..., 0]
            lines = [log_scores(column.margin, own, drawn) for drawn in (held[found.name], near)]
            self._over_near.append(lines[0] - lines[1])
        if told and found.gain > 0:
            fewer = np.flatnonzero(regression.relevance >= _TELLING)
            if len(fewer) < len(given):
                less = held_out(Regression.of(column.only(fewer), generator, LANDMARKS), places, generator)
                if fit_of(column.margin, own, less) > fit_of(column.margin, own, held["curves"]) - _ALIKE:
                    given = given[fewer]
            self._told[j] = tuple(sorted({*self._told[j], *given.tolist()}, key=lambda k: known.places[k]))
        return found.gain
