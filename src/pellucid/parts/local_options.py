"""Options of the pictures of local models of texts and images, and of rules about their parts."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from pellucid.charts.options import ATTRIBUTION_KINDS, SizeOptions
from pellucid.errors import InputError, nearest
from pellucid.parts.options import ImageOptions, TextOptions

OWN_KINDS = ("variants", "effects", "sweep")


@dataclass(frozen=True, kw_only=True)
class LocalTextOptions(TextOptions):
    """As for contributions of words, and ``kind`` "variants" (the table of variants, ``max_rows`` of them and
    ``max_display`` words), "effects" (bars) or "sweep" (the weights over the widths that were tried).
    """

    max_rows: int = 12

    def __post_init__(self) -> None:
        _check(self.kind, self.max_rows)
        TextOptions(**_plain(self, TextOptions))


@dataclass(frozen=True, kw_only=True)
class LocalImageOptions(ImageOptions):
    """As for contributions of segments, and ``kind`` "variants", "effects" or "sweep", as for words."""

    max_rows: int = 12

    def __post_init__(self) -> None:
        _check(self.kind, self.max_rows)
        ImageOptions(**_plain(self, ImageOptions))


@dataclass(frozen=True, kw_only=True)
class PartRuleOptions(SizeOptions):
    """Options of rules about words and segments: ``max_lines`` lines of a text are shown at most."""

    max_lines: int = 120

    def __post_init__(self) -> None:
        super().__post_init__()
        TextOptions(max_lines=self.max_lines)


def _check(kind: str, rows: object) -> None:
    known = (*OWN_KINDS, *ATTRIBUTION_KINDS)
    if kind not in known:
        raise InputError(f"kind={kind!r} is not known{nearest(str(kind), known)}")
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise InputError(f"max_rows={rows!r}: give a whole number, at least 1.")


def _plain(options: TextOptions | ImageOptions, kind: type[TextOptions] | type[ImageOptions]) -> dict[str, Any]:
    """The fields of the plain options; kinds of our own count as "auto" there."""
    fields = {field.name: getattr(options, field.name) for field in dataclasses.fields(kind)}
    return {**fields, "kind": "auto"} if options.kind in OWN_KINDS else fields
