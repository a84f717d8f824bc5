"""Options of compared importances and of clusters."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.charts.options import SizeOptions


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions(SizeOptions):
    """Options of compared importances."""


@dataclass(frozen=True, kw_only=True)
class ClusterOptions(SizeOptions):
    """Options of clusters."""
