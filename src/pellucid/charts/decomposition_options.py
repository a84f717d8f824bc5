"""Options of decompositions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pellucid.charts.options import SizeOptions, _one_of, _whole
from pellucid.errors import InputError

DECOMPOSITION_KINDS = ("auto", "shares", "components")


@dataclass(frozen=True, kw_only=True)
class DecompositionOptions(SizeOptions):
    """Options of decompositions.

    ``kind``: "auto" (shares of the variance beside the largest components), "shares" or "components". ``component``
    draws one only, such as ``"temp"`` or ``("temp", "hum")``. ``max_display`` limits the components shown. ``output``
    names the output where there are several. ``width`` and ``height`` are those of one panel (of the bars for
    "shares").
    """

    kind: str = "auto"
    component: str | Sequence[str] | None = None
    max_display: int = 9
    output: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _one_of("kind", self.kind, DECOMPOSITION_KINDS)
        _whole("max_display", self.max_display)
        if self.component is not None and self.kind == "shares":
            raise InputError("component= draws a component; leave kind='shares' out.")
