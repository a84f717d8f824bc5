"""The same regression on coalitions: with the Shapley kernel its weights are Shapley values.

Reference. Lundberg and Lee 2017.

Definition. A sample keeps the row's value of some features (a coalition S) and takes the others from background rows;
its answer is the mean prediction v(S), its columns say which features it keeps. Weighted by (p - 1) / (C(p, s) s (p -
s)) for
|S| = s, with the empty and the full coalition met exactly, the linear model that fits best has the Shapley values as
weights. Choosing K < p columns first makes them sparse, and no longer Shapley values.

Estimator. All coalitions where ``samples`` suffice. Else coalitions drawn in complementary pairs, sizes by their total
kernel weight, each then counting the same. The two exact conditions take out the intercept and the last chosen column.

Cost. Background rows (at most 200) times coalitions, for each explained row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.data import Data
from pellucid.games.marginal import MOST, MarginalGame, background_rows
from pellucid.methods.local.surrogate.fitting import jackknife
from pellucid.methods.local.surrogate.local_fit import LocalFit
from pellucid.methods.local.surrogate.neighbourhood import BLOCKS
from pellucid.methods.local.surrogate.options import Options
from pellucid.methods.local.surrogate.selection import choose
from pellucid.methods.local.surrogate.width import WidthFits
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.stats import effective_size


@dataclass(frozen=True, eq=False)
class Found:
    """Local fits of all rows, the rows' predictions, and what to record."""

    fits: tuple[LocalFit, ...]
    answers: FloatArray
    settings: Mapping[str, Any]


def coalition_regression(
    predictor: Predictor, data: Data, rows: Data, options: Options, background: Any, run: Run
) -> Found:
    """Shapley values as weights of local models."""
    players = data.schema.players()
    names = sorted(players)  # the random numbers do not depend on the order of the columns
    absent = background_rows(data, background, run, most=MOST)
    game = MarginalGame(predictor, absent, rows, {name: players[name] for name in names}, run)
    nobody, everybody = game.ends()
    p = len(names)
    every = 2**p - 2 <= options.samples
    coalitions, weights = every_coalition(p) if every else some_coalitions(p, options.samples, run)
    worth = game.worth(coalitions) if len(coalitions) else np.empty((len(rows), 0, nobody.shape[1]))
    back = np.array([names.index(name) for name in players])
    fits = tuple(
        _fit(coalitions, worth[i], weights, nobody[i], everybody[i], options, back, exact=every)
        for i in range(len(rows))
    )
    settings = {"samples": len(coalitions) + 2, "all_coalitions": every, "background": len(absent)}
    return Found(fits, everybody, settings)


def every_coalition(p: int) -> tuple[BoolArray, FloatArray]:
    """All coalitions but the empty and the full one, with their kernel weights."""
    members = (np.arange(1, max(2**p - 1, 1))[:, None] & (1 << np.arange(p))) > 0
    return members, kernel(p, members.sum(axis=1))


def kernel(p: int, size: Any) -> FloatArray:
    """(p - 1) / (C(p, s) s (p - s))."""
    from scipy.special import comb

    s = np.asarray(size, dtype=np.float64)
    return np.asarray((p - 1) / (comb(p, s) * s * (p - s)))


def some_coalitions(p: int, n: int, run: Run) -> tuple[BoolArray, FloatArray]:
    """Pairs of a coalition and its complement, in blocks; sizes by their kernel weight, so that all count the same."""
    generator = run.generator("lime.coalitions")
    sizes = np.arange(1, p)
    chance = 1.0 / (sizes * (p - sizes))
    half = -(-n // (2 * BLOCKS)) * BLOCKS
    size = generator.choice(sizes, half, p=chance / chance.sum())
    places = generator.random((half, p)).argsort(axis=1).argsort(axis=1)
    first = places < size[:, None]
    return np.stack([first, ~first], axis=1).reshape(2 * half, p), np.ones(2 * half)


def _fit(
    coalitions: BoolArray,
    worth: FloatArray,
    weights: FloatArray,
    nobody: FloatArray,
    everybody: FloatArray,
    options: Options,
    back: Any,
    *,
    exact: bool,
) -> LocalFit:
    """The constrained regression of one row, for each output."""
    p, m = coalitions.shape[1], worth.shape[1]
    k = min(options.features, p)
    phi, fidelity = np.zeros((p, m)), np.ones(m)
    chosen = np.zeros((p, m), dtype=np.bool_)
    parts = np.zeros((BLOCKS, p, m))
    block = np.repeat(np.arange(BLOCKS), -(-len(weights) // BLOCKS))[: len(weights)]
    for a in range(m):
        x, y, total = (coalitions.astype(np.float64), worth[:, a] - nobody[a], float(everybody[a] - nobody[a]))
        chosen[:, a] = _columns(x, y, weights, k, options) if k < p else True
        phi[:, a] = constrained(x, y, weights, chosen[:, a], total)
        squares = weights @ np.square(y - weights @ y / weights.sum()) if len(y) else 0.0
        if squares > 0:
            fidelity[a] = 1.0 - weights @ np.square(y - x @ phi[:, a]) / squares
        for b in range(0 if exact else BLOCKS):
            parts[b, :, a] = constrained(x, y, np.where(block == b, 0.0, weights), chosen[:, a], total)
    if exact:
        parts[:] = phi
    nothing = np.full((1, m), np.nan)
    blank = WidthFits(
        np.full(1, np.nan),
        np.full(1, np.nan),
        nothing,
        nothing,
        nothing,
        nothing,
        nothing,
        np.full((1, p, m), np.nan),
        np.full((1, p, m), np.nan),
    )
    return LocalFit(
        coefficients=phi[back],
        coefficients_se=jackknife(parts)[back],
        effects=phi[back],
        parts=parts[:, back],
        base=nobody,
        chosen=chosen[back],
        widths=blank,
        width=np.nan,
        effective=effective_size(weights) if len(weights) else 0.0,
        fidelity=fidelity,
        selection=np.full(m, np.nan),
        stability=np.full(m, np.nan),
        agreement=np.full(m, np.nan),
        radius=np.full(m, np.nan),
        within=np.zeros(m),
        spread=worth.std(axis=0) if len(worth) else np.zeros(m),
        nearest=0.0,
        predict=lambda z: everybody + z @ phi[back],
    )


def _columns(x: FloatArray, y: FloatArray, weights: FloatArray, k: int, options: Options) -> BoolArray:
    """The columns that the regression may use."""
    share = weights / weights.sum()
    centred, answer = x - share @ x, y - share @ y
    xx, xy = (centred * share[:, None]).T @ centred, centred.T @ (share * answer)
    return choose(xx[None], xy[None], np.array([share @ np.square(answer)]), k, options.how)[0][0]


def constrained(x: FloatArray, y: FloatArray, weights: FloatArray, chosen: BoolArray, total: float) -> FloatArray:
    """Weights of the chosen columns that sum to ``total``, without intercept: the last one is what the others leave."""
    phi, used = np.zeros(x.shape[1]), np.flatnonzero(chosen)
    if not used.size:
        return phi
    last, free = used[-1], used[:-1]
    z, target = x[:, free] - x[:, [last]], y - x[:, last] * total
    if free.size:
        matrix = (z * weights[:, None]).T @ z
        phi[free] = np.linalg.solve(matrix + 1e-14 * np.trace(matrix) * np.eye(len(free)), z.T @ (weights * target))
    phi[last] = total - phi[free].sum()
    return phi
