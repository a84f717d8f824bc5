"""What an explanation leaves out of the predictions it is about, or says in pieces too small to read."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pellucid.arrays import FloatArray, IntArray, row_blocks, sum_of_sizes
from pellucid.explanations import Attribution, Caveat, Decomposition
from pellucid.words import counted, percent, quantity

_RESIDUAL = 1e-4  # of the row's numbers; single precision stays far below
_LEFT = 0.05  # of the variance of the predictions
_LOST = 0.005
TOP = 5  # contributions of a row that are read one by one
_PIECE = 0.05  # of all contributions: a small piece
_PIECES = 10
_SCATTERED = 0.3


def not_additive(result: Attribution) -> Iterator[Caveat]:
    """Base and contributions do not add up to the prediction."""
    worst = result.additivity
    if not worst.relative <= _RESIDUAL:  # NaN is no small residual
        yield Caveat(
            code="not-additive",
            message=(
                f"Base value and contributions miss the prediction of row {result.row_labels.name(worst.row)} by"
                f" {quantity(worst.residual, result.scale, change=True, sign=False)},"
                f" {percent(worst.relative)} of the row's numbers."
            ),
            value=worst.relative,
            threshold=_RESIDUAL,
            advice=(
                "A model whose predictions change from call to call, or with the other rows of a batch, has no"
                " contributions that add up: make it deterministic first."
            ),
        )


def left_over(found: Decomposition) -> Iterator[Caveat]:
    """Interactions of more features, or detail finer than the grid."""
    r2 = found.stacked("r2")
    k = int(np.argmin(r2))
    left = 1.0 - float(r2[k])
    if left <= _LEFT:
        return
    where = f" of {found.output_names[k]}" if len(found.output_names) > 1 else ""
    named = len({name for names in found.sets for name in names})
    reasons, advice = [], "use a finer grid (grid=)"
    if named < len(found.inputs):
        reasons.append("in what the features left out do")
    if found.order < named:
        reasons.append("in interactions of more features")
        advice = f"use order={found.order + 1}" if found.order < 3 else "explain single rows with shap()"
    elsewhere, residual = "", float(found.stacked("residual")[k])
    if found.density == "uniform" and left > 3 * residual + _LEFT:
        elsewhere = (
            f" Over equally likely values only {percent(residual)} is left: the rows are concentrated where such values"
            " are rare."
        )
        advice = "use method='generalized' or method='ale', which look where the rows are"
    yield Caveat(
        code="left-over",
        message=(
            f"Order {found.order} leaves {percent(min(left, 1.0))} of the variance of the predictions{where}"
            f" unexplained: it is {', '.join([*reasons, ''])}{'or ' if reasons else ''}between the points of the"
            f" grid.{elsewhere}"
        ),
        value=left,
        threshold=_LEFT,
        advice=f"Do not read the components as the whole model; {advice}.",
    )


def merged_cells(lost: float) -> Iterator[Caveat]:
    """Cells of the trees that were taken together."""
    if lost > _LOST:
        yield Caveat(
            code="merged-cells",
            message=(
                "The trees have too many thresholds to keep a value between all of them; cells were merged,"
                f" which lost {percent(lost)} of the variance of the predictions."
            ),
            value=lost,
            threshold=_LOST,
            advice="Give fewer features (features=[...]), for which all cells fit, and no grid=.",
        )


def dense_answer(result: Attribution) -> Iterator[Caveat]:
    """Much of the prediction is shared out in pieces too small to read, because Shapley values use every feature.

    A feature is a small piece when less than 5% of all absolute contributions are its own. More than ten of them,
    with more than 30% between them, fire; 21 equal features are the simplest case.
    """
    values = result.stacked()
    overall = sum_of_sizes(values, known=True)
    total = float(overall.sum())
    if not total > 0:
        return
    shares = overall / total
    small = shares[(shares > 0) & (shares < _PIECE)]
    scattered = float(small.sum())
    if len(small) <= _PIECES or scattered <= _SCATTERED:
        return
    lost = _lost(values, np.argsort(-shares, kind="stable")[:TOP])
    yield Caveat(
        code="many-small",
        message=(
            f"{len(small)} features share {percent(scattered)} of all contributions in pieces below {percent(_PIECE)}"
            " each: no short list of features explains these predictions."
        ),
        value=scattered,
        threshold=_SCATTERED,
        advice=(
            f"Use .sparse({TOP}) to read the largest ones; it sums {percent(lost)} of a row's contributions into one"
            " entry, which is the fidelity lost. A larger k loses less, groups= of features none."
        ),
    )


def _lost(values: FloatArray, kept: IntArray) -> float:
    """The mean share of a row's absolute contributions outside the kept features."""
    lost = np.empty((len(values), values.shape[2]))
    for rows in row_blocks(values):
        sizes = np.abs(values[rows])
        whole = sizes.sum(axis=1)
        lost[rows] = (whole - sizes[:, kept].sum(axis=1)) / np.where(whole > 0, whole, 1.0)
    return float(np.nanmean(lost))


def sparse_answer(result: Attribution) -> Iterator[Caveat]:
    """Contributions to a few features only are no Shapley values; the number is what these features cannot say."""
    if "explained" not in result.settings:
        return
    lost = max(1.0 - float(result.settings["explained"]), 0.0)
    few = result.settings["sparse"]
    yield Caveat(
        code="not-shapley",
        message=(
            f"These are not Shapley values: at most {counted(few, 'feature')} got a share, which includes that of the"
            f" others. {percent(lost)} of the variation between coalitions of features is not explained by these."
        ),
        value=lost,
        threshold=0.0,
        advice="Leave sparse= out for the shares of all features; .sparse(k) of that result sums the small ones.",
    )
