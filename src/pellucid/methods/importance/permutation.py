"""Permutation importance: how much worse the model gets when a feature's values are mixed up.

Breiman 2001; Fisher, Rudin and Dominici 2019.

Definition. ``importance_j = e_perm / e_orig`` or ``e_perm - e_orig``, where e is the loss and e_perm the loss after
x_j was given to other rows. Three schemes: ``shuffle`` (random permutations, repeated), ``halves`` (split the
rows in two at random and swap x_j between the halves, repeated) and ``pairs``: every row with every other
row's value, the exact expectation over all n(n-1) pairs.

Estimator for pairs. A row's prediction depends on the donor only through its value, so the n^2 pairs need
n times (number of distinct values) predictions, and each row's loss is the mean over values weighted by
how many other rows hold them. A loss that is no mean over rows (AUC, RMSE) is averaged over the n-1 cyclic
shifts, which pass through all pairs.

When it misleads:
1. correlated features: mixed rows are unrealistic, and the importance is split between them;
2. on training data an overfitted feature looks important: use held-out data;
3. interactions count for every feature in them, so the values do not add up.

Weights count rows: in ``pairs`` a row of weight two has one twin that may give it its own value.

Cost. Rows times repeats for each feature, less where a feature has few values: rows that kept their value
are not asked again. Nothing where the model is a sum over its features, which is read (see `pellucid.reading`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.diagnostics.by_measure import permutation_caveats
from pellucid.diagnostics.correlated import Measured
from pellucid.errors import InputError
from pellucid.explanations import Header, Importance
from pellucid.methods.importance.estimation.donors import Plan, direct_plan, donor_rows, joint_codes, plan_of
from pellucid.methods.importance.estimation.loss_change import Compare, Setting, relative
from pellucid.methods.importance.estimation.row_and_donor import (
    POPULATION,
    THESE_ROWS,
    Before,
    Permuted,
    paired_losses,
    permuted_losses,
)
from pellucid.models import Predictor
from pellucid.reading import Answer, ModelAnswer, answer
from pellucid.runner import Intervention, Run, exchange_intervention

Scheme = Literal["shuffle", "halves", "pairs"]
Player = tuple[int, ...]
_MOST_SHIFTS = 1000
_JOINT_REPEATS, _JOINT_ROWS = 2, 1000  # at most this much is asked, where it is enough, of features permuted together


def permutation_importance(
    predictor: Predictor,
    data: Data,
    *,
    loss: Any = None,
    compare: Compare = "difference",
    repeats: int = 5,
    scheme: Scheme = "shuffle",
    holdout: Data | None = None,
    run: Run,
) -> Importance:
    """Loss increase when each feature (or group) is given to other rows."""
    if len(data) < 2:
        raise InputError("permutation importance needs at least two rows to exchange values between; X has one.")
    players = data.schema.players()
    if scheme == "pairs":
        donors = _all_shifts(data)
        interventions = (_with_every_value(data, player) for player in players.values())
        asked = answer(run, predictor, data, *interventions, full=True)
        before = Before.of(Setting.of(predictor, data, loss, asked.itself()), compare)
        results = [_pairs(asked.only(s), before, player) for s, player in enumerate(players.values())]
    else:
        run.scales_with("repeats", repeats)
        donors = donor_rows(run, data, scheme, repeats)
        shuffled = _Shuffled.of(run, predictor, data, list(players.values()), donors)
        before = Before.of(Setting.of(predictor, data, loss, shuffled.asked.itself()), compare)
        results = shuffled.losses(before, scheme)
    setting = before.setting
    values, errors = np.array([one.value for one in results]), np.array([one.se for one in results])

    def joint(columns: Player) -> float:
        if scheme == "pairs":
            asked = answer(run, predictor, data, _with_every_value(data, columns), full=True)
            after = _pairs(asked, before, columns).mean
        else:
            some = donors[: max(_JOINT_REPEATS, -(-_JOINT_ROWS // len(data)))]
            after = _Shuffled.of(run, predictor, data, [columns], some).losses(before, scheme)[0].mean
        return relative(after, setting.baseline, compare)

    return Importance(
        method="permutation",
        measure=setting.loss.name,
        compare=compare,
        values=values,
        se=errors,
        low=np.array([one.low for one in results]),
        high=np.array([one.high for one in results]),
        repeats=np.stack([one.repeats for one in results]),
        baseline=setting.baseline,
        joint=relative(_all_exchanged(setting, donors), setting.baseline, compare),
        header=Header.of(
            predictor,
            data,
            run,
            {
                "method": "permutation",
                "random_state": run.seed,
                "loss": setting.loss.name,
                "compare": compare,
                "repeats": repeats,
                "scheme": scheme,
                "interval": THESE_ROWS if any(one.about == THESE_ROWS for one in results) else POPULATION,
            },
            scale="loss",
            caveats=permutation_caveats(
                predictor,
                data,
                run,
                Measured(players, values, errors, compare, joint),
                loss=setting.loss,
                baseline=setting.baseline,
                y=setting.y,
                holdout=holdout,
            ),
        ),
        members=data.schema.members(),
    )


def _all_exchanged(setting: Setting, donors: IntArray) -> float:
    """The loss with all features of another row: that row's own prediction, which is known."""
    if not len(donors):
        return np.nan
    return float(np.mean([setting.loss(setting.y, setting.prediction[d], setting.weights) for d in donors]))


# -- shuffle and halves ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Shuffled:
    """The table with x_j taken from the donor rows, for every player and repeat; and who predicts it."""

    plans: list[Plan]
    asked: Answer
    donors: IntArray

    @classmethod
    def of(cls, run: Run, predictor: Predictor, data: Data, players: list[Player], donors: IntArray) -> _Shuffled:
        """Whoever reads the model answers as it comes; for the model itself it pays to ask as little as possible."""
        plans = [direct_plan(data, player, donors) for player in players]
        asked = answer(run, predictor, data, *(plan.intervention for plan in plans), full=True)
        if asked.engine == "model":
            plans = [plan_of(data, player, donors) for player in players]
            asked = ModelAnswer(run, predictor, data, tuple(plan.intervention for plan in plans), full=True)
        return cls(plans, asked, donors)

    def losses(self, before: Before, scheme: Scheme) -> list[Permuted]:
        """The losses of every player."""
        tables = zip(self.plans, self.asked.tables(partial=True), strict=True)
        pairing = 2 if scheme == "halves" else 1
        return [
            permuted_losses(before, self.donors, plan.repeats(table, before.setting.prediction), pairing)
            for plan, table in tables
        ]


# -- all pairs ---------------------------------------------------------------------------------------


def _with_every_value(data: Data, player: Player) -> Intervention:
    """All rows with each of the distinct values in turn."""
    return exchange_intervention(data, player, joint_codes(data, player)[1])


def _pairs(asked: Answer, before: Before, player: Player) -> Permuted:
    """Expected loss over all pairs (row, other row's value)."""
    data, setting = asked.data, before.setting
    codes, _ = joint_codes(data, player)
    if setting.loss.rows is None and data.weighted:
        raise InputError(
            f"scheme='pairs' with loss={setting.loss.name!r} cannot weigh rows; use a loss that is a mean over rows, or"
            " scheme='shuffle'."
        )
    if setting.loss.rows is None:
        return _by_shifts(before, asked.collect(), codes)
    own = np.minimum(data.weights, 1.0)  # a row of weight w has w - 1 twins of itself
    mass = np.bincount(codes, weights=data.weights)
    total, given = np.zeros(len(data)), np.zeros(len(mass))
    for batch in asked.stream():
        for v, predictions in zip(range(batch.variants.start, batch.variants.stop), batch.predictions, strict=True):
            of_rows = setting.loss.rows(setting.y[batch.rows], predictions)
            # Every row but itself holds this value.
            total[batch.rows] += (mass[v] - np.where(codes[batch.rows] == v, own[batch.rows], 0.0)) * of_rows
            given[v] += data.weights[batch.rows] @ of_rows
    others = data.weights.sum() - own
    rows = total / others
    kept = np.asarray(setting.row_loss) * own  # with its own value a row has the loss that it had
    mean = float(np.average(rows, weights=data.weights))
    return paired_losses(before, np.array([mean]), rows, (given[codes] - kept) / others)


def _all_shifts(data: Data) -> IntArray:
    """Donors of the n - 1 cyclic shifts; none where there are too many to go through."""
    n = len(data)
    shifts = np.arange(1, n if n <= _MOST_SHIFTS and not data.weighted else 1)
    return np.asarray((np.arange(n)[None, :] + shifts[:, None]) % n, dtype=np.intp)


def _by_shifts(before: Before, table: FloatArray, codes: IntArray) -> Permuted:
    """Mean loss over the n - 1 cyclic shifts of x_j, read off the table of predictions (values, rows)."""
    n = len(codes)
    everyone = np.arange(n)
    donors = (everyone + np.arange(1, n)[:, None]) % n
    found = permuted_losses(before, donors, (table[codes[donor], everyone] for donor in donors), 1)
    return replace(found, repeats=np.array([found.value]))
