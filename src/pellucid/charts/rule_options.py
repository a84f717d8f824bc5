"""Options of rules."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.charts.options import SizeOptions
from pellucid.errors import InputError


@dataclass(frozen=True, kw_only=True)
class RuleOptions(SizeOptions):
    """Options of rules: ``max_display``, the number of rules shown."""

    max_display: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.max_display, bool) or not isinstance(self.max_display, int) or self.max_display < 1:
            raise InputError(f"max_display={self.max_display!r}: give a whole number, at least 1.")
