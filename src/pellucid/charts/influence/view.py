"""One number per training row: the one that is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.errors import InputError
from pellucid.explanations import Influence
from pellucid.explanations.influence_words import amount
from pellucid.explanations.plot_options import InfluenceOptions


@dataclass(frozen=True, eq=False)
class View:
    """What is drawn of a result: signed where it is of one target, and what its axis is called."""

    found: Influence
    values: FloatArray
    order: IntArray
    title: str
    signed: bool

    def text(self, value: float) -> str:
        """A value in words."""
        return amount(self.found, value, sign=self.signed)


def view(found: Influence, options: InfluenceOptions) -> View:
    """The chosen target and output; the mean strength over all where none is chosen."""
    values, title, signed = found.strength, _title(found), False
    wide = found.values
    if wide.ndim > 1 and outputs(found) > 1 and options.output is not None:
        if options.output not in found.output_names:
            raise InputError(f"output must be one of {', '.join(found.output_names)}, got {options.output!r}.")
        wide = wide[..., found.output_names.index(options.output)]
        values = np.abs(wide).mean(axis=1) if wide.ndim > 1 else wide
    elif wide.ndim == 3:
        wide = np.abs(wide).mean(axis=2) if options.target is not None else wide
    target = options.target if options.target is not None or len(found.targets) != 1 else found.targets[0]
    if target is not None and wide.ndim == 2:
        if str(target) not in found.targets:
            raise InputError(f"target must be one of {', '.join(found.targets[:6])}, got {target!r}.")
        values, signed = wide[:, found.targets.index(str(target))], True
        title = f"effect on {'the prediction of row ' if found.on == 'predictions' else ''}{target}"
    elif wide.ndim == 1 and found.on != "predictions":
        values, signed = wide, True
    known = np.flatnonzero(np.isfinite(values))
    order = known[np.argsort(-np.abs(values[known]), kind="stable")]
    return View(found, values, order, title, signed)


def outputs(found: Influence) -> int:
    """How many outputs the values have."""
    return len(found.output_names) if found.on == "predictions" and found.method != "cook" else 1


def _title(found: Influence) -> str:
    if found.method == "cook":
        return "Cook's distance"
    if found.on == "parameters":
        return "largest change of a coefficient, in standard errors"
    if found.on == "loss":
        return "effect on the loss"
    return "mean absolute change of predictions" if found.on == "predictions" else f"effect on {found.on}"
