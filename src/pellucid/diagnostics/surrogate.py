"""What a surrogate cannot be trusted for: low fidelity, fidelity on fitted rows alone, parts of the data, unstable
trees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pellucid.data import Data
from pellucid.diagnostics.fitted_rows import fitted_rows
from pellucid.diagnostics.general import general_caveats
from pellucid.explanations import Caveat
from pellucid.explanations.surrogate import Surrogate
from pellucid.explanations.surrogate_words import amount, sized
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import number, percent

_LOW = 0.3  # of the variance that is not reproduced
_FLATTERED = 0.1  # of R2
_WORSE = 1.5  # times the miss over all rows
_OTHER = 0.3  # of the first splits
_PART = 0.05  # of the rows


def surrogate_caveats(
    predictor: Predictor, data: Data, run: Run, found: Surrogate, chance: float | None
) -> tuple[Caveat, ...]:
    """Everything known against this surrogate."""
    if not run.checks:
        return ()
    return (
        *general_caveats(predictor, data, run),
        *low_fidelity(found),
        *flattered(found),
        *fails_in_part(found),
        *unstable(found),
        *(fitted_rows(chance, verb="surrogate") if found.replacement is not None else ()),
    )


def surrogates_caveats(found: Sequence[Surrogate]) -> tuple[Caveat, ...]:
    """Those of several side by side: each named once, where it is worst."""
    worst: dict[str, Caveat] = {}
    for one in found:
        for caveat in one.caveats:
            if caveat.code not in worst or caveat.severity > worst[caveat.code].severity:
                worst[caveat.code] = caveat
    return tuple(worst.values())


def low_fidelity(found: Surrogate) -> Iterator[Caveat]:
    """The surrogate is another model."""
    lost = 1.0 - found.overall
    if lost <= _LOW:
        return
    better = found.best_size
    grows = better > found.size and float(found.curve.held_out.max()) > found.overall + 0.05
    remedy = (
        f"Read nothing off it that the model itself does not show, or use size={better}"
        f" (R² {number(float(found.curve.held_out.max()))})."
        if grows
        else "Read nothing off it that the model itself does not show; try another kind."
    )
    yield Caveat(
        code="surrogate-misses",
        message=(
            f"The surrogate leaves {percent(min(lost, 1.0))} of the variance of the model's predictions unexplained: it"
            " is another model."
        ),
        value=lost,
        threshold=_LOW,
        advice=remedy,
    )


def flattered(found: Surrogate) -> Iterator[Caveat]:
    """On the rows that it was fitted to it looks better than it is."""
    gap = found.fitted - found.overall
    if gap <= _FLATTERED:
        return
    yield Caveat(
        code="flattered",
        message=(
            f"On the rows it was fitted to, R² would be {number(found.fitted)}; on held-out rows it is"
            f" {number(found.overall)}. Part of what the surrogate shows is chance in these rows."
        ),
        value=gap,
        threshold=_FLATTERED,
        advice=(
            f"Use size={found.best_size}, which does best on held-out rows, or fit to more rows (rows=)."
            if found.best_size < found.size
            else "Fit to more rows (rows=)."
        ),
    )


def fails_in_part(found: Surrogate) -> Iterator[Caveat]:
    """It misses a part of the data more than the rest."""
    bad = [group for group in found.subgroups if group.share >= _PART and group.ratio > _WORSE]
    if not bad:
        return
    group = bad[0]
    within = f"; within them R² is {number(group.r2)}" if np.isfinite(group.r2) else ""
    yield Caveat(
        code="fails-in-part",
        message=(
            f"Rows with {group.words} ({percent(group.share)} of all) are missed by {amount(found, group.miss)}"
            f" (RMSE), {number(group.ratio)} times as much as all rows{within}."
        ),
        value=group.ratio,
        threshold=_WORSE,
        advice="Fit a surrogate to these rows alone (rows=), or use a larger size.",
    )


def unstable(found: Surrogate) -> Iterator[Caveat]:
    """Other rows give other splits."""
    if np.isfinite(found.other_splits) and found.other_splits > _OTHER:
        yield Caveat(
            code="unstable-tree",
            message=(
                f"On resampled rows {percent(found.other_splits)} of the first splits of the {sized(found)} use another"
                " feature."
            ),
            value=found.other_splits,
            threshold=_OTHER,
            advice="Read its predictions, not its splits; for what matters use importance().",
        )
