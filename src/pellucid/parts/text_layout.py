"""A text set in lines: where every fragment of every word stands, worked out from the widths of its characters.

Vega draws words one by one and does not tell how wide they are, so their widths are taken from the metrics of
Helvetica; characters of Asian scripts and emoji are as wide as they are high.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from pellucid.parts.tokens import Span, characters

OUTSIDE = -1  # no word, but text between words

# Widths in thousandths of the font size.
_WIDTHS = {
    **dict.fromkeys("ijl'", 222),
    **dict.fromkeys("|", 260),
    **dict.fromkeys(" ft.,:;!/\\I[]", 278),
    **dict.fromkeys("r()-`{}", 333),
    **dict.fromkeys('"*', 370),
    **dict.fromkeys("ckszxvyJ", 500),
    **dict.fromkeys("+=<>~", 584),
    **dict.fromkeys("FTZ", 611),
    **dict.fromkeys("ABEKPSVXY&", 667),
    **dict.fromkeys("wCDHNRU", 722),
    **dict.fromkeys("GOQ", 778),
    **dict.fromkeys("mM", 833),
    **dict.fromkeys("%", 889),
    **dict.fromkeys("W", 944),
    "@": 1015,
}
_USUAL, _WIDE, _EMOJI = 556, 1000, 1250
_BREAKS = "\n\x0b\x0c\u2028\u2029"


@dataclass(frozen=True)
class Fragment:
    """A fragment of a word (or of the text outside) on one line: ``left`` and ``width`` in units of the font size."""

    word: int
    text: str
    line: int
    left: float
    width: float


def text_width(text: str) -> float:
    """The width of a text in units of the font size."""
    return sum(_character_width(character) for character in text) / 1000


def _character_width(character: str) -> int:
    if character in _WIDTHS:
        return _WIDTHS[character]
    if character.isascii():
        return _USUAL if character.isprintable() else 0
    if unicodedata.category(character) in ("Mn", "Me", "Cf", "Cc") or 0x1F3FB <= ord(character) <= 0x1F3FF:
        return 0
    if ord(character) >= 0x1F000:
        return _EMOJI
    return _WIDE if unicodedata.east_asian_width(character) in "WF" else _USUAL


def right_to_left(text: str) -> bool | None:
    """Whether the first letter that has a direction is written from right to left; None if none has one."""
    for character in text:
        direction = unicodedata.bidirectional(character)
        if direction in ("L", "R", "AL"):
            return direction != "L"
    return None


def set_lines(text: str, spans: Sequence[Span], width: float) -> list[Fragment]:
    """The text in lines of at most ``width`` font sizes; every character that is no white space is in one fragment.

    Lines end where the text has line breaks and where a fragment no longer fits; one longer than a line is broken.
    A text that begins with Arabic or Hebrew is set from right to left; words of the other direction keep their order.
    """
    placed: list[Fragment] = []
    line, left, before = 0, 0.0, 0
    for word, start, end in _chunks(text, spans):
        gap = text[before:start]
        before = end
        space = text_width(" ") if gap and left else 0.0
        breaks = min(sum(gap.count(mark) for mark in _BREAKS), 2)
        if placed and breaks:
            line, left, space = line + breaks, 0.0, 0.0
        for part in _broken(text[start:end], width):
            size = text_width(part)
            if left and left + space + size > width:
                line, left, space = line + 1, 0.0, 0.0
            placed.append(Fragment(word, part, line, left + space, size))
            left, space = left + space + size, 0.0
    return _directed(placed, width, right_to_left(text) is True)


def _directed(placed: list[Fragment], width: float, mirrored: bool) -> list[Fragment]:
    """Lines from right to left where the text is, and in them runs of the other direction in their own order."""
    if mirrored:
        placed = [replace(each, left=width - each.left - each.width) for each in placed]
    turned: list[Fragment] = []
    for (_, other), run in groupby(placed, lambda each: (each.line, right_to_left(each.text) is (not mirrored))):
        some = list(run)
        if other:
            ends = min(each.left for each in some) + max(each.left + each.width for each in some)
            some = [replace(each, left=ends - each.left - each.width) for each in some]
        turned += some
    return turned


def _chunks(text: str, spans: Sequence[Span]) -> Iterator[tuple[int, int, int]]:
    """What white space separates, word by word and outside the words: (word, start, end)."""
    at = 0
    for word, (start, end) in enumerate(spans):
        yield from ((OUTSIDE, *found) for found in _separated(text, at, start))
        yield from ((word, *found) for found in _separated(text, start, end))
        at = end
    yield from ((OUTSIDE, *found) for found in _separated(text, at, len(text)))


def _separated(text: str, start: int, end: int) -> Iterator[Span]:
    for found in re.compile(r"\S+").finditer(text, start, end):
        yield found.span()


def _broken(chunk: str, width: float) -> list[str]:
    """The chunk in fragments that fit on a line."""
    if text_width(chunk) <= width:
        return [chunk]
    parts = [""]
    for start, end in characters(chunk):
        one = chunk[start:end]
        if parts[-1] and text_width(parts[-1] + one) > width:
            parts.append("")
        parts[-1] += one
    return parts
