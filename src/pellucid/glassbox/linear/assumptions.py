"""The assumptions of a linear model, measured on the rows that it was fitted to.

Definitions. With the columns D (the intercept first), the weights W and the residuals r of the last step of the fit,
columns B that were left out have the score statistic

    s' V^+ s,    s = B'W r - C'(D'WD)^-1 D'W r,    V = B'WB - C'(D'WD)^-1 C,    C = D'WB,

which is by how much the squared residuals would fall if B entered.

- linearity: B are hinges of one feature at its quartiles. Features are taken one after another, the most bent first,
  each given those before it.
- link (Pregibon 1980): B is the square of the sum.
- equal variance: squared residuals regressed on D (Koenker 1981), and the standard errors of Huber and White beside
  those of the model.
- Gaussian errors: skewness and kurtosis (Jarque and Bera 1980), and how many rows a standard error rests on, (sum
  u^2)^2 / sum u^4 of what each row adds to the estimate.
- uncorrelated features: variance inflation factors, of a category that of Fox and Monette (1992) per column.
- domain of the link: the lowest and the highest sum over the ranges of the training rows, widened by a tenth.

Estimator. At most ``_ROWS`` rows, evenly spread. A bend has to be beyond chance by the statistic above and by the same
with the covariance of Huber and White, so that uneven variance is not taken for one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import chi2, f

from pellucid.arrays import FloatArray
from pellucid.glassbox.linear.irls import Fitted, irls
from pellucid.models.families import LINKS, Family, Link
from pellucid.stats import weighted_mean, weighted_quantiles

_ROWS = 20_000
_FEWEST = 30  # rows beyond the coefficients
_SURE = 0.01
_BENDS = 3  # features, at most, that are told to be bent
_WIDER = 0.1


@dataclass(frozen=True, eq=False)
class Residuals:
    """Columns, working weights and working residuals of some rows; ``w`` says for how many rows each stands."""

    D: FloatArray
    W: FloatArray
    r: FloatArray
    w: FloatArray
    dispersed: bool

    @classmethod
    def of(cls, A: FloatArray, fitted: Fitted, w: FloatArray, *, dispersed: bool) -> Residuals | None:
        """Those of a fit; None where there are too few rows to say anything."""
        kept = ~fitted.solution.aliased
        every = max(-(-len(A) // _ROWS), 1)
        if w.sum() / every < np.count_nonzero(kept) + _FEWEST:
            return None
        D = np.column_stack([np.ones(len(A)), A])[::every, kept]
        return cls(D, fitted.working[::every], fitted.residual[::every], w[::every], dispersed)

    @cached_property
    def inverse(self) -> FloatArray:
        """(D'WD)^-1, of columns in units of their size."""
        size = np.maximum(np.sqrt(self.W @ np.square(self.D)), 1e-100)  # a rare level may be in none of the rows
        gram = (self.D * self.W[:, None]).T @ self.D / np.outer(size, size)
        return np.asarray(np.linalg.pinv(gram, rcond=1e-12, hermitian=True) / np.outer(size, size))

    @property
    def freedom(self) -> float:
        """Rows less coefficients."""
        return float(self.w.sum() - self.D.shape[1])

    @property
    def squares(self) -> float:
        """Squared residuals, weighted (Pearson's statistic)."""
        return float(self.W @ np.square(self.r))

    def left_over(self, B: FloatArray) -> FloatArray:
        """What the columns do not say of others."""
        return np.asarray(B - self.D @ (self.inverse @ (self.D.T @ (self.W[:, None] * B))))

    def score(self, B: FloatArray) -> tuple[float, float]:
        """Which share of the squared residuals columns take off that were left out, and the chance of as much."""
        B = self.left_over(B / np.maximum(np.sqrt(self.W @ np.square(B)), 1e-100))
        WB = self.W[:, None] * B
        V, s = B.T @ WB, WB.T @ self.r
        rank = int(np.linalg.matrix_rank(V, tol=1e-8, hermitian=True))
        if not rank:
            return 0.0, 1.0
        gain = float(s @ np.linalg.pinv(V, rcond=1e-8, hermitian=True) @ s)
        each = (self.W / self.w * self.r)[:, None] * B
        robust = float(s @ np.linalg.pinv((each * self.w[:, None]).T @ each, rcond=1e-8, hermitian=True) @ s)
        left = max(self.squares - gain, 1e-300)
        chance = (
            f.sf(gain / rank / (left / max(self.freedom - rank, 1.0)), rank, max(self.freedom - rank, 1.0))
            if self.dispersed
            else chi2.sf(gain, rank)
        )
        return gain / max(self.squares, 1e-300), max(float(chance), float(chi2.sf(robust, rank)))

    def joined(self, B: FloatArray) -> Residuals:
        """The same after more columns have entered."""
        B = self.left_over(B / np.maximum(np.sqrt(self.W @ np.square(B)), 1e-100))
        WB = self.W[:, None] * B
        b = np.linalg.pinv(B.T @ WB, rcond=1e-8, hermitian=True) @ (WB.T @ self.r)
        return Residuals(np.hstack([self.D, B]), self.W, self.r - B @ b, self.w, self.dispersed)


def hinges(x: FloatArray, weights: FloatArray) -> FloatArray:
    """A column bent at its quartiles."""
    x = (x - weighted_mean(x, weights)) / max(float(np.sqrt(weighted_mean(np.square(x), weights))), 1e-300)
    knots = np.unique(weighted_quantiles(x, np.array([0.25, 0.5, 0.75]), weights))
    knots = knots[(knots > x.min()) & (knots < x.max())]
    return np.asarray(np.maximum(x[:, None] - knots, 0.0))


def bends(rows: Residuals, columns: dict[str, FloatArray]) -> tuple[list[tuple[str, float]], Residuals]:
    """Features whose columns are bent, with the share of the squared residuals that their bend takes off; and the
    residuals without it.
    """
    left = {name: hinges(column, rows.w) for name, column in columns.items()}
    left = {name: B for name, B in left.items() if B.shape[1] > 1}
    found: list[tuple[str, float]] = []
    tries = len(left)
    while left and len(found) < _BENDS:
        scores = {name: rows.score(B) for name, B in left.items()}
        name = max(scores, key=lambda each: scores[each][0])
        share, chance = scores[name]
        if chance > _SURE / tries:
            break
        found.append((name, share))
        rows = rows.joined(left.pop(name))
    return found, rows


def better_link(
    rows: Residuals, y: FloatArray, offset: FloatArray, eta: FloatArray, family: Family, link: Link
) -> tuple[str, float]:
    """The link that would lower the deviance most, and by which share; the same and 0 where the square of the sum says
    nothing.
    """
    _, chance = rows.score(np.square(eta - eta.mean())[:, None])
    if chance > _SURE:
        return link.name, 0.0
    deviances = {}
    for name in dict.fromkeys((link.name, *_others(family))):
        try:
            with np.errstate(all="ignore"):
                fitted = irls(rows.D[:, 1:], y, rows.w, family, LINKS[name], offset)
        except (np.linalg.LinAlgError, ValueError):
            continue
        if np.isfinite(fitted.deviance) and fitted.converged:
            deviances[name] = fitted.deviance
    if link.name not in deviances or deviances[link.name] <= 0:
        return link.name, 0.0
    best = min(deviances, key=lambda name: deviances[name])
    return best, 1.0 - deviances[best] / deviances[link.name]


def _others(family: Family) -> tuple[str, ...]:
    if family.range[1] == 1.0:
        return ("logit", "probit", "cloglog")
    return ("identity", "log") if family.name == "gaussian" else ("log", "identity", "sqrt", "inverse")


def uneven_variance(rows: Residuals, k: int) -> tuple[int, float]:
    """Of the first ``k`` slopes the one whose standard error is furthest too small, and how many times as large it
    would be were the variance of the rows not thought equal; 1 where the squared residuals do not depend on the
    columns.
    """
    total = rows.w.sum()
    squared = rows.W / rows.w * np.square(rows.r)
    away = squared - weighted_mean(squared, rows.w)
    scaled = rows.D / np.maximum(np.sqrt(rows.w @ np.square(rows.D)), 1e-300)
    WD = rows.w[:, None] * scaled
    fitted = scaled @ (np.linalg.pinv(WD.T @ scaled, rcond=1e-10, hermitian=True) @ (WD.T @ away))
    around = float(rows.w @ np.square(away))
    share = float(rows.w @ np.square(fitted)) / around if around > 0 else 0.0
    if not k or chi2.sf(total * share, rows.D.shape[1] - 1) > _SURE:
        return 0, 1.0
    each = (rows.W / rows.w * rows.r)[:, None] * (rows.D @ rows.inverse)
    robust = (rows.w @ np.square(each)) * total / rows.freedom
    model = np.diag(rows.inverse) * (rows.squares / rows.freedom if rows.dispersed else 1.0)
    ratio = np.sqrt(np.divide(robust, model, out=np.ones(len(model)), where=model > 0))[1 : k + 1]
    return int(np.argmax(ratio)), float(ratio.max())


def few_rows_decide(rows: Residuals, k: int) -> tuple[int, float]:
    """Of the first ``k`` slopes the one whose standard error rests on the fewest rows, and on how many; infinitely many
    where errors look Gaussian.
    """
    variance = weighted_mean(np.square(rows.r), rows.w)
    if not k or variance <= 0:
        return 0, np.inf
    z = rows.r / np.sqrt(variance)
    skew, tails = float(weighted_mean(z**3, rows.w)), float(weighted_mean(z**4, rows.w)) - 3.0
    if chi2.sf(rows.w.sum() / 6 * (skew**2 + tails**2 / 4), 2) > _SURE:
        return 0, np.inf
    each = np.square(rows.r[:, None] * (rows.D @ rows.inverse)[:, 1 : k + 1])
    rest = np.square(rows.w @ each) / np.maximum(rows.w @ np.square(each), 1e-300)
    return int(np.argmin(rest)), float(rest.min())


def inflation(covariance: FloatArray, spread: FloatArray, own: slice) -> float:
    """By how much correlation with other features inflates the variance of a feature's coefficients, per column.

    ``covariance`` is that of the slopes, up to a factor, ``spread`` the sums of products of the feature's centred
    columns.
    """
    block = covariance[own, own] @ spread
    if not block.size or not np.isfinite(block).all():
        return 1.0
    sign, logarithm = np.linalg.slogdet(block)
    return float(np.exp(logarithm / len(block))) if sign > 0 else 1.0


def widened(lowest: FloatArray, highest: FloatArray, intercept: float) -> tuple[float, float]:
    """Lowest and highest sum over the ranges of all terms, widened by a tenth."""
    low, high = intercept + float(lowest.sum()), intercept + float(highest.sum())
    return low - _WIDER * (high - low), high + _WIDER * (high - low)
