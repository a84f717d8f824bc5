"""The caveats of partial dependence and ICE."""

from __future__ import annotations

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.diagnostics.general import general_caveats
from pellucid.diagnostics.heterogeneity import heterogeneity_caveat
from pellucid.diagnostics.off_data import off_data_caveat
from pellucid.diagnostics.support import support_caveat
from pellucid.explanations.caveat import Caveat
from pellucid.models import Predictor
from pellucid.runner import Run


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
    for j in chosen:
        caveats.extend(off_data_caveat(data, j, run, method="partial dependence" if average else "ICE"))
    if average and len(chosen) == 1:
        caveats.extend(heterogeneity_caveat(over, chosen, curves, rows))
    caveats.extend(support_caveat(data, chosen, points, counts))
    return tuple(caveats)
