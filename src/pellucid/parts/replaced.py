"""Games in which an absent part may be replaced by another one, instead of being taken out or painted over.

A coalition is then a row of numbers, one for each part: 1 if the part is there, 0 if it is absent, and k + 2 if number
k of the
``others`` (words, or images) stands in its place. Rows of zeros and ones are the coalitions of the plain games.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pellucid.arrays import AnyArray, IntArray
from pellucid.parts.image_game import ImageGame
from pellucid.parts.model import ItemModel
from pellucid.parts.text_game import TextGame
from pellucid.parts.tokens import Span
from pellucid.runner import Run


class ReplacedText(TextGame):
    """The words of one text; others may stand in their places."""

    def __init__(
        self, model: ItemModel, text: str, spans: Sequence[Span], mask: str, others: Sequence[str], run: Run, batch: int
    ) -> None:
        self._others = tuple(others)
        super().__init__(model, text, spans, mask, run, batch)

    def text(self, known: Sequence[int]) -> str:
        if not any(code > 1 for code in known):
            return super().text([code == 1 for code in known])
        words = [word if code == 1 else self._others[code - 2] for word, code in zip(self._words, known, strict=True)]
        return "".join(part for pair in zip(self._gaps, [*words, ""], strict=True) for part in pair)


class ReplacedImage(ImageGame):
    """The segments of one image; the same places of other images may stand in theirs."""

    def __init__(
        self,
        model: ItemModel,
        image: AnyArray,
        segments: IntArray,
        absent: AnyArray,
        others: Sequence[AnyArray],
        run: Run,
        batch: int | None = None,
    ) -> None:
        self._stack = np.stack([absent, image, *others])
        super().__init__(model, image, segments, absent, run, batch)

    def masked(self, coalitions: AnyArray) -> AnyArray:
        rows, columns = np.indices(self._segments.shape)
        return np.asarray(self._stack[coalitions.astype(np.intp)[:, self._segments], rows, columns])

    def distinct(self, coalitions: AnyArray) -> tuple[IntArray, IntArray]:
        _, asked, place = np.unique(coalitions, axis=0, return_index=True, return_inverse=True)
        return asked, place.reshape(-1)
