"""How sure a permutation importance is, for the population that the rows are a sample of.

Reference. Hoeffding 1948; Fisher, Rudin and Dominici 2019 (permutation importance is a U-statistic).

Definition. Write the loss of row i with the value of row k as ``L(i, k) = mean + a_i + b_k + c_ik``, and its loss
before as l_i. Every row enters twice, as a row (a_i) and as the donor of its value (b_i), so the variance of the
importance over samples is

    Var(a_i + b_i - l_i) / n  +  Var(c_ik) / (n R),

with R repeats. More repeats shrink the second part alone. A standard error over rows leaves b out, and is too sure.

Estimator. Each repeat gives every row a number for both roles, which has chance in it: what it was paired with. That
chance is independent from repeat to repeat, so that Var(a + b - l), Var(a) and Var(b) are the variances of the means
over repeats less what chance adds to them, and Var(c) is what is left of the variance of L(i, k). For all pairs, a and
b are known. A loss that is no mean over rows is taken by the influence of each row (`Loss.influence`; placement values
for the AUC), one of one's own by leaving out groups of rows in both roles (jackknife). Intervals are corrected for
skewness (`stats.skewed_interval`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.errors import InputError
from pellucid.methods.importance.estimation.loss_change import Compare, Setting, mean_loss, of_the_variance, relative
from pellucid.stats import effective_size, skewed_interval, skewness, weighted_mean

POPULATION, THESE_ROWS = "population", "these rows"
_FEW = 10  # rows that may carry an importance
_GROUPS = 20  # of rows that the jackknife leaves out


@dataclass(frozen=True, eq=False)
class Before:
    """The model's own loss: the influence of each row, or the loss without each group of rows."""

    setting: Setting
    compare: Compare
    groups: IntArray
    influence: FloatArray | None
    left_out: FloatArray | None

    @classmethod
    def of(cls, setting: Setting, compare: Compare) -> Self:
        """``compare`` is how the loss after will be compared with it."""
        groups = np.arange(len(setting.y)) % min(_GROUPS, len(setting.y))
        if setting.loss.influence is None:
            return cls(setting, compare, groups, None, _left_out(setting, setting.prediction, groups, groups))
        influence = setting.loss.influence(setting.y, setting.prediction, setting.weights)
        return cls(setting, compare, groups, influence, None)

    def ratio(self, after: float) -> tuple[float, float]:
        """What the loss before is multiplied by, and the whole divided by, where errors are concerned."""
        baseline = self.setting.baseline or np.nan  # of 0 there is no ratio, which is refused in its place
        return (after / baseline, baseline) if self.compare == "ratio" else (1.0, 1.0)


@dataclass(frozen=True, eq=False)
class Permuted:
    """The loss ``mean`` with one player permuted, and its importance: each repeat, standard error, 95% interval.

    ``about`` is what the interval is about: the population, or these rows, where only the repeats are known.
    ``carried`` is the share of the increase that the ten rows with the largest have, NaN where rows have none.
    """

    mean: float
    value: float
    repeats: FloatArray
    se: float
    low: float
    high: float
    about: str
    carried: float = np.nan

    @classmethod
    def of(cls, before: Before, losses: FloatArray, se: float, skew: float, size: float, about: str) -> Self:
        """From the loss of every repeat, NaN where it was not reached."""
        repeats = np.array([relative(float(r), before.setting.baseline, before.compare) for r in losses])
        known = np.isfinite(repeats)
        value, mean = (float(repeats[known].mean()), float(losses[known].mean())) if known.any() else (np.nan, np.nan)
        low, high = skewed_interval(np.array(value), np.array(se), np.array(skew), size)
        return cls(mean, value, repeats, se, float(low), float(high), about)


def permuted_losses(before: Before, donors: IntArray, predictions: Iterable[FloatArray], pairing: int) -> Permuted:
    """Loss of every repeat, and whom it depends on; a repeat that was not reached (NaN) stays unknown.

    ``pairing`` is 2 where rows are paired with each other (halves), so that c_ik and c_ki come together.
    """
    setting = before.setting
    losses, roles, left = [], _Roles(setting.weights), []
    for prediction, donor in zip(predictions, donors, strict=True):
        if np.isnan(prediction).any():
            losses.append(np.nan)
        elif setting.loss.influence is None:
            losses.append(setting.loss(setting.y, prediction, setting.weights))
            left.append(_left_out(setting, prediction, before.groups, before.groups[donor]))
        else:
            influence = setting.loss.influence(setting.y, prediction, setting.weights)
            rows = setting.loss.rows is not None
            losses.append(
                mean_loss(influence, setting.weights) if rows else setting.loss(setting.y, prediction, setting.weights)
            )
            roles.add(influence, donor)
    after = np.array(losses)
    if before.influence is not None and roles.repeats:
        found = _by_influence(before, after, roles.both, roles.chance(pairing))
        return replace(found, carried=_carried(roles.as_row - before.influence, setting.weights))
    return _by_groups(before, after, np.array(left))


def paired_losses(before: Before, losses: FloatArray, rows: FloatArray, donors: FloatArray) -> Permuted:
    """All pairs: the losses, and each row's mean as a row and as a donor."""
    divided = float(losses.mean()) * of_the_variance(before.setting)
    return _by_influence(before, losses, rows + donors - divided, 0.0)


class _Roles:
    """The influence of every row as row and as donor, repeat by repeat: means, and what chance adds to variances."""

    def __init__(self, weights: FloatArray) -> None:
        self._weights, self._plain = weights, bool((weights == weights[0]).all())
        self._sums = np.zeros((2, len(weights)))  # as row, as donor
        self._given = np.zeros(len(weights))
        self._within = np.zeros(3)  # variances of single repeats: as row, as donor, both
        self.repeats = 0

    def add(self, influence: FloatArray, donor: IntArray) -> None:
        n = len(influence)
        given = np.bincount(donor, weights=self._weights, minlength=n)
        parts = np.stack([influence, np.bincount(donor, weights=self._weights * influence, minlength=n)])
        if self._plain:
            parts[1] = np.where(given > 0, parts[1] / np.maximum(given, 1e-300), influence.mean())
            self._within += [*parts.var(axis=1), parts.sum(axis=0).var()]
        self._sums += parts
        self._given += given
        self.repeats += 1

    @property
    def both(self) -> FloatArray:
        """Mean over repeats of a row's influence in both roles."""
        if self._plain:
            return np.asarray(self._sums.sum(axis=0) / self.repeats)
        mean = float(weighted_mean(self._sums[0], self._weights)) / self.repeats
        donor = np.where(self._given > 0, self._sums[1] / np.maximum(self._given, 1e-300), mean)
        return np.asarray(self._sums[0] / self.repeats + donor)

    @property
    def as_row(self) -> FloatArray:
        """Mean over repeats of a row's influence as a row."""
        return np.asarray(self._sums[0] / self.repeats)

    def chance(self, pairing: int) -> float:
        """What to add to the variance of `both` to have n times the variance of the importance: what chance adds to
        it, taken off, and the part of c. With one repeat, or weights, nothing: the variance is then too large.
        """
        if not self._plain or self.repeats < 2:
            return 0.0
        means = np.vstack([self._sums, self._sums.sum(axis=0)]) / self.repeats
        within, of_means = self._within / self.repeats, means.var(axis=1)
        added = (within - of_means) / (self.repeats - 1)
        left = max(within[0] - (of_means - added)[:2].sum(), 0.0)
        return float(pairing * left / self.repeats - added[2])


def _by_influence(before: Before, losses: FloatArray, both: FloatArray, chance: float) -> Permuted:
    """The variance of the importance is that of the mean influence in both roles, less that on the loss before."""
    known = losses[np.isfinite(losses)]
    weights = before.setting.weights
    ratio, scale = before.ratio(float(known.mean()) if known.size else np.nan)
    moved = both - ratio * np.asarray(before.influence)
    moved = moved - weighted_mean(moved, weights)
    size = effective_size(weights)
    spread = float(weighted_mean(np.square(moved), weights))
    # Chance taken off may leave next to nothing of few rows: no less than half is believed.
    variance = max(spread + chance, spread / 2)
    se = float(np.sqrt(variance / (size - 1)) / scale) if size > 1 else np.nan
    return Permuted.of(before, losses, se, float(skewness(moved, weights)), size, POPULATION)


def _carried(increase: FloatArray, weights: FloatArray) -> float:
    """The share of ten rows in the sum of what rows increase the loss by."""
    each = np.sort(np.maximum(increase, 0.0) * weights)
    total = float(each.sum())
    return float(each[-_FEW:].sum() / total) if total > 0 and len(each) > _FEW else np.nan


def _by_groups(before: Before, losses: FloatArray, left: FloatArray) -> Permuted:
    """The jackknife over groups of rows, or, where the loss of some rows is not to be had, the spread over repeats."""
    known = losses[np.isfinite(losses)]
    ratio, scale = before.ratio(float(known.mean()) if known.size else np.nan)
    if len(left) and before.left_out is not None:
        parts = (left.mean(axis=0) - ratio * before.left_out) / scale
        if np.isfinite(parts).all() and len(parts) > 2:
            se = float(np.sqrt((len(parts) - 1) * parts.var()))
            return Permuted.of(before, losses, se, 0.0, len(parts), POPULATION)
    se = float(known.std(ddof=1) / np.sqrt(known.size)) / scale if known.size > 1 else np.nan
    return Permuted.of(before, losses, se, 0.0, known.size, THESE_ROWS)


def _left_out(setting: Setting, prediction: FloatArray, row: IntArray, donor: IntArray) -> FloatArray:
    """The loss without each group of rows, in both roles; NaN where too little is left for it."""
    found = np.full(int(row.max()) + 1, np.nan)
    for g in range(len(found)):
        kept = (row != g) & (donor != g)
        if kept.any():
            try:
                found[g] = setting.loss(setting.y[kept], prediction[kept], setting.weights[kept])
            except (InputError, ValueError, ZeroDivisionError, FloatingPointError):
                continue  # such as one class only
    return found
