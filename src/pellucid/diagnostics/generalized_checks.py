"""The caveats of generalised functional ANOVA: features that cannot be told apart, few rows per coefficient, points off
the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from pellucid.data import Data
from pellucid.diagnostics.decomposition_checks import decomposition_caveats
from pellucid.diagnostics.off_data import associations, off_data_caveat
from pellucid.explanations.caveat import Caveat
from pellucid.explanations.decomposition import Decomposition
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import percent

_MIXED = 0.9
_WORTH = 0.01  # of the variance: smaller parts may mix
_LOOKED_AT = 12  # components, the largest
_OPTIMISM = 0.02
_ROOM = 0.1  # rows that are not used up, as a share: with fewer, R2 says nothing

_FEWER = "Give more rows, fewer features (features=[...]), order=1 or a smaller grid."


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
        caveats.extend(_mixed(found, mixing))
    if found.density == "data":
        caveats.extend(_too_good(found, data, columns, rows, parameters))
    if found.density == "uniform":
        caveats.extend(_uniform(data, columns, run))
    return tuple(caveats)


def _mixed(found: Decomposition, mixing: Callable[[int], float]) -> Iterator[Caveat]:
    """Of the largest components, the one that others can say best."""
    shares = np.abs(found.stacked()).max(axis=-1)
    said = {int(k): mixing(int(k)) for k in found.ranking[:_LOOKED_AT] if shares[k] > _WORTH}
    worst = max(said, key=lambda k: said[k], default=0)
    if said and said[worst] > _MIXED:
        name = found.components[worst].name
        what = f"the main effect of {name}" if len(found.sets[worst]) == 1 else name
        yield Caveat(
            code="mixed-effects",
            message=(
                f"Functions of the other features can say {percent(said[worst])} of {what}: the data hardly tell to"
                " which of them it belongs."
            ),
            value=said[worst],
            threshold=_MIXED,
            advice="Read such parts as one, leave one of them out of features=, or use method='ale'.",
            feature=name,
        )


def _too_good(
    found: Decomposition, data: Data, columns: tuple[int, ...], rows: int, parameters: float
) -> Iterator[Caveat]:
    """R2 at rows that did not take part, by generalised cross-validation, against that at those that did."""
    room = max(1.0 - parameters / rows, 1.0 / rows)
    possible = np.prod([float(max(data.schema.features[j].distinct, 1)) for j in columns])
    if room < _ROOM and rows < possible:
        yield Caveat(
            code="too-many-coefficients",
            message=(
                f"{parameters:,.0f} coefficients were fitted to {rows:,} different rows: they can reproduce any"
                " predictions there, and say nothing about other rows."
            ),
            value=parameters / rows,
            threshold=1.0 - _ROOM,
            advice=_FEWER,
        )
        return
    lost = np.maximum(1.0 - np.atleast_1d(found.r2), 0.0)
    gap = float((lost / room**2 - lost).max(initial=0.0))
    if gap > _OPTIMISM:
        k = int(np.argmax(lost))
        honest = max(1.0 - float(lost[k]) / room**2, 0.0)
        yield Caveat(
            code="too-many-coefficients",
            message=(
                f"{parameters:,.0f} coefficients were fitted to {rows:,} different rows: the decomposition reproduces"
                f" {percent(1.0 - float(lost[k]))} of the variance there, but about {percent(honest)} at other rows."
            ),
            value=gap,
            threshold=_OPTIMISM,
            advice=_FEWER,
        )


def _uniform(data: Data, columns: tuple[int, ...], run: Run) -> Iterator[Caveat]:
    """Of the features that go together, the one most associated with another."""
    strengths = associations(data, run)
    if strengths is None or len(strengths) < 2:
        return
    others = strengths - np.eye(len(strengths)) * strengths
    worst = max(columns, key=lambda j: float(others[j].max()))
    for caveat in off_data_caveat(data, worst, run, method="the uniform density"):
        yield Caveat(
            code=caveat.code,
            message=caveat.message,
            value=caveat.value,
            threshold=caveat.threshold,
            advice="Use density='data' or density='support'.",
            feature=caveat.feature,
        )
