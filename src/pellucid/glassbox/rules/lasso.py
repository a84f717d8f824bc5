"""The lasso, for squared and for logistic losses, by coordinate descent on the terms in play.

    minimise over b0, b:   loss(b0 + Z b) / W + alpha * sum_j |b_j|

with loss half the weighted sum of squares, or the weighted log loss, and W the total weight. The path goes from the
smallest alpha at which all b are 0 downwards; each step looks at all terms once and descends on those in play alone,
until no other term wants to come in (Tibshirani et al. 2012, strong rules with a check). A logistic loss is replaced by
its quadratic approximation as often as it takes (Friedman, Hastie and Tibshirani 2010).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from pellucid.arrays import FloatArray, IntArray
from pellucid.trees.kernels.compiled import kernel

_STEADY = 1e-6  # of the largest possible move: below it a descent has come to rest
_ROUNDS = 200
_LEAST_CURVATURE = 1e-5


@dataclass(frozen=True, eq=False)
class Terms:
    """Columns of terms with the outcome and the weights."""

    Z: FloatArray
    y: FloatArray
    weight: FloatArray
    logistic: bool

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weight.sum())

    def loss(self, score: FloatArray) -> float:
        """The mean loss of some scores."""
        each = np.logaddexp(0.0, score) - self.y * score if self.logistic else (self.y - score) ** 2 / 2
        return float(self.weight @ each / self.total)

    def pull(self, score: FloatArray) -> FloatArray:
        """The weighted residuals."""
        mean = expit(score) if self.logistic else score
        return self.weight * (self.y - mean)


def start(terms: Terms) -> float:
    """The intercept without any term."""
    mean = float(terms.weight @ terms.y / terms.total)
    return float(np.log(mean / (1 - mean))) if terms.logistic else mean


def largest(terms: Terms) -> float:
    """The smallest alpha at which no term comes in."""
    return float(np.abs(terms.Z.T @ terms.pull(np.full(len(terms.y), start(terms)))).max(initial=0.0) / terms.total)


class Path:
    """A lasso solution that is moved along from one alpha to the next."""

    def __init__(self, terms: Terms, columns: IntArray | None = None) -> None:
        self._terms = terms
        self._columns = np.arange(terms.Z.shape[1]) if columns is None else columns
        self.intercept = start(terms)
        self.coefficients = np.zeros(terms.Z.shape[1])
        self._play = np.empty(0, dtype=np.intp)
        self._last = largest(terms)

    @property
    def active(self) -> IntArray:
        """The terms with a coefficient, in the order in which they came into play."""
        return self._play[self.coefficients[self._play] != 0]

    def score(self) -> FloatArray:
        """The fitted scores."""
        own = self.active
        return np.asarray(self._terms.Z[:, own] @ self.coefficients[own] + self.intercept)

    def to(self, alpha: float) -> None:
        """Move to the solution at another alpha."""
        terms, columns = self._terms, self._columns
        pull = np.abs(terms.Z[:, columns].T @ terms.pull(self.score())) / terms.total
        wanted = columns[pull >= 2 * alpha - self._last]
        self._last = alpha
        while True:
            fresh = np.setdiff1d(wanted, self._play)
            self._play = np.concatenate([self._play, fresh])
            self._descend(alpha)
            pull = np.abs(terms.Z[:, columns].T @ terms.pull(self.score())) / terms.total
            wanted = np.setdiff1d(columns[pull > alpha * (1 + 1e-4)], self._play)
            if not len(wanted):
                return

    def _descend(self, alpha: float) -> None:
        terms, play = self._terms, self._play
        Z, b = terms.Z[:, play], self.coefficients[play]
        for _ in range(25 if terms.logistic else 1):
            score = Z @ b + self.intercept
            h = (
                terms.weight * np.maximum((m := expit(score)) * (1 - m), _LEAST_CURVATURE)
                if terms.logistic
                else terms.weight
            )
            target = score + terms.pull(score) / np.where(h > 0, h, 1.0)
            mass = h.sum()
            centre, middle = h @ Z / mass, float(h @ target / mass)
            Zh = Z * h[:, None]
            G = Z.T @ Zh - mass * np.outer(centre, centre)
            q = Zh.T @ (target - middle) - centre * float(h @ (target - middle))
            before = b.copy()
            _coordinates(G, q, b, alpha * terms.total, _STEADY, _ROUNDS)
            self.intercept = middle - float(centre @ b)
            if np.abs(b - before).max(initial=0.0) <= 1e-5 * max(1e-3, np.abs(b).max(initial=0.0)):
                break
        self.coefficients[play] = b


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
                b[j] += step
                for k in range(p):
                    rest[k] -= step * G[j, k]
                moved = max(moved, abs(step) * np.sqrt(g))
        if moved < steady * scale:
            break
