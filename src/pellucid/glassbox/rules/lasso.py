"""The lasso, for squared and for logistic losses, by coordinate descent on the terms in play.

    minimise over b0, b:   loss(b0 + Z b) / W + alpha * sum_j |b_j|

with loss half the weighted sum of squares, or the weighted log loss, and W the total weight. The path goes from the
smallest alpha at which all b are 0 downwards. Each step descends on the terms in play alone, and lets those in whose
pull is larger than alpha until there are none (Tibshirani et al. 2012, strong rules with a check). A logistic loss is
replaced by its quadratic approximation as often as it takes (Friedman, Hastie and Tibshirani 2010).

Relaxed (Hastie, Tibshirani and Tibshirani 2020). The lasso chooses terms and shrinks them by one and the same alpha,
too much where few terms are to be read. So the same terms are fitted once more without a penalty, and the coefficients
are a mixture: (1 - relax) * lasso + relax * unpenalised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit

from pellucid.arrays import FloatArray, IntArray
from pellucid.trees.kernels.compiled import kernel

_STEADY = 1e-7  # of the largest possible move: below it a descent has come to rest
_ROUNDS = 500
_NEWTON = 30
_LEAST_CURVATURE = 1e-5
_RIDGE = 1e-4  # of the mean curvature, so that a fit without a penalty is finite
_STEPS, _SMALLEST = 60, 1e-4  # alphas of the path, and the last as a share of the first
_HALVINGS = 40


@dataclass(frozen=True, eq=False)
class Terms:
    """Columns of terms with the outcome and the weights; ``logistic``: the outcome is 0 or 1."""

    Z: FloatArray
    y: FloatArray
    weight: FloatArray
    logistic: bool

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weight.sum())

    @cached_property
    def squares(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Products of the terms about their means, those with y, and the means: all that squared losses need."""
        means = self.weight @ self.Z / self.total
        centred = self.Z - means
        scaled = centred * self.weight[:, None]
        return scaled.T @ centred, scaled.T @ (self.y - self.weight @ self.y / self.total), means

    def start(self) -> float:
        """The intercept without any term."""
        mean = float(self.weight @ self.y / self.total)
        return float(np.log(mean / (1 - mean))) if self.logistic else mean

    def pull(self, score: FloatArray) -> FloatArray:
        """The weighted residuals."""
        return np.asarray(self.weight * (self.y - (expit(score) if self.logistic else score)))


@dataclass(frozen=True, eq=False)
class Fit:
    """One solution: the terms with a coefficient, these coefficients, the intercept, and both without a penalty."""

    alpha: float
    chosen: IntArray
    lasso: FloatArray  # the intercept, then the coefficients
    free: FloatArray

    def coefficients(self, relax: float) -> FloatArray:
        """The intercept, then the coefficients of the chosen terms."""
        return (1 - relax) * self.lasso + relax * self.free


class Path:
    """A lasso solution that is moved along from one alpha to the next."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self.intercept = terms.start()
        self.coefficients = np.zeros(terms.Z.shape[1])
        self._play = np.empty(0, dtype=np.intp)
        self.largest = float(np.abs(self._pull()).max(initial=0.0))
        self._last = self.largest

    def solutions(self, most: int) -> Iterator[Fit]:
        """The solutions on the way down, the last one with more than ``most`` terms or the smallest alpha."""
        for alpha in self.largest * np.geomspace(1.0, _SMALLEST, _STEPS)[1:]:
            self.to(float(alpha))
            yield self.fit()
            if np.count_nonzero(self.coefficients) > most:
                return

    def exactly(self, k: int) -> Fit:
        """The solution with ``k`` terms, or with all there are: alpha is halved between one with fewer and one with
        more.
        """
        high, low, low_fit = self.largest, None, None
        for fit in self.solutions(k - 1):
            if len(fit.chosen) >= k:
                low, low_fit = fit.alpha, fit
                break
            high = fit.alpha
        if low is None or low_fit is None or len(low_fit.chosen) == k:
            return low_fit or self.fit()
        for _ in range(_HALVINGS):
            middle = (high + low) / 2
            self.to(middle)
            count = np.count_nonzero(self.coefficients)
            if count == k:
                return self.fit()
            if count < k:
                high = middle
            else:
                low, low_fit = middle, self.fit()
        return self._largest_of(low_fit, k)

    def _largest_of(self, fit: Fit, k: int) -> Fit:
        """Where two terms come in at once: those that matter most."""
        size = np.abs(fit.lasso[1:]) * self._terms.Z[:, fit.chosen].std(axis=0)
        kept = np.sort(np.argsort(-size, kind="stable")[:k])
        chosen = fit.chosen[kept]
        return Fit(fit.alpha, chosen, fit.lasso[np.append(0, kept + 1)], self._unpenalised(chosen))

    def fit(self) -> Fit:
        """The solution here."""
        chosen = np.flatnonzero(self.coefficients)
        lasso = np.append(self.intercept, self.coefficients[chosen])
        return Fit(self._last, chosen, lasso, self._unpenalised(chosen))

    def to(self, alpha: float) -> None:
        """Move to the solution at another alpha."""
        wanted = np.flatnonzero(np.abs(self._pull()) >= 2 * alpha - self._last)
        self._last = alpha
        while True:
            self._play = np.union1d(self._play, wanted)
            self._descend(alpha)
            outside = np.abs(self._pull()) > alpha * (1 + 1e-4)
            outside[self._play] = False
            wanted = np.flatnonzero(outside)
            if not len(wanted):
                return

    def _pull(self) -> FloatArray:
        """By how much the mean loss falls with each coefficient."""
        terms, own = self._terms, np.flatnonzero(self.coefficients)
        if terms.logistic:
            score = terms.Z[:, own] @ self.coefficients[own] + self.intercept
            return np.asarray(terms.pull(score) @ terms.Z / terms.total)
        G, q, _ = terms.squares
        return np.asarray((q - G[:, own] @ self.coefficients[own]) / terms.total)

    def _descend(self, alpha: float) -> None:
        terms, play = self._terms, self._play
        b = self.coefficients[play]
        if not terms.logistic:
            G, q, means = terms.squares
            _coordinates(np.ascontiguousarray(G[np.ix_(play, play)]), q[play], b, alpha * terms.total, _STEADY, _ROUNDS)
            self.intercept = terms.start() - float(means[play] @ b)
        else:
            Z = terms.Z[:, play]
            for _ in range(_NEWTON):
                G, q, centre, middle = _quadratic(terms, Z, Z @ b + self.intercept)
                before = b.copy()
                _coordinates(G, q, b, alpha * terms.total, _STEADY, _ROUNDS)
                self.intercept = middle - float(centre @ b)
                if np.abs(b - before).max(initial=0.0) <= 1e-5 * max(1e-3, np.abs(b).max(initial=0.0)):
                    break
        self.coefficients[play] = b

    def _unpenalised(self, chosen: IntArray) -> FloatArray:
        """Intercept and coefficients of some terms without a penalty, but for a trace that keeps them finite."""
        terms = self._terms
        if not terms.logistic:
            G, q, means = terms.squares
            b = _solved(G[np.ix_(chosen, chosen)], q[chosen])
            return np.append(terms.start() - means[chosen] @ b, b)
        Z, b, b0 = terms.Z[:, chosen], self.coefficients[chosen], self.intercept
        for _ in range(_NEWTON):
            G, q, centre, middle = _quadratic(terms, Z, Z @ b + b0)
            before, b = b, _solved(G, q)
            b0 = middle - float(centre @ b)
            if np.abs(b - before).max(initial=0.0) <= 1e-4 * max(1.0, np.abs(b).max(initial=0.0)):
                break
        return np.append(b0, b)


def _solved(G: FloatArray, q: FloatArray) -> FloatArray:
    trace = _RIDGE * float(np.trace(G)) / max(1, len(G))
    return np.asarray(np.linalg.solve(G + max(trace, 1e-300) * np.eye(len(G)), q), dtype=np.float64)


def _quadratic(terms: Terms, Z: FloatArray, score: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """The logistic loss about some scores: products about the means, those with the target, and the means of both."""
    mean = expit(score)
    h = terms.weight * np.maximum(mean * (1 - mean), _LEAST_CURVATURE)
    target = score + terms.pull(score) / h
    mass = h.sum()
    centre, middle = h @ Z / mass, float(h @ target / mass)
    centred = Z - centre
    scaled = centred * h[:, None]
    return np.ascontiguousarray(scaled.T @ centred), scaled.T @ (target - middle), centre, middle


@kernel
def _coordinates(G, q, b, alpha, steady, rounds):  # type: ignore[no-untyped-def]
    """Coordinate descent on b'Gb/2 - q'b + alpha |b|, in place."""
    p = len(q)
    rest = q - G @ b
    scale = 1e-300
    for j in range(p):
        if G[j, j] > 0.0:
            scale = max(scale, abs(q[j]) / np.sqrt(G[j, j]))
    for _ in range(rounds):
        moved = 0.0
        for j in range(p):
            g = G[j, j]
            if g <= 0.0:
                continue
            z = rest[j] + g * b[j]
            new = z - alpha if z > alpha else z + alpha if z < -alpha else 0.0
            step = new / g - b[j]
            if step != 0.0:
                b[j] = new / g
                for k in range(p):
                    rest[k] -= step * G[j, k]
                moved = max(moved, abs(step) * np.sqrt(g))
        if moved < steady * scale:
            break
