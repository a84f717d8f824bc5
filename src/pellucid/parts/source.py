"""What a text or an image is made of: its parts, their names and places, and what stands for an absent one.

Every result about a text or an image holds one of these two; what differs between words and segments is said here.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray, frozen
from pellucid.errors import InputError
from pellucid.explanations.store import stored
from pellucid.words import Vocabulary, value_name

REMOVE = "remove"
MARKS = string.punctuation + "\u2026\u201c\u201d\u2018\u2019\u00ab\u00bb"  # around words


@stored
@dataclass(frozen=True, eq=False)
class TextParts:
    """The words of a text: number i is ``source[start:end]``, where ``spans[i]`` is ``(start, end)``.

    ``unit`` is what was taken as one word: "word", "phrase" (several neighbours, in a long text), "sentence",
    "character" or "token" (of the caller's own tokenizer). ``mask`` stands for an absent one; "remove": nothing does.
    ``words`` is how many words the text has.
    """

    source: str
    spans: IntArray
    unit: str = "word"
    mask: str = REMOVE
    words: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "spans", frozen(np.asarray(self.spans, dtype=np.intp).reshape(-1, 2)))

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary("text", self.unit, "variant")

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The words as they stand in the text."""
        return tuple(self.source[start:end] for start, end in self.spans.tolist())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A name of its own for each word."""
        return unique_names(self.tokens)

    @property
    def data(self) -> tuple[AnyArray, ...]:
        """The words as columns of one row."""
        return tuple(np.array([token], dtype=object) for token in self.tokens)

    def label(self, i: int) -> str:
        """A word in sentences and on charts."""
        return f'"{self.names[i]}"'

    def comparable(self, others: Sequence[object]) -> tuple[str, ...]:
        """Names that are the same where the words are, in whatever text."""
        del others
        return tuple(token.casefold().strip(MARKS) or token for token in self.tokens)

    def places(self, entry: IntArray, n: int) -> dict[str, AnyArray]:
        """Columns that say where each of ``n`` entries is, given the entry of every word."""
        return {
            "start": np.array([self.spans[entry == j, 0].min() for j in range(n)], dtype=np.intp),
            "end": np.array([self.spans[entry == j, 1].max() for j in range(n)], dtype=np.intp),
        }

    @property
    def nothing(self) -> str:
        """The text in which every word is absent, in words."""
        if self.mask != REMOVE:
            return f"the text with every {self.unit} replaced by {self.mask!r}"
        ends, starts = [0, *self.spans[:, 1].tolist()], [*self.spans[:, 0].tolist(), len(self.source)]
        rest = any(self.source[a:b].strip() for a, b in zip(ends, starts, strict=True))
        return "the text without these words" if rest else "an empty text"

    def absence(self) -> str:
        """What an absent word is, in one sentence."""
        how = (
            f"Absent {self.unit}s are removed from the text"
            if self.mask == REMOVE
            else f"Absent {self.unit}s are replaced by {self.mask!r}"
        )
        joined = (
            f" The {self.words:,} words of this text were joined into {len(self.tokens)} phrases; by='word' explains"
            " every word on its own."
            if self.unit == "phrase"
            else ""
        )
        return f"{how}, which makes unnatural texts.{joined}"

    def perturbed(self, perturb: str) -> str:
        """What happens to the words that are not in a rule, in one sentence."""
        how = "is removed" if self.mask == REMOVE else f"is replaced by {self.mask!r}"
        how = "is replaced by one of the corpus" if perturb == "corpus" else how
        return f"Each of the other {self.unit}s {how} in half of the perturbed texts, which makes unnatural texts."


def unique_names(tokens: tuple[str, ...], most: int = 60) -> tuple[str, ...]:
    """Names of tokens that are all different: white space as one space, long ones cut, repeated ones numbered.

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
    "image": "taken from another image",
}


@stored
@dataclass(frozen=True, eq=False)
class ImageParts:
    """The segments of ``image``: ``segments`` (height, width) holds the number of each pixel's segment.

    ``absent`` says what stands in place of an absent one: "grey", "mean", "neighbours", "blur", "colour" or "image".
    ``unit`` is what a segment is called: "segment", or "pixel" where each is one.
    """

    image: AnyArray
    segments: IntArray
    absent: str = "grey"
    unit: str = "segment"

    def __post_init__(self) -> None:
        object.__setattr__(self, "image", frozen(self.image))
        object.__setattr__(self, "segments", frozen(self.segments))

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary("image", self.unit, "variant")

    @cached_property
    def sizes(self) -> IntArray:
        """How many pixels each segment has."""
        return np.bincount(self.segments.ravel())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A name for each segment; a pixel has its row and column, from 0 on."""
        if self.unit == "pixel":
            return tuple(f"pixel [{row}, {column}]" for row, column in np.argwhere(self.segments >= 0).tolist())
        return tuple(f"segment {k + 1}" for k in range(len(self.sizes)))

    @property
    def data(self) -> tuple[AnyArray, ...]:
        """The shares of the image that the segments have, as columns of one row."""
        return tuple(np.array([share]) for share in self.sizes / self.segments.size)

    @cached_property
    def centres(self) -> FloatArray:
        """Row and column of the middle of each segment, as shares of height and width."""
        sums = [np.bincount(self.segments.ravel(), axis.ravel() + 0.5) for axis in np.indices(self.segments.shape)]
        return np.asarray(np.stack(sums, axis=1) / self.sizes[:, None] / self.segments.shape)

    def label(self, i: int) -> str:
        """A segment and where on the image it is, in sentences and on charts."""
        if self.unit == "pixel":
            return self.names[i]
        down, across = (min(int(3 * share), 2) for share in self.centres[i].tolist())
        row, column = ("top", "middle", "bottom")[down], ("left", "centre", "right")[across]
        return f"{self.names[i]} ({'centre' if down == across == 1 else f'{row} {column}'})"

    def comparable(self, others: Sequence[object]) -> tuple[str, ...]:
        """The names, if all ``others`` are images that were cut in the same way."""
        if any(not isinstance(o, ImageParts) or not np.array_equal(self.segments, o.segments) for o in others):
            raise InputError(
                "the images have different segments, which cannot be compared; explain all with the same segments"
                " (segmenter='grid')."
            )
        return self.names

    def places(self, entry: IntArray, n: int) -> dict[str, AnyArray]:
        """Columns that say where each of ``n`` entries is, and how large, given the entry of every segment."""
        weights = [np.where(entry == j, self.sizes, 0) for j in range(n)]
        middle = [np.average(self.centres, axis=0, weights=each) * self.segments.shape for each in weights]
        return {
            "pixels": np.array([int(each.sum()) for each in weights], dtype=np.intp),
            "y": np.array([y for y, _ in middle]),
            "x": np.array([x for _, x in middle]),
        }

    @property
    def nothing(self) -> str:
        """The image in which every segment is absent, in words."""
        return f"the image with every segment {_PAINTED[self.absent]}"

    def absence(self) -> str:
        """What an absent segment is, in one sentence."""
        return (
            f"Absent segments are replaced by {_ABSENT[self.absent]}, which makes unnatural images; a"
            f" segmentation other than these {len(self.sizes)} segments would give other contributions."
        )

    def perturbed(self, perturb: str) -> str:
        """What happens to the segments that are not in a rule, in one sentence."""
        how = "shows another image of the corpus" if perturb == "corpus" else "is painted over"
        return f"Each of the other segments {how} in half of the perturbed images, which makes unnatural images."


Parts = TextParts | ImageParts
