"""Interactions: how strongly features act together."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.store import stored


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Interactions(Explanation):
    """One value per set of features asked, in that order; several outputs add a last axis.

    ``sets`` names the features (or groups) of each value: pairs, triples, or a single one for ``against="all"``.
    ``strength`` is the unnormalised value, in the units of the prediction, and ``joint`` the share of the prediction's variance
    that the joint effect of the set has (what a normalised value divides by). ``low`` and ``high`` bound a 95% interval.
    ``p_values`` (None where not asked for) and ``adjusted`` (for the number of sets) test that there is no interaction.

    ``parts`` are the sets of one, two and three features whose ``costs`` of exclusion were measured: the share of the
    prediction's variance that is lost when every component containing the set is left out; `network` is made of them.
    """

    method: str
    against: str
    measure: str
    sets: tuple[tuple[str, ...], ...]
    low: FloatArray
    high: FloatArray
    strength: FloatArray
    joint: FloatArray
    p_values: FloatArray | None = None
    adjusted: FloatArray | None = None
    parts: tuple[tuple[str, ...], ...] = ()
    costs: FloatArray = field(default_factory=lambda: np.empty(0))
    cost_se: FloatArray = field(default_factory=lambda: np.empty(0))

    def columns(self) -> dict[str, AnyArray]:
        raise NotImplementedError

    def findings(self) -> list[str]:
        raise NotImplementedError
