"""How far prototypes and criticisms depend on what was chosen: the width of the kernel, the number of prototypes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data.similarity import Matrix, Similarity
from pellucid.methods.examples.criticisms import criticise
from pellucid.methods.examples.estimation.space import Space
from pellucid.methods.examples.mmd import Selection, exchanged, greedy

_ROWS = 400
_ROUNDS = 2  # of exchanges: a check need not find the very best
_ALIKE = 0.6  # kernel between criticisms that count as the same


def at_width(
    space: Space, chosen: IntArray, factor: float, generator: np.random.Generator
) -> tuple[float, float, float]:
    """MMD^2 of the prototypes at another width, of prototypes chosen for it, and of a single one; on a sample."""
    counting = np.flatnonzero(space.allowed)
    drawn = counting if len(counting) <= _ROWS else generator.choice(counting, _ROWS, replace=False)
    some, places = np.unique(np.concatenate([drawn, chosen]), return_inverse=True)
    weights = np.where(np.isin(some, drawn), space.weights[some], 0.0)
    rows = space.similarity.rows.take(some)
    groups = None if space.similarity.groups is None else space.similarity.groups[some]
    like = replace(space.similarity, rows=rows, width=space.similarity.width * factor, groups=groups)
    other = Matrix(like.within(np.arange(len(some))))
    kappa = other.values @ weights / weights.sum()
    spread = float(np.average(kappa, weights=weights))
    at = places[-len(chosen) :]
    own = max(float(other.values[np.ix_(at, at)].mean() - 2 * kappa[at].mean()) + spread, 0.0)
    free = np.ones(len(some), dtype=bool)
    best = greedy(other, kappa, len(chosen), spread=spread, allowed=free)
    best = exchanged(other, kappa, best, spread=spread, allowed=free, rounds=_ROUNDS)
    return own, min(best.mmd2, own), float(best.curve[0])


def kept_criticisms(space: Space, path: Selection, criticisms: IntArray, m: int) -> float:
    """What share of the criticisms is still there, or has a like one, with a fifth fewer and a fifth more prototypes,
    on average.
    """
    step = max(1, m // 5)
    shares = []
    for other in {max(1, m - step), min(len(path.chosen), m + step)} - {m}:
        part = path.first(other, space.kappa, space.spread)
        part = exchanged(
            space.similarity, space.kappa, part, spread=space.spread, allowed=space.allowed, rounds=_ROUNDS
        )
        free = space.allowed.copy()
        free[part.chosen] = False
        anew = criticise(space.similarity, part.witness(space.kappa), len(criticisms), free)
        alike = space.similarity.block(criticisms, anew).max(axis=1) >= _ALIKE
        shares.append(float(alike.mean()))
    return float(np.mean(shares)) if shares else 1.0


def explained_by_prototypes(
    similarity: Similarity, chosen: IntArray, rows: IntArray, f: FloatArray, at: FloatArray
) -> float:
    """What share of the variance of predictions ``f`` (rows, outputs) the nearest prototype's own, ``at``, explain."""
    nearest = np.argmax(similarity.exponents(rows, chosen), axis=1)
    around = float(np.square(f - f.mean(axis=0)).sum())
    # By the mean of the rows that share a prototype, as a model of constants would.
    means = np.stack([f[nearest == k].mean(axis=0) if (nearest == k).any() else at[k] for k in range(len(chosen))])
    return 1.0 if around <= 0 else 1.0 - float(np.square(f - means[nearest]).sum()) / around
