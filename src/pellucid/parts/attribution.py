"""How a prediction is shared out among the words of a text, or the segments of an image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.explanations import Attribution, attribution_words, changed
from pellucid.explanations.attribution_views import comparable_names
from pellucid.explanations.store import stored
from pellucid.parts.options import ImageOptions, TextOptions
from pellucid.parts.source import ImageParts, Parts, TextParts
from pellucid.words import Vocabulary, quantity

_SAID_OUTPUTS = 3  # of many, and only those that come near the highest; the others are counted
_NEAR = 0.1


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PartAttribution(Attribution):
    """Contributions of the ``parts`` of one text or image; ``base`` is the prediction with every part absent.

    `players` are the names of the parts; `sparse` and `group` put several of them into one entry.
    """

    parts: Parts

    @property
    def vocabulary(self) -> Vocabulary:
        return replace(self.parts.vocabulary, start=f"prediction for {self.parts.nothing}")

    @property
    def players(self) -> tuple[str, ...]:
        """The names of the parts, each played with by itself."""
        return self.parts.names

    @property
    def entry_of(self) -> IntArray:
        """For each player the entry that it is in."""
        entry = {name: j for j, members in enumerate(self.entries.members) for name in members}
        return np.array([entry[name] for name in self.players], dtype=np.intp)

    def label(self, j: int, i: int) -> str:
        name = self.feature_names[j]
        if self.entries.others == j:
            return name
        if attribution_words.grouped(self, j):
            return super().label(j, i)
        return self.parts.label(self.players.index(name))

    def columns(self) -> dict[str, AnyArray]:
        """One row per entry and output: what it is, where, and what it contributes."""
        p, outputs = self.stacked().shape[1:]
        names = {self.vocabulary.part: np.array(self.feature_names, dtype=object)}
        places = self.parts.places(self.entry_of, p)
        tidy = {
            **{name: np.repeat(column, outputs) for name, column in (names | places).items()},
            "contribution": self.values.ravel(),
            "se": self.se.ravel(),
        }
        if outputs > 1:
            tidy["output"] = np.tile(np.array(self.output_names, dtype=object), p)
        return tidy

    def leading(self, most: int) -> tuple[str, ...]:
        """At most so many outputs: those with the highest predictions, in their own order."""
        if len(self.output_names) <= most:
            return self.output_names
        top = np.sort(np.argsort(-self.prediction[0], kind="stable")[:most])
        return tuple(self.output_names[k] for k in top)

    def of_leading(self) -> Self:
        """The same for few outputs, where there are many."""
        if len(self.output_names) <= _SAID_OUTPUTS:
            return self
        highest = float(self.prediction[0].max())
        some = [self.output_names.index(name) for name in self.leading(_SAID_OUTPUTS)]
        kept = [k for k in some if self.prediction[0, k] >= min(_NEAR * highest, highest)]
        fields = self._of_outputs(kept if len(kept) > 1 else kept[0])
        return changed(self, output_names=tuple(self.output_names[k] for k in kept), **fields)

    def findings(self) -> list[str]:
        said = self.of_leading()
        return [*attribution_words.complete(said), *self.about_others(said), self.parts.absence()]

    def _headline(self) -> str:
        return attribution_words.headline(self.of_leading())

    def about_others(self, said: Self) -> list[str]:
        """What is not said of other outputs."""
        hidden = [k for k, name in enumerate(self.output_names) if name not in said.output_names]
        if not hidden:
            return []
        highest = quantity(float(self.prediction[0, hidden].max()), self.scale)
        return [
            f"The other {len(hidden)} outputs have predictions of at most {highest}; for_output(name) gives their"
            " contributions."
        ]


@comparable_names.register(PartAttribution)
def _(found: PartAttribution, others: Sequence[Attribution]) -> tuple[str, ...]:
    return found.parts.comparable([getattr(other, "parts", None) for other in others])


class OfText:
    """What results about the words of a text say of it; see `TextParts`."""

    parts: TextParts

    @property
    def source(self) -> str:
        """The text."""
        return self.parts.source

    @property
    def spans(self) -> IntArray:
        """Where the words begin and end."""
        return self.parts.spans

    @property
    def tokens(self) -> tuple[str, ...]:
        """The words as they stand in the text."""
        return self.parts.tokens

    @property
    def unit(self) -> str:
        """What was taken as one word."""
        return self.parts.unit

    @property
    def mask(self) -> str:
        """What stands for an absent word."""
        return self.parts.mask


class OfImage:
    """What results about the segments of an image say of it; see `ImageParts`."""

    parts: ImageParts

    @property
    def image(self) -> AnyArray:
        """The image."""
        return self.parts.image

    @property
    def segments(self) -> IntArray:
        """The number of the segment of every pixel."""
        return self.parts.segments

    @property
    def absent(self) -> str:
        """What stands for an absent segment."""
        return self.parts.absent


@stored
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TextAttribution(OfText, PartAttribution, options=TextOptions):
    """Contributions ``values`` (1, words) of the words of a text, with outputs last if there are several.

    Word number i of `players` stands at ``spans[i]`` (start, end) of ``source``. ``base`` is the prediction with all of
    them absent; ``parts`` says what was taken as one word and what stands for an absent one.
    """

    parts: TextParts


@stored
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ImageAttribution(OfImage, PartAttribution, options=ImageOptions):
    """Contributions ``values`` (1, segments) of the segments of an image, with outputs last if there are several.

    ``segments`` (height, width) holds, for each pixel of ``image``, the number of its segment in `players`. ``base`` is
    the prediction with all of them absent; ``parts`` says what stands for an absent one.
    """

    parts: ImageParts

    def map(self, output: str | None = None) -> FloatArray:
        """The contribution of the segment of every pixel ``(height, width)``, to one output.

        After `sparse`, NaN in the segments that were summed; after `group`, the sum in every segment of the group.
        """
        return contribution_map(self, self.parts, output)


def contribution_map(found: PartAttribution, parts: ImageParts, output: str | None) -> FloatArray:
    """The contribution of the segment of every pixel to one output."""
    one = found.for_output(found.output_names[0] if output is None else output)
    values = one.values[0].copy()
    if found.entries.others is not None:
        values[found.entries.others] = np.nan
    return np.asarray(values[found.entry_of][parts.segments])
