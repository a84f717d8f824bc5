"""What speaks against a decomposition: parts left over, points that do not occur, cells that were merged, few rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pellucid.arrays import effective_size
from pellucid.data import Data
from pellucid.diagnostics.general import general_caveats
from pellucid.diagnostics.off_data import off_data_caveat
from pellucid.explanations.caveat import Caveat
from pellucid.explanations.decomposition import Decomposition
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import counted, listed, percent

_LEFT = 0.05  # of the variance of the predictions
_LOST = 0.005
_ROWS = 100
_NOISY = 0.02

_METHODS = {"marginal": "partial dependence", "anova": "functional ANOVA"}


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
        *_off_data(data, run, found, mixed),
        *_left_over(found),
        *_thinned(lost),
        *_few_rows(data, found),
        *_unsteady(found),
    )


def _off_data(data: Data, run: Run, found: Decomposition, mixed: Sequence[int]) -> Iterator[Caveat]:
    """The feature that goes together with another most, where averages leave the data."""
    method = _METHODS.get(found.method, found.method)
    caveats = [caveat for j in mixed for caveat in off_data_caveat(data, j, run, method=method)]
    if caveats:
        worst = max(caveats, key=lambda caveat: caveat.value)
        others = listed([caveat.feature for caveat in caveats if caveat is not worst and caveat.feature])
        more = f" The same holds for {others}." if others else ""
        yield Caveat(
            code="off-data",
            message=worst.message + more,
            value=worst.value,
            threshold=worst.threshold,
            advice="Use decompose(method='generalized') or decompose(method='ale').",
            feature=worst.feature,
        )


def _left_over(found: Decomposition) -> Iterator[Caveat]:
    """Interactions of more features, or detail finer than the grid."""
    r2 = found.stacked("r2")
    k = int(np.argmin(r2))
    left = 1.0 - float(r2[k])
    if left <= _LEFT:
        return
    where = f" of {found.output_names[k]}" if len(found.output_names) > 1 else ""
    named = len({name for names in found.sets for name in names})
    reasons, advice = [], "ask for a finer grid (grid=)"
    if named < len(found.inputs):
        reasons.append("in what the features left out do")
    if found.order < named:
        reasons.append("in interactions of more features")
        advice = f"ask for order={found.order + 1}" if found.order < 3 else "ask shap() about single rows"
    elsewhere, residual = "", float(found.stacked("residual")[k])
    if found.density == "uniform" and left > 3 * residual + _LEFT:
        elsewhere = (
            f" Over equally likely values only {percent(residual)} is left: the rows crowd where such values are rare."
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


def _thinned(lost: float) -> Iterator[Caveat]:
    if lost > _LOST:
        yield Caveat(
            code="merged-cells",
            message=(
                "The trees have too many thresholds to keep a value between all of them; cells were taken together,"
                f" which lost {percent(lost)} of the variance of the predictions."
            ),
            value=lost,
            threshold=_LOST,
            advice="Give fewer features (features=[...]), for which all cells fit, and no grid=.",
        )


def _few_rows(data: Data, found: Decomposition) -> Iterator[Caveat]:
    """Averages and R2 over a handful of rows say little about others."""
    size = effective_size(data.weights)
    if found.density == "data" and size < _ROWS:
        yield Caveat(
            code="few-rows",
            message=f"Averages, shares and R2 rest on {_rows(len(data), size)}.",
            value=_ROWS / size,
            threshold=1.0,
            advice="Give more rows of data: with others the shares may differ.",
        )


def _rows(n: int, size: float) -> str:
    """``2 rows``, or where weights make them count for fewer, ``weighted rows that count for 41 rows``."""
    said = counted(round(size), "row")
    return said if size >= n - 0.5 else f"weighted rows that count for {said}"


def _unsteady(found: Decomposition) -> Iterator[Caveat]:
    """Shares that differ between the halves of a sample, or between many and half as many points."""
    se = found.stacked("se")
    worst = float(np.nanmax(se, initial=0.0))
    if worst > _NOISY:
        k = int(np.nanargmax(se.max(axis=-1)))
        yield Caveat(
            code="noisy-shares",
            message=(
                f"Shares are estimated from a limited number of points: that of {found.feature_names[k]} is uncertain"
                f" by {percent(worst)} of the variance."
            ),
            value=worst,
            threshold=_NOISY,
            advice=(
                "Do not rank components whose shares differ by less; fewer features (features=[...]) leave more points"
                " for each."
            ),
        )
