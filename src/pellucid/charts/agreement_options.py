"""Options of explanations side by side."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.charts.comparison_options import check_count
from pellucid.charts.options import SizeOptions
from pellucid.errors import InputError


@dataclass(frozen=True, kw_only=True)
class AgreementOptions(SizeOptions):
    """Options of explanations side by side: features shown (``max_display``); ``width`` is that of one panel.

    ``every_name`` writes the names beside every panel, for pages on which panels may stand one below the other.
    """

    max_display: int = 10
    every_name: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.max_display)
        if not isinstance(self.every_name, bool):
            raise InputError(f"every_name={self.every_name!r}: give True or False.")
