"""Where a local model learns: rows drawn from the data, around a row, or as the features go together.

Samplers, for numbers (whole ones stay whole, dates stay dates):

- ``"data"``: each feature takes values of the data, by itself;
- ``"gaussian"``: N(mean_j, sd_j) at the data's centre of mass, the textbook's choice;
- ``"around"``: N(x_j, sd_j) around the explained row;
- ``"correlated"``: all features together, from a Gaussian copula of the data (`pellucid.data.copula`).

Categories come by their frequency in the data (in ``"correlated"`` with what they go together with). A number that the row
knows is known in every sample; one that it lacks is lacking in every other sample, by a coin.

Draws of a feature are spread evenly within each of 20 blocks (a Latin hypercube), and the blocks are independent: what is
learned from one can be tried on another. Random numbers follow the distribution of a column, not its name or place, so
that neither renaming nor reordering columns changes an explanation, and a row of weight two counts like two rows. All rows share their samples, but for "around" and for rows
that lack different features.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.data.copula import Copula
from pellucid.data.grid import snap
from pellucid.data.margin import Margin, nominal_features
from pellucid.data.schema import Feature
from pellucid.runner import Run

Sampler = Literal["data", "gaussian", "around", "correlated"]
SAMPLERS = ("data", "gaussian", "around", "correlated")
BLOCKS = 20
_MOST_ROWS = 20_000  # evenly spaced; more do not change a distribution that is sampled
_KEY = 61  # of the random generator


@dataclass(frozen=True, eq=False)
class Sample:
    """Codes ``(samples, features)`` that serve some of the explained rows, given by their positions."""

    codes: FloatArray
    rows: IntArray


@dataclass(frozen=True, eq=False)
class Distributions:
    """Each feature by itself: its values and their shares, mean and spread, and a number made of its content."""

    features: tuple[Feature, ...]
    margins: tuple[Margin, ...]
    nominal: BoolArray
    mean: FloatArray
    sd: FloatArray
    keys: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, data: Data, run: Run) -> Distributions:
        """Learned once for an Explainer."""
        return run.remember("lime distributions", lambda: cls._learn(data))

    @classmethod
    def _learn(cls, data: Data) -> Distributions:
        chosen = data.spread(_MOST_ROWS)
        chosen = chosen[data.weights[chosen] > 0]
        weights, nominal = data.weights[chosen], nominal_features(data)
        columns = [data.codes(j)[chosen] for j in range(len(nominal))]
        margins = tuple(
            Margin.of(column, weights, levels=bool(level))
            for column, level in zip(columns, nominal, strict=True)
        )
        moments = [_moments(margin) for margin in margins]
        return cls(
            data.schema.features, margins, nominal,
            np.array([mean for mean, _ in moments]), np.array([sd for _, sd in moments]), _keys(margins, columns),
        )  # fmt: skip

    @property
    def scale(self) -> FloatArray:
        """The standard deviation of each feature, one where it does not vary."""
        return np.where(self.sd > 0, self.sd, 1.0)


def _keys(margins: tuple[Margin, ...], columns: list[FloatArray]) -> tuple[tuple[int, int], ...]:
    """A number for each feature's distribution, and its place among features of the same one, by what their rows hold."""
    own = [zlib.crc32(margin.values.tobytes() + margin.upper.tobytes()) for margin in margins]
    content = [zlib.crc32(np.ascontiguousarray(column).tobytes()) for column in columns]
    order = sorted(range(len(own)), key=lambda j: (own[j], content[j], j))
    keys: dict[int, tuple[int, int]] = {}
    for place, j in enumerate(order):
        again = place > 0 and own[order[place - 1]] == own[j]
        keys[j] = (own[j], keys[order[place - 1]][1] + 1 if again else 0)
    return tuple(keys[j] for j in range(len(own)))


def _moments(margin: Margin) -> tuple[float, float]:
    """Weighted mean and standard deviation; of categories those of their codes, which nobody uses."""
    share = np.diff(margin.upper, prepend=0.0)
    known = ~np.isnan(margin.values)
    if not known.any():
        return 0.0, 0.0
    values, share = margin.values[known], share[known] / share[known].sum()
    mean = float(share @ values)
    sd = float(np.sqrt(share @ np.square(values - mean)))
    return mean, sd if sd > 1e-12 * np.abs(values).max() else 0.0


def draw(data: Data, rows: Data, n: int, sampler: Sampler, run: Run, *, start: int = 0) -> Iterator[Sample]:
    """``n`` samples (a multiple of the blocks) for every explained row; ``start`` numbers further draws."""
    known = Distributions.of(data, run)
    shares, coins = _uniform(known, n, run, start)
    explained = np.stack([rows.codes(j) for j in range(len(known.margins))], axis=1)
    lacks = np.isnan(explained) & ~known.nominal
    if sampler == "around":
        for i, row in enumerate(explained):
            codes = _normal(known, shares, np.where(np.isnan(row), known.mean, row))
            yield Sample(np.where(lacks[i] & coins, np.nan, codes), np.array([i]))
        return
    codes = _joint(data, known, shares, run) if sampler == "correlated" else _single(known, shares, sampler)
    patterns, which = np.unique(lacks, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        members = np.flatnonzero(which.ravel() == k)
        yield Sample(np.where(pattern & coins, np.nan, codes) if pattern.any() else codes, members)


def _uniform(known: Distributions, n: int, run: Run, start: int) -> tuple[FloatArray, BoolArray]:
    """Uniform numbers ``(n, features)``, even within blocks, and a coin for every cell."""
    width = n // BLOCKS
    shares, coins = np.empty((n, len(known.keys))), np.empty((n, len(known.keys)), dtype=np.bool_)
    for j, key in enumerate(known.keys):
        generator = run.generator(_KEY, start, *key)
        cells = generator.permuted(np.broadcast_to(np.arange(width), (BLOCKS, width)), axis=1)
        shares[:, j] = ((cells + generator.random((BLOCKS, width))) / width).ravel()
        coins[:, j] = generator.random(n) < 0.5
    return shares, coins


def _single(known: Distributions, shares: FloatArray, sampler: Sampler) -> FloatArray:
    """Every feature by itself."""
    if sampler == "gaussian":
        return _normal(known, shares, known.mean)
    return np.stack([margin.quantile(shares[:, j]) for j, margin in enumerate(known.margins)], axis=1)


def _normal(known: Distributions, shares: FloatArray, centre: FloatArray) -> FloatArray:
    """Normal numbers around a centre; categories as in the data."""
    from scipy.special import ndtri

    codes = np.empty(shares.shape)
    for j, (feature, margin) in enumerate(zip(known.features, known.margins, strict=True)):
        if feature.nominal or feature.empty:
            codes[:, j] = margin.quantile(shares[:, j])
            continue
        drawn = snap(feature, centre[j] + known.sd[j] * ndtri(np.clip(shares[:, j], 1e-12, 1 - 1e-12)))
        # A column of small whole numbers, or of dates, cannot hold every number.
        whole = feature.kind in ("integer", "date")
        codes[:, j] = np.clip(drawn, feature.low, feature.high) if whole else drawn
    return codes


def _joint(data: Data, known: Distributions, shares: FloatArray, run: Run) -> FloatArray:
    """Features as they go together; the symmetric root of the correlation does not depend on their order."""
    from scipy.special import ndtr, ndtri

    copula = run.remember("lime copula", lambda: Copula.of(data))
    p = len(known.margins)
    values, vectors = np.linalg.eigh(copula.correlation[:p, :p])
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    # The order of a category's levels is known but for its direction: the first code comes before the last.
    ends = [np.nan_to_num(margin.values[[0, -1]], nan=np.inf) for margin in copula.margins[:p]]
    direction = np.array([-1.0 if first > last else 1.0 for first, last in ends])
    together = ndtr((ndtri(np.clip(shares, 1e-12, 1 - 1e-12)) * direction) @ root)
    return np.stack([copula.margins[j].quantile(together[:, j]) for j in range(p)], axis=1)
