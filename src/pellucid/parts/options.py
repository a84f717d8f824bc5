"""Options of the pictures of texts and images."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.charts.options import AttributionOptions
from pellucid.errors import InputError


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
