"""What a set of examples is like: how much each stands for, the weights that fit best, what is typical, and a map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.data.embedding import standardised
from pellucid.data.similarity import Points, Rows, Similarity
from pellucid.explanations import RowMap
from pellucid.stats import weighted_mean

_SUM_TO_ONE = 1e4  # how firmly, beside the rest of the least squares
_MAP_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Coverage:
    """The ``owner`` of every row, its nearest prototype by place (-1: none), and the ``share`` of each prototype."""

    owner: IntArray
    share: FloatArray


def coverage(similarity: Similarity, chosen: IntArray, weights: FloatArray) -> Coverage:
    """What share of the rows each prototype is nearest to."""
    owner, _ = similarity.nearest(chosen, most=1)
    owner[chosen] = np.arange(len(chosen))
    known = owner >= 0
    share = np.bincount(owner[known], weights=weights[known], minlength=len(chosen))
    return Coverage(owner, share / weights.sum())


def best_weights(kernel: FloatArray, kappa: FloatArray) -> FloatArray:
    """Weights of the prototypes, none negative, of sum 1, that make MMD^2 least: w' K w - 2 w' kappa is."""
    factor = np.linalg.cholesky(kernel + 1e-9 * np.eye(len(kernel)))
    goal = np.linalg.solve(factor, kappa)
    sides = np.vstack([factor.T, np.full(len(kernel), _SUM_TO_ONE)])
    found, _ = nnls(sides, np.append(goal, _SUM_TO_ONE))
    return np.asarray(found / found.sum())


def contrasts(data: Data, owner: IntArray, chosen: IntArray) -> FloatArray:
    """By how many standard deviations the rows of each prototype differ from all rows in each feature; of a category,
    in having the prototype's own level. It is 0 where the prototype itself is on the other side of the mean.
    """
    out, w = np.zeros((len(chosen), len(data.schema.features))), data.weights
    mass = np.bincount(owner[owner >= 0], weights=w[owner >= 0], minlength=len(chosen))
    for j, feature in enumerate(data.schema.features):
        codes = data.codes(j)
        if feature.nominal:
            for k, row in enumerate(chosen):
                out[k, j] = _contrast((codes == codes[row]).astype(np.float64), owner == k, w)
            continue
        known = ~np.isnan(codes) & (owner >= 0)
        filled = np.where(known, codes, weighted_mean(codes[known], w[known]) if w[known].any() else 0.0)
        mean = float(weighted_mean(filled, w))
        sd = float(np.sqrt(weighted_mean(np.square(filled - mean), w)))
        sums = np.bincount(owner[known], weights=(w * (filled - mean))[known], minlength=len(chosen))
        found = np.divide(sums, mass * sd, out=np.zeros(len(chosen)), where=mass * sd > 0)
        out[:, j] = np.where(found * (filled[chosen] - mean) > 0, found, 0.0)
    return out


def _contrast(has: FloatArray, inside: AnyArray, w: FloatArray) -> float:
    share = float(weighted_mean(has, w))
    if not 0 < share < 1 or not w[inside].any():
        return 0.0
    return float((weighted_mean(has[inside], w[inside]) - share) / np.sqrt(share * (1 - share)))


def row_map(data: Data, rows: Rows, examples: IntArray, witness: FloatArray, *, plain: bool) -> RowMap:
    """Some of the rows, and the examples, in the plane."""
    some = data.spread(_MAP_ROWS)
    both = [j for j, feature in enumerate(data.schema.features) if not feature.nominal]
    if plain and len(data.schema.features) == 2 and len(both) == 2:
        matrix = np.column_stack([data.codes(j) for j in both])
        names = (data.schema.names[both[0]], data.schema.names[both[1]])
    else:
        plain = False
        full = rows.right[:, :-2].astype(np.float64) if isinstance(rows, Points) else standardised(data)
        full = np.column_stack([full, np.zeros((len(full), 2))])  # two axes at least
        centred = full[some] - full[some].mean(axis=0)
        size, axes = np.linalg.svd(np.vstack([centred, np.zeros((2, full.shape[1]))]), full_matrices=False)[1:]
        axes = axes[:2] * np.where(axes[:2].sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
        matrix = (full - full[some].mean(axis=0)) @ axes.T
        share = np.square(size) / max(float(np.square(size).sum()), 1e-300)
        names = (f"first component ({100 * share[0]:.0f}%)", f"second component ({100 * share[1]:.0f}%)")
    known = np.isfinite(matrix[some]).all(axis=1)
    unit = np.nanstd(matrix, axis=0)
    return RowMap(
        points=matrix[some][known],
        places=matrix[examples],
        witness=witness[some][known],
        axes=names,
        unit=np.where(unit > 0, unit, 1.0),
        plain=plain,
    )
