"""TextAttribution: how a prediction is shared out among the words of a text."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import AnyArray, IntArray
from pellucid.explanations.attribution import Attribution
from pellucid.explanations.store import stored
from pellucid.parts.attribution import MaskedAttribution
from pellucid.words import value_name

_MARKS = string.punctuation + "\u2026\u201c\u201d\u2018\u2019\u00ab\u00bb"  # around words


@stored
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TextAttribution(MaskedAttribution):
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
