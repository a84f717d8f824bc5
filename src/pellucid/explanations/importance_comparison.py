"""Several measures of importance side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.checks import whole
from pellucid.errors import InputError, nearest
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.importance import Importance
from pellucid.explanations.plot_options import ComparisonOptions
from pellucid.explanations.store import stored
from pellucid.words import listed, number

# Measures in squared units of the prediction, or nearly so: their roots compare with mean absolute contributions.
_SQUARED_LOSSES = ("mse", "1-r2", "brier", "log_loss", "share of prediction variance")
_SQUARED_METHODS = ("sobol", "anova", "shapley-effects")
_SAME = 0.005  # of Kendall's tau
_ROUNDING = 1e-9  # of the largest value; smaller differences are ties


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class ImportanceComparison(Explanation, options=ComparisonOptions):
    """Values ``(features, methods)`` as each method gives them, and the single results, `parts`.

    `shares` puts them on one scale, `ranks` in order; `agreement` and `overlap` compare the methods with each other.
    """

    methods: tuple[str, ...]
    parts: tuple[Importance, ...]

    def of(self, method: str) -> Importance:
        """The result of one method."""
        if method not in self.methods:
            raise InputError(f"{method!r} was not compared{nearest(str(method), self.methods)}")
        return self.parts[self.methods.index(method)]

    @property
    def excess(self) -> FloatArray:
        """Values above that of a feature the model does not use, ``(features, methods)``; never negative."""
        neutral = np.array([part.neutral for part in self.parts])
        return np.maximum(self.values - neutral, 0.0)

    @property
    def shares(self) -> FloatArray:
        """Each method's values as shares of their sum; of measures in squared units, the roots (``squared``)."""
        size = np.where(self.squared, np.sqrt(self.excess), self.excess)
        total = np.nansum(size, axis=0)
        return np.asarray(size / np.where(total > 0, total, 1.0))

    @property
    def squared(self) -> AnyArray:
        """Which methods measure in squared units of the prediction, so that `shares` takes roots."""
        return np.array([part.method in _SQUARED_METHODS or part.measure in _SQUARED_LOSSES for part in self.parts])

    @property
    def ranks(self) -> FloatArray:
        """Rank of each feature by each method, 1 for the most important; ties share their mean rank."""
        from scipy.stats import rankdata

        return np.stack([rankdata(-_tied(column), nan_policy="omit") for column in self.values.T], axis=1)

    @property
    def agreement(self) -> FloatArray:
        """Kendall's tau-b between the orders of two methods, ``(methods, methods)``; NaN where all features tie."""
        signs = [_signs(_tied(column)) for column in self.values.T]
        matrix = np.full((len(signs), len(signs)), np.nan)
        for a, one in enumerate(signs):
            for b, other in enumerate(signs):
                both = np.sqrt((one**2).sum() * (other**2).sum())
                matrix[a, b] = (one * other).sum() / both if both > 0 else np.nan
        return matrix

    def overlap(self, k: int = 3) -> FloatArray:
        """Share of the ``k`` most important features that two methods have in common, ``(methods, methods)``."""
        k = whole("k", k)
        best = [set(part.top(k)) for part in self.parts]
        return np.array([[len(a & b) / max(len(a), 1) for b in best] for a in best])

    @property
    def order(self) -> list[int]:
        """Positions of the features by their mean share, the largest first."""
        return [int(j) for j in np.argsort(-np.nan_to_num(self.shares).mean(axis=1), kind="stable")]

    def columns(self) -> dict[str, AnyArray]:
        order, m = self.order, len(self.methods)
        names = np.array(self.feature_names, dtype=object)[order]
        return {
            "feature": np.repeat(names, m),
            "method": np.tile(np.array(self.methods, dtype=object), len(names)),
            "importance": self.values[order].ravel(),
            "se": self.se[order].ravel(),
            "share": self.shares[order].ravel(),
            "rank": self.ranks[order].ravel(),
        }

    def findings(self) -> list[str]:
        return [*self._first_words(), *self._agreement_words()]

    def _first_words(self) -> list[str]:
        """What is most important by each method that finds anything important."""
        some = [bool((column > 0).any()) for column in self.excess.T]
        finding = [part for part, found in zip(self.parts, some, strict=True) if found]
        others = [method for method, found in zip(self.methods, some, strict=True) if not found]
        none = f"{listed(others, 9)} find{'s' if len(others) == 1 else ''} no feature important."
        if not finding:
            return [none]
        first = {part.top(1)[0] for part in finding}
        if len(first) == 1 and len(finding) > 1:
            found = (
                f"{listed([part.method for part in finding], 9)} {'all' if len(finding) > 2 else 'both'} find"
                f" {first.pop()} most important."
            )
        else:
            said = [f"{part.method}: {listed(part.top(3))}" for part in finding]
            found = f"Most important by {'; by '.join(said)}."
        return [found, none] if others else [found]

    def _agreement_words(self) -> list[str]:
        """The pairs of methods that agree most and least."""
        tau = self.agreement
        pairs = [(float(tau[a, b]), a, b) for a in range(len(tau)) for b in range(a)]
        known = sorted(pair for pair in pairs if np.isfinite(pair[0]))
        if not known:
            return ["The rankings cannot be compared: a method finds no feature more important than another."]
        worst, best = known[0], known[-1]
        names = [f"{self.methods[b]} and {self.methods[a]}" for _, a, b in (best, worst)]
        lines = [f"The rankings by {names[0]} {_strength(best[0])} (Kendall's tau {number(best[0])})."]
        if len(known) > 1 and best[0] - worst[0] < _SAME:
            return [f"All rankings {_strength(worst[0])} (Kendall's tau {number(worst[0])})."]
        if len(known) > 1:
            lines[0] = lines[0][:-1] + f", those by {names[1]} {_strength(worst[0])} ({number(worst[0])})."
        return lines


def _strength(tau: float) -> str:
    if tau >= 0.8:
        return "agree"
    if tau >= 0.5:
        return "agree in part"
    return "hardly agree" if tau >= 0 else "contradict each other"


def _tied(column: FloatArray) -> FloatArray:
    """Values rounded so that differences of the size of rounding errors are ties."""
    largest = float(np.nanmax(np.abs(column), initial=0.0))
    return np.round(column / (largest * _ROUNDING)) * _ROUNDING if largest > 0 else column


def _signs(column: FloatArray) -> FloatArray:
    """Sign of the difference of every pair of features; 0 for ties and for what is not known."""
    return np.nan_to_num(np.sign(column[:, None] - column[None, :]))
