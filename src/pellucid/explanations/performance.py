"""Performance: how good the predictions are, measured against the outcome."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, freeze
from pellucid.errors import InputError
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.plot_options import PerformanceOptions
from pellucid.explanations.store import stored
from pellucid.stats import interval


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Ranking:
    """One class against all others: what happens if every row with at least a threshold is flagged as of this class.

    One line of the arrays for each threshold, the highest first, beginning above all predictions: ``flagged`` is the
    share of rows at or above it, ``precision`` the share of these that are of the class, ``recall`` the share of the
    class that is flagged, ``false_alarms`` (false positive rate) the share of the others that is. ROC is recall over
    false alarms, precision-recall is precision over recall. Not every threshold is kept, but those in force at 0.01,
    0.02, ..., 0.99 are; areas are computed from all.
    """

    name: str
    share: float
    auc: float
    auc_se: float
    average_precision: float
    thresholds: FloatArray
    flagged: FloatArray
    precision: FloatArray
    recall: FloatArray
    false_alarms: FloatArray

    def __post_init__(self) -> None:
        freeze(self)

    def at(self, threshold: float) -> dict[str, float]:
        """Precision, recall, false alarms and the share flagged if rows of at least ``threshold`` are flagged."""
        k = max(int(np.searchsorted(-self.thresholds, -threshold, side="right")) - 1, 0)
        names = ("precision", "recall", "false_alarms", "flagged")
        return {name: float(getattr(self, name)[k]) for name in names}


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Bins:
    """Rows in bins of equal weight, from low to high predictions: their mean ``predicted`` and ``observed`` values.

    ``low`` and ``high`` are the 95% interval of ``observed`` (for a class Wilson's), ``se`` its standard error;
    ``tenth`` and ``ninetieth`` are percentiles of the residuals (outcome minus prediction), for numbers; ``rows`` is
    the weight.
    """

    predicted: FloatArray
    observed: FloatArray
    se: FloatArray
    low: FloatArray
    high: FloatArray
    rows: FloatArray
    tenth: FloatArray
    ninetieth: FloatArray

    def __post_init__(self) -> None:
        freeze(self)


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Performance(Explanation, options=PerformanceOptions):
    """How good the predictions are: ``measures`` with their `values`, those of the best ``constant`` prediction beside
    them, and what the charts show.

    ``bins`` (one per output) compare predictions with outcomes; a classifier also has ``rankings`` (one per explained
    class) and ``confusion``, the weight of the rows of each true class (lines) by predicted class (columns); a
    regression has ``actual`` and ``predicted`` for some ``rows``, and ``off``, the median and the 90th percentile of
    the absolute residuals per output. ``noun`` is what is predicted for: a row, a text or an image.
    """

    measures: tuple[str, ...]
    constant: FloatArray
    classes: tuple[str, ...]
    confusion: FloatArray
    rankings: tuple[Ranking, ...]
    bins: tuple[Bins, ...]
    actual: FloatArray
    predicted: FloatArray
    off: FloatArray
    noun: str = "row"

    @property
    def is_regression(self) -> bool:
        """Whether numbers are predicted rather than classes."""
        return not self.classes

    def value(self, measure: str) -> float:
        """The model's value of a measure, such as "AUC"."""
        return float(self.values[self._place(measure)])

    def interval(self, measure: str) -> tuple[float, float]:
        """The 95% interval of a measure; NaN where its error is unknown."""
        k = self._place(measure)
        within = (-np.inf, 1.0) if measure == "R²" else (0.0, 1.0 if measure in ("AUC", "error rate") else np.inf)
        low, high = interval(self.values[k], self.se[k], least=within[0], most=within[1])
        return float(low), float(high)

    def ranking(self, name: str | None = None) -> Ranking:
        """That of a class; of the only one, or of the first, without a name."""
        known = {ranking.name: ranking for ranking in self.rankings}
        if not known:
            raise InputError("there is no ranking: the model predicts numbers, not classes.")
        if name is not None and name not in known:
            raise InputError(f"name must be one of {', '.join(known)}, got {name!r}.")
        return self.rankings[0] if name is None else known[name]

    def _place(self, measure: str) -> int:
        if measure not in self.measures:
            raise InputError(f"measure must be one of {', '.join(self.measures)}, got {measure!r}.")
        return self.measures.index(measure)

    def columns(self) -> dict[str, AnyArray]:
        """One line per measure: that of the model with its standard error, and that of the best constant."""
        return {
            "measure": np.array(self.measures, dtype=object),
            "model": self.values,
            "se": self.se,
            "constant": self.constant,
        }

    def findings(self) -> list[str]:
        from pellucid.explanations.performance_words import findings

        return findings(self)
