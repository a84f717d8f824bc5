"""Influence: which training rows shaped the model, its predictions or its errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray, freeze
from pellucid.checks import whole
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.plot_options import InfluenceOptions
from pellucid.explanations.store import stored


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Checked:
    """What really fitting again gave for a few training rows: the strongest, then random ones.

    ``shown`` is the strength that the result shows for ``units``, ``refitted`` that by fitting again; ``gap`` is the
    sum of differences over the strongest, as a share of the latter, ``correlation`` that of signed values over all.
    ``jolt`` is the median strength of ``jolt_rows`` random rows: how much leaving out any row moves what is asked.
    """

    units: IntArray
    shown: FloatArray
    refitted: FloatArray
    gap: float
    correlation: float
    jolt: float
    jolt_rows: int

    def __post_init__(self) -> None:
        freeze(self)

    @classmethod
    def nothing(cls) -> Self:
        """Where the result is exact, or nothing could be fitted again."""
        return cls.of_jolt(float("nan"), 0)

    @classmethod
    def of_jolt(cls, jolt: float, rows: int) -> Self:
        """Where all is fitted again, and some of it at random."""
        nan, none = float("nan"), np.empty(0)
        return cls(
            units=np.empty(0, dtype=np.int64),
            shown=none,
            refitted=none,
            gap=nan,
            correlation=nan,
            jolt=jolt,
            jolt_rows=rows,
        )


@stored
@dataclass(frozen=True, kw_only=True)
class Pattern:
    """What influential rows have in common: ``conditions`` (empty: nothing), the share of ``rows`` that meet them, and
    the share of these that are among the ``strongest`` tenth.
    """

    conditions: str = ""
    rows: float = 0.0
    strongest: float = 0.0


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Influence(Explanation, options=InfluenceOptions):
    """What each training row (or set of rows) adds by being there: *with minus without*.

    `values` have one line per training row: for the predictions of ``rows`` one column for each (and a last axis for
    several outputs), else the mean absolute change of predictions; for ``on="parameters"`` one column per coefficient
    (DFBETA); for a loss, Cook's distance or a number of your own a single one. NaN: that row was not tried.

    ``targets`` names the columns, ``present`` has what they are with all rows; ``strength`` is what rows are ranked by
    (mean absolute change; of coefficients the largest in standard errors, which ``errors`` holds). ``leverage`` and
    ``residual`` are those of the training rows where known. ``how`` says what kind of models without a row these are:
    "closed form" (exact), "Newton steps", "trees kept" (only leaf values are fitted again), "influence function" (of a
    network) or "refits". `checked` has what refitting a few gave, `pattern` what influential rows have in common.
    """

    method: str
    on: str
    how: str
    targets: tuple[str, ...]
    strength: FloatArray
    present: FloatArray
    errors: FloatArray
    leverage: FloatArray
    residual: FloatArray
    checked: Checked
    pattern: Pattern = Pattern()

    def __len__(self) -> int:
        return len(self.strength)

    def ranking(self, n: int | None = None) -> IntArray:
        """Places of the training rows, the most influential first; rows that were not tried are left out."""
        known = np.flatnonzero(np.isfinite(self.strength))
        order = known[np.argsort(-self.strength[known], kind="stable")]
        return order if n is None else order[: whole("n", n)]

    def share(self, n: int = 10) -> float:
        """The share of all influence that the ``n`` most influential rows have."""
        total = float(np.nansum(self.strength))
        return float(self.strength[self.ranking(n)].sum() / total) if total > 0 else 0.0

    def name(self, place: int) -> str:
        """What a training row is called."""
        word = "row " if self.settings.get("together") is None else ""
        return f"{word}{self.row_labels.name(int(place))}"

    def columns(self) -> dict[str, AnyArray]:
        """One line per training row, the most influential first, and per target: ``row``, ``influence``, ``strength``,
        and ``leverage`` and ``residual`` where known.
        """
        order = self.ranking()
        outputs = self.values.shape[2] if self.values.ndim == 3 else 1
        wide = self.values.reshape(len(self.values), -1)[order]
        times = wide.shape[1]
        labels = self.row_labels.column_of(len(self))
        known: dict[str, AnyArray] = {"row": np.repeat(labels[order], times)}
        if self.targets:
            names = np.repeat(np.array(self.targets, dtype=object), outputs)
            known["target"] = np.tile(names, len(order))
        if times > max(len(self.targets), 1) or (outputs > 1):
            known["output"] = np.tile(np.array(self.output_names, dtype=object), times * len(order) // outputs_of(self))
        known |= {"influence": wide.ravel(), "strength": np.repeat(self.strength[order], times)}
        for part in ("leverage", "residual"):
            array = getattr(self, part)
            if len(array) == len(self):
                known[part] = np.repeat(array[order], times)
        return known

    def findings(self) -> list[str]:
        from pellucid.explanations.influence_words import findings

        return findings(self)


def outputs_of(found: Influence) -> int:
    """How many outputs the values have."""
    if found.on == "predictions" and found.method != "cook":
        return len(found.output_names)
    return 1
