"""The caveats of SAGE: wide intervals, training data, mixed rows that do not occur, features that share importance."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.diagnostics.general import general_caveats
from pellucid.diagnostics.importance_checks import training_data
from pellucid.diagnostics.off_data import associations, off_data_caveat
from pellucid.diagnostics.shared_importance import as_one_group, strong_clusters
from pellucid.explanations.caveat import Caveat
from pellucid.losses import Loss
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import listed, number, percent

_TOP = 5
_LEVEL = 1.96  # half the width of a 95% interval, in standard errors
_WIDE = 0.5  # of the value: its size is known to a factor of three
_NOTICED = 0.05  # of all importance; nobody reads less
_SHARED = 0.2


def sage_caveats(
    predictor: Predictor,
    data: Data,
    run: Run,
    *,
    players: dict[str, tuple[int, ...]],
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
    caveats.extend(_imprecise(names, values, se, tolerance))
    if run.interrupted:
        return tuple(caveats)
    if data.y is not None:
        caveats.extend(training_data(predictor, data, loss, baseline, y))
    for i in np.argsort(-values, kind="stable")[:_TOP]:
        player = players[names[i]]
        if len(player) == 1:
            caveats.extend(off_data_caveat(data, player[0], run, method="SAGE"))
    caveats.extend(_shared(data, run, players, values))
    return tuple(caveats)


def _imprecise(names: list[str], values: FloatArray, se: FloatArray, tolerance: float | None) -> Iterator[Caveat]:
    """An interval is wider than was asked for, or too wide for what a reader sees.

    Of the five largest values, those below 5% of all left out, the one with the widest interval for its size is judged.
    """
    half, sizes = _LEVEL * se, np.abs(values)
    if tolerance is not None:
        widest = int(np.argmax(half))
        if half[widest] > tolerance:
            yield Caveat(
                code="imprecise",
                message=(
                    f"The importance of {names[widest]} is known to \u00b1{number(float(half[widest]))} only, not to"
                    f" the \u00b1{number(tolerance)} asked for."
                ),
                value=float(half[widest]),
                threshold=tolerance,
                advice="Give a larger budget.",
                feature=names[widest],
            )
        return
    places = np.argsort(np.argsort(-sizes, kind="stable"), kind="stable")
    noticed = (places < _TOP) & (sizes > _NOTICED * sizes.sum())
    ratio = np.where(noticed, half, 0.0) / np.where(noticed, sizes, 1.0)
    worst = int(np.argmax(ratio))
    if ratio[worst] > _WIDE:
        yield Caveat(
            code="imprecise",
            message=(
                f"The importance of {names[worst]}, {number(float(values[worst]))}, was sampled and is known to"
                f" \u00b1{number(float(half[worst]))} only, {percent(float(ratio[worst]))} of it (95% interval)."
            ),
            value=float(ratio[worst]),
            threshold=_WIDE,
            advice=(
                f"Give a budget about {max(2, round(float(ratio[worst] / _WIDE) ** 2))} times as large, or a"
                " tolerance=."
            ),
            feature=names[worst],
        )


def _shared(data: Data, run: Run, players: dict[str, tuple[int, ...]], values: FloatArray) -> Iterator[Caveat]:
    """What features that go together tell is split between them; the values add up, so the group has their sum."""
    single = {
        player[0]: float(value) for player, value in zip(players.values(), values, strict=True) if len(player) == 1
    }
    strengths = associations(data, run)
    for cluster in [] if strengths is None else strong_clusters(strengths, single):
        together, largest = sum(single[j] for j in cluster), max(single[j] for j in cluster)
        if together > (1 + _SHARED) * max(largest, 0.0) + 1e-12 and together > _NOTICED * np.abs(values).sum():
            names = [data.schema.names[j] for j in cluster]
            yield Caveat(
                code="shared-importance",
                message=(
                    f"{listed(names)} go together and what they tell is split between them: together they have"
                    f" {number(together)}, alone at most {number(largest)}."
                ),
                value=together,
                threshold=largest,
                advice=f"Read them as one group: {as_one_group(names)}.",
                feature=names[0],
            )
