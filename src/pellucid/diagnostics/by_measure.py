"""Which checks measures of importance and of interaction run: from a result to its caveats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.data.sampling.conditional_draws import Draws
from pellucid.diagnostics import correlated, few_data, interactions, off_data, overfitting, sampling_noise
from pellucid.diagnostics.disagreement import measures_disagree
from pellucid.diagnostics.fitted_rows import chance_of_unseen, fitted_rows
from pellucid.diagnostics.general import Players, general_caveats, interrupted
from pellucid.diagnostics.heterogeneity import hidden_interaction
from pellucid.explanations import Caveat, ImportanceComparison, Interactions
from pellucid.losses import Loss
from pellucid.models import Predictor
from pellucid.runner import Run

_FEWEST = 100
_TOP = 5
_NOTICED = 0.05  # an index worth speaking of
_TOP_SETS = 3  # features whose place among the data is looked at


def permutation_caveats(
    predictor: Predictor,
    data: Data,
    run: Run,
    found: correlated.Measured,
    *,
    loss: Loss,
    baseline: float,
    y: FloatArray,
    holdout: Data | None,
) -> tuple[Caveat, ...]:
    """Everything known against these importances on these data."""
    if not run.checks or run.interrupted:
        return general_caveats(predictor, data, run)
    caveats = list(general_caveats(predictor, data, run))
    caveats.extend(few_data.few_rows_in_all(data, "Importances"))
    if data.y is not None:
        caveats.extend(_on_training_rows(predictor, data, run, loss, baseline, y))
    if holdout is not None:
        with run.checking():
            caveats.extend(overfitting.overfitted(predictor, holdout, run, loss, baseline))
    caveats.extend(off_data.mixed_off_data(data, found.players, found.values, run))
    with run.checking():
        caveats.extend(correlated.shared_importance(data, run, found, "share their importance: permuted"))
    return tuple(caveats)


def _on_training_rows(
    predictor: Predictor, data: Data, run: Run, loss: Loss, baseline: float, y: FloatArray
) -> list[Caveat]:
    """Rows that fill the leaves of the model as its training rows did, or on which it is almost perfect."""
    fitted = list(fitted_rows(chance_of_unseen(predictor, data, run), verb="importance"))
    return fitted or list(overfitting.training_data(predictor, data, loss, baseline, y))


def pdp_importance_caveats(predictor: Predictor, data: Data, run: Run, values: FloatArray) -> tuple[Caveat, ...]:
    """Features that change predictions in single rows but not on average."""
    if not run.checks or run.interrupted:
        return general_caveats(predictor, data, run)
    with run.checking():
        hidden = list(hidden_interaction(predictor, data, run, values.sum(axis=-1)))
    return (*general_caveats(predictor, data, run), *hidden)


def conditional_caveats(
    predictor: Predictor,
    data: Data,
    run: Run,
    *,
    players: Players,
    draws: Draws,
    values: FloatArray,
    carried: FloatArray,
) -> tuple[Caveat, ...]:
    """Everything known against these importances on these data; ``carried`` is the share of ten rows in each."""
    caveats = general_caveats(predictor, data, run)
    if not run.checks or run.interrupted or len(data) < _FEWEST:
        return caveats
    top = np.array(list(players))[np.argsort(-values, kind="stable")][:_TOP]
    single = [name for name in top if len(players[name]) == 1]
    off: list[Caveat] = []
    for name in single:
        drawn, j = draws.of[name], players[name][0]
        found = list(off_data.draws_off_data(data, name, j, drawn.codes[0, :, 0], draws.strength))
        off += found or off_data.draws_miss_dependence(data, name, drawn.missed)
    codes = {name: one.codes for name, one in draws.of.items()}
    shares = dict(zip(players, carried.tolist(), strict=True))
    off += [caveat for name in top for caveat in sampling_noise.few_rows_carry(name, shares[name])]
    return (*caveats, *correlated.determined(data, players, codes), *off)


def sage_caveats(
    predictor: Predictor,
    data: Data,
    run: Run,
    *,
    players: Players,
    values: FloatArray,
    se: FloatArray,
    loss: Loss,
    y: FloatArray,
    baseline: float,
    tolerance: float | None,
) -> tuple[Caveat, ...]:
    """Everything known against these importances on these data."""
    caveats = list(general_caveats(predictor, data, run))
    if not run.checks:
        return tuple(caveats)
    names = list(players)
    caveats.extend(sampling_noise.imprecise_importance(names, values, se, tolerance))
    if run.interrupted:
        return tuple(caveats)
    caveats.extend(few_data.few_rows_in_all(data, "Importances"))
    if data.y is not None:
        caveats.extend(_on_training_rows(predictor, data, run, loss, baseline, y))
    top = off_data.singles(players, [names[i] for i in np.argsort(-values, kind="stable")[:_TOP]])
    caveats.extend(off_data.off_data_once(data, top, run, verb="sage", method="SAGE"))
    caveats.extend(correlated.split_importance(data, run, players, values))
    return tuple(caveats)


def variance_caveats(
    predictor: Predictor,
    data: Data,
    run: Run,
    *,
    players: Players,
    total: FloatArray,
    half: FloatArray,
    method: str,
    tolerance: float | None,
    carried: float,
) -> tuple[Caveat, ...]:
    """Everything known against these shares ``(players, outputs)`` on these data; ``carried`` is the share of the
    variance that ten points have.
    """
    if not run.checks or run.interrupted:
        return general_caveats(predictor, data, run)
    caveats = list(general_caveats(predictor, data, run))
    overall = total.mean(axis=-1)
    caveats.extend(correlated.independence_assumed(data, run, players, overall))
    names = list(players)
    top = [names[i] for i in np.argsort(-overall, kind="stable")[:_TOP] if overall[i] >= _NOTICED]
    caveats.extend(off_data.off_data_once(data, off_data.singles(players, top), run, verb="sobol", method=method))
    caveats.extend(sampling_noise.wide_intervals(players, total, half, run, tolerance))
    caveats.extend(sampling_noise.few_points_carry(carried))
    caveats.extend(overfitting.not_borne_out(predictor, data, run, players, total))
    return tuple(caveats)


def shapley_effect_caveats(
    predictor: Predictor,
    data: Data,
    run: Run,
    *,
    players: Players,
    values: FloatArray,
    half: FloatArray,
    tolerance: float | None,
) -> tuple[Caveat, ...]:
    """Everything known against Shapley effects ``(players, outputs)`` on these data."""
    if not run.checks or run.interrupted:
        return general_caveats(predictor, data, run)
    caveats = list(general_caveats(predictor, data, run))
    caveats.extend(sampling_noise.wide_intervals(players, values, half, run, tolerance))
    caveats.extend(overfitting.not_borne_out(predictor, data, run, players, values))
    with run.checking():
        caveats.extend(correlated.borrowed_share(predictor, data, run, players, values))
    return tuple(caveats)


def refit_caveats(
    predictor: Predictor,
    data: Data,
    run: Run,
    found: correlated.Measured,
    *,
    each: FloatArray,
    measure: str,
    losses: tuple[float, float],
    lacking: float,
    dropped: bool,
) -> tuple[Caveat, ...]:
    """Everything known against importance by models fitted again, of features that were ``dropped`` or else permuted;
    ``losses`` are those of the given model and of the others.
    """
    caveats = list(general_caveats(predictor, data, run))
    if not run.checks or run.interrupted:
        return tuple(caveats)
    caveats.extend(overfitting.other_model(measure, *losses))
    caveats.extend(few_data.fewer_rows(lacking))
    caveats.extend(sampling_noise.unsteady_folds(list(found.players), each))
    if not dropped:
        caveats.extend(off_data.mixed_off_data(data, found.players, found.values, run))
    words = "replace each other: dropped" if dropped else "share their importance: permuted"
    with run.checking():
        caveats.extend(correlated.shared_importance(data, run, found, words))
    return tuple(caveats)


def p_value_caveats(
    before: tuple[Caveat, ...],
    run: Run,
    *,
    p_values: FloatArray,
    refits: int,
    measure: str,
    losses: Callable[[], tuple[float, float]] | None,
    noise: float,
) -> tuple[Caveat, ...]:
    """The caveats of an importance, and what speaks against its p-values."""
    if not run.checks:
        return before
    if run.interrupted:
        return before if any(c.code == "partial" for c in before) else (*before, *interrupted(run))
    caveats = list(before)
    if losses is not None:
        with run.checking():
            caveats.extend(overfitting.other_model(measure, *losses(), where="these rows"))
    caveats.extend(overfitting.noise_by_heart(noise, measure))
    caveats.extend(sampling_noise.coarse_p_values(p_values, refits))
    return tuple(caveats)


def comparison_caveats(result: ImportanceComparison, predictor: Predictor, data: Data, run: Run) -> tuple[Caveat, ...]:
    """What holds for every method, what each method says against itself, and where they disagree."""
    if not run.checks:
        return ()
    caveats = list(general_caveats(predictor, data, run))
    seen = {(caveat.code, caveat.feature) for caveat in caveats}
    for part in result.parts:
        for caveat in part.caveats:
            if (caveat.code, caveat.feature) not in seen:
                caveats.append(replace(caveat, message=f"{part.method}: {caveat.message}"))
                seen.add((caveat.code, caveat.feature))
    return (*caveats, *measures_disagree(result, data, run))


def h_caveats(predictor: Predictor, data: Data, result: Interactions, run: Run) -> tuple[Caveat, ...]:
    """Everything known against these values on these data."""
    caveats = list(general_caveats(predictor, data, run))
    if not run.checks or run.interrupted:
        return tuple(caveats)
    caveats.extend(few_data.rows_sampled(data, result))
    if result.settings["normalize"]:
        caveats.extend(interactions.weak_joint(result))
        caveats.extend(interactions.above_one(result))
    caveats.extend(interactions.imprecise_interactions(result))
    if result.p_values is not None:
        caveats.extend(overfitting.tested_on_training_data(predictor, data, run))
    return tuple(caveats)


def interaction_caveats(data: Data, players: Players, result: Interactions, run: Run) -> tuple[Caveat, ...]:
    """Those of the method, and what all methods share."""
    if not run.checks:
        return result.caveats
    known = {(caveat.code, caveat.feature) for caveat in result.caveats}
    more = [*interrupted(run)]
    if not run.interrupted:
        leading = dict.fromkeys(name for names in result.top(_TOP_SETS) for name in names)
        columns = off_data.singles(players, list(leading)[:_TOP_SETS])
        more.extend(off_data.off_data_once(data, columns, run, verb="interactions", method="this measure"))
        more.extend(interactions.uncertain_costs(result))
        more.extend(interactions.turned_effects(result))
    new = {(caveat.code, caveat.feature): caveat for caveat in more}
    return (*result.caveats, *(caveat for key, caveat in new.items() if key not in known))
