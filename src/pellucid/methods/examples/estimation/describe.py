"""What a set of examples is like: how much each stands for, the weights that fit best, what is typical, and a map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import nnls
from scipy.sparse import csr_array

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.data.embedding import standardised
from pellucid.data.similarity import Points, Rows, Similarity
from pellucid.explanations import RowMap
from pellucid.stats import weighted_mean

_SUM_TO_ONE = 1e4  # how firmly, beside the rest of the least squares
_MAP_ROWS = 1000
_AT_ONCE = 2_000_000  # numbers that contrasts are worked out for together


@dataclass(frozen=True, eq=False)
class Coverage:
    """The ``owner`` of every row, its nearest prototype by place (-1: none), and the ``share`` of each prototype."""

    owner: IntArray
    share: FloatArray


def coverage(similarity: Similarity, chosen: IntArray, weights: FloatArray) -> Coverage:
    """What share of the rows each prototype is nearest to."""
    owner = similarity.nearest(chosen)
    owner[chosen] = np.arange(len(chosen))
    known = owner >= 0
    share = np.bincount(owner[known], weights=weights[known], minlength=len(chosen))
    return Coverage(owner, share / weights.sum())


def best_weights(kernel: FloatArray, kappa: FloatArray) -> FloatArray:
    """Weights of the prototypes, none negative, of sum 1, that make MMD^2 least: w' K w - 2 w' kappa is."""
    factor = _cholesky(kernel)
    goal = np.linalg.solve(factor, kappa)
    sides = np.vstack([factor.T, np.full(len(kernel), _SUM_TO_ONE)])
    found, _ = nnls(sides, np.append(goal, _SUM_TO_ONE))
    return np.asarray(found / found.sum())


def _cholesky(kernel: FloatArray) -> FloatArray:
    """The Cholesky factor; of kernels worked out in single precision with a little more on the diagonal."""
    for more in (1e-9, 1e-6):
        try:
            return np.asarray(np.linalg.cholesky(kernel + more * np.eye(len(kernel))))
        except np.linalg.LinAlgError:
            continue
    return np.asarray(np.linalg.cholesky(kernel + 1e-3 * np.eye(len(kernel))))


def contrasts(data: Data, owner: IntArray, chosen: IntArray) -> FloatArray:
    """By how many standard deviations the rows of each prototype differ from all rows in each feature; of a category,
    in having the prototype's own level. It is 0 where the prototype itself is on the other side of the mean.
    """
    w, features = data.weights, data.schema.features
    out = np.zeros((len(chosen), len(features)))
    numbers = [j for j, feature in enumerate(features) if not feature.nominal]
    at_once = max(_AT_ONCE // len(w), 1)
    for some in (numbers[start : start + at_once] for start in range(0, len(numbers), at_once)):
        out[:, some] = _of_numbers(np.array([data.codes(j) for j in some]), owner, chosen, w)
    for j in np.setdiff1d(np.arange(len(features)), numbers):
        codes = data.codes(j)
        out[:, j] = [_contrast((codes == codes[row]).astype(np.float64), owner == k, w) for k, row in enumerate(chosen)]
    return out


def _of_numbers(codes: FloatArray, owner: IntArray, chosen: IntArray, w: FloatArray) -> FloatArray:
    """Contrasts of several features ``(features, n)`` that hold numbers."""
    owned = owner >= 0
    lacks = np.isnan(codes) | ~owned
    some = bool(lacks.any())
    codes, mass = (np.where(lacks, 0.0, codes), ~lacks @ w) if some else (codes, np.full(len(codes), w.sum()))
    off = codes - (codes @ w / np.where(mass > 0, mass, 1.0))[:, None]
    if some:
        off[lacks] = 0.0
    sd = np.sqrt(np.square(off) @ w / w.sum())
    member = csr_array((w[owned], (owner[owned], np.flatnonzero(owned))), shape=(len(chosen), len(w)))
    sums: FloatArray = np.asarray(member @ off.T)
    total: FloatArray = np.asarray(member.sum(axis=1))
    scale = total[:, None] * sd
    found = np.divide(sums, scale, out=np.zeros_like(sums), where=scale > 0)
    return np.where(found * off[:, chosen].T > 0, found, 0.0)


def _contrast(has: FloatArray, inside: AnyArray, w: FloatArray) -> float:
    share = float(weighted_mean(has, w))
    if not 0 < share < 1 or not w[inside].any():
        return 0.0
    return float((weighted_mean(has[inside], w[inside]) - share) / np.sqrt(share * (1 - share)))


def row_map(data: Data, rows: Rows, examples: IntArray, witness: FloatArray, *, plain: bool) -> RowMap:
    """Some of the rows, and the examples, in the plane."""
    some = data.spread(_MAP_ROWS)
    both = [j for j, feature in enumerate(data.schema.features) if not feature.nominal]
    plain = plain and len(data.schema.features) == 2 and len(both) == 2
    if plain:
        matrix = np.column_stack([data.codes(j) for j in both])
        around, at, unit = matrix[some], matrix[examples], np.nanstd(matrix, axis=0)
        names = (data.schema.names[both[0]], data.schema.names[both[1]])
    else:
        full = rows.right[:, :-2] if isinstance(rows, Points) else standardised(data)
        around, at, shares = _components(full[some].astype(np.float64), full[examples].astype(np.float64))
        unit = around.std(axis=0)
        names = (f"first component ({100 * shares[0]:.0f}%)", f"second component ({100 * shares[1]:.0f}%)")
    known = np.isfinite(around).all(axis=1)
    return RowMap(
        points=around[known],
        places=at,
        witness=witness[some][known],
        axes=names,
        unit=np.where(unit > 0, unit, 1.0),
        plain=plain,
    )


def _components(some: FloatArray, others: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rows and others along the first two principal components of the rows, and their shares of the variance."""
    mean = some.mean(axis=0)
    centred = some - mean
    if some.shape[1] <= len(some):
        least = max(some.shape[1] - 2, 0)
        squares, axes = eigh(centred.T @ centred, subset_by_index=[least, some.shape[1] - 1])
    else:
        squares, left = np.linalg.eigh(centred @ centred.T)
        size = np.sqrt(np.maximum(squares, 0.0))
        axes = np.divide(centred.T @ left, size, out=np.zeros(centred.T.shape), where=size > 1e-6 * size.max())
    first = np.zeros((some.shape[1], 2))  # there may be one alone
    first[:, : axes.shape[1]] = axes[:, ::-1][:, :2]
    first *= np.where(first.sum(axis=0) < 0, -1.0, 1.0)
    shares = np.append(np.maximum(squares[::-1], 0.0), [0.0, 0.0]) / max(float(np.square(centred).sum()), 1e-300)
    return centred @ first, (others - mean) @ first, shares
