"""Options of interactions and their network."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.charts.options import SizeOptions
from pellucid.errors import InputError, nearest

KINDS = ("auto", "bars", "matrix")


@dataclass(frozen=True, kw_only=True)
class InteractionOptions(SizeOptions):
    """Options of interactions: ``kind`` "bars" (also "auto") or, for pairs, "matrix"; ``max_display``, the sets
    (features) shown.
    """

    kind: str = "auto"
    max_display: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind not in KINDS:
            raise InputError(f"kind={self.kind!r} is not known{nearest(str(self.kind), KINDS)}")
        _check_display(self.max_display)


@dataclass(frozen=True, kw_only=True)
class NetworkOptions(SizeOptions):
    """Options of a network: ``max_display``, the number of edges shown, the most costly first."""

    max_display: int = 60

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_display(self.max_display)


def _check_display(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"max_display={value!r}: give a whole number, at least 1.")
