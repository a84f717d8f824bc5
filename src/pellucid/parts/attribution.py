"""What the attributions of a text and of an image share: parts that are there or absent, instead of feature values."""

from __future__ import annotations

import string
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.errors import InputError
from pellucid.explanations import attribution_words
from pellucid.explanations.attribution import Attribution
from pellucid.explanations.explanation import Explanation, changed
from pellucid.explanations.store import stored
from pellucid.words import number, value_name

_SAID_OUTPUTS = 3  # of many, and only those that come near the highest; the others are counted
_NEAR = 0.1


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PartAttribution(Attribution):
    """Contributions of the parts of one text or image; ``base`` is the prediction with every part absent.

    ``players`` are the parts as they were played with; `sparse` and `group` put several of them into one entry.
    """

    players: tuple[str, ...]

    __repr__ = Explanation.__repr__

    @property
    @abstractmethod
    def starting_point(self) -> str:
        """What ``base`` is, in words."""

    @property
    def compared_with(self) -> str:
        return self.starting_point

    @property
    @abstractmethod
    def part(self) -> str:
        """What a player is called: word, sentence, segment."""

    @abstractmethod
    def absence(self) -> str:
        """What an absent part is, in one sentence."""

    @property
    def entry_of(self) -> IntArray:
        """For each player the entry that it is in."""
        if not self.members:
            return np.arange(len(self.players))
        entry = {name: j for j, members in enumerate(self.members) for name in members}
        return np.array([entry[name] for name in self.players], dtype=np.intp)

    @abstractmethod
    def described(self) -> dict[str, AnyArray]:
        """Columns of the table with one value per entry: its name and where it is."""

    def columns(self) -> dict[str, AnyArray]:
        """One row per entry and output: what it is, where, and what it contributes."""
        p, outputs = self.stacked().shape[1:]
        tidy = {
            **{name: np.repeat(column, outputs) for name, column in self.described().items()},
            "contribution": self.values.ravel(),
            "se": self.se.ravel(),
        }
        if self._several:
            tidy["output"] = np.tile(np.array(self.output_names, dtype=object), p)
        return tidy

    def leading(self, most: int) -> tuple[str, ...]:
        """At most so many outputs: those with the highest predictions, in their own order."""
        if len(self.output_names) <= most:
            return self.output_names
        top = np.sort(np.argsort(-self.prediction[0], kind="stable")[:most])
        return tuple(self.output_names[k] for k in top)

    def findings(self) -> list[str]:
        own = (
            f"A contribution is a {self.part}'s share of this difference, not what the prediction would be without that"
            f" {self.part} alone."
        )
        said = self._of_leading()
        lines = attribution_words.complete(said)
        lines = [own if line == attribution_words.ONE_ROW else line for line in lines]
        lines = [line.replace("coalitions of features per row", f"coalitions of {self.part}s") for line in lines]
        return [*lines, *self._other_outputs(said), self.absence()]

    def _of_leading(self) -> Self:
        """The same for few outputs, where there are many."""
        if len(self.output_names) <= _SAID_OUTPUTS:
            return self
        highest = float(self.prediction[0].max())
        some = [self.output_names.index(name) for name in self.leading(_SAID_OUTPUTS)]
        kept = [k for k in some if self.prediction[0, k] >= min(_NEAR * highest, highest)]
        fields = {name: part[..., kept] for name, part in self._arrays().items()}
        return changed(self, output_names=tuple(self.output_names[k] for k in kept), **fields)

    def _other_outputs(self, said: Self) -> list[str]:
        hidden = [k for k, name in enumerate(self.output_names) if name not in said.output_names]
        if not hidden:
            return []
        highest = number(float(self.prediction[0, hidden].max()))
        return [
            f"The other {len(hidden)} outputs have predictions of at most {highest}; for_output(name) gives their"
            " contributions."
        ]


_MARKS = string.punctuation + "\u2026\u201c\u201d\u2018\u2019\u00ab\u00bb"  # around words


@stored
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TextAttribution(PartAttribution):
    """Contributions ``values`` (1, words) of the words of ``source``, with outputs last if there are several.

    Word number i of `players` stands at ``spans[i]`` (start, end). ``unit`` is what was taken as one word: "word",
    "phrase" (several neighbours, in a long text), "sentence", "character" or "token" (of the caller's own tokenizer).
    ``mask`` stands for an absent one; "remove": nothing does. ``base`` is the prediction with all of them absent.
    """

    source: str
    spans: IntArray
    unit: str = "word"
    mask: str = "remove"

    @property
    def tokens(self) -> tuple[str, ...]:
        """The words as they stand in the text."""
        return tuple(self.source[start:end] for start, end in self.spans.tolist())

    def comparable_names(self, others: Sequence[Attribution]) -> tuple[str, ...]:
        del others
        return tuple(token.casefold().strip(_MARKS) or token for token in self.tokens)

    @property
    def part(self) -> str:
        return self.unit

    @property
    def starting_point(self) -> str:
        if self.against:
            return f"the prediction of {self.against}"
        if self.mask != "remove":
            return f"the prediction for the text with every {self.unit} replaced by {self.mask!r}"
        return "the prediction for the text without these words" if self._rest else "the prediction for an empty text"

    @property
    def _rest(self) -> bool:
        """Whether something besides white space is outside all words."""
        ends, starts = [0, *self.spans[:, 1].tolist()], [*self.spans[:, 0].tolist(), len(self.source)]
        return any(self.source[a:b].strip() for a, b in zip(ends, starts, strict=True))

    def absence(self) -> str:
        units = f"{self.unit}s"
        how = (
            f"Absent {units} are taken out of the text"
            if self.mask == "remove"
            else f"{self.mask!r} stands in place of absent {units}"
        )
        words = self.settings.get("words")
        joined = (
            f" The {words:,} words of this text were joined to {len(self.players)} phrases of neighbours; by='word'"
            " takes every word by itself."
            if self.unit == "phrase" and isinstance(words, int)
            else ""
        )
        return f"{how}, which makes texts that nobody wrote.{joined}"

    def label(self, j: int, i: int) -> str:
        if self.others == j:
            return self.feature_names[j]
        return super().label(j, i) if self.grouped(j) else f'"{self.feature_names[j]}"'

    def described(self) -> dict[str, AnyArray]:
        entry, n = self.entry_of, len(self.feature_names)
        return {
            self.unit: np.array(self.feature_names, dtype=object),
            "start": np.array([self.spans[entry == j, 0].min() for j in range(n)], dtype=np.intp),
            "end": np.array([self.spans[entry == j, 1].max() for j in range(n)], dtype=np.intp),
        }


def unique_names(tokens: tuple[str, ...], most: int = 60) -> tuple[str, ...]:
    """Names of tokens that are all different: white space in one piece, long ones cut, repeated ones numbered.

    >>> unique_names(("very", "very", "good"))
    ('very', 'very (2)', 'good')
    """
    names: dict[str, None] = {}
    for token in tokens:
        plain = " ".join(value_name(token).split())
        plain = plain if len(plain) <= most else f"{plain[: most - 20].rstrip()}…{plain[-19:].lstrip()}"
        name, k = plain, 1
        while name in names:
            k += 1
            name = f"{plain} ({k})"
        names[name] = None
    return tuple(names)


_ABSENT = {
    "grey": "grey",
    "mean": "the mean colour of the segment itself",
    "neighbours": "the mean colour of the pixels around the segment",
    "blur": "a blurred image",
    "colour": "one colour",
    "image": "another image",
}
_PAINTED = {
    "grey": "grey",
    "mean": "in its mean colour",
    "neighbours": "in the colour around it",
    "blur": "blurred",
    "colour": "in one colour",
    "image": "of another image",
}


@stored
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ImageAttribution(PartAttribution):
    """Contributions ``values`` (1, segments) of the segments of ``image``, with outputs last if there are several.

    ``segments`` (height, width) holds, for each pixel, the number of its segment in `players`. ``absent`` says what
    takes the place of an absent segment; ``base`` is the prediction with all of them absent.
    """

    image: AnyArray
    segments: IntArray
    absent: str = "grey"

    def comparable_names(self, others: Sequence[Attribution]) -> tuple[str, ...]:
        if any(not isinstance(o, ImageAttribution) or not np.array_equal(self.segments, o.segments) for o in others):
            raise InputError(
                "the images have different segments, which cannot be compared; explain all with the same segments"
                " (segmenter='grid')."
            )
        return self.feature_names

    @property
    def part(self) -> str:
        return "segment"

    @property
    def starting_point(self) -> str:
        if self.against:
            return f"the prediction of {self.against}"
        return f"the prediction for the image with every segment {_PAINTED[self.absent]}"

    def absence(self) -> str:
        return (
            f"In place of an absent segment stands {_ABSENT[self.absent]}, which makes images that no camera took; "
            f"other segments than these {len(self.players)} would share the prediction out differently."
        )

    @property
    def centres(self) -> FloatArray:
        """Row and column of the middle of each segment, as shares of height and width."""
        sizes = np.bincount(self.segments.ravel())
        height, width = self.segments.shape
        rows, columns = np.indices(self.segments.shape)
        sums = [np.bincount(self.segments.ravel(), axis.ravel() + 0.5) for axis in (rows, columns)]
        return np.asarray(np.stack(sums, axis=1) / sizes[:, None] / [height, width])

    def map(self, output: str | None = None) -> FloatArray:
        """The contribution of the segment of every pixel ``(height, width)``, to one output.

        After `sparse`, NaN in the segments that were summed; after `group`, the sum in every segment of the group.
        """
        one = self.for_output(self.output_names[0] if output is None else output)
        values = one.values[0].copy()
        if self.others is not None:
            values[self.others] = np.nan
        return np.asarray(values[self.entry_of][self.segments])

    def label(self, j: int, i: int) -> str:
        del i
        name = self.feature_names[j]
        if self.others == j or self.grouped(j):
            return name
        down, across = self.centres[self.players.index(name)]
        return f"{name} ({_place(float(down), float(across))})"

    def described(self) -> dict[str, AnyArray]:
        sizes, height_width = np.bincount(self.segments.ravel()), self.segments.shape
        weights = [np.where(self.entry_of == j, sizes, 0) for j in range(len(self.feature_names))]
        middle = [np.average(self.centres, axis=0, weights=each) * height_width for each in weights]
        return {
            "segment": np.array(self.feature_names, dtype=object),
            "pixels": np.array([int(each.sum()) for each in weights], dtype=np.intp),
            "y": np.array([y for y, _ in middle]),
            "x": np.array([x for _, x in middle]),
        }


def _place(down: float, across: float) -> str:
    """Where on the image, in words."""
    row = ("top", "middle", "bottom")[min(int(3 * down), 2)]
    column = ("left", "centre", "right")[min(int(3 * across), 2)]
    return "centre" if (row, column) == ("middle", "centre") else f"{row} {column}"
