"""Options of interactions and their network."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.charts.options import SizeOptions


@dataclass(frozen=True, kw_only=True)
class InteractionOptions(SizeOptions):
    """Options of interactions."""


@dataclass(frozen=True, kw_only=True)
class NetworkOptions(SizeOptions):
    """Options of a network."""
