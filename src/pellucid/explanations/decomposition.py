"""Decomposition: the function in parts."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.arrays import AnyArray
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.store import stored


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Decomposition(Explanation):
    """A constant, components of one, two, ... features, and what they leave over."""

    def columns(self) -> dict[str, AnyArray]:
        raise NotImplementedError

    def findings(self) -> list[str]:
        raise NotImplementedError
