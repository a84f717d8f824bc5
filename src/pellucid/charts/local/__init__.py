"""Local models: what they say of a row, how the width changes it, and where they hold; one file per picture."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from altair.typing import ChartType

from pellucid.arrays import FloatArray
from pellucid.charts import attribution as contributions
from pellucid.charts.local import boundary, effects, widths
from pellucid.explanations import LocalAttribution, changed
from pellucid.explanations.local_attribution import LocalModel
from pellucid.explanations.plot_options import AttributionOptions, LocalOptions

_PICTURES = {"effects": effects.body, "widths": widths.body, "boundary": boundary.body}
_ADDING_UP = ("waterfall", "force", "decision", "stacked")
_REST = "not in the local model"
L = TypeVar("L", bound=LocalModel)


def body(result: LocalAttribution, options: LocalOptions) -> ChartType:
    """The Altair chart of local models."""
    kind = "effects" if options.kind == "auto" else options.kind
    if kind in _PICTURES:
        return _PICTURES[kind](result, options)
    fields = {field.name: getattr(options, field.name) for field in dataclasses.fields(AttributionOptions)}
    shown = adding_up(result) if kind in _ADDING_UP else result
    return contributions.body(shown, AttributionOptions(**fields))


def adding_up(result: LocalAttribution) -> LocalAttribution:
    """The effects as contributions that add up to the model's prediction: what the local model misses is one of them.

    Of several rows it also holds what their starting points differ in. Features without any effect are left out.
    """
    rest = np.asarray(result.prediction - result.base - result.values.sum(axis=1))[:, None]
    used = [j for j in range(result.values.shape[1]) if result.values[:, j].any()]
    whole = np.abs(rest).max(initial=0.0) <= 1e-9 * np.abs(result.prediction).max(initial=0.0)
    return with_rest(result, used, rest[:, :0] if whole and used else rest)


def with_rest(result: L, used: Sequence[int], rest: FloatArray) -> L:
    """Some of the effects and, as a last one, what the local model misses, if it does."""
    missed = int(rest.size > 0)
    return changed(
        result,
        values=np.concatenate([result.values[:, used], rest], axis=1),
        se=np.concatenate([result.se[:, used], np.zeros_like(rest)], axis=1),
        feature_names=(*(result.feature_names[j] for j in used), *(_REST,) * missed),
        entries=result.entries.taken(used, blank=missed),
    )
