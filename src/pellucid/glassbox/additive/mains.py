"""The loop of the fit: scoring steps of the family, each a penalised least-squares fit, and REML's step after each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.glassbox.additive.families import Family
from pellucid.glassbox.additive.functions import Functions

_HALVINGS = 6
EXACT = 1e-6  # of the dispersion without features: what is left over below is rounding
_CONSTANT_WEIGHTS = ("gaussian", "gamma")


@dataclass(eq=False)
class Target:
    """What is fitted: the family, targets ``(rows, sums)``, weights of rows and what is given beside the sum."""

    family: Family
    y: FloatArray
    weights: FloatArray
    offset: FloatArray  # (rows, sums): the logarithm of an exposure, and the pairs as they are
    least: float = 1e-300  # the dispersion is not below

    def working(self, eta: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
        """Weights and residuals of a scoring step, rows weighted."""
        weight, residual = self.family.working(eta, self.y, k)
        return weight * self.weights, residual

    def deviance(self, eta: FloatArray) -> float:
        """Of all rows together."""
        return float(self.weights @ self.family.deviance(eta, self.y))

    def spread(self, eta: FloatArray) -> float:
        """The standard deviation of sums over the weighted rows."""
        mean = np.average(eta, axis=0, weights=self.weights)
        return max(float(np.sqrt(np.average(np.square(eta - mean).mean(axis=1), weights=self.weights))), 1e-12)

    def dispersion(self, eta: FloatArray, edf: float) -> float:
        """Pearson's estimate of phi: squared working residuals over the degrees of freedom left."""
        weight, residual = self.working(eta, 0)
        return max(float(weight @ np.square(residual)) / max(self.weights.sum() - edf, 1.0), self.least)


def sums_of(functions: list[Functions], offset: FloatArray) -> FloatArray:
    """Sums ``(rows, sums)`` of intercept, functions and offset."""
    return np.asarray(offset + np.stack([each.intercept + each.sums for each in functions], axis=1))


def fit_functions(
    target: Target,
    functions: list[Functions],
    steps: int,
    *,
    least: int = 0,
    tolerance: float = 1e-4,
    other: float = 0.0,
    smooth: bool = True,
) -> int:
    """Takes steps until the sums stay as they are; ``other`` are degrees of freedom that pairs have, ``smooth`` is
    whether strengths change. Returns how many it took.
    """
    eta = sums_of(functions, target.offset)
    for step in range(steps):
        before = eta
        for k, each in enumerate(functions):
            _step(target, functions, k)
            if target.family.dispersed:
                each.phi = target.dispersion(sums_of(functions, target.offset), float(each.edf.sum()) + other)
            if smooth:
                each.smooth()
        eta = sums_of(functions, target.offset)
        moved = np.abs(eta - before).max()
        if step >= least and moved <= tolerance * target.spread(eta):
            return step + 1
    return steps


def _step(target: Target, functions: list[Functions], k: int) -> None:
    """One scoring step of the k-th sum, halved as long as the penalised deviance would grow."""
    each, eta = functions[k], sums_of(functions, target.offset)
    weight, residual = target.working(eta, k)
    same = target.family.name in _CONSTANT_WEIGHTS
    if target.family.name == "gaussian":
        each.solve(weight, residual, same_weights=same)
        return
    old, intercept = each.table, each.intercept
    reached = target.deviance(eta) + each.penalty()
    each.solve(weight, residual, same_weights=same)
    for _ in range(_HALVINGS):
        now = target.deviance(sums_of(functions, target.offset)) + each.penalty()
        if now <= reached + 1e-7 * abs(reached):
            return
        each.move_back(old, intercept)
