"""Drop-column importance: how much worse the model gets when it is fitted without a feature.

Parr, Turgutlu, Csiszar and Howard 2018; "leave-one-covariate-out" in Lei et al. 2018.

Definition. ``importance_j = e_without_j - e`` or ``e_without_j / e``: e is the cross-validated loss of the model fitted
to all features, e_without_j that of the model fitted without feature (or group) j.

Estimator. The rows are dealt into K folds, the same for all features, classes evenly. Each fold is predicted by models
fitted to the other folds. A loss is the mean over folds, each weighed by its rows.

Error. Where the loss is a mean over rows, from the paired differences of every row's loss with and without j, which
take the fits for given; or from the spread over folds, s / sqrt(K), where that is larger. For other losses (AUC, RMSE)
from the spread over folds, which are not independent: s^2 (1/K + 1/(K-1)), as in Nadeau and Bengio 2003.

When it misleads:
1. correlated features: the fit without one uses the other, so each of them looks useless;
2. it is about the way of fitting, not about the given model, which may use a feature that others could replace;
3. values below zero are no error: without the feature the model overfits less.

Cost. K times (features + 1) fits; a row is predicted once by each; the given model is asked for every row once, to
compare.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.diagnostics.by_measure import refit_caveats
from pellucid.diagnostics.correlated import Measured
from pellucid.errors import InputError
from pellucid.explanations import Header, Importance
from pellucid.losses import Loss
from pellucid.methods.importance.folds import (
    fold_error,
    fold_mass,
    fold_numbers,
    given_loss,
    loss_of,
    student,
    training_rows,
    with_refits,
)
from pellucid.methods.importance.request import Request
from pellucid.models.outcome import outcome_for
from pellucid.models.refit import Refit, Refitted, refitter
from pellucid.stats import Z95, standard_error

Player = tuple[int, ...]


def drop(request: Request) -> Importance:
    """Loss increase of the model fitted without each feature (or group), by cross-validation."""
    q, data, run = request, request.data, request.run
    if q.loss == "variance":
        raise InputError("method='drop' compares with the truth; give a loss such as 'mse' or 'log_loss'.")
    held_out = _HeldOut(q, refitter(q.predictor, data, q.refit, seed=run.seed), fold_numbers(q), loss_of(q))
    given = given_loss(q)
    players = data.schema.players()
    full, *without = held_out.losses([(), *players.values()])
    compared = [held_out.compared(full, one) for one in without]
    values, errors, half = (np.array([part[i] for part in compared]) for i in range(3))
    baseline = held_out.mean(full.folds)

    def joint(columns: Player) -> float:
        return held_out.compared(full, held_out.losses([columns])[0])[0]

    return Importance(
        method="drop",
        measure=held_out.loss.name,
        compare=q.compare,
        values=values,
        se=errors,
        low=values - half,
        high=values + half,
        repeats=np.stack([_relative(one.folds, full.folds, q.compare) for one in without]),
        baseline=baseline,
        header=Header.of(
            q.predictor,
            data,
            run,
            {
                "method": "drop",
                "random_state": run.seed,
                "loss": held_out.loss.name,
                "compare": q.compare,
                "folds": len(full.folds),
                "refits": len(full.folds) * (1 + len(players)),
                "weighted_fit": held_out.refit.weighs,
                "kept_constant": [name for name, one in zip(players, without, strict=True) if one.constant],
                "given_loss": given,
            },
            scale="loss",
            caveats=refit_caveats(
                q.predictor,
                data,
                run,
                Measured(players, values, errors, q.compare, joint),
                each=np.stack([one.folds - full.folds for one in without], axis=1),
                measure=held_out.loss.name,
                losses=(given, baseline),
                lacking=held_out.lacking,
                dropped=True,
            ),
        ),
        members=data.schema.members(),
    )


@dataclass(frozen=True, eq=False)
class _Losses:
    """Loss on each fold, of every row where the loss is a mean over rows; NaN where it was not reached.

    ``constant``: a column was held constant, not dropped.
    """

    folds: FloatArray
    rows: FloatArray | None
    constant: bool


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """Losses on held-out folds."""

    request: Request
    refit: Refit
    fold: IntArray
    loss: Loss

    def losses(self, players: list[Player]) -> list[_Losses]:
        """Cross-validated losses of the model fitted without each player; fold by fold."""
        q, data = self.request, self.request.data
        y, n_folds = outcome_for(q.predictor, data), int(self.fold.max()) + 1
        held = [np.flatnonzero(self.fold == k) for k in range(n_folds)]
        tables = [data.take(rows) for rows in held]
        tasks = [(k, p) for k in range(n_folds) for p in range(len(players))]
        fits = [partial(self.refit, training_rows(self.fold, k), without=players[p]) for k, p in tasks]
        of_folds = np.full((len(players), n_folds), np.nan)
        of_rows = np.full((len(players), len(data)), np.nan)
        constant = np.zeros(len(players), dtype=bool)
        left = iter(tasks)

        def score(refitted: Refitted) -> None:
            k, p = next(left)
            prediction = q.run.predict(refitted.predictor, tables[k], full=True)
            of_folds[p, k] = self.loss(y[held[k]], prediction, data.weights[held[k]])
            if self.loss.rows is not None:
                of_rows[p, held[k]] = self.loss.rows(y[held[k]], prediction)
            constant[p] |= refitted.constant

        with_refits(q.run, fits, len(data), score)
        rows = [None if self.loss.rows is None else row for row in of_rows]
        return [_Losses(*parts) for parts in zip(of_folds, rows, constant.tolist(), strict=True)]

    @property
    def lacking(self) -> float:
        """Largest share of the rows that a fit does without."""
        mass = fold_mass(self.request.data, self.fold)
        return float(mass.max() / mass.sum())

    def mean(self, of_folds: FloatArray) -> float:
        """Mean over the folds that are known, each weighed by its rows."""
        known = np.isfinite(of_folds)
        if not known.any():
            return np.nan
        mass = fold_mass(self.request.data, self.fold)
        return float(np.average(of_folds[known], weights=mass[known]))

    def compared(self, full: _Losses, one: _Losses) -> tuple[float, float, float]:
        """Importance, its standard error and the half width of its interval."""
        compare = self.request.compare
        folds = np.isfinite(one.folds) & np.isfinite(full.folds)
        after = self.mean(np.where(folds, one.folds, np.nan))
        before = self.mean(np.where(folds, full.folds, np.nan))
        if compare == "ratio" and before == 0:
            raise InputError(
                "compare='ratio' divides by the model's loss, which is zero here; use compare='difference'."
            )
        ratio, scale = (after / before, before) if compare == "ratio" else (1.0, 1.0)
        value = ratio if compare == "ratio" else after - before
        each = (one.folds - ratio * full.folds)[folds] / scale
        if one.rows is None or full.rows is None:
            error = float(fold_error(each))
            return value, error, student(len(each)) * error
        known = np.isfinite(one.rows) & np.isfinite(full.rows)
        change = (one.rows - ratio * full.rows)[known] / scale
        over_rows = float(standard_error(change, self.request.data.weights[known])) if known.any() else np.nan
        over_folds = float(each.std(ddof=1) / np.sqrt(len(each))) if len(each) > 1 else np.nan
        error = float(np.fmax(over_rows, over_folds))
        return value, error, Z95 * error


def _relative(after: FloatArray, before: FloatArray, compare: str) -> FloatArray:
    if compare == "difference":
        return after - before
    return np.divide(after, before, out=np.full(after.shape, np.nan), where=before != 0)
