"""Antecedents: what the rules of a list may ask, mined from bins.

Definition. One condition compares a number with a border between two bins, asks for a level (or for any other), or for
a missing value. Antecedents of m + 1 conditions join the best of m conditions with one more. An antecedent holds for at
least a share ``support`` of the weight and fails for at least as much; of those that hold for the same rows the
shortest is kept, and the first of these.

The best are those whose rows are least likely to be a draw of all rows: with W the weight of the rows for which an
antecedent holds, p the share of a class and S its weight among them, the largest |S - W p| / sqrt(W p (1 - p)) over the
classes; of numbers |S - W mean| / (sd sqrt(W)). As many are kept for every class, too many and too few of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray
from pellucid.glassbox.rules.bins import MISSING, Bins
from pellucid.glassbox.rules.clauses import Clause, Part, both, missing_of

_JOINED = 300  # antecedents of so many conditions that are given one more
_ROOM = 40_000_000  # cells times antecedents: as many are kept in memory


@dataclass(frozen=True, eq=False)
class Pool:
    """Antecedents, the cells (sets of rows that no antecedent tells apart) for which they hold, and the sums of the
    cells.

    ``holds`` (antecedents, cells) are 0 and 1, ``sums`` (cells, channels) weights by class or, of numbers, weight,
    weighted y and weighted y².
    """

    clauses: tuple[Clause, ...]
    holds: FloatArray
    sums: FloatArray

    def __len__(self) -> int:
        return len(self.clauses)


def mined(
    bins: Bins,
    sums: FloatArray,
    *,
    squared: bool,
    conditions: int,
    support: float,
    most: int,
    more: Sequence[Clause] = (),
) -> Pool:
    """The antecedents of at most so many conditions, the best ``most`` of them, and ``more`` that are given."""
    own, place = np.unique(bins.of.T, axis=0, return_inverse=True)
    cells = np.zeros((len(own), sums.shape[1]))
    np.add.at(cells, place.ravel(), sums)
    found = _Mined(cells, squared, support)
    singles = _singles(bins, own.T)
    last = found.add([((part,), mask) for part, mask in singles])
    for _ in range(conditions - 1):
        last = found.join(last[:_JOINED], singles)
    most = max(1, min(most, _ROOM // max(1, len(cells))))
    given = [(clause, clause_holds(clause, bins, own.T)) for clause in more if 0 < len(clause) <= conditions]
    chosen = sorted(set(found.best(most)) | set(found.add(given)))
    holds = np.stack([found.masks[k] for k in chosen]) if chosen else np.zeros((0, len(cells)), dtype=np.bool_)
    merged = _merged(holds, cells)
    return Pool(tuple(found.clauses[k] for k in chosen), *merged)


def _merged(holds: BoolArray, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Cells that no antecedent tells apart as one."""
    if not len(holds):
        return np.zeros((0, 1)), sums.sum(axis=0)[None]
    same, first, place = np.unique(np.packbits(holds, axis=0).T, axis=0, return_index=True, return_inverse=True)
    merged = np.zeros((len(same), sums.shape[1]))
    np.add.at(merged, place.ravel(), sums)
    return np.ascontiguousarray(holds[:, first], dtype=np.float64), merged


class _Mined:
    """Antecedents found so far, none like another."""

    def __init__(self, cells: FloatArray, squared: bool, support: float) -> None:
        self._sums, self._squared = cells, squared
        self._total = cells.sum(axis=0)
        self._mass = cells[:, :1] if squared else cells.sum(axis=1, keepdims=True)
        self._least = support * float(self._mass.sum())
        self._known: dict[bytes, int] = {}
        self.clauses: list[Clause] = []
        self.masks: list[BoolArray] = []
        self._scores: list[FloatArray] = []

    def add(self, given: Sequence[tuple[Clause, BoolArray]]) -> list[int]:
        """Keep those that are new; the places of all, the best first."""
        found = []
        for clause, mask in given:
            w = float(self._mass[mask].sum())
            if not self._least <= w <= float(self._mass.sum()) - self._least or w <= 0:
                continue
            key = np.packbits(mask).tobytes()
            if key not in self._known:
                self._known[key] = len(self.clauses)
                self.clauses.append(clause)
                self.masks.append(mask)
                self._scores.append(self._score(self._sums[mask].sum(axis=0)[None])[0])
                found.append(self._known[key])
        return sorted(found, key=lambda k: (-float(np.abs(self._scores[k]).max()), k))

    def join(self, places: Sequence[int], singles: Sequence[tuple[Part, BoolArray]]) -> list[int]:
        """Some antecedents with one more condition each."""
        if not places or not singles:
            return []
        one = np.stack([self.masks[k] for k in places]).astype(np.float64)
        other = np.stack([mask for _, mask in singles]).astype(np.float64)
        sums = np.stack([(one * channel) @ other.T for channel in self._sums.T], axis=2)
        mass = sums[..., 0] if self._squared else sums.sum(axis=2)
        fits = (mass >= self._least) & (mass > 0)
        fits &= mass < (one @ self._mass) * (1 - 1e-9)  # the new condition leaves something out
        score = np.where(fits, np.abs(self._score(sums)).max(axis=2), -np.inf)
        order = np.argsort(-score, axis=None, kind="stable")[: 8 * _JOINED]
        joined = []
        for at in order[np.isfinite(score.ravel()[order])].tolist():
            i, j = divmod(at, len(singles))
            clause = _with(self.clauses[places[i]], singles[j][0])
            if clause is not None:
                joined.append((clause, self.masks[places[i]] & singles[j][1]))
        return self.add(joined)

    def best(self, most: int) -> list[int]:
        """The places of the best, as many for every class and either sign, in the order in which they were found."""
        if len(self.clauses) <= most:
            return list(range(len(self.clauses)))
        score = np.stack(self._scores)
        score = np.concatenate([score, -score], axis=1)
        rank = np.argsort(np.argsort(-score, axis=0, kind="stable"), axis=0, kind="stable").min(axis=1)
        return sorted(np.argsort(rank, kind="stable")[:most].tolist())

    def _score(self, sums: FloatArray) -> FloatArray:
        """How far from a draw of all rows, by class, for sums ``(..., channels)``."""
        if self._squared:
            w, mean = sums[..., 0], self._total[1] / self._total[0]
            sd = np.sqrt(max(self._total[2] / self._total[0] - mean**2, 1e-300))
            return np.asarray(((sums[..., 1] - w * mean) / (sd * np.sqrt(np.maximum(w, 1e-300))))[..., None])
        p, w = self._total / self._total.sum(), sums.sum(axis=-1, keepdims=True)
        return np.asarray((sums - w * p) / np.sqrt(np.maximum(w * p * (1 - p), 1e-300)))


def _singles(bins: Bins, own: AnyArray) -> list[tuple[Part, BoolArray]]:
    """All antecedents of one condition, with the cells ``(columns, cells)`` for which they hold."""
    found = []
    for j in range(len(own)):
        n, gone = int(bins.number[j]), own[j] == MISSING
        if bins.nominal[j]:
            for k in range(n):
                found.append((Part(j, levels=(k,), known=n), own[j] == k))
                if n > 2:
                    others = tuple(m for m in range(n) if m != k)
                    found.append((Part(j, levels=others, known=n, others=True), ~gone & (own[j] != k)))
        else:
            for k in range(n - 1):
                t = bins.between(j, k, k + 1)
                found += [(Part(j, high=t), ~gone & (own[j] <= k)), (Part(j, low=t), own[j] > k)]
        if gone.any():
            found.append((missing_of(j, n if bins.nominal[j] else 0), gone))
    return found


def _with(clause: Clause, part: Part) -> Clause | None:
    """A clause with one more part, merged where it asks for the feature already; None where that says nothing new."""
    for k, each in enumerate(clause):
        if each.feature == part.feature:
            if each.levels is not None or each.missing or part.missing:
                return None
            merged = both(each, part)
            return (
                None if merged in (each, part) or merged.low >= merged.high else (*clause[:k], merged, *clause[k + 1 :])
            )
    return tuple(sorted((*clause, part), key=lambda each: each.feature))


def clause_holds(clause: Clause, bins: Bins, own: AnyArray) -> BoolArray:
    """For which cells a clause holds that parts no bin."""
    found = np.ones(own.shape[1], dtype=np.bool_)
    for part in clause:
        j = part.feature
        codes = np.where(own[j] == MISSING, np.nan, bins.low[j][np.maximum(own[j], 0)] if bins.number[j] else np.nan)
        found &= part.holds(codes)
    return found
