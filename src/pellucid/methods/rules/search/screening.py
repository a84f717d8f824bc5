"""Which players a rule may be about, where there are very many.

A search looks at every player in every round, each time in rows of all columns: its cost grows with the square of their
number. So of more than `MOST` players only as many are looked at as seem to matter for a row. In random rows each
player is as the row has it with a probability of 30, 50 or 80%, by turns; a player matters as much as being kept goes
with keeping the prediction (correlation; sure independence screening, Fan and Lv 2008). Those that matter beyond chance
are kept in all rows of the next round, where what they hid is seen, until a round finds none (iterated screening, from
the same paper). What a rule promises is measured afterwards, and is as sure as that of any other rule; another rule may
cover more.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.methods.rules.search.perturbation import Sources
from pellucid.methods.rules.search.same_prediction import SamePrediction
from pellucid.models import Predictor
from pellucid.runner import Run

MOST = 100  # players
ROWS = 2000
_KEPT = (0.3, 0.5, 0.8)
_BEYOND_CHANCE = 4.0  # standard errors: of 1,000 players that do not matter, one in 30 searches
CELLS = 4_000_000  # of rows that are held at once


def mattering(
    predictor: Predictor,
    sources: Sources,
    same: SamePrediction,
    weights: FloatArray,
    row: int,
    run: Run,
    rows: int,
    rounds: int = 4,
) -> IntArray:
    """The positions of the players that seem to matter for an explained row; of so many ``rows`` in a round."""
    generator = run.generator("anchor.screen", row)
    found = np.zeros(len(sources.members), dtype=np.bool_)
    best = np.full(len(found), -np.inf)
    for _ in range(rounds):
        score = _kept_with_it(predictor, sources, same, weights, row, run, rows, found, generator)
        score[found] = -np.inf
        best = np.where(found, np.inf, np.maximum(best, score))
        new = score > _BEYOND_CHANCE
        found |= new
        if not new.any():
            break
    return np.sort(np.argsort(-best, kind="stable")[:MOST])


def _kept_with_it(
    predictor: Predictor,
    sources: Sources,
    same: SamePrediction,
    weights: FloatArray,
    row: int,
    run: Run,
    rows: int,
    fixed: BoolArray,
    generator: np.random.Generator,
) -> FloatArray:
    """By how many standard errors each player goes with the prediction, in rows that have the ``fixed`` as they are."""
    codes, own = sources.codes, sources.codes[sources.n + row]
    owner = np.empty(codes.shape[1], dtype=np.intp)
    for player, columns in enumerate(sources.members):
        owner[list(columns)] = player
    covariance, variance = np.zeros(len(fixed)), 1e-300
    step = max(1, min(rows // len(_KEPT), CELLS // codes.shape[1]))
    for share in _KEPT:
        left = rows // len(_KEPT)
        coins, kept = [], []
        while left > 0:
            n = min(step, left)
            base = generator.choice(sources.n, n, p=weights / weights.sum())
            coin = generator.random((n, len(fixed))) < share
            table = np.where((coin | fixed)[:, owner], own, codes[base])
            kept.append(_same(predictor, sources.data, same, table, row, run))
            coins.append(coin)
            left -= n
        keeps = np.concatenate(kept)
        covariance += (np.concatenate(coins) - share).T @ (keeps - keeps.mean())
        variance += len(keeps) * share * (1 - share) * float(keeps.var())
    return np.asarray(covariance / np.sqrt(variance))


def _same(predictor: Predictor, data: Data, same: SamePrediction, table: FloatArray, row: int, run: Run) -> FloatArray:
    full = run.predict(predictor, data.of_codes(table), full=True)
    return same.same(same.answers(full), row).astype(np.float64)
