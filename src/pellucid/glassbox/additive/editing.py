"""Editing a fitted additive model by hand: remove, smooth or replace a function, and see what it costs.

Definition. Removing a term sets it to zero. Smoothing solves min_g sum_k m_k (g_k - f_k)^2 + s sum_k (g_{k+1} - g_k)^2,
with m the share of rows at each knot and s such that the smoother has so many degrees of freedom. Replacing takes the
values that are given. The mean of the term goes to the intercept, so that predictions stay right on average; its band
goes with it (none where a person has set the values). The cost is the mean deviance of given rows, after less before:
the mean squared error of a gaussian model, twice the log loss of classes.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq

from pellucid.arrays import FloatArray
from pellucid.checks import bounded, flag, is_number
from pellucid.errors import InputError
from pellucid.glassbox.additive.families import FAMILIES
from pellucid.glassbox.sum_of_terms import SumOfTerms


@dataclass(frozen=True)
class Edit:
    """One change of one term: what was done, and the mean deviance before and after (NaN where no rows were given)."""

    term: str
    change: str
    before: float
    after: float

    @property
    def cost(self) -> float:
        """By how much the mean deviance grew."""
        return self.after - self.before


class Editing(SumOfTerms):
    """What an additive model can be changed by."""

    edits_: tuple[Edit, ...]
    _fitted: Any
    _added: dict[int, bool]
    _shapes: dict[int, tuple[int, int]]

    def edit(
        self,
        term: Any,
        *,
        remove: bool = False,
        smooth: float | None = None,
        values: Mapping[Any, float] | Callable[[Any], Any] | None = None,
        X: Any = None,
        y: Any = None,
    ) -> Self:
        """A copy of the model with one term changed.

        ``term`` is a feature, or a pair, which can only be removed. ``smooth`` is how many degrees of freedom its
        function may keep. ``values`` are values of the feature and what they add, with straight lines in between, or a
        function of the values. With rows ``X`` and ``y`` the cost is measured: see ``edits_``.
        """
        if sum([flag("remove", remove), smooth is not None, values is not None]) != 1:
            raise InputError("edit takes one of remove=True, smooth= and values=.")
        self._design_known()
        k = self._position(term)
        changed = copy.deepcopy(self)
        if k >= self.n_features_in_:
            change = changed._removed_pair(k, remove)
        elif remove:
            change = changed._changed(k, np.zeros_like(self._fitted.tables[k]), None, "removed")
        elif smooth is not None:
            change = changed._smoothed(k, smooth)
        else:
            change = changed._replaced(k, values)
        before, after = (model._loss(X, y) for model in (self, changed))
        changed.edits_ = (*self.edits_, Edit(self._term_names[k], change, before, after))
        return changed

    def _position(self, term: Any) -> int:
        features = self._schema.indices(term)
        if len(features) == 1:
            if features[0] in self._added:
                raise InputError(f"{self._names[features[0]]!r} is added as it is; there is no function to edit.")
            return features[0]
        pair = (min(features), max(features))
        if pair not in self._pairs:
            known = ", ".join(self._term_names[self.n_features_in_ :]) or "none"
            raise InputError(f"the model has no pair of {' and '.join(self._names[j] for j in pair)}; it has {known}.")
        return self.n_features_in_ + self._pairs.index(pair)

    def _removed_pair(self, k: int, remove: bool) -> str:
        if not remove:
            raise InputError("a pair can only be removed; edit its features one by one, or fit with pairs=.")
        surface = self._fitted.surfaces[k - self.n_features_in_]
        self._intercept = self._intercept + self._means[k]
        self._fitted.surfaces[k - self.n_features_in_] = np.zeros_like(surface)
        self._means[k], self._sizes[k] = 0.0, 0.0
        return "removed"

    def _smoothed(self, j: int, freedom: float) -> str:
        axis, table, mass = self._fitted.axes[j], self._fitted.tables[j], self._fitted.masses[j]
        if axis.nominal:
            raise InputError(f"{self._names[j]!r} is a category; its levels have no order to smooth along.")
        n = axis.present
        wanted = bounded("smooth", freedom, above=1.0, below=float(n))
        S = np.eye(len(table))
        S[:n, :n] = _smoother(np.maximum(mass[:n], 1e-9), wanted)
        smoothed = S @ table
        if rising := self._shapes.get(j, (0, 0))[0]:  # it rises still, but for rounding
            smoothed[:n] = rising * np.maximum.accumulate(rising * smoothed[:n], axis=0)
        return self._changed(j, smoothed, S, f"smoothed to {wanted:g} degrees of freedom")

    def _replaced(self, j: int, values: Any) -> str:
        axis, table, feature = self._fitted.axes[j], self._fitted.tables[j].copy(), self._schema.features[j]
        if table.shape[1] > 1:
            raise InputError(
                "values= is for models with one sum; with several classes a function can be removed or smoothed."
            )
        points = feature.decode(axis.points)
        if callable(values):
            new = np.asarray(values(points), dtype=np.float64)
        elif isinstance(values, Mapping) and values:
            given = feature.encode(np.array(list(values), dtype=object))
            heights = np.array([value if is_number(value) else np.nan for value in values.values()], dtype=np.float64)
            order = np.argsort(given)
            new = np.interp(axis.points, given[order], heights[order])
            if axis.nominal:
                new = np.where(np.isin(axis.points, given), new, table[: axis.present, 0])
        else:
            raise InputError(f"values must be a dict of values and what they add, or a function, got {values!r}.")
        if new.shape != (axis.present,) or not np.isfinite(new).all():
            raise InputError(f"values must give one finite number for each value of {feature.name!r}.")
        table[: axis.present, 0] = new
        return self._changed(j, table, None, "replaced")

    def _changed(self, j: int, table: FloatArray, smoother: FloatArray | None, change: str) -> str:
        """Sets the entries of a feature, their mean moved to the intercept."""
        self._keeps_shape(j, table)
        fitted, mass = self._fitted, self._fitted.masses[j]
        mean = mass @ table
        fitted.tables[j] = table - mean
        if change == "replaced":  # its own mean was zero before
            mean = np.zeros_like(mean)
        self._intercept = self._intercept + mean
        C = fitted.covariances[j]
        fitted.covariances[j] = np.zeros_like(C) if smoother is None else smoother @ C @ smoother.T
        self._means[j], self._sizes[j] = 0.0, np.sqrt(mass @ np.square(fitted.tables[j]))
        return change

    def _keeps_shape(self, j: int, table: FloatArray) -> None:
        rising, bending = self._shapes.get(j, (0, 0))
        axis = self._fitted.axes[j]
        steps = np.diff(table[: axis.present], axis=0)
        slopes = steps / np.diff(axis.points)[:, None]
        slack = 1e-9 * max(float(np.ptp(slopes)), 1e-300) if len(slopes) else 0.0
        if (rising * steps < 0).any() or (bending * np.diff(slopes, axis=0) < -slack).any():
            raise InputError(f"{self._names[j]!r} would lose its shape; give other values, or fit without shapes=.")

    def _loss(self, X: Any, y: Any) -> float:
        """The mean deviance of some rows."""
        if X is None and y is None:
            return float("nan")
        if X is None or y is None:
            raise InputError("X and y measure the cost together; give both, or neither.")
        family, y = FAMILIES[self.family_], np.asarray(y)
        if family.link in ("logit", "softmax"):
            position = np.searchsorted(self.classes_, y)
            y = position[:, None].astype(np.float64) if family.link == "logit" else np.eye(len(self.classes_))[position]
        else:
            y = y[:, None].astype(np.float64)
        return float(family.deviance(self._sums(self._design(X)), y).mean())

    family_: str


def _smoother(mass: FloatArray, freedom: float) -> FloatArray:
    """(M + s D)^-1 M with the trace that is wanted, where D sums squared increments: by the eigenvalues of D in M."""
    L = np.diff(np.eye(len(mass)), axis=0)
    values, U = eigh(L.T @ L, np.diag(mass))
    values = np.maximum(values, 0.0)
    low, high = float(np.log(1e-9 / values.max())), float(np.log(1e12 / values[1]))
    s = np.exp(brentq(lambda log: float((1.0 / (1.0 + np.exp(log) * values)).sum()) - freedom, low, high, xtol=1e-9))
    return np.asarray((U / (1.0 + s * values)) @ U.T @ np.diag(mass))
