"""A marginal plot credits a feature with the effects of everything that goes along with it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pellucid.data import Data
from pellucid.diagnostics.off_data import associations
from pellucid.explanations.caveat import Caveat
from pellucid.runner import Run
from pellucid.words import number

_ASSOCIATED = 0.3


def mixing_caveat(data: Data, j: int, run: Run) -> Iterator[Caveat]:
    """Another feature is associated with this one, so their effects mix."""
    strengths = associations(data, run) if run.checks and len(data.schema.features) > 1 else None
    if strengths is None:
        return
    strength = strengths[j].copy()
    strength[j] = -1.0
    other = int(np.argmax(strength))
    if strength[other] < _ASSOCIATED:
        return
    name, partner = data.schema.names[j], data.schema.names[other]
    yield Caveat(
        code="mixed-effects",
        message=(
            f"{name} goes together with {partner} (association {number(float(strength[other]))}), so this curve mixes"
            " the effects of both."
        ),
        value=float(strength[other]),
        threshold=_ASSOCIATED,
        advice=f"Use ale({name!r}) for the effect of {name} alone.",
        feature=name,
    )
