"""A network of interactions."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.arrays import AnyArray
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.store import stored


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Network(Explanation):
    """A network of interactions."""

    def columns(self) -> dict[str, AnyArray]:
        raise NotImplementedError

    def findings(self) -> list[str]:
        raise NotImplementedError
