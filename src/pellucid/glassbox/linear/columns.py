"""How features enter a linear model: the columns of its design matrix.

- a number, a boolean (0 or 1) and a date (in days) are a column; where some are missing in the training rows, the mean
  stands in for them, and a column of its own says that they are;
- a category has a column for every level but the first (the reference); missing is a level where the training rows have
  any;
- ``transforms``: the logarithm of a number instead of the number, or bins of it (fifths of the training rows), which
  enter as a category does;
- what the training rows do not have (another level, a value that is missing, one without a logarithm) gets the mean of
  the columns: it adds what the feature adds on average. A number beyond the bins is in the outermost.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data.schema import DAY, Feature
from pellucid.errors import InputError
from pellucid.stats import weighted_mean, weighted_quantiles
from pellucid.words import number, value_name

TRANSFORMS = ("log", "bins")
_BINS = 5


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of one feature: what they are called, and how they are made.

    ``levels`` are the codes of the levels that have a column, None for a number, whose codes are divided by ``unit``;
    ``reference`` is the level that has none. ``missing`` says whether there is a column for missing values, and
    ``means`` are those over the training rows. ``transform`` is what is done to a number first, ``edges`` lie between
    its bins.
    """

    names: tuple[str, ...]
    levels: FloatArray | None
    unit: float
    missing: bool
    means: FloatArray
    reference: str = ""
    transform: str | None = None
    edges: FloatArray = field(default_factory=lambda: np.empty(0))

    def __call__(self, codes: FloatArray) -> FloatArray:
        """``(n, columns)``."""
        codes = self.entering(codes)
        columns = self.raw(codes)
        if len(self.means):
            unknown = np.isnan(codes) & (not self.missing)
            if self.levels is not None:
                unknown |= codes > self.levels.max(initial=0.0)
            columns[unknown] = self.means
        return columns

    def entering(self, codes: FloatArray) -> FloatArray:
        """The codes of a number after what is done to it first."""
        if self.transform == "log":
            with np.errstate(divide="ignore", invalid="ignore"):
                found = np.log(codes)
            return np.where(np.isneginf(found), np.nan, found)
        if self.transform == "bins":
            return np.where(np.isnan(codes), np.nan, np.searchsorted(self.edges, codes).astype(np.float64))
        return codes

    def raw(self, codes: FloatArray) -> FloatArray:
        """The columns before anything stands in for what is not known; a missing number is the mean."""
        absent = np.isnan(codes)
        parts = []
        if self.levels is not None:
            parts.append((codes[:, None] == self.levels[None, :]).astype(np.float64))
        elif len(self.names):
            parts.append(np.where(absent, self.means[0], codes / self.unit)[:, None])
        if self.missing:
            parts.append(absent[:, None].astype(np.float64))
        return np.hstack(parts) if parts else np.empty((len(codes), 0))


NOTHING = Columns((), None, 1.0, False, np.empty(0))


def columns_of(feature: Feature, codes: FloatArray, weights: FloatArray, transform: str | None = None) -> Columns:
    """The columns of a feature, from its training rows."""
    absent = np.isnan(codes)
    if absent.all():
        return NOTHING
    if transform == "bins":
        return _binned(feature, codes, weights)
    if feature.categories is not None:
        names = tuple(value_name(level) for level in feature.categories)
        return _levels(feature.name, names, codes, weights)
    missing = bool(absent.any())
    unit = DAY if feature.kind == "date" else 1.0
    name = f"log({feature.name})" if transform == "log" else feature.name
    if transform == "log":
        if (codes[~absent] <= 0).any():
            raise InputError(f"transforms: {feature.name!r} has values of zero or less, which have no logarithm.")
        codes = np.log(codes)
    mean = float(np.average(codes[~absent] / unit, weights=weights[~absent]))
    means = np.array([mean, float(weights[absent].sum() / weights.sum())][: 1 + missing])
    names = (name, *((f"{feature.name}: missing",) * missing))
    return Columns(names, None, unit, missing, means, transform=transform)


def _levels(
    name: str, levels: tuple[str, ...], codes: FloatArray, weights: FloatArray, edges: FloatArray | None = None
) -> Columns:
    """A column for every level but the first."""
    missing = bool(np.isnan(codes).any())
    names = (*(f"{name}: {level}" for level in levels[1:]), *((f"{name}: missing",) * missing))
    transform = None if edges is None else "bins"
    own = np.empty(0) if edges is None else edges
    at = np.arange(1.0, len(levels))
    blank = Columns(names, at, 1.0, missing, np.empty(0), levels[0], transform, own)
    return Columns(names, at, 1.0, missing, weighted_mean(blank.raw(codes), weights), levels[0], transform, own)


def _binned(feature: Feature, codes: FloatArray, weights: FloatArray) -> Columns:
    """Fifths of the training rows; fewer where many rows have the same value."""
    known = ~np.isnan(codes)
    inner = np.arange(1, _BINS) / _BINS
    edges = np.unique(weighted_quantiles(codes[known], inner, weights[known]))
    edges = edges[edges < codes[known].max()]
    bins = np.where(known, np.searchsorted(edges, codes).astype(np.float64), np.nan)
    said = [
        number(float(edge)) if feature.kind != "date" else value_name(feature.decode(np.array([edge]))[0])
        for edge in edges
    ]
    names = tuple(
        f"up to {high}" if not k else f"over {low}" if k == len(edges) else f"{low} to {high}"
        for k, (low, high) in enumerate(zip(["", *said], [*said, ""], strict=True))
    )
    return _levels(feature.name, names if len(edges) else ("any",), bins, weights, edges)
