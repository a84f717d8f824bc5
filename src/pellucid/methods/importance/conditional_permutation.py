"""Conditional permutation importance: how much worse the model gets without what a feature adds to the others.

Reference. Strobl et al. 2008 and Debeer and Strobl 2020 (permuting within cells of the other features); Fisher, Rudin
and Dominici 2019 (conditional model reliance); Watson and Wright 2021 (drawing the values).

Definition. ``importance_j = L(y, f(x_j', x_-j)) - L(y, f(x))`` or their ratio, where x_j' is drawn from the
distribution of feature j given the other features x_-j of the same row. It asks whether feature j tells the model
something that the others do not, and asks the model only about rows that could occur. Linear model, squared error,
normal features:
``2 b_j^2 Var(x_j | x_-j)``; permutation importance has ``2 b_j^2 Var(x_j)``. The two agree for independent features.

Estimator. x_j' comes from `pellucid.data.sampling.conditional_draws`, ``repeats`` times for each row. Intervals are for
the population, as those of permutation importance: a row counts as a row, and as one of those from which the draws were
learned, by the row whose own value stands where the drawn one does among what is likely
(`pellucid.data.sampling.column_draws.donors`). Without y the loss is the share of the prediction's variance. Of each
feature ``settings["gain"]`` says by how much its draws beat the copula (nats a row, on rows held out), and
``settings["missed"]`` how much dependence they miss, from 0 to 1 (`pellucid.data.sampling.missed`).

When it misleads:
1. a feature that the others determine has no importance, whatever the model does with it: of two copies both have
   none. Read such features as a group;
2. the distribution given the others is an estimate. Of a single feature the best of several is taken by its held-out
   score (`pellucid.data.sampling.column_draws`), which sees curves, but not every one, and blurs them
   (``benchmarks/draws.py`` has 27 settings of known truth). Groups are drawn along curves where these show clearly
   (`pellucid.data.sampling.structure`), else by a copula, which knows monotone dependence only, or from near rows. What
   is missed is left as importance (caveat "draws-miss"), and no part of the interval. Where ten rows have much of the
   importance (``settings["carried"]``, caveat "few-carry-all"), the tails decide, of which draws know least: no value
   beyond those that occur is drawn;
3. on training data, as permutation importance.

Cost. Rows (at most 5,000, fewer in a table of many columns) times repeats for each feature.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.data.sampling.conditional_draws import conditional_draws
from pellucid.diagnostics.by_measure import conditional_caveats
from pellucid.errors import InputError
from pellucid.explanations import Header, Importance
from pellucid.methods.importance.estimation.loss_change import Setting
from pellucid.methods.importance.estimation.row_and_donor import POPULATION, THESE_ROWS, Before, permuted_losses
from pellucid.methods.importance.request import Request
from pellucid.reading import answer
from pellucid.runner import Intervention, Run

_MOST_ROWS, _FEWEST_ROWS = 5000, 100
_MOST_CELLS = 100_000  # rows times columns
_WIDEST = 2000


def conditional_permutation(request: Request) -> Importance:
    """Loss increase when each feature (or group) is drawn given the others."""
    q, run, predictor = request, request.run, request.predictor
    _check(q.data)
    chosen = _rows(q.data, run)
    data = q.data if len(chosen) == len(q.data) else q.data.take(chosen)
    players = data.schema.players()
    generators = run.generator("conditional.draws"), run.generator("conditional.reference")
    draws = conditional_draws(q.data, players, chosen, generators, q.repeats)
    interventions = (_intervention(data, columns, draws.of[name].codes) for name, columns in players.items())
    asked = answer(run, predictor, data, *interventions, full=True)
    before = Before.of(Setting.of(predictor, data, q.loss, asked.itself()), q.compare)
    setting, tables = before.setting, zip(players, asked.tables(partial=True), strict=True)
    results = [permuted_losses(before, draws.of[name].donors, table, 1) for name, table in tables]
    carried = np.array([one.carried for one in results])
    values, errors = np.array([one.value for one in results]), np.array([one.se for one in results])
    return Importance(
        method="conditional",
        measure=setting.loss.name,
        compare=q.compare,
        values=values,
        se=errors,
        low=np.array([one.low for one in results]),
        high=np.array([one.high for one in results]),
        repeats=np.stack([one.repeats for one in results]),
        baseline=setting.baseline,
        header=Header.of(
            predictor,
            data,
            run,
            {
                "method": "conditional",
                "random_state": run.seed,
                "loss": setting.loss.name,
                "compare": q.compare,
                "repeats": q.repeats,
                "conditional": draws.estimator,
                "gain": {name: one.choice.gain for name, one in draws.of.items()},
                "missed": {name: one.missed.association for name, one in draws.of.items()},
                "carried": dict(zip(players, carried.tolist(), strict=True)),
                "interval": THESE_ROWS if any(one.about == THESE_ROWS for one in results) else POPULATION,
                "rows": len(data),
            },
            scale="loss",
            caveats=conditional_caveats(
                predictor, data, run, players=players, draws=draws, values=values, carried=carried
            ),
        ),
        members=data.schema.members(),
    )


def _intervention(data: Data, columns: tuple[int, ...], codes: FloatArray) -> Intervention:
    """Each row with its own drawn values, once per repeat."""
    pools: tuple[Any, ...] = tuple(data.pool(j, codes[..., f].ravel()) for f, j in enumerate(columns))
    cells = np.arange(codes.shape[0] * codes.shape[1]).reshape(codes.shape[:2])
    return Intervention(columns, pools, np.repeat(cells[..., None], len(columns), axis=2))


def _rows(data: Data, run: Run) -> IntArray:
    """The rows that are asked about: all, or a seeded sample of a large table."""
    most = int(np.clip(_MOST_CELLS // len(data.schema.features), _FEWEST_ROWS, _MOST_ROWS))
    if len(data) <= most:
        return np.arange(len(data))
    counting = np.flatnonzero(data.weights > 0)
    return np.sort(run.generator("conditional.rows").choice(counting, min(most, len(counting)), replace=False))


def _check(data: Data) -> None:
    if len(data) < 2:
        raise InputError(
            "conditional permutation importance needs at least two rows to learn how features are correlated; X has"
            " one."
        )
    if len(data.schema.features) > _WIDEST:
        raise InputError(
            f"X has {len(data.schema.features)} features; how they are correlated is learned for at most {_WIDEST}:"
            " give fewer columns, or use method='permutation'."
        )
