"""Several measures of importance side by side."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.arrays import AnyArray
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.store import stored


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class ImportanceComparison(Explanation):
    """Several measures of importance side by side."""

    def columns(self) -> dict[str, AnyArray]:
        raise NotImplementedError

    def findings(self) -> list[str]:
        raise NotImplementedError
