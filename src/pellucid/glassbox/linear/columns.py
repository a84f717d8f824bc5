"""How features enter a linear model: the columns of its design matrix.

- a number, a boolean (0 or 1) and a date (in days) are a column; where some are missing in the training rows, the mean stands in
  for them, and a column of its own says that they are;
- a category has a column for every level but the first (the reference); missing is a level where the training rows have any;
- what the training rows do not have (another level, a value that is missing) gets the mean of the columns: it adds what
  the feature adds on average.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data.schema import DAY, Feature
from pellucid.stats import weighted_mean
from pellucid.words import value_name


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of one feature: what they are called, and how they are made.

    ``levels`` are the codes of the levels that have a column, None for a number, whose codes are divided by ``unit``;
    ``missing`` says whether there is a column for missing values, and ``means`` are those over the training rows.
    """

    names: tuple[str, ...]
    levels: FloatArray | None
    unit: float
    missing: bool
    means: FloatArray

    def __call__(self, codes: FloatArray) -> FloatArray:
        """``(n, columns)``."""
        columns = self.raw(codes)
        if len(self.means):
            unknown = np.isnan(codes) & (not self.missing)
            if self.levels is not None:
                unknown |= codes > self.levels.max(initial=0.0)
            columns[unknown] = self.means
        return columns

    def raw(self, codes: FloatArray) -> FloatArray:
        """The same before anything stands in for what is not known; a missing number is the mean."""
        absent = np.isnan(codes)
        parts = []
        if self.levels is not None:
            parts.append((codes[:, None] == self.levels[None, :]).astype(np.float64))
        elif len(self.names):
            parts.append(np.where(absent, self.means[0], codes / self.unit)[:, None])
        if self.missing:
            parts.append(absent[:, None].astype(np.float64))
        return np.hstack(parts) if parts else np.empty((len(codes), 0))


def columns_of(feature: Feature, codes: FloatArray, weights: FloatArray) -> Columns:
    """The columns of a feature, from its training rows."""
    absent = np.isnan(codes)
    missing = bool(absent.any()) and not absent.all()
    if absent.all():
        return Columns((), None, 1.0, False, np.empty(0))
    if feature.categories is None:
        unit = DAY if feature.kind == "date" else 1.0
        mean = float(np.average(codes[~absent] / unit, weights=weights[~absent]))
        means = np.array([mean, float(weights[absent].sum() / weights.sum())][: 1 + missing])
        return Columns((feature.name, *((f"{feature.name}: missing",) * missing)), None, unit, missing, means)
    levels = np.arange(1.0, len(feature.categories))
    names = tuple(f"{feature.name}: {value_name(level)}" for level in feature.categories[1:])
    blank = Columns((*names, *((f"{feature.name}: missing",) * missing)), levels, 1.0, missing, np.empty(0))
    return Columns(blank.names, levels, 1.0, missing, weighted_mean(blank.raw(codes), weights))


def design(columns: Sequence[Columns], codes: FloatArray) -> FloatArray:
    """All columns side by side."""
    return np.hstack([each(codes[:, j]) for j, each in enumerate(columns)])
