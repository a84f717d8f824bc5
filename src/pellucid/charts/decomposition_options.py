"""Options of decompositions."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.charts.options import SizeOptions


@dataclass(frozen=True, kw_only=True)
class DecompositionOptions(SizeOptions):
    """Options of decompositions."""
