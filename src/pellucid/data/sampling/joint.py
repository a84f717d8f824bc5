"""The distribution of all columns together, from which any of them are drawn given any others.

    p(x) = c(x_R) p(x_1 | x_R) p(x_2 | x_R, x_1) ...

c is a Gaussian copula of the columns R for which monotone dependence is all there is to see. The others follow one
after the other, each as a curve, a spread or shares given what comes before (`pellucid.data.sampling.link`; which, and
in what order: `pellucid.data.sampling.structure`). Where nothing follows, this is the copula.

Given some columns, the unknown ones are drawn in that order, several at a time ("particles"); a known column makes
those count that make it likely (sequential importance sampling with resampling: Gordon, Salmond and Smith 1993; Doucet,
de Freitas and Gordon 2001). Exact for such a distribution in the limit of many particles. Where a curve has several
humps (x_2 = x_1^2, x_2 known) all of them are drawn, in proportion.

When it misleads.

1. What is left of a curve has one shape for all rows, in units of its spread.
2. Few particles count where many columns that follow are known and what they follow from is not, or where the known
   values are unlikely together.

Cost. No model rows. Particles x landmarks for each column that follows, and each row and set of known columns for which
it is drawn, or is known while something it follows from is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data.sampling.copula import Copula
from pellucid.data.sampling.link import Link

_HALF = 0.5  # of the particles: where fewer count, those that count take the place of the others
_FEW, _MORE = 10.0, 8  # particles that count, below which as many times more are drawn
_AT_ONCE = 20_000  # particles


@dataclass(frozen=True, eq=False)
class Joint:
    """A copula of the columns ``base``, the ``links`` that follow, of ``width`` columns in all."""

    base: IntArray
    copula: Copula
    links: tuple[Link, ...]
    width: int

    @classmethod
    def plain(cls, copula: Copula) -> Joint:
        """Nothing but a copula."""
        return cls(np.arange(copula.n_features), copula, (), copula.n_features)

    @property
    def uniforms(self) -> int:
        """How many random numbers a draw takes: one for each column, and one for each gap of the copula."""
        return self.width + len(self.copula.gaps)

    def weighs(self, known: BoolArray) -> bool:
        """Whether known columns say something about unknown ones that come before them."""
        return any(bool(known[link.j] and not known[link.given].all()) for link in self.links)

    def draw(self, rows: FloatArray, known: BoolArray, n: int, uniforms: FloatArray) -> Drawn:
        """``n`` rows ``(rows, n, columns)`` that agree with each row in the ``known`` columns ``(columns,)``.

        One particle for each of the ``uniforms`` ``(particles, rows, self.uniforms)``; the first n of them where no
        known column follows from an unknown one, and more than these where few count.
        """
        if not self.weighs(known):
            return self._all(rows, known, n, uniforms[:n])
        found = self._all(rows, known, n, uniforms)
        few = np.flatnonzero(found.effective < _FEW)
        size = _MORE * len(uniforms), uniforms.shape[2]
        step = max(1, _AT_ONCE // size[0])
        for some in (few[i : i + step] for i in range(0, len(few), step)):
            seeds = (uniforms[0, some, 0] * 2**53).astype(np.int64).tolist()  # a row's own, whatever is known of it
            more = np.stack([np.random.default_rng(seed).random(size) for seed in seeds], axis=1)
            again = self._draw(rows[some], known, n, more)
            found.codes[some], found.effective[some] = again.codes, again.effective
        return found

    def _all(self, rows: FloatArray, known: BoolArray, n: int, uniforms: FloatArray) -> Drawn:
        step = max(1, _AT_ONCE // len(uniforms))
        parts = [self._draw(rows[i : i + step], known, n, uniforms[:, i : i + step]) for i in range(0, len(rows), step)]
        return Drawn(*(np.concatenate(part) for part in zip(*((p.codes, p.effective) for p in parts), strict=True)))

    def _draw(self, rows: FloatArray, known: BoolArray, n: int, uniforms: FloatArray) -> Drawn:
        count, lines = uniforms.shape[:2]
        x = np.broadcast_to(rows[:, None], (lines, count, self.width)).copy()
        log_weight, effective, there = np.zeros((lines, count)), np.full(lines, np.inf), known.copy()
        for link in self.links:
            told = known[link.j]
            if told and known[link.given].all():
                continue
            if not (told and there[link.given].all()):  # something is drawn: by particles that count
                effective = np.minimum(effective, _effective(log_weight))
                x, log_weight = _renewed(x, log_weight)
            there = self._based(x, known, there, link.given, uniforms)
            if told:
                log_weight = log_weight + link.log_density(x.reshape(-1, self.width)).reshape(lines, count)
            else:
                u = np.moveaxis(uniforms[..., link.j], 0, 1)
                x[..., link.j] = link.draw(x.reshape(-1, self.width), u.ravel()).reshape(u.shape)
                there[link.j] = True
        self._based(x, known, there, self.base, uniforms)
        effective = np.minimum(effective, _effective(log_weight))
        kept = _evenly(log_weight, n) if log_weight.any() else np.tile(np.arange(n) % count, (lines, 1))
        return Drawn(np.take_along_axis(x, kept[:, :, None], axis=1), effective)

    def _based(
        self, x: FloatArray, known: BoolArray, there: BoolArray, wanted: IntArray, uniforms: FloatArray
    ) -> BoolArray:
        """Fills in the wanted columns of the base, given those that are there, known or drawn; which are there then."""
        new = np.isin(np.arange(self.width), wanted) & np.isin(np.arange(self.width), self.base) & ~there
        if not new.any():
            return there
        lines, count = x.shape[:2]
        scores = np.concatenate([uniforms[..., self.base], uniforms[..., self.width :]], axis=2)
        told = there[self.base]
        if not (told & ~known[self.base]).any():
            drawn = np.moveaxis(self.copula.draw_by(x[:, 0, self.base], told[None], scores)[0], 0, 1)
        else:  # what is there differs between the particles of a row
            each = np.moveaxis(scores, 0, 1).reshape(1, lines * count, -1)
            drawn = self.copula.draw_by(x[..., self.base].reshape(lines * count, -1), told[None], each)[0, 0]
            drawn = drawn.reshape(lines, count, -1)
        x[..., new] = drawn[..., new[self.base]]
        return there | new

    def sample(self, shares: FloatArray, together: FloatArray) -> FloatArray:
        """Rows ``(n, columns)`` of which nothing is known, nothing missing, by ``shares`` of that shape; those of the
        base are correlated ``together`` ``(n, base)``.
        """
        x = np.empty(shares.shape)
        for place, j in enumerate(self.base):
            x[:, j] = self.copula.margins[place].quantile(together[:, place])
        for link in self.links:
            x[:, link.j] = link.law.draw(x[:, link.given], shares[:, link.j])
        return x


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows that were drawn, and how many particles counted for each, where they were fewest."""

    codes: FloatArray
    effective: FloatArray


def _renewed(x: FloatArray, log_weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Particles of which enough count: where few do, they take the place of the others."""
    few = _effective(log_weight) < _HALF * log_weight.shape[1]
    if few.any():
        kept = _evenly(log_weight[few], log_weight.shape[1])
        x[few] = np.take_along_axis(x[few], kept[:, :, None], axis=1)
        log_weight = np.where(few[:, None], 0.0, log_weight)
    return x, log_weight


def _weights(log_weight: FloatArray) -> FloatArray:
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def _effective(log_weight: FloatArray) -> FloatArray:
    return np.asarray(1.0 / np.square(_weights(log_weight)).sum(axis=1))


def _evenly(log_weight: FloatArray, n: int) -> IntArray:
    """Places ``(lines, n)``, each as often as its weight says."""
    below = np.cumsum(_weights(log_weight), axis=1)
    marks = (np.arange(n) + 0.5) / n
    found = [np.searchsorted(line, marks) for line in below]
    return np.minimum(np.array(found, dtype=np.intp), log_weight.shape[1] - 1)
