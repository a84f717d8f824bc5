"""Where a local model learns: rows drawn from the data, around a row, or as the features are correlated.

Samplers, for numbers (whole ones stay whole, dates stay dates):

- ``"data"``: each feature takes values of the data, by itself;
- ``"gaussian"``: N(mean_j, sd_j) at the data's centre of mass, the textbook's choice;
- ``"around"``: N(x_j, sd_j) around the explained row;
- ``"correlated"``: all features together, from a Gaussian copula of the data (`pellucid.data.sampling.copula`), and
  along curves those that clearly follow others so (`pellucid.data.sampling.joint`).

Categories come by their frequency in the data (in ``"correlated"`` given the other features). A number that the
row knows is known in every sample; one that it lacks is lacking in every other sample, by a coin.

Draws of a feature are spread evenly within each of 20 blocks (a Latin hypercube), and the blocks are independent: what
is learned from one can be tried on another. Random numbers follow the distribution of a column, not its name or place,
so that neither renaming nor reordering columns changes an explanation, and a row of weight two counts like two rows.
All rows share their samples, but for "around" and for rows that lack different features.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data import Data, Feature
from pellucid.data.grid import snap
from pellucid.data.sampling.conditional_draws import joint_of
from pellucid.data.sampling.copula import Copula
from pellucid.data.sampling.joint import Joint
from pellucid.data.sampling.margin import Margin, nominal_features
from pellucid.runner import Run

Sampler = Literal["data", "gaussian", "around", "correlated"]
SAMPLERS = ("data", "gaussian", "around", "correlated")
BLOCKS = 20
_MOST_ROWS = 20_000  # evenly spaced; more do not change a distribution that is sampled
_MOST_KEPT = 1_000_000  # numbers of a sample that is kept for the next explanation


@dataclass(frozen=True, eq=False)
class Sample:
    """Codes ``(samples, features)`` that serve some of the explained rows, given by their positions."""

    codes: FloatArray
    rows: IntArray


@dataclass(frozen=True, eq=False)
class Distributions:
    """Each feature by itself: its values and their shares, mean and spread, and the order in which features are drawn
    for.

    ``kept`` holds what is the same at every call: the joint distribution, and the last samples that all rows share with
    the model's answers.
    """

    features: tuple[Feature, ...]
    margins: tuple[Margin, ...]
    nominal: BoolArray
    mean: FloatArray
    sd: FloatArray
    order: IntArray
    kept: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, data: Data, run: Run) -> Distributions:
        """Learned once for an Explainer."""
        return run.remember("lime distributions", lambda: cls.learn(data))

    @classmethod
    def learn(cls, data: Data) -> Distributions:
        """From a table."""
        chosen = data.spread(_MOST_ROWS)
        chosen = chosen[data.weights[chosen] > 0]
        weights, nominal = data.weights[chosen], nominal_features(data)
        columns = [data.codes(j)[chosen] for j in range(len(nominal))]
        margins = tuple(
            Margin.of(column, weights, levels=bool(level)) for column, level in zip(columns, nominal, strict=True)
        )
        moments = [_moments(margin) for margin in margins]
        return cls(
            data.schema.features,
            margins,
            nominal,
            np.array([mean for mean, _ in moments]),
            np.array([sd for _, sd in moments]),
            _order(margins, columns),
        )

    @property
    def scale(self) -> FloatArray:
        """The standard deviation of each feature, one where it does not vary."""
        return np.where(self.sd > 0, self.sd, 1.0)


def _order(margins: tuple[Margin, ...], columns: list[FloatArray]) -> IntArray:
    """The features in an order that knows neither names nor places: by their distributions, of the same one by their
    rows.
    """
    own = [zlib.crc32(margin.values.tobytes() + margin.upper.tobytes()) for margin in margins]
    content = [zlib.crc32(np.ascontiguousarray(column).tobytes()) for column in columns]
    return np.array(sorted(range(len(own)), key=lambda j: (own[j], content[j], j)), dtype=np.intp)


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


def draw(
    known: Distributions, data: Data, rows: Data, n: int, sampler: Sampler, run: Run, *, start: int = 0
) -> Iterator[Sample]:
    """``n`` samples (a multiple of the blocks) for every explained row; ``start`` numbers further draws."""
    explained = np.stack([rows.codes(j) for j in range(len(known.margins))], axis=1)
    lacks = np.isnan(explained) & ~known.nominal

    def coins() -> BoolArray:
        return _coins(n, known.order, run.generator("lime.missing", start))

    if sampler == "around":
        draws = _Draws.of(n, known.order, run.generator("lime.samples", start))
        for i, row in enumerate(explained):
            codes = _normal(known, draws, np.where(np.isnan(row), known.mean, row))
            yield Sample(np.where(lacks[i] & coins(), np.nan, codes) if lacks[i].any() else codes, np.array([i]))
        return
    codes = _shared(known, data, n, sampler, run, start)
    patterns, which = np.unique(lacks, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        members = np.flatnonzero(which.ravel() == k)
        yield Sample(np.where(pattern & coins(), np.nan, codes) if pattern.any() else codes, members)


def _shared(known: Distributions, data: Data, n: int, sampler: Sampler, run: Run, start: int) -> FloatArray:
    """Samples ``(n, features)`` that do not depend on the explained row; the first ones are kept."""
    name = (sampler, n, run.seed)
    before, kept = known.kept.get("sample", (None, None))
    if start == 0 and before == name and kept is not None:
        return np.asarray(kept)
    draws = _Draws.of(n, known.order, run.generator("lime.samples", start))
    if sampler == "correlated":
        codes = _joint(data, known, draws)
    elif sampler == "gaussian":
        codes = _normal(known, draws, known.mean)
    else:
        codes = np.stack([draws.at(j, margin.quantile) for j, margin in enumerate(known.margins)], axis=1)
    if start == 0 and codes.size <= _MOST_KEPT:
        codes.flags.writeable = False
        known.kept["sample"] = name, codes
    return codes


@dataclass(frozen=True, eq=False)
class _Draws:
    """Random numbers for every feature: shares ``(features, blocks, width)`` that ascend within a block, and the places
    of their use.
    """

    shares: FloatArray
    places: IntArray
    order: IntArray

    @classmethod
    def of(cls, n: int, order: IntArray, generator: np.random.Generator) -> _Draws:
        """``n`` numbers for each feature, drawn for one after the other in the order given."""
        shape = (len(order), BLOCKS, n // BLOCKS)
        cells = np.broadcast_to(np.arange(shape[2]), shape)
        shares, places = np.empty(shape), np.empty(shape, dtype=np.intp)
        shares[order] = np.clip((cells + generator.random(shape)) / shape[2], 1e-12, 1 - 1e-12)
        places[order] = generator.permuted(cells, axis=2)
        return cls(shares, places, order)

    def at(self, j: int, quantile: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Values of a feature at its shares; looked up in ascending order, which is fast, then put in their places."""
        found = quantile(self.shares[j].ravel()).reshape(self.places[j].shape)
        return np.take_along_axis(found, self.places[j], axis=1).ravel()


def _coins(n: int, order: IntArray, generator: np.random.Generator) -> BoolArray:
    """A coin ``(n, features)`` for every cell."""
    coins = np.empty((n, len(order)), dtype=np.bool_)
    coins[:, order] = generator.random((len(order), n)).T < 0.5
    return coins


def _normal(known: Distributions, draws: _Draws, centre: FloatArray) -> FloatArray:
    """Normal numbers around a centre; categories as in the data."""
    from scipy.special import ndtri

    codes = np.empty((draws.shares[0].size, len(draws.order)))
    for j, (feature, margin) in enumerate(zip(known.features, known.margins, strict=True)):
        if feature.nominal or feature.empty:
            codes[:, j] = draws.at(j, margin.quantile)
            continue
        drawn = snap(feature, centre[j] + known.sd[j] * draws.at(j, ndtri))
        # A column of small whole numbers, or of dates, cannot hold every number.
        whole = feature.kind in ("integer", "date")
        codes[:, j] = np.clip(drawn, feature.low, feature.high) if whole else drawn
    return codes


def _joint(data: Data, known: Distributions, draws: _Draws) -> FloatArray:
    """Correlated features; the symmetric root of the correlation does not depend on their order."""
    from scipy.special import ndtr, ndtri

    if "joint" not in known.kept:
        joint = joint_of(data, places=np.argsort(known.order))[1]
        known.kept["joint"] = Joint.plain(Copula.of(data)) if joint is None else joint
    joint = known.kept["joint"]
    copula, p = joint.copula, len(joint.base)
    values, vectors = np.linalg.eigh(copula.correlation[:p, :p])
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    # The order of a category's levels is known but for its direction: the first code comes before the last.
    ends = [np.nan_to_num(margin.values[[0, -1]], nan=np.inf) for margin in copula.margins[:p]]
    direction = np.array([-1.0 if first > last else 1.0 for first, last in ends])
    shares = np.stack([draws.at(j, lambda share: share) for j in range(len(known.margins))], axis=1)
    scores = np.stack([draws.at(j, ndtri) for j in joint.base], axis=1)
    codes = joint.sample(shares, ndtr((scores * direction) @ root))
    for link in joint.links:
        codes[:, link.j] = snap(known.features[link.j], codes[:, link.j])
    return codes
