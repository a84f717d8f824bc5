"""Effect: how predictions change with one, two or three features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.errors import InputError
from pellucid.explanations import effect_words
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.interpolation import interpolated
from pellucid.explanations.plot_options import EffectOptions
from pellucid.explanations.store import stored
from pellucid.words import listed

TITLES = {
    "pdp": "Partial dependence",
    "ice": "Individual conditional expectation",
    "ale": "Accumulated local effect",
    "mplot": "Marginal plot",
    "term": "Shape function",
}


@stored
@dataclass(frozen=True, eq=False)
class AtMissing:
    """The effect where the feature is missing, and how often it is."""

    values: FloatArray
    se: FloatArray
    share: float


@stored
@dataclass(frozen=True, eq=False)
class Colouring:
    """For each individual curve the value of the feature that best explains why the curves differ."""

    feature: str
    values: AnyArray
    explained: float


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Effect(Explanation, options=EffectOptions):
    """Result of `pdp`, `ice`, `ale` and `mplot`, and the term of a feature in a glass box.

    ``grids`` has one array of feature values per feature. ``values`` has the shape of the grid, with rows first for
    individual curves and outputs last if there are several. ``average`` is the average curve (``values`` itself
    unless the result is individual), ``low`` and ``high`` the ends of its 95% intervals, which reach farther on the
    side of a long tail; individual curves have none. ``interaction`` is the share of the curves' movement that is not
    common to all rows: 0 when all run in parallel (PDP and ICE of one feature). ``counts`` says how many rows of data
    lie at each grid point (PDP, ICE, M-plot) or in each bin or cell (ALE). ``spread`` is the standard deviation, over
    rows, of what was averaged at each grid point or in each bin. ``ranges``, of an M-plot in bins, has the least and
    the greatest value of the rows behind each point, which itself is their mean and need not occur.
    """

    method: str
    kinds: tuple[str, ...]
    grids: tuple[AnyArray, ...]
    average: FloatArray
    low: FloatArray
    high: FloatArray
    counts: FloatArray
    spread: FloatArray
    rug: tuple[AnyArray, ...]
    shape: tuple[str, ...]
    level: FloatArray  # the mean prediction where it is part of the result, else NaN
    missing: AtMissing | None = None
    individual: bool = False
    derivative: bool = False
    rows: IntArray | None = None
    colouring: Colouring | None = None
    interaction: float = np.nan
    ranges: AnyArray | None = None

    @property
    def grid(self) -> Any:
        """Feature values: one array, or one array per feature if there are several."""
        return self.grids[0] if len(self.grids) == 1 else self.grids

    @property
    def nominal(self) -> tuple[bool, ...]:
        """Per feature whether its grid consists of levels rather than points on a line."""
        return tuple(kind in ("categorical", "ordered", "boolean") for kind in self.kinds)

    def value(self, *at: Any) -> FloatArray | float:
        """The average effect at given feature values; between grid points it is interpolated.

        For ALE this is the read-out: -2 at ``value(3)`` means that a value of 3 lowers the prediction by 2
        compared with the average prediction.
        """
        if len(at) != len(self.grids):
            raise InputError(f"give {len(self.grids)} values, one for each of {', '.join(self.feature_names)}.")
        values = interpolated(self, self.stacked("average"), [[point] for point in at])[0]
        return float(values[0]) if values.size == 1 else values

    # -- table ---------------------------------------------------------------------------------------

    def columns(self) -> dict[str, AnyArray]:
        values, errors = self.stacked(), self.stacked("se")
        grid = np.meshgrid(*(np.arange(len(points)) for points in self.grids), indexing="ij")
        n_rows = values.shape[0] if self.individual else 1
        size = grid[0].size
        table: dict[str, AnyArray] = {}
        if self.individual:
            table["row"] = np.tile(np.repeat(self.row_labels.column_of(n_rows), size), len(self.output_names))
        for name, points, index in zip(self.feature_names, self.grids, grid, strict=True):
            table[name] = np.tile(points[index.ravel()], n_rows * len(self.output_names))
        if self.ranges is not None:
            for end, ends in zip(("from", "to"), self.ranges.T, strict=True):
                table[f"{self.feature_names[0]} ({end})"] = np.tile(ends, len(self.output_names))
        if len(self.output_names) > 1:
            table["output"] = np.repeat(np.array(self.output_names, dtype=object), n_rows * size)
        parts = {"value": values, "se": errors, "low": self.stacked("low"), "high": self.stacked("high")}
        return table | {name: np.moveaxis(part, -1, 0).ravel() for name, part in parts.items()}

    # -- words ---------------------------------------------------------------------------------------

    @property
    def heading(self) -> str:
        """What is shown, of which features and on which scale."""
        one_class = len(self.output_names) == 1 and self.scale in ("probability", "log-odds")
        scale = f"{self.scale} of {self.output_names[0]}" if one_class else self.scale
        return f"{TITLES[self.method]} of {listed(self.feature_names)} ({scale})"

    def findings(self) -> list[str]:
        return effect_words.findings(self)

    def _headline(self) -> str:
        return effect_words.headline(self)
