"""Options of compared importances and of clusters."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.charts.options import SizeOptions
from pellucid.errors import InputError


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions(SizeOptions):
    """Options of compared importances: features shown (``max_display``), and whether the agreement of the methods is
    drawn.
    """

    max_display: int = 15
    agreement: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.max_display)
        if not isinstance(self.agreement, bool):
            raise InputError(f"agreement={self.agreement!r}: give True or False.")


@dataclass(frozen=True, kw_only=True)
class ClusterOptions(SizeOptions):
    """Options of clusters: features shown (``max_display``), those of the largest clusters first."""

    max_display: int = 60

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.max_display)


def check_count(value: object) -> None:
    """Refuses what is no number of things to show."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"max_display={value!r}: give a whole number, at least 1.")
