"""The game of a text: absent words are taken out, or a mask stands in their place.

White space follows the words: where words are taken out, the widest of the gaps around them stays (a line break rather
than a space), and none at the beginning or end. Text outside all words, which a tokenizer may leave, always stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from pellucid.arrays import BoolArray, IntArray
from pellucid.parts.game import MaskedGame
from pellucid.parts.model import ItemModel
from pellucid.parts.tokens import Span, is_letter
from pellucid.runner import Run

REMOVE = "remove"


class TextGame(MaskedGame):
    """The words of one text as players."""

    def __init__(self, model: ItemModel, text: str, spans: Sequence[Span], mask: str, run: Run, batch: int) -> None:
        self._text, self._mask = text, mask
        self._words = [text[start:end] for start, end in spans]
        ends = [0, *(end for _, end in spans)]
        starts = [*(start for start, _ in spans), len(text)]
        self._gaps = [text[end:start] for end, start in zip(ends, starts, strict=True)]
        super().__init__(model, len(spans), run, batch)

    @property
    def active(self) -> BoolArray:
        same = [self._mask != REMOVE and word == self._mask for word in self._words]
        return ~np.array([same], dtype=np.bool_)

    def masked(self, coalitions: BoolArray) -> list[str]:
        return [self.text(known) for known in coalitions.tolist()]

    def distinct(self, coalitions: BoolArray) -> tuple[IntArray, IntArray]:
        """Texts are told apart by a digest: all of them at once may be too large to hold."""
        first: dict[bytes, int] = {}
        digests = (_digest(self.text(known)) for known in coalitions.tolist())
        place = [first.setdefault(digest, len(first)) for digest in digests]
        _, asked = np.unique(place, return_index=True)
        return asked.astype(np.intp), np.array(place, dtype=np.intp)

    def text(self, known: Sequence[bool]) -> str:
        """The text in which only some words are known."""
        if self._mask != REMOVE:
            words = [word if there else self._mask for word, there in zip(self._words, known, strict=True)]
            return "".join(part for pair in zip(self._gaps, [*words, ""], strict=True) for part in pair)
        return self._without(known)

    def _without(self, known: Sequence[bool]) -> str:
        parts: list[str] = []
        gap, last, edge = self._gaps[0], "", False
        for i, (word, there) in enumerate(zip(self._words, known, strict=True)):
            if not there:
                gap = closed(gap, self._gaps[i + 1])
                edge = edge or self._edge(i) or self._edge(i + 1)
                continue
            if not gap and edge and is_letter(last[-1:]) and is_letter(word[0]):
                gap = " "  # what stood between two words kept them apart
            parts += [gap, word]
            gap, last, edge = self._gaps[i + 1], word, False
        text = "".join([*parts, gap])
        if len(known) and not known[0]:
            text = text.lstrip()
        if len(known) and not known[-1]:
            text = text.rstrip()
        return text

    def _edge(self, i: int) -> bool:
        """Whether the text has a word's edge between piece i - 1 and piece i."""
        if not 0 < i < len(self._words) or self._gaps[i]:
            return True
        return not (is_letter(self._words[i - 1][-1]) and is_letter(self._words[i][0]))


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def closed(before: str, after: str) -> str:
    """Two gaps that meet because the word between them is gone: of the white space that meets, the wider stays.

    >>> closed(" ", " "), closed(" ", "\\n"), closed(", ", " ("), closed("", " ")
    (' ', '\\n', ', (', ' ')
    """
    left, right = before.rstrip(), after.lstrip()
    spaces = (before[len(left) :], after[: len(after) - len(right)])
    return left + max(spaces, key=lambda space: (space.count("\n"), len(space))) + right
