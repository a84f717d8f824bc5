"""How far prototypes and criticisms depend on what was chosen: the width of the kernel, the number of prototypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.data.similarity import Matrix, Similarity
from pellucid.methods.examples.criticisms import criticise
from pellucid.methods.examples.estimation.space import Space
from pellucid.methods.examples.mmd import Selection

_ROWS = 400
_ROUNDS = 2  # of exchanges: a check need not find the very best
_ALIKE = 0.6  # kernel between criticisms that count as the same


def at_widths(
    space: Space, chosen: IntArray, factors: tuple[float, ...], search: Any, generator: np.random.Generator
) -> list[tuple[float, float, float]]:
    """MMD^2 of the prototypes at other widths, of prototypes chosen for them by the same ``search`` (`mmd` or
    `weighted`), and of a single one; on a sample.
    """
    counting = np.flatnonzero(space.allowed)
    drawn = counting if len(counting) <= _ROWS else generator.choice(counting, _ROWS, replace=False)
    some, places = np.unique(np.concatenate([drawn, chosen]), return_inverse=True)
    weights = np.zeros(len(some))
    weights[places[: len(drawn)]] = space.weights[drawn]
    exponents = space.similarity.exponents(some, some)
    power = -2.0 if space.similarity.kernel == "rbf" else -1.0
    at = places[-len(chosen) :]
    return [_at_width(exponents * factor**power, weights, at, search) for factor in factors]


def _at_width(exponents: AnyArray, weights: FloatArray, at: IntArray, search: Any) -> tuple[float, float, float]:
    kernel = np.minimum(np.exp(exponents, out=exponents), 1.0, out=exponents)
    np.fill_diagonal(kernel, 1.0)
    other = Matrix(kernel.astype(np.float64, copy=False))
    kappa = other.values @ weights / weights.sum()
    spread = float(np.average(kappa, weights=weights))
    known = Selection(at, other.values[at], np.empty(0), float("nan"), np.empty(0))
    own = search.first(known, len(at), kappa, spread).mmd2
    free = np.ones(len(kappa), dtype=bool)
    best = search.greedy(other, kappa, len(at), spread=spread, allowed=free)
    best = search.exchanged(other, kappa, best, spread=spread, allowed=free, rounds=_ROUNDS)
    return own, min(best.mmd2, own), float(best.curve[0])


def kept_criticisms(space: Space, path: Selection, criticisms: IntArray, m: int, search: Any) -> float:
    """What share of the criticisms is still there, or has a like one, with a fifth fewer and a fifth more prototypes,
    on average.
    """
    step = max(1, m // 5)
    shares = []
    for other in {max(1, m - step), min(len(path.chosen), m + step)} - {m}:
        part = search.first(path, other, space.kappa, space.spread)
        part = search.exchanged(
            space.kernel, space.kappa, part, spread=space.spread, allowed=space.allowed, rounds=_ROUNDS
        )
        free = space.allowed.copy()
        free[part.chosen] = False
        anew = criticise(space.kernel, part.witness(space.kappa), len(criticisms), free)
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
    count, sums = np.bincount(nearest, minlength=len(chosen))[:, None], np.zeros_like(at)
    np.add.at(sums, nearest, f)
    means = np.divide(sums, count, out=at.copy(), where=count > 0)
    return 1.0 if around <= 0 else 1.0 - float(np.square(f - means[nearest]).sum()) / around
