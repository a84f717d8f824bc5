"""Options of the pictures of local models."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.charts.options import ATTRIBUTION_KINDS, AttributionOptions, SizeOptions
from pellucid.errors import InputError, nearest

LOCAL_KINDS = ("effects", "widths", "boundary")


@dataclass(frozen=True, kw_only=True)
class LocalOptions(AttributionOptions):
    """Options of local models: ``kind`` is "effects" (the default: bars, for several rows with common limits), "widths"
    (the weights over the widths that were tried), "boundary" (model, samples, weights and local model in two features),
    or a kind of contributions. ``max_display`` features are shown, ``max_rows`` rows.
    """

    max_rows: int = 6

    def __post_init__(self) -> None:
        if isinstance(self.max_rows, bool) or not isinstance(self.max_rows, int) or self.max_rows < 1:
            raise InputError(f"max_rows={self.max_rows!r}: give a whole number, at least 1.")
        if self.kind in LOCAL_KINDS:
            SizeOptions.__post_init__(self)
            AttributionOptions(max_display=self.max_display)
            return
        known = (*LOCAL_KINDS, *ATTRIBUTION_KINDS)
        if self.kind not in known:
            raise InputError(f"kind={self.kind!r} is not known{nearest(str(self.kind), known)}")
        super().__post_init__()


@dataclass(frozen=True, kw_only=True)
class PickOptions(SizeOptions):
    """Options of picked rows: ``max_display`` features are shown."""

    max_display: int = 15

    def __post_init__(self) -> None:
        super().__post_init__()
        AttributionOptions(max_display=self.max_display)
