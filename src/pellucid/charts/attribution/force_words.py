"""Where the words of a force plot go: below their arrows like flags, so that none is on another or on its string."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pellucid.charts.attribution.folding import UP
from pellucid.charts.attribution.words import short_label
from pellucid.charts.scales import Limits, Row, limits_of

LETTER = 6.1  # pixels
GAP = 10.0  # between words on a line
_SIDE = 5  # arrows named on each side
_LEAST = 0.015  # of all arrows together: smaller ones have no name
_LETTERS = 36  # of the label of a feature
_MARGIN, _MOST_MARGIN = 14.0, 0.3  # pixels, and share of the width


@dataclass(frozen=True)
class Axis:
    """The line the arrows are on: data limits and pixels."""

    limits: Limits
    width: float

    def pixel(self, value: float) -> float:
        """Where a value is, in pixels from the left."""
        return (value - self.limits[0]) / (self.limits[1] - self.limits[0]) * self.width

    def value(self, pixel: float) -> float:
        """The value at a pixel."""
        return self.limits[0] + pixel / self.width * (self.limits[1] - self.limits[0])


def named(arrows: list[Row]) -> list[Row]:
    """The largest arrows of each side with their words, and the middle where the string hangs."""
    least = _LEAST * sum(abs(each["end"] - each["start"]) for each in arrows)
    order = sorted(arrows, key=lambda each: -abs(each["end"] - each["start"]))
    worth = [each for n, each in enumerate(order) if n == 0 or abs(each["end"] - each["start"]) >= least]
    sides = [[each for each in worth if (each["sort"] == UP) == up][:_SIDE] for up in (True, False)]
    return [
        {**each, "at": (each["start"] + each["end"]) / 2, "text": _words(each, _LETTERS)}
        for side in sides
        for each in side
    ]


def _words(arrow: Row, most: int) -> str:
    """What an arrow stands for, at most about so long, and its contribution in full."""
    return f"{short_label(arrow['full'], most)} ({arrow['label']})"


def axis_of(values: Sequence[float], words: list[Row], width: float) -> Axis:
    """An axis with room at the left for the words of arrows up, which reach left, and at the right for the others."""
    low, high = min(values), max(values)
    if not high - low > 1e-9 * max(abs(low), abs(high)):
        return Axis(limits_of(values), width)
    left = right = _MARGIN
    for _ in range(8):  # the margins take from the room between them
        inner = width - left - right
        need = {True: _MARGIN, False: _MARGIN}
        for each in words:
            up, share = each["sort"] == UP, (each["at"] - low) / (high - low)
            need[up] = max(need[up], LETTER * (len(each["text"]) + 1) - inner * (share if up else 1 - share))
        left, right = (min(need[side], _MOST_MARGIN * width) for side in (True, False))
    per_pixel = (high - low) / (width - left - right)
    return Axis((low - left * per_pixel, high + right * per_pixel), width)


def hung(words: list[Row], axis: Axis) -> list[Row]:
    """The words with their line; names are cut where the margin is not enough, numbers never."""
    found: list[Row] = []
    for up in (True, False):
        side = [each for each in words if (each["sort"] == UP) == up]
        places = [axis.pixel(each["at"]) if up else axis.width - axis.pixel(each["at"]) for each in side]
        texts = [
            (
                each["text"]
                if LETTER * len(each["text"]) <= place
                else _words(each, min(_LETTERS, max(int(place / LETTER) - len(each["label"]) - 3, 6)))
            )
            for each, place in zip(side, places, strict=True)
        ]
        lines = flags(places, [LETTER * len(text) for text in texts])
        found += [{**each, "text": text, "line": line} for each, text, line in zip(side, texts, lines, strict=True)]
    return found


def flags(places: Sequence[float], lengths: Sequence[float]) -> list[int]:
    """The line of words that hang on strings at ``places`` (pixels) and reach from there to the left.

    From left to right each takes the first line on which it touches no other words and covers no string. Its own
    string only passes words that end further left, so there always is a line.
    """
    order = sorted(range(len(places)), key=lambda k: places[k])
    lines = [0] * len(places)
    for n, k in enumerate(order):
        start, line = places[k] - lengths[k] - GAP, 0
        # Words on the same line end at their string; strings of lower lines pass this one.
        while any(lines[other] >= line and start < places[other] for other in order[:n]):
            line += 1
        lines[k] = line
    return lines
