"""Importance: how much the model relies on each feature."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.errors import InputError, nearest
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.plot_options import ImportanceOptions
from pellucid.explanations.store import stored
from pellucid.words import listed, loss_name, number

_MATTERS = 0.05  # of the largest importance
_SIGNIFICANT = 0.05
_ABOUT = 0.05  # a relative difference that is none
# How a loss is changed; the other measures say what they are by their names.
_WAYS = {
    "permutation": "permutation",
    "conditional": "conditional permutation, given the other features",
    "drop": "drop-column refits",
    "sage": "SAGE",
}


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Importance(Explanation, options=ImportanceOptions):
    """One value per feature (or group), in the order of the columns.

    ``low`` and ``high`` bound a 95% interval, of what ``settings["interval"]`` says (the "population" that the rows are
    a sample of, or "these rows"; docs/intervals.md). ``repeats`` holds the value of every repetition
    ``(features, repeats)``. ``baseline`` is the loss of the model itself and ``joint`` the value when all features are
    permuted together, to be compared with the sum of the values: interactions are counted once there and several times
    in the sum. ``first`` is the part of a feature alone, where the value also counts its interactions (Sobol indices),
    with its standard errors ``first_se``; ``p_values`` test that there is no importance.
    """

    method: str
    measure: str
    compare: str
    low: FloatArray
    high: FloatArray
    repeats: FloatArray
    baseline: float = np.nan
    joint: float = np.nan
    members: tuple[tuple[str, ...], ...] = ()
    first: FloatArray | None = None
    first_se: FloatArray | None = None
    p_values: FloatArray | None = None

    def __getitem__(self, feature: str) -> float | FloatArray:
        """The value of one feature: ``result["age"]``; of several outputs one for each."""
        name = self.header.readable.get(feature, feature)
        if name not in self.feature_names:
            raise InputError(f"there is no feature {feature!r}{nearest(str(feature), self.feature_names)}")
        value = self.values[self.feature_names.index(name)]
        return float(value) if value.ndim == 0 else value

    def __len__(self) -> int:
        return len(self.feature_names)

    def __iter__(self) -> Iterator[str]:
        """Names of the features, the most important first."""
        return iter(self.top(len(self)))

    @property
    def ranking(self) -> IntArray:
        """Positions of the features from most to least important."""
        order = np.argsort(-np.where(np.isnan(self._overall), -np.inf, self._overall), kind="stable")
        return np.asarray(order, dtype=np.intp)

    @property
    def _overall(self) -> FloatArray:
        return self.values if self.values.ndim == 1 else self.values.mean(axis=-1)

    def top(self, n: int) -> list[str]:
        """Names of the ``n`` most important features."""
        return [self.feature_names[j] for j in self.ranking[:n]]

    @property
    def neutral(self) -> float:
        """The value of a feature the model does not use."""
        return 1.0 if self.compare == "ratio" else 0.0

    def columns(self) -> dict[str, AnyArray]:
        order = self.ranking
        names = np.array(self.feature_names, dtype=object)[order]
        parts: dict[str, Any] = {
            "importance": self.values,
            "se": self.se,
            "low": self.low,
            "high": self.high,
            **({} if self.first is None else {"first": self.first}),
            **({} if self.first_se is None else {"first_se": self.first_se}),
            **({} if self.p_values is None else {"p_value": self.p_values}),
        }
        if self.values.ndim == 1:
            return {"feature": names, **{key: part[order] for key, part in parts.items()}}
        outputs = np.repeat(np.array(self.output_names, dtype=object), len(names))
        tidy = {key: part[order].T.ravel() for key, part in parts.items()}
        return {"feature": np.tile(names, len(self.output_names)), "output": outputs, **tidy}

    def findings(self) -> list[str]:
        lines = [
            f"Feature importance by {self.way or self.measure}{f' ({self.measured})' if self.way else ''}."
            f" {self._best()}"
        ]
        idle = [self.feature_names[j] for j in self.ranking if self._indistinct(j)]
        if idle:
            lines.append(f"{listed(idle)} {'has' if len(idle) == 1 else 'have'} no detectable importance.")
        missing = [self.feature_names[int(j)] for j in np.flatnonzero(np.isnan(self._overall))]
        if missing and self.cost.interrupted:
            lines.append(f"Not measured before the interruption: {listed(missing)}.")
        return [
            *lines,
            *in_units(self),
            *self._harmful(),
            *self._sum(),
            *self._alone(),
            *self._tested(),
            *self._about(),
        ]

    def _headline(self) -> str:
        first = [self.feature_names[j] for j in leading(self, 3)]
        rmse = [f" {line}" for line in in_units(self, most=1)]
        return "".join([f"Most important: {listed(first)}.", *rmse]) if first else self._best()

    @property
    def folds(self) -> int:
        """How many folds the models were fitted for; 0 where none was fitted again."""
        return int(self.settings.get("folds", 0))

    @property
    def way(self) -> str:
        """What was done to the features, for measures that watch a loss; empty for the others."""
        way = _WAYS.get(self.method, "")
        return f"{way} in {self.folds} folds" if way and self.folds else way

    @property
    def measured(self) -> str:
        """What the values are."""
        if self.method == "sage":
            return f"reduction in {loss_name(self.measure)}"
        if not self.compares_losses or self.measure == "share of prediction variance":
            return self.measure
        loss = loss_name(self.measure)
        return f"{loss} after / before" if self.compare == "ratio" else f"increase in {loss}"

    def _best(self) -> str:
        """The features that matter most."""
        overall = self._overall
        if not np.isfinite(overall).any():
            return "No importance could be computed."
        said = [f"{self.feature_names[j]} ({number(float(overall[j]))})" for j in leading(self, 3)]
        return f"Most important: {listed(said)}." if said else "No feature is important."

    def _harmful(self) -> list[str]:
        """Features that the model would do better without."""
        if self.method not in _WAYS or self.values.ndim > 1:
            return []
        harm = [self.feature_names[j] for j in self.ranking if self.high[j] < self.neutral]
        if not harm:
            return []
        return [
            f"The loss is smaller without {listed(harm)}: what the model learned from"
            f" {'it' if len(harm) == 1 else 'them'} does not hold on these rows."
        ]

    def _sum(self) -> list[str]:
        """The sum of the values beside what permuting everything gives, and why they differ."""
        if not (np.isfinite(self.joint) and self.compare == "difference" and self.method == "permutation"):
            return []
        total = float(np.sum(self.values))
        if np.isnan(total) or len(self.values) < 2 or max(abs(total), abs(self.joint)) == 0.0:
            return []
        if abs(total - self.joint) <= _ABOUT * abs(self.joint):
            why = "about the same"
        else:
            why = "importances need not add up where features interact or are correlated"
        return [
            f"The values add up to {number(total)}; permuting all features together gives {number(self.joint)}: {why}."
        ]

    @property
    def compares_losses(self) -> bool:
        """Whether the values are losses after a change compared with the loss before."""
        return self.method in ("permutation", "conditional", "drop")

    def _alone(self) -> list[str]:
        """Features of which most is in interactions."""
        if self.first is None:
            return []
        alone = self.first if self.first.ndim == 1 else self.first.mean(axis=-1)
        through = [
            self.feature_names[j]
            for j in self.ranking
            if self._overall[j] >= _MATTERS * np.nanmax(self._overall) and alone[j] < self._overall[j] / 2
        ]
        verb = "acts" if len(through) == 1 else "act"
        return [f"{listed(through)} {verb} mostly through interactions with other features."] if through else []

    def _tested(self) -> list[str]:
        """What the p-values say."""
        if self.p_values is None:
            return []
        p = _smallest_p(self.p_values)
        sure = [self.feature_names[j] for j in self.ranking if p[j] < _SIGNIFICANT]
        refits = int(self.settings.get("p_values", 0))
        if refits and 1 / (1 + refits) >= _SIGNIFICANT:
            return [
                f"With {refits} refits no p-value can be below {number(1 / (1 + refits))}: too few to tell importance"
                " from chance."
            ]
        if not sure:
            return [f"No feature has a p-value below {_SIGNIFICANT}: all of this may be chance."]
        rest = "" if len(sure) == len(p) else "; the others may be chance"
        return [f"Significant (p < {_SIGNIFICANT}): {listed(sure)}{rest}."]

    def _about(self) -> list[str]:
        """What the intervals are about: other rows like these, or these alone."""
        said = {
            "population": "The 95% intervals are for the population that these rows are a sample of.",
            "these rows": "The 95% intervals are for these rows alone; other rows would give other values.",
        }
        about = said.get(str(self.settings.get("interval")))
        return [about] if about and np.isfinite(self.se).any() else []

    def _indistinct(self, j: int) -> bool:
        low, high = np.atleast_1d(self.low[j]), np.atleast_1d(self.high[j])
        return bool(np.all((low <= self.neutral) & (high >= self.neutral)))


def leading(importance: Importance, n: int) -> list[int]:
    """Positions of at most ``n`` features, the most important first, that can be told from no importance: their
    interval is above it, and where there are p-values that could tell, these do.
    """
    refits = int(importance.settings.get("p_values", 0))
    tested = importance.p_values is not None and not (refits and 1 / (1 + refits) >= _SIGNIFICANT)
    p = _smallest_p(importance.p_values) if tested and importance.p_values is not None else None
    return [
        int(j)
        for j in importance.ranking
        if importance._overall[j] > importance.neutral
        and not importance._indistinct(j)
        and (p is None or p[j] < _SIGNIFICANT)
    ][:n]


def _smallest_p(p_values: FloatArray) -> FloatArray:
    return p_values if p_values.ndim == 1 else p_values.min(axis=-1)


def in_units(found: Importance, most: int = 3) -> list[str]:
    """A squared loss in the units of the outcome."""
    best = leading(found, most)
    if found.measure != "mse" or not found.compares_losses or found.values.ndim > 1 or not best or found.folds:
        return []
    after = found.baseline * found.values if found.compare == "ratio" else found.baseline + found.values
    if not np.isfinite(after[best]).all():
        return []
    how = "refitted without {}" if found.method == "drop" else "with {} permuted"
    said = [f"{number(float(np.sqrt(max(after[j], 0.0))))} {how.format(found.feature_names[j])}" for j in best]
    return [f"As RMSE: {number(float(np.sqrt(found.baseline)))} for the model, {listed(said)}."]
