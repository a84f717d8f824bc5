"""Which checks effects, decompositions, contributions, local models, rules and clusters run: a result's caveats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.diagnostics import (
    bins_and_orders,
    correlated,
    disagreement,
    few_data,
    left_over,
    local_models,
    off_data,
    overfitting,
    rules,
    sampling_noise,
)
from pellucid.diagnostics.far_row import far_row
from pellucid.diagnostics.fitted_rows import chance_of_unseen, fitted_rows
from pellucid.diagnostics.general import Players, general_caveats
from pellucid.diagnostics.heterogeneity import Changes, heterogeneity_caveat, local_heterogeneity
from pellucid.diagnostics.hidden_reliance import fooled_caveat
from pellucid.explanations import Agreement, Anchor, Attribution, Caveat, Clusters, Decomposition, LocalAttribution
from pellucid.losses import find_loss
from pellucid.models import Predictor
from pellucid.runner import Run

_ROWS = (400, 5000)  # a quick look, and a second one before anything is said: few rows make a curve shaky
_TOP = 5


def effect_caveats(
    predictor: Predictor,
    data: Data,
    over: Data,
    run: Run,
    *,
    chosen: tuple[int, ...],
    points: tuple[FloatArray, ...],
    counts: FloatArray,
    curves: FloatArray,
    rows: IntArray,
    average: bool,
) -> tuple[Caveat, ...]:
    """Everything known against an effect on these data; ``curves`` are those of ``over.take(rows)``."""
    if not run.checks:
        return ()
    caveats = list(general_caveats(predictor, data, run))
    verb, method = ("pdp", "partial dependence") if average else ("ice", "ICE")
    asked = data.schema.names[chosen[0]] if len(chosen) == 1 else tuple(data.schema.names[j] for j in chosen)
    caveats.extend(off_data.off_data_once(data, chosen, run, verb=verb, method=method, asked=asked))
    if average and len(chosen) == 1:
        caveats.extend(heterogeneity_caveat(over, chosen, curves, rows))
    caveats.extend(few_data.support_caveat(data, chosen, points, counts))
    return tuple(caveats)


def ale_caveats(
    predictor: Predictor,
    data: Data,
    run: Run,
    *,
    chosen: tuple[int, ...],
    points: tuple[FloatArray, ...],
    counts: FloatArray,
    inside: BoolArray,
    values: FloatArray,
    se: FloatArray,
    bins: Any,
    recompute: bins_and_orders.Recompute,
    with_bins: bins_and_orders.WithBins,
    second_order: IntArray | None,
    changes: Changes | None,
) -> tuple[Caveat, ...]:
    """Everything known against this effect on these data."""
    if not run.checks:
        return ()
    caveats = list(general_caveats(predictor, data, run))
    caveats.extend(few_data.outside_bins(data, chosen, inside))
    if len(chosen) == 1:
        caveats.extend(few_data.empty_bins(data, chosen[0], points[0], counts))
    else:
        caveats.extend(few_data.empty_cells(data, chosen, counts))
    if len(chosen) > 2:
        with run.checking():
            size = np.ptp(run.predict(predictor, data.take(data.spread(_ROWS[0]))), axis=0)
        caveats.extend(sampling_noise.noisy_cells(data, chosen, counts, values, se, size))
    caveats.extend(few_data.support_caveat(data, chosen, points, counts, cells=True))
    if changes is not None:
        with run.checking():
            caveats.extend(local_heterogeneity(data, chosen[0], *changes(data.take(data.spread(_ROWS[0])))))
    if len(chosen) == 1 and np.ndim(bins) == 0 and not data.schema.features[chosen[0]].nominal:
        with run.checking():
            caveats.extend(bins_and_orders.bin_stability(data, chosen[0], points[0], values, se, with_bins))
    if second_order is not None:
        with run.checking():
            caveats.extend(
                bins_and_orders.order_dependence(
                    data, chosen[0], points[0], values, second_order, recompute, str(predictor.scale)
                )
            )
    return tuple(caveats)


def performance_caveats(
    predictor: Predictor, data: Data, run: Run, y: FloatArray, full: FloatArray
) -> tuple[Caveat, ...]:
    """Everything known against these scores; ``y`` and ``full`` are the outcomes and predictions of the rows."""
    if not run.checks:
        return ()
    task = "classification" if predictor.classes is not None else "regression"
    loss = find_loss(None, task, predictor.raw_scale)
    fitted = tuple(fitted_rows(chance_of_unseen(predictor, data, run), verb="performance"))
    perfect = overfitting.training_data(predictor, data, loss, loss(y, full, data.weights), y, verb="performance")
    return (
        *general_caveats(predictor, data, run),
        *(fitted or perfect),
        *few_data.rare_class(predictor, y, data.weights),
    )


def decomposition_caveats(
    predictor: Predictor, data: Data, run: Run, found: Decomposition, *, mixed: Sequence[int] = (), lost: float = 0.0
) -> tuple[Caveat, ...]:
    """Everything known against a decomposition.

    ``mixed`` are the features whose values the method combined with those of other rows; ``lost`` is the share of the
    variance that was lost by taking cells together.
    """
    if not run.checks:
        return ()
    return (
        *general_caveats(predictor, data, run),
        *off_data.component_off_data(data, run, found, mixed),
        *left_over.left_over(found),
        *left_over.merged_cells(lost),
        *few_data.few_rows(data, found),
        *sampling_noise.noisy_shares(found),
    )


def generalized_caveats(
    predictor: Predictor,
    data: Data,
    run: Run,
    *,
    found: Decomposition,
    columns: tuple[int, ...],
    rows: int,
    parameters: float,
    mixing: Callable[[int], float],
) -> tuple[Caveat, ...]:
    """Everything known against this decomposition on these data.

    ``mixing`` gives for a component the share that parts of other features can say; ``parameters`` the effective number
    of coefficients fitted to so many different ``rows``.
    """
    if not run.checks:
        return ()
    caveats = list(decomposition_caveats(predictor, data, run, found))
    with run.checking():
        caveats.extend(correlated.mixed_components(found, mixing))
    if found.density == "data":
        caveats.extend(few_data.too_many_coefficients(found, data, columns, rows, parameters))
    if found.density == "uniform":
        caveats.extend(off_data.uniform_off_data(data, columns, run))
    return tuple(caveats)


def ale_parts_caveats(
    predictor: Predictor,
    data: Data,
    run: Run,
    *,
    found: Decomposition,
    cells: Mapping[tuple[int, ...], tuple[few_data.Cells, ...]],
) -> tuple[Caveat, ...]:
    """Everything known against this decomposition on these data."""
    if not run.checks:
        return ()
    return (*decomposition_caveats(predictor, data, run, found), *few_data.empty_part_cells(data, cells))


def attribution_caveats(
    predictor: Predictor,
    data: Data,
    run: Run,
    result: Attribution,
    *,
    rows: Data,
    players: Players,
    unread: Caveat | None = None,
    games: Callable[[], tuple[FloatArray, FloatArray] | None],
) -> tuple[Caveat, ...]:
    """Everything known against these contributions; ``games`` gives those of a few rows in the path game and in the
    marginal game, if this is the former.

    A model whose trees or terms were read has been seen through; one that was asked could have known that it was.
    """
    if not run.checks:
        return ()
    caveats = list(general_caveats(predictor, data, run))
    caveats.extend(far_row(data, rows))
    if result.game == "marginal":
        whole = result.settings.get("background") == len(data)  # not a few rows that were chosen to compare with
        caveats.extend(few_data.few_rows_in_all(data, "The average prediction and the contributions") if whole else [])
    caveats += [] if unread is None else [unread]
    caveats.extend(left_over.not_additive(result))
    with run.checking():
        both = games()
    caveats += [] if both is None else disagreement.path_game(result, *both)
    caveats.extend(sampling_noise.imprecise(result))
    caveats.extend(disagreement.conditional_game(result, result.settings.get("effective")))
    caveats.extend(left_over.dense_answer(result))
    caveats.extend(left_over.sparse_answer(result))
    caveats.extend(sampling_noise.missed_tolerance(result))
    if result.game == "marginal" and result.method not in ("tree", "linear"):
        caveats.extend(fooled_caveat(predictor, data, rows, players, run, verb="shap"))
    if result.game == "marginal":
        columns = off_data.singles(players, result.top(_TOP))
        caveats.extend(off_data.off_data_once(data, columns, run, verb="shap", method="the marginal game"))
    return tuple(caveats)


@dataclass(frozen=True, eq=False)
class Facts:
    """What the fits know besides the result: relative distance of the nearest samples, spread of predictions, how it
    was sampled, the predictions (rows, outputs) and, of rows that were mapped to other features, those for the rows
    mapped back.
    """

    nearest: list[float]
    spread: list[FloatArray]
    sampler: str
    tolerance: float | None
    told: FloatArray
    returned: FloatArray | None


def lime_caveats(
    predictor: Predictor, data: Data, rows: Data, run: Run, result: LocalAttribution, *, players: Players, facts: Facts
) -> tuple[Caveat, ...]:
    """Everything known against these local models, of a model and rows in the model's own features."""
    if not run.checks:
        return ()
    caveats = list(general_caveats(predictor, data, run))
    far = list(far_row(data, rows))
    caveats.extend(far)
    kernel = result.settings.get("kernel") != "shap"
    if kernel:
        caveats.extend(local_models.width_decides(result))
    caveats.extend(local_models.low_fidelity(result))
    if kernel:
        caveats.extend(local_models.local_miss(result, facts.spread))
        caveats.extend(local_models.unstable(result, facts.tolerance))
        caveats.extend([] if far else local_models.nothing_near(result, facts.nearest))
    if facts.returned is not None:  # the checks of the model's features are not about these samples
        return (*caveats, *local_models.lossy_space(result, facts.told, facts.returned, facts.spread))
    caveats.extend(fooled_caveat(predictor, data, rows, players, run, verb="lime"))
    if facts.sampler != "correlated" or not kernel:
        place = {name: j for j, name in enumerate(result.feature_names)}
        top = [name for name in result.top(_TOP) if name in players and np.abs(result.values[:, place[name]]).any()]
        caveats.extend(off_data.local_off_data(data, off_data.singles(players, top), run, kernel))
    return tuple(caveats)


def agreement_caveats(result: Agreement) -> Iterator[Caveat]:
    """Whether the methods disagree, and what is known against the local model and the rule of this row."""
    yield from disagreement.methods_disagree(result)
    yield from disagreement.two_scales(result)
    if result.local.settings.get("kernel") != "shap":
        yield from local_models.width_decides(result.local)
    yield from local_models.low_fidelity(result.local)
    yield from local_models.unstable(result.local, None)
    if result.rule is not None:
        yield from (item for item in result.rule.caveats if item.code.startswith("anchor-"))


def anchor_caveats(rule: Anchor, data: Data, row: Data, checked: rules.Checked, run: Run) -> tuple[Caveat, ...]:
    """All caveats of the rule of one row.

    Around a number the interval of predictions that count as the same is the library's choice unless it is given: that
    few rows are in it says nothing about the row.
    """
    usual = len(rule.same) > 0 and rule.settings["within"] is None
    return (
        *far_row(data, row),
        *rules.unreached_rule(rule),
        *([] if usual and checked.common < 0.5 else rules.imbalance(rule, checked.common)),
        *([] if usual else rules.boundary(rule)),
        *rules.rule_bins(rule, checked),
        *off_data.rule_off_data(rule, data, run),
    )


def cluster_caveats(result: Clusters, data: Data, run: Run) -> tuple[Caveat, ...]:
    """Everything known against these clusters."""
    if not run.checks:
        return ()
    return (
        *correlated.clustered_features(result),
        *correlated.subset_together(result),
        *few_data.few_rows_for_clusters(result, data),
    )
