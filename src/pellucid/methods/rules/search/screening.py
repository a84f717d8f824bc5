"""Which players a rule may be about, where there are very many.

A search looks at every player in every round, each time in rows of all columns: its cost grows with the square of their
number. So of more than `MOST` players only as many are looked at as seem to matter for a row. In random rows each
player is as the row has it with a probability of 30, 50 or 80%, by turns; a player matters as much as being kept goes
with keeping the prediction (covariance; sure independence screening, Fan and Lv 2008). What a rule promises is measured
afterwards, and is as sure as that of any other rule; another rule may cover more.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.methods.rules.search.perturbation import Sources
from pellucid.methods.rules.search.same_prediction import SamePrediction
from pellucid.models import Predictor
from pellucid.runner import Run

MOST = 100  # players
ROWS = 2000
_KEPT = (0.3, 0.5, 0.8)
CELLS = 4_000_000  # of rows that are held at once


def mattering(
    predictor: Predictor, sources: Sources, same: SamePrediction, weights: FloatArray, row: int, run: Run, rows: int
) -> IntArray:
    """The positions of the players that seem to matter for an explained row."""
    generator = run.generator("anchor.screen", row)
    codes, members = sources.codes, sources.members
    own = codes[sources.n + row]
    owner = np.empty(codes.shape[1], dtype=np.intp)
    for player, columns in enumerate(members):
        owner[list(columns)] = player
    score = np.zeros(len(members))
    step = max(1, min(rows // len(_KEPT), CELLS // codes.shape[1]))
    for share in _KEPT:
        left = rows // len(_KEPT)
        coins, kept = [], []
        while left > 0:
            n = min(step, left)
            base = generator.choice(sources.n, n, p=weights / weights.sum())
            coin = generator.random((n, len(members))) < share
            table = np.where(coin[:, owner], own, codes[base])
            kept.append(_same(predictor, sources.data, same, table, row, run))
            coins.append(coin)
            left -= n
        keeps = np.concatenate(kept)
        score += (np.concatenate(coins) - share).T @ (keeps - keeps.mean())
    return np.sort(np.argsort(-score, kind="stable")[:MOST])


def _same(predictor: Predictor, data: Data, same: SamePrediction, table: FloatArray, row: int, run: Run) -> FloatArray:
    full = run.predict(predictor, data.of_codes(table), full=True)
    return same.same(same.answers(full), row).astype(np.float64)
