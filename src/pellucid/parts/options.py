"""Options of the pictures of texts and images."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from pellucid.charts.options import ATTRIBUTION_KINDS, AttributionOptions, SizeOptions
from pellucid.errors import InputError, nearest


@dataclass(frozen=True, kw_only=True)
class TextOptions(AttributionOptions):
    """Options of contributions of words: ``kind="auto"`` is the text itself, the others are those of contributions.

    ``panels`` outputs are shown at most (the highest predictions), and ``max_lines`` lines of the text.
    """

    panels: int = 6
    max_lines: int = 120

    def __post_init__(self) -> None:
        super().__post_init__()
        _whole("panels", self.panels)
        _whole("max_lines", self.max_lines)


@dataclass(frozen=True, kw_only=True)
class ImageOptions(AttributionOptions):
    """Options of contributions of segments: ``kind="auto"`` is the image itself, the others are those of contributions.

    ``panels`` outputs are shown at most (the highest predictions). ``numbers`` of the largest contributions are
    written on the image.
    """

    panels: int = 11
    numbers: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        _whole("panels", self.panels)
        _whole("numbers", self.numbers, least=0)


def _whole(name: str, value: object, least: int = 1) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name}={value!r}: give a whole number, at least {least}.")


OWN_KINDS = ("variants", "effects", "widths")


@dataclass(frozen=True, kw_only=True)
class LocalTextOptions(TextOptions):
    """As for contributions of words, and ``kind`` "variants" (the table of variants, ``max_rows`` of them and
    ``max_display`` words), "effects" (bars) or "widths" (the weights over the widths that were tried).
    """

    max_rows: int = 12

    def __post_init__(self) -> None:
        _check(self.kind, self.max_rows)
        TextOptions(**_plain(self, TextOptions))


@dataclass(frozen=True, kw_only=True)
class LocalImageOptions(ImageOptions):
    """As for contributions of segments, and ``kind`` "variants", "effects" or "widths", as for words."""

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
