"""The caveats of compared importances: which features measures disagree about, and what that usually means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.diagnostics.general import general_caveats
from pellucid.diagnostics.off_data import associations
from pellucid.explanations import ImportanceComparison
from pellucid.explanations.caveat import Caveat
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import number, percent

_LARGE = 0.1  # share of a feature that matters by one measure
_TIMES = 3.0  # and that is so many times smaller by another
_MOST = 3
_TOGETHER = 0.5

_GIVEN_OTHERS = ("conditional", "drop")  # what a feature adds to the others
_AVERAGED = ("pdp",)  # blind to interactions that cancel
_BY_DEPENDENCE = ("shapley-effects",)  # credit for what a feature tells of others, whether the model uses it or not
_ABOUT_LOSS = ("permutation", "conditional", "drop", "sage")


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
    return (*caveats, *_disagreements(result, data, run))


def _disagreements(result: ImportanceComparison, data: Data, run: Run) -> Iterator[Caveat]:
    """Features that matter by one measure and hardly by another, the widest gaps first."""
    shares, strengths = result.shares, associations(data, run)
    gaps = []
    for j in range(len(shares)):
        high, low = _extremes(result, j)
        if shares[j, high] >= _LARGE and shares[j, high] > _TIMES * shares[j, low] and _sure(result, j, high, low):
            gaps.append((float(shares[j, high] - shares[j, low]), j, high, low))
    for _, j, high, low in sorted(gaps, reverse=True)[:_MOST]:
        name, a, b = result.feature_names[j], result.methods[high], result.methods[low]
        why, advice = _meaning(a, b, _partner(result, data, j, strengths))
        yield Caveat(
            code="measures-disagree",
            message=(
                f"{name} has {percent(float(shares[j, high]))} of the importance by {a} but"
                f" {percent(float(shares[j, low]))} by {b}. {why}"
            ),
            value=float(shares[j, high] / shares[j, low]) if shares[j, low] > 0 else np.inf,
            threshold=_TIMES,
            advice=advice,
            feature=name,
        )


def _extremes(result: ImportanceComparison, j: int) -> tuple[int, int]:
    known = np.nan_to_num(result.shares[j])
    return int(np.argmax(known)), int(np.argmin(known))


def _sure(result: ImportanceComparison, j: int, high: int, low: int) -> bool:
    """Whether the smaller share stays small at the upper end of its interval (where there is one)."""
    part, column = result.parts[low], result.excess[:, low]
    error = 1.96 * float(np.nan_to_num(result.se[j, low]))
    upper = max(float(result.values[j, low]) - part.neutral, 0.0) + error
    root = bool(result.squared[low])
    total = float(np.nansum(np.sqrt(column) if root else column))
    most = (np.sqrt(upper) if root else upper) / total if total > 0 else 0.0
    return bool(most < result.shares[j, high])


def _partner(
    result: ImportanceComparison, data: Data, j: int, strengths: FloatArray | None
) -> tuple[str, float] | None:
    """The feature outside this one that goes together with it most."""
    players = data.schema.players()
    own = list(players[result.feature_names[j]])
    if strengths is None or len(own) == len(strengths):
        return None
    outside = np.array([k for k in range(len(strengths)) if k not in own], dtype=np.intp)
    most = strengths[own][:, outside].max(axis=0)
    return data.schema.names[int(outside[np.argmax(most)])], float(most.max())


def _meaning(high: str, low: str, partner: tuple[str, float] | None) -> tuple[str, str]:
    """What such a difference usually means, by what the two methods measure and what the data show."""
    tied = partner is not None and partner[1] >= _TOGETHER
    if high in _BY_DEPENDENCE and tied and partner is not None:
        return (
            (
                f"It goes together with {partner[0]} ({number(partner[1])}): {high} gives it a part of what both tell,"
                " even where the model uses only the other."
            ),
            "Read features that go together as one group (groups=, see clusters()).",
        )
    if low in _GIVEN_OTHERS and tied and partner is not None:
        return (
            (
                f"It goes together with {partner[0]} ({number(partner[1])}): the model relies on it, but it adds little"
                " to the others."
            ),
            "Read features that go together as one group (groups=, see clusters()).",
        )
    if low in _AVERAGED:
        return (
            "Its effect cancels in the average over rows: it works through interactions.",
            "Look at interactions() and at ice() of this feature.",
        )
    if low in _ABOUT_LOSS and high not in _ABOUT_LOSS:
        return (
            (
                "Predictions move with it, but do not get better by it on these rows: as with a feature the model has"
                " overfitted."
            ),
            "Compare with held-out rows, and with a model fitted without it.",
        )
    if tied and partner is not None:
        return (
            (
                f"It goes together with {partner[0]} ({number(partner[1])}), and the measures divide what both know in"
                " different ways."
            ),
            "Read features that go together as one group (groups=, see clusters()).",
        )
    return (
        "The measures ask different questions; interactions are the usual reason.",
        "Look at interactions() of this feature before choosing one of them.",
    )
