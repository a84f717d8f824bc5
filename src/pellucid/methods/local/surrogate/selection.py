"""Which K columns a local model may use: many small regressions at once, on their sums of squares and products.

Every function takes centred second moments of N weighted regressions, ``xx`` (N, p, p), ``xy`` (N, p) and ``yy`` (N,),
and answers for all of them: the columns chosen ``(N, p)`` and, for the lasso, its coefficients. A column is left out
where it does not vary, where the chosen ones already say the same, and where nothing is left to explain; so fewer than
K are chosen only where fewer have any effect.

- ``forward``: from nothing, add the column that explains most of what is left;
- ``backward``: from all, drop the column whose loss costs least;
- ``lasso``: follow the path from a large penalty down until K columns have weights (Efron et al. 2004), columns
  standardised;
- ``all``: every column that varies.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray

Select = Literal["auto", "lasso", "forward", "backward", "all"]
SELECTS = ("auto", "lasso", "forward", "backward", "all")
_NOTHING = 1e-12  # of the variance: rounding, not an effect
_ALIKE = 1e-9  # of a column's variance: what the chosen columns do not say of it
_FLAT = 1e-14  # a variance that is none, in standardised columns
_AT_ONCE = 8_000_000  # numbers held by one step


def choose(xx: FloatArray, xy: FloatArray, yy: FloatArray, k: int, how: Select) -> tuple[BoolArray, FloatArray | None]:
    """The columns chosen, and the coefficients of the lasso if that is what chose them."""
    steps = {"forward": forward, "backward": backward}
    chosen, found = [], []
    for part in _parts(*xx.shape[:2]):
        if how == "lasso":
            path = lasso(xx[part], xy[part], yy[part], k)
            chosen.append(path[0])
            found.append(path[1])
        elif how == "all" or k >= xx.shape[1]:
            chosen.append(varying(xx[part]))
        else:
            chosen.append(steps[how if how != "auto" else "forward"](xx[part], xy[part], yy[part], k))
    return np.concatenate(chosen), np.concatenate(found) if found else None


def _parts(n: int, p: int) -> Iterator[slice]:
    size = max(1, _AT_ONCE // max(p * p, 1))
    return (slice(start, start + size) for start in range(0, n, size))


def varying(xx: FloatArray) -> BoolArray:
    """Columns with any spread."""
    return np.asarray(np.einsum("nii->ni", xx) > _FLAT)


def forward(xx: FloatArray, xy: FloatArray, yy: FloatArray, k: int) -> BoolArray:
    """Add the column that explains most, then take out of all others what it says."""
    left, rest = xx.copy(), xy.copy()
    chosen, usable = np.zeros(xy.shape, dtype=np.bool_), varying(xx)
    least = np.maximum(_ALIKE * np.einsum("nii->ni", xx), _FLAT)
    each = np.arange(len(xy))
    for _ in range(k):
        spread = np.einsum("nii->ni", left)
        open_ = usable & ~chosen & (spread > least)
        gain = np.where(open_, np.square(rest) / np.where(open_, spread, 1.0), 0.0)
        best = gain.argmax(axis=1)
        worth = gain[each, best] > _NOTHING * np.maximum(yy, 0.0)  # rounding may make it negative
        if not worth.any():
            break
        chosen[each, best] |= worth
        column = left[each, :, best]
        factor = np.where(worth, 1.0 / np.where(worth, spread[each, best], 1.0), 0.0)
        step = column * factor[:, None]
        rest -= step * rest[each, best][:, None]
        left -= step[:, :, None] * column[:, None, :]
    return chosen


def backward(xx: FloatArray, xy: FloatArray, yy: FloatArray, k: int) -> BoolArray:
    """Drop the column whose squared coefficient over its variance is least: the loss of explained variance."""
    n, p = xy.shape
    chosen, each = varying(xx), np.arange(n)
    spread = np.where(chosen, np.einsum("nii->ni", xx), 1.0)
    keep = chosen[:, :, None] & chosen[:, None, :]
    inverse = np.linalg.inv(np.where(keep, xx, 0.0) + _diagonal(np.where(chosen, _ALIKE * spread, 1.0)))
    beta = np.einsum("nij,nj->ni", inverse, np.where(chosen, xy, 0.0))
    for _ in range(p):
        size = np.einsum("nii->ni", inverse)
        cost = np.where(chosen, np.square(beta) / size, np.inf)
        worst = cost.argmin(axis=1)
        drop = (chosen.sum(axis=1) > k) | (cost[each, worst] <= _NOTHING * np.maximum(yy, 0.0))
        drop &= chosen.any(axis=1)
        if not drop.any():
            break
        column = inverse[each, :, worst]
        factor = np.where(drop, 1.0 / size[each, worst], 0.0)
        beta -= column * (factor * beta[each, worst])[:, None]
        inverse -= (column * factor[:, None])[:, :, None] * column[:, None, :]
        # What is out stays out: its line is zero but for a unit that keeps divisions harmless.
        chosen[each[drop], worst[drop]] = False
        inverse[each[drop], worst[drop], worst[drop]] = 1.0
    return chosen


def lasso(xx: FloatArray, xy: FloatArray, yy: FloatArray, k: int) -> tuple[BoolArray, FloatArray]:
    """The lasso path of standardised columns until k of them are in: which, and their coefficients there.

    Along the path all active columns have the same absolute covariance c with what is left of y. The coefficients move
    in the direction d that keeps it so, until another column's covariance catches up (it enters) or a coefficient
    reaches zero (it leaves). The coefficients are those where the next column would enter.
    """
    n, p = xy.shape
    usable = varying(xx)
    sd = np.sqrt(np.where(usable, np.einsum("nii->ni", xx), 1.0))
    corr = np.where(usable[:, :, None] & usable[:, None, :], xx / sd[:, :, None] / sd[:, None, :], 0.0)
    c = np.where(usable, xy / sd, 0.0)
    least = np.sqrt(_NOTHING * np.maximum(yy, 0.0))
    active, beta, each = np.zeros((n, p), dtype=np.bool_), np.zeros((n, p)), np.arange(n)
    barred, gone, going = ~usable, np.zeros((n, p), dtype=np.bool_), np.ones(n, dtype=np.bool_)
    for _ in range(8 * p + 8):
        top = np.abs(np.where(barred, 0.0, c)).max(axis=1, initial=0.0)
        going &= top > least
        enter = np.where(active | barred | gone, -1.0, np.abs(c)).argmax(axis=1)
        ready = going & (active.sum(axis=1) < k) & ~(active | barred | gone)[each, enter]
        ready &= np.abs(c[each, enter]) >= top * (1 - 1e-10)
        active[each[ready], enter[ready]] = True
        alike = ready & (_left(corr, active, enter) < _ALIKE)
        active[each[alike], enter[alike]], barred[each[alike], enter[alike]] = False, True
        sign = np.where(active, np.sign(c), 0.0)
        d = _solved(corr, active, sign)
        a = np.einsum("nij,nj->ni", corr, d)
        step, leaving = _step(c, a, beta, d, active, barred, top)
        step = np.where(going & active.any(axis=1), step, 0.0)
        beta, c = beta + step[:, None] * d, c - step[:, None] * a
        gone = leaving & going[:, None]
        beta, active = np.where(gone, 0.0, beta), active & ~gone
        going &= (active.sum(axis=1) < k) | gone.any(axis=1) | alike
        if not going.any():
            break
    return active & (beta != 0), np.where(active, beta / sd, 0.0)


def _step(
    c: FloatArray, a: FloatArray, beta: FloatArray, d: FloatArray, active: BoolArray, barred: BoolArray, top: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """How far to go until a column catches up or one leaves (which), or nothing is left."""
    with np.errstate(divide="ignore", invalid="ignore"):
        plus, minus = (top[:, None] - c) / (1.0 - a), (top[:, None] + c) / (1.0 + a)
        zero = -beta / d
    catches = np.minimum(_ahead(plus), _ahead(minus))
    catches = np.where(active | barred, np.inf, catches).min(axis=1)
    zero = np.where(active & (beta != 0), _ahead(zero), np.inf)
    step = np.minimum(np.minimum(catches, zero.min(axis=1)), top)
    return step, (zero <= step[:, None]) & np.isfinite(zero)


def _ahead(steps: FloatArray) -> FloatArray:
    return np.where(np.isfinite(steps) & (steps > 1e-12), steps, np.inf)


def _left(corr: FloatArray, active: BoolArray, new: IntArray) -> FloatArray:
    """What the other active columns do not say of the new one, as a share of its variance."""
    each = np.arange(len(new))
    others = active.copy()
    others[each, new] = False
    target = np.where(others, corr[each, :, new], 0.0)
    return np.asarray(1.0 - np.einsum("ni,ni->n", target, _solved(corr, others, target)))


def _solved(xx: FloatArray, chosen: BoolArray, right: FloatArray) -> FloatArray:
    """The solution in the chosen columns, zero elsewhere."""
    keep = chosen[:, :, None] & chosen[:, None, :]
    matrix = np.where(keep, xx, 0.0) + _diagonal(np.where(chosen, 0.0, 1.0))
    return np.where(chosen, np.linalg.solve(matrix, np.where(chosen, right, 0.0)[:, :, None])[:, :, 0], 0.0)


def _diagonal(values: FloatArray) -> FloatArray:
    return np.asarray(values[:, :, None] * np.eye(values.shape[1]))
