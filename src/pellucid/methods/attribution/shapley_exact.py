"""Shapley values of any model, by going through all coalitions.

Shapley 1953; Strumbelj and Kononenko 2014; interaction values: Lundberg et al. 2018.

Definition. The game of a row x: ``v(S) = mean over the background z of f(x_S, z_-S)``, weighted. A player is a
feature or a group of them.

    phi_i   = sum over S without i     of |S|! (p-|S|-1)! / p!       (v(S+i) - v(S))
    phi_ij  = sum over S without i, j  of |S|! (p-|S|-2)! / 2(p-1)!  (v(S+ij) - v(S+i) - v(S+j) + v(S))
    phi_ii  = phi_i - sum over j of phi_ij

Estimator. The definition itself; v(nobody) is the mean prediction of the background, v(all) the prediction.
The row's prediction is asked once more on its own, so that the residual is a check of the model's steadiness.

When it misleads:
1. features that go together: the model is asked about rows that do not occur (see `caveats`);
2. a contribution compares with the average prediction; it is not what happens when a feature is taken away
   from the model or changed in the world;
3. all features share the prediction, none is left out: long lists of small numbers.

Cost. Rows times background rows times (2^players - 2), plus the rows and the background.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import factorial

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray, weighted_mean
from pellucid.data import Data
from pellucid.errors import InputError
from pellucid.methods.attribution.solved import Solved
from pellucid.models import Predictor
from pellucid.runner import Run, Sweep

Players = Mapping[str, tuple[int, ...]]
MOST_PLAYERS = 14
MOST_ROWS = 20_000_000


def shapley_exact(
    predictor: Predictor,
    background: Data,
    rows: Data,
    *,
    players: Players,
    interactions: bool = False,
    budget: int | None = None,
    remedy: str = "",
    run: Run,
) -> Solved:
    """Contributions of the players in each row; the model is asked for every coalition."""
    refuse_too_many(len(players), len(rows), len(background), budget, remedy)
    prediction = run.predict(predictor, rows)
    v = _game(predictor, background, rows, list(players.values()), run)
    return Solved(
        method="exact",
        values=shapley_values(v),
        base=v[0, 0],
        prediction=prediction,
        interactions=interaction_values(v) if interactions else None,
        scale=predictor.scale,
        background=len(background),
    )


def refuse_too_many(players: int, rows: int, background: int, budget: int | None, remedy: str) -> None:
    """The error for more work than is reasonable, or than ``budget`` model rows."""
    if players > MOST_PLAYERS:
        raise InputError(
            f"going through all coalitions takes at most {MOST_PLAYERS} players, but there are {players} features; put features that belong together into groups (groups=){remedy}."
        )
    asked = rows * background * max(2**players - 2, 0) + 2 * rows + background
    most = MOST_ROWS if budget is None else budget
    if asked > most:
        raise InputError(
            f"{players} players, {rows:,} row{'s' if rows > 1 else ''} and a background of {background:,} rows take {asked:,} model rows, more than {most:,}; explain fewer rows, give a smaller background (background=), groups of features (groups=) or a larger budget (budget=){remedy}."
        )


# -- the game ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Coalitions(Sweep):
    """Background rows in which the players of a coalition take the values of an explained row.

    ``index`` is ``(variants, 2)``: the explained row and the coalition. ``known[c, f]`` says whether coalition
    c knows the f-th feature; a pool holds the values of the explained rows, then those of the background.
    """

    known: BoolArray = field(default_factory=lambda: np.empty((0, 0), dtype=np.bool_))
    n_explained: int = 0

    def columns(self, variants: slice, rows: slice) -> dict[int, tuple[object, IntArray]]:
        explained, coalition = self.index[variants].T
        own = self.n_explained + np.arange(rows.start, rows.stop)
        return {
            j: (pool, np.where(self.known[coalition, f][:, None], explained[:, None], own[None, :]))
            for f, (j, pool) in enumerate(zip(self.features, self.pools, strict=True))
        }


def _game(
    predictor: Predictor, background: Data, rows: Data, players: list[tuple[int, ...]], run: Run
) -> FloatArray:
    """``v[row, coalition]`` (outputs last); bit i of a coalition's number says whether player i is in it."""
    n, coalitions = len(rows), 2 ** len(players)
    features = tuple(j for members in players for j in members)
    pools = tuple(
        background.pool(j, np.concatenate([rows.codes(j), background.codes(j)])) for j in features
    )
    owner = np.repeat(np.arange(len(players)), [len(members) for members in players])
    masks = np.arange(1, coalitions - 1)
    some = Coalitions(
        features, pools, _pairs(n, len(masks)), known=(masks[:, None] >> owner[None, :] & 1) == 1, n_explained=n
    )  # fmt: skip
    everyone = np.tile(np.arange(n)[:, None], (1, len(features)))
    everybody = Sweep(features, pools, everyone, rows=np.zeros(1, dtype=np.intp))
    v = np.zeros((n, coalitions, len(predictor.output_names)))
    share = background.weights / background.weights.sum()
    inner = np.zeros((some.variants, v.shape[2]))
    sweeps = [everybody, some] if len(masks) else [everybody]
    for batch in run.stream(predictor, background, sweeps):
        if batch.sweep == 0:
            v[batch.variants, -1] = batch.predictions[:, 0]
        else:
            inner[batch.variants] += np.einsum("b,vbk->vk", share[batch.rows], batch.predictions)
    v[:, 1:-1] = inner.reshape(n, len(masks), v.shape[2])
    v[:, 0] = weighted_mean(run.predict(predictor, background), background.weights)
    return v


def _pairs(n: int, m: int) -> IntArray:
    """Every explained row with every coalition."""
    return np.stack([np.repeat(np.arange(n), m), np.tile(np.arange(m), n)], axis=1)


# -- the values of a game ----------------------------------------------------------------------------


def shapley_values(v: FloatArray) -> FloatArray:
    """``phi[row, player]`` of games ``v[row, coalition]``, outputs last."""
    p = v.shape[1].bit_length() - 1
    masks = np.arange(v.shape[1])
    size = _sizes(p)
    weight = np.array([factorial(s) * factorial(p - s - 1) / factorial(p) for s in range(p)])
    phi = np.empty((v.shape[0], p, v.shape[2]))
    for i in range(p):
        without = masks[masks >> i & 1 == 0]
        gain = v[:, without | 1 << i] - v[:, without]
        phi[:, i] = np.einsum("s,rsk->rk", weight[size[without]], gain)
    return phi


def _sizes(p: int) -> IntArray:
    """Members of each coalition of p players."""
    return np.asarray((np.arange(2**p)[:, None] >> np.arange(p) & 1).sum(axis=1), dtype=np.intp)


def interaction_values(v: FloatArray) -> FloatArray:
    """``phi[row, i, j]``: half the Shapley interaction index off the diagonal; rows sum to the Shapley values."""
    p = v.shape[1].bit_length() - 1
    masks = np.arange(v.shape[1])
    size = _sizes(p)
    weight = np.array([factorial(s) * factorial(p - s - 2) / (2 * factorial(p - 1)) for s in range(p - 1)])
    phi = np.zeros((v.shape[0], p, p, v.shape[2]))
    for i in range(p):
        for j in range(i):
            S = masks[(masks >> i & 1 == 0) & (masks >> j & 1 == 0)]
            both = v[:, S | 1 << i | 1 << j] - v[:, S | 1 << i] - v[:, S | 1 << j] + v[:, S]
            phi[:, i, j] = phi[:, j, i] = np.einsum("s,rsk->rk", weight[size[S]], both)
    own = np.arange(p)
    phi[:, own, own] = shapley_values(v) - phi.sum(axis=2)
    return phi
